"""Causes: the place of the time difference between two configurations, and what else differs."""
