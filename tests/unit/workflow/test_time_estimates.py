"""Tests of the estimates from earlier records: durations and minimum detectable effects."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Build
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.stats.holm_family import minimum_detectable_effect
from bench_framework.workflow.run_options import plan_scenario
from bench_framework.workflow.setup import time_estimates
from bench_framework.workflow.setup.time_estimates import (
    GUESS_S,
    GUESSED,
    REBUILT,
    SAME,
    SCALED,
    EarlierRecord,
)
from tests.build import make_comparison
from tests.unit.workflow.measured_record import copy_record

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
    """Return a record of a plan; `half` is the half-width of its 95 % intervals after 40 rounds."""
    interval = Interval(1.0, math.exp(-(half or 0)), math.exp(half or 0), 0.95)
    comparisons = [
        make_comparison(
            c.id, base.id, metric, "headline", Verdict.INCONCLUSIVE, unadjusted=interval, rounds=40
        )
        for c in plan.cells
        if (base := plan.baseline_cell(c.input_id)) and base.id != c.id and half
        for metric in plan.judge.metrics
    ]
    builds = {name: Build(name, ok=True, sha256=digest) for name, digest in binaries.items()}
    durations = {c.id: seconds for c in plan.cells}
    return EarlierRecord(f"{plan.name}/1", plan, durations, comparisons, builds)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_estimates, "_binaries_now", lambda *_: {"program": "new"})


@pytest.mark.usefixtures("now")
def test_the_nearest_cell_gives_the_estimate(tmp_path: Path) -> None:
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
def test_the_first_record_with_a_cell_gives_its_estimate(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    total, _ = time_estimates.block_times(
        plan, [record(plan, 0.2, program="new"), record(plan, 9.0)]
    )
    assert total == pytest.approx(0.4)


def test_detectable_effects_follow_from_the_noise_of_the_record(tmp_path: Path) -> None:
    """Half-widths shrink with the root of the rounds; level and family are those of the plan."""
    plan = plan_of(tmp_path)
    longer = replace(plan, measure=replace(plan.measure, rounds_max=160))
    looks = looks_of(longer)
    resolution = time_estimates.resolution(
        longer, looks, [record(plan_of(tmp_path, name="other"), 0.1, 0.04)], rounds=160
    )
    assert (resolution.record, resolution.pairs) == ("other/1", 2)
    strict = plan.judge.level / (len(looks.rounds) * looks.family)
    assert resolution.by_metric == {
        metric: pytest.approx(
            math.expm1(minimum_detectable_effect(0.02, strict, plan.judge.epsilon))
        )
        for metric in ("wall", "cpu")
    }


def test_other_programs_of_the_same_scenario_are_the_fallback(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    changed = replace(plan, program=("/bin/other",))
    resolution = time_estimates.resolution(plan, looks_of(plan), [record(changed, 0.1, 0.04)], 40)
    assert (resolution.record, resolution.pairs) == ("s/1", 0)
    stranger = replace(changed, name="t")
    assert (
        time_estimates.resolution(plan, looks_of(plan), [record(stranger, 0.1, 0.04)], 40).record
        == ""
    )


def test_records_of_other_machines_and_damaged_ones_are_ignored(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    folder = copy_record(plain, results / plain.parent.name / plain.name)
    assert time_estimates.earlier_records(plain.parent.name, results) == ()
    monkeypatch.setattr(time_estimates, "this_host_id", lambda: "f" * 12)
    claims = folder / "claims.json"
    other = re.sub('"schema_version": *[0-9]+', '"schema_version": 3', claims.read_text(), count=1)
    # Without a judgement of this version, the journal has the durations.
    for text, judged in ((claims.read_text(), True), (other, False), (None, False)):
        claims.write_text(text) if text is not None else claims.unlink()
        (record,) = time_estimates.earlier_records(plain.parent.name, results)
        assert record.name == f"{plain.parent.name}/{plain.name}"
        assert record.seconds.keys() == {cell.id for cell in record.plan.cells}
        assert bool(record.comparisons) == judged
        assert {build.build_s for build in record.builds.values()} == {41.5}
    (folder / "journal.jsonl").write_text("{}\n")
    assert time_estimates.earlier_records(plain.parent.name, results) == ()
