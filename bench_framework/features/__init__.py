"""Packages that each add claims and report sections, and modules that combine them."""
