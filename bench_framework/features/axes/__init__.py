"""Claims and sentences about the effect of each axis."""
