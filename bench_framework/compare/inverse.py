"""Inversion of a comparison: reference and candidate exchanged."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.model.verdict import Interval, Verdict

if TYPE_CHECKING:
    from bench_framework.model.judgement import Comparison

_OPPOSITE: Final = {
    Verdict.BETTER: Verdict.WORSE,
    Verdict.BETTER_SIZE_UNCERTAIN: Verdict.WORSE_SIZE_UNCERTAIN,
    Verdict.WORSE_SIZE_UNCERTAIN: Verdict.BETTER_SIZE_UNCERTAIN,
    Verdict.WORSE: Verdict.BETTER,
}


def mirrored(comparison: Comparison) -> Comparison:
    """Exchange the sides of a comparison: ratios and verdicts are inverted."""
    return replace(
        comparison,
        cell_id=comparison.ref_cell_id,
        ref_cell_id=comparison.cell_id,
        verdict=_OPPOSITE.get(comparison.verdict, comparison.verdict),
        shown=_inverted(comparison.shown),
        typical=_inverted(comparison.typical),
        floor=_inverted(comparison.floor),
        runs=comparison.runs_ref,
        runs_ref=comparison.runs,
    )


def _inverted(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    return Interval(
        1 / interval.ratio, _reciprocal(interval.hi), _reciprocal(interval.lo), interval.level
    )


def _reciprocal(value: float) -> float:
    """Return 1 ÷ value; 0 and infinity are unbounded ends."""
    return 1 / value if value > 0 else math.inf
