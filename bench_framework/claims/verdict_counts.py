"""How many variants of an input got which verdict against its baseline: a lead that picks none of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from bench_framework.model import words
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.judgement import Comparison

FEWEST: Final = 4
"""Of fewer one is told with its interval, which says more than a count."""


def counts(comparisons: Sequence[Comparison]) -> str | None:
    """``"23 slower, 1 slower (size uncertain), 5 inconclusive"`` in the order of the glossary; `None` of too few."""
    if len(comparisons) < FEWEST:
        return None
    found = Counter(c.verdict for c in comparisons)
    # A list is being counted: a comma inside a word would make two of one.
    metric = comparisons[0].metric
    told = (
        f"{found[verdict]} "
        + words.word(verdict, metric).replace(", size uncertain", " (size uncertain)")
        for verdict in Verdict
        if found[verdict]
    )
    return ", ".join(told)
