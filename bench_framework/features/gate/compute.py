"""The gate: candidates that are worse than the baseline by more than the tolerated change.

The gate has two passes. The first judges the rounds of the record at α, 1 %. A worse result is only
suspicious. The second measures the suspicious candidates again at 5 %, with a separate plan. Only a
candidate that is worse in both passes fails the gate, on any gated time. A candidate that the
second pass cannot judge is not judged. See `docs/reference/gate.md#two-passes`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.claims.factory import ComparisonClaims
from bench_framework.compare import exact_metrics, same_programs
from bench_framework.errors import EXIT_DONE
from bench_framework.features.gate import outcome
from bench_framework.features.gate.budgets import judge_budgets
from bench_framework.features.gate.failures import other_failures
from bench_framework.features.gate.question import (
    GateAnswer,
    answer,
    question_of,
    question_of_counts,
)
from bench_framework.model.facts import Claim
from bench_framework.model.metrics import COUNTED, CPU, INSTRUCTIONS, LEAST_BYTES, PEAK_RSS
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.plan.policies import Accepted, GatePolicy, Metric
from bench_framework.model.reasons import BUILT_ALIKE, NO_USE_OF_INTERVAL, Reason, ReasonCode
from bench_framework.model.result.gate import GatedPair, Gating, PairState
from bench_framework.model.result.judgement import Comparison, Judgement, baseline_comparisons
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.store.journal import Contents

UNCOUNTED: Final = "BX250"
"""The code of the warning that instructions cannot be counted on this machine."""

_OF_INSTRUCTIONS: Final = (CPU, "user")
"""The times that instructions take."""
_BROKEN: Final = (Verdict.FAILED, Verdict.OTHER_OUTPUT)
_REFUSED: Final[Mapping[Verdict, PairState]] = {
    **dict.fromkeys(_BROKEN, "failed"),
    Verdict.NOT_COMPARABLE: "not-comparable",
}


def within(c: Comparison, margin: float) -> bool:
    """Return whether the reported interval excludes every growth beyond the margin.

    The interval of a comparison whose ratio changed, or whose control differs, excludes nothing.
    """
    usable = c.reason not in NO_USE_OF_INTERVAL
    return usable and c.shown is not None and c.shown.hi <= 1 + margin


def first_pass(plan: Plan, contents: Contents, *, accepted: Sequence[Accepted] = ()) -> Gating:
    """Judge the rounds of a record, with the accepted changes. A pair that is worse becomes suspicious.

    Exact metrics (binary size, instructions) need no second pass, because their difference is
    certain.
    """
    question, policy = question_of(plan), plan.judge.gate
    gated = question.plan
    builds = contents.builds_by_id
    if not any(cell.role is Role.CANDIDATE for cell in gated.cells):
        budgets = judge_budgets(plan, contents, builds, looks=question.looks.count)
        empty = Gating((), policy.level, 0, 0, 0, EXIT_DONE, (), budgets=budgets)
        return _concluded(plan, contents, empty)
    judged = answer(question, contents)
    by_pair = _pairs_of_answer(gated, judged)
    broken = {id_: c.reason for (id_, _), (c, _) in by_pair.items() if c.verdict in _BROKEN}
    same = same_programs.same_cells(gated, builds)
    uncounted = next((event.message for event in contents.events if event.code == UNCOUNTED), "")
    pairs = []
    for cell in gated.cells:
        baseline = gated.baseline_cell(cell.input_id)
        if cell.role is not Role.CANDIDATE or baseline is None:
            continue
        grown = judged.medians.get(cell.id, 0.0) - judged.medians.get(baseline.id, 0.0)
        for metric, margin in policy.tolerated.items():
            c, claim = by_pair.get((cell.id, metric)) or _unknown(cell, baseline, metric, margin)
            if (cell.id, metric) not in by_pair and cell.id in broken:
                c = replace(c, reason=broken[cell.id])
            state, reason = pair_state(c, margin, policy, grown)
            one_program = frozenset((cell.id, baseline.id)) in same and c.family != "exact"
            if one_program and state not in ("failed", "not-comparable"):
                state, reason = "passed", BUILT_ALIKE
            if metric in COUNTED and state == "not-judged" and uncounted:
                reason = Reason(ReasonCode.NOT_COUNTED, uncounted)
            reasons = (reason,) if reason else ()
            pairs.append(GatedPair(cell.id, metric, margin, state, c, claim, reasons))
    open_ = frozenset(pair.cell_id for pair in pairs if time_not_judged(pair))
    pairs += _checked_by_times(counted_pairs(gated, open_, contents), pairs)
    family, looks = judged.looks.family, judged.looks.count
    rounds = max((look.round for look in contents.looks), default=0)
    budgets = judge_budgets(plan, contents, builds, looks=looks)
    gating = Gating(
        tuple(pairs), policy.level, family, looks, rounds, EXIT_DONE, (), budgets=budgets
    )
    accepting = outcome.accept(gating, accepted, contents.header.started_at[:10])
    return _concluded(plan, contents, accepting)


def _concluded(plan: Plan, contents: Contents, gating: Gating) -> Gating:
    gating = replace(gating, failures=other_failures(plan, contents, gating))
    return outcome.conclude(gating, plan.judge.gate)


def time_not_judged(pair: GatedPair) -> bool:
    """Return whether a pair is about a time, and could not be judged."""
    return pair.state == "not-judged" and outcome.is_timed(pair.metric)


def counted_pairs(plan: Plan, cell_ids: frozenset[str], contents: Contents) -> list[GatedPair]:
    """Judge the counted instructions of cells whose times could not be judged.

    The smallest margin of the gated times applies. A larger count is worse. A smaller or equal one
    does not show that the times are no longer: they remain not judged. Cells without counts, and
    plans whose gate judges instructions anyway, give no pair.
    """
    policy = plan.judge.gate
    runs = (
        o
        for o in contents.observations
        if o.kind == exact_metrics.COUNTING_RUN and o.status == "ok"
    )
    counted = cell_ids & {run.cell_id for run in runs}
    if INSTRUCTIONS in policy.tolerated or not counted:
        return []
    margin = min(policy.tolerated[metric] for metric in outcome.timed_metrics(policy))
    question = question_of_counts(plan, counted, margin)
    by_pair = _pairs_of_answer(question.plan, answer(question, contents))
    pairs = []
    for (cell_id, metric), (c, claim) in by_pair.items():
        if metric == INSTRUCTIONS and cell_id in cell_ids:
            state, reason = pair_state(c, margin, policy, 0.0)
            counts = Reason(ReasonCode.COUNTED_INSTEAD)
            reasons = (counts, reason) if reason else (counts,)
            pairs.append(GatedPair(cell_id, metric, margin, state, c, claim, reasons))
    return pairs


def _checked_by_times(
    counted: Iterable[GatedPair], pairs: Sequence[GatedPair]
) -> Iterator[GatedPair]:
    """Yield pairs of counted instructions; a larger count that the times contradict is not judged.

    Times contradict it if all are estimated as shorter, and their intervals exclude so large an increase, or if that
    of the CPU time does: a program that uses hardly more CPU time is not so much slower by its instructions.
    """
    for pair in counted:
        times = [p for p in pairs if p.cell_id == pair.cell_id and outcome.is_timed(p.metric)]
        count, code = pair.comparison.shown, None
        if pair.state == "worse" and count:
            excluding = [p for p in times if within(p.again or p.comparison, count.ratio - 1)]
            if times and len(excluding) == len(times) and all(map(_is_shorter, times)):
                code = ReasonCode.TIMES_CONTRADICT
            elif any(p.metric in _OF_INSTRUCTIONS and p.state == "passed" for p in excluding):
                code = ReasonCode.CPU_CONTRADICTS
        if code is None:
            yield pair
        else:
            yield replace(pair, state="not-judged", reasons=(Reason(code), *pair.reasons))


def _is_shorter(pair: GatedPair) -> bool:
    interval = (pair.again or pair.comparison).shown
    return interval is not None and interval.ratio < 1


_ByPair = dict[tuple[str, Metric], tuple[Comparison, Claim | None]]
"""(candidate, metric) → its comparison with the baseline, and the claim about it."""


def _pairs_of_answer(plan: Plan, judged: GateAnswer) -> _ByPair:
    """Return the pairs of a question."""
    writer = ComparisonClaims(plan, judged)
    by_pair: _ByPair = {}
    for c in (*judged.comparisons, *judged.exact):
        if c.family != "control":
            by_pair[c.cell_id, c.metric] = c, writer.comparison(c)
    return by_pair


def _pairs_of_judgement(plan: Plan, judged: Judgement) -> _ByPair:
    """Return the pairs of a second pass, whose record has claims."""
    claims = {
        (claim.cells, claim.metric): claim
        for claim in judged.claims
        if claim.kind in ("comparison", "memory")
    }
    return {
        key: (c, claims.get(((c.cell_id, c.ref_cell_id), c.metric)))
        for key, c in baseline_comparisons(plan, judged.comparisons).items()
    }


def _unknown(cell: Cell, base: Cell, metric: Metric, margin: float) -> tuple[Comparison, None]:
    reason = Reason(ReasonCode.UNKNOWN_SIDE, metric)
    if metric == outcome.BUILD_TIME:
        reason = Reason(ReasonCode.SINGLE_BUILD)
    verdict = Verdict.INCONCLUSIVE
    unknown = Comparison(
        cell.id, base.id, metric, "headline", verdict, reason, thresholds=Thresholds(margin, 0.0)
    )
    return unknown, None


def pair_state(
    c: Comparison, margin: float, policy: GatePolicy, grown_bytes: float
) -> tuple[PairState, Reason | None]:
    """Return the state of a pair after the first measurement, and the reason for it."""
    if (refused := _REFUSED.get(c.verdict)) is not None:
        return refused, c.reason
    differs = c.verdict.worse or c.reason == Reason(ReasonCode.TOO_SMALL)
    if differs and c.metric == PEAK_RSS and grown_bytes <= LEAST_BYTES:
        return "passed", Reason(ReasonCode.SMALL_GROWTH)
    if c.verdict.worse and c.shown is not None:
        return _worse(c, c.shown, margin)
    if c.verdict.better or c.verdict is Verdict.EQUIVALENT:
        return "passed", None
    if within(c, margin):
        return "passed", Reason(ReasonCode.WITHIN_TOLERANCE)
    if c.mde is None or c.reason:
        return "not-judged", c.reason or Reason(ReasonCode.INCONCLUSIVE)
    if c.mde <= policy.detect:
        return "passed", Reason(ReasonCode.DETECTABLE, policy.detect)
    return "not-judged", Reason(ReasonCode.UNDETECTED, c.mde)


def _worse(c: Comparison, interval: Interval, margin: float) -> tuple[PairState, Reason | None]:
    growth = interval.ratio - 1
    if growth <= margin:
        return "passed", Reason(ReasonCode.TOLERATED, (growth, margin))
    if c.family != "exact":
        return "suspicious", None
    if interval.lo == interval.hi:
        return "worse", Reason(ReasonCode.EXACT)
    # Without a second pass, only a change that is beyond the margin as a whole may fail the gate.
    if c.verdict is Verdict.WORSE:
        return "worse", Reason(ReasonCode.COUNTS_DIFFER)
    return "not-judged", Reason(ReasonCode.COUNTS_REACH_MARGIN)


def second_pass(
    plan: Plan,
    first: Gating,
    again: Judgement,
    record_id: str,
    counted: Sequence[GatedPair] = (),
    *,
    accepted: Sequence[Accepted] = (),
    day: str = "",
) -> Gating:
    """Return the gating with the results of the second measurement.

    `again` is the judgement of `confirmation_plan`, and `counted` has the instructions that were
    counted there. `accepted` and `day` are those of the first pass.
    """
    by_pair, measured = _pairs_of_judgement(plan, again), {state.cell_id for state in again.states}
    pairs = list(first.pairs)
    for i, pair in enumerate(pairs):
        if pair.state == "suspicious" and pair.cell_id in measured:
            c, claim = by_pair.get((pair.cell_id, pair.metric), (None, None))
            state, reason = confirmed(c, pair.margin)
            reasons = (reason, *pair.reasons)
            pairs[i] = replace(pair, again=c, again_claim=claim, state=state, reasons=reasons)
    worse = {p.cell_id for p in pairs if p.state == "worse"}
    unconfirmed = {p.cell_id for p in pairs if p.again} - worse
    for i, pair in enumerate(pairs):
        c, claim = by_pair.get((pair.cell_id, pair.metric), (None, None))
        exceeds = c and c.verdict.worse and c.shown and c.shown.ratio - 1 > pair.margin
        unsuspicious = pair.again is None and pair.state in ("passed", "not-judged")
        open_ = unsuspicious and outcome.is_timed(pair.metric)
        if exceeds and open_ and pair.cell_id in unconfirmed:
            # Another time alone confirms that a suspicious cell is worse.
            other = (Reason(ReasonCode.OTHER_METRIC),)
            worse_now = replace(pair, again=c, again_claim=claim, state="worse", reasons=other)
            pairs[i] = outcome.accept_pair(worse_now, accepted, day)
    for i, pair in enumerate(pairs):
        c, claim = by_pair.get((pair.cell_id, pair.metric), (None, None))
        if pair.unstable and pair.again is None and c is not None:
            state, reason = repeated(c, pair.margin)
            pairs[i] = replace(pair, again=c, again_claim=claim, state=state, reasons=(reason,))
    known = {pair.cell_id for pair in pairs if pair.metric == INSTRUCTIONS}
    new = [pair for pair in counted if pair.cell_id not in known]
    pairs += [outcome.accept_pair(p, accepted, day) for p in _checked_by_times(new, pairs)]
    remarks = tuple(outcome.remarks(pairs, accepted, day))
    gating = replace(first, pairs=tuple(pairs), confirmation=record_id, remarks=remarks)
    return outcome.conclude(gating, plan.judge.gate)


def confirmed(c: Comparison | None, margin: float) -> tuple[PairState, Reason]:
    """Return the state of a pair after the second measurement, and the reason for it."""
    if c is None:
        return "not-judged", Reason(ReasonCode.NO_SECOND_RESULT)
    if c.verdict.better or c.verdict is Verdict.EQUIVALENT or within(c, margin):
        return "passed", Reason(ReasonCode.NOT_CONFIRMED)
    if c.verdict.worse:
        return "worse", Reason(ReasonCode.CONFIRMED)
    cause = c.reason or Reason(ReasonCode.INCONCLUSIVE)
    if c.reason is None and c.mde is not None:
        cause = Reason(ReasonCode.UNDETECTED, c.mde)
    state: PairState = "failed" if c.verdict in _BROKEN else "not-judged"
    return state, Reason(ReasonCode.SECOND_INCONCLUSIVE, cause)


def repeated(c: Comparison, margin: float) -> tuple[PairState, Reason]:
    """Return the state of a pair that was unstable, after the second measurement, and the reason for it.

    It is passed if the new rounds show that it is within the margin. A growth that only they show is not
    confirmed.
    """
    if c.verdict.better or c.verdict is Verdict.EQUIVALENT or within(c, margin):
        return "passed", Reason(ReasonCode.STABLE_SECOND)
    cause = c.reason or Reason(ReasonCode.INCONCLUSIVE)
    if c.verdict.worse:
        cause = Reason(ReasonCode.WORSE)
    return "not-judged", Reason(ReasonCode.UNSTABLE_FIRST, cause)
