"""Runs outside timing, with real programs: what the kernel counts, what valgrind counts, and what it cannot."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bench_framework.errors import Interrupted, MachineError
from bench_framework.execution import observations
from bench_framework.execution.instructions import Counter, counter
from bench_framework.execution.progress import Counting
from bench_framework.execution.stop import Stop
from bench_framework.model.metrics import KERNEL_KEYS, DeclaredMetric, InstructionPolicy
from bench_framework.model.policies import AnswerPolicy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bench_framework.model.observation import Observation
    from bench_framework.model.plan import Plan
    from bench_framework.store.records import Record

needs_valgrind = pytest.mark.skipif(
    "valgrind" in os.environ.get("BENCHCTL_TESTS_WITHOUT", "").split(","),
    reason="BENCHCTL_TESTS_WITHOUT names valgrind",
)


def observe(lab: Any, plan: Plan, record: Record) -> list[Observation]:
    with record:
        observations.observe_cells(
            plan,
            record,
            builds=[lab.build],
            inputs=(),
            launcher=lab.launcher,
            observer=lab.observer,
            stop=lab.stop,
            env=lab.env,
        )
    return record.contents.observations


def script(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_kernel_counts_each_cell_once_and_the_control_never(
    fake: Any, plan_of: Callable[..., Plan]
) -> None:
    plan = plan_of({"a": ["/bin/true"], "b": ["/bin/echo", "hello"]})
    record = fake.measure(plan)
    found = observe(fake, plan, record)
    assert [(plan.cell(o.cell_id).label, o.kind, o.status) for o in found] == [
        ("a", "observed", "ok"),
        ("b", "observed", "ok"),
    ]
    for observation in found:
        assert set(observation.values) == set(KERNEL_KEYS)
        assert observation.values["minor_faults"] > 10
    assert len(observe(fake, plan, record)) == 2, "a record that is continued keeps what it has"


def test_bytes_of_storage_are_those_of_the_program(
    fake: Any, plan_of: Callable[..., Plan], tmp_path: Path
) -> None:
    out = tmp_path / "written"
    program = script(
        tmp_path, "write", f"dd if=/dev/zero of={out} bs=1M count=3 conv=fsync 2>/dev/null"
    )
    plan = plan_of({"a": ["/bin/true"], "b": [program]}, control=False)
    none, some = observe(fake, plan, fake.measure(plan))
    on_disk = some.values["write_bytes"]
    assert on_disk == 0 or on_disk >= 3 << 20, (
        "a file in memory is not written to storage, one on a disk is"
    )
    assert none.values["write_bytes"] < 1 << 20


def test_a_run_that_fails_is_an_observation_without_values(
    fake: Any, plan_of: Callable[..., Plan], tmp_path: Path
) -> None:
    program = script(tmp_path, "bad", "echo why >&2; exit 3")
    plan = plan_of({"a": ["/bin/true"], "b": [program]})
    good, bad = observe(fake, plan, fake.measure(plan))
    assert good.status == "ok"
    assert (bad.status, dict(bad.values), bad.message) == ("failed", {}, "exit status 3: why")


def test_another_answer_than_when_it_was_timed_is_not_counted(
    fake: Any, plan_of: Callable[..., Plan]
) -> None:
    fake.script({"match": "echo", "stdout": "other\n"})
    plan = plan_of(
        {"a": ["/bin/echo", "hello"], "b": ["/bin/echo", "hello", ""]}, answer=AnswerPolicy("exact")
    )
    found = observe(fake, plan, fake.measure(plan))
    assert {o.status for o in found} == {"failed"}
    assert "is not" in (found[0].message or "")


def test_prepare_and_cleanup_stand_around_the_run(
    fake: Any, plan_of: Callable[..., Plan], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    note = script(tmp_path, "note", f'echo "$1" >> {log}')
    around = {"prepare": (((note,), ("before",)),), "cleanup": (((note,), ("after",)),)}
    plan = plan_of({"a": [note, "run"]}, control=False, cell=around)
    record = fake.measure(plan)
    log.unlink()
    observe(fake, plan, record)
    assert log.read_text().split() == ["before", "run", "after"]


def test_a_stop_keeps_what_was_counted(fake: Any, plan_of: Callable[..., Plan]) -> None:
    plan = plan_of({"a": ["/bin/true"], "b": ["/bin/true", "b"]})
    record = fake.measure(plan)
    stop = Stop(fake.launcher)
    fake.stop = stop
    fake.observer.react = lambda h: stop.request() if isinstance(h, Counting) else None
    with pytest.raises(Interrupted):
        observe(fake, plan, record)
    assert len(record.contents.observations) == 1
    fake.stop, fake.observer.react = Stop(fake.launcher), None
    assert len(observe(fake, plan, record)) == 2


@needs_valgrind
def test_instructions_are_the_same_however_often_they_are_counted(
    fake: Any, plan_of: Callable[..., Plan]
) -> None:
    plan = replace(
        plan_of({"a": ["/bin/echo", "x"], "b": ["/usr/bin/seq", "20000"]}, control=False),
        instructions=InstructionPolicy(runs=2),
    )
    found = observe(fake, plan, fake.measure(plan))
    counts = {
        label: [
            o.values["instructions"]
            for o in found
            if o.kind == "instructions" and plan.cell(o.cell_id).label == label
        ]
        for label in ("a", "b")
    }
    assert {len(values) for values in counts.values()} == {2}
    for values in counts.values():
        assert max(values) / min(values) < 1.001
    assert counts["b"][0] > 1.5 * counts["a"][0]


@needs_valgrind
def test_a_program_that_valgrind_cannot_count_costs_only_itself(
    fake: Any, plan_of: Callable[..., Plan], tmp_path: Path
) -> None:
    slow = script(tmp_path, "slow", "sleep 60")
    plan = replace(
        plan_of({"a": ["/bin/true"], "b": [slow]}, control=False),
        instructions=InstructionPolicy(runs=2, timeout_s=3.0),
        answer=AnswerPolicy("none", contract=False),
        measure=replace(plan_of({"a": ["x"]}).measure, timeout_s=0.2),
    )
    found = [o for o in observe(fake, plan, fake.measure(plan)) if o.kind == "instructions"]
    assert [o.status for o in found] == ["ok", "ok", "timeout"]
    assert "took longer than 3 s" in (found[-1].message or "")


@needs_valgrind
def test_a_shell_and_what_it_starts_are_counted_together(
    fake: Any, plan_of: Callable[..., Plan], tmp_path: Path
) -> None:
    twice = script(
        tmp_path, "twice", "/usr/bin/seq 20000 >/dev/null; /usr/bin/seq 20000 >/dev/null; true"
    )
    plan = replace(
        plan_of({"once": ["/usr/bin/seq", "20000"], "twice": [twice]}, control=False),
        instructions=InstructionPolicy(runs=1),
    )
    once, both = (
        o.values["instructions"]
        for o in observe(fake, plan, fake.measure(plan))
        if o.kind != "observed"
    )
    assert both > 1.9 * once


def test_a_machine_without_a_counter_says_so(fake: Any) -> None:
    for tool in ("valgrind", "perf"):
        policy = InstructionPolicy(tool=tool)
        with pytest.raises(MachineError) as caught:
            counter(policy, fake.launcher, {**fake.env, "PATH": str(fake.root)})
        assert (caught.value.code, f"{tool} is not installed" in caught.value.message) == (
            "BX250",
            True,
        )


def test_perf_counts_where_the_processor_can_be_asked_and_is_refused_elsewhere(fake: Any) -> None:
    found: Counter | MachineError
    try:
        found = counter(InstructionPolicy(tool="perf"), fake.launcher, fake.env)
    except MachineError as error:
        found = error
    if isinstance(found, MachineError):
        assert found.code == "BX250"
        assert "take `instructions` out" in (found.help or "")


def test_a_declared_metric_is_read_after_each_block(
    fake: Any, plan_of: Callable[..., Plan], events_of: Callable[..., list[Any]]
) -> None:
    fake.script(
        {"match": "true a", "stdout": "requests/s: 100\n"},
        {"match": "true b", "stdout": "requests/s: many\n"},
    )
    plan = replace(
        plan_of({"a": ["/bin/true", "a"], "b": ["/bin/true", "b"]}, control=False),
        metrics=(
            DeclaredMetric(
                "requests", "stdout", "1/s", regex="requests/s: (.*)", direction="higher"
            ),
        ),
    )
    record = fake.measure(plan)
    by_label: dict[str, list[Any]] = {"a": [], "b": []}
    for block in record.contents.blocks:
        by_label[plan.cell(block.cell_id).label].append(block)
    assert {b.metric("requests") for b in by_label["a"]} == {100.0}
    assert {b.metric("requests") for b in by_label["b"]} == {None}
    (event,) = events_of(record, "BX217")
    assert event.severity == "error"
    assert 'requests: `requests/s: (.*)` finds "many", which is not a number' in event.message
