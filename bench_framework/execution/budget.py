"""The limit of rounds that a time budget allows, by the times of the warm-up.

It depends on no measured round, so that the number of interim analyses is fixed in advance. See
`docs/method.md#limit-of-rounds` and `docs/method.md#few-rounds`.
"""

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from bench_framework.errors import UsageError
from bench_framework.execution import schedule
from bench_framework.execution.schedule import InputProgress
from bench_framework.model.plan.looks import (
    FEWEST_FOR_T,
    RoundLimit,
    decidable,
    is_gated,
    limit_of_rounds,
    limited,
    looks_of,
)
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Block
from bench_framework.model.result import race
from bench_framework.text.numbers import format_clock, format_duration

MAY_BE_COLD: Final = 1.25
"""A first run of the baseline that is so many times longer than the others may have read files from the disk."""

MOST_OVERRUN: Final = 1.1
"""A session of a range starts if the record is expected to end within so many times its budget. The limit
of rounds comes from the warm-up, so that the last session would often be a little too long otherwise."""


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The time budget of a plan, in seconds.

    Attributes:
        can_decide: that of `model.plan.looks.limit_of_rounds`.
        few_rounds: true if a budget that is too small for the label test gets a short measurement.
    """

    plan: Plan
    seconds: float
    can_decide: Callable[[Plan], bool] = decidable
    few_rounds: bool = False

    def limit(self, states: Sequence[InputProgress], elapsed_s: float) -> RoundLimit:
        """Return the limit after the warm-up; that of the plan if no cell or only the baseline was run."""
        timed = [state for state in states if not state.stopped]
        known = all(state.targets.keys() <= state.warmup_s.keys() for state in timed)
        round_s = self.round_s(timed) if known else 0.0
        affordable = max(0.0, self.seconds - elapsed_s) / round_s if round_s else math.inf
        return RoundLimit(limit_of_rounds(self.plan, affordable, self.can_decide))

    def is_short(self, states: Sequence[InputProgress], elapsed_s: float) -> bool:
        """Return whether the budget is too small for the usual measurement, after a warm-up round."""
        timed = [state for state in states if not state.stopped]
        if not self.few_rounds or not timed or not all(state.warmup_s for state in timed):
            return False
        round_s = self.round_s(timed, control=True)
        if not round_s:
            return False
        to_come = max(0, self.plan.measure.warmup_rounds - 1)
        rounds = (self.seconds - elapsed_s) / round_s - to_come
        return rounds <= self.fewest_rounds(RoundLimit(0)) - 1

    def short_limit(self, states: Sequence[InputProgress], elapsed_s: float) -> RoundLimit:
        """Return the limit of a budget that is too small for the usual measurement.

        The A/A control is left out if it was not warmed up. If the label test has enough rounds then,
        it decides, otherwise a paired t test.

        Raises `UsageError` (BX123): the budget allows fewer rounds than a t test needs.
        """
        timed = [state for state in states if not state.stopped]
        control = all(state.targets.keys() <= state.warmup_s.keys() for state in timed)
        round_s = self.round_s(timed)
        rounds = math.floor((self.seconds - elapsed_s) / round_s + 0.5)
        if not control and rounds >= self.fewest_rounds(RoundLimit(0, control=False)):
            return RoundLimit(rounds, control=False)
        if rounds >= FEWEST_FOR_T:
            return RoundLimit(rounds, by_t=True, control=control)
        raise UsageError(
            "BX123.after-warm-up",
            budget=format_clock(self.seconds),
            duration=format_duration(round_s),
            least=FEWEST_FOR_T,
            enough=math.ceil(elapsed_s + FEWEST_FOR_T * round_s),
        )

    def control_waits(self, state: InputProgress, cell_id: str) -> bool:
        """Return whether a cell is the A/A control and left out of the first warm-up round.

        It is left out if the budget may be too small for it, as the first run of the baseline shows.
        """
        plan, control = self.plan, self.plan.control_cell(state.input.id)
        if not self.few_rounds or control is None or cell_id != control.id:
            return False
        if plan.measure.warmup_rounds <= 1 or state.warmups:
            return False
        round_s = len(plan.cells) * state.warmup_s.get(state.reference_id, 0.0)
        return round_s * self.fewest_rounds(RoundLimit(0)) > self.seconds

    def fewest_rounds(self, limit: RoundLimit) -> int:
        """Return the smallest limit of rounds with which the plan can decide."""
        most = self.plan.measure.rounds_max
        tried = (replace(limit, rounds=rounds) for rounds in range(1, most))
        return next((t.rounds for t in tried if self.can_decide(limited(self.plan, t))), most)

    def round_s(self, states: Sequence[InputProgress], *, control: bool = False) -> float:
        """Return the duration of a round, by the warm-up.

        With `control`, an A/A control that was not warmed up takes as long as the baseline.
        """
        total = 0.0
        for state in states:
            seconds = {c: self._block_s(state, c) for c in state.targets if c in state.warmup_s}
            total += sum(seconds.values())
            if control and state.targets.keys() > seconds.keys():
                total += seconds.get(state.reference_id, 0.0)
        return total

    def _block_s(self, state: InputProgress, cell_id: str) -> float:
        fastest = min(state.warmup_walls(cell_id), default=0.0)
        again = schedule.runs_of(self.plan, state, cell_id) - 1
        return state.warmup_s[cell_id] + again * fastest


def session_s(
    plan: Plan, blocks: Iterable[Block], states: Sequence[InputProgress], finished: Collection[str]
) -> float:
    """Return how long another session of the inputs would take, by the blocks of the record so far.

    A block takes from its start to that of the next one. Cells that are `finished`, or were before, are
    measured in some of the rounds only.
    """
    measure, times = plan.measure, defaultdict[str, list[float]](list)
    for block, following in itertools.pairwise(b for b in blocks if b.status != "skipped"):
        if not block.warmup and (block.warmup, block.round) == (following.warmup, following.round):
            starts = (datetime.fromisoformat(b.started_at) for b in (following, block))
            times[block.cell_id].append((next(starts) - next(starts)).total_seconds())
    total = 0.0
    for state in states:
        rounds = range(state.rounds + 1, state.rounds + measure.session_rounds + 1)
        few = sum(race.includes_finished(measure.seed, state.input.id, n) for n in rounds)
        for cell_id in state.targets.keys() & times.keys():
            count = few if cell_id in state.finished or cell_id in finished else len(rounds)
            total += (measure.warmup_rounds + count) * statistics.median(times[cell_id])
    return total


def no_time_for_session(
    plan: Plan,
    blocks: Iterable[Block],
    states: Sequence[InputProgress],
    finished: Collection[str],
    elapsed_s: float,
) -> Reason | None:
    """Return the reason why the budget has no time for another session, if that is so."""
    budget_s = plan.measure.budget_s
    if budget_s is None:
        return None
    needed = session_s(plan, blocks, states, finished)
    if elapsed_s + needed <= budget_s * MOST_OVERRUN:
        return None
    return Reason(ReasonCode.NO_TIME_FOR_SESSION, needed)


def used_up(
    plan: Plan,
    state: InputProgress,
    states: Iterable[InputProgress],
    elapsed_s: float,
    can_decide: Callable[[Plan], bool],
) -> Reason | None:
    """Return the reason to end an input because the time is used up; `None` if time is left.

    If the input has too few rounds for a verdict, of the gate if there is one, the reason names a budget that is
    enough.
    """
    measure = plan.measure
    if state.stopped or elapsed_s < measure.time_limit_s:
        return None
    if measure.until == "rounds" or measure.by_t:
        return Reason(ReasonCode.BUDGET_SPENT)
    if is_gated(plan):
        needed = TimeBudget(plan, 0.0, can_decide).fewest_rounds(RoundLimit(0))
    else:
        needed = looks_of(plan).needed_with(3 if plan.control_cell(state.input.id) else 2)
    if state.rounds >= needed:
        return Reason(ReasonCode.BUDGET_SPENT)
    round_s = elapsed_s / sum(s.rounds + s.warmups for s in states) * len(plan.inputs)
    minutes = math.ceil((needed + measure.warmups_total) * round_s / 60)
    return Reason(ReasonCode.BUDGET_TOO_SMALL, (needed, round_s, minutes))


def may_be_cold(state: InputProgress) -> bool:
    """Return whether the first run of the baseline was so long that it may have read files from the disk."""
    others = [s for cell_id, s in state.warmup_s.items() if cell_id != state.reference_id]
    first = state.warmup_s.get(state.reference_id, 0.0)
    return bool(others) and first > MAY_BE_COLD * max(others)
