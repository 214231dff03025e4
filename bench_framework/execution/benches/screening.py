"""The benchmarks that are measured further if the time is not enough for all of them.

After a few rounds of all, those that look slowest compared with the baseline are kept. This selects
among comparisons that share the level of all of them, so it adds no false alarm.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Final

from bench_framework.execution.schedule import InputProgress
from bench_framework.model.metrics import ITERATION
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import Plan, Role

ROUNDS: Final = 5
"""Rounds of all benchmarks before any of them ends."""
FEWEST: Final = 2
"""Benchmarks of which one can be chosen."""


def left_out(
    plan: Plan, states: Sequence[InputProgress], looks: Looks, elapsed_s: float
) -> list[InputProgress]:
    """Return the benchmarks that end after `ROUNDS` rounds.

    The time limit is enough for the others until their first interim analysis. None ends if it is
    enough for all.
    """
    active = [state for state in states if not state.stopped]
    to_come, limit_s = looks.rounds[0] - ROUNDS, plan.measure.time_limit_s
    if len(active) < FEWEST or to_come <= 0 or math.isinf(limit_s):
        return []
    rounds = ROUNDS + plan.measure.warmup_rounds
    each_s = elapsed_s / rounds / len(active)
    affordable = int((limit_s - elapsed_s) / (to_come * each_s))
    if affordable >= len(active):
        return []
    by_growth = sorted(active, key=lambda state: -growth(plan, state))
    return by_growth[max(1, affordable) :]


def growth(plan: Plan, state: InputProgress) -> float:
    """Return the largest median ratio of a candidate's time per iteration to the baseline's."""
    baseline = plan.baseline_cell(state.input.id)
    cells = plan.cells_of(state.input.id)
    candidates = [cell.id for cell in cells if cell.role is Role.CANDIDATE]
    before = dict(_times(state, baseline.id)) if baseline is not None else {}
    medians = [0.0]
    for cell_id in candidates:
        pairs = ((time, before[n]) for n, time in _times(state, cell_id) if n in before)
        ratios = [time / base for time, base in pairs if base]
        medians += [statistics.median(ratios)] if ratios else []
    return max(medians)


def _times(state: InputProgress, cell_id: str) -> Iterator[tuple[int, float]]:
    """Yield the time per iteration of a cell in each round."""
    for block in state.blocks.get(cell_id, ()):
        value = block.metric(ITERATION)
        if not block.warmup and block.status == "ok" and value is not None:
            yield block.round, value
