"""Tests that unknown judged metrics are refused before anything is measured."""

from pathlib import Path

import pytest

from bench_framework.errors import MachineError
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Build
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.workflow.setup.capability import require_known

DESCRIPTION = {
    "metrics": [
        {"name": "waits", "unit": "count", "direction": "lower"},
        {"name": "version", "unit": "count", "direction": "none"},
    ]
}


def plan_of(folder: Path, judge: str) -> Plan:
    text = (
        "version: 1\nname: n\nquestion: q\nworker: {command: [p], contract: true}\naxes: {arm: [a, b]}\n"
        "command: ['{bin}', '{arm}']\nbaseline: {arm: a}\nmetrics: {declared: {from: worker, direction: higher}}\n"
    )
    return expand(load(folder / "s.yaml", text=f"{text}judge: [{judge}]\n"))


def test_announced_declared_and_built_in_metrics_are_accepted(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "wall, waits, declared, minor_faults, instructions")
    require_known(
        plan.judge.metrics, plan.metrics, [Build("program", ok=True, describe=DESCRIPTION)]
    )


@pytest.mark.parametrize(
    ("metric", "words"),
    [("wait", "announces no such metric"), ("version", "announces it without a direction")],
)
def test_other_metrics_are_refused_with_the_announced_ones(
    metric: str, words: str, tmp_path: Path
) -> None:
    plan, build = (
        plan_of(tmp_path, f"wall, {metric}"),
        Build("program", ok=True, describe=DESCRIPTION),
    )
    with pytest.raises(MachineError) as caught:
        require_known(plan.judge.metrics, plan.metrics, [build])
    assert caught.value.code == "BX252"
    assert words in caught.value.message
    assert caught.value.details == (("announced", "waits"),)
