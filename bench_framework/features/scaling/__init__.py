"""Scaling exponents and crossovers over input sizes."""
