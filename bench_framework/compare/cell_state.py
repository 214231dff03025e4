"""State of each cell (measured, failed, another answer, another mode than requested), and refusals.

See `docs/method.md#states-without-a-comparison` and `docs/method.md#page-cache`.
"""

import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.compare.samples import (
    UNVERIFIED_SHARE,
    VOID_SHARE,
    Sample,
    cache_unverified,
)
from bench_framework.model.facts import Coverage
from bench_framework.model.plan.declared_metrics import DeclaredMetric
from bench_framework.model.plan.plan import CacheState, Cell, Plan, Role
from bench_framework.model.plan.policies import AnswerPolicy
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.description import announced_metrics, axis_values
from bench_framework.model.record.run import (
    OTHER_OUTPUT,
    OTHER_OUTPUT_COMPARED,
    Answer,
    Block,
    Build,
    Event,
)
from bench_framework.model.result.judgement import CellState, Comparison
from bench_framework.model.verdict import Verdict
from bench_framework.text.errors import new_event

NO_ANSWER = "none"
"""Setting of `answer.compare`, and source of an answer, if answers are not compared."""
EMPTY_DIGEST: Final = hashlib.sha256(b"").hexdigest()
"""Digest of an empty output."""
MOST_DIFFERENCES: Final = 3
"""Most outputs whose first difference is stated."""


def cell_states(
    plan: Plan,
    samples: Mapping[str, Sample],
    builds: Mapping[str, Build],
    warm_ups: Mapping[str, Sequence[Block]],
) -> tuple[CellState, ...]:
    """Return all states in plan order; `warm_ups` has the reason of a failure during warm-up."""
    expected = {
        item.id: _expected_answer(plan.answer, plan.baseline_cell(item.id), samples)
        for item in plan.inputs
    }
    states = []
    for cell in plan.cells:
        state = None if cell.id in samples else _given_up(cell, warm_ups.get(cell.id, ()))
        answer = expected[cell.input_id]
        if cell.role is Role.BOUND:
            answer = _expected_answer(plan.answer, cell, samples)
        states.append(state or _state(plan, cell, samples.get(cell.id), builds, answer))
    return tuple(states)


def coverage(plan: Plan, states: Sequence[CellState]) -> Coverage:
    """Return the number of planned configurations by state, without the A/A controls."""
    counts = Counter(s.state for s in states if plan.cell(s.cell_id).role is not Role.CONTROL)
    unselected, excluded = plan.left_out
    return Coverage(
        planned=counts.total(),
        measured=counts["measured"],
        failed=counts["failed"],
        other_output=counts["other-output"],
        not_comparable=counts["not-comparable"],
        not_started=counts["not-started"],
        not_selected=unselected,
        excluded=excluded,
    )


def other_outputs(plan: Plan, events: Iterable[Event]) -> tuple[list[Cell], list[Cell]]:
    """Return the baselines whose output varies from run to run, and the cells whose output differs from a stable one.

    Both are compared all the same. Differences from a baseline that varies say nothing about the other variants.
    """
    ids = [e.cell_id for e in events if e.code == OTHER_OUTPUT_COMPARED and e.cell_id]
    cells = [plan.cell(cell_id) for cell_id in ids]
    varying = [cell for cell in cells if cell.role is Role.BASELINE]
    inputs = {cell.input_id for cell in varying}
    return varying, [cell for cell in cells if cell.input_id not in inputs]


def output_reasons(
    plan: Plan, events: Sequence[Event], compared: Iterable[str] | None = None
) -> Iterator[Reason]:
    """Yield which baseline has another output in each run, and which variants have other outputs, and where.

    `plan` is that of the record, whose baseline the outputs were compared with. With `compared`, only these cells
    count, and their inputs.
    """
    chosen = {cell.id for cell in plan.cells} if compared is None else {*compared}
    inputs = {plan.cell(cell_id).input_id for cell_id in chosen}
    varying, differing = other_outputs(plan, events)
    varying = [cell for cell in varying if cell.input_id in inputs]
    differing = [cell for cell in differing if cell.id in chosen]

    def names(cells: Iterable[Cell]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(plan.variant(cell.variant_id).label for cell in cells))

    if varying:
        yield Reason(ReasonCode.OUTPUT_VARIES, names(varying))
    if differing:
        yield Reason(ReasonCode.OUTPUTS_DIFFER, names(differing))
        known = {*(cell.input_id for cell in varying), *(cell.id for cell in differing)}
        others = (cell for cell in plan.cells if cell.id in chosen and cell.role is Role.CANDIDATE)
        if any(not {cell.id, cell.input_id} & known for cell in others):
            yield Reason(ReasonCode.OTHERS_EQUAL)
        warned = (e for e in events if e.code == OTHER_OUTPUT_COMPARED and e.cell_id in known)
        yield from first_differences(plan, warned)


def first_differences(plan: Plan, events: Iterable[Event]) -> Iterator[Reason]:
    """Yield the first difference of each output, of at most `MOST_DIFFERENCES` events."""
    for event in itertools.islice(events, MOST_DIFFERENCES):
        if lines := first_difference(event):
            cell = plan.cell(event.cell_id or "")
            where = plan.input(cell.input_id).name or cell.label
            yield Reason(ReasonCode.FIRST_DIFFERENCE, lines, where)


def first_difference(event: Event) -> tuple[str, ...]:
    """Return where two outputs differ first, and this line of both; nothing for another event.

    It is the only detail of several lines.
    """
    texts = (text.split("\n") for _, text in event.details)
    known = event.code in (OTHER_OUTPUT, OTHER_OUTPUT_COMPARED)
    return next((tuple(lines) for lines in texts if known and len(lines) > 1), ())


def baseline_failure(plan: Plan, states: Sequence[CellState], input_id: str) -> Reason | None:
    """Return which configurations of an input failed, the baseline first; `None` unless it failed."""
    failed = {s.cell_id: s.reason for s in states if s.state == "failed" and s.reason}
    baseline = plan.baseline_cell(input_id)
    if baseline is None or baseline.id not in failed:
        return None
    failure = Reason(ReasonCode.BASELINE_FAILED, failed[baseline.id])
    others = tuple(
        Reason(ReasonCode.NAMED_FAILURE, (plan.variant(c.variant_id).label, failed[c.id]))
        for c in plan.cells_of(input_id)
        if c.role is Role.CANDIDATE and c.id in failed
    )
    if not others:
        return failure
    return Reason(ReasonCode.ALSO_FAILED, (failure, Reason(ReasonCode.LIST, others)))


def _given_up(cell: Cell, blocks: Sequence[Block]) -> CellState | None:
    """Return the state of a cell that failed during warm-up; `None` if the warm-up succeeded."""
    void = [block for block in blocks if block.void]
    if void:
        reason = Reason(ReasonCode.FAILED_IN_WARM_UP, void[0].failure)
        return CellState(cell.id, "failed", 0, len(void), reason)
    other = next((block for block in blocks if block.status == "other-output"), None)
    if other is None:
        return None
    return CellState(cell.id, "other-output", 0, 0, other.output_reason)


def _state(
    plan: Plan, cell: Cell, sample: Sample | None, builds: Mapping[str, Build], expected: str | None
) -> CellState:
    build = builds.get(plan.build_id(cell))
    if sample is None:
        if build is not None and not build.ok:
            return CellState(cell.id, "failed", 0, 0, build.failure)
        return CellState(cell.id, "not-started", 0, 0, Reason(ReasonCode.NO_ROUND))
    effective = effective_modes(sample)
    state = CellState(cell.id, "measured", len(sample.runs), len(sample.void), effective=effective)
    failed = [b for b in sample.blocks if b.void]
    if len(failed) > VOID_SHARE * sample.rounds:
        parts = failed[0].failure, failed[0].round, len(failed), sample.rounds
        reason = Reason(ReasonCode.FAILED_IN_ROUNDS, parts)
        return replace(state, state="failed", reason=reason)
    if len(sample.void) > UNVERIFIED_SHARE * sample.rounds:
        good = [b for b in sample.blocks if not b.void]
        return replace(state, state="not-comparable", reason=cache_refusal(cell, good))
    if (other := _other_output(sample, expected)) is not None:
        return replace(state, state="other-output", reason=other)
    good = [b for b in sample.blocks if b.round in sample.runs]
    empty = all(b.answer is not None and _is_empty(b.answer) for b in good)
    empty |= cell.role is Role.BOUND
    state = replace(state, cache=observed_cache(good), empty=empty)
    fallbacks = mode_fallbacks(plan, cell, effective, build)
    if not fallbacks:
        return state
    reason = Reason(ReasonCode.MODE_DIFFERS, fallbacks)
    return replace(state, state="not-comparable", reason=reason)


def _is_empty(answer: Answer) -> bool:
    return answer.digest == EMPTY_DIGEST and answer.source in {"stdout", "file"}


def _expected_answer(
    policy: AnswerPolicy, cell: Cell | None, samples: Mapping[str, Sample]
) -> str | None:
    """Return the most frequent answer digest of a cell; the earliest one if several are equal.

    The answer of the baseline is expected of all candidates, unless others are tolerated, or each
    was checked by itself.
    """
    unchecked = policy.compare == NO_ANSWER or policy.differs == "warn" or policy.check
    if unchecked or cell is None or cell.id not in samples:
        return None
    digests = Counter(_digests(samples[cell.id].blocks))
    return digests.most_common(1)[0][0] if digests else None


def _digests(blocks: Sequence[Block]) -> list[str]:
    return [
        b.answer.digest for b in blocks if b.answer is not None and b.answer.source != NO_ANSWER
    ]


def _other_output(sample: Sample, expected: str | None) -> Reason | None:
    flagged = next((b for b in sample.blocks if b.status == "other-output"), None)
    if flagged is not None:
        return flagged.output_reason
    others = [d for d in _digests(sample.blocks) if expected is not None and d != expected]
    if not others:
        return None
    count, rounds = len(others), len(sample.blocks)
    reason = Reason(ReasonCode.ANSWER_DIFFERS, (others[0][:12], (expected or "")[:12]))
    return reason if count == rounds else Reason(ReasonCode.IN_ROUNDS, (reason, count, rounds))


def effective_modes(sample: Sample) -> dict[str, str]:
    """Return axis → actual value. Several values are joined, the most frequent one first."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for receipt in (receipt for block in sample.blocks for receipt in block.receipts):
        for axis, value in receipt.effective.items():
            counts[axis][value] += 1
    return {
        axis: ", ".join(v for v, _ in sorted(c.items(), key=lambda kv: (-kv[1], kv[0])))
        for axis, c in sorted(counts.items())
    }


def mode_fallbacks(
    plan: Plan, cell: Cell, effective: Mapping[str, str], build: Build | None
) -> tuple[Reason, ...]:
    """Return the axes whose actual value is not the requested one, with both values.

    A value that the worker's `describe` does not list is the scenario's own name for something
    else. It is not checked against the receipt.
    """
    requested = plan.values_of(cell)
    fallbacks = []
    for axis, value in requested:
        known = _known_values(build, axis)
        actual = effective.get(axis)
        if actual is not None and actual != value and (known is None or value in known):
            fallbacks.append(Reason(ReasonCode.AXIS_DIFFERS, (axis, value, actual)))
    return tuple(fallbacks)


def _known_values(build: Build | None, axis: str) -> frozenset[str] | None:
    """Return the values that `describe` lists for an axis; `None` if it does not list the axis."""
    values = axis_values((build and build.describe) or {}, axis)
    return None if values is None else frozenset(str(value["name"]) for value in values)


def fallback_events(
    plan: Plan, states: Sequence[CellState], samples: Mapping[str, Sample]
) -> list[Event]:
    """Return BX305 for every cell whose actual mode is not the requested one."""
    return [
        new_event(
            "BX305",
            "warning",
            state.cell_id,
            label=plan.cell(state.cell_id).label,
            reason=state.reason,
            runs=sum(samples[state.cell_id].runs.values()),
        )
        for state in states
        # An unverified cache state has its own event (BX341, BX342) from the run that it affected.
        if state.reason is not None and state.reason.code is ReasonCode.MODE_DIFFERS
    ]


def exact_value(build: Build | None, metric: str) -> float | None:
    """Return a deterministic metric of a binary; `None` if it is unknown."""
    if build is None:
        return None
    known = {
        "binary_size": build.size_bytes,
        "stripped_size": build.stripped_bytes,
        "dependencies": build.dependencies,
    }
    value = known.get(metric)
    return float(value) if value is not None else None


def higher_is_better(
    metrics: Sequence[DeclaredMetric], builds: Mapping[str, Build]
) -> frozenset[str]:
    """Return the metrics that the scenario, or else a worker, declares as better when larger."""
    declared_here = {metric.name for metric in metrics}
    higher = {metric.name for metric in metrics if metric.direction == "higher"}
    for build in builds.values():
        announced = announced_metrics(build)
        names = {str(entry["name"]) for entry in announced if entry.get("direction") == "higher"}
        higher |= names - declared_here
    return frozenset(higher)


def observed_cache(blocks: Sequence[Block]) -> CacheState:
    """Return the state that was verified for every block; ``unknown`` if they differ."""
    states = {b.page_cache.state if b.page_cache is not None else "unknown" for b in blocks}
    return states.pop() if len(states) == 1 else "unknown"


def needed_caches(cells: Sequence[Cell]) -> dict[str, CacheState]:
    """Return cell id → state that must be verified for each run; its round is void otherwise.

    This applies to every cold cell, and to warm cells only in a plan with cold cells. In a plan
    without cold cells, an input that is larger than memory is partly read from disk by all variants
    equally.
    """
    any_cold = any(c.cache == "cold" for c in cells)
    return {c.id: c.cache for c in cells if c.cache == "cold" or (c.cache == "warm" and any_cold)}


def cache_refusal(cell: Cell, blocks: Sequence[Block]) -> Reason:
    """Return why a cell cannot be compared: its state was not verified in too many rounds."""
    unverified = [b for b in blocks if cache_unverified(b, cell.cache)]
    first = unverified[0]
    unchecked = Reason(ReasonCode.NOT_CHECKED)
    cause = first.page_cache.why if first.page_cache is not None else unchecked
    parts = len(unverified), len(blocks), cell.cache, first.round, cause
    return Reason(ReasonCode.CACHE_NOT_VERIFIED, parts)


def cold_inputs(plan: Plan, states: Sequence[CellState]) -> frozenset[str]:
    """Return the inputs on which every run of every measured cell began with a cold cache."""
    caches_of = defaultdict[str, set[CacheState]](set)
    for state in states:
        if state.state == "measured":
            caches_of[plan.cell(state.cell_id).input_id].add(state.cache)
    return frozenset(input_id for input_id, caches in caches_of.items() if caches == {"cold"})


def refuse_invalid(
    plan: Plan,
    comparison: Comparison,
    state_of: Mapping[str, CellState],
    samples: Mapping[str, Sample],
) -> Comparison:
    """Return a comparison as refused if one of its cells cannot be compared, or as a single run."""
    state, reference = state_of[comparison.cell_id], state_of[comparison.ref_cell_id]
    if state.state != "measured":
        verdict = state.refusal or Verdict.INCONCLUSIVE  # of a cell that was not started
        return replace(comparison, verdict=verdict, reason=state.reason)
    ref = plan.cell(comparison.ref_cell_id)
    if reference.state != "measured":
        reason = _of_reference(ref, reference.reason or Reason(ReasonCode.NOT_MEASURED))
        return replace(comparison, verdict=Verdict.NOT_COMPARABLE, reason=reason)
    runs = sum(samples[comparison.cell_id].runs.values())
    if runs == 1 and plan.measure.rounds_max == 1 and comparison.family != "exact":
        return replace(
            comparison, verdict=Verdict.SINGLE_RUN, reason=None, shown=None, unadjusted=None
        )
    if cause := samples[comparison.cell_id].incomplete.get(comparison.metric):
        return replace(comparison, verdict=Verdict.FAILED, reason=cause)
    if cause := samples[ref.id].incomplete.get(comparison.metric):
        reason = _of_reference(ref, cause)
        return replace(comparison, verdict=Verdict.NOT_COMPARABLE, reason=reason)
    return comparison


def _of_reference(cell: Cell, reason: Reason) -> Reason:
    """Return the reason of the cell that a comparison refers to."""
    if cell.role is Role.CANDIDATE:
        return Reason(ReasonCode.OF_REFERENCE, (cell.label, reason))
    return Reason(ReasonCode.OF_BASELINE, reason)
