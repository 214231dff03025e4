"""Verdicts of pairs: by paired tests of the same rounds, or by t tests of separate runs.

For pairs of the same rounds, the module selects the statistic that decides, θ₁ (fastest third) or
θ₂ (typical ratio), and computes the minimum detectable effect of inconclusive pairs. See
`docs/method.md#verdicts`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

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
from bench_framework.model.looks import STATISTICS
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.stats import intervals, welch
from bench_framework.stats.holm_family import (
    Adjusted,
    adjust_for_looks,
    holm,
    minimum_detectable_effect,
)
from bench_framework.stats.portable_math import expm1, log, log1p, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.compare.samples import Pair
    from bench_framework.model.judgement import Comparison
    from bench_framework.model.verdict import Thresholds
    from bench_framework.stats.intervals import Bounds

PLAIN_LEVEL: Final = 0.95
"""Level of the intervals that are not adjusted for interim analyses and the family."""
FEWEST_FOR_MDE: Final = 6
"""With fewer than 6 rounds there is no 95 % interval."""
MOST_ROUNDS: Final = 1000
"""A larger number of rounds needed is not reported."""
TOO_FEW: Final = "too few rounds for any verdict"


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that all pairs of a family share.

    Attributes:
        looks: J, the planned number of interim analyses: how often the data may be tested before
            measuring ends.
        size: M, the planned number of comparisons in the family that share α.
        level: α, the family-wise error rate: the probability of one or more false verdicts if no
            pair differs.
        seed: seed of the label swaps.
        thorough: whether to compute the 95 % interval of θ₁ (the log ratio of the fastest thirds)
            for every pair; otherwise only its half-width is approximated.
    """

    looks: int
    size: int
    level: float
    seed: int
    thorough: bool = True

    @property
    def strict(self) -> float:
        """Return α/(J·M), the level of the first step of Holm's procedure."""
        return self.level / (self.looks * self.size)


@dataclass(frozen=True, slots=True)
class Case:
    """A pair to judge, with its data and the tests at every interim analysis.

    Attributes:
        draft: the comparison without figures, with its thresholds δ and ε.
        pair: values over the common rounds up to the last interim analysis.
        evidence: results of the test, one per interim analysis; at least one.
    """

    draft: Comparison
    pair: Pair
    evidence: tuple[paired_test.Evidence, ...]

    @property
    def thresholds(self) -> Thresholds:
        """Return δ, the margin, and ε, the minimum effect size."""
        return self.draft.thresholds

    @property
    def strongest(self) -> paired_test.Evidence:
        """Return the test with the smallest p-value; the earliest one if several are equal."""
        return min(self.evidence, key=lambda e: e.p)


def judge_family(cases: Sequence[Case], rules: Rules) -> tuple[Comparison, ...]:
    """Judge the pairs of a family.

    Args:
        cases: pairs, each with at least one round and one interim analysis.
        rules: settings of the family.

    Returns:
        One comparison per case, in the order of `cases`.
    """
    p_values = [adjust_for_looks(case.strongest.p, rules.looks) for case in cases]
    adjusted = holm(p_values, size=rules.size, level=rules.level)
    return tuple(_judge(case, result, rules) for case, result in zip(cases, adjusted, strict=True))


def judge_by_t(
    cases: Sequence[tuple[Comparison, welch.Contrast]], *, size: int, level: float
) -> list[Comparison]:
    """Judge a family of pairs that were not measured in the same rounds, by their t statistics.

    Args:
        cases: comparisons without figures, each with its estimate.
        size: M, the number of comparisons in the family.
        level: α, the family-wise error rate.
    """
    adjusted = holm([contrast.p for _, contrast in cases], size=size, level=level)
    comparisons = []
    for (draft, contrast), result in zip(cases, adjusted, strict=True):
        evidence = Evidence(
            result.rejected,
            contrast.interval(1 - level / result.divisor),
            "welch",
            partial(contrast.interval, equivalence_level(1)),
        )
        decision = decide(evidence, draft.thresholds)
        comparisons.append(
            replace(
                draft,
                verdict=decision.verdict,
                reason=decision.reason,
                shown=decision.interval,
                statistic="welch",
                typical=contrast.interval(PLAIN_LEVEL),
                p=contrast.p,
                p_adjusted=result.p,
            )
        )
    return comparisons


def _judge(case: Case, adjusted: Adjusted, rules: Rules) -> Comparison:
    # The statistic with the smaller p-value is shown. Because of this selection, its interval at
    # 1 − α/(J·h) would miss the true value more often than stated (bimodal noise: 3.2 % instead of
    # 2.5 %). The level is therefore divided by two, as if both statistics were shown.
    level = 1 - rules.level / (STATISTICS * rules.looks * adjusted.divisor)
    x, y = paired_test.logs(case.pair)
    plain, at_level = intervals.typical_at(x - y, (PLAIN_LEVEL, level))
    plain_floor = intervals.floor(x, y, PLAIN_LEVEL, rules.seed) if rules.thorough else None
    typical = Evidence(
        adjusted.rejected,
        _with_stated_level(at_level),
        "typical",
        lambda: _equivalence(case, rules),
    )
    decision = (
        _significant(case, typical, level, rules)
        if typical.significant
        else decide(typical, case.thresholds)
    )
    if (
        decision.verdict is Verdict.INCONCLUSIVE
        and not typical.significant
        and excludes_one(decision.interval, case.thresholds.margin)
    ):
        # The interval excludes 1 although the pair is not rejected. This happens only if so few
        # rounds cannot reach the level.
        decision = replace(decision, reason=TOO_FEW)
    comparison = replace(
        case.draft,
        verdict=decision.verdict,
        reason=decision.reason,
        shown=decision.interval,
        statistic="typical" if decision.verdict is Verdict.EQUIVALENT else decision.statistic,
        typical=plain.ratio,
        floor=plain_floor.ratio if plain_floor and plain_floor.bounded else None,
        p=case.strongest.p,
        p_adjusted=adjusted.p,
        rounds=len(case.pair),
    )
    if decision.verdict.settled:
        return comparison
    return _with_mde(comparison, case, plain, plain_floor, rules)


_MIXED: Final = "mixed: the typical ratio and the fastest rounds have opposite directions"
_DIRECTION_CHANGED: Final = "mixed: the direction changed after the deciding interim analysis"
_UNBOUNDED: Final = "the fastest third differs, but its confidence interval is unbounded"


def _significant(case: Case, typical: Evidence, level: float, rules: Rules) -> Decision:
    """Decide a pair whose null hypothesis is rejected.

    The statistic with the smaller p-value decides. Its interval uses all rounds, and later rounds
    may have widened it until it contains 1. The other statistic decides then, if its interval
    excludes 1. If no verdict can be given, the decision is inconclusive with a reason.
    """
    strongest = case.strongest
    if strongest.typical_sign * strongest.floor_sign < 0 and strongest.p_other <= 1 - level:
        return Decision(Verdict.INCONCLUSIVE, typical.interval, typical.statistic, _MIXED)
    by_floor = strongest.floor_decides
    first = _by_statistic(case, typical, level, rules, by_floor=by_floor)
    if (
        first.reason not in (REACHES_ONE, _UNBOUNDED)
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
            return Decision(Verdict.INCONCLUSIVE, typical.interval, typical.statistic, _UNBOUNDED)
        evidence = replace(typical, interval=_with_stated_level(bounds), statistic="floor")
        sign = case.strongest.floor_sign
    if log(evidence.interval.ratio) * sign <= 0:
        return Decision(
            Verdict.INCONCLUSIVE, evidence.interval, evidence.statistic, _DIRECTION_CHANGED
        )
    return decide(evidence, case.thresholds)


def _equivalence(case: Case, rules: Rules) -> Interval | None:
    """Return θ₂'s interval if θ₁'s interval at the equivalence level is also within the margin."""
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
    """Add the minimum detectable effect and the rounds needed to an inconclusive comparison."""
    half = half_width(case.pair, plain, plain_floor, rules.seed)
    if half is None:
        return draft
    if draft.reason == REACHES_ONE and draft.shown is not None:
        # The narrower interval belongs to the statistic that did not decide. The MDE must not be
        # smaller than the difference that was lowered to inconclusive.
        half = max(half, _plain_half_width(draft.shown))
    mde = minimum_detectable_effect(half, rules.strict, case.thresholds.minimum_effect)
    needed = rounds_for_margin(len(case.pair), mde, case.thresholds.margin)
    return replace(draft, mde=expm1(mde), rounds_needed=needed if needed <= MOST_ROUNDS else None)


def half_width(pair: Pair, plain: Bounds, plain_floor: Bounds | None, seed: int) -> float | None:
    """Return the half-width of the narrower of the two 95 % intervals, on the log scale.

    Args:
        pair: values over the common rounds.
        plain: 95 % interval of θ₂.
        plain_floor: 95 % interval of θ₁; if `None`, its half-width is approximated.
        seed: seed of the label swaps.

    Returns:
        The half-width; `None` with fewer than 6 rounds.
    """
    if len(pair) < FEWEST_FOR_MDE:
        return None
    if plain_floor is not None:
        return min(plain.half_width, plain_floor.half_width)
    x, y = paired_test.logs(pair)
    return min(plain.half_width, intervals.approximate_floor_half_width(x, y, PLAIN_LEVEL, seed))


def _plain_half_width(interval: Interval) -> float:
    """Return the half-width that an interval would have at 95 %, if the estimate were normal."""
    if interval.lo <= 0 or not math.isfinite(interval.hi):
        return 0.0
    level = min(1 - (1 - interval.level) / STATISTICS, 1 - 1e-12)
    ours, plain = (normal_quantile((1 + a) / 2) for a in (level, PLAIN_LEVEL))
    return (log(interval.hi) - log(interval.lo)) / 2 * plain / ours


def _with_stated_level(bounds: Bounds) -> Interval:
    """Return the interval with the level that remains after the choice between two statistics."""
    return replace(bounds.ratio, level=1 - STATISTICS * (1 - bounds.level))
