"""Tests of `benchctl history` on binaries records."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import bench_framework as bf
from bench_framework.cli.app import app
from bench_framework.errors import BenchError, BuildError, MachineError, UsageError
from bench_framework.execution.progress import SilentObserver
from bench_framework.extensions.history import backfill as backfilling, series as histories
from bench_framework.extensions.history.record_summary import read_summary
from bench_framework.extensions.history.series import scenario_history
from bench_framework.features.judge import judge
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.revisions import Revisions
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Build, Host
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.scenario.revisions import at_revision, at_revisions
from bench_framework.workflow.run import RunOutcome
from bench_framework.workflow.run_options import RunOptions
from tests.build import make_comparison
from tests.documents import valid
from tests.unit.machine import HOST
from tests.unit.workflow.history_records import HALF, write_record

SCENARIO = """\
version: 1
name: demo
question: Which is faster?
worker: {command: [/usr/bin/prog]}
axes: {engine: [tokio, rayon], parser: [simd, serde]}
command: ["{bin}", "{engine}", "{parser}"]
baseline: {engine: tokio, parser: simd}
"""
RECORDS = 24


def commit(number: int) -> str:
    return f"{number:02d}" * 20


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Return a plan of four builds of a crate."""
    plan = expand(load(tmp_path / "demo.yaml", text=SCENARIO))
    variants = tuple(
        replace(v, build=BuildSpec("crate", "prog", features=(v.label,))) for v in plan.variants
    )
    builds = tuple(v.build for v in variants if v.build)
    cells = tuple(replace(c, command=((BIN,),)) for c in plan.cells)
    return replace(plan, variants=variants, cells=cells, builds=builds)


def builds(plan: Plan, number: int) -> tuple[Build, ...]:
    return tuple(
        Build(spec.id, ok=True, sha256=f"{n}{commit(number)}", revision=commit(number), dirty=False)
        for n, spec in enumerate(plan.builds)
    )


def built(plan: Plan) -> tuple[Build, ...]:
    """Return the builds of a plan of several revisions."""
    return tuple(
        Build(s.id, ok=True, sha256=f"{n}{s.revision}", revision=s.revision, dirty=False)
        for n, s in enumerate(plan.builds)
    )


def write(
    results: Path,
    plan: Plan,
    records: Sequence[int] = range(RECORDS),
    *,
    slower: float = 1.0,
    since: int = 12,
    host: Host = HOST,
) -> None:
    """Write records with noise of 1 %; the last configuration changes by a factor."""
    for number in records:
        chance = random.Random(number)
        times = {c.id: 0.1 * math.exp(chance.gauss(0, 0.01)) for c in plan.cells}
        times[plan.cells[-2].id] *= slower if number >= since else 1.0
        write_record(results, plan, number, builds(plan, number), times, host=host)


def run(results: Path, *words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["--dir", str(results), "history", *words])
    assert done.exit_code == code, done.output + str(done.exception)
    return done.stdout


def document(results: Path, *words: str) -> dict[str, Any]:
    return valid("history", run_json(results, *words))


def run_json(results: Path, *words: str) -> str:
    done = CliRunner().invoke(app, ["--dir", str(results), "--json", "history", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_change_is_named_with_its_commits_and_size(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan, slower=1.08)
    result = document(tmp_path, "demo")
    assert result["records"] == RECORDS
    assert [len(one["points"]) for one in result["series"]] == [RECORDS] * 4
    (change,) = [change for one in result["series"] for change in one["changes"]]
    assert (change["before_revision"], change["after_revision"]) == (commit(11), commit(12))
    assert change["lo"] <= 1.08 <= change["hi"]
    text = run(tmp_path, "demo")
    assert "1 of 4 configurations changed." in text
    assert f"{commit(11)[:9]} → {commit(12)[:9]}" in text


def test_three_changes_in_64_commits_are_marked_and_nothing_else(
    tmp_path: Path, plan: Plan
) -> None:
    changes = {14: 1.05, 31: 1.30, 47: 0.80}
    for number in range(64):
        chance = random.Random(number)
        times = {c.id: 0.1 * math.exp(chance.gauss(0, 0.01)) for c in plan.cells}
        times[plan.cells[-2].id] *= math.prod(f for at, f in changes.items() if number >= at)
        write_record(tmp_path, plan, number, builds(plan, number), times, host=HOST)
    *others, changed = document(tmp_path, "demo")["series"]
    assert [one["changes"] for one in others] == [[]] * 3
    assert len(changed["changes"]) == 3
    for change, (at, factor) in zip(changed["changes"], changes.items(), strict=True):
        assert abs(change["at"] - at) <= 1
        assert change["lo"] <= factor <= change["hi"]


def test_a_history_without_changes_says_so(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan)
    assert "None of 4 configurations has a significant change." in run(tmp_path)


@pytest.mark.parametrize("width", [80, 120])
def test_lines_fit_the_terminal(
    tmp_path: Path, plan: Plan, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, plan, slower=1.08)
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, run(tmp_path, "demo").splitlines())) <= width


def test_the_exit_code_is_1_only_for_a_change_in_the_last_records(
    tmp_path: Path, plan: Plan
) -> None:
    write(tmp_path, plan, slower=1.2)
    run(tmp_path, "demo", "--fail-on-change", "12", code=1)
    run(tmp_path, "demo", "--fail-on-change", "11")
    run(tmp_path, "demo")


def test_the_last_records_are_counted_and_not_their_points(tmp_path: Path, plan: Plan) -> None:
    for number in range(1, 13):
        both = at_revisions(plan, Revisions(commit(number - 1), commit(number)))
        chance = random.Random(number)
        since_8 = {commit(n): 1.2 if n >= 8 else 1.0 for n in range(13)}
        ratios = {b.id: since_8[b.revision or ""] for b in both.builds}
        times = {
            c.id: 0.1 * ratios[both.build_id(c)] * math.exp(chance.gauss(0, 0.003))
            for c in both.cells
        }
        write_record(tmp_path, both, number, built(both), times, host=HOST)
    assert {one.records() for one in scenario_history(tmp_path, "demo").series} == {12}
    # Five records measured commit 8 or a later one.
    run(tmp_path, "demo", "--fail-on-change", "5", code=1)
    run(tmp_path, "demo", "--fail-on-change", "4")


def test_two_records_are_listed_without_changes(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan, [11, 12], slower=1.5)
    assert "benchctl compare @prev @last" in " ".join(run(tmp_path, "demo").split())


def test_one_record_is_not_compared_with_another(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan, [11])
    page = " ".join(run(tmp_path, "demo").split())
    assert "@prev" not in page
    assert "--backfill measures earlier commits" in page


def test_configurations_and_metrics_are_selected(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan)
    result = document(tmp_path, "demo", "-k", "engine=rayon")
    assert [one["values"]["engine"] for one in result["series"]] == ["rayon", "rayon"]
    with pytest.raises(UsageError, match="no metric speed"):
        scenario_history(tmp_path, "demo", metric="speed")
    with pytest.raises(UsageError, match="has the metric cpu"):
        scenario_history(tmp_path, "demo", metric="cpu")


def test_other_machines_are_left_out(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan, range(6), host=replace(HOST, cpu="other"))
    write(tmp_path, plan, range(6, 16))
    result = scenario_history(tmp_path, "demo")
    assert (result.records, len(result.left_out)) == (10, 6)
    digest = str(result.left_out[0][1].detail)
    assert scenario_history(tmp_path, "demo", machine=digest).records == 6
    with pytest.raises(UsageError, match="no record is from a machine"):
        scenario_history(tmp_path, "demo", machine="nothing")


def test_a_candidate_has_the_baseline_times_its_ratio(tmp_path: Path, plan: Plan) -> None:
    base, *others = (cell.id for cell in plan.cells if cell.role is not Role.CONTROL)
    medians = {base: 0.1, **dict.fromkeys(others, 0.12)}
    interval = Interval(1.01, 1.0, 1.02, 0.95)
    pair = make_comparison(others[0], base, WALL, "headline", Verdict.EQUIVALENT)
    pair = replace(pair, shown=interval, statistic="typical")
    compared = [pair, replace(pair, cell_id=others[1], statistic="median")]
    write_record(tmp_path, plan, 0, builds(plan, 0), medians, host=HOST, comparisons=compared)
    (folder,) = (tmp_path / "demo").iterdir()
    figures = read_summary(folder, WALL).medians
    assert figures[base] == pytest.approx((0.1, 0.1 * (1 - HALF), 0.1 * (1 + HALF)))
    assert figures[others[0]] == pytest.approx((0.101, 0.101 * (1 - HALF), 0.101 * (1 + HALF)))
    assert figures[others[1]][0] == 0.12  # the statistic is not of the ratios of rounds
    assert figures[others[2]][0] == 0.12


def test_damaged_and_unfinished_records_are_left_out(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan, range(6))
    folders = sorted((tmp_path / "demo").iterdir())
    (folders[0] / "manifest.json").unlink()
    (folders[1] / "cells.csv").write_text("")
    (folders[2] / "plan.json").write_text("{")
    result = scenario_history(tmp_path, "demo")
    codes = (ReasonCode.UNFINISHED, ReasonCode.DAMAGED, ReasonCode.DAMAGED)
    assert [reason.code for _, reason in result.left_out] == [*codes]


def test_without_records_the_error_names_scenarios(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan, range(2))
    with pytest.raises(UsageError) as caught:
        scenario_history(tmp_path, "other")
    assert caught.value.code == "BX101"
    assert "demo/20260302T1804Z" in caught.value.message


def test_a_changed_command_breaks_the_series(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan, range(12))
    other = replace(
        plan, cells=tuple(replace(c, command=((BIN,), ("--more",))) for c in plan.cells)
    )
    write(tmp_path, other, range(12, 24), slower=1.5)
    result = scenario_history(tmp_path, "demo")
    assert [one.breaks for one in result.series] == [(12,)] * 4
    assert not any(one.changes for one in result.series)


def test_revisions_of_one_record_are_points_of_one_series(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan, range(4))
    both = at_revisions(plan, Revisions(commit(3), commit(4)))
    write_record(tmp_path, both, 4, built(both), {c.id: 0.1 for c in both.cells}, host=HOST)
    result = scenario_history(tmp_path, "demo")
    assert len(result.series) == 4
    for one in result.series:
        assert [p.revision for p in one.points[-3:]] == [commit(3), commit(3), commit(4)]


def test_points_are_in_the_order_of_commits(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, plan, range(6))
    order = {commit(n): 5 - n for n in range(5)}
    monkeypatch.setattr(histories, "_positions", lambda *_: order)
    result = scenario_history(tmp_path, "demo")
    assert result.order == "revision"
    assert [p.revision for p in result.series[0].points] == [commit(n) for n in (4, 3, 2, 1, 0)]
    assert [reason for _, reason in result.left_out] == [Reason(ReasonCode.NOT_IN_HEAD)]


def test_a_configuration_with_a_fixed_revision_is_at_the_commit_of_its_record(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        first, *rest = builds(plan, number)
        times = {cell.id: 0.1 for cell in plan.cells}
        write_record(
            *(tmp_path, plan, number, [replace(first, revision="v1"), *rest], times), host=HOST
        )
    order = {commit(n): n for n in range(6)}
    monkeypatch.setattr(histories, "_positions", lambda *_: order)
    result = scenario_history(tmp_path, "demo")
    assert result.left_out == ()
    assert [p.revision for p in result.series[0].points] == ["v1"] * 6
    assert [[p.place for p in one.points] for one in result.series] == [list(range(6))] * 4


def test_uncommitted_changes_are_points_after_their_commit(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        first, *rest = builds(plan, number % 3)
        rest = [replace(build, dirty=number < 3) for build in rest]
        times = {cell.id: 0.1 for cell in plan.cells}
        fixed = replace(first, revision="v1")
        write_record(tmp_path, plan, number, [fixed, *rest], times, host=HOST)
    monkeypatch.setattr(histories, "_positions", lambda *_: {commit(n): n for n in range(6)})
    result = scenario_history(tmp_path, "demo")
    _, *others = [[(p.revision, p.dirty) for p in one.points] for one in result.series]
    assert others == [[(commit(n), dirty) for n in range(3) for dirty in (False, True)]] * 3
    # The points of a record are at one place, also those of a configuration with a fixed revision.
    places: dict[str, set[int]] = {}
    for p in (p for one in result.series for p in one.points):
        places.setdefault(p.record, set()).add(p.place)
    assert [len(place) for place in places.values()] == [1] * 6
    assert "Uncommitted changes (+): 3 records" in " ".join(run(tmp_path, "demo").split())


def test_the_plot_is_an_svg_file(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan, slower=1.2)
    run(tmp_path, "demo", "--plot", str(tmp_path / "x.svg"))
    text = (tmp_path / "x.svg").read_text()
    assert text.startswith("<svg")
    assert text.count("%</text>") == 1
    run(tmp_path, "demo", "--plot", "x.png", code=1)


def test_the_notebook_has_a_row_per_configuration_and_record(tmp_path: Path, plan: Plan) -> None:
    write(tmp_path, plan, slower=1.2)
    frame = bf.history("demo", results=tmp_path)
    assert len(frame) == 4 * RECORDS
    assert frame["change"].notna().sum() == 1
    assert frame.groupby("configuration")["value"].count().tolist() == [RECORDS] * 4
    assert frame.attrs["history"]["scenario"] == "demo"


def test_a_backfill_goes_from_new_to_old_and_skips_measured_commits(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = _backfilling(tmp_path, plan, monkeypatch, measured={commit(4)}, failing={commit(0)})
    done = backfilling.measure_commits(
        "demo.yaml", "a..b", 2, RunOptions(tmp_path), SilentObserver()
    )
    assert tried == [commit(n) for n in (8, 6, 2, 0)]
    assert (done.measured, done.skipped, len(done.failed)) == (3, 1, 1)
    assert done.exit_code == 3


@pytest.mark.parametrize(
    "error",
    [UsageError.from_texts("BX123", "no time"), MachineError.from_texts("BX223", "cannot run")],
)
def test_an_error_of_one_commit_does_not_end_a_backfill(
    error: BenchError, tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = _backfilling(tmp_path, plan, monkeypatch, failing={commit(7)}, error=error)
    done = backfilling.measure_commits(
        "demo.yaml", "a..b", 1, RunOptions(tmp_path), SilentObserver()
    )
    assert len(tried) == 9
    assert (done.measured, done.failed) == (8, ((commit(7), error.message),))


def test_an_error_of_the_machine_ends_a_backfill(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = MachineError.from_texts("BX235", "disk full")
    tried = _backfilling(tmp_path, plan, monkeypatch, failing={commit(7)}, error=error)
    with pytest.raises(MachineError):
        backfilling.measure_commits("demo.yaml", "a..b", 1, RunOptions(tmp_path), SilentObserver())
    assert len(tried) == 2


@pytest.mark.parametrize("unfinished", [True, False])
def test_an_interrupted_backfill_keeps_what_was_measured(
    unfinished: bool, tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = {commit(6)}
    left = last if unfinished else set()
    tried = _backfilling(tmp_path, plan, monkeypatch, interrupted=last, unfinished=left)
    done = backfilling.measure_commits(
        "demo.yaml", "a..b", 1, RunOptions(tmp_path), SilentObserver()
    )
    assert tried == [commit(8), commit(7), commit(6)]
    assert (done.measured, done.exit_code) == (2 if unfinished else 3, 130)
    assert backfilling.summary(done, "benchctl history demo.yaml")[-1] == (
        "interrupted; `benchctl history demo.yaml` resumes"
    )


def _backfilling(
    folder: Path,
    plan: Plan,
    monkeypatch: pytest.MonkeyPatch,
    *,
    measured: set[str] | None = None,
    failing: set[str] | None = None,
    interrupted: set[str] | None = None,
    unfinished: set[str] | None = None,
    error: BenchError | None = None,
) -> list[str]:
    """Replace measuring. Return the list of the commits that are measured."""
    tried: list[str] = []
    (folder / "demo.yaml").write_text(SCENARIO)
    monkeypatch.chdir(folder)

    def measure(plan: Plan, *_: object) -> RunOutcome:
        (revision,) = {spec.revision for spec in plan.builds}
        tried.append(str(revision))
        if revision in (failing or ()):
            raise error or BuildError.from_texts("BX220", "cannot build")
        code = 130 if revision in (interrupted or ()) else 0
        # A stop after the measurement: the record is complete.
        judgement = None if revision in (unfinished or ()) else judge(plan, [], {}, [], [])
        return RunOutcome(folder, judgement, None, (), None, code)

    monkeypatch.setattr(backfilling, "plan_run", lambda *_: plan)
    monkeypatch.setattr(backfilling, "_commits", lambda *_: [commit(n) for n in range(9)])
    monkeypatch.setattr(backfilling, "_measured", lambda *_: measured or set())
    monkeypatch.setattr(backfilling, "run_plan_anew", measure)
    return tried


def test_a_revision_replaces_only_that_of_the_scenario(plan: Plan) -> None:
    old = replace(plan.builds[0], revision="v1")
    variants = (replace(plan.variants[0], build=old), *plan.variants[1:])
    moved = at_revision(replace(plan, builds=(old, *plan.builds[1:]), variants=variants), "c" * 40)
    assert [spec.revision for spec in moved.builds] == ["v1", *["c" * 40] * 3]
    assert [v.build for v in moved.variants] == list(moved.builds)
    assert [v.id for v in moved.variants] == [v.id for v in plan.variants]


@pytest.mark.parametrize("span", ["v1", "..main", "v1...main"])
def test_a_backfill_needs_a_range(span: str, plan: Plan) -> None:
    with pytest.raises(UsageError) as caught:
        backfilling._commits(plan, span)
    assert caught.value.code == "BX129"
