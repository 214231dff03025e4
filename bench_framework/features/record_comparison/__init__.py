"""Two records compared through anchors."""
