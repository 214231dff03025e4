"""How sure the results are: conclusive comparisons, the A/A check, and what was not measured."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bench_framework.compare.decide import by_interval, within_margin
from bench_framework.features.summary.view import SummaryView, unsettled
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.facts.summary import FailedCheck, NoVerdict, OpenComparison
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import CONTROL_DIFFERS, Reason, ReasonCode
from bench_framework.model.result.judgement import Comparison, NoiseFloor
from bench_framework.model.verdict import Verdict
from bench_framework.stats.portable_math import expm1, log

PAIR: Final = 2


def confidence(view: SummaryView, answer: Iterable[Claim]) -> Claim:
    """Return how many comparisons are conclusive, what can be detected, the A/A check, and the scope.

    `answer` has the claim that answers the question, if there is one.
    """
    compared = view.main_comparisons()
    left = [c for c in compared if not c.verdict.settled and (not unsettled(c) or c.mde is None)]
    # Why a comparison has no verdict, if its minimum detectable effect is not known.
    reasons = Counter(
        (c.verdict, c.metric if c.reason == CONTROL_DIFFERS else None, _reason(c)) for c in left
    )
    open_ = [c for c in compared if unsettled(c) and c.mde is not None]
    one_sided = [c for c in open_ if view.evidence(c).excludes]
    floors = [f for f in view.judgement.floors if f.metric == view.metric]
    most = max((f.fraction for f in floors if f.fraction is not None), default=None)
    control, where = _control(view, floors)
    stated = {view.metric, *(c.metric for c in left if c.reason == CONTROL_DIFFERS)}
    several, policy = len(view.plan.inputs) > 1, view.plan.answer
    sessions = [c.sessions.count for c in compared if c.sessions is not None]
    fact = facts.Confidence(
        main=view.metric,
        settled=sum(c.verdict.settled for c in compared),
        total=len(compared),
        one_metric=all(c.metric == view.metric for c in compared),
        open=tuple(
            OpenComparison(
                subject=view.label(c.cell_id),
                reference=view.label(c.ref_cell_id),
                input=view.input_label(c) if several else "",
                mde=c.mde,
            )
            for c in open_
            if c not in one_sided and c.mde is not None
        ),
        one_sided=len(one_sided),
        refused=tuple(
            NoVerdict(count=count, verdict=verdict, control_of=metric, reason=reason)
            for (verdict, metric, reason), count in reasons.items()
        ),
        control=control,
        control_on=where,
        failed_checks=_failed_checks(view, stated),
        outputs=() if policy.compare == "none" else policy.check or None,
        other_inputs=any(item.dataset for item in view.plan.inputs),
        cold_cache=any(cell.cache == "cold" for cell in view.plan.cells),
        sessions=max(sessions, default=1),
        fewest_sessions=min(sessions, default=1),
        another=_reach_of_another_session(compared),
        answer=next(
            (_expected(view, c) for c in _in_another_session(view, answer) if not may_vanish(c)),
            None,
        ),
    )
    margin = view.plan.judge.margin_of(view.metric)
    return Claim(noise_floor=most, margin=margin, fact=fact)


def other_session(view: SummaryView, answer: Iterable[Claim]) -> Iterator[Claim]:
    """Yield the prediction for another session if it may show no difference, but the answer is one."""
    for c in _in_another_session(view, answer):
        if may_vanish(c):
            fact = facts.OtherSession(expected=_expected(view, c))
            yield Claim(fact.expected.subject, cells=fact.expected.cells, fact=fact)


def may_vanish(c: Comparison) -> bool:
    """Return whether another session may show no difference, although this record shows one."""
    another = c.sessions.another if c.sessions is not None else None
    return another is not None and c.verdict.decided and another.lo < 1 < another.hi


def _reason(c: Comparison) -> Reason | None:
    """Return why a comparison is inconclusive, unless the A/A check failed or its rounds are too few."""
    if c.verdict is not Verdict.INCONCLUSIVE:
        return None
    if c.reason is None and c.statistic == "paired-t":
        return Reason(ReasonCode.NO_DIFFERENCE)
    known = c.reason is not None and c.reason != CONTROL_DIFFERS and not c.reason.too_few
    return c.reason if known else None


def _failed_checks(view: SummaryView, stated: set[Metric]) -> tuple[FailedCheck, ...]:
    """Return the metrics in which the A/A check failed, except those that another sentence states."""
    failed = (f.metric for f in view.judgement.floors if f.tripped and f.metric not in stated)
    by_inputs = defaultdict[tuple[str, ...], list[Metric]](list)
    for metric in dict.fromkeys(failed):
        floors = [f for f in view.judgement.floors if f.metric == metric]
        by_inputs[_inputs_of(view, [f for f in floors if f.tripped], floors)].append(metric)
    return tuple(FailedCheck(metrics=tuple(m), inputs=i) for i, m in by_inputs.items())


def _control(
    view: SummaryView, floors: Sequence[NoiseFloor]
) -> tuple[facts.ControlState, tuple[str, ...]]:
    """Return the worst result of the A/A check, and the inputs with it; none if all of them have it."""
    if not any(view.plan.control_cell(item.id) for item in view.plan.inputs):
        return "none", ()
    unstable = {view.cells[c.cell_id].input_id for c in view.unstable_controls()}
    margin = view.plan.judge.margin_of(view.metric)
    states: dict[facts.ControlState, list[NoiseFloor]] = {
        "failed": [f for f in floors if f.tripped],
        "unstable": [f for f in floors if f.input_id in unstable],
        "imprecise": [f for f in floors if f.fraction is not None and f.fraction > margin],
        "passed": [f for f in floors if f.fraction is not None],
    }
    for state, having in states.items():
        if having:
            return state, _inputs_of(view, having, floors)
    return "too few rounds", ()


def _inputs_of(
    view: SummaryView, having: Sequence[NoiseFloor], floors: Sequence[NoiseFloor]
) -> tuple[str, ...]:
    """Return the labels of the inputs of some noise floors; none if they are all of them."""
    labels = (view.plan.input(f.input_id).label for f in having)
    return tuple(labels) if len(having) < len(floors) else ()


def _reach_of_another_session(comparisons: Iterable[Comparison]) -> float | None:
    """Return the median half-width of the intervals for another session, as a fraction."""
    intervals = [c.sessions.another for c in comparisons if c.sessions is not None]
    halves = [log(i.hi / i.lo) / 2 for i in intervals if i.bounded]
    return expm1(statistics.median(halves)) if halves else None


def _expected(view: SummaryView, c: Comparison) -> Evidence:
    assert c.sessions is not None
    return view.evidence(c).with_interval(c.sessions.another)


def _in_another_session(view: SummaryView, answer: Iterable[Claim]) -> Iterator[Comparison]:
    """Yield the comparison of the answer if its prediction interval does not give the same verdict."""
    for claim in answer:
        cells, metric = claim.cells, claim.metric or view.metric
        # The answer about a baseline that is best has the cell of the baseline first.
        if cells and view.label(cells[-1]) == claim.subject:
            cells = cells[::-1]
        pair = view.pair(*cells, metric) if len(cells) == PAIR else None
        if pair is None or pair.sessions is None or not pair.verdict.settled:
            continue
        another, margin = pair.sessions.another, pair.thresholds.margin
        equal = pair.verdict is Verdict.EQUIVALENT
        agrees = (
            within_margin(another, margin)
            if equal
            else by_interval(another, margin) is pair.verdict
        )
        if not agrees:
            yield pair
