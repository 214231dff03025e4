"""Verdicts of pairs that were measured in the same rounds: which of the two statistics decides, and the MDE."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from bench_framework.compare import paired_test
from bench_framework.compare.decide import (
    REACHES_ONE,
    Decision,
    Evidence,
    decide,
    equivalence_level,
    excludes_one,
    rounds_for_margin,
)
from bench_framework.model.judgement import Comparison
from bench_framework.model.looks import STATISTICS
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.stats import intervals
from bench_framework.stats.holm_family import Adjusted, detectable, holm, over_looks
from bench_framework.stats.portable_math import expm1, log, log1p, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.compare.samples import Pair
    from bench_framework.model.policies import Metric
    from bench_framework.model.verdict import Thresholds
    from bench_framework.stats.intervals import Bounds

PLAIN_LEVEL: Final = 0.95
FEWEST_FOR_MDE: Final = 6
"""Below 6 rounds there is no 95 % interval."""
MOST_ROUNDS: Final = 1000
TOO_FEW: Final = "too few rounds for any verdict"


@dataclass(frozen=True, slots=True)
class Rules:
    """What all pairs of a family share.

    Attributes:
        looks: J, the planned number of interim analyses: how often the data may be tested before measuring ends.
        size: M, the planned number of comparisons in the family that share α.
        level: α, the family-wise error rate: the chance of one or more false verdicts where no pair differs.
        seed: of the label swaps.
        thorough: compute the 95 % interval of θ₁ (the log ratio of the fastest thirds) for every pair; otherwise only
            its half-width.
    """

    looks: int
    size: int
    level: float
    seed: int
    thorough: bool = True

    @property
    def strict(self) -> float:
        """α/(J·M): what the first step of Holm asks of a p."""
        return self.level / (self.looks * self.size)


@dataclass(frozen=True, slots=True)
class Case:
    """A pair under judgement: its data up to the last look, and what the looks found."""

    cell_id: str
    ref_cell_id: str
    metric: Metric
    family: Literal["headline", "control", "best"]
    pair: Pair
    evidence: tuple[paired_test.Evidence, ...]
    thresholds: Thresholds
    look: int = 0
    runs: int = 0
    runs_ref: int = 0

    @property
    def strongest(self) -> paired_test.Evidence:
        """The evidence with the smallest p; the earliest of equals."""
        return min(self.evidence, key=lambda e: e.p)


def judge_family(cases: Sequence[Case], rules: Rules) -> tuple[Comparison, ...]:
    """Verdicts of a family, in the order of `cases`. Every case has rounds and at least one look."""
    p_values = [over_looks(case.strongest.p, rules.looks) for case in cases]
    adjusted = holm(p_values, size=rules.size, level=rules.level)
    return tuple(_judge(case, found, rules) for case, found in zip(cases, adjusted, strict=True))


def _judge(case: Case, adjusted: Adjusted, rules: Rules) -> Comparison:
    # The statistic that is shown was chosen for lying far out: its interval at 1 − α/(J·h) would miss the truth more
    # often than that says (two-humped noise: 3.2 % instead of 2.5 %). The choice is paid for as if both were shown.
    level = 1 - rules.level / (STATISTICS * rules.looks * adjusted.divisor)
    x, y = paired_test.logs(case.pair)
    plain, at_level = intervals.typical_at(x - y, (PLAIN_LEVEL, level))
    plain_floor = intervals.floor(x, y, PLAIN_LEVEL, rules.seed) if rules.thorough else None
    typical = Evidence(
        adjusted.rejected, _promised(at_level), "typical", lambda: _equivalence(case, rules)
    )
    found = (
        _significant(case, typical, level, rules)
        if typical.significant
        else decide(typical, case.thresholds)
    )
    margin, epsilon = case.thresholds.margin, case.thresholds.minimum_effect
    if (
        found.verdict is Verdict.INCONCLUSIVE
        and not typical.significant
        and excludes_one(found.shown, margin)
    ):
        # An interval at this level that leaves 1 out rejects, unless no number of equal signs could.
        found = replace(found, reason=TOO_FEW)
    made = Comparison(
        cell_id=case.cell_id,
        ref_cell_id=case.ref_cell_id,
        metric=case.metric,
        family=case.family,
        verdict=found.verdict,
        reason=found.reason,
        shown=found.shown,
        statistic="typical" if found.verdict is Verdict.EQUIVALENT else found.statistic,
        typical=plain.ratio,
        floor=plain_floor.ratio if plain_floor and plain_floor.bounded else None,
        p=case.strongest.p,
        p_adjusted=adjusted.p,
        rounds=len(case.pair),
        runs=case.runs,
        runs_ref=case.runs_ref,
        look=case.look,
        margin=margin,
        epsilon=epsilon,
    )
    return made if found.verdict.settled else _with_mde(made, case, plain, plain_floor, rules)


_MIXED: Final = "mixed: the typical and the fastest rounds point in opposite directions"
_TURNED: Final = "mixed: the direction changed after the look that found a difference"
_ENDLESS: Final = "the fastest third differs, but its interval has no end"


def _significant(case: Case, typical: Evidence, level: float, rules: Rules) -> Decision:
    """Decide a rejected pair; inconclusive with a reason where no verdict can be given.

    The statistic with the smaller p decides. Its interval is taken over all rounds, and later rounds may
    have widened it until it reaches 1; the other statistic is shown then, if its interval does not.
    """
    strongest = case.strongest
    if strongest.typical_sign * strongest.floor_sign < 0 and strongest.p_other <= 1 - level:
        return Decision(Verdict.INCONCLUSIVE, typical.shown, typical.statistic, _MIXED)
    by_floor = strongest.floor_decides
    first = _by_statistic(case, typical, level, rules, by_floor=by_floor)
    if (
        first.reason not in (REACHES_ONE, _ENDLESS)
        or strongest.typical_sign != strongest.floor_sign
    ):
        return first
    second = _by_statistic(case, typical, level, rules, by_floor=not by_floor)
    return second if second.verdict.decided else first


def _by_statistic(
    case: Case, typical: Evidence, level: float, rules: Rules, *, by_floor: bool
) -> Decision:
    """Decide by one of the two statistics, over all rounds."""
    evidence, sign = typical, case.strongest.typical_sign
    if by_floor:
        x, y = paired_test.logs(case.pair)
        bounds = intervals.floor(x, y, level, rules.seed)
        if not bounds.bounded:
            return Decision(Verdict.INCONCLUSIVE, typical.shown, typical.statistic, _ENDLESS)
        evidence = replace(typical, shown=_promised(bounds), statistic="floor")
        sign = case.strongest.floor_sign
    if log(evidence.shown.ratio) * sign <= 0:
        return Decision(Verdict.INCONCLUSIVE, evidence.shown, evidence.statistic, _TURNED)
    return decide(evidence, case.thresholds)


def _equivalence(case: Case, rules: Rules) -> Interval | None:
    """Return θ₂'s interval if θ₁'s lies inside the margin at the equivalence level as well."""
    level, limit = equivalence_level(rules.looks), log1p(case.thresholds.margin)
    x, y = paired_test.logs(case.pair)
    typical = intervals.typical(x - y, level)
    if typical.level < level or not typical.inside(limit):
        return None
    floor = intervals.floor(x, y, level, rules.seed)
    return typical.ratio if floor.level >= level and floor.inside(limit) else None


def _with_mde(
    draft: Comparison, case: Case, plain: Bounds, plain_floor: Bounds | None, rules: Rules
) -> Comparison:
    """An inconclusive comparison with what could have been found, and the rounds for the margin."""
    half = half_width(case.pair, plain, plain_floor, rules.seed)
    if half is None:
        return draft
    if draft.reason == REACHES_ONE and draft.shown is not None:
        # The narrower interval belongs to the statistic that did not decide: what could have been found
        # must not be smaller than what was just taken back.
        half = max(half, _plain_half_width(draft.shown))
    mde = detectable(half, rules.strict, case.thresholds.minimum_effect)
    needed = rounds_for_margin(len(case.pair), mde, case.thresholds.margin)
    return replace(draft, mde=expm1(mde), rounds_needed=needed if needed <= MOST_ROUNDS else None)


def half_width(pair: Pair, plain: Bounds, plain_floor: Bounds | None, seed: int) -> float | None:
    """Of the narrower of the two 95 % intervals, on the log scale; `None` below 6 rounds."""
    if len(pair) < FEWEST_FOR_MDE:
        return None
    if plain_floor is not None:
        return min(plain.half_width, plain_floor.half_width)
    x, y = paired_test.logs(pair)
    return min(plain.half_width, intervals.quick_floor_half_width(x, y, PLAIN_LEVEL, seed))


def _plain_half_width(shown: Interval) -> float:
    """Half-width on the log scale that an interval would have at 95 %, if it were normal."""
    if shown.lo <= 0 or not math.isfinite(shown.hi):
        return 0.0
    made_at = min(1 - (1 - shown.level) / STATISTICS, 1 - 1e-12)
    ours, plain = (normal_quantile((1 + level) / 2) for level in (made_at, PLAIN_LEVEL))
    return (log(shown.hi) - log(shown.lo)) / 2 * plain / ours


def _promised(bounds: Bounds) -> Interval:
    """What is printed: the interval of the statistic that was chosen, with the level that it keeps after the choice."""
    return replace(bounds.ratio, level=1 - STATISTICS * (1 - bounds.level))
