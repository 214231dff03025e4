"""The gate: candidates that are worse than the baseline by more than the tolerated change.

The gate has two passes. The first judges the rounds of the record at 1 %. A worse result is only
suspicious. The second measures the suspicious candidates again at 5 %, with a separate plan. Only a
candidate that is worse in both passes fails the gate, on any gated time. A candidate that the
second pass cannot judge is not judged. See `docs/reference/gate.md#two-passes`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.compare import same_programs
from bench_framework.compare.exact_metrics import INSTRUCTIONS
from bench_framework.errors import EXIT_DONE
from bench_framework.features.gate import budgets, outcome
from bench_framework.features.judge import judge
from bench_framework.model.gate import GatedPair, Gating, PairState
from bench_framework.model.judgement import Comparison, Judgement
from bench_framework.model.metrics import PEAK_RSS, is_exact
from bench_framework.model.plan import Plan, Role
from bench_framework.model.policies import Accepted, GatePolicy, Metric
from bench_framework.model.run import Block, Build, Event, Look, Observation, PreparedInput
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import up_to_two_digits
from bench_framework.units import THIN_SPACE, format_percent

LEAST_MEMORY_BYTES: Final = 1 << 20
"""The largest growth of peak memory that is not a finding, whatever its share."""
UNCOUNTED: Final = "BX250"
"""The code of the warning that instructions cannot be counted on this machine."""
COUNTED: Final = "counted because a time could not be judged"
ONE_PROGRAM: Final = "one program: both revisions or variants were built to the same code"

_BROKEN: Final = (Verdict.FAILED, Verdict.OTHER_OUTPUT)


def within(c: Comparison, margin: float) -> bool:
    """Return whether the reported interval excludes every growth beyond the margin."""
    return c.shown is not None and c.shown.hi <= 1 + margin


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
    strict, policy = outcome.strict_plan(plan), plan.judge.gate
    if not any(cell.role is Role.CANDIDATE for cell in strict.cells):
        return outcome.conclude(Gating((), outcome.LEVEL, 0, 0, 0, EXIT_DONE, ()), policy)
    judged = judge(strict, blocks, builds, inputs, looks_taken, looks=outcome.strict_looks(plan))
    by_pair = _sentences(judged)
    exact = tuple(m for m in policy.tolerated if is_exact(m))
    if exact:
        facts = outcome.judged_by(strict, exact, policy.tolerated, outcome.LEVEL)
        by_pair |= _sentences(judge(facts, blocks, builds, inputs, looks_taken, observed=observed))
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
            one_program = frozenset((cell.id, baseline.id)) in same
            if one_program and gated_pair.comparison.family != "exact":
                gated_pair = _one_program(gated_pair)
            if metric == INSTRUCTIONS and gated_pair.state == "not-judged" and uncounted:
                gated_pair = replace(gated_pair, reason=uncounted)
            pairs.append(gated_pair)
    open_ = frozenset(pair.cell_id for pair in pairs if time_not_judged(pair))
    pairs += counted_pairs(strict, open_, blocks, builds, inputs, looks_taken, observed)
    family, looks = judged.looks.family, judged.looks.count
    rounds = max((look.round for look in looks_taken), default=0)
    findings = budgets.judge_budgets(plan, blocks, builds, observed, looks=looks)
    gating = Gating(
        tuple(pairs), outcome.LEVEL, family, looks, rounds, EXIT_DONE, (), budgets=findings
    )
    return outcome.conclude(outcome.accept(gating, accepted, day), policy)


def time_not_judged(pair: GatedPair) -> bool:
    """Return whether a pair is about a time, and could not be judged."""
    return pair.state == "not-judged" and not is_exact(pair.metric) and pair.metric != PEAK_RSS


def counted_pairs(
    plan: Plan,
    cell_ids: frozenset[str],
    blocks: Sequence[Block],
    builds: Mapping[str, Build],
    inputs: Sequence[PreparedInput],
    looks_taken: Sequence[Look],
    observed: Sequence[Observation],
) -> list[GatedPair]:
    """Judge the counted instructions of cells whose times could not be judged.

    The smallest margin of the gated times applies. A larger count is worse. A smaller or equal one
    does not show that the times are no longer: they remain not judged. Cells without counts, and
    plans whose gate judges instructions anyway, give no pair.
    """
    policy = plan.judge.gate
    counted = {o.cell_id for o in observed if o.kind == INSTRUCTIONS and o.status == "ok"}
    if INSTRUCTIONS in policy.tolerated or not cell_ids & counted:
        return []
    margin = min(policy.tolerated[metric] for metric in outcome.timed_metrics(policy))
    chosen = outcome.narrowed(plan, cell_ids & counted)
    facts = outcome.judged_by(chosen, (INSTRUCTIONS,), {INSTRUCTIONS: margin}, outcome.LEVEL)
    judged = judge(facts, blocks, builds, inputs, looks_taken, observed=observed)
    pairs = []
    for (cell_id, metric), (c, text) in _sentences(judged).items():
        if metric == INSTRUCTIONS and cell_id in cell_ids:
            pair = _first(c, text, margin, policy, 0.0)
            pairs.append(replace(pair, reason=f"{COUNTED}; {pair.reason}"))
    return pairs


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
    unknown = f"{metric} is not known for both sides"
    reason = "a build is a single run" if metric == outcome.BUILD_TIME else unknown
    ids, verdict = (cell_id, ref_cell_id), Verdict.INCONCLUSIVE
    return Comparison(*ids, metric, "headline", verdict, reason, margin=margin), ""


def _first(
    comparison: Comparison, text: str, margin: float, policy: GatePolicy, grown_bytes: float
) -> GatedPair:
    state, reason = pair_state(comparison, margin, policy, grown_bytes)
    return GatedPair(comparison.cell_id, comparison.metric, margin, state, comparison, text, reason)


def pair_state(
    c: Comparison, margin: float, policy: GatePolicy, grown_bytes: float
) -> tuple[PairState, str]:
    """Return the state of a pair after the first measurement, and the reason for it."""
    if c.verdict in _BROKEN:
        return "failed", c.reason
    if c.verdict is Verdict.NOT_COMPARABLE:
        return "not-comparable", c.reason
    if c.verdict.worse and c.shown is not None:
        return _worse(c, c.shown.ratio - 1, margin, grown_bytes)
    if c.verdict.better or c.verdict is Verdict.EQUIVALENT:
        return "passed", ""
    if within(c, margin):
        return "passed", "inconclusive, but not worse by more than the tolerated change"
    if c.mde is not None and not c.reason:
        if c.mde <= policy.detect:
            detected = f"an increase of {format_percent(policy.detect)} would have been detected"
            return "passed", f"inconclusive, but {detected}"
        return "not-judged", f"inconclusive: minimum detectable effect {_short(c.mde)}"
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


def second_pass(
    plan: Plan, first: Gating, again: Judgement, record_id: str, counted: Sequence[GatedPair] = ()
) -> Gating:
    """Return the gating with the results of the second measurement.

    `again` is the judgement of `confirmation_plan`, and `counted` has the instructions that were
    counted there.
    """
    by_pair = _sentences(again)
    pairs = list(first.pairs)
    for i, pair in enumerate(pairs):
        if pair.state == "suspicious":
            c, text = by_pair.get((pair.cell_id, pair.metric), (None, ""))
            state, reason = confirmed(c, pair.margin)
            reason = f"{reason}; {pair.reason}" if pair.reason else reason
            pairs[i] = replace(pair, again=c, again_text=text, state=state, reason=reason)
    unconfirmed = {p.cell_id for p in pairs if p.again} - {
        p.cell_id for p in pairs if p.state == "worse"
    }
    for i, pair in enumerate(pairs):
        c, text = by_pair.get((pair.cell_id, pair.metric), (None, ""))
        if c is not None and pair.cell_id in unconfirmed and pair.again is None:
            pairs[i] = _confirming(pair, c, text)
    known = {pair.cell_id for pair in pairs if pair.metric == INSTRUCTIONS}
    pairs += [pair for pair in counted if pair.cell_id not in known]
    return outcome.conclude(
        replace(first, pairs=tuple(pairs), confirmation=record_id), plan.judge.gate
    )


def _confirming(pair: GatedPair, c: Comparison, text: str) -> GatedPair:
    """Return another time of a suspicious cell, which is worse if it alone confirms a regression."""
    exceeds = c.verdict.worse and c.shown is not None and c.shown.ratio - 1 > pair.margin
    if pair.state not in ("passed", "not-judged") or not exceeds:
        return pair
    reason = "worse in the second measurement; in the first one, another metric was worse"
    return replace(pair, again=c, again_text=text, state="worse", reason=reason)


def confirmed(c: Comparison | None, margin: float) -> tuple[PairState, str]:
    """Return the state of a pair after the second measurement, and the reason for it."""
    if c is None:
        return "not-judged", "worse in the first measurement; the second one has no result"
    if c.verdict.worse:
        return "worse", "regression confirmed"
    if c.verdict.better or c.verdict is Verdict.EQUIVALENT or within(c, margin):
        return "passed", "worse in the first measurement, but not in the second one"
    mde = f", minimum detectable effect {_short(c.mde)}" if c.mde is not None else ""
    cause = c.reason or f"inconclusive{mde}"
    state: PairState = "failed" if c.verdict in _BROKEN else "not-judged"
    return state, f"worse in the first measurement; in the second one: {cause}"
