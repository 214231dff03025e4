"""Comparison of two cells on one metric: samples, tests, interim analyses and verdicts.

A *cell* is one configuration: a variant on an input. `docs/method.md` describes the method.
"""
