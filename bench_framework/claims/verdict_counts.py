"""Counts of the verdicts of an input's variants against its baseline."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from bench_framework.model import words
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.judgement import Comparison

FEWEST: Final = 4
"""The smallest number of comparisons that are counted.

For fewer comparisons, a sentence about one of them with its interval is more informative.
"""


def counts(comparisons: Sequence[Comparison]) -> str | None:
    """Return counts such as ``"23 slower, 1 slower (size uncertain), 5 inconclusive"``.

    Verdicts are in the order of the glossary. The result is `None` for fewer than `FEWEST`
    comparisons.
    """
    if len(comparisons) < FEWEST:
        return None
    number_of = Counter(c.verdict for c in comparisons)
    # Commas separate the entries, so the words of a verdict must not contain one.
    metric = comparisons[0].metric
    parts = (
        f"{number_of[verdict]} "
        + words.word(verdict, metric).replace(", size uncertain", " (size uncertain)")
        for verdict in Verdict
        if number_of[verdict]
    )
    return ", ".join(parts)
