"""Names in sentences: the place of a claim, nouns of metrics, lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model import words
from bench_framework.model.metrics import WALL

if TYPE_CHECKING:
    from bench_framework.model.facts import Claim
    from bench_framework.model.policies import Metric


def scope_of(claim: Claim) -> str:
    """Return the scope of a claim as the start of a sentence.

    Examples are ``"On 10 MiB, "`` for one input of several and ``"With a cold cache, "`` if every
    run was observed to start with a cold cache.
    """
    labels = [value for name, value in claim.scope if name == "input" and value]
    parts = [f"On {', '.join(labels)}"] if labels else []
    if ("cache", "cold") in claim.scope:
        parts.append("with a cold cache" if labels else "With a cold cache")
    return f"{' '.join(parts)}, " if parts else ""


def noun(metric: Metric | None) -> str:
    """Return the noun of a metric, or the noun of elapsed time if a claim names no metric."""
    return words.noun(metric or WALL)
