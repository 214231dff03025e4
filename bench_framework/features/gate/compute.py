"""The gate: candidates that are worse than the baseline by more than the tolerated change.

The gate has two passes. The first judges the rounds of the record at 1 %. A worse result is only
suspicious. The second measures the suspicious candidates again, with a separate plan and a single
interim analysis. Only a candidate that is worse in both passes fails the gate. Each pass alone
would flag one harmless change in a hundred, both together one in some thousands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.compare import same_programs
from bench_framework.compare.exact_metrics import INSTRUCTIONS
from bench_framework.errors import EXIT_DONE
from bench_framework.features.gate import budgets
from bench_framework.features.gate.outcome import BUILD_TIME, accept, conclude, timed_metrics
from bench_framework.features.judge import judge
from bench_framework.model.gate import GatedPair, Gating
from bench_framework.model.judgement import Comparison
from bench_framework.model.looks import looks_of
from bench_framework.model.metrics import PEAK_RSS, WALL, is_exact
from bench_framework.model.plan import Note, Role
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import up_to_two_digits
from bench_framework.units import THIN_SPACE, format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.model.gate import PairState
    from bench_framework.model.judgement import Judgement
    from bench_framework.model.looks import Looks
    from bench_framework.model.plan import Plan
    from bench_framework.model.policies import Accepted, GatePolicy, Metric
    from bench_framework.model.run import Block, Build, Event, Look, Observation, PreparedInput

LEVEL: Final = 0.01
CONFIRMATION_LEVEL: Final = 0.05
FEWEST_CONFIRMING: Final = 18
LEAST_MEMORY_BYTES: Final = 1 << 20
"""The largest growth of peak memory that is not a finding, whatever its share."""
UNCOUNTED: Final = "BX250"
"""The code of the warning that instructions cannot be counted on this machine."""
ONE_PROGRAM: Final = "one program: both revisions or variants were built to the same code"

_BROKEN: Final = (Verdict.FAILED, Verdict.OTHER_OUTPUT)


def strict_plan(plan: Plan) -> Plan:
    """Return the plan as the gate judges it.

    It has the cells, metrics, margins and level of the gate.
    """
    chosen = plan.judge.gate.chosen
    narrow = plan if chosen is None else _narrowed(plan, frozenset(chosen))
    return _judged_by(narrow, timed_metrics(plan.judge.gate), plan.judge.gate.tolerated, LEVEL)


def _narrowed(plan: Plan, ids: frozenset[str]) -> Plan:
    """Return the plan with only these candidates.

    The baseline and the A/A control of their inputs remain.
    """
    inputs = {
        cell.input_id for cell in plan.cells if cell.id in ids and cell.role is Role.CANDIDATE
    }
    cells = tuple(
        cell
        for cell in plan.cells
        if (cell.id in ids and cell.role is Role.CANDIDATE)
        or (cell.input_id in inputs and cell.role in (Role.BASELINE, Role.CONTROL))
    )
    baselines = [cell.variant_id for cell in cells if cell.role is Role.BASELINE]
    variants = {cell.variant_id for cell in cells}
    builds = {v.build.id for v in plan.variants if v.id in variants and v.build is not None}
    return replace(
        plan,
        builds=tuple(build for build in plan.builds if build.id in builds),
        variants=tuple(v for v in plan.variants if v.id in variants),
        inputs=tuple(item for item in plan.inputs if item.id in inputs),
        cells=cells,
        holes=(),
        experiments=(),
        named=(),
        derived=(),
        baseline_id=(*baselines, plan.baseline_id)[0],
    )


def strict_looks(plan: Plan) -> Looks:
    """Return the interim analyses of the record as the gate counts them.

    They include every interim analysis that was possible, for the family of the gate.
    """
    return looks_of(plan).shared_by(strict_plan(plan).comparisons_planned, LEVEL)


def _judged_by(
    plan: Plan, metrics: tuple[Metric, ...], margins: Mapping[Metric, float], level: float
) -> Plan:
    known = dict(plan.judge.margins) | dict(margins)
    # A judgement needs one metric, even if no timed metric is gated and only memory is judged.
    judged = replace(
        plan.judge, metrics=metrics or (WALL,), margins=tuple(known.items()), level=level
    )
    return replace(plan, judge=judged, further_baselines=())


def rounds_needed(plan: Plan) -> int | None:
    """Return the rounds that this gate needs for any finding, or `None` if the plan has them."""
    looks = strict_looks(plan)
    return None if looks.decidable or not timed_metrics(plan.judge.gate) else looks.needed


def first_pass(
    plan: Plan,
    blocks: Sequence[Block],
    builds: Mapping[str, Build],
    inputs: Sequence[PreparedInput],
    looks_taken: Sequence[Look],
    noted: Sequence[Event] = (),
    observed: Sequence[Observation] = (),
    *,
    accepted: Sequence[Accepted] = (),
    day: str = "",
) -> Gating:
    """Judge the rounds of a record. A pair that is worse becomes suspicious.

    The arguments are those of `judge`, the accepted changes, and the start date of the record.
    Exact metrics (binary size, instructions) need no second pass, because their difference is
    certain.
    """
    strict, policy = strict_plan(plan), plan.judge.gate
    if not any(cell.role is Role.CANDIDATE for cell in strict.cells):
        return conclude(Gating((), LEVEL, 0, 0, 0, EXIT_DONE, ()), policy)
    judged = judge(
        strict, blocks, builds, inputs, looks_taken, noted=noted, looks=strict_looks(plan)
    )
    by_pair = _sentences(judged)
    exact = tuple(m for m in policy.tolerated if is_exact(m))
    if exact:
        facts = _judged_by(strict, exact, policy.tolerated, LEVEL)
        by_pair |= _sentences(
            judge(facts, blocks, builds, inputs, looks_taken, noted=noted, observed=observed)
        )
    same = same_programs.same_cells(strict, builds)
    uncounted = next((event.message for event in noted if event.code == UNCOUNTED), "")
    medians_of = {s.cell_id: s.median for s in judged.summaries if s.metric == PEAK_RSS}
    pairs = []
    for cell in strict.cells:
        baseline = strict.baseline_cell(cell.input_id)
        if cell.role is not Role.CANDIDATE or baseline is None:
            continue
        grown = medians_of.get(cell.id, 0.0) - medians_of.get(baseline.id, 0.0)
        for metric, margin in policy.tolerated.items():
            pair = by_pair.get((cell.id, metric)) or _unknown(cell.id, baseline.id, metric, margin)
            gated_pair = _first(*pair, margin, policy, grown)
            if (
                frozenset((cell.id, baseline.id)) in same
                and gated_pair.comparison.family != "exact"
            ):
                gated_pair = _one_program(gated_pair)
            if metric == INSTRUCTIONS and gated_pair.state == "not-judged" and uncounted:
                gated_pair = replace(gated_pair, reason=uncounted)
            pairs.append(gated_pair)
    looks = judged.looks
    rounds = max((look.round for look in looks_taken), default=0)
    budget_findings = budgets.judge_budgets(plan, blocks, builds, observed, looks=looks.count)
    gating = Gating(
        tuple(pairs),
        LEVEL,
        looks.family,
        looks.count,
        rounds,
        EXIT_DONE,
        (),
        budgets=budget_findings,
    )
    return conclude(accept(gating, accepted, day), policy)


def _one_program(pair: GatedPair) -> GatedPair:
    """Return a pair whose two cells run the same code as passed, whatever its rounds show."""
    if pair.state in ("failed", "not-comparable"):
        return pair
    return replace(pair, state="passed", reason=ONE_PROGRAM)


def _sentences(judged: Judgement) -> dict[tuple[str, Metric], tuple[Comparison, str]]:
    """Return (candidate, metric) → its comparison with the baseline, and the sentence of it."""
    families = ("headline", "memory", "exact")
    text = {
        (claim.cells, claim.metric): claim.text
        for claim in judged.claims
        if claim.kind in ("comparison", "memory")
    }
    return {
        (c.cell_id, c.metric): (c, text.get(((c.cell_id, c.ref_cell_id), c.metric), ""))
        for c in judged.comparisons
        if c.family in families
    }


def _unknown(
    cell_id: str, ref_cell_id: str, metric: Metric, margin: float
) -> tuple[Comparison, str]:
    reason = (
        "a build is a single run"
        if metric == BUILD_TIME
        else f"{metric} is not known for both sides"
    )
    missing = Comparison(
        cell_id, ref_cell_id, metric, "headline", Verdict.INCONCLUSIVE, reason, margin=margin
    )
    return missing, ""


def _first(
    comparison: Comparison, text: str, margin: float, policy: GatePolicy, grown_bytes: float
) -> GatedPair:
    state, reason = _state(comparison, margin, policy, grown_bytes)
    return GatedPair(comparison.cell_id, comparison.metric, margin, state, comparison, text, reason)


def _state(
    c: Comparison, margin: float, policy: GatePolicy, grown_bytes: float
) -> tuple[PairState, str]:
    if c.verdict in _BROKEN:
        return "failed", c.reason
    if c.verdict is Verdict.NOT_COMPARABLE:
        return "not-comparable", c.reason
    if c.verdict.worse and c.shown is not None:
        return _worse(c, c.shown.ratio - 1, margin, grown_bytes)
    if c.verdict.better or c.verdict is Verdict.EQUIVALENT:
        return "passed", ""
    if c.mde is not None and not c.reason:
        state: PairState = "passed" if c.mde <= policy.detect else "not-judged"
        return state, f"inconclusive: minimum detectable effect {_short(c.mde)}"
    return "not-judged", c.reason or "inconclusive"


def _worse(
    c: Comparison, growth: float, margin: float, grown_bytes: float
) -> tuple[PairState, str]:
    if growth <= margin:
        return "passed", f"{_short(growth)} more, and {format_percent(margin)} is tolerated"
    if c.metric == PEAK_RSS and grown_bytes <= LEAST_MEMORY_BYTES:
        return "passed", "not more than 1 MiB"
    if c.family == "exact" and c.shown is not None:
        if c.shown.lo == c.shown.hi:
            return "worse", "exact"
        # Without a second pass, only a change that is beyond the margin as a whole may fail the
        # gate.
        if c.verdict is Verdict.WORSE:
            return "worse", "its counts vary between runs by less than the difference"
        return "not-judged", "its counts vary between runs, and some reach the margin"
    return "suspicious", ""


def _short(fraction: float) -> str:
    return f"{up_to_two_digits(fraction * 100)}{THIN_SPACE}%"


def confirmation_plan(plan: Plan, first: Gating, record_id: str) -> Plan | None:
    """Return the plan of the second measurement, or `None` if no pair is suspicious.

    It contains the suspicious cells with their baseline, all rounds and one interim analysis. Its
    family consists of the suspicious cells and metrics. It has its own level, because its rounds
    are new.
    """
    suspicious = first.in_state("suspicious")
    if not suspicious:
        return None
    narrow = _narrowed(plan, frozenset(pair.cell_id for pair in suspicious))
    rounds = max(FEWEST_CONFIRMING, first.rounds)
    policy = plan.judge.gate
    metrics = tuple(
        m for m in timed_metrics(policy) if any(pair.metric == m for pair in suspicious)
    )
    judged = _judged_by(narrow, metrics, policy.tolerated, CONFIRMATION_LEVEL)
    note = Note(
        "What this record is",
        f"The gate measured the suspicious pairs of record {record_id} again: fresh rounds, one "
        "interim analysis.",
    )
    return replace(
        judged,
        notes=(*plan.notes, note),
        instructions=None,
        profile=None,
        confirms=record_id,
        measure=replace(
            plan.measure,
            rounds_min=rounds,
            rounds_max=rounds,
            until="rounds",
            precision=None,
            budget_s=None,
            strategy="fixed",
            seed=plan.measure.seed + 1,
        ),
    )


def second_pass(plan: Plan, first: Gating, again: Judgement, record_id: str) -> Gating:
    """Return the gating with the results of the second measurement.

    Args:
        plan: plan of the first pass.
        first: result of the first pass, with suspicious pairs.
        again: judgement of `confirmation_plan`.
        record_id: id of the record of the second measurement.
    """
    by_pair = _sentences(again)
    pairs = tuple(
        pair
        if pair.state != "suspicious"
        else _second(pair, *by_pair.get((pair.cell_id, pair.metric), (None, "")))
        for pair in first.pairs
    )
    return conclude(replace(first, pairs=pairs, confirmation=record_id), plan.judge.gate)


def _second(pair: GatedPair, c: Comparison | None, text: str) -> GatedPair:
    state, reason = _confirmed(c)
    return replace(pair, again=c, again_text=text, state=state, reason=reason)


def _confirmed(c: Comparison | None) -> tuple[PairState, str]:
    if c is None:
        return "not-judged", "worse in the first measurement; the second one has no result"
    if c.verdict.worse:
        return "worse", "confirmed in fresh rounds"
    broken = c.verdict in _BROKEN
    if broken or c.verdict is Verdict.NOT_COMPARABLE or c.reason:
        reason = f"worse in the first measurement; in the second one: {c.reason}"
        return "failed" if broken else "not-judged", reason
    return "passed", "worse in the first measurement, but not in the second one"
