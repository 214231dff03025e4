"""What earlier records tell of a plan: times by basis, and the differences that it can decide."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bench_framework.compare.verdict import Rules
from bench_framework.execution.host import this_host_id
from bench_framework.model.judgement import Comparison
from bench_framework.model.looks import looks_of
from bench_framework.model.plan import Plan
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.stats.holm_family import detectable
from bench_framework.workflow import time_estimates
from bench_framework.workflow.scenarios import plan_scenario
from bench_framework.workflow.time_estimates import (
    GUESS_S,
    GUESSED,
    REBUILT,
    SAME,
    SCALED,
    EarlierRecord,
)

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """\
version: 1
name: NAME
question: Which arm?
worker: {command: [/bin/true]}
axes: {arm: [a, b], size: SIZES}
input: {dataset: prose, size: "{size}", seed: 42}
command: ["{bin}", "{arm}", "{input}"]
baseline: {arm: a}
measure: {rounds: {min: 12, max: 40}, control: false}
"""


def plan_of(folder: Path, *, name: str = "s", sizes: str = "[1MiB]") -> Plan:
    path = folder / f"{name}.yaml"
    path.write_text(SCENARIO.replace("NAME", name).replace("SIZES", sizes))
    return plan_scenario(str(path))


def record(plan: Plan, seconds: float, half: float | None = None, **binaries: str) -> EarlierRecord:
    """A record of this plan; with `half` its comparisons have 95 % intervals of that half-width over 40 rounds."""
    shown = Interval(1.0, math.exp(-(half or 0)), math.exp(half or 0), 0.95)
    made = [
        Comparison(
            c.id, base.id, metric, "headline", Verdict.INCONCLUSIVE, typical=shown, rounds=40
        )
        for c in plan.cells
        if (base := plan.baseline_cell(c.input_id)) and base.id != c.id and half
        for metric in plan.judge.metrics
    ]
    return EarlierRecord(
        f"{plan.name}/1", plan, {c.id: seconds for c in plan.cells}, made, binaries
    )


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_estimates, "_binaries_now", lambda _: {"program": "new"})


@pytest.mark.usefixtures("now")
def test_a_cell_is_estimated_by_what_is_nearest(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, sizes="[1MiB, 4MiB]")
    small = plan_of(tmp_path, name="other")
    total, basis = time_estimates.block_times(plan, [record(small, 0.5, program="new")])
    assert basis == {SAME: 2, SCALED: 2}
    assert total == pytest.approx(2 * 0.5 + 2 * 0.5 * 4)
    total, basis = time_estimates.block_times(plan, [record(small, 0.5, program="old")])
    assert basis == {REBUILT: 2, SCALED: 2}
    total, basis = time_estimates.block_times(plan, [])
    assert total == pytest.approx(4 * GUESS_S)
    assert basis == {GUESSED: 4}


@pytest.mark.usefixtures("now")
def test_the_first_record_that_knows_a_cell_is_believed(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    total, _ = time_estimates.block_times(
        plan, [record(plan, 0.2, program="new"), record(plan, 9.0)]
    )
    assert total == pytest.approx(0.4)


def test_what_a_plan_decides_follows_from_the_noise_of_the_record(tmp_path: Path) -> None:
    """Half-widths shrink with the root of the rounds; level and family are the plan's own, the formula a verdict's."""
    plan = plan_of(tmp_path)
    longer = replace(plan, measure=replace(plan.measure, rounds_max=160))
    looks = looks_of(longer)
    found = time_estimates.resolution(
        longer, looks, [record(plan_of(tmp_path, name="other"), 0.1, 0.04)]
    )
    rules = Rules(looks.count, looks.family, looks.level, seed=0)
    assert (found.record, found.pairs) == ("other/1", 2)
    assert found.by_metric == {
        metric: pytest.approx(math.expm1(detectable(0.02, rules.strict, plan.judge.epsilon)))
        for metric in ("wall", "cpu")
    }


def test_the_same_scenario_with_other_programs_is_better_than_nothing(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    changed = replace(plan, program=("/bin/other",))
    found = time_estimates.resolution(plan, looks_of(plan), [record(changed, 0.1, 0.04)])
    assert (found.record, found.pairs) == ("s/1", 0)
    stranger = replace(changed, name="t")
    assert (
        time_estimates.resolution(plan, looks_of(plan), [record(stranger, 0.1, 0.04)]).record == ""
    )


def test_records_of_other_hosts_and_broken_ones_tell_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "s" / "20260302T1704Z"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_text("{}\n")
    (folder / "env.json").write_text("{")
    assert time_estimates.earlier_records(plan_of(tmp_path), tmp_path / "results") == ()
    (folder / "env.json").write_text(json.dumps({"host_id": this_host_id()}))
    assert time_estimates.earlier_records(plan_of(tmp_path), tmp_path / "results") == ()
