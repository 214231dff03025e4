"""Contributions of single changes to a total."""
