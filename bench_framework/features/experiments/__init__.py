"""Experiments, hypotheses, and before-and-after pairs."""
