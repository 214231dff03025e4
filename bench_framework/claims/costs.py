"""What a gain in time is paid with: CPU time, memory, size of the binary (REPORTS R21). Plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.claims import metric_nouns
from bench_framework.claims.phrases import TIMES_FROM
from bench_framework.model import words
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import rounded
from bench_framework.units import THIN_SPACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal

    from bench_framework.model.judgement import Comparison

BETTER: Final = (Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN)


class Costs:
    """What was found to be worse, by pair of cells."""

    def __init__(self, comparisons: Iterable[Comparison]) -> None:
        self._worse: dict[tuple[str, str], list[Comparison]] = {}
        for c in comparisons:
            if c.metric != WALL and c.shown is not None and c.verdict is Verdict.WORSE:
                self._worse.setdefault((c.cell_id, c.ref_cell_id), []).append(c)

    def told(self, cell_id: str, ref_cell_id: str, *, percent: bool = False) -> str:
        """``"25 % more CPU time and 12.7× as much memory"``; empty where nothing is shown to be worse."""
        found = self._worse.get((cell_id, ref_cell_id), ())
        return " and ".join(amount(c, percent=percent) for c in found)

    def paid(self, verdict: Verdict | None, cell_id: str, ref_cell_id: str, metric: str) -> str:
        """``"for 25 % more CPU time"``, where a gain in time costs something."""
        told = self.told(cell_id, ref_cell_id) if verdict in BETTER and metric == WALL else ""
        return f"for {told}" if told else ""

    def nouns(self, cell_id: str, ref_cell_id: str) -> str:
        """``"CPU time and memory"``."""
        return " and ".join(
            words.noun(c.metric) for c in self._worse.get((cell_id, ref_cell_id), ())
        )

    def one_scale(self, cell_ids: Sequence[str], ref_cell_id: str) -> bool:
        """Whether every cost of a list can be told as "n×"; a list has one scale (R1)."""
        found = [c for cell in cell_ids for c in self._worse.get((cell, ref_cell_id), ())]
        return all(metric_nouns.natural_ratio(c)[0] >= TIMES_FROM for c in found)


def elsewhere(comparisons: Iterable[Comparison]) -> str:
    """What is decided where the headline's metric is not: ``"CPU time is: more in 5 of 5 comparisons"``.

    Args:
        comparisons: of one input with its first baseline, on further metrics.
    """
    by_metric: dict[str, list[Comparison]] = {}
    for c in comparisons:
        by_metric.setdefault(c.metric, []).append(c)
    told = []
    for metric, found in by_metric.items():
        counts = [
            (word, sum(c.verdict in own for c in found))
            for word, own in (
                ("worse", (Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN)),
                ("better", BETTER),
            )
        ]
        parts = [f"{word} in {count} of {len(found)}" for word, count in counts if count]
        if parts:
            told.append(f"{words.noun(metric)} is {', '.join(parts)}")
    return "; ".join(told)


def amount(c: Comparison, *, percent: bool = False) -> str:
    """What a decided comparison costs or saves: ``"4.7 % more CPU time"``, ``"12.7× as much memory"`` (R1).

    `percent`: never "n×", for a list in which not every figure is that large.
    In three digits at most: the comparison's own sentence has them all, with its interval.
    """
    frame, what = metric_nouns.frame(c.metric), words.noun(c.metric)
    ratio, lo, hi = metric_nouns.natural_ratio(c)
    if ratio >= TIMES_FROM and not percent:
        made = rounded(ratio, lo, hi, margin=c.margin, least=1)
        return f"{_short(made.estimate, made.decimals, 3)}× {frame.times} {what}"
    made = rounded(ratio, lo, hi, margin=c.margin)
    change = _short(abs(made.estimate - 1) * 100, made.decimals - 2, 2)
    return f"{change}{THIN_SPACE}% {frame.less if made.hi < 1 else frame.more} {what}"


def _short(value: Decimal, decimals: int, digits: int) -> str:
    """With so many decimals, and with so many significant digits at most."""
    return f"{value:.{max(0, min(decimals, digits - len(str(int(value)))))}f}"
