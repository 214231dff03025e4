"""From evidence to a verdict (METHOD 4, REPORTS 1.3): the state machine, and nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from bench_framework import rounding
from bench_framework.analysis import compare, family, intervals
from bench_framework.analysis.family import Adjusted, holm, over_looks
from bench_framework.analysis.portable_math import exp, expm1, log, log1p, normal_quantile
from bench_framework.model.judgement import Comparison
from bench_framework.model.looks import STATISTICS
from bench_framework.model.verdict import Interval, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.analysis.compare import Evidence
    from bench_framework.analysis.intervals import Bounds
    from bench_framework.analysis.samples import Pair
    from bench_framework.model.policies import Metric

EQUIVALENCE_LEVEL: Final = 0.05
"""Of each of the two one-sided tests, before it is shared among the looks."""
PLAIN_LEVEL: Final = 0.95
FEWEST_FOR_MDE: Final = 6
"""Below 6 rounds there is no 95 % interval."""
MOST_ROUNDS: Final = 1000
REACHES_ONE: Final = "the displayed interval reaches 1"
TOO_FEW: Final = "too few rounds for any verdict"


@dataclass(frozen=True, slots=True)
class Rules:
    """What all pairs of a family share.

    Attributes:
        looks: J.
        size: M, planned.
        level: family-wise α.
        seed: of the plan.
        thorough: compute θ₁'s 95 % interval of every pair; otherwise only its half-width.
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
    evidence: tuple[Evidence, ...]
    margin: float
    epsilon: float
    look: int = 0
    runs: int = 0
    runs_ref: int = 0

    @property
    def strongest(self) -> Evidence:
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
    x, y = compare.logs(case.pair)
    plain, shown_typical = intervals.typical_at(x - y, (PLAIN_LEVEL, level))
    draft = Comparison(
        cell_id=case.cell_id, ref_cell_id=case.ref_cell_id, metric=case.metric, family=case.family,
        verdict=Verdict.UNDECIDED, shown=_promised(shown_typical), statistic="typical",
        typical=ratio(plain), p=case.strongest.p, p_adjusted=adjusted.p,
        rounds=len(case.pair), runs=case.runs, runs_ref=case.runs_ref, look=case.look,
        margin=case.margin, epsilon=case.epsilon,
    )  # fmt: skip
    plain_floor = None
    if rules.thorough:
        plain_floor = intervals.floor(x, y, PLAIN_LEVEL, rules.seed)
        draft = replace(draft, floor=ratio(plain_floor) if plain_floor.bounded else None)
    if adjusted.rejected:
        decided = _decided(draft, case, level, rules)
        if decided.reason != _TOO_SMALL:
            return decided if decided.verdict.decided else _with_mde(decided, case, plain, plain_floor, rules)
        draft = decided
    if (equal := _equivalence(case, rules)) is not None:
        made = replace(draft, verdict=Verdict.EQUIVALENT, reason="", shown=ratio(equal), statistic="typical")
        if _inside(made):
            return made
    if not adjusted.rejected and _leaves_one_out(draft):
        # An interval at this level that leaves 1 out rejects, unless no number of equal signs could.
        draft = replace(draft, reason=TOO_FEW)
    return _with_mde(draft, case, plain, plain_floor, rules)


_TOO_SMALL: Final = "a difference was found, but it is smaller than the smallest effect worth a word"
_MIXED: Final = "mixed: the typical and the fastest rounds point in opposite directions"
_TURNED: Final = "mixed: the direction changed after the look that found a difference"
_ENDLESS: Final = "the fastest third differs, but its interval has no end"


def _decided(draft: Comparison, case: Case, level: float, rules: Rules) -> Comparison:
    """The verdict of a rejected pair; undecided with a reason where it cannot be given.

    The statistic with the smaller p decides. Its interval is taken over all rounds, and later rounds may
    have widened it until it reaches 1; the other statistic is shown then, if its interval does not.
    """
    strongest = case.strongest
    if strongest.typical_sign * strongest.floor_sign < 0 and strongest.p_other <= 1 - level:
        return replace(draft, reason=_MIXED)
    by_floor = strongest.floor_decides
    first = _by_statistic(draft, case, level, rules, by_floor=by_floor)
    if first.reason not in (REACHES_ONE, _ENDLESS) or strongest.typical_sign != strongest.floor_sign:
        return first
    second = _by_statistic(draft, case, level, rules, by_floor=not by_floor)
    return second if second.verdict.decided else first


def _by_statistic(
    draft: Comparison, case: Case, level: float, rules: Rules, *, by_floor: bool
) -> Comparison:  # fmt: skip
    """The verdict by one of the two statistics, over all rounds."""
    sign = case.strongest.typical_sign
    if by_floor:
        sign = case.strongest.floor_sign
        x, y = compare.logs(case.pair)
        bounds = intervals.floor(x, y, level, rules.seed)
        if not bounds.bounded:
            return replace(draft, reason=_ENDLESS)
        draft = replace(draft, shown=_promised(bounds), statistic="floor")
    assert draft.shown is not None
    estimate = log(draft.shown.ratio)
    if estimate * sign <= 0:
        return replace(draft, reason=_TURNED)
    if abs(estimate) <= log1p(case.epsilon):
        return replace(draft, reason=_TOO_SMALL)
    verdict = by_interval(draft.shown, case.margin)
    if verdict is Verdict.UNDECIDED:
        return replace(draft, reason=REACHES_ONE)
    return replace(draft, verdict=verdict)


def by_interval(shown: Interval, margin: float) -> Verdict:
    """The verdict of a decided pair by its displayed interval, in the digits that are printed."""
    made = rounding.rounded(shown.ratio, shown.lo, shown.hi, margin=margin)
    below, one, above = (
        rounding.relation(made.lo, made.hi, rounding.decimal(t)) for t in rounding.thresholds(margin)
    )
    if one == 0:
        return Verdict.UNDECIDED
    if one < 0:
        return Verdict.BETTER if below < 0 else Verdict.BETTER_SIZE_OPEN
    return Verdict.WORSE if above > 0 else Verdict.WORSE_SIZE_OPEN


def _leaves_one_out(comparison: Comparison) -> bool:
    """Whether an undecided pair is printed with an interval on one side of 1."""
    shown = comparison.shown
    if shown is None or not math.isfinite(shown.hi):
        return False
    made = rounding.rounded(shown.ratio, shown.lo, shown.hi, margin=comparison.margin, keep=False)
    return rounding.relation(made.lo, made.hi, rounding.decimal(1.0)) != 0


def _inside(comparison: Comparison) -> bool:
    """Whether the printed interval of an equivalent pair stays inside the margin."""
    assert comparison.shown is not None
    shown, margin = comparison.shown, comparison.margin
    made = rounding.rounded(shown.ratio, shown.lo, shown.hi, margin=margin)
    low, _, high = rounding.thresholds(margin)
    return made.lo > rounding.decimal(low) and made.hi < rounding.decimal(high)


def equivalence_level(looks: int) -> float:
    """1 − 2·5 %/J: the level of both intervals that `equivalent` needs."""
    return 1 - 2 * EQUIVALENCE_LEVEL / looks


def _equivalence(case: Case, rules: Rules) -> Bounds | None:
    """θ₂'s interval if both intervals lie inside the margin at the equivalence level."""
    level, limit = equivalence_level(rules.looks), log1p(case.margin)
    x, y = compare.logs(case.pair)
    typical = intervals.typical(x - y, level)
    if typical.level < level or not typical.inside(limit):
        return None
    floor = intervals.floor(x, y, level, rules.seed)
    return typical if floor.level >= level and floor.inside(limit) else None


def _with_mde(
    draft: Comparison, case: Case, plain: Bounds, plain_floor: Bounds | None, rules: Rules
) -> Comparison:  # fmt: skip
    """An undecided comparison with what could have been found, and the rounds for the margin."""
    half = half_width(case.pair, plain, plain_floor, rules.seed)
    if half is None:
        return draft
    if draft.reason == REACHES_ONE and draft.shown is not None:
        # The narrower interval belongs to the statistic that did not decide: what could have been found
        # must not be smaller than what was just taken back.
        half = max(half, _plain_half_width(draft.shown))
    mde = detectable(half, rules, case.epsilon)
    needed = math.ceil(len(case.pair) * (mde / log1p(case.margin)) ** 2)
    return replace(draft, mde=expm1(mde), rounds_needed=needed if needed <= MOST_ROUNDS else None)


def half_width(pair: Pair, plain: Bounds, plain_floor: Bounds | None, seed: int) -> float | None:
    """Of the narrower of the two 95 % intervals, on the log scale; `None` below 6 rounds."""
    if len(pair) < FEWEST_FOR_MDE:
        return None
    if plain_floor is not None:
        return min(plain.half_width, plain_floor.half_width)
    x, y = compare.logs(pair)
    return min(plain.half_width, intervals.quick_floor_half_width(x, y, PLAIN_LEVEL, seed))


def _plain_half_width(shown: Interval) -> float:
    """Half-width on the log scale that an interval would have at 95 %, if it were normal."""
    if shown.lo <= 0 or not math.isfinite(shown.hi):
        return 0.0
    made_at = min(1 - (1 - shown.level) / STATISTICS, 1 - 1e-12)
    ours, plain = (normal_quantile((1 + level) / 2) for level in (made_at, PLAIN_LEVEL))
    return (log(shown.hi) - log(shown.lo)) / 2 * plain / ours


def detectable(half: float, rules: Rules, epsilon: float) -> float:
    """MDE on the log scale of a pair under these rules."""
    return family.detectable(half, rules.strict, epsilon)


def _promised(bounds: Bounds) -> Interval:
    """What is printed: the interval of the statistic that was chosen, with the level that it keeps after the choice."""
    return replace(ratio(bounds), level=1 - STATISTICS * (1 - bounds.level))


def ratio(bounds: Bounds) -> Interval:
    """E to the bounds."""
    return Interval(exp(bounds.estimate), _exp(bounds.lo), _exp(bounds.hi), bounds.level)


def _exp(value: float) -> float:
    return exp(min(value, 700.0)) if math.isfinite(value) else (0.0 if value < 0 else math.inf)
