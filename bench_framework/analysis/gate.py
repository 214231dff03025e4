"""The gate (METHOD 6): which candidates are worse than the baseline beyond what the scenario tolerates.

Two passes. The first judges the record's own rounds at 1 %; what looks worse there is only suspicious. The second is a
plan of its own, measured afresh with one look, and only what is worse there too fails the gate: each pass alone would
still blame one harmless change in a hundred, both together one in some thousands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.analysis.judge import MEMORY, judge
from bench_framework.errors import EXIT_DONE, EXIT_NOT_JUDGED, EXIT_NOT_MEASURED, EXIT_WORSE
from bench_framework.model.gate import GatedPair, Gating
from bench_framework.model.judgement import Comparison, Verdict
from bench_framework.model.looks import looks_of
from bench_framework.model.metrics import is_exact
from bench_framework.model.plan import Note, Role
from bench_framework.rounding import up_to_two_digits
from bench_framework.units import THIN_SPACE, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bench_framework.model.gate import PairState
    from bench_framework.model.judgement import Judgement
    from bench_framework.model.looks import Looks
    from bench_framework.model.plan import GatePolicy, Metric, Plan
    from bench_framework.model.run import Block, Build, Event, Look, PreparedInput

LEVEL: Final = 0.01
CONFIRMATION_LEVEL: Final = 0.05
FEWEST_CONFIRMING: Final = 18
LEAST_MEMORY_BYTES: Final = 1 << 20
"""Growth of peak memory that is not above this is no finding, whatever its share."""
BUILD_TIME: Final = "build_time"
"""One build is one run: it is told, and judged by nobody."""

_WORSE: Final = (Verdict.WORSE, Verdict.WORSE_SIZE_OPEN)
_BETTER: Final = (Verdict.BETTER, Verdict.BETTER_SIZE_OPEN)
_BROKEN: Final = (Verdict.FAILED, Verdict.OTHER_OUTPUT)


def timed_metrics(policy: GatePolicy) -> tuple[Metric, ...]:
    """The gated metrics that are judged by rounds: not memory, not the build, and nothing that is exact."""
    others = (MEMORY, BUILD_TIME)
    return tuple(m for m in policy.tolerated if m not in others and not is_exact(m))


def strict_plan(plan: Plan) -> Plan:
    """The plan as the gate judges it: its metrics and margins, at the level of the gate."""
    return _judged_by(plan, timed_metrics(plan.judge.gate), plan.judge.gate.tolerated, LEVEL)


def strict_looks(plan: Plan) -> Looks:
    """The looks of the record as the gate counts them: all that could have been taken, for the gate's own family."""
    return looks_of(plan).shared_by(strict_plan(plan).comparisons_planned, LEVEL)


def _judged_by(
    plan: Plan, metrics: tuple[Metric, ...], margins: Mapping[Metric, float], level: float
) -> Plan:  # fmt: skip
    known = dict(plan.judge.margins) | dict(margins)
    # With no timed metric there is still memory to judge, and a judgement needs one metric.
    judged = replace(plan.judge, metrics=metrics or ("wall",), margins=tuple(known.items()), level=level)
    return replace(plan, judge=judged, further_baselines=())


def rounds_needed(plan: Plan) -> int | None:
    """Rounds without which this gate can find nothing; `None` if the plan has them."""
    looks = strict_looks(plan)
    return None if looks.decidable or not timed_metrics(plan.judge.gate) else looks.needed


def first_pass(
    plan: Plan,
    blocks: Sequence[Block],
    builds: Mapping[str, Build],
    inputs: Sequence[PreparedInput],
    looks_taken: Sequence[Look],
    noted: Sequence[Event] = (),
) -> Gating:
    """Judge the rounds of a record; what looks worse is suspicious.

    Arguments as of `judge`. Exact metrics (binary size) need no second pass: their difference is a fact.
    """
    strict, policy = strict_plan(plan), plan.judge.gate
    judged = judge(strict, blocks, builds, inputs, looks_taken, noted=noted, looks=strict_looks(plan))
    found = _sentences(judged)
    exact = tuple(m for m in policy.tolerated if is_exact(m))
    if exact:
        facts = _judged_by(plan, exact, policy.tolerated, LEVEL)
        found |= _sentences(judge(facts, blocks, builds, inputs, looks_taken, noted=noted))
    medians_of = {s.cell_id: s.median for s in judged.summaries if s.metric == MEMORY}
    pairs = []
    for cell in plan.cells:
        baseline = plan.baseline_cell(cell.input_id)
        if cell.role is not Role.CANDIDATE or baseline is None:
            continue
        grown = medians_of.get(cell.id, 0.0) - medians_of.get(baseline.id, 0.0)
        for metric, margin in policy.tolerated.items():
            pair = found.get((cell.id, metric)) or _unknown(cell.id, baseline.id, metric, margin)
            pairs.append(_first(*pair, margin, policy, grown))
    looks = judged.looks
    rounds = max((look.round for look in looks_taken), default=0)
    return conclude(
        Gating(tuple(pairs), LEVEL, looks.family, looks.count, rounds, EXIT_DONE, ()),
        policy,
    )


def _sentences(judged: Judgement) -> dict[tuple[str, Metric], tuple[Comparison, str]]:
    """Candidate and metric to its comparison with the baseline, and the sentence of that."""
    families = ("headline", "memory", "exact")
    text = {
        (claim.cells, claim.metric): claim.text
        for claim in judged.claims if claim.kind in ("comparison", "memory")
    }  # fmt: skip
    return {
        (c.cell_id, c.metric): (c, text.get(((c.cell_id, c.ref_cell_id), c.metric), ""))
        for c in judged.comparisons if c.family in families
    }  # fmt: skip


def _unknown(cell_id: str, ref_cell_id: str, metric: Metric, margin: float) -> tuple[Comparison, str]:
    reason = "one build is one run" if metric == BUILD_TIME else f"{metric} is not known of both"
    missing = Comparison(cell_id, ref_cell_id, metric, "headline", Verdict.UNDECIDED, reason, margin=margin)
    return missing, ""


def _first(
    comparison: Comparison, text: str, margin: float, policy: GatePolicy, grown_bytes: float
) -> GatedPair:  # fmt: skip
    state, why = _state(comparison, margin, policy, grown_bytes)
    return GatedPair(comparison.cell_id, comparison.metric, margin, state, comparison, text, why)


def _state(
    c: Comparison, margin: float, policy: GatePolicy, grown_bytes: float
) -> tuple[PairState, str]:  # fmt: skip
    if c.verdict in _BROKEN:
        return "failed", c.reason
    if c.verdict is Verdict.NOT_COMPARABLE:
        return "not-comparable", c.reason
    if c.verdict in _WORSE and c.shown is not None:
        return _worse(c, c.shown.ratio - 1, margin, grown_bytes)
    if c.verdict in (*_BETTER, Verdict.EQUIVALENT):
        return "passed", ""
    if c.mde is not None and c.mde <= policy.detect and not c.reason:
        return "passed", f"not decided; growth of {_short(c.mde)} would have been found"
    if c.mde is not None and not c.reason:
        return "not-judged", f"could not judge below {_short(c.mde)}"
    return "not-judged", c.reason or "the runs do not decide"


def _worse(c: Comparison, growth: float, margin: float, grown_bytes: float) -> tuple[PairState, str]:
    if growth <= margin:
        return "passed", f"{_short(growth)} more, and {format_percent(margin)} is tolerated"
    if c.metric == MEMORY and grown_bytes <= LEAST_MEMORY_BYTES:
        return "passed", "not more than 1 MiB"
    if c.family == "exact":
        return "worse", "exact"
    return "suspicious", ""


def _short(fraction: float) -> str:
    return f"{up_to_two_digits(fraction * 100)}{THIN_SPACE}%"


def confirmation_plan(plan: Plan, first: Gating, record_id: str) -> Plan | None:
    """What is measured again: the suspicious cells with their baseline, all rounds, one look; `None` without any.

    Its family is made of the suspicious cells and metrics; its rounds are fresh, so its level is its own.
    """
    suspicious = first.of("suspicious")
    if not suspicious:
        return None
    ids = {pair.cell_id for pair in suspicious}
    inputs = {plan.cell(cell_id).input_id for cell_id in ids}
    kept = tuple(
        cell for cell in plan.cells
        if cell.id in ids or (cell.input_id in inputs and cell.role in (Role.BASELINE, Role.CONTROL))
    )  # fmt: skip
    variants = {cell.variant_id for cell in kept}
    builds = {v.build.id for v in plan.variants if v.id in variants and v.build is not None}
    rounds = max(FEWEST_CONFIRMING, first.rounds)
    policy = plan.judge.gate
    metrics = tuple(m for m in timed_metrics(policy) if any(pair.metric == m for pair in suspicious))
    judged = _judged_by(plan, metrics, policy.tolerated, CONFIRMATION_LEVEL)
    note = Note(
        "What this record is",
        f"The gate measured again what looked worse in record {record_id}: fresh rounds, one look.",
    )
    return replace(
        judged,
        builds=tuple(build for build in plan.builds if build.id in builds),
        variants=tuple(v for v in plan.variants if v.id in variants),
        inputs=tuple(item for item in plan.inputs if item.id in inputs),
        cells=kept, holes=(), ideas=(), named=(), derived=(), notes=(*plan.notes, note),
        measure=replace(
            plan.measure, rounds_min=rounds, rounds_max=rounds, until="rounds", precision=None, budget_s=None,
            strategy="fixed", seed=plan.measure.seed + 1,
        ),
    )  # fmt: skip


def second_pass(plan: Plan, first: Gating, again: Judgement, record_id: str) -> Gating:
    """What became of the suspicious pairs when they were measured again.

    Args:
        plan: of the first pass.
        first: with suspicious pairs.
        again: the judgement of `confirmation_plan`.
        record_id: of the record that holds it.
    """
    found = _sentences(again)
    pairs = tuple(
        pair
        if pair.state != "suspicious"
        else _second(pair, *found.get((pair.cell_id, pair.metric), (None, "")))
        for pair in first.pairs
    )
    return conclude(replace(first, pairs=pairs, confirmation=record_id), plan.judge.gate)


def _second(pair: GatedPair, c: Comparison | None, text: str) -> GatedPair:
    told = replace(pair, again=c, again_text=text)
    if c is None:
        return replace(
            told, state="not-judged", why="looked worse, and was not measured when it was tried again"
        )
    if c.verdict in _BROKEN:
        return replace(told, state="failed", why=f"looked worse, and when it was measured again: {c.reason}")
    if c.verdict in _WORSE:
        return replace(told, state="worse", why="confirmed in fresh rounds")
    if c.verdict is Verdict.NOT_COMPARABLE or c.reason:
        why = f"looked worse, and when it was measured again: {c.reason}"
        return replace(told, state="not-judged", why=why)
    return replace(told, state="passed", why="looked worse, and was not when it was measured again")


def conclude(gating: Gating, policy: GatePolicy) -> Gating:
    """The exit code with its reasons: 3 before 1 before 4 (HOUSE 8)."""
    code, reasons = EXIT_DONE, list[str]()
    for found, said in (
        (EXIT_NOT_MEASURED, _counted(gating.of("failed"), "could not be measured")),
        (EXIT_WORSE, _counted(gating.of("worse"), "worse than is tolerated")),
        (EXIT_NOT_JUDGED, _unjudged(gating, policy)),
    ):
        reasons += said
        code = code or (found if said else EXIT_DONE)
    return replace(gating, exit_code=code, reasons=tuple(reasons))


def _counted(pairs: Sequence[GatedPair], what: str) -> list[str]:
    if not pairs:
        return []
    return [f"{len(pairs)} comparison{'s' if len(pairs) != 1 else ''}: {what}"]


def _unjudged(gating: Gating, policy: GatePolicy) -> list[str]:
    said = _counted(gating.of("not-comparable"), "not comparable")
    said += _counted(gating.of("suspicious"), "looks worse and was not measured again")
    if not gating.pairs:
        return ["nothing was compared: no candidate has a baseline"]
    open_ = [pair for pair in gating.pairs if pair.state == "not-judged"]
    if policy.on_undecided == "fail":
        return said + _counted(open_, "not judged, and `on_undecided` is `fail`")
    said += [
        f"{metric}: not judged, and `require` names it"
        for metric in policy.require if any(pair.metric == metric for pair in open_)
    ]  # fmt: skip
    timed = timed_metrics(policy)
    blind = [
        cell_id for cell_id in dict.fromkeys(pair.cell_id for pair in gating.pairs)
        if timed and all(p.state == "not-judged" for p in _timed_of(gating.pairs, cell_id, timed))
    ]  # fmt: skip
    if blind:
        said.append(f"{len(blind)} cell{'s' if len(blind) != 1 else ''}: no gated time could be judged")
    return said


def _timed_of(pairs: Iterable[GatedPair], cell_id: str, timed: tuple[Metric, ...]) -> list[GatedPair]:
    return [pair for pair in pairs if pair.cell_id == cell_id and pair.metric in timed]
