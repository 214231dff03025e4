"""What is measured and how it is judged, fixed before the start."""
