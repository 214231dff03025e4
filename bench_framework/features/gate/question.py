"""The question of the gate: its pairs, metrics, margins, level and interim analyses."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from bench_framework.compare import exact_metrics, medians
from bench_framework.compare.comparisons import compare_inputs
from bench_framework.compare.stage import MetricPair, runs_of, stages_of
from bench_framework.features.gate.outcome import timed_metrics
from bench_framework.features.gate.plans import narrowed, policy_of
from bench_framework.model.metrics import INSTRUCTIONS, PEAK_RSS, is_exact
from bench_framework.model.plan.looks import Looks, decidable, looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.planned_comparisons import baseline_pairs
from bench_framework.model.plan.policies import JudgePolicy, Metric
from bench_framework.model.result.judgement import CellState, Comparison, Family, NoiseFloor
from bench_framework.store.journal import Contents


@dataclass(frozen=True, slots=True)
class Question:
    """The pairs that the gate judges, and the rule for them.

    Attributes:
        plan: the plan with the gated candidates, and baseline and A/A control of their inputs.
        policy: metrics that are judged by rounds, margins and level.
        exact: deterministic metrics, whose differences need no level.
    """

    plan: Plan
    policy: JudgePolicy
    looks: Looks
    exact: tuple[Metric, ...] = ()

    def timed_pairs(self, input_id: str) -> list[MetricPair]:
        """Return the pairs of an input with each metric that is judged by rounds."""
        pairs = baseline_pairs(self.plan, input_id)
        return [(*pair, metric) for pair in pairs for metric in self.policy.sampled]


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """The comparisons of the gate's pairs.

    Attributes:
        comparisons: those by rounds, of the controls, and of memory.
        exact: those of deterministic metrics.
        medians: medians of peak memory by cell id.
    """

    looks: Looks
    states: tuple[CellState, ...]
    comparisons: tuple[Comparison, ...]
    exact: tuple[Comparison, ...]
    floors: tuple[NoiseFloor, ...]
    medians: Mapping[str, float]


def question_of(plan: Plan) -> Question:
    """Return the question of the gate about a plan; that of a second pass is stored in its plan."""
    if plan.confirms:
        return Question(plan, plan.judge, looks_of(plan))
    # A gate is judged by the label test only, for which few rounds of a small budget are not enough.
    plan = replace(plan, measure=replace(plan.measure, by_t=False))
    policy, chosen = plan.judge.gate, plan.judge.gate.chosen
    gated = plan if chosen is None else narrowed(plan, frozenset(chosen))
    judge = policy_of(plan.judge, timed_metrics(policy), policy.tolerated, policy.level)
    exact = tuple(m for m in policy.tolerated if is_exact(m))
    question = Question(gated, judge, looks_of(plan), exact)
    size = sum(len(baseline_pairs(gated, item.id)) for item in gated.inputs) * len(judge.metrics)
    return replace(question, looks=question.looks.shared_by(size, policy.level))


def question_of_counts(plan: Plan, cell_ids: frozenset[str], margin: float) -> Question:
    """Return the question about the counted instructions of some candidates."""
    judge = policy_of(plan.judge, (), {INSTRUCTIONS: margin}, plan.judge.gate.level)
    judge = replace(judge, metrics=())
    return Question(narrowed(plan, cell_ids), judge, looks_of(plan), (INSTRUCTIONS,))


def answer(question: Question, contents: Contents) -> GateAnswer:
    """Judge the pairs of a question by the rounds of a record."""
    plan, policy = question.plan, question.policy
    builds = contents.builds_by_id
    runs = runs_of(plan, contents.blocks, builds)
    stages = stages_of(plan, policy, runs, question.looks, contents.looks)
    planned: dict[str, dict[Family, list[MetricPair]]] = {}
    for input_id in stages:
        fixed = [(*p, m) for p in baseline_pairs(plan, input_id) for m in question.exact]
        planned[input_id] = {"headline": [*question.timed_pairs(input_id), *fixed]}
    exact = partial(
        exact_metrics.compare, plan, policy, builds=builds, observations=contents.observations
    )
    inputs = compare_inputs(stages, planned, exact)
    every = [c for one in inputs for c in one.all]
    return GateAnswer(
        looks=question.looks,
        states=runs.states,
        comparisons=tuple(c for c in every if c.family != "exact"),
        exact=tuple(c for c in every if c.family == "exact"),
        floors=tuple(floor for one in inputs for floor in one.floors),
        medians={
            cell_id: medians.summarise(sample, PEAK_RSS).median
            for cell_id, sample in runs.samples.items()
            if PEAK_RSS in sample.series
        },
    )


def rounds_needed_by_gate(plan: Plan) -> int | None:
    """Return the rounds that this gate needs for any finding, or `None` if the plan has them."""
    looks = question_of(replace(plan, confirms="")).looks
    return None if looks.decidable or not timed_metrics(plan.judge.gate) else looks.needed


def can_decide(plan: Plan) -> bool:
    """Return whether the rounds of a plan are enough for a verdict, and for a finding of its gate.

    A record that was measured without a gate has enough rounds for one, too.
    """
    return decidable(plan) and rounds_needed_by_gate(plan) is None
