"""Comparisons as table cells (ratio, interval, verdict), and texts for their captions."""

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from bench_framework.model.judgement import Claim, Comparison
from bench_framework.model.structure import Contrast
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.model.words import WORDS, verdict_text
from bench_framework.report.blocks import Cell, KeyFinding
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.context import ReportData
from bench_framework.report.numbers import DASH, show_comparison, show_ratio

T = TypeVar("T")
Value = TypeVar("Value", int, float)


def interval_cells(
    interval: Interval | None, verdict: Verdict, margin: float, claim: str | None = None
) -> tuple[Cell, Cell]:
    """Return ratio and interval, rounded outward, or dashes without an interval."""
    if interval is None or interval.lo <= 0 or not math.isfinite(interval.hi):
        return Cell(DASH), Cell("")
    keep = verdict is not Verdict.INCONCLUSIVE
    text = show_ratio(interval.ratio, interval.lo, interval.hi, margin, keep=keep)
    return Cell(text.estimate, interval.ratio, claim), Cell(text.bounds, interval.lo, claim)


def comparison_cells(comparison: Comparison | None, claim: str | None) -> tuple[Cell, Cell]:
    """Return ratio and interval of a comparison with the baseline, or a dash without one."""
    if comparison is None or comparison.shown is None:
        return Cell(DASH), Cell("")
    interval, text = comparison.shown, show_comparison(comparison)
    assert text is not None
    return Cell(text.estimate, interval.ratio, claim), Cell(text.bounds, interval.lo, claim)


def value_cell(value: Value | None, show: Callable[[Value], str]) -> Cell:
    """Return a value as text, or a dash without a value."""
    return Cell(DASH) if value is None else Cell(show(value), value)


def verdict_cell(verdict: Verdict, metric: str) -> Cell:
    """Return glyph and word of a verdict."""
    return Cell(verdict_text(verdict, metric), verdict.value, None, verdict)


_INTERACTIONS: Final = {
    Verdict.BETTER: "less than the product",
    Verdict.BETTER_SIZE_UNCERTAIN: "less than the product, size uncertain",
    Verdict.EQUIVALENT: "no interaction",
    Verdict.WORSE: "more than the product",
    Verdict.WORSE_SIZE_UNCERTAIN: "more than the product, size uncertain",
}


def interaction_cell(verdict: Verdict, *, higher: bool = False) -> Cell:
    """Return the verdict on an interaction: both changes together ÷ product of the single ones."""
    word = _INTERACTIONS.get(verdict, WORDS[verdict].time)
    if higher:
        word = word.replace("less", "better").replace("more", "worse")
    return Cell(f"{WORDS[verdict].glyph} {word}", verdict.value, None, verdict)


def contrast_cells(
    contrast: Contrast, data: ReportData, claim: Claim | None = None
) -> tuple[Cell, Cell, Cell]:
    """Return ratio, interval and verdict of a contrast."""
    claim_id = claim.id if claim else None
    ratio, bounds = interval_cells(contrast.shown, contrast.verdict, margin(data), claim_id)
    return ratio, bounds, verdict_cell(contrast.verdict, data.metric)


def with_claims(items: Sequence[T], claims: Sequence[Claim]) -> list[tuple[T, Claim | None]]:
    """Pair each item with its claim in order, or with `None` if their numbers differ."""
    if len(items) != len(claims):
        return [(item, None) for item in items]
    return list(zip(items, claims, strict=True))


def finding(claim: Claim | None) -> list[KeyFinding]:
    """Return the sentence under a table, if there is one."""
    return [KeyFinding(sentence(claim))] if claim is not None else []


def margin(data: ReportData) -> float:
    """Return the margin of the headline metric, as a fraction."""
    return data.plan.judge.margin_of(data.metric)
