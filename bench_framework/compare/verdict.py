"""Verdicts of pairs: by paired tests of the same rounds, or by t tests of separate runs.

For inconclusive pairs of the same rounds, the module also computes the minimum detectable effect.
See `docs/method.md#verdicts`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final

import numpy as np

from bench_framework.compare.decide import (
    IntervalVerdict,
    RatioTest,
    decide,
    equivalence_level,
    rounds_for_margin,
)
from bench_framework.compare.samples import Pair
from bench_framework.model.plan.looks import (
    FEWEST_FOR_T,
    FEWEST_SESSION_ROUNDS,
    Looks,
)
from bench_framework.model.reasons import REACHES_ONE, UNSTABLE, Reason, ReasonCode
from bench_framework.model.result.judgement import Comparison, Statistic
from bench_framework.model.verdict import Interval, Phases, SessionRatios, Verdict
from bench_framework.stats import (
    between_sessions,
    holm_family,
    instability,
    intervals,
    paired_t,
    run_labels,
    welch,
)
from bench_framework.stats.between_sessions import SessionSpread
from bench_framework.stats.intervals import Bounds
from bench_framework.stats.portable_math import expm1, log, log1p, normal_quantile
from bench_framework.stats.signed_rank import Floats

PLAIN_LEVEL: Final = 0.95
"""Level of the intervals that are not adjusted for interim analyses and the family."""
EQUAL_RATIOS: Final = Reason(ReasonCode.EQUAL_RATIOS)
TOO_FEW: Final = Reason(ReasonCode.TOO_FEW_FOR_ANY_VERDICT)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The result of the test of one pair at one interim analysis.

    p-values are two-sided and not yet adjusted for interim analyses (J) and the family (Holm).

    Attributes:
        p_opposite: p-value of a difference in the opposite direction. It is small if the main score
            and the signed rank contradict each other.
        sign: −1 if the evidence says that the candidate's values are smaller, 1 if larger, 0 if
            neither.
    """

    rounds: int
    p: float
    p_opposite: float = 1.0
    sign: int = 0


def table(pair: Pair) -> Floats:
    """Return the logarithms of candidate, reference and, if present, control: (rounds, runs)."""
    sides = [pair.candidate, pair.reference, *([pair.control] if pair.control else [])]
    return np.stack([np.array([log(v) for v in side]) for side in sides], axis=1)


@lru_cache(maxsize=1024)
def inverter_of(pair: Pair) -> intervals.LabelInverter:
    """Return the intervals of a pair, which families and the final judgement share."""
    return intervals.LabelInverter(table(pair))


@lru_cache(maxsize=8192)
def examine(pair: Pair) -> PairedTest:
    """Test a pair. The p-value is 1 if nothing differs or no round contains both cells."""
    if not len(pair):
        return PairedTest(0, 1.0)
    low, high = (side.p for side in run_labels.examine(table(pair)))
    small, large = sorted((min(1.0, 2 * low), min(1.0, 2 * high)))
    return PairedTest(len(pair), small, large, (low > high) - (low < high))


def examine_looks(pair: Pair, rounds: Sequence[int], needed: int = 1) -> tuple[PairedTest, ...]:
    """Test a pair after each of the given rounds, with p = 1 before it has `needed` rounds."""
    parts = [pair.until(last) for last in rounds]
    return tuple(
        examine(part) if len(part) >= needed else PairedTest(len(part), 1.0) for part in parts
    )


@dataclass(frozen=True, slots=True)
class Case:
    """A pair to judge, with its values up to the last interim analysis and a test for each."""

    draft: Comparison
    pair: Pair
    evidence: tuple[PairedTest, ...]

    @property
    def strongest(self) -> PairedTest:
        """Return the test with the smallest p-value; the earliest one if several are equal."""
        return min(self.evidence, key=lambda e: e.p)


def judge_family(cases: Sequence[Case], looks: Looks) -> tuple[Comparison, ...]:
    """Judge the pairs of a family in order; each has a round and an interim analysis.

    J, α and M, the size of the family, are those of `looks`.
    """
    if looks.by_t:
        return _judge_few_rounds(cases, looks)
    p_values = [holm_family.adjust_for_looks(case.strongest.p, looks.count) for case in cases]
    adjusted = holm_family.holm(p_values, size=looks.family, level=looks.level)
    spreads = _session_spreads(cases, looks)
    return tuple(
        _judge(case, result, looks, spread)
        for case, result, spread in zip(cases, adjusted, spreads, strict=True)
    )


def _judge_few_rounds(cases: Sequence[Case], looks: Looks) -> tuple[Comparison, ...]:
    """Judge pairs by paired t tests; a pair whose ratios have no spread has no verdict."""
    contrasts = [paired_t.compare(case.pair.candidate, case.pair.reference) for case in cases]
    drafts = [replace(case.draft, rounds=len(case.pair)) for case in cases]
    known = [(d, c) for d, c in zip(drafts, contrasts, strict=True) if c is not None]
    judged = iter(judge_by_t(known, size=looks.family, level=looks.level, statistic="paired-t"))
    return tuple(
        next(judged)
        if contrast is not None
        else replace(draft, reason=EQUAL_RATIOS if draft.rounds >= FEWEST_FOR_T else TOO_FEW)
        for draft, contrast in zip(drafts, contrasts, strict=True)
    )


def judge_by_t(
    cases: Sequence[tuple[Comparison, welch.LogDifference]],
    *,
    size: int,
    level: float,
    statistic: Statistic = "welch",
) -> list[Comparison]:
    """Judge a family of pairs by their t statistics, by default of runs that were not interleaved.

    The family has `size` comparisons (M) and the error rate `level` (α).
    """
    adjusted = holm_family.holm([contrast.p for _, contrast in cases], size=size, level=level)
    comparisons = []
    for (draft, contrast), result in zip(cases, adjusted, strict=True):
        evidence = RatioTest(
            result.rejected,
            contrast.interval(1 - level / result.divisor),
            statistic,
            partial(contrast.interval, equivalence_level(1)),
        )
        judged = decide(evidence, draft.thresholds).on(draft)
        plain = contrast.interval(PLAIN_LEVEL)
        comparisons.append(replace(judged, unadjusted=plain, p=contrast.p, p_adjusted=result.p))
    return comparisons


def _judge(
    case: Case, adjusted: holm_family.Adjusted, looks: Looks, spread: SessionSpread | None
) -> Comparison:
    level = 1 - looks.level / (looks.count * adjusted.divisor)
    inverter = inverter_of(case.pair)
    by_session = spread.mean if spread else None
    plain = inverter.interval(PLAIN_LEVEL, spread.unadjusted if spread else None)
    at_level = inverter.interval(level, by_session)
    ratios = _session_ratios(case, looks, spread) if spread else None
    reason = _disagreement(case, at_level, 1 - level, significant=adjusted.rejected)
    if reason == TOO_FEW:  # So few rounds cannot reach the level of the test.
        at_level = replace(at_level, lo=min(at_level.lo, 0.0), hi=max(at_level.hi, 0.0))
    if plain.level < PLAIN_LEVEL:  # No interval of so few rounds is a 95 % interval.
        plain, at_level = plain.unlimited, at_level.unlimited

    def equivalence() -> Interval | None:
        limit = log1p(case.draft.thresholds.margin)
        bounds = inverter.equivalence(equivalence_level(looks.count), limit, by_session)
        differ = ratios is not None and ratios.differ
        return bounds.containing(plain).ratio if bounds and not differ else None

    if adjusted.rejected and reason:
        decision = IntervalVerdict(Verdict.INCONCLUSIVE, at_level.ratio, "typical", reason)
    else:
        evidence = RatioTest(adjusted.rejected, at_level.ratio, "typical", equivalence)
        decision = decide(evidence, case.draft.thresholds)
    comparison = replace(
        decision.on(case.draft),
        unadjusted=plain.ratio,
        p=case.strongest.p,
        p_adjusted=adjusted.p,
        rounds=len(case.pair),
        sessions=ratios,
        means=_means(case.pair),
    )
    if ratios is not None:
        if ratios.differ and not decision.verdict.settled:
            return replace(comparison, reason=UNSTABLE)
    elif (unstable := _unstable(comparison, case.pair, inverter, looks)) is not None:
        return unstable
    if decision.verdict.settled:
        return comparison
    enough = len(case.pair) >= looks.needed_with(case.pair.runs)
    comparison = replace(
        comparison, reason=decision.reason or reason or (None if enough else TOO_FEW)
    )
    return _with_mde(comparison, plain, case.pair, looks) if enough else comparison


def _means(pair: Pair) -> Interval | None:
    """Return the ratio of the means of a pair, if it has enough rounds for an interval."""
    if len(pair) < intervals.FEWEST_FOR_BATCHES:
        return None
    return intervals.ratio_of_means(np.array([pair.candidate, pair.reference]).T).ratio


def _sessions_of(pair: Pair, looks: Looks) -> list[slice]:
    """Return the places of the rounds of each session that has enough of them for an estimate."""
    assert looks.session_rounds is not None
    numbers = [(number - 1) // looks.session_rounds for number in pair.rounds]
    parts = (
        slice(bisect_left(numbers, session), bisect_right(numbers, session))
        for session in dict.fromkeys(numbers)
    )
    return [part for part in parts if part.stop - part.start >= FEWEST_SESSION_ROUNDS]


def _session_spreads(cases: Sequence[Case], looks: Looks) -> list[SessionSpread | None]:
    """Return the intervals of each pair from its sessions; `None` for a pair of fewer than two."""
    spreads: list[SessionSpread | None] = [None] * len(cases)
    if looks.session_rounds is None:
        return spreads
    known: dict[int, list[float]] = {}
    for place, case in enumerate(cases):
        parts = _sessions_of(case.pair, looks)
        if len(parts) > 1:
            values = table(case.pair)
            known[place] = [intervals.LabelInverter(values[part]).estimate for part in parts]
    if known:
        prior = between_sessions.prior_of(list(known.values()))
    for place, estimates in known.items():
        plain = inverter_of(cases[place].pair).bounds(PLAIN_LEVEL)
        within = plain.half_width / normal_quantile((1 + PLAIN_LEVEL) / 2) if plain.bounded else 0.0
        level = looks.session_level(len(estimates), cases[place].draft.look)
        spreads[place] = between_sessions.spread_of(estimates, within, prior, level)
    return spreads


def _session_ratios(case: Case, looks: Looks, spread: SessionSpread) -> SessionRatios:
    """Return the ratios of a pair by session, and whether they differ."""
    values, parts = table(case.pair), _sessions_of(case.pair, looks)
    each = [intervals.LabelInverter(values[part]).bounds(PLAIN_LEVEL) for part in parts]
    estimates = [bounds.estimate for bounds in each]
    p = instability.examine_sessions(values, inverter_of(case.pair).estimate, parts)
    far = max(estimates) - min(estimates) > log1p(case.draft.thresholds.margin)
    differ = far and p * looks.family <= instability.LEVEL
    return SessionRatios(tuple(b.ratio for b in each), spread.another.ratio, differ)


def _unstable(
    comparison: Comparison, pair: Pair, inverter: intervals.LabelInverter, looks: Looks
) -> Comparison | None:
    """Return a comparison whose ratio changed during the record, with both phases; otherwise `None`.

    It is inconclusive, and its interval is the hull with those of the phases
    (`docs/method.md#instability`).
    """
    values = table(pair)
    test = instability.examine_phases(values, inverter.estimate)
    if test.p * looks.family > instability.LEVEL:
        return None
    parts = (values[: test.split], values[test.split :])
    first, rest = (intervals.LabelInverter(part).bounds(PLAIN_LEVEL) for part in parts)
    if abs(first.estimate - rest.estimate) <= log1p(comparison.thresholds.margin):
        return None
    phases = Phases(pair.rounds[test.split - 1], first.ratio, rest.ratio)
    assert comparison.shown is not None
    ends = (comparison.shown, phases.first, phases.rest)
    hull = replace(comparison.shown, lo=min(i.lo for i in ends), hi=max(i.hi for i in ends))
    return replace(
        comparison, verdict=Verdict.INCONCLUSIVE, reason=UNSTABLE, shown=hull, phases=phases
    )


def _disagreement(case: Case, bounds: Bounds, alpha: float, *, significant: bool) -> Reason | None:
    """Return how the results of a test contradict each other or its interval; `None` if they agree."""
    strongest = case.strongest
    if significant:
        if strongest.p_opposite <= alpha:
            return Reason(ReasonCode.MIXED_RANKS)
        changed = bounds.estimate * strongest.sign <= 0
        return Reason(ReasonCode.MIXED_LOOKS) if changed else None
    if bounds.lo <= 0 <= bounds.hi:
        return None
    later = case.evidence[-1].rounds < len(case.pair)
    return Reason(ReasonCode.DIFFERS_LATER) if later else TOO_FEW


def _with_mde(draft: Comparison, plain: Bounds, pair: Pair, looks: Looks) -> Comparison:
    """Add the minimum detectable effect and the rounds needed to an inconclusive comparison."""
    if not plain.bounded or draft.reason == REACHES_ONE:
        return draft  # a difference that was found needs no larger one to be found
    epsilon = draft.thresholds.minimum_effect
    mde = holm_family.minimum_detectable_effect(plain.half_width, looks.strict, epsilon)
    needed = rounds_for_margin(len(pair), mde, draft.thresholds.margin)
    return replace(draft, mde=expm1(mde), rounds_needed=needed)
