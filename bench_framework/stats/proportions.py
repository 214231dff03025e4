"""Bounds of the probability of an event that was counted in independent tries."""

from typing import Final

from bench_framework.stats.portable_math import beta_quantile

CONFIDENCE: Final = 0.95
"""The confidence level of the bounds."""


def at_most(count: int, tries: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided upper bound of the rate `count` ÷ `tries` (Clopper and Pearson 1934)."""
    if count >= tries:
        return 1.0
    return beta_quantile(confidence, count + 1, tries - count)


def at_least(count: int, tries: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided lower bound of a rate. Without a try, the bound is 0."""
    return 1.0 - at_most(tries - count, tries, confidence)
