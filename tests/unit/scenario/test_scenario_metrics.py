"""Metrics that a scenario declares, and every place that names one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.model.metrics import METRICS, DeclaredMetric, InstructionPolicy
from bench_framework.model.pairs import comparisons_planned
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


BAD = {
    "own name": (
        "metrics: {wall: {from: stdout, json: a}}",
        "BC108",
        "`wall` is a built-in metric of benchctl",
    ),
    "no group": (
        "metrics: {x: {from: stdout, regex: 'a'}}",
        "BC102",
        "`regex` needs a group that matches the number",
    ),
    "two groups": (
        "metrics: {x: {from: stdout, regex: '(a)(b)'}}",
        "BC102",
        "`regex` has 2 groups",
    ),
    "bad regex": (
        "metrics: {x: {from: stdout, regex: '('}}",
        "BC102",
        "`regex` is not a regular expression",
    ),
    "unknown unit": ("metrics: {x: {from: stdout, regex: '(a)', unit: parsec}}", "BC102", "parsec"),
    "bad path": (
        "metrics: {x: {from: stdout, json: 'a[b'}}",
        "BC102",
        "`a[b` is not a JSON path: from `[b` on",
    ),
    "no place": (
        "metrics: {x: {from: stdout}}",
        "BC107",
        "a metric needs `json` or `regex` to locate the number",
    ),
    "two places": (
        "metrics: {x: {from: stdout, json: a, regex: '(a)'}}",
        "BC108",
        "a metric has both `json` and `regex`",
    ),
    "no answer file": (
        "metrics: {x: {from: answer, json: a}}",
        "BC108",
        "`from: answer` needs `answer.file`",
    ),
    "no worker": ("metrics: {x: {from: worker}}", "BC108", "does not follow the protocol"),
    "no stdout": (
        "answer: {stdout: pipe}\nmetrics: {x: {from: stdout, json: a}}",
        "BC108",
        "stdout is not stored, because `answer.stdout` is `pipe`",
    ),
    "counter with a source": (
        "metrics: {instructions: {json: a}}",
        "BC108",
        "`json` has no effect on `instructions`, which benchctl counts",
    ),
    "counted once only": ("metrics: {instructions: {runs: 1}}", "BC102", "at least 2"),
    "runs of another": (
        "metrics: {x: {from: stdout, json: a, runs: 2}}",
        "BC108",
        "`runs` has an effect only for `instructions`",
    ),
    "no direction": (
        "metrics: {x: {from: stdout, json: a}}\njudge: [wall, x]",
        "BC206",
        "it has no `direction`",
    ),
    "unknown": (
        "judge: [wall, wal]",
        "BC206",
        "`wal` cannot be judged: this worker reports no metrics",
    ),
    "twice": ("judge: [wall, wall]", "BC104", "`judge` lists `wall` twice"),
    "build time": ("judge: [build_time]", "BC206", "each variant is built only once"),
    "derived": ("judge: [throughput]", "BC206", "it is computed from other metrics"),
    "nothing is built": ("judge: [wall, binary_size]", "BC206", "nothing is built"),
    "counted once": (
        "judge: [wall, minor_faults]",
        "BC206",
        "without the worker protocol it is counted in only one run",
    ),
    "margin of nothing": ("margin: {speed: 2%}", "BC206", "there is no metric `speed`"),
}


@pytest.mark.parametrize("name", BAD)
def test_one_mistake_is_one_problem(name: str, refuses: Callable[..., ScenarioError]) -> None:
    text, code, words = BAD[name]
    (problem,) = refuses(AXES + text).problems
    assert problem.code == code
    assert words in f"{problem.message} {problem.label}"


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
