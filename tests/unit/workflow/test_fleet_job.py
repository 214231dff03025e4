"""Tests of the records that a host of a fleet keeps: which one the next run returns, and which are removed."""

from pathlib import Path

from bench_framework.extensions.fleet.client import newest_ids
from bench_framework.extensions.fleet.job import _remove_older, _reopened
from bench_framework.model.plan.plan import Plan
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.store.resuming import find_resumable
from bench_framework.workflow.setup.capability import leave_out
from tests.unit.machine import SCENARIO
from tests.unit.workflow.test_host_results import measured

TEXT = SCENARIO.replace("[a, b]", "[a, b, c]") + "measure: {rounds: 16, until: rounds}\n"
CANNOT = {"axes": {"arm": {"values": [{"name": "c", "unavailable": "no such call"}]}}}


def narrowed(plan: Plan) -> Plan:
    return leave_out(plan, {"program": CANNOT})


def test_a_record_without_the_configurations_that_the_host_left_out_is_returned(
    tmp_path: Path,
) -> None:
    plan = expand(load(tmp_path / "s.yaml", text=TEXT))
    path = measured(tmp_path, 1, text=TEXT, change=narrowed)
    text = (path / "manifest.json").read_text()
    assert _reopened(plan, tmp_path / "results") == (path / "manifest.json", text)
    continued = find_resumable(tmp_path / "results", narrowed(plan))
    assert continued is not None
    assert continued.path == path


def test_a_record_of_another_plan_is_not_returned(tmp_path: Path) -> None:
    path = measured(tmp_path, 1, text=TEXT, change=narrowed)
    other = expand(load(tmp_path / "s.yaml", text=TEXT.replace("rounds: 16", "rounds: 17")))
    assert _reopened(other, tmp_path / "results") is None
    assert (path / "manifest.json").is_file()


def test_an_earlier_record_than_an_unfinished_one_is_not_returned(tmp_path: Path) -> None:
    plan = expand(load(tmp_path / "s.yaml", text=TEXT))
    first = measured(tmp_path, 1, text=TEXT)
    measured(tmp_path, 2, text=TEXT, finished=False)
    assert _reopened(plan, tmp_path / "results") is None
    assert (first / "manifest.json").is_file()


def test_a_finished_record_replaces_earlier_ones_of_its_plan(tmp_path: Path) -> None:
    measured(tmp_path, 1, text=TEXT)
    measured(tmp_path, 2, text=TEXT, finished=False)
    other = measured(tmp_path, 3, text=TEXT.replace("rounds: 16", "rounds: 17"))
    newest = measured(tmp_path, 4, text=TEXT)
    later = measured(tmp_path, 5, text=TEXT, finished=False)
    _remove_older(newest)
    assert {*newest.parent.iterdir()} == {other, newest, later}


def test_a_host_gets_the_newest_ids_of_records_only(tmp_path: Path) -> None:
    assert newest_ids(tmp_path / "missing") == ()
    for number in range(2, 112):
        (tmp_path / f"20260101T0000Z-{number}").mkdir()
        (tmp_path / f"hosts-{number}").mkdir()
    assert newest_ids(tmp_path) == tuple(f"20260101T0000Z-{n}" for n in range(12, 112))
