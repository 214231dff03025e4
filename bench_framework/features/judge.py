"""The judgement of a record from its plan, blocks and interim analyses. It is deterministic."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from bench_framework.compare import (
    cell_state,
    contrasts,
    data_quality,
    derived_values,
    exact_metrics,
    interim_analysis,
    medians,
    same_programs,
)
from bench_framework.compare import samples as sampling
from bench_framework.compare.contrasts import Measured
from bench_framework.compare.decide import judged_pairs
from bench_framework.compare.pairs import judge_pairs, unjudged
from bench_framework.compare.stage import Runs, Stage, runs_of, stage_of
from bench_framework.features import claim_writer
from bench_framework.features.ablation import compute as ablation
from bench_framework.features.effects import compute as effects
from bench_framework.features.experiments import compute as experiments
from bench_framework.features.pareto import compute as pareto
from bench_framework.features.race import compute as race
from bench_framework.features.references import compute as references
from bench_framework.features.scaling import compute as scaling
from bench_framework.model.judgement import (
    BestGroup,
    Comparison,
    Judgement,
    NoiseFloor,
    RecordStatus,
    Summary,
)
from bench_framework.model.looks import Looks, looks_of
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL, is_exact
from bench_framework.model.plan import Cell, Plan, Role
from bench_framework.model.policies import Metric
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.run import Block, Build, Look, Observation, PreparedInput
from bench_framework.model.structure import Structure
from bench_framework.model.verdict import Verdict

Exact = Callable[[Cell, Cell, Metric], Comparison]


def judge(
    plan: Plan,
    blocks: Sequence[Block],
    builds: Mapping[str, Build],
    inputs: Sequence[PreparedInput],
    looks_taken: Sequence[Look],
    *,
    observed: Sequence[Observation] = (),
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
    exact = partial(exact_metrics.compare, plan, builds=builds, observations=observed)
    stages = [stage_of(plan, runs, looks, looks_taken, item.id) for item in plan.inputs]
    judged = _judge_inputs(plan, runs, stages, exact, tripped)
    comparisons = tuple(c for j in judged for c in (*j.headline, *j.control, *j.memory, *j.further))
    best = [c for j in judged for c in j.best.comparisons]
    pairs = [*comparisons, *best]
    floors = tuple(f for j in judged for f in j.floors)
    headline = [c for j in judged for c in (*j.headline, *j.further)]
    measured_cells = (cell.id for cell in plan.cells if cell.id in samples)
    sampled = tuple(
        medians.summarise(samples[cell_id], metric)
        for cell_id in measured_cells
        for metric in samples[cell_id].series
    )
    timed = tuple(m for m in plan.judge.metrics if m in (WALL, CPU)) or (WALL,)
    draft = Judgement(
        looks=looks,
        states=runs.states,
        summaries=sampled + exact_metrics.summaries(observed, sampled),
        comparisons=comparisons,
        best=tuple(j.best for j in judged),
        floors=floors,
        scaling=scaling.exponents(plan, samples, inputs, usable, timed),
        derived=derived_values.derived_rows(plan, samples, inputs, usable, [*headline, *best]),
        gaps=references.gaps(plan, headline, samples),
        hypotheses=experiments.hypothesis_tests(plan, pairs),
        race=race.race_of(plan, samples, looks_taken, [j.best for j in judged], headline),
        status=_status(plan, headline, looks),
        events=(
            *cell_state.fallback_events(plan, runs.states, samples),
            *data_quality.identical_events(plan, builds),
            *data_quality.drift_events(plan, samples),
            *data_quality.contention_events([b for s in samples.values() for b in s.blocks]),
            *data_quality.control_events(plan, floors),
            *(() if "--quick" in plan.asked else data_quality.exploratory_events(looks)),
        ),
    )
    measured = contrasts.measured(plan, runs, looks, looks_taken, floors, inputs)
    known = {input_id for input_id, metric in tripped if metric == measured.metric}
    measured = replace(measured, tripped=measured.tripped | known)
    structure = analyse_axes(measured, pairs, draft.summaries, builds)
    tables = structure.contributions
    rows = derived_values.with_contribution_figures(draft.derived, tables, headline)
    draft = replace(draft, structure=structure, derived=rows)
    return replace(draft, claims=claim_writer.claims_of(plan, draft, builds, inputs))


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
    at = contrasts.measured(plan, runs, looks_of(plan), (*looks_taken, now))
    if is_exact(at.metric):
        return now.idle
    needed = effects.cells_of_open_effects(at, now.input_id)
    return tuple(cell_id for cell_id in now.idle if cell_id not in needed)


@dataclass(frozen=True, slots=True)
class _InputJudgement:
    """All results of one input."""

    headline: tuple[Comparison, ...]
    further: tuple[Comparison, ...]
    """Comparisons with further baselines, then named contrasts."""
    control: tuple[Comparison, ...]
    memory: tuple[Comparison, ...]
    floors: tuple[NoiseFloor, ...]
    best: BestGroup


def _judge_inputs(
    plan: Plan,
    runs: Runs,
    stages: Sequence[Stage],
    exact: Exact,
    known: Collection[tuple[str, Metric]],
) -> list[_InputJudgement]:
    """Return the judgements of all inputs.

    The headline, the comparisons with further references and the named contrasts are one family
    over all inputs. Every other family belongs to one input.
    """
    planned = [interim_analysis.planned_pairs(plan, item.id) for item in plan.inputs]
    cell_pairs = [
        pair
        for stage, pairs in zip(stages, planned, strict=True)
        for of_family in pairs.values()
        for pair in interim_analysis.pairs_of(stage, (p for p in of_family if not is_exact(p[2])))
    ]
    timed = judge_pairs(
        runs, cell_pairs, interim_analysis.rule_of(stages[0], "headline", cell_pairs)
    )
    by_pair = {(c.cell_id, c.ref_cell_id, c.metric): c for c in timed}
    state_of = {s.cell_id: s for s in runs.states}
    refused = partial(cell_state.refuse_invalid, plan, state_of=state_of, samples=runs.samples)
    judgements = []
    for stage, item, pairs in zip(stages, plan.inputs, planned, strict=True):
        controls = interim_analysis.control_pairs(plan, item.id)
        control = interim_analysis.judge_cells(stage, controls, "control")
        floors = data_quality.noise_floors(stage, item.id, control)
        tripped = {f.metric for f in floors if f.tripped or (item.id, f.metric) in known}
        judged: list[Comparison] = []
        for family, of_family in pairs.items():
            for cell, ref, metric in of_family:
                c = refused(by_pair.get((cell.id, ref.id, metric)) or exact(cell, ref, metric))
                judged.append(c if c.family == "exact" else replace(c, family=family))
        judged = list(interim_analysis.make_inconclusive_where_control_differs(judged, tripped))
        count = len(pairs["headline"])
        judgements.append(
            _InputJudgement(
                headline=tuple(judged[:count]),
                further=tuple(judged[count:]),
                control=tuple(map(refused, control)),
                memory=tuple(map(refused, _memory(stage, item.id))),
                floors=floors,
                best=interim_analysis.best_group(stage, item.id, tripped=tripped, headline=judged)
                if plan.judge.sampled
                else exact_metrics.best_group(plan, item.id, runs.usable, exact),
            )
        )
    return judgements


def _memory(stage: Stage, input_id: str) -> Iterator[Comparison]:
    """Yield the comparisons of peak memory with the baseline, judged once, at the end."""
    plan, samples = stage.plan, stage.runs.samples
    baseline = plan.baseline_cell(input_id)
    if baseline is None or PEAK_RSS in plan.judge.metrics:
        return
    size = sum(1 for c in plan.cells if c.role is Role.CANDIDATE)
    known = {cell_id for cell_id, sample in samples.items() if sample.values(PEAK_RSS)}
    for cell in plan.cells_of(input_id):
        if cell.role is Role.CANDIDATE and {cell.id, baseline.id} <= known:
            values = (samples[side.id].values(PEAK_RSS) for side in (cell, baseline))
            pair = sampling.pair(*values).until(stage.reached[-1] if stage.reached else 0)
            cell_pairs = interim_analysis.pairs_of(stage, [(cell, baseline, PEAK_RSS)])
            rule = interim_analysis.rule_of(stage, "memory", cell_pairs, size=size)
            c = unjudged(stage.runs, cell_pairs[0], rule, pair.rounds)
            if len(pair):
                c = medians.compare_medians(c, pair, level=rule.level, size=rule.size)
            yield same_programs.without_verdict(c, stage.runs.same)


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
    at: Measured,
    comparisons: Sequence[Comparison],
    summaries: Sequence[Summary],
    builds: Mapping[str, Build],
) -> Structure:
    """Return effects, contributions, crossovers and Pareto fronts of a record.

    `comparisons` includes those within the best groups. A main metric that is the same in every run
    has no effects, because these are computed by round.
    """
    fronts = pareto.fronts(at.plan, summaries, builds, at.usable, at.same, comparisons)
    pairs = experiments.replacements(at, comparisons)
    way: Literal["lower", "higher"] = "higher" if at.higher else "lower"
    if is_exact(at.metric):
        return Structure(fronts=fronts, replacements=pairs, direction=way)
    judged = judged_pairs(comparisons, at.metric)
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
