"""CPUs of a plan that may be missing on this machine."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.errors import MachineError
from bench_framework.execution import target
from bench_framework.model.plan import Plan
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand

SCENARIO = """\
version: 1
name: pinned
question: Does one core do?
worker: {command: [/bin/true]}
axes:
  cores: {all: {}, one: {cpus: 1}, some: {cpus: "0,2-3"}}
command: ["{bin}"]
baseline: {cores: all}
measure: {cpus: 0-3}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO)
    return expand(load(path))


def test_an_axis_value_overrides_the_list_of_the_scenario(plan: Plan) -> None:
    assert {cell.label: cell.cpus for cell in plan.cells} == {
        "all": "0-3",
        "one": "1",
        "some": "0,2-3",
        "control": "0-3",
    }


def test_available_cpus_are_accepted(plan: Plan) -> None:
    target.require_cpus(plan.cells, {0, 1, 2, 3, 7})


def test_the_error_for_a_missing_cpu_lists_the_available_ones(plan: Plan) -> None:
    with pytest.raises(MachineError) as caught:
        target.require_cpus(plan.cells, {0, 1})
    assert caught.value.code == "BX238"
    assert (
        caught.value.message == "`cpus: 0-3` contains CPU 2-3, which cannot be used on this machine"
    )
    assert dict(caught.value.details) == {"cells": "all, control", "available": "0-1"}


def test_the_error_quotes_only_the_list_with_a_missing_cpu(plan: Plan) -> None:
    some = tuple(cell for cell in plan.cells if cell.cpus != "0-3")
    with pytest.raises(MachineError, match=r"`cpus: 0,2-3` contains CPU 3,"):
        target.require_cpus(some, {0, 1, 2})


def test_a_plan_without_cpus_needs_none(plan: Plan) -> None:
    target.require_cpus(tuple(replace(cell, cpus=None) for cell in plan.cells), ())


def test_reading_available_cpus_does_not_change_our_affinity() -> None:
    before = os.sched_getaffinity(0)
    assert target.available_cpus() >= before
    assert os.sched_getaffinity(0) == before
