"""Metrics that a scenario declares, and every place that names one."""

from collections.abc import Callable

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.model.looks import comparisons_planned
from bench_framework.model.metrics import METRICS, DeclaredMetric, InstructionPolicy
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.plan import expand

AXES = "axes: {arm: [a, b]}\ncommand: ['{bin}', '{arm}']\nbaseline: {arm: a}\n"
GOOD = (
    AXES
    + "metrics: {rate: {from: stdout, regex: 'r=([0-9.]+)', unit: MiB/s, direction: higher, about: it}}\n"
)


def test_a_declared_metric_is_in_the_plan_in_stored_units(loads: Callable[..., Scenario]) -> None:
    plan = expand(loads(GOOD + "judge: [wall, rate]\nmargin: {rate: 3%}"))
    assert plan.metrics == (
        DeclaredMetric("rate", "stdout", "bytes/s", 2.0**20, "higher", (), "r=([0-9.]+)", "it"),
    )
    assert (plan.judge.metrics, plan.judge.margin_of("rate")) == (("wall", "rate"), 0.03)
    assert plan.instructions is None


def test_instructions_are_counted_if_judge_or_metrics_name_them(
    loads: Callable[..., Scenario],
) -> None:
    assert expand(loads(AXES + "judge: [wall, instructions]")).instructions == InstructionPolicy()
    chosen = expand(loads(AXES + "metrics: {instructions: {runs: 5, timeout: 2m}}"))
    assert chosen.instructions == InstructionPolicy(5, 120.0)
    assert chosen.judge.metrics == ("wall", "cpu")


def test_a_deterministic_metric_takes_no_level_from_the_others(
    loads: Callable[..., Scenario],
) -> None:
    plain, more = (expand(loads(AXES + f"judge: [wall{name}]")) for name in ("", ", instructions"))
    assert comparisons_planned(plain) == comparisons_planned(more) == 1


@pytest.mark.parametrize(("metric", "judged"), [("minor_faults", True), ("throughput", False)])
def test_the_fix_for_a_built_in_name_suggests_judge_only_if_it_can_be_judged(
    metric: str, judged: bool, refuses: Callable[..., ScenarioError]
) -> None:
    (problem,) = refuses(AXES + f"metrics: {{{metric}: {{from: stdout, json: a}}}}").problems
    assert ("use it in `judge`" in (problem.fix or "")) is judged


@pytest.mark.parametrize(
    "metric", [m for m, kind in METRICS.items() if kind.judged in {"rounds", "medians"}]
)
def test_a_worker_with_the_protocol_has_every_metric_of_rounds(
    metric: str, loads: Callable[..., Scenario]
) -> None:
    head = "version: 1\nname: n\nquestion: q\nworker: {command: [p], contract: true}\n"
    plan = expand(loads(AXES + f"judge: [{metric}, own_metric]", head=head))
    assert plan.judge.sampled == (metric, "own_metric")
