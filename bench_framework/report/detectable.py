"""What inconclusive comparisons could have found, and the rounds that would find a difference of the margin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.verdict import Verdict
from bench_framework.report.numbers import margin_text, percent_up
from bench_framework.rounding import up_to_two_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.judgement import Comparison


def found(comparison: Comparison | None) -> str:
    """Of one comparison: ``"6.1 % would have been found; 2 % needs about 370 rounds"``.

    That more rounds than there is a number for would be needed is said once, under the table.
    """
    if comparison is None or not _is_open(comparison):
        return ""
    needed = "" if comparison.rounds_needed is None else _needed([comparison], "; {} needs {}")
    return f"{percent_up(comparison.mde or 0.0)} would have been found{needed}"


def found_by_all(comparisons: Sequence[Comparison | None]) -> str:
    """One line for all of a table that is inconclusive."""
    open_ = [c for c in comparisons if c is not None and _is_open(c)]
    if not open_:
        return ""
    sizes = sorted(c.mde or 0.0 for c in open_)
    least, most = percent_up(sizes[0]), percent_up(sizes[-1])
    span = least if least == most else f"{least} to {most}, by variant,"
    return f"Inconclusive: a difference of {span} would have been found{_needed(open_, '; one of {} needs {}')}."


def _is_open(comparison: Comparison) -> bool:
    return comparison.verdict is Verdict.INCONCLUSIVE and bool(comparison.mde)


def _needed(comparisons: Sequence[Comparison], words: str) -> str:
    """The rounds for the margin, of the comparison that needs most; empty where they were measured already."""
    margin = margin_text(comparisons[0].margin)
    known = [c.rounds_needed for c in comparisons if c.rounds_needed is not None]
    if len(known) < len(comparisons):
        return words.format(margin, "more than 1000 rounds here")
    unit = "runs per command" if comparisons[0].statistic == "welch" else "rounds"
    if max(known) <= max(c.rounds for c in comparisons):
        return ""
    return words.format(margin, f"about {int(up_to_two_digits(float(max(known))))} {unit}")
