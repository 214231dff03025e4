"""Tests of the page of `benchctl plan`, and of commands that benchctl prints."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.cli.commands.run import _overrides
from bench_framework.cli.plan_page import page
from bench_framework.model.documents.plan import SessionCount
from bench_framework.workflow.run_options import RunOptions, plan_run, plan_scenario
from bench_framework.workflow.setup.forecast import forecast_document, forecast_plan
from tests.unit.machine import SCENARIO


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_quick_is_in_the_command_as_it_was_typed(scenario: Path) -> None:
    overrides = ["margin=3%", *_overrides(quick=True, rounds=None, budget="9s", until=None)]
    plan = plan_scenario(str(scenario), overrides=overrides)
    words = ["-S", "margin=3%", "-S", "measure.budget=9s", "--quick"]
    assert plan.command == shlex.join(["benchctl", "run", str(scenario), *words])
    assert (plan.measure.rounds_max, plan.measure.warmup_rounds) == (3, 1)


def test_an_unknown_command_of_a_small_group_lists_the_commands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run_command_line(["baseline", "set", "main"]) == 2
    error = capsys.readouterr().err
    assert "No such command 'set'. The commands are: " in error
    assert " save, " in error


def test_the_example_of_init_names_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["init"]) == 0
    path = Path("bench/scenario.yaml")
    assert f"as it is: benchctl run {path}\n" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("rounds", "least", "most"), [(":5", 5, 5), ("4:9", 4, 9), (":20", 12, 20), ("7", 7, 7)]
)
def test_an_end_of_rounds_that_is_not_given_has_its_default(
    scenario: Path, rounds: str, least: int, most: int
) -> None:
    overrides = _overrides(quick=False, rounds=rounds, until=None)
    measure = plan_scenario(str(scenario), overrides=overrides).measure
    assert (measure.rounds_min, measure.rounds_max) == (least, most)


def test_validate_goes_on_after_an_input_that_would_change(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = scenario.parent
    monkeypatch.chdir(folder)
    changing = SCENARIO.replace("name: small", "name: other") + "input: {folder: .}\n"
    (folder / "a.yaml").write_text(changing.replace('"{bin}", ', '"{bin}", "{input}", '))
    assert run_command_line(["--json", "validate", "a.yaml", "small.yaml"]) == 2
    first, second = json.loads(capsys.readouterr().out)["scenarios"]
    assert [problem["code"] for problem in first["problems"]] == ["BC414"]
    assert second["ok"]


def test_a_range_of_sessions_is_in_the_plan_and_its_document(scenario: Path) -> None:
    overrides = _overrides(quick=False, rounds="12", budget="9s", until=None, sessions="2..4")
    options = RunOptions(scenario.parent, overrides=overrides)
    forecast = forecast_plan(plan_run(str(scenario), options), options.results)
    text = " ".join(page(forecast, width=200, commands=False).split())
    assert "in 2 to 4 sessions" in text
    assert "interim analyses after 24, 36, 48 rounds" in text
    document = forecast_document(forecast)
    assert document.sessions == SessionCount(2, 4)
    assert document.looks == (24, 36, 48)


def test_cache_sim_simulates_caches_in_the_counting_runs(scenario: Path) -> None:
    given = [_overrides(quick=False, rounds=None, until=None, cache_sim=on) for on in (False, True)]
    plans = [plan_scenario(str(scenario), overrides=overrides) for overrides in given]
    assert plans[0].instructions is None
    assert plans[1].instructions is not None
    assert plans[1].instructions.cache_sim


def test_a_plan_of_benchmarks_lists_those_of_the_newest_record_and_names_the_gate(
    tmp_path: Path,
) -> None:
    (tmp_path / "benches").mkdir()
    (tmp_path / "benches" / "one.rs").write_text("")
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "c"\nversion = "0.1.0"\n')
    file = tmp_path / "c.yaml"
    text = (
        "version: 1\nname: c\nquestion: q\nworker: {crate: ., bench: one}\ngate: {against: main}\n"
    )
    file.write_text(text)
    forecast = forecast_plan(plan_scenario(str(file)), tmp_path / "results")
    lines = page(forecast, width=200, commands=False)
    assert f"Next     benchctl gate {file}" in lines
    assert "The newest record" not in lines
    known = replace(forecast, benches=("a/1", "b"))
    assert "comparisons. The newest record has 2: a/1, b" in page(known, width=200, commands=False)
    ungated = forecast_plan(plan_scenario(str(file), overrides=["gate={}"]), tmp_path / "results")
    assert f"Next     benchctl run {file}" in page(ungated, width=200, commands=False)
