"""Shares of functions in sampled runs."""
