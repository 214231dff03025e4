"""The interim analyses of a plan, which are fixed before the start (docs/method.md#interim-analyses)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from bench_framework.model.plan.plan import NO_PART_OF_DIGEST, Plan, Role
from bench_framework.model.plan.planned_comparisons import comparisons_planned
from bench_framework.model.plan.policies import MeasurePolicy

GRID: Final = (12, 18, 27, 40, 60, 90, 135, 200, 300, 450, 675, 1000)
"""Rounds of the looks, each about 1.5 times the previous one. Each look costs some level."""
ALLOWANCE: Final = 1.2
"""Factor between the rounds that a budget allows by the warm-up and the limit of rounds: rounds
become shorter when configurations are finished."""
MOST_SESSION_ROUNDS: Final = 18
"""Default of the largest number of rounds of a session."""
FEWEST_SESSION_ROUNDS: Final = 2
"""A session with fewer rounds of a comparison has no estimate of it."""
SESSION_LEVEL: Final = 0.95
"""Level of the interval from the sessions, if it is looked at once."""
LAST_SESSION_ERROR: Final = 0.04
"""Error of the interval from the sessions at the last one of several looks. Times the third power of the share of
sessions, it is close to the boundaries of O'Brien and Fleming, Biometrics 35 (1979)."""
FEWEST_FOR_T: Final = 3
"""Rounds below which the standard error of a paired t test is too uncertain for a useful interval."""
RACE_STEP: Final = 1.25
"""Factor between the looks of a race. A dropped cell is measured until the next look, and one more
look costs less than these runs (docs/method.md#race)."""


@dataclass(frozen=True, slots=True)
class Looks:
    """The interim analyses ("looks") of one record."""

    rounds: tuple[int, ...]
    """Rounds after which the data are analysed. The last one is the plan's `max`."""
    needed: int
    """n_min, the smallest number of rounds with which every comparison can reach the level."""
    decidable: bool
    """True if the last look can reach the level. Otherwise the record is exploratory: it is measured, and every
    verdict is inconclusive."""
    family: int
    """M, the number of comparisons that share the level."""
    level: float
    """The family-wise α."""
    by_t: bool = False
    """True if a paired t test of all rounds takes the place of the label test (docs/method.md#few-rounds)."""
    session_rounds: int | None = None
    """Number of rounds of a session; `None` in a record of one session. Looks are at the end of sessions."""

    @classmethod
    def at(cls, rounds: tuple[int, ...], family: int, level: float) -> Looks:
        """Return looks after these rounds, with the number of rounds that they need."""
        needed = rounds_needed(len(rounds), family, level)
        return cls(rounds, needed, rounds[-1] >= needed, max(1, family), level)

    @property
    def count(self) -> int:
        """Number of looks, J."""
        return len(self.rounds)

    @property
    def strict(self) -> float:
        """α/(J·M), the level of the first step of Holm's procedure at one of J looks."""
        return self.level / (self.count * self.family)

    def session_level(self, sessions: int, index: int) -> float:
        """Return the level of the interval from so many sessions at a look, by its index.

        It is 95 % for one look. With several ones, early looks have little of the error, see
        `docs/method.md#a-range-of-sessions`.
        """
        if self.session_rounds is None or self.count == 1:
            return SESSION_LEVEL
        first, *_, last = (n // self.session_rounds for n in self.rounds)
        share = 1.0 if index == self.count - 1 else max(first, sessions) / last
        return 1 - LAST_SESSION_ERROR * share**3

    def needed_with(self, runs: int) -> int:
        """Return the rounds that a comparison of so many runs per round needs for its level.

        Nothing is decided in a record that is exploratory.
        """
        if not self.decidable or self.by_t:
            return self.needed
        return rounds_needed(self.count, self.family, self.level, runs)

    def shared_by(self, family: int, level: float) -> Looks:
        """Return the same looks for another family, which is chosen after the measurement.

        J does not change, because the measurement could have ended at each of those looks.
        """
        if self.by_t:
            return replace(self, family=max(1, family), level=level)
        return replace(Looks.at(self.rounds, family, level), session_rounds=self.session_rounds)


def rounds_needed(looks: int, family: int, level: float, runs: int = 2) -> int:
    """Return n_min = ⌈log(2.5·J·M/α) ÷ log(runs)⌉, the rounds that a verdict needs.

    n rounds have runsⁿ labels, and two of them are the most extreme ones. The factor is 2 ÷ 0.8,
    because the main score has 80 % of the level (docs/method.md#paired-test). There are two runs in
    a round, and three with the A/A control. A family below 1 counts as 1.
    """
    labels = 2.5 * looks * max(1, family) / level
    return next(n for n in itertools.count() if runs**n >= labels)


def schedule(first: int, last: int, family: int, level: float, *, single: bool = False) -> Looks:
    """Return the looks of a plan of `first` to `last` rounds with `family` comparisons at `level`.

    `first` and `last` are `rounds.min` and `rounds.max`, which is always the last look. With
    `single`, it is the only one (``until: rounds``).
    """
    start = max(1, min(first, last))
    grid = () if single else tuple(n for n in (start, *GRID) if start <= n < last)
    looks = (*sorted(set(grid)), last)
    while True:
        needed = rounds_needed(len(looks), family, level)
        reachable = _reachable(looks, needed)
        if reachable == looks:
            break
        # The first round that can reach the level replaces a removed look if it is before the next.
        if needed < reachable[0] and needed not in reachable and not single:
            reachable = (needed, *reachable)
            if rounds_needed(len(reachable), family, level) != needed:
                reachable = reachable[1:]
        looks = reachable
    return Looks.at(looks, family, level)


def session_schedule(measure: MeasurePolicy, family: int, level: float) -> Looks:
    """Return the looks of a plan of several sessions: at the end of each one that may be the last one."""
    length = measure.session_rounds
    first = measure.sessions if measure.until == "rounds" else measure.fewest_sessions
    looks = tuple(length * number for number in range(first, measure.sessions + 1))
    while (reachable := _reachable(looks, rounds_needed(len(looks), family, level))) != looks:
        looks = reachable
    return replace(Looks.at(looks, family, level), session_rounds=length)


def _reachable(looks: tuple[int, ...], needed: int) -> tuple[int, ...]:
    """Return the looks with enough rounds for the level, and the last one."""
    return tuple(n for n in looks if n >= needed or n == looks[-1])


def race_schedule(
    first: int, last: int, family: int, rivals: int, level: float, *, control: bool = False
) -> Looks:
    """Return the looks of a race, from the first round after which a cell can be dropped.

    The other arguments are those of `schedule`. `rivals` is the number of pairs, K(K - 1)/2, among
    the variants of the input with most variants; they decide which variants are dropped. With a
    `control`, a comparison with the baseline needs fewer rounds than one of two variants, and an
    earlier look can drop the variants that are worse than the baseline.
    """
    start = max(1, min(first, last))
    while True:
        rounds = _steps(start, last)
        early = max(first, rounds_needed(len(rounds) + 1, family, level, runs=3))
        if control and early * RACE_STEP <= start:
            rounds = (early, *rounds)
        earliest = min(last, rounds_needed(len(rounds), max(family, rivals), level))
        if start >= earliest:
            break
        start = earliest
    return Looks.at(rounds, family, level)


def _steps(start: int, last: int) -> tuple[int, ...]:
    rounds = [start]
    while rounds[-1] < last:
        following = max(rounds[-1] + 1, round(rounds[-1] * RACE_STEP))
        # A look just before the last one would cost its share of the level and save almost no
        # runs.
        rounds.append(last if following * math.sqrt(RACE_STEP) > last else following)
    return tuple(rounds)


def looks_of(plan: Plan) -> Looks:
    """Return the looks of a plan."""
    measure, family, level = plan.measure, comparisons_planned(plan), plan.judge.level
    first, last, single = measure.rounds_min, measure.rounds_max, measure.until == "rounds"
    if measure.by_t:
        return Looks((last,), FEWEST_FOR_T, last >= FEWEST_FOR_T, max(1, family), level, by_t=True)
    if measure.strategy == "race" and not single:
        # K(K − 1)/2, the pairs of the input with most variants (docs/method.md#best-group).
        most = max((len(plan.compared_cells(item.id)) for item in plan.inputs), default=0)
        rivals = most * (most - 1) // 2
        return race_schedule(first, last, family, rivals, level, control=measure.control)
    if measure.sessions > 1:
        return session_schedule(measure, family, level)
    return schedule(first, last, family, level, single=single)


def decidable(plan: Plan) -> bool:
    """Return whether a verdict can reach its level at the last look of a plan."""
    return looks_of(plan).decidable


def allows_few_rounds(plan: Plan) -> bool:
    """Return whether a budget that is too small for the label test gets a short measurement.

    Gates, races and plans with another limit or stopping rule have the label test only.
    """
    measure = plan.measure
    fixed = measure.by_budget and measure.until == "conclusive" and measure.strategy == "fixed"
    return fixed and not is_gated(plan) and measure.sessions == 1


def is_gated(plan: Plan) -> bool:
    """Return whether a gate judges the record, or its scenario has one."""
    return plan.invocation.gate or bool(plan.confirms) or plan.judge.gate.given


@dataclass(frozen=True, slots=True)
class RoundLimit:
    """The limit of rounds that a budget allows, and what follows if they are few."""

    rounds: int
    by_t: bool = False
    """See `MeasurePolicy.by_t`."""
    control: bool = True
    """False if the A/A control is not measured."""

    @property
    def short(self) -> bool:
        """True if the budget is too small for the usual measurement: one warm-up round, one look."""
        return self.by_t or not self.control


def limited(plan: Plan, limit: RoundLimit) -> Plan:
    """Return a plan with a known limit of rounds."""
    measure = replace(plan.measure, rounds_max=limit.rounds, by_budget=False, by_t=limit.by_t)
    if limit.short:
        warmup = min(1, measure.warmup_rounds)
        measure = replace(measure, rounds_min=limit.rounds, warmup_rounds=warmup)
    if limit.control:
        return replace(plan, measure=measure)
    cells = tuple(cell for cell in plan.cells if cell.role is not Role.CONTROL)
    return replace(plan, measure=replace(measure, control_left_out=True), cells=cells)


def changed_keys(before: Plan, after: Plan) -> list[str]:
    """Return keys of a scenario that differ; `before` may have a limit of rounds, see `limited`."""
    if after.measure.by_budget and not before.measure.by_budget:
        measure = before.measure
        limit = RoundLimit(measure.rounds_max, measure.by_t, not measure.control_left_out)
        after = limited(after, limit)
    keys = [
        *(
            f"measure.{name.partition('_')[0]}"
            for name in _differing(before.measure, after.measure)
        ),
        *(name.removesuffix("s") for name in _differing(before.judge, after.judge)),
        *_differing(before, after),
    ]
    derived = {"measure.seed", "measure", "judge", "variants", "holes", "baseline_id"}
    hidden = {*derived, "scenario_sha256", *NO_PART_OF_DIGEST}
    words = {"metric": "judge", "cells": "configurations", "program": "worker"}
    return [words.get(key, key) for key in dict.fromkeys(keys) if key not in hidden]


def _session_rounds(plan: Plan, affordable: float, can_decide: Callable[[Plan], bool]) -> int:
    """Return the rounds of each session for which a budget is enough, within the limits of the plan.

    They are at most `MOST_SESSION_ROUNDS` by default, because more rounds of one session do not show what
    another session gives.
    """
    measure = plan.measure
    most = measure.session_rounds
    to_warm_up = measure.warmups_total - measure.warmup_rounds  # of the sessions after the first
    fitting = (affordable - to_warm_up) / measure.sessions
    rounds = most if fitting >= most else max(measure.rounds_min, math.floor(fitting))
    while rounds < most and not can_decide(limited(plan, RoundLimit(measure.sessions * rounds))):
        rounds += 1
    return rounds


def _differing(before: Any, after: Any) -> list[str]:
    names = (field.name for field in fields(before))
    return [name for name in names if getattr(before, name) != getattr(after, name)]


def limit_of_rounds(
    plan: Plan, affordable: float, can_decide: Callable[[Plan], bool] = decidable
) -> int:
    """Return the limit of rounds of a plan with `by_budget` (docs/method.md#limit-of-rounds).

    It is the first number of `GRID` that the budget cannot exceed, or the smallest one with which
    the plan can decide if that is larger.

    `affordable` is the number of rounds for which the budget is enough. `can_decide` returns whether a
    plan with this limit can decide anything.
    """
    measure = plan.measure
    if measure.sessions > 1:
        return measure.sessions * _session_rounds(plan, affordable, can_decide)
    step = next((n for n in GRID if n >= affordable * ALLOWANCE), measure.rounds_max)
    limit = min(max(step, measure.rounds_min), measure.rounds_max)
    while limit < measure.rounds_max and not can_decide(limited(plan, RoundLimit(limit))):
        limit += 1
    return limit
