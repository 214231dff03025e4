"""CPUs of a cell, checked by the timed program itself."""

import csv
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.store import layout
from tests.integration.execution.conftest import blocks_of, plan_of

pytestmark = pytest.mark.real


def expects(cpus: Sequence[int]) -> list[str]:
    """Return a command that fails unless its affinity is exactly these CPUs."""
    expected = f"{{{', '.join(map(str, cpus))}}}"
    return [
        sys.executable,
        "-IS",
        "-c",
        f"import os, sys; sys.exit(os.sched_getaffinity(0) != {expected})",
    ]


def test_an_axis_pins_the_timed_program_and_no_other_cell(real: Any) -> None:
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) < 2:
        pytest.skip("one CPU cannot show a pinned program: this needs two")
    last = mine[-1]
    policy = MeasurePolicy(rounds_min=2, rounds_max=2, until="rounds", warmup_rounds=0)
    arms = {"free": expects(mine), "pinned": expects([last]), "astray": expects([last])}
    plan = plan_of(arms, measure=policy)
    cells = tuple(replace(c, cpus=str(last)) if c.label == "pinned" else c for c in plan.cells)
    record = real.measure(replace(plan, cells=cells))
    statuses = {label: {b.status for b in blocks_of(record, label)} for label in (*arms, "control")}
    assert statuses == {"free": {"ok"}, "pinned": {"ok"}, "control": {"ok"}, "astray": {"failed"}}
    record.save()
    with (record.path / layout.RUNS).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {("free", ""), ("pinned", str(last)), ("astray", ""), ("control", "")}
    assert {(row["variant"], row["cpus"]) for row in rows} == expected


def test_a_missing_cpu_fails_only_its_cell(real: Any) -> None:
    """`benchctl run` checks CPUs before, but a CPU may go away during measuring."""
    policy = MeasurePolicy(rounds_min=2, rounds_max=2, until="rounds", warmup_rounds=0)
    plan = plan_of({"a": ["/bin/true"], "b": ["/bin/true"]}, control=False, measure=policy)
    cells = tuple(replace(c, cpus="8000") if c.label == "b" else c for c in plan.cells)
    record = real.measure(replace(plan, cells=cells))
    assert {b.status for b in blocks_of(record, "a")} == {"ok"}
    assert {b.status for b in blocks_of(record, "b")} == {"failed"}
