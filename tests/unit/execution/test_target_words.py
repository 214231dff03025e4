"""Filled commands, and CPUs of a plan that may be missing on this machine."""

import os
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.errors import CellError, MachineError
from bench_framework.execution import target
from bench_framework.execution.machine.cpus import available_cpus, parse_cpus
from bench_framework.execution.target import target_of
from bench_framework.model.plan.arguments import BIN, INPUT
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.record.run import Build, PreparedInput
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand

BUILD = Build("b", ok=True, path="/store/prog", control_path="/store/control/prog")
DATA = PreparedInput("i", "/data/in put.txt", 5, "0", "prose", 1)
CELL = Cell("c", "v", "i", "label", Role.CANDIDATE, ((BIN,), ("--in=", INPUT), ("{bin}",)))
ENV = {"PATH": "/bin", "LANG": "C"}


def test_slots_are_filled_and_literal_braces_stay() -> None:
    target = target_of(CELL, BUILD, DATA, ENV)
    assert target.argv == ("/store/prog", "--in=/data/in put.txt", "{bin}")


def test_the_control_runs_the_copy() -> None:
    target = target_of(replace(CELL, role=Role.CONTROL), BUILD, DATA, ENV)
    assert target.argv[0] == "/store/control/prog"


def test_the_control_runs_the_program_itself_without_a_copy() -> None:
    target = target_of(
        replace(CELL, role=Role.CONTROL), replace(BUILD, control_path=None), DATA, ENV
    )
    assert target.argv[0] == "/store/prog"


def test_the_working_directory_is_the_cells_or_the_inputs() -> None:
    assert target_of(CELL, BUILD, DATA, ENV).cwd == "/data"
    assert target_of(replace(CELL, cwd="/work"), BUILD, DATA, ENV).cwd == "/work"
    assert target_of(replace(CELL, command=((BIN,),)), BUILD, None, ENV).cwd is None


def test_the_cells_variables_are_added_to_the_environment() -> None:
    target = target_of(replace(CELL, env=(("LANG", "de"), ("X", "1"))), BUILD, DATA, ENV)
    assert target.env == {"PATH": "/bin", "LANG": "de", "X": "1"}


def test_stdin_prepare_and_cleanup_are_filled_too() -> None:
    cell = replace(
        CELL,
        stdin=(INPUT,),
        prepare=((("cp",), (INPUT,), (INPUT, ".copy")),),
        cleanup=((("rm",), ("x",)),),
    )
    target = target_of(cell, BUILD, DATA, ENV)
    assert target.stdin == "/data/in put.txt"
    assert target.prepare == (("cp", "/data/in put.txt", "/data/in put.txt.copy"),)
    assert target.cleanup == (("rm", "x"),)


def test_a_shell_is_used_only_on_request() -> None:
    target = target_of(replace(CELL, shell=True, command=((BIN,), ("| wc",))), BUILD, DATA, ENV)
    assert target.argv == ("/bin/sh", "-c", "/store/prog | wc")


def test_paths_are_quoted_only_for_the_shell() -> None:
    build = replace(BUILD, path="/it's here/$(prog);")
    cell = replace(CELL, shell=True, command=((BIN, " 'a b' < ", INPUT, " | wc"),), stdin=(INPUT,))
    target = target_of(replace(cell, prepare=((("touch",), (INPUT,)),)), build, DATA, ENV)
    assert shlex.split(target.argv[2]) == [build.path, "a b", "<", "/data/in put.txt", "|", "wc"]
    assert target.stdin == "/data/in put.txt"
    assert target.prepare == (("touch", "/data/in put.txt"),)


def test_a_slot_without_a_value_is_an_error() -> None:
    with pytest.raises(CellError, match=r"\{input\}"):
        target_of(CELL, BUILD, None, ENV)
    with pytest.raises(CellError, match=r"\{bin\}"):
        target_of(CELL, None, DATA, ENV)


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("", ()), ("0", (0,)), ("0-2", (0, 1, 2)), ("3, 0-1", (0, 1, 3)), ("1,1", (1,))],
)
def test_cpu_lists(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpus(text) == cpus


def test_a_bad_cpu_list_is_an_error() -> None:
    with pytest.raises(CellError, match="not a list of CPUs"):
        parse_cpus("all")


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
    expected = {"all": "0-3", "one": "1", "some": "0,2-3", "control": "0-3"}
    assert {cell.label: cell.cpus for cell in plan.cells} == expected


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
    assert available_cpus() >= before
    assert os.sched_getaffinity(0) == before
