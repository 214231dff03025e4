"""The judgement of a record from its plan, blocks and interim analyses. It is deterministic."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from bench_framework.compare import (
    causes,
    cell_state,
    contrasts,
    data_quality,
    derived_values,
    exact_metrics,
    functions as function_costs,
    interim_analysis,
    medians,
)
from bench_framework.compare.comparisons import compare_inputs
from bench_framework.compare.contrasts import ContrastData
from bench_framework.compare.stage import Runs, runs_of, stages_of
from bench_framework.features import claim_writer
from bench_framework.features.ablation import compute as ablation
from bench_framework.features.author_texts import left_out
from bench_framework.features.effects import compute as effects
from bench_framework.features.experiments import compute as experiments
from bench_framework.features.pareto import compute as pareto
from bench_framework.features.race import compute as race
from bench_framework.features.references import compute as references
from bench_framework.features.scaling import compute as scaling
from bench_framework.model.metrics import CPU, WALL, is_exact
from bench_framework.model.plan.looks import Looks, looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.record.functions import FunctionCounts
from bench_framework.model.record.run import (
    Block,
    Build,
    Event,
    Look,
    Observation,
    PreparedInput,
    outputs_differ,
)
from bench_framework.model.result.judgement import (
    Comparison,
    Judgement,
    NoiseFloor,
    RecordStatus,
    Summary,
    judged_pairs,
)
from bench_framework.model.result.structure import Structure
from bench_framework.model.verdict import Direction, Verdict


def judge(
    plan: Plan,
    blocks: Sequence[Block],
    builds: Mapping[str, Build],
    inputs: Sequence[PreparedInput],
    looks_taken: Sequence[Look],
    *,
    observed: Sequence[Observation] = (),
    functions: Sequence[FunctionCounts] = (),
    events: Sequence[Event] = (),
    looks: Looks | None = None,
    tripped: Collection[tuple[str, Metric]] = (),
) -> Judgement:
    """Judge a record.

    Equal arguments give a judgement that is bitwise equal. If an input has no interim analysis, its
    comparisons are inconclusive. If the plan was derived from another one after measuring, `looks`
    is the schedule of the measured plan for the family of the derived plan (`Looks.shared_by`), and
    `tripped` has the (input id, metric) pairs in which the A/A control, which the plan no longer
    contains, has a significant difference.
    """
    runs = runs_of(plan, blocks, builds)
    samples, usable = runs.samples, runs.usable
    looks = looks_of(plan) if looks is None else looks
    exact = partial(exact_metrics.compare, plan, plan.judge, builds=builds, observations=observed)
    stages = stages_of(plan, plan.judge, runs, looks, looks_taken)
    planned = {input_id: interim_analysis.planned_pairs(plan, input_id) for input_id in stages}
    inputs_compared = compare_inputs(stages, planned, exact, tripped)
    comparisons = tuple(c for one in inputs_compared for c in one.all)
    groups = tuple(
        interim_analysis.best_group(stage, tripped=one.tripped, headline=one.planned)
        if plan.judge.sampled
        else exact_metrics.best_group(plan, stage.input_id, usable, exact)
        for stage, one in zip(stages.values(), inputs_compared, strict=True)
    )
    best = [c for group in groups for c in group.comparisons]
    every = [*comparisons, *best]
    floors = tuple(f for one in inputs_compared for f in one.floors)
    main = [c for one in inputs_compared for c in one.planned]
    differing = causes.causes(plan, samples, every, observed)
    sampled = tuple(
        medians.summarise(samples[cell.id], metric)
        for cell in plan.cells
        if cell.id in samples
        for metric in samples[cell.id].series
    )
    timed = tuple(m for m in plan.judge.metrics if m in (WALL, CPU)) or (WALL,)
    draft = Judgement(
        looks=looks,
        states=runs.states,
        summaries=sampled + exact_metrics.summaries(observed, sampled),
        comparisons=comparisons,
        best=groups,
        floors=floors,
        scaling=scaling.exponents(plan, samples, inputs, usable, timed),
        derived=derived_values.derived_rows(plan, samples, inputs, usable, [*main, *best]),
        gaps=references.gaps(plan, main, samples),
        causes=differing,
        functions=function_costs.pairs_of(
            comparisons, functions, observed, iteration=plan.benches is not None
        ),
        hypotheses=experiments.hypothesis_tests(plan, every, differing),
        race=race.race_of(plan, samples, looks_taken, groups, main),
        status=_status(plan, main, looks),
        events=tuple(_events(plan, runs, builds, floors, looks)),
    )
    data = contrasts.contrast_data(plan, runs, looks, looks_taken, floors, inputs)
    differing_inputs = {input_id for input_id, metric in tripped if metric == data.metric}
    data = replace(data, tripped=data.tripped | differing_inputs)
    structure = analyse_axes(data, every, draft.summaries, builds)
    tables = structure.contributions
    rows = derived_values.with_contribution_figures(draft.derived, tables, main)
    draft = replace(draft, structure=structure, derived=rows)
    draft = replace(draft, events=(*draft.events, *left_out(plan, draft, builds)))
    differ = outputs_differ(events)
    claims = claim_writer.claims_of(plan, draft, builds, inputs, outputs_differ=differ)
    return replace(draft, claims=claims)


def finished_cells(
    plan: Plan,
    blocks: Sequence[Block],
    builds: Mapping[str, Build],
    looks_taken: Sequence[Look],
    now: Look,
) -> tuple[str, ...]:
    """Return the cells of an interim analysis that may leave: those that no effect needs either.

    `looks_taken` were before `now`, which has the cells without an open comparison.
    """
    if not now.idle:
        return ()
    runs = runs_of(plan, blocks, builds)
    at = contrasts.contrast_data(plan, runs, looks_of(plan), (*looks_taken, now))
    if is_exact(at.metric):
        return now.idle
    needed = effects.cells_of_open_effects(at, now.input_id)
    return tuple(cell_id for cell_id in now.idle if cell_id not in needed)


def _events(
    plan: Plan, runs: Runs, builds: Mapping[str, Build], floors: Sequence[NoiseFloor], looks: Looks
) -> Iterator[Event]:
    """Yield the warnings and remarks of the analysis."""
    yield from cell_state.fallback_events(plan, runs.states, runs.samples)
    yield from data_quality.identical_events(plan, builds)
    yield from data_quality.drift_events(plan, runs.samples)
    yield from data_quality.contention_events([b for s in runs.samples.values() for b in s.blocks])
    yield from data_quality.control_events(plan, floors)
    if not plan.invocation.quick:
        yield from data_quality.few_rounds_events(plan, looks)


def _status(plan: Plan, headline: Sequence[Comparison], looks: Looks) -> RecordStatus:
    """Return the status of the record, by its comparisons of the main metric and its contrasts."""
    metric, decidable = plan.judge.headline, looks.decidable or not plan.judge.sampled
    main = (c for c in headline if c.metric == metric or c.family == "contrast")
    compared = [c for c in main if c.reason != ONE_PROGRAM]
    verdicts = {c.verdict for c in compared}
    failed = {Verdict.FAILED, Verdict.OTHER_OUTPUT}
    if verdicts and verdicts <= failed:
        return "failed"
    if verdicts and verdicts <= {Verdict.NOT_COMPARABLE, *failed}:
        return "not comparable"
    if not any(c.rounds for c in compared) or not decidable:
        return "exploratory"
    settled = sum(c.verdict.settled for c in compared)
    if settled in (0, len(compared)):
        return "conclusive" if settled else "inconclusive"
    return "mostly conclusive" if 2 * settled >= len(compared) else "partly conclusive"


def analyse_axes(
    at: ContrastData,
    comparisons: Sequence[Comparison],
    summaries: Sequence[Summary],
    builds: Mapping[str, Build],
) -> Structure:
    """Return effects, contributions, crossovers and Pareto fronts of a record.

    `comparisons` includes those within the best groups. A main metric that is the same in every run
    has no effects, because these are computed by round.
    """
    fronts = pareto.fronts(at.plan, summaries, builds, at.usable, at.runs.same, comparisons)
    pairs = experiments.replacements(at, comparisons)
    way: Direction = "higher" if at.higher else "lower"
    if is_exact(at.metric):
        return Structure(fronts=fronts, replacements=pairs, direction=way)
    judged = judged_pairs(comparisons)[at.metric]
    printed = {(r.after_cell_id, r.before_cell_id) for r in pairs}
    reported: dict[tuple[str, ...], Comparison] = {
        ids: c for ids, c in judged.items() if c.family != "best" or printed & {ids, ids[::-1]}
    }
    at = replace(at, reported=reported)
    factorials, axis_effects, effect_family = effects.effects(at)
    tables, contribution_family = ablation.contributions(at)
    return Structure(
        factorials,
        axis_effects,
        tables,
        scaling.crossings(at, comparisons),
        fronts,
        pairs,
        way,
        effect_family,
        contribution_family,
    )
