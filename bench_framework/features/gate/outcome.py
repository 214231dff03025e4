"""The exit code of a gate and the reasons for it, what it shows about a change, and accepted pairs."""

from collections.abc import Iterator, Sequence, Sized
from dataclasses import replace
from typing import Final

from bench_framework.errors import EXIT_DONE, EXIT_NOT_JUDGED, EXIT_NOT_MEASURED, EXIT_WORSE
from bench_framework.model.metrics import PEAK_RSS, WALL, is_exact
from bench_framework.model.plan.policies import Accepted, GatePolicy, Metric
from bench_framework.model.reasons import BUILT_ALIKE, Part, Reason, ReasonCode
from bench_framework.model.result.decision import ChangeKind
from bench_framework.model.result.gate import BudgetState, GatedPair, Gating
from bench_framework.model.verdict import Verdict

BUILD_TIME: Final = "build_time"
"""The metric of the build time. It is a single measurement, so it is shown but never judged."""
BOTH: Final = 2
"""Number of hosts of a gate whose second pass another host measured."""


def timed_metrics(policy: GatePolicy) -> tuple[Metric, ...]:
    """Return the gated metrics that are judged by rounds."""
    return tuple(filter(is_timed, policy.tolerated))


def is_timed(metric: Metric) -> bool:
    """Return whether a gated metric is judged by rounds: not memory, those of builds, or exact ones."""
    return metric not in (PEAK_RSS, BUILD_TIME) and not is_exact(metric)


def main_metric(policy: GatePolicy) -> Metric:
    """Return the metric of which `ChangeKind` is: the elapsed time, else the first gated one."""
    timed = timed_metrics(policy) or tuple(policy.tolerated)
    return WALL if WALL in timed else timed[0]


def gate_change(gating: Gating, policy: GatePolicy) -> ChangeKind:
    """Return what the gate shows about the change: the first of its failures, else its main metric."""
    if gating.exit_code == EXIT_NOT_MEASURED:
        failed = gating.in_state("failed")
        others = any(pair.comparison.verdict is not Verdict.OTHER_OUTPUT for pair in failed)
        return ChangeKind.WORSE if failed and not others else ChangeKind.FAILED
    differ = any(remark.code is ReasonCode.OUTPUTS_DIFFER for remark in gating.remarks)
    if differ or gating.exit_code == EXIT_WORSE:
        return ChangeKind.WORSE
    if gating.exit_code == EXIT_NOT_JUDGED:
        return ChangeKind.FAILED if gating.in_state("not-comparable") else ChangeKind.OPEN
    main = main_metric(policy)
    return max((_change(p) for p in gating.pairs if p.metric == main), default=ChangeKind.SAME)


def _change(pair: GatedPair) -> ChangeKind:
    """Return the change of a pair of a gate that passed."""
    verdict = (pair.again or pair.comparison).verdict
    tolerated = pair.state in ("accepted", "same-instructions") or (
        pair.state == "passed" and verdict.worse
    )
    same = verdict is Verdict.EQUIVALENT or BUILT_ALIKE in pair.reasons
    if same or tolerated:
        return ChangeKind.SAME
    return ChangeKind.BETTER if verdict.better and pair.again is None else ChangeKind.NOT_WORSE


def conclude(gating: Gating, policy: GatePolicy) -> Gating:
    """Return the gate with its exit code and reasons. 3 precedes 1, and 1 precedes 4."""
    code, reasons = EXIT_DONE, list[Reason]()
    pairs = gating.in_state("failed")
    other = [pair for pair in pairs if pair.comparison.verdict is Verdict.OTHER_OUTPUT]
    failed = (
        *_counted(ReasonCode.PAIRS_FAILED, [pair for pair in pairs if pair not in other]),
        *_counted(ReasonCode.PAIRS_OTHER_OUTPUT, other),
    )
    for exit_code, lines in (
        (EXIT_NOT_MEASURED, (*failed, *_budgets(gating, "failed"), *_failures(gating))),
        (EXIT_WORSE, (*_worse(gating), *_budgets(gating, "over"))),
        (EXIT_NOT_JUDGED, (*_unjudged(gating, policy), *_budgets(gating, "not-judged"))),
    ):
        reasons += lines
        code = code or (exit_code if lines else EXIT_DONE)
    return replace(gating, exit_code=code, reasons=tuple(reasons))


def not_confirmed(first: Gating, policy: GatePolicy, cause: Reason) -> Gating:
    """Return the result of a first pass whose suspicious pairs no other host measured again."""
    return conclude(replace(first, unconfirmed=cause), policy)


def _counted(code: ReasonCode, things: Sized, *more: Part) -> Iterator[Reason]:
    """Yield a reason with a number of things, if it is not 0."""
    if count := len(things):
        yield Reason(code, (count, *more))


def _worse(gating: Gating) -> Iterator[Reason]:
    pairs, hosts = gating.in_state("worse"), gating.hosts
    confirmed = len(hosts) == BOTH
    # An exact value is not an estimate, and has no second pass.
    exact = [pair for pair in pairs if pair.comparison.family == "exact"]
    # The estimate is compared with the margin. The interval may reach into it.
    estimated = [pair for pair in pairs if pair not in exact]
    code = ReasonCode.PAIRS_WORSE_ON_HOSTS if confirmed else ReasonCode.PAIRS_WORSE
    yield from _counted(code, estimated, *(hosts if confirmed else ()))
    code = ReasonCode.EXACT_WORSE_ON_HOST if confirmed else ReasonCode.EXACT_WORSE
    yield from _counted(code, exact, *(hosts[:1] if confirmed else ()))


_OUTCOMES: Final[dict[BudgetState, ReasonCode]] = {
    "failed": ReasonCode.BUDGETS_FAILED,
    "over": ReasonCode.BUDGETS_EXCEEDED,
    "not-judged": ReasonCode.BUDGETS_NOT_JUDGED,
}


def _budgets(gating: Gating, state: BudgetState) -> Iterator[Reason]:
    return _counted(_OUTCOMES[state], [b for b in gating.budgets if b.state == state])


def _failures(gating: Gating) -> Iterator[Reason]:
    cells = [failure for failure in gating.failures if failure.cell_id is not None]
    yield from _counted(ReasonCode.UNGATED_FAILED, [f for f in cells if not f.gated])
    yield from _counted(ReasonCode.GATED_FAILED, [f for f in gating.failures if f.gated])
    yield from (failure.reason for failure in gating.failures if failure.cell_id is None)


def _unjudged(gating: Gating, policy: GatePolicy) -> Iterator[Reason]:
    for budget in policy.budgets:
        if not budget.cell_ids:
            yield Reason(ReasonCode.BUDGET_OF_NOTHING, (budget.metric, budget.cells))
    if not gating.pairs and (not gating.budgets or policy.chosen == ()):
        cells = policy.cells
        yield Reason(ReasonCode.NO_PAIR_AMONG, cells) if cells else Reason(ReasonCode.NO_PAIR)
        return
    yield from _counted(ReasonCode.PAIRS_NOT_COMPARABLE, gating.in_state("not-comparable"))
    first, second = Reason(ReasonCode.IN_FIRST), Reason(ReasonCode.IN_SECOND)
    if gating.hosts:
        first, *others = (Reason(ReasonCode.ON_HOST, host) for host in gating.hosts)
        second = others[0] if others else second
    code, missing = ReasonCode.PAIRS_SUSPICIOUS, [first]
    if gating.unconfirmed is not None:
        code, missing = ReasonCode.PAIRS_UNCONFIRMED, [first, gating.unconfirmed]
    yield from _counted(code, gating.in_state("suspicious"), *missing)
    judgeable = [pair for pair in gating.pairs if pair.metric != BUILD_TIME]
    open_ = [pair for pair in judgeable if pair.state == "not-judged"]
    unconfirmed = [pair for pair in open_ if pair.again is not None and not pair.unstable]
    yield from _counted(ReasonCode.PAIRS_INCONCLUSIVE, unconfirmed, first, second)
    compared = gating.in_state("passed", "accepted", "same-instructions", "worse")
    if len(compared) < policy.min_compared:
        yield Reason(ReasonCode.TOO_FEW_COMPARED, (len(compared), policy.min_compared))
    if policy.on_inconclusive == "fail":
        yield from _counted(ReasonCode.PAIRS_NOT_JUDGED, open_)
        return
    # Noise does not explain a value that is not known.
    unknown = [pair for pair in open_ if is_exact(pair.metric)]
    yield from _counted(ReasonCode.PAIRS_UNKNOWN, unknown)
    for metric in policy.require:
        if any(p.metric == metric and p not in unknown for p in open_):
            yield Reason(ReasonCode.REQUIRED, metric)
    timed = timed_metrics(policy)
    deciding = [pair for pair in judgeable if not timed or pair.metric in timed]
    judged = {pair.cell_id for pair in deciding if pair.state != "not-judged"}
    blind = {pair.cell_id for pair in judgeable} - judged
    code = ReasonCode.TIMES_NOT_JUDGED if timed else ReasonCode.METRICS_NOT_JUDGED
    yield from _counted(code, blind)


def accept(gating: Gating, entries: Sequence[Accepted], day: str) -> Gating:
    """Return the gating of a first pass with the accepted pairs marked as accepted.

    The exit code is not computed again.

    `day` is the start date of the record, such as ``2026-05-31``. The date of the judgement is not
    used, so that the same record is always judged in the same way.
    """
    pairs = tuple(accept_pair(pair, entries, day) for pair in gating.pairs)
    return replace(gating, pairs=pairs, remarks=tuple(remarks(pairs, entries, day)))


def _matches(entry: Accepted, pair: GatedPair) -> bool:
    return pair.cell_id in entry.cell_ids and pair.metric == entry.metric


def accept_pair(pair: GatedPair, entries: Sequence[Accepted], day: str) -> GatedPair:
    """Return the pair as accepted if an entry permits its growth, that of the second measurement if there is one."""
    interval = (pair.again or pair.comparison).shown
    if pair.state not in ("suspicious", "worse") or interval is None:
        return pair
    growth = interval.ratio - 1
    matching = [entry for entry in entries if _matches(entry, pair)]
    valid = [entry for entry in matching if entry.counts_on(day)]
    if accepting := next((entry for entry in valid if growth <= entry.level), None):
        accepted = Reason(ReasonCode.ACCEPTED, (accepting.level, accepting.reason))
        if accepting.until:
            detail = (accepting.level, accepting.until, accepting.reason)
            accepted = Reason(ReasonCode.ACCEPTED_UNTIL, detail)
        return replace(pair, state="accepted", reasons=(accepted,))
    if valid:
        most = max(entry.level for entry in valid)
        more = Reason(ReasonCode.MORE_THAN_ACCEPTED, most)
        return replace(pair, reasons=(more,))
    if expired := next((entry for entry in matching if growth <= entry.level), None):
        ended = Reason(ReasonCode.ACCEPTANCE_ENDED, (expired.place, expired.until))
        return replace(pair, reasons=(ended,))
    return pair


def remarks(pairs: Sequence[GatedPair], entries: Sequence[Accepted], day: str) -> Iterator[Reason]:
    """Yield a remark on each entry that has no effect."""
    for entry in entries:
        name = (entry.place, entry.cells, entry.metric)
        matching_pairs = [pair for pair in pairs if _matches(entry, pair)]
        if entry.unknown:
            yield Reason(ReasonCode.ACCEPTANCE_UNKNOWN, (*name, entry.unknown))
        elif not matching_pairs:
            reason = Reason(ReasonCode.METRIC_NOT_GATED, entry.metric)
            if any(pair.metric == entry.metric for pair in pairs):
                reason = Reason(ReasonCode.NO_GATED_CELL)
            yield Reason(ReasonCode.ACCEPTANCE_UNKNOWN, (*name, reason))
        elif not entry.counts_on(day):
            yield Reason(ReasonCode.ACCEPTANCE_EXPIRED, (*name, entry.until))
        elif all(pair.state == "passed" for pair in matching_pairs):
            yield Reason(ReasonCode.ACCEPTANCE_UNNEEDED, name)
