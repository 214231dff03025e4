"""The costs of a gain in time: more CPU time, more memory, a larger binary."""

from collections.abc import Iterable
from decimal import Decimal

from bench_framework.claims import metric_nouns
from bench_framework.claims.phrases import TIMES_FROM
from bench_framework.model import words
from bench_framework.model.judgement import Comparison
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import rounded
from bench_framework.units import THIN_SPACE


class Costs:
    """The metrics that are significantly worse, by pair of cells."""

    def __init__(self, comparisons: Iterable[Comparison]) -> None:
        self._worse: dict[tuple[str, str], list[Comparison]] = {}
        for c in comparisons:
            if c.metric != WALL and c.shown is not None and c.verdict is Verdict.WORSE:
                self._worse.setdefault((c.cell_id, c.ref_cell_id), []).append(c)

    def amounts(self, cell_id: str, ref_cell_id: str) -> str:
        """Return the costs, such as ``"25 % more CPU time and 12.7× as much memory"``.

        The text is empty if no metric is significantly worse.
        """
        return " and ".join(map(amount, self._worse.get((cell_id, ref_cell_id), ())))

    def phrase(self, verdict: Verdict | None, cell_id: str, ref_cell_id: str, metric: str) -> str:
        """Return ``"at the cost of 25 % more CPU time"`` if a gain in time has a cost."""
        gain = verdict and verdict.better and metric == WALL
        text = self.amounts(cell_id, ref_cell_id) if gain else ""
        return f"at the cost of {text}" if text else ""


def other_metrics(comparisons: Iterable[Comparison]) -> str:
    """Return the verdicts on further metrics: ``"CPU time is worse in 5 of 5 comparisons"``.

    All comparisons are of one input with its first baseline.
    """
    by_metric: dict[str, list[Comparison]] = {}
    for c in comparisons:
        by_metric.setdefault(c.metric, []).append(c)
    parts = []
    for metric, group in by_metric.items():
        counts = (
            ("worse", sum(c.verdict.worse for c in group)),
            ("better", sum(c.verdict.better for c in group)),
        )
        shares = [f"{word} in {count} of {len(group)}" for word, count in counts if count]
        if shares:
            unit = "comparison" if len(group) == 1 else "comparisons"
            parts.append(f"{words.noun(metric)} is {', '.join(shares)} {unit}")
    return "; ".join(parts)


def amount(c: Comparison) -> str:
    """Return a cost or saving: ``"4.7 % more CPU time"``, ``"12.7× as much memory"``.

    The figure has at most three digits. The sentence of the comparison has all digits and the
    interval.
    """
    frame, what = metric_nouns.frame(c.metric), words.noun(c.metric)
    ratio, lo, hi = metric_nouns.natural_ratio(c)
    if ratio >= TIMES_FROM:
        factor = rounded(ratio, lo, hi, margin=c.margin, least=1)
        return f"{_short(factor.estimate, factor.decimals, 3)}× {frame.times} {what}"
    change = rounded(ratio, lo, hi, margin=c.margin)
    percentage = _short(abs(change.estimate - 1) * 100, change.decimals - 2, 2)
    way = frame.less if change.hi < 1 else frame.more
    return f"{frame.article}{percentage}{THIN_SPACE}% {way} {what}"


def _short(value: Decimal, decimals: int, digits: int) -> str:
    """Return a value with the given decimals, and at most the given significant digits."""
    return f"{value:.{max(0, min(decimals, digits - len(str(int(value)))))}f}"
