"""The outcome of published figures (docs/method.md#published-figures), as claims."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bench_framework.compare.decide import within_margin
from bench_framework.features.results import NOT_MEASURED, TOO_FEW, NamedResult, Results
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.facts.published import Outcome, PublishedTest
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import Metric
from bench_framework.model.plan.published import PublishedClaim, PublishedFigure, parse_figure
from bench_framework.model.reasons import NO_USE_OF_INTERVAL, ONE_PROGRAM, Reason, ReasonCode
from bench_framework.model.record.run import Build
from bench_framework.model.result.judgement import Judgement, Scaling
from bench_framework.model.verdict import LEAST_LEVEL, Interval, Verdict
from bench_framework.rounding import thresholds
from bench_framework.stats.portable_math import log, log1p

OF_EFFECTS: Final = (
    Outcome.OPPOSITE,
    Outcome.NOT_REPRODUCED,
    Outcome.SAME_DIRECTION,
    Outcome.SMALLER,
    Outcome.LARGER,
    Outcome.REPRODUCED,
)
"""The outcomes that rest on a measured effect, or on its absence where none was published."""
COUNTED: Final = (
    Outcome.REPRODUCED,
    Outcome.LARGER,
    Outcome.SMALLER,
    Outcome.SAME_DIRECTION,
    Outcome.OPPOSITE,
    Outcome.NO_DIFFERENCE,
    Outcome.NOT_REPRODUCED,
    Outcome.IMPRECISE,
    Outcome.REFUTED,
    Outcome.NOT_TESTED,
)
"""The order of the outcomes in the line that counts them."""
PRECISE: Final = 0.25
"""Largest half-width of an interval that reproduces a figure, as a share of the measured effect."""
SecondDifference = Callable[[str, str, Metric], object]
"""Cell ids of candidate and reference, and a metric → what differs in addition to the change, or `None`."""
Judged = tuple[Outcome, Reason | None]


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """The published claims that one comparison tests, and its name."""

    subject: str
    claims: tuple[PublishedClaim, ...]

    @property
    def tested(self) -> PublishedClaim:
        """The claim with the most precise figure: a size before a direction, a narrow range first."""
        return min(self.claims, key=_imprecision)


def _imprecision(claim: PublishedClaim) -> float:
    if claim.test == "not-testable" or not claim.figure:
        return math.inf
    figure = parse_figure(claim.figure)
    if figure.kind == "direction" or not figure.hi:
        return math.inf
    return (figure.hi - figure.lo) / abs(figure.hi)


def rows_of(plan: Plan, results: Results) -> list[ClaimRow]:
    """Return the claims by the comparison that tests them, or by the reason why none does.

    Claims that state different things about one comparison, such as "faster" and "equal", and one that
    the document itself disproves, are separate rows.
    """
    rows: dict[object, list[PublishedClaim]] = {}
    for claim in plan.published.claims if plan.published is not None else ():
        tested = claim.test != "not-testable"
        what = _comparison(plan, claim, results) if tested else (claim.name, claim.title)
        higher = results.judgement.higher(claim.metric)
        key = (*what, _stance(claim, higher=higher), claim.disproved)
        rows.setdefault(key, []).append(claim)
    return [ClaimRow(_subject(plan, claims), tuple(claims)) for claims in rows.values()]


def _comparison(plan: Plan, claim: PublishedClaim, results: Results) -> tuple[object, ...]:
    """Return what tests a claim: two variants and a metric, or the name of a value."""
    inputs = claim.input_ids
    if claim.test == "contrast":
        for c in plan.contrasts:
            if c.name == claim.name:
                shared = tuple(i for i in inputs if i in c.input_ids)
                return (c.variant_id, c.reference_id, c.metric, shared)
    if claim.test == "derived":
        judged = {d.cell_ids for d in results.derived_rows(claim.name) if d.judged}
        if len(judged) == 1 and len(inputs) == 1:
            (cells,) = judged
            variant, reference = (plan.cell(i).variant_id for i in cells)
            return (variant, reference, WALL, inputs)
        return ("derived", claim.name, inputs)
    if claim.test == "variant" and parse_figure(claim.figure).kind != "value":
        return (claim.variant_id, plan.baseline_id, claim.metric, inputs)
    return (claim.test, claim.variant_id, claim.name, claim.metric, inputs)


def _stance(claim: PublishedClaim, *, higher: bool) -> object:
    """Return what a figure states without its size: a direction, no difference, or a value.

    `higher` is true if larger values of the metric are better, so that "more" is the same as "better".
    """
    if claim.test == "not-testable":
        return None
    figure = parse_figure(claim.figure)
    kind = "change" if figure.kind == "direction" else figure.kind
    return kind, figure.better(higher=higher)


def _subject(plan: Plan, claims: Sequence[PublishedClaim]) -> str:
    first = claims[0]
    if title := next((c.title for c in claims if c.title), ""):
        return title
    if first.test == "not-testable":
        return ""
    if first.variant_id:
        # A selection of the command line may have left the variant out.
        return next((v.label for v in plan.variants if v.id == first.variant_id), first.text)
    return first.name.replace("_", " ") if first.test == "derived" else first.name


def tests_of(row: ClaimRow, results: Results, scaling: Sequence[Scaling]) -> list[PublishedTest]:
    """Return the tests of a row: one per input, or one per two sizes for a scaling exponent."""
    claim = row.tested
    if claim.test == "not-testable":
        return []
    if claim.test == "scaling":
        steps = [s for s in scaling if s.metric == claim.metric]
        return [_exponent(results.plan, s) for s in steps if s.variant_id == claim.variant_id]
    figure = parse_figure(claim.figure)
    return [_test(figure, e, results) for e in _measured(claim, figure, results)]


def _measured(
    claim: PublishedClaim, figure: PublishedFigure, results: Results
) -> Sequence[NamedResult]:
    of_variant = (claim.variant_id, claim.metric, claim.input_ids)
    if claim.test == "contrast":
        return [*results.contrast(claim.name, claim.input_ids)]
    if claim.test == "derived":
        return [*results.derived(claim.name, claim.input_ids)]
    if figure.kind == "value":
        return [*results.values(*of_variant)]
    return [*results.against_baseline(*of_variant)]


def _test(figure: PublishedFigure, e: NamedResult, results: Results) -> PublishedTest:
    noise = results.noise_floor(e.input_id, e.metric or WALL)
    outcome, reason = outcome_of(figure, e, noise)
    return PublishedTest(
        form="value" if figure.is_value else "ratio",
        outcome=outcome,
        reason=reason,
        evidence=replace(results.evidence(e), noise_floor=noise),
        higher=e.higher,
    )


def outcome_of(figure: PublishedFigure, e: NamedResult, noise: float | None = None) -> Judged:
    """Return the outcome of a published figure on one input, by the rules of the method page.

    `noise` is the noise floor of the input, which the estimate of an effect must exceed.
    """
    if e.interval is None or e.reason == ONE_PROGRAM:
        return Outcome.NOT_TESTED, e.reason
    if figure.is_value:
        return _value(figure, e.interval)
    verdict = e.verdict or Verdict.INCONCLUSIVE
    if not (verdict.settled or verdict is Verdict.INCONCLUSIVE):
        return Outcome.NOT_TESTED, e.reason
    # The interval of an equivalence has the level of its test, which is two-sided 90 % for one look.
    few = e.interval.level < LEAST_LEVEL and verdict is not Verdict.EQUIVALENT
    if few or e.reason in NO_USE_OF_INTERVAL:
        return Outcome.IMPRECISE, e.reason or TOO_FEW
    if figure.kind == "equal":
        return _equal(figure, e, e.interval, noise or 0.0)
    if figure.kind == "limit":
        return _limit(figure, e, e.interval, noise or 0.0)
    return _change(figure, e, e.interval, noise or 0.0)


def _open(e: NamedResult, interval: Interval, noise: float) -> Reason | None:
    """Return why an interval shows no difference, or `None` if it shows one."""
    if not (e.verdict or Verdict.INCONCLUSIVE).decided:
        return e.reason or Reason(ReasonCode.NO_DIRECTION)
    below = abs(log(interval.ratio)) <= log1p(noise)
    return Reason(ReasonCode.BELOW_NOISE) if below else None


def _small(e: NamedResult, interval: Interval) -> Reason | None:
    """Return the reason why a difference is no effect that counts, or `None` if it is one."""
    small = abs(log(interval.ratio)) <= log1p(e.margin)
    return Reason(ReasonCode.BELOW_MARGIN) if small else None


def _no_difference(e: NamedResult, interval: Interval) -> bool:
    return e.verdict is Verdict.EQUIVALENT or within_margin(interval, e.margin)


def _change(figure: PublishedFigure, e: NamedResult, interval: Interval, noise: float) -> Judged:
    """Return the outcome of a direction or a change; its direction is that of the verdict."""
    sized = figure.kind != "direction"
    lo, hi = figure.ratio(higher=e.higher) if sized else (0.0, 0.0)
    if reason := _open(e, interval, noise):
        if _no_difference(e, interval):
            low, _, high = thresholds(e.margin)
            small = sized and low < lo and hi < high
            return Outcome.NO_DIFFERENCE, Reason(ReasonCode.BOTH_WITHIN_MARGIN) if small else None
        if sized and not _overlap(interval, lo, hi):
            return Outcome.NOT_REPRODUCED, Reason(ReasonCode.SIZE_EXCLUDED)
        return Outcome.IMPRECISE, reason
    more = lo > 1 if sized else figure.better(higher=e.higher) is e.higher
    contains_one = sized and lo <= 1 <= hi
    if more is not (interval.ratio > 1) and not (contains_one and _overlap(interval, lo, hi)):
        return Outcome.OPPOSITE, _small(e, interval)
    if not sized:
        reason = _small(e, interval)
        return (Outcome.SAME_DIRECTION if reason else Outcome.REPRODUCED), reason
    if not _overlap(interval, lo, hi):
        beyond = interval.lo > hi if more else interval.hi < lo
        return (Outcome.LARGER if beyond else Outcome.SMALLER), None
    half = log(interval.hi / interval.lo) / 2
    if half > PRECISE * abs(log(interval.ratio)):
        return Outcome.IMPRECISE, Reason(ReasonCode.TOO_WIDE_FOR_SIZE)
    return Outcome.REPRODUCED, None


def _equal(figure: PublishedFigure, e: NamedResult, interval: Interval, noise: float) -> Judged:
    bound = figure.hi or e.margin
    if (not figure.hi and _no_difference(e, interval)) or within_margin(interval, bound):
        return Outcome.REPRODUCED, None
    if _no_difference(e, interval):
        return Outcome.NO_DIFFERENCE, Reason(ReasonCode.WITHIN_MARGIN)
    if reason := _open(e, interval, noise) or _small(e, interval):
        return Outcome.IMPRECISE, reason
    low, _, high = thresholds(bound)
    if _overlap(interval, low, high) and bound > e.margin:
        return Outcome.IMPRECISE, Reason(ReasonCode.CONTAINS_LIMIT)
    return Outcome.OPPOSITE, None


def _limit(figure: PublishedFigure, e: NamedResult, interval: Interval, noise: float) -> Judged:
    bound, _ = figure.ratio(higher=e.higher)
    # A change in the other direction is within the limit, too.
    ratio, limit = (interval, bound) if bound >= 1 else (interval.inverse, 1 / bound)
    if ratio.hi <= limit:
        better = ratio.hi < 1
        return Outcome.REPRODUCED, Reason(ReasonCode.BETTER_THAN_LIMIT) if better else None
    if ratio.lo > limit:
        reason = _open(e, interval, noise) or _small(e, interval)
        return (Outcome.IMPRECISE, reason) if reason else (Outcome.OPPOSITE, None)
    return Outcome.IMPRECISE, Reason(ReasonCode.CONTAINS_LIMIT)


def _value(figure: PublishedFigure, interval: Interval) -> Judged:
    if not _overlap(interval, figure.lo, figure.hi):
        if interval.hi < 0:
            return Outcome.OPPOSITE, None
        return (Outcome.LARGER if interval.lo > figure.hi else Outcome.SMALLER), None
    if (interval.hi - interval.lo) / 2 > PRECISE * abs(interval.ratio):
        return Outcome.IMPRECISE, Reason(ReasonCode.TOO_WIDE_FOR_SIZE)
    return Outcome.REPRODUCED, None


_GROWTH: Final[Mapping[str, Judged]] = {
    "linear": (Outcome.REPRODUCED, None),
    "sub-linear": (Outcome.NOT_REPRODUCED, None),
    "super-linear": (Outcome.NOT_REPRODUCED, None),
    "not resolved": (Outcome.IMPRECISE, Reason(ReasonCode.EXPONENT_OPEN)),
    "not classified": (Outcome.IMPRECISE, Reason(ReasonCode.EXPONENT_OPEN)),
}


def _exponent(plan: Plan, step: Scaling) -> PublishedTest:
    outcome, reason = _GROWTH[step.word]
    ends = (step.from_input_id, step.to_input_id)
    evidence = Evidence(
        metric=step.metric, estimate=step.exponent, lo=step.lo, hi=step.hi, level=step.level
    )
    return PublishedTest(
        form="exponent",
        outcome=outcome,
        reason=reason,
        evidence=evidence,
        sizes=tuple(plan.input(i).label for i in ends),
    )


def _overlap(interval: Interval, lo: float, hi: float) -> bool:
    return interval.lo <= hi and lo <= interval.hi


def overruled(
    test: PublishedTest, figure: PublishedFigure, second: SecondDifference | None
) -> PublishedTest:
    """Return a test as *not tested* if it rests on an effect, and its sides differ in more than the change.

    Without an effect there is nothing that a second difference could have caused.
    """
    states_none = figure.kind in {"equal", "limit"} or (
        figure.kind == "value" and figure.unit != "x"
    )
    effect = not states_none or test.outcome is not Outcome.REPRODUCED
    cells, metric = test.evidence.cells, test.evidence.metric or WALL
    if second is None or not effect or test.outcome not in OF_EFFECTS or len(cells) != 2:  # noqa: PLR2004 -- a pair
        return test
    if not any(second(*pair, metric) for pair in (cells, cells[::-1])):
        return test
    return replace(test, outcome=Outcome.NOT_TESTED, reason=Reason(ReasonCode.TWO_DIFFERENCES))


def published_claims(
    plan: Plan,
    judgement: Judgement,
    builds: Mapping[str, Build],
    second: SecondDifference | None = None,
) -> Iterator[Claim]:
    """Yield the number of comparisons by outcome, and one claim for each of them.

    `second` returns what else differs between two cells of a change that is offered as a cause. Such a
    pair does not isolate the change, so it tests nothing that was published about it.
    """
    results = Results(plan, judgement, builds)
    if plan.published is not None:
        rows = rows_of(plan, results)
        judged = [_result(row, results, judgement.scaling, second) for row in rows]
        counts = Counter[Outcome]()
        for fact in judged:
            untested = fact.outcome is Outcome.NOT_TESTED
            counts[fact.outcome] += len(fact.quotes) if untested else 1
        ordered = tuple((o, counts[o]) for o in COUNTED if counts[o])
        yield Claim(plan.published.title, fact=facts.PublishedCounts(counts=ordered))
        for row, fact in zip(rows, judged, strict=True):
            cells = tuple(dict.fromkeys(c for t in fact.tests for c in t.evidence.cells))
            yield Claim(row.subject, cells=cells, fact=fact)


def _result(
    row: ClaimRow, results: Results, scaling: Sequence[Scaling], second: SecondDifference | None
) -> facts.PublishedResult:
    tests = tuple(tests_of(row, results, scaling))
    if row.tested.test not in {"not-testable", "scaling"}:
        figure = parse_figure(row.tested.figure)
        tests = tuple(overruled(test, figure, second) for test in tests)
    outcome = min((t.outcome for t in tests), key=[*Outcome].index, default=Outcome.NOT_TESTED)
    same = [t for t in tests if t.outcome is outcome]
    reasons = {t.reason for t in same}
    if len(reasons) > 1 and outcome is Outcome.REPRODUCED:
        reasons = {None}
    reason = next((t.reason for t in same if t.reason in reasons and t.reason), None)
    claim, note = row.tested, ""
    if claim.test == "not-testable":
        note = claim.name
    elif not tests:
        reason = NOT_MEASURED
    measured = None
    if disproved := next((c.disproved for c in row.claims if c.disproved), ""):
        measured = outcome if tests else None
        outcome, note = Outcome.REFUTED, disproved
        reason = reason if tests else None
    return facts.PublishedResult(
        outcome=outcome,
        quotes=tuple(dict.fromkeys(c.text for c in row.claims)),
        figure=claim.figure,
        tests=tests,
        reason=reason,
        on=len(same) if len(same) < len(tests) and outcome is not Outcome.REFUTED else 0,
        note=note,
        measured=measured,
        other_results=tuple(dict.fromkeys(e for c in row.claims for e in c.other_results)),
    )
