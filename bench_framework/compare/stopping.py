"""Whether an input needs more rounds, and who leaves a race (METHOD 3).

Stopping, of an input or of a cell, can only make a judgement more careful: P = J · smallest p counts every look of
the schedule, those too that are not taken.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bench_framework.compare.decide import equivalence_level
from bench_framework.model.race import may_leave
from bench_framework.stats.portable_math import expm1, log, log1p, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bench_framework.compare.stage import Stage
    from bench_framework.model.judgement import BestGroup, Comparison


def trailing(stage: Stage, group: BestGroup) -> tuple[str, ...]:
    """Cells of an input that are worse than another one and may leave a race, in plan order."""
    judged = {c for pair in group.comparisons for c in (pair.cell_id, pair.ref_cell_id)}
    return tuple(
        c.id
        for c in stage.plan.cells_of(group.input_id)
        if may_leave(stage.plan, c) and c.id in judged and c.id not in group.cell_ids
    )


def contested(
    stage: Stage, headline: Sequence[Comparison], group: BestGroup, behind: Collection[str]
) -> list[Comparison]:
    """The comparisons that a race waits for: of what does not trail, against the baseline and among each other.

    What trails is not waited for: whether it is worse than the baseline too, or by how much, is no question of a race.
    What was let go gets no further rounds, so that waiting for it would be in vain.
    """
    now = stage.reached[-1]
    out = set(behind) | {
        cell_id
        for cell_id, sample in stage.samples.items()
        if now not in sample.runs and now not in sample.void
    }
    among = [c for c in group.comparisons if {c.cell_id, c.ref_cell_id} <= set(group.cell_ids)]
    return [c for c in (*headline, *among) if not {c.cell_id, c.ref_cell_id} & out]


def idle(
    stage: Stage, input_id: str, open_: Sequence[Comparison], behind: Collection[str]
) -> tuple[str, ...]:
    """Cells of a race that nobody beats and nobody waits for: more rounds would change no place."""
    asked = {c for pair in open_ for c in (pair.cell_id, pair.ref_cell_id)} | set(behind)
    return tuple(
        c.id
        for c in stage.plan.cells_of(input_id)
        if may_leave(stage.plan, c) and c.id in stage.usable and c.id not in asked
    )


def open_pairs(stage: Stage, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Those of the comparisons that further rounds are for."""
    measure = stage.plan.measure
    if measure.until == "precision":
        wanted = measure.precision or 0.0
        return [c for c in comparisons if (width := half_width(c)) is None or width > wanted]
    found = [c for c in comparisons if not c.verdict.settled and not futile(c, stage)]
    return one_rival_each(found, stage) if measure.strategy == "race" else found


def one_rival_each(open_: Sequence[Comparison], stage: Stage) -> list[Comparison]:
    """The open pairs of a race, of those among variants only the one to which each is likeliest to lose.

    One defeat puts a variant out. To wait for a second rival that may beat it too would keep that rival running
    for a question whose answer changes nobody's place.
    """
    likeliest: dict[str, tuple[float, Comparison]] = {}
    for c in open_:
        if c.family == "best":
            slower, chance = _chance(c, stage)
            if slower not in likeliest or chance > likeliest[slower][0]:
                likeliest[slower] = chance, c
    kept = [c for _, c in likeliest.values()]
    return [c for c in open_ if c.family != "best" or c in kept]


def _chance(pair: Comparison, stage: Stage) -> tuple[str, float]:
    """The cell that looks slower, and how many detectable differences it lies behind."""
    if pair.typical is None:
        return pair.cell_id, math.inf
    slower = pair.cell_id if pair.typical.ratio > 1 else pair.ref_cell_id
    return slower, math.inf if pair.mde is None else _target(pair, stage) / log1p(pair.mde)


def decide(
    stage: Stage, comparisons: Sequence[Comparison], open_: Sequence[Comparison], index: int
) -> tuple[bool, str]:
    """Whether to stop after this look, and why, in words; a reason too where it goes on.

    Args:
        stage: of the input.
        comparisons: what is waited for.
        open_: `open_pairs` of them.
        index: of the look, from 0.
    """
    measure = stage.plan.measure
    if index >= stage.looks.count - 1:
        return True, "the last look"
    if measure.until == "rounds":
        return False, "all rounds are measured"
    if not comparisons:
        return True, "nothing is left to compare"
    if measure.until == "precision":
        return (
            not open_,
            "a half-width is too large" if open_ else "every half-width is small enough",
        )
    if open_:
        open_words = "waited for" if measure.strategy == "race" else "open"
        return False, f"{len(open_)} of {len(comparisons)} comparisons {open_words}"
    settled = all(c.verdict.settled for c in comparisons)
    return True, "settled" if settled else "settled, or out of reach in the rounds that are left"


def half_width(comparison: Comparison) -> float | None:
    """Of the displayed interval, as a fraction."""
    shown = comparison.shown
    if shown is None or shown.lo <= 0 or not math.isfinite(shown.hi):
        return None
    return expm1((log(shown.hi) - log(shown.lo)) / 2)


def futile(comparison: Comparison, stage: Stage) -> bool:
    """Whether neither a difference nor equivalence can be shown in time.

    The detectable difference at the last look is held against the larger of the margin and the largest effect that
    the 95 % interval leaves possible: with the margin alone, a real 10 % would be given up at a first look whose noise
    hides it, although the last look would find it. A race asks who is best, of many pairs, and some of many always
    leave much possible: there it is held against the difference that is seen.
    """
    if comparison.mde is None or comparison.typical is None or not comparison.rounds:
        return False
    shrink = math.sqrt(comparison.rounds / stage.looks.rounds[-1])
    at_last = log1p(comparison.mde) * shrink
    limit = log1p(comparison.margin)
    if at_last <= max(limit, _target(comparison, stage)):
        return False
    half = (log(comparison.typical.hi) - log(comparison.typical.lo)) / 2
    wider = normal_quantile((1 + equivalence_level(stage.looks.count)) / 2) / normal_quantile(0.975)
    return half * wider * shrink >= limit


def _target(comparison: Comparison, stage: Stage) -> float:
    """The effect that is worth waiting for, on the log scale."""
    assert comparison.typical is not None
    seen = [comparison.typical.ratio, *([comparison.shown.ratio] if comparison.shown else [])]
    if stage.plan.measure.strategy != "race":
        seen = [comparison.typical.lo, comparison.typical.hi]
    return max(abs(log(ratio)) for ratio in seen)
