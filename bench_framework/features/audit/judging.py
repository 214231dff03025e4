"""Results of statements that agree with their figures, from runs or from mean and spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench_framework.features.audit.compute import LEVEL, MARGIN, Pair, Status

_FAR: Final = 0.05
"""The relative difference from which two figures without spread are not called equal."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A result with its reason, and the interval of the ratio if there is one."""

    status: Status
    reason: str
    interval: tuple[float, float] | None = None


def judge(
    pair: Pair, lack: str, *, equal: bool, margin: float = MARGIN, certain: bool = True
) -> Finding:
    """Judge a statement that agrees with the figures by their runs or their spread.

    Args:
        pair: the figures.
        lack: what is missing on the page to judge them.
        equal: whether the statement calls them equal.
        margin: relative difference up to which they are equal.
        certain: whether the statement names them.
    """
    contrast = pair.contrast
    if not certain and contrast is not None:
        return Finding("inconclusive", f"it does not name its figures; {pair} agree with it")
    if contrast is None:
        a, b = pair.subject.quantity, pair.reference.quantity
        gap = abs(pair.ratio - 1)
        if equal and gap > max(margin, _FAR):
            return Finding("not supported", f"{pair} differ by {gap * 100:.3g} %")
        start = "" if certain else "it does not name its figures; "
        if 1 in (pair.subject.n, pair.reference.n):
            lack = "the figures are single runs"
        elif a.sd is not None and b.sd is not None and abs(a.value - b.value) < max(a.sd, b.sd):
            lack = "the difference is smaller than the stated standard deviation"
        return Finding("inconclusive", f"{start}{pair} agree with it, but {lack}")
    interval = contrast.interval(LEVEL)
    bounds = (interval.lo, interval.hi)
    source = "the data" if pair.from_data else "mean, standard deviation and number of runs"
    result = f"{source} of {pair} give a ratio of {_interval_text(pair)}"
    if equal:
        low, high = 1 / (1 + margin), 1 + margin
        if bounds[0] >= low and bounds[1] <= high:
            return Finding("supported", f"{result}, within ±{margin * 100:.2g} %", bounds)
        if bounds[0] > high or bounds[1] < low:
            return Finding("not supported", f"{result}, outside ±{margin * 100:.2g} %", bounds)
        return Finding(
            "inconclusive", f"{result}, which is not within ±{margin * 100:.2g} %", bounds
        )
    if bounds[0] <= 1 <= bounds[1]:
        return Finding("inconclusive", f"{result}, which includes 1", bounds)
    return Finding("supported", result, bounds)


def _interval_text(pair: Pair) -> str:
    contrast = pair.contrast
    assert contrast is not None
    i = contrast.interval(LEVEL)
    return f"{i.ratio:.3f} [{i.lo:.3f}, {i.hi:.3f}]"
