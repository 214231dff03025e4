"""Contrasts as cells of a table: ratio, interval, verdict; and what their captions say of level and family."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeVar

from bench_framework.model.verdict import Verdict
from bench_framework.model.words import WORDS, shown
from bench_framework.report.blocks import Cell, KeyFinding
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.numbers import DASH, show_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.judgement import Claim
    from bench_framework.model.structure import Contrast
    from bench_framework.model.verdict import Interval
    from bench_framework.report.context import ReportData

T = TypeVar("T")


def interval_cells(
    interval: Interval | None, verdict: Verdict, margin: float, claim: str | None = None
) -> tuple[Cell, Cell]:
    """Ratio and interval by R15; dashes where there is none."""
    if interval is None or interval.lo <= 0 or not math.isfinite(interval.hi):
        return Cell(DASH), Cell("")
    keep = verdict is not Verdict.INCONCLUSIVE
    text = show_ratio(interval.ratio, interval.lo, interval.hi, margin, keep=keep)
    return Cell(text.estimate, interval.ratio, claim), Cell(text.bounds, interval.lo, claim)


def verdict_cell(verdict: Verdict, metric: str) -> Cell:
    """Glyph and word."""
    return Cell(shown(verdict, metric), verdict.value, None, verdict)


_TOGETHER: Final = {
    Verdict.BETTER: "less together",
    Verdict.BETTER_SIZE_UNCERTAIN: "less together, size uncertain",
    Verdict.EQUIVALENT: "they multiply",
    Verdict.WORSE: "more together",
    Verdict.WORSE_SIZE_UNCERTAIN: "more together, size uncertain",
}


def together_cell(verdict: Verdict, *, higher: bool = False) -> Cell:
    """The verdict on an interaction: what two changes need together against the product of each alone."""
    word = _TOGETHER.get(verdict, WORDS[verdict].time)
    if higher:
        word = word.replace("less", "better").replace("more", "worse")
    return Cell(f"{WORDS[verdict].glyph} {word}", verdict.value, None, verdict)


def contrast_cells(
    contrast: Contrast, data: ReportData, claim: str | None = None
) -> tuple[Cell, Cell, Cell]:
    """Ratio, interval and verdict of a contrast."""
    ratio, bounds = interval_cells(contrast.shown, contrast.verdict, margin(data), claim)
    return ratio, bounds, verdict_cell(contrast.verdict, data.metric)


def told(items: Sequence[T], claims: Sequence[Claim]) -> list[tuple[T, Claim | None]]:
    """Each item with its claim; both are in the order of the judgement. Without claims the figures stand alone."""
    if len(items) != len(claims):
        return [(item, None) for item in items]
    return list(zip(items, claims, strict=True))


def finding(claim: Claim | None) -> list[KeyFinding]:
    """The sentence under a table, if there is one."""
    return [KeyFinding(sentence(claim))] if claim is not None else []


def margin(data: ReportData) -> float:
    """δ of the headline's metric."""
    return data.plan.judge.margin_of(data.metric)


def family_text(data: ReportData, size: int, kind: str) -> str:
    """What a caption says of multiplicity (R17)."""
    looks = data.judgement.looks
    return (
        f"{size} {kind}, a family of their own, Holm-adjusted, {looks.count} look{'s' if looks.count != 1 else ''}, "
        f"family-wise level {looks.level * 100:g}\u202f%"
    )


def turned(data: ReportData) -> str:
    """What a caption says of ratios of a metric that is better when larger."""
    if not data.higher(data.metric):
        return ""
    return " More is better here: ratios are turned over, so that below 1 is an improvement."
