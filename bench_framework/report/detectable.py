"""Minimum detectable effects of inconclusive comparisons, and the rounds that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.verdict import Verdict
from bench_framework.report.numbers import margin_text, percent_up
from bench_framework.rounding import up_to_two_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.judgement import Comparison


def effect_note(comparison: Comparison | None) -> str:
    """Return a note such as ``"MDE 6.1 %; detecting 2 % needs about 370 rounds"``.

    It is empty for a conclusive comparison. If more than 1000 rounds are needed, only the line
    under the table states so.
    """
    if comparison is None or not _is_open(comparison):
        return ""
    needed = (
        "" if comparison.rounds_needed is None else _needed([comparison], "; detecting {} needs {}")
    )
    return f"MDE {percent_up(comparison.mde or 0.0)}{needed}"


def effects_note(comparisons: Sequence[Comparison | None]) -> str:
    """Return one line about all inconclusive comparisons of a table, or nothing without any."""
    open_ = [c for c in comparisons if c is not None and _is_open(c)]
    if not open_:
        return ""
    sizes = sorted(c.mde or 0.0 for c in open_)
    least, most = percent_up(sizes[0]), percent_up(sizes[-1])
    span = least if least == most else f"{least} to {most}, by variant"
    needed = _needed(open_, "; detecting {} needs {}")
    return f"Inconclusive: minimum detectable effect (MDE) {span}{needed}."


def _is_open(comparison: Comparison) -> bool:
    return comparison.verdict is Verdict.INCONCLUSIVE and bool(comparison.mde)


def _needed(comparisons: Sequence[Comparison], words: str) -> str:
    """Return the rounds that detect a difference of the margin.

    The text is empty if they were measured.
    """
    margin = margin_text(comparisons[0].margin)
    known = [c.rounds_needed for c in comparisons if c.rounds_needed is not None]
    if len(known) < len(comparisons):
        return words.format(margin, "more than 1000 rounds")
    unit = "runs per command" if comparisons[0].statistic == "welch" else "rounds"
    if max(known) <= max(c.rounds for c in comparisons):
        return ""
    return words.format(margin, f"about {int(up_to_two_digits(float(max(known))))} {unit}")
