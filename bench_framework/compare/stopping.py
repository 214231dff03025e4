"""The stopping rule of an input, and the cells that may leave before it stops.

Stopping early can only make a judgement more conservative, because P = J · smallest p counts every
interim analysis of the schedule, including those that are not taken. See
`docs/method.md#stopping`, `docs/method.md#finished-configurations` and `docs/method.md#race`.
"""

import math
from collections.abc import Collection, Sequence
from typing import Final

from bench_framework.compare.decide import equivalence_level
from bench_framework.compare.stage import Stage
from bench_framework.model.reasons import LAST_LOOK, ONE_PROGRAM, Reason, ReasonCode
from bench_framework.model.result.judgement import BestGroup, Comparison
from bench_framework.model.result.race import may_leave
from bench_framework.stats.holm_family import log_half_width
from bench_framework.stats.portable_math import expm1, log, log1p, normal_quantile

CONCLUSIVE: Final = Reason(ReasonCode.CONCLUSIVE)
FUTILE: Final = Reason(ReasonCode.FUTILE)


def trailing(stage: Stage, group: BestGroup) -> tuple[str, ...]:
    """Return the cells of an input that are worse than another one and may be dropped."""
    judged = {c for pair in group.comparisons for c in (pair.cell_id, pair.ref_cell_id)}
    beaten = judged - set(group.cell_ids)
    cells = (c for c in stage.plan.cells_of(group.input_id) if c.id in beaten)
    return tuple(c.id for c in cells if may_leave(stage.plan, c))


def contested(
    stage: Stage, headline: Sequence[Comparison], group: BestGroup, behind: Collection[str]
) -> list[Comparison]:
    """Return the comparisons that a race still has to decide.

    These are the comparisons of the cells that are not beaten, with the baseline and with each
    other. Whether a beaten cell is also worse than the baseline, or by how much, does not matter
    for a race. A dropped cell gets no further rounds.
    """
    open_ = still_measured(stage, [*headline, *_among(group)])
    return [c for c in open_ if not {c.cell_id, c.ref_cell_id} & set(behind)]


def _among(group: BestGroup) -> list[Comparison]:
    """Return the comparisons of members of a best group with each other."""
    members = set(group.cell_ids)
    return [c for c in group.comparisons if {c.cell_id, c.ref_cell_id} <= members]


def comparable_pairs(stage: Stage, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons that are not refused, and of two different programs."""
    refused = {s.cell_id for s in stage.runs.states if s.refusal}
    return [
        c
        for c in comparisons
        if not {c.cell_id, c.ref_cell_id} & refused
        and not stage.runs.lack(c.metric, c.cell_id, c.ref_cell_id)
        and c.reason != ONE_PROGRAM
    ]


def still_measured(stage: Stage, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons of which both cells were measured in the last round."""
    out = unmeasured_cells(stage)
    return [c for c in comparisons if not {c.cell_id, c.ref_cell_id} & out]


def unmeasured_cells(stage: Stage) -> set[str]:
    """Return the cells that were not measured in the last round, and those that were finished before."""
    now = stage.reached[-1]
    return stage.finished.keys() | {
        cell_id
        for cell_id, sample in stage.runs.samples.items()
        if now not in sample.runs and now not in sample.void
    }


def open_rivals(stage: Stage, group: BestGroup) -> list[Comparison]:
    """Return the pairs within the best group that further rounds may decide, as in a race."""
    among = (c for c in still_measured(stage, _among(group)) if not c.verdict.settled)
    return one_rival_each([c for c in among if not futile(c, stage, by_estimate=True)])


def settled_cells(
    stage: Stage, open_: Sequence[Comparison], behind: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the cells that no cell beats and that no open comparison contains."""
    in_use = {c for pair in open_ for c in (pair.cell_id, pair.ref_cell_id)} | set(behind)
    usable = stage.runs.usable_for(*stage.policy.sampled)
    cells = (c for c in stage.plan.cells_of(stage.input_id) if c.id in usable - in_use)
    return tuple(c.id for c in cells if may_leave(stage.plan, c))


def open_pairs(stage: Stage, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons that further rounds may decide.

    With ``until: precision`` these are the comparisons whose interval is too wide, otherwise the
    inconclusive ones that are not futile.
    """
    measure = stage.plan.measure
    if measure.until == "precision":
        target = measure.precision or 0.0
        return [c for c in comparisons if (width := half_width(c)) is None or width > target]
    open_ = [c for c in comparisons if not c.verdict.settled and not futile(c, stage)]
    return one_rival_each(open_) if measure.strategy == "race" else open_


def one_rival_each(open_: Sequence[Comparison]) -> list[Comparison]:
    """Return the open comparisons of a race with only one rival for each variant.

    Of the open comparisons of a variant with faster-looking ones, only the one that it most likely
    loses is included: one loss is enough to drop a variant, and a second comparison would only keep
    another rival running.
    """
    likeliest: dict[str, tuple[float, Comparison]] = {}
    for c in open_:
        if c.family == "best":
            slower, chance = _chance(c)
            if slower not in likeliest or chance > likeliest[slower][0]:
                likeliest[slower] = chance, c
    decisive = [c for _, c in likeliest.values()]
    return [c for c in open_ if c.family != "best" or c in decisive]


def _chance(pair: Comparison) -> tuple[str, float]:
    """Return the slower-looking cell of a pair, and its distance in units of the MDE."""
    if pair.unadjusted is None:
        return pair.cell_id, math.inf
    slower = pair.cell_id if pair.unadjusted.ratio > 1 else pair.ref_cell_id
    chance = math.inf if pair.mde is None else _target(pair, by_estimate=True) / log1p(pair.mde)
    return slower, chance


def decide_stop(
    stage: Stage,
    comparisons: Sequence[Comparison],
    open_: Sequence[Comparison],
    *,
    precision: bool = False,
) -> tuple[bool, Reason]:
    """Return whether to stop after this interim analysis, and why.

    See `open_pairs` for `open_`, of which intervals are too wide with `precision`.
    """
    last = stage.last_look >= stage.looks.count - 1
    if not comparisons:
        return True, Reason(ReasonCode.NOTHING_REMAINS)
    if open_ and last:
        return True, LAST_LOOK
    if precision:
        return not open_, Reason(ReasonCode.TOO_WIDE if open_ else ReasonCode.NARROW_ENOUGH)
    if open_:
        return False, Reason(
            ReasonCode.STILL_OPEN, Reason(ReasonCode.SHARE, (len(open_), len(comparisons)))
        )
    if all(c.verdict.settled for c in comparisons):
        return True, CONCLUSIVE
    return True, LAST_LOOK if last else FUTILE


def half_width(comparison: Comparison) -> float | None:
    """Return the half-width of the displayed interval as a fraction; `None` if it is unbounded."""
    interval = comparison.shown
    if interval is None or not interval.bounded:
        return None
    return expm1(log_half_width(interval))


def futile(comparison: Comparison, stage: Stage, *, by_estimate: bool = False) -> bool:
    """Return whether further rounds can show neither a difference nor equivalence.

    That is so if even the largest effect that the 95 % interval still allows, or the margin if it is larger,
    would be found with a probability of less than one half at the last interim analysis. The user gave the
    time for all rounds. Of many pairs, some intervals are always wide; in a race and `by_estimate`, the MDE
    is compared with the observed difference instead.
    """
    by_estimate = by_estimate or stage.plan.measure.strategy == "race"
    if comparison.mde is None or comparison.unadjusted is None:
        return False
    shrink = math.sqrt(comparison.rounds / stage.looks.rounds[-1])
    limit = log1p(comparison.thresholds.margin)
    half = log_half_width(comparison.unadjusted)
    smallest = (
        log1p(comparison.mde)
        if by_estimate
        else half * normal_quantile(1 - stage.looks.strict / 2) / normal_quantile(0.975)
    )
    if smallest * shrink <= max(limit, _target(comparison, by_estimate=by_estimate)):
        return False
    wider = normal_quantile((1 + equivalence_level(stage.looks.count)) / 2) / normal_quantile(0.975)
    return half * wider * shrink >= limit


def _target(comparison: Comparison, *, by_estimate: bool) -> float:
    """Return the effect with which the MDE is compared, on the log scale."""
    interval = comparison.unadjusted
    assert interval is not None
    ratios = [interval.ratio] if by_estimate else [interval.lo, interval.hi]
    return max(abs(log(ratio)) for ratio in ratios)
