"""The noise floor of an input: the reach of its A/A control. See `docs/method.md#aa-control`."""

import math
from collections.abc import Sequence

from bench_framework.compare.stage import Stage
from bench_framework.compare.verdict import PLAIN_LEVEL
from bench_framework.model.judgement import Comparison, NoiseFloor
from bench_framework.model.verdict import Interval


def noise_floors(
    stage: Stage, input_id: str, control: Sequence[Comparison]
) -> tuple[NoiseFloor, ...]:
    """Return the noise floors of an input by metric (`docs/method.md#aa-control`)."""
    by_metric = {c.metric: c for c in control}
    floors = []
    for metric in stage.plan.judge.sampled:
        c = by_metric.get(metric)
        adjusted = reach(c.shown) if c else None
        tripped = c is not None and c.verdict.decided
        floors.append(NoiseFloor(input_id, metric, floor_fraction(c), tripped, adjusted))
    return tuple(floors)


def floor_fraction(control: Comparison | None) -> float | None:
    """Return the reach of the control's 95 % interval as a fraction; `None` without one."""
    interval = control.typical if control else None
    return reach(interval) if interval and interval.level >= PLAIN_LEVEL else None


def reach(interval: Interval | None) -> float | None:
    """Return max(U, 1/L) − 1 for an interval [L, U], or `None` if it is missing or unbounded."""
    if interval is None or interval.lo <= 0 or not math.isfinite(interval.hi):
        return None
    return max(interval.hi, 1 / interval.lo) - 1
