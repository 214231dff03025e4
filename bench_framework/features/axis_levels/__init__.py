"""The levels of one axis, with all else equal (``benchctl compare --axis``)."""
