"""Metrics that a scenario declares, and every place that names one."""

from collections.abc import Callable

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.model.metrics import ITERATION, METRICS
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.plan import expand

AXES = "axes: {arm: [a, b]}\ncommand: ['{bin}', '{arm}']\nbaseline: {arm: a}\n"


@pytest.mark.parametrize(("metric", "judged"), [("minor_faults", True), ("throughput", False)])
def test_the_fix_for_a_built_in_name_suggests_judge_only_if_it_can_be_judged(
    metric: str, judged: bool, refuses: Callable[..., ScenarioError]
) -> None:
    (problem,) = refuses(AXES + f"metrics: {{{metric}: {{from: stdout, json: a}}}}").problems
    assert ("use it in `judge`" in (problem.fix or "")) is judged


@pytest.mark.parametrize(
    "metric",
    [m for m, kind in METRICS.items() if kind.judged in {"rounds", "medians"} and m != ITERATION],
)
def test_a_worker_with_the_protocol_has_every_metric_of_rounds(
    metric: str, loads: Callable[..., Scenario]
) -> None:
    head = "version: 1\nname: n\nquestion: q\nworker: {command: [p], contract: true}\n"
    plan = expand(loads(AXES + f"judge: [{metric}, own_metric]", head=head))
    assert plan.judge.sampled == (metric, "own_metric")


def test_a_metric_that_cannot_be_judged_is_not_proposed_in_its_place(
    refuses: Callable[..., ScenarioError],
) -> None:
    metric = "{from: stdout, regex: '(1)', direction: higher}"
    error = refuses(AXES + f"judge: [throughput]\nmetrics: {{throughput: {metric}}}")
    (problem,) = (item for item in error.problems if item.code == "BC206")
    assert "`throughput`" not in (problem.fix or "")
