"""Verdicts of one input at an interim analysis ("look"), and whether to continue measuring.

The final judgement and the stopping rule share this module. The live table therefore shows the
same verdicts as the report of the same rounds. See `docs/method.md#interim-analyses`.
"""

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from bench_framework.compare import stopping
from bench_framework.compare.pairs import CellPair, JudgeRule, judge_pairs
from bench_framework.compare.stage import MetricPair, Stage, runs_of
from bench_framework.model.metrics import is_exact
from bench_framework.model.plan.looks import Looks, looks_of
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.plan.planned_comparisons import (
    baseline_pairs,
    contrast_pairs,
    reference_pairs,
)
from bench_framework.model.plan.policies import JudgePolicy, Metric
from bench_framework.model.reasons import CONTROL_DIFFERS
from bench_framework.model.record.run import Block, Build, Look
from bench_framework.model.result import race
from bench_framework.model.result.interim import LookOutcome
from bench_framework.model.result.judgement import BestGroup, Comparison, Family
from bench_framework.model.verdict import Verdict


@dataclass(frozen=True)
class Analysis:
    """An interim analysis of one input, with everything that was measured before it.

    Attributes:
        index: index of the analysis in the schedule, from 0.
        round: the last complete round.
        taken: the earlier analyses of all inputs.
    """

    plan: Plan
    blocks: Sequence[Block]
    input_id: str
    index: int
    round: int
    builds: Mapping[str, Build] = field(default_factory=dict)
    taken: Sequence[Look] = ()

    @cached_property
    def report(self) -> LookOutcome:
        """Return the verdicts of the report after this round, and whether they are conclusive."""
        return look(self)


def look(
    at: Analysis, open_of: Callable[[Sequence[Comparison]], Sequence[Comparison]] | None = None
) -> LookOutcome:
    """Judge one input after a round, and decide whether its measuring may stop.

    Earlier interim analyses are at the planned rounds. `open_of` returns the comparisons that need
    further rounds, by default `stopping.open_pairs`.
    """
    plan = at.plan
    stage = stage_at(at, plan, plan.judge, looks_of(plan))
    # Further rounds cannot decide deterministic metrics.
    planned = {
        family: [pair for pair in pairs if not is_exact(pair[2])]
        for family, pairs in planned_pairs(plan, at.input_id).items()
    }
    judged = judge_cells(stage, itertools.chain.from_iterable(planned.values()), "headline")
    comparable = stopping.comparable_pairs(stage, judged)
    behind, settled = tuple[str, ...](), tuple[str, ...]()
    racing = plan.measure.strategy == "race" and not control_differs(stage)
    if racing:
        group = best_group(stage, headline=judged)
        behind = stopping.trailing(stage, group)
        comparable = stopping.contested(stage, comparable, group, behind)
    pending = stopping.still_measured(stage, comparable)
    open_ = stopping.open_pairs(stage, pending) if open_of is None else open_of(pending)
    stop, reason = stopping.decide_stop(
        stage, comparable, open_, precision=plan.measure.until == "precision"
    )
    if racing:
        settled = stopping.settled_cells(stage, open_, behind)
    elif not stop and plan.measure.strategy == "fixed" and plan.measure.until == "conclusive":
        settled = finished(stage, open_, judged if open_of is None else None)
    return LookOutcome(stop, reason, judged[: len(planned["headline"])], behind, settled)


def stage_at(at: Analysis, plan: Plan, policy: JudgePolicy, looks: Looks) -> Stage:
    """Return the stage of an input at an interim analysis, by the plan and the schedule of a question."""
    cells = {cell.id for cell in plan.cells_of(at.input_id)}
    of_input = [block for block in at.blocks if block.cell_id in cells]
    reached = (*(n for n in looks.rounds[: at.index] if n < at.round), at.round)
    runs, finished_in = runs_of(plan, of_input, at.builds), race.finishing_rounds(plan, at.taken)
    return Stage(plan, at.input_id, policy, runs, looks, reached, at.index, finished_in)


def finished(
    stage: Stage, open_: Sequence[Comparison], headline: Sequence[Comparison] | None
) -> tuple[str, ...]:
    """Return the measured cells that no open comparison contains.

    See `docs/method.md#finished-configurations`.

    Further rounds may decide the comparisons `open_`. `headline` is `None` if there is no best
    group to decide.
    """
    left = stopping.unmeasured_cells(stage)
    cells = tuple(c for c in stopping.settled_cells(stage, open_) if c not in left)
    if not cells or control_differs(stage):
        return ()
    if headline is None:
        return cells
    rivals = stopping.open_rivals(stage, best_group(stage, headline=headline))
    return tuple(c for c in stopping.settled_cells(stage, rivals) if c in cells)


def control_differs(stage: Stage) -> frozenset[Metric]:
    """Return the metrics in which the A/A control differs significantly from the baseline."""
    control = judge_cells(stage, control_pairs(stage), "control")
    return frozenset(c.metric for c in control if c.verdict.decided)


def planned_pairs(plan: Plan, input_id: str) -> dict[Family, list[MetricPair]]:
    """Return the pairs of an input in plan order, by family, for every judged metric.

    Candidates are compared with the baseline, and with further references. The pairs of the named
    contrasts are those that are no comparison with a baseline.
    """
    metrics, further = plan.judge.metrics, reference_pairs(plan, input_id)
    return {
        "headline": [(*p, metric) for p in baseline_pairs(plan, input_id) for metric in metrics],
        "reference": [(*p, metric) for p in further for metric in metrics],
        "contrast": [*contrast_pairs(plan, input_id)],
    }


def control_pairs(stage: Stage) -> list[MetricPair]:
    """Return A/A control and baseline, for every metric that is judged by rounds."""
    plan, input_id = stage.plan, stage.input_id
    baseline, control = plan.baseline_cell(input_id), plan.control_cell(input_id)
    if baseline is None or control is None:
        return []
    return [(control, baseline, metric) for metric in stage.policy.sampled]


def pairs_of(stage: Stage, pairs: Iterable[MetricPair]) -> list[CellPair]:
    """Return pairs of an input with its interim analyses; those of the baseline have the control."""
    cell_pairs = []
    for cell, reference, metric in pairs:
        control = stage.plan.control_cell(reference.input_id)
        # The control is a copy of the baseline.
        copied = reference == stage.plan.baseline_cell(reference.input_id) and cell != control
        control_id = control.id if control is not None and copied else ""
        ids = (cell.id, reference.id)
        until = stage.reached[-1] if stage.reached else 0
        final = min(stage.finished.get(id_, until) for id_ in ids)
        reached = tuple(n for n in stage.reached if n <= final)
        cell_pairs.append(CellPair(*ids, metric, reached, until, stage.last_look, control_id))
    return cell_pairs


def rule_of(
    stage: Stage, family: Family, pairs: Iterable[CellPair], *, size: int | None = None
) -> JudgeRule:
    """Return the rule of a family of pairs; `size` is by default that of the plan."""
    thresholds = {pair.metric: stage.policy.thresholds_of(pair.metric) for pair in pairs}
    return JudgeRule(family, thresholds, stage.looks, stage.looks.family if size is None else size)


def judge_cells(
    stage: Stage, pairs: Iterable[MetricPair], family: Family, *, size: int | None = None
) -> tuple[Comparison, ...]:
    """Judge pairs of one input as a family."""
    cell_pairs = pairs_of(stage, pairs)
    return judge_pairs(stage.runs, cell_pairs, rule_of(stage, family, cell_pairs, size=size))


def make_inconclusive_where_control_differs(
    comparisons: Sequence[Comparison], metrics: Collection[Metric]
) -> tuple[Comparison, ...]:
    """Make comparisons inconclusive whose control differs; not those of deterministic metrics."""
    return tuple(
        replace(c, verdict=Verdict.INCONCLUSIVE, reason=CONTROL_DIFFERS)
        if (c.verdict.settled or c.verdict is Verdict.INCONCLUSIVE)
        and c.family != "exact"
        and c.metric in metrics
        else c
        for c in comparisons
    )


def best_group(
    stage: Stage, *, tripped: Collection[Metric] = (), headline: Sequence[Comparison] = ()
) -> BestGroup:
    """Return the best group of an input: the variants that are not worse than any other one.

    All K(K − 1)/2 pairs of usable cells form a Holm family, at the same interim analyses. A pair
    that is also compared with the baseline or a reference has that verdict here too, so that a
    report cannot call a variant slower than the baseline and also count it among the best. See
    `docs/method.md#best-group`.

    The pairs of `tripped` metrics, in which the A/A control differs, are inconclusive.
    """
    metric, input_id = stage.policy.headline, stage.input_id
    planned = stage.plan.compared_cells(input_id)
    known = stage.runs.usable_for(metric)
    usable = [c for c in planned if c.id in known]
    pairs = [(b, a, metric) for a, b in itertools.combinations(usable, 2)]
    if not pairs or not stage.reached:
        return BestGroup(input_id, metric, (), complete=False)
    judged = judge_cells(stage, pairs, "best", size=math.comb(len(planned), 2))
    judged = make_inconclusive_where_control_differs(judged, tripped)
    complete = all(c.rounds > 0 for c in judged)
    cells = [c for c in usable if stage.plan.is_choice(c)]
    return best_of(input_id, metric, cells, judged, headline, complete=complete)


def best_of(
    input_id: str,
    metric: Metric,
    cells: Sequence[Cell],
    judged: Sequence[Comparison],
    headline: Sequence[Comparison] = (),
    *,
    complete: bool,
) -> BestGroup:
    """Return the cells that no comparison shows to be worse than another one of them.

    `judged` has each pair of compared cells once. A pair that is also in `headline` keeps that
    verdict. `complete` states whether every pair was compared.
    """
    reported = {
        (c.cell_id, c.ref_cell_id): replace(c, family="best")
        for h in headline
        if h.metric == metric
        for c in (h.mirrored(), h)
    }
    pairs = tuple(reported.get((c.cell_id, c.ref_cell_id), c) for c in judged)
    choices = {c.id for c in cells}
    beaten = {
        c.cell_id if c.verdict.worse else c.ref_cell_id
        for c in pairs
        if c.verdict.decided and choices.issuperset((c.cell_id, c.ref_cell_id))
    }
    members = tuple(c.id for c in cells if c.id not in beaten) if pairs else ()
    return BestGroup(input_id, metric, members, complete, pairs)
