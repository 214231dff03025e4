"""Counts of kernel counters and instructions in untimed runs."""
