"""Tests that variants which a machine cannot run become holes with the reason of the worker."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import MachineError
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.description import settings_with
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.workflow.setup.capability import leave_out, limits, narrowed_as

SCENARIO = """\
version: 1
name: n
question: Which way reads fastest?
worker: {command: [/usr/bin/prog], contract: true}
axes: {io: [read, uring, mmap], threads: [1, 2], size: [1MiB, 2MiB]}
input: {dataset: prose, size: "{size}", seed: 1}
command: ["{bin}", "{io}", "{threads}", "{input}"]
baseline: {io: read, threads: 1}
experiments: [{name: ring, change: {io: uring}, decision: open}]
cells: {ring: {io: uring}, plain: {io: read}}
"""
REASON = "io_uring_setup failed with EPERM (1)"
UNAVAILABLE = Reason(ReasonCode.UNAVAILABLE, REASON, "io=uring")


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return expand(load(tmp_path / "s.yaml", text=SCENARIO))


def described(**missing: str) -> dict[str, Any]:
    names = ("read", "uring", "mmap")
    values = [{"name": name, "about": "", "unavailable": missing.get(name)} for name in names]
    return {"program": {"protocol": 1, "axes": {"io": {"about": "", "values": values}}}}


def test_a_plan_that_can_run_is_not_changed(plan: Plan) -> None:
    assert leave_out(plan, described()) is plan
    assert leave_out(plan, {}) is plan
    assert leave_out(plan, {"program": {"axes": "nonsense"}}) is plan


def test_a_variant_that_cannot_run_is_a_hole_with_its_reason(plan: Plan) -> None:
    able = leave_out(plan, described(uring=REASON))
    assert {dict(v.values)["io"] for v in able.variants} == {"read", "mmap"}
    assert not [c for c in able.cells if dict(plan.variant(c.variant_id).values)["io"] == "uring"]
    assert len(able.cells) == len(plan.cells) - 4
    assert [dict(hole.values) for hole in able.holes] == [
        {"io": "uring", "threads": threads, "size": size}
        for size in ("1MiB", "2MiB")
        for threads in ("1", "2")
    ]
    assert {hole.reason for hole in able.holes} == {UNAVAILABLE}
    assert able.experiments == ()
    assert [cell.name for cell in able.named] == ["plain"]
    assert sum(c.role is Role.CONTROL for c in able.cells) == 2


def test_the_gate_has_no_cell_of_a_variant_that_cannot_run(tmp_path: Path) -> None:
    gate = 'gate: {cells: "io!=mmap", budgets: [{cell: "threads=1", metric: wall, max: 1s}]}\n'
    plan = expand(load(tmp_path / "s.yaml", text=SCENARIO + gate))
    able = leave_out(plan, described(uring=REASON))
    chosen, (budget,) = able.judge.gate.chosen, able.judge.gate.budgets
    cells = {cell.id for cell in able.cells}
    assert chosen
    assert budget.cell_ids
    assert {*chosen, *budget.cell_ids} <= cells
    assert {*(plan.judge.gate.chosen or ())} > {*chosen}


def test_a_plan_is_narrowed_as_that_of_a_record(plan: Plan) -> None:
    able = leave_out(plan, described(uring=REASON))
    assert narrowed_as(plan, able) == able
    assert narrowed_as(plan, plan) == plan
    more_rounds = replace(plan, measure=replace(plan.measure, rounds_max=99))
    assert narrowed_as(more_rounds, able) != able
    assert narrowed_as(plan, leave_out(plan, described(mmap="no such call"))) != able


def test_a_baseline_that_cannot_run_is_an_error_with_its_reason(plan: Plan) -> None:
    with pytest.raises(MachineError) as caught:
        leave_out(plan, described(read="no such call"))
    assert caught.value.code == "BX223"
    assert (
        caught.value.message
        == "the baseline cannot run on this machine: io=read is not available here: no such call"
    )


@pytest.mark.parametrize("words", ['--io, "{mode}"', '"--io={mode}"'])
def test_options_in_a_command_are_checked_too(tmp_path: Path, words: str) -> None:
    text = SCENARIO.replace("io: [read, uring, mmap]", "mode: [read, uring, mmap]")
    text = (
        text.replace("io: read", "mode: read")
        .replace("io: uring", "mode: uring")
        .replace('"{io}"', words)
    )
    able = leave_out(expand(load(tmp_path / "s.yaml", text=text)), described(uring=REASON))
    assert {dict(v.values)["mode"] for v in able.variants} == {"read", "mmap"}
    assert {hole.reason for hole in able.holes} == {UNAVAILABLE}


def test_a_plan_without_a_candidate_is_an_error(tmp_path: Path) -> None:
    text = SCENARIO.replace("[read, uring, mmap]", "[read, uring]").replace("[1, 2]", "[1]")
    plan = expand(load(tmp_path / "s.yaml", text=text))
    with pytest.raises(MachineError, match="no candidate can run on this machine"):
        leave_out(plan, described(uring=REASON))


def test_an_unknown_axis_or_value_is_available(plan: Plan) -> None:
    worker = described(uring=REASON)
    assert {s for _, s in settings_with("unavailable", plan, worker)} == {("io", "uring", REASON)}
    worker["program"]["axes"]["io"]["values"].pop(1)
    assert not [*settings_with("unavailable", plan, worker)]


def test_a_value_below_what_the_machine_offers_is_a_warning_with_its_variants(plan: Plan) -> None:
    reason = "built for sse2, and this processor has avx2"
    descriptions = described()
    descriptions["program"]["axes"]["io"]["values"][2]["limited"] = reason
    (event,) = limits(plan, descriptions)
    assert (event.code, event.severity) == ("BX312", "warning")
    assert event.message == f"io=mmap does not use all that this processor offers: {reason}"
    assert event.effect == "the times of 2 variants are those of this build"
    assert event.help is not None
    assert "target-cpu=native" in event.help
    assert dict(event.details)["variants"] == "mmap + threads=1, mmap + threads=2"
    assert limits(plan, described()) == limits(plan, {}) == ()
