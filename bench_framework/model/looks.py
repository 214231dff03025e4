"""The interim analyses, fixed before the start (docs/method.md#interim-analyses)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from bench_framework.model.plan import Plan, Role

STATISTICS: Final = 2
"""Typical and fastest rounds: whichever has the smaller p is shown with a verdict."""
GRID: Final = (12, 18, 27, 40, 60, 90, 135, 200, 300, 450, 675, 1000)
"""Each look about 1.5 times the last: fewer looks cost less level, and no look comes late."""
RACE_STEP: Final = 1.25
"""Each look of a race is at this multiple of the last: a loser is measured until the next look, and
one more look costs less than that (docs/method.md has the figures)."""


@dataclass(frozen=True, slots=True)
class Looks:
    """The schedule of one record.

    Attributes:
        rounds: after which rounds the data are looked at; the last is the plan's `max`.
        needed: n_min, the rounds without which no verdict can reach the level.
        decidable: whether the last look can reach the level at all. If not, the record is
            exploratory: it is measured, and every verdict is inconclusive.
        family: M, the number of comparisons that share the level.
        level: the family-wise α.
    """

    rounds: tuple[int, ...]
    needed: int
    decidable: bool
    family: int
    level: float

    @property
    def count(self) -> int:
        """J."""
        return len(self.rounds)

    def shared_by(self, family: int, level: float) -> Looks:
        """The same looks for another family, chosen afterwards.

        However few comparisons are asked for now: J stays what it was while the record was
        measured, since each of those looks could have been the one that ended it.
        """
        family = max(1, family)
        needed = rounds_needed(self.count, family, level)
        return Looks(self.rounds, needed, self.rounds[-1] >= needed, family, level)


def rounds_needed(looks: int, family: int, level: float) -> int:
    """n_min = 1 + ⌈log₂(2·J·M/α)⌉: n rounds have 2ⁿ label swaps, two of them as extreme as can be.

    The test alone would need one round less; the interval that is printed with a verdict pays for
    the choice between two statistics (docs/method.md#families), and has an end only from here on.
    """
    return 1 + (math.ceil(STATISTICS * looks * family / level) - 1).bit_length()


def schedule(first: int, last: int, family: int, level: float, *, single: bool = False) -> Looks:
    """The looks of a plan of `first` to `last` rounds with `family` comparisons at `level`.

    Args:
        first: `rounds.min`; moves the first look when above it.
        last: `rounds.max`; always the last look.
        family: M; below 1 is taken as 1.
        level: family-wise α.
        single: look once, at `last` (``until: rounds``).
    """
    family = max(1, family)
    start = max(1, min(first, last))
    grid = () if single else tuple(n for n in (start, *GRID) if start <= n < last)
    looks = (*sorted(set(grid)), last)
    while True:
        needed = rounds_needed(len(looks), family, level)
        kept = tuple(n for n in looks if n >= needed or n == last)
        if kept == looks:
            break
        # A struck look is replaced by the first round that can decide, if it lies before the next.
        if needed < kept[0] and needed not in kept and not single:
            kept = (needed, *kept)
            if rounds_needed(len(kept), family, level) != needed:
                kept = kept[1:]
        looks = kept
    return Looks(looks, needed, last >= needed, family, level)


def race_schedule(first: int, last: int, family: int, rivals: int, level: float) -> Looks:
    """The looks of a race: from the first round after which anyone can be dropped, at closer steps.

    Args:
        first: `rounds.min`; moves the first look when above it.
        last: `rounds.max`; always the last look.
        family: M; below 1 is taken as 1.
        rivals: pairs among the variants of the largest input: the family that tells who is worse
            than another one, and with K(K - 1)/2 members the larger one of the two.
        level: family-wise α.
    """
    family, rivals = max(1, family), max(1, rivals)
    start = max(1, min(first, last))
    while True:
        rounds = _steps(start, last)
        earliest = min(last, rounds_needed(len(rounds), max(family, rivals), level))
        if start >= earliest:
            break
        start = earliest
    needed = rounds_needed(len(rounds), family, level)
    return Looks(rounds, needed, last >= needed, family, level)


def _steps(start: int, last: int) -> tuple[int, ...]:
    found = [start]
    while found[-1] < last:
        following = max(found[-1] + 1, round(found[-1] * RACE_STEP))
        # A look just before the last one would cost its share of the level and spare next to
        # nothing.
        found.append(last if following * math.sqrt(RACE_STEP) > last else following)
    return tuple(found)


def rivals_of(plan: Plan) -> int:
    """K(K − 1)/2 pairs of the input with most variants (docs/method.md#best-group)."""
    racing = (Role.BASELINE, Role.CANDIDATE)
    counts = [sum(cell.role in racing for cell in plan.cells_of(item.id)) for item in plan.inputs]
    most = max(counts, default=0)
    return most * (most - 1) // 2


def looks_of(plan: Plan) -> Looks:
    """The schedule of a plan."""
    measure = plan.measure
    if measure.strategy == "race" and measure.until != "rounds":
        return race_schedule(
            measure.rounds_min,
            measure.rounds_max,
            plan.comparisons_planned,
            rivals_of(plan),
            plan.judge.level,
        )
    return schedule(
        plan.measure.rounds_min,
        plan.measure.rounds_max,
        plan.comparisons_planned,
        plan.judge.level,
        single=plan.measure.until == "rounds",
    )
