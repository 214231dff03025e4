"""The stopping rule of the gate, and the instructions that it counts where times cannot be judged."""

import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from bench_framework.compare import interim_analysis, stopping
from bench_framework.compare.interim_analysis import Analysis
from bench_framework.compare.same_programs import same_cells
from bench_framework.compare.stopping import CONCLUSIVE, FUTILE
from bench_framework.features.gate import compute, outcome, plans
from bench_framework.features.gate.question import answer, question_of
from bench_framework.model.metrics import COUNTED, PEAK_RSS
from bench_framework.model.plan.declared_metrics import COUNTS_OF_GATE
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.planned_comparisons import baseline_pairs
from bench_framework.model.reasons import BUILT_ALIKE, CONTROL_DIFFERS, Reason, ReasonCode
from bench_framework.model.record.run import Build, Look
from bench_framework.model.result.gate import PairState
from bench_framework.model.result.interim import LookOutcome
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.result.race import may_leave
from bench_framework.model.verdict import Verdict
from bench_framework.store.journal import Contents

MOST_TIMES: Final = 2.0
"""Most time for counting what explains a regression, as a multiple of the measuring time of both passes."""
FEWEST_FOR_MEMORY: Final = 30
"""Fewest rounds of a gate of memory and no time. After 12, the interval of a median at its level ends at the extreme
values; after 30, near the quartiles. It does not depend on the results, because memory is judged once."""
ONE_ROUND: Final = Reason(ReasonCode.GATE_SAME_PROGRAM)
JUDGED: Final = Reason(ReasonCode.GATE_JUDGES)
ENDED_EARLY: Final = Reason(ReasonCode.ENDED_EARLY)


def same_program(plan: Plan, builds: Mapping[str, Build]) -> bool:
    """Return whether every gated candidate runs the code of its baseline, so that no time differs.

    One round is then enough, which compares the outputs. A budget still needs times.
    """
    if plan.confirms or plan.judge.gate.budgets:
        return False
    question = question_of(plan)
    pairs = [
        frozenset((cell.id, baseline.id))
        for item in question.plan.inputs
        for cell, baseline in baseline_pairs(question.plan, item.id)
    ]
    return bool(pairs) and same_cells(question.plan, builds).issuperset(pairs)


@dataclass(frozen=True, slots=True)
class GateRule:
    """The rule of the gate: it can judge every comparison of an input, in either pass.

    With `decides`, it also measures until each main metric is shown to be better, equivalent or worse.
    """

    decides: bool = False

    def look(self, at: Analysis) -> LookOutcome:
        """Return the decision. In a race, the gate settles no cell."""
        plan, question = at.plan, question_of(at.plan)
        fixed = plan.measure.strategy == "fixed"
        if not outcome.timed_metrics(plan.judge.gate):
            memory = PEAK_RSS in plan.judge.gate.tolerated
            fewest = (
                plans.FEWEST_CONFIRMING if plan.confirms else FEWEST_FOR_MEMORY if memory else 0
            )
            enough = at.round >= fewest or at.index >= question.looks.count - 1
            reason = Reason(ReasonCode.GATE_TIMELESS)
            return LookOutcome(enough, reason, (), settled=() if fixed else None)
        stage = interim_analysis.stage_at(at, question.plan, question.policy, question.looks)
        # Every candidate is judged, also the one that a race would drop.
        pairs = question.timed_pairs(at.input_id)
        judged = interim_analysis.judge_cells(stage, pairs, "headline")
        comparable = stopping.comparable_pairs(stage, judged)
        left = stopping.still_measured(stage, comparable)
        open_ = _open(left, plan, decides=self.decides)
        stop, reason = stopping.decide_stop(stage, comparable, open_)
        reason = JUDGED if reason in (CONCLUSIVE, FUTILE) else reason
        settled: tuple[str, ...] | None = None
        if fixed:
            settled = () if stop else interim_analysis.finished(stage, open_, None)
        return LookOutcome(stop, reason, judged, settled=settled)


def _open(
    comparisons: Iterable[Comparison], plan: Plan, *, decides: bool = False
) -> list[Comparison]:
    """Return the comparisons to decide of the candidates that are not known to be worse.

    With `decides`, those of the main metric without a conclusive verdict are among them.
    """
    states = [(c, _interim_state(c, plan)) for c in comparisons]
    worse = {c.cell_id for c, state in states if state in ("suspicious", "worse")}
    main = outcome.main_metric(plan.judge.gate) if decides else None
    return [
        c
        for c, state in states
        if c.cell_id not in worse
        and (state == "not-judged" or (c.metric == main and not c.verdict.settled))
    ]


def reopening_looks(plan: Plan, contents: Contents) -> list[Look]:
    """Return the looks that let measuring go on, if it ended before the gate could judge.

    They repeat the last look of their inputs, now without its end. The candidates that the gate cannot
    judge are measured in every round again, all others are finished. See `docs/method.md#continued-records`.
    """
    timed, final = outcome.timed_metrics(plan.judge.gate), looks_of(plan).count - 1
    ended = {o.input_id: o for o in contents.looks if o.stopped and o.index < final}
    if not ended or not timed:
        return []
    gating = compute.first_pass(plan, contents)
    comparisons = [
        p.comparison
        for p in gating.pairs
        if p.metric in timed
        and BUILT_ALIKE not in p.reasons
        and p.comparison.rounds
        and plan.cell(p.cell_id).input_id in ended
        and p.comparison.reason != CONTROL_DIFFERS
    ]
    open_ = {c.cell_id for c in _open(comparisons, plan)}
    inputs = {plan.cell(cell_id).input_id for cell_id in open_}
    gone = contents.dropped
    left = tuple(
        cell.id
        for cell in plan.cells
        if may_leave(plan, cell)
        and cell.id not in open_
        and (gone[cell.id].left if cell.id in gone else cell.input_id in inputs)
    )
    reason = Reason(ReasonCode.GATE_CANNOT_JUDGE, len(open_))
    return [
        replace(ended[item.id], stopped=False, reason=reason, trailing=(), idle=left, dropped=left)
        for item in plan.inputs
        if item.id in inputs
    ]


def _interim_state(c: Comparison, plan: Plan) -> PairState:
    """Return the state of a time after an interim analysis; "not-judged" if it needs more rounds.

    An inconclusive comparison whose minimum detectable effect is small enough passes after the last
    round only: earlier, a regression of about that size would often pass. For the same reason, a
    difference below the margin passes only if its interval excludes more.
    """
    margin = plan.judge.gate.tolerated[c.metric]
    if plan.confirms:
        return compute.confirmed(c, margin)[0]
    state = compute.pair_state(c, margin, plan.judge.gate, 0.0)[0]
    sure = c.verdict.better or c.verdict is Verdict.EQUIVALENT or compute.within(c, margin)
    return "not-judged" if state == "passed" and not sure else state


def cells_to_count(plan: Plan, contents: Contents) -> frozenset[str]:
    """Return the candidates with a gated time that neither pass could judge by its rounds.

    Their instructions are counted instead. The plan is that of either pass.
    """
    if not plan.confirms:
        pairs = compute.first_pass(plan, contents).pairs
        return frozenset(pair.cell_id for pair in pairs if compute.time_not_judged(pair))
    states = _confirmed_states(plan, contents)
    return frozenset(states["not-judged"] - states["worse"])


def worse_cells(plan: Plan, contents: Contents) -> frozenset[str]:
    """Return the candidates that a second pass, whose plan this is, shows to be worse in a time."""
    return frozenset(_confirmed_states(plan, contents)["worse"])


def _confirmed_states(plan: Plan, contents: Contents) -> defaultdict[PairState, set[str]]:
    states = defaultdict[PairState, set[str]](set)
    for c in (c for c in answer(question_of(plan), contents).comparisons if c.family == "headline"):
        state, _ = compute.confirmed(c, plan.judge.margin_of(c.metric))
        states[state].add(c.cell_id)
    return states


def counts_instead(plan: Plan, env: Mapping[str, str]) -> bool:
    """Return whether the gate can count instructions where it cannot judge times.

    The instructions of a benchmark depend on the time: its harness repeats the work for a while. Those of
    a server are not counted.
    """
    planned = plan.instructions is not None or any(m in COUNTED for m in plan.judge.gate.tolerated)
    return (
        not planned
        and plan.benches is None
        and not plan.server
        and shutil.which(COUNTS_OF_GATE.tool, path=env.get("PATH")) is not None
    )


def counting_plan(plan: Plan, cell_ids: frozenset[str]) -> Plan:
    """Return the plan that counts the instructions of these cells and of their baselines."""
    return replace(plans.narrowed(plan, cell_ids), instructions=COUNTS_OF_GATE)
