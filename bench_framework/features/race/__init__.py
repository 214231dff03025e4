"""Variants that were dropped during measuring."""
