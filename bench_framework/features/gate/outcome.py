"""The plans of the gate's two passes, the exit code of a gate, and the reasons for it."""

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Final

from bench_framework.errors import EXIT_DONE, EXIT_NOT_JUDGED, EXIT_NOT_MEASURED, EXIT_WORSE
from bench_framework.model.metrics import PEAK_RSS, WALL, is_exact
from bench_framework.model.plan.declarations import Note
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.policies import Accepted, GatePolicy, JudgePolicy, Metric
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.result.decision import Change
from bench_framework.model.result.gate import CONFIRMATION_LEVEL, BudgetState, GatedPair, Gating
from bench_framework.model.verdict import Verdict
from bench_framework.text.numbers import format_percent
from bench_framework.units import counted

FEWEST_CONFIRMING: Final = 18
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
    """Return the metric of which `Change` is: the elapsed time, else the first gated one."""
    timed = timed_metrics(policy) or tuple(policy.tolerated)
    return WALL if WALL in timed else timed[0]


def change_of(gating: Gating, policy: GatePolicy) -> Change:
    """Return what the gate shows about the change: the first of its failures, else its main metric."""
    if gating.exit_code == EXIT_NOT_MEASURED:
        failed = gating.in_state("failed")
        others = any(pair.comparison.verdict is not Verdict.OTHER_OUTPUT for pair in failed)
        return Change.WORSE if failed and not others else Change.FAILED
    if gating.exit_code == EXIT_WORSE:
        return Change.WORSE
    if gating.exit_code == EXIT_NOT_JUDGED:
        return Change.FAILED if gating.in_state("not-comparable") else Change.OPEN
    main = main_metric(policy)
    return max((_change(p) for p in gating.pairs if p.metric == main), default=Change.SAME)


def _change(pair: GatedPair) -> Change:
    """Return the change of a pair of a gate that passed."""
    verdict = (pair.again or pair.comparison).verdict
    tolerated = pair.state == "accepted" or (pair.state == "passed" and verdict.worse)
    same = verdict is Verdict.EQUIVALENT or Reason(ReasonCode.BUILT_ALIKE) in pair.reasons
    if same or tolerated:
        return Change.SAME
    return Change.BETTER if verdict.better and pair.again is None else Change.NOT_WORSE


def conclude(gating: Gating, policy: GatePolicy) -> Gating:
    """Return the gate with its exit code and reasons. 3 precedes 1, and 1 precedes 4."""
    code, reasons = EXIT_DONE, list[str]()
    failed = _counted(gating.in_state("failed"), "could not be measured")
    worse = _worse(gating)
    for exit_code, lines in (
        (EXIT_NOT_MEASURED, failed + _budgets(gating, "failed") + _failures(gating)),
        (EXIT_WORSE, worse + _budgets(gating, "over")),
        (EXIT_NOT_JUDGED, _unjudged(gating, policy) + _budgets(gating, "not-judged")),
    ):
        reasons += lines
        code = code or (exit_code if lines else EXIT_DONE)
    return replace(gating, exit_code=code, reasons=tuple(reasons))


def not_confirmed(first: Gating, policy: GatePolicy, cause: str) -> Gating:
    """Return the result of a first pass whose suspicious pairs no other host measured again."""
    return conclude(replace(first, unconfirmed=cause), policy)


def _worse(gating: Gating) -> list[str]:
    once, twice = "", ""
    if len(gating.hosts) == BOTH:
        first, second = gating.hosts
        once, twice = f": on host {first}", f": on host {first}, confirmed on host {second}"
    pairs = gating.in_state("worse")
    # An exact value is not an estimate, and has no second pass.
    exact = [pair for pair in pairs if pair.comparison.family == "exact"]
    # The estimate is compared with the margin. The interval may reach into it.
    estimated = [pair for pair in pairs if pair not in exact]
    lines = _counted(estimated, f"worse, estimated at more than tolerated{twice}")
    return lines + _counted(exact, f"worse than tolerated{once}")


def _counted(pairs: Sized, what: str, noun: str = "comparison") -> list[str]:
    return [f"{counted(len(pairs), noun)}: {what}"] if pairs else []


_OUTCOMES: Final[dict[BudgetState, tuple[str, str]]] = {
    "failed": ("could not be measured", "could not be measured"),
    "over": ("exceeded", "exceeded"),
    "not-judged": ("could not judge whether it is kept", "could not judge whether they are kept"),
}
"""The outcome of one budget, and of several."""


def _budgets(gating: Gating, state: BudgetState) -> list[str]:
    budgets = [b for b in gating.budgets if b.state == state]
    one, several = _OUTCOMES[state]
    return _counted(budgets, one if len(budgets) == 1 else several, "budget")


def _failures(gating: Gating) -> list[str]:
    lines = []
    if ungated := sum(f.cell_id is not None and not f.gated for f in gating.failures):
        which = "that is not gated" if ungated == 1 else "that are not gated"
        lines.append(f"{counted(ungated, 'configuration')} {which}: failed")
    judged = [failure for failure in gating.failures if failure.gated]
    lines += _counted(judged, "a run, a metric or an output failed", "gated configuration")
    return lines + [failure.text for failure in gating.failures if failure.cell_id is None]


def _unjudged(gating: Gating, policy: GatePolicy) -> list[str]:
    lines = _counted(gating.in_state("not-comparable"), "not comparable")
    suspicious = gating.in_state("suspicious")
    first, second = "in the first measurement", "in the second"
    if gating.hosts:
        first, *others = (f"on host {host}" for host in gating.hosts)
        second = "".join(others)
    missing = "and not measured again"
    if gating.unconfirmed:
        missing = f"not confirmed on another host: {gating.unconfirmed}"
    lines += _counted(suspicious, f"worse {first}, {missing}")
    judgeable = [pair for pair in gating.pairs if pair.metric != BUILD_TIME]
    open_ = [pair for pair in judgeable if pair.state == "not-judged"]
    unconfirmed = [pair for pair in open_ if pair.again is not None and not pair.unstable]
    lines += _counted(unconfirmed, f"worse {first}, inconclusive {second}")
    if not gating.pairs and not gating.budgets:
        where = f" among the gated cells ({policy.cells})" if policy.cells else ""
        return [f"nothing was compared: no candidate{where} has a baseline"]
    compared = gating.in_state("passed", "accepted", "worse")
    if len(compared) < policy.min_compared:
        lines.append(f"{len(compared)} of at least {policy.min_compared} comparisons were judged")
    if policy.on_inconclusive == "fail":
        return lines + _counted(open_, "not judged, and the gate has on-inconclusive: fail")
    # Noise does not explain a value that is not known.
    unknown = [pair for pair in open_ if is_exact(pair.metric)]
    lines += _counted(unknown, "of a deterministic metric that is not known, so not judged")
    lines += [
        f"{metric}: not judged, and the gate requires it"
        for metric in policy.require
        if any(p.metric == metric and p not in unknown for p in open_)
    ]
    timed = timed_metrics(policy)
    deciding = [pair for pair in judgeable if not timed or pair.metric in timed]
    judged = {pair.cell_id for pair in deciding if pair.state != "not-judged"}
    blind = {pair.cell_id for pair in judgeable} - judged
    what = "gated time" if timed else "gated metric"
    return lines + _counted(blind, f"no {what} could be judged", "cell")


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
        until = f" until {accepting.until}" if accepting.until else ""
        detail = f"up to {format_percent(accepting.level)}{until}: {accepting.reason}"
        return replace(pair, state="accepted", reasons=(Reason(ReasonCode.ACCEPTED, detail),))
    if valid:
        most = max(entry.level for entry in valid)
        more = Reason(ReasonCode.MORE_THAN_ACCEPTED, most)
        return replace(pair, reasons=(more,))
    if expired := next((entry for entry in matching if growth <= entry.level), None):
        detail = f"{expired.place} ended on {expired.until}"
        return replace(pair, reasons=(Reason(ReasonCode.ACCEPTANCE_ENDED, detail),))
    return pair


def remarks(pairs: Sequence[GatedPair], entries: Sequence[Accepted], day: str) -> Iterator[str]:
    """Yield a remark on each entry that has no effect."""
    for entry in entries:
        name = f"accepted change {entry.place} ({entry.cells}, {entry.metric})"
        matching_pairs = [pair for pair in pairs if _matches(entry, pair)]
        if entry.unknown:
            yield f"{name} is unknown here: {entry.unknown}"
        elif not matching_pairs:
            judged = any(pair.metric == entry.metric for pair in pairs)
            reason = (
                "it selects no gated cell" if judged else f"this gate does not judge {entry.metric}"
            )
            yield f"{name} is unknown here: {reason}"
        elif not entry.counts_on(day):
            yield f"{name} has expired on {entry.until} and accepts nothing"
        elif all(pair.state == "passed" for pair in matching_pairs):
            yield f"{name} is not needed: none of its comparisons is worse"


def narrowed(plan: Plan, ids: frozenset[str]) -> Plan:
    """Return the plan with these candidates, and baseline and A/A control of their inputs."""
    chosen = {c.id: c.input_id for c in plan.cells if c.id in ids and c.role is Role.CANDIDATE}
    inputs, of_inputs = set(chosen.values()), (Role.BASELINE, Role.CONTROL)
    cells = tuple(
        cell
        for cell in plan.cells
        if cell.id in chosen or (cell.input_id in inputs and cell.role in of_inputs)
    )
    baselines = [cell.variant_id for cell in cells if cell.role is Role.BASELINE]
    used = {cell.variant_id for cell in cells}
    variants = tuple(v for v in plan.variants if v.id in used)
    builds = {v.build.id for v in variants if v.build is not None}
    return replace(
        plan,
        builds=tuple(build for build in plan.builds if build.id in builds),
        variants=variants,
        inputs=tuple(item for item in plan.inputs if item.id in inputs),
        cells=cells,
        holes=(),
        experiments=(),
        named=(),
        derived=(),
        baseline_id=(*baselines, plan.baseline_id)[0],
    )


def policy_of(
    policy: JudgePolicy, metrics: tuple[Metric, ...], margins: Mapping[Metric, float], level: float
) -> JudgePolicy:
    """Return a policy with the metrics, margins and level of a pass of the gate."""
    known = dict(policy.margins) | dict(margins)
    # A judgement needs one metric, even if no timed metric is gated and only memory is judged.
    return replace(policy, metrics=metrics or (WALL,), margins=tuple(known.items()), level=level)


def repetition(first: Gating) -> str:
    """Return the pairs that are measured again as a phrase."""
    suspicious = len(first.in_state("suspicious"))
    unstable = len(first.to_repeat) - suspicious
    counts = ((suspicious, "possible regression"), (unstable, "unstable comparison"))
    return " and ".join(counted(count, noun) for count, noun in counts if count)


def confirmation_plan(plan: Plan, first: Gating, record_id: str) -> Plan | None:
    """Return the plan of the second measurement, or `None` if no pair is measured again.

    It contains the cells of these pairs with their baseline and control, and as many rounds as the plan
    of the first one allows. Its family consists of these cells and all gated times, because any of
    them can confirm that a cell is worse. It has its own level, because its rounds are new.
    """
    repeated = first.to_repeat
    if not repeated:
        return None
    narrow = narrowed(plan, frozenset(pair.cell_id for pair in repeated))
    policy, measure = plan.judge.gate, plan.measure.in_one_session
    metrics = timed_metrics(policy)
    judged = policy_of(plan.judge, metrics, policy.tolerated, CONFIRMATION_LEVEL)
    memory = any(pair.metric == PEAK_RSS for pair in repeated)
    most = max(FEWEST_CONFIRMING, measure.rounds_max)
    note = Note(
        "What this record is",
        f"The gate measured {repetition(first)} of record {record_id} again, in new rounds with new copies of the "
        "files.",
    )
    return replace(
        narrow,
        judge=judged,
        further_baselines=(),
        contrasts=(),
        notes=(*plan.notes, note),
        instructions=None,
        profile=None,
        confirms=record_id,
        measure=replace(
            measure,
            rounds_min=FEWEST_CONFIRMING if memory else measure.rounds_min,
            rounds_max=most,
            until="conclusive",
            precision=None,
            strategy="fixed",
            seed=measure.seed + 1,
        ),
    )
