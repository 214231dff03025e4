"""Audit of a published performance report: its comparative statements, and what supports them."""
