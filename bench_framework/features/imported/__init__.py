"""Figures that were measured elsewhere."""
