"""Tests of the progress displays: neither writes while a block is timed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.cli import display, line_display, progress_lines
from bench_framework.cli.console import Console
from bench_framework.cli.display import LiveDisplay
from bench_framework.cli.line_display import LineDisplay
from bench_framework.execution import progress
from bench_framework.model.plan.looks import RoundLimit
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import message
from bench_framework.model.record.run import Event, Look
from bench_framework.store import lines
from bench_framework.workflow import run_progress
from bench_framework.workflow.run_options import plan_scenario
from bench_framework.workflow.run_progress import Work
from tests.build import make_block
from tests.unit.machine import SCENARIO

MEASURE = "measure: {rounds: {min: 12, max: 20}, warmup: 1}\n"


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "small.yaml").write_text(SCENARIO + MEASURE, encoding="utf-8")
    return plan_scenario(str(tmp_path / "small.yaml"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    # rich draws a region only on a terminal; these variables simulate one.
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    clock = Clock()
    for module in (display, line_display, run_progress):
        monkeypatch.setattr(module, "seconds", clock)
    return clock


def a_round(plan: Plan, number: int, *, warmup: bool = False) -> Iterator[progress.Update]:
    here = plan.inputs[0].id
    yield progress.RoundStarted(here, number, warmup)
    for position, cell in enumerate(plan.cells):
        yield progress.BlockStarted()
        block = make_block(position, number, position, cell.id, 0.02, warmup=warmup)
        yield progress.BlockFinished(block)
    yield progress.RoundFinished(here, number, warmup, float(number))


@pytest.mark.parametrize("kind", [LiveDisplay, LineDisplay])
def test_nothing_is_drawn_while_a_process_is_timed(
    kind: type[LiveDisplay | LineDisplay],
    plan: Plan,
    clock: Clock,
    capsys: pytest.CaptureFixture[str],
) -> None:
    display = kind(Console())
    display.notify(progress.PlanReady(plan))
    written = 0
    for update in [*a_round(plan, 1, warmup=True), *a_round(plan, 1), *a_round(plan, 2)]:
        clock.now += 120  # every redraw and every heartbeat is due
        if isinstance(update, progress.BlockStarted):
            capsys.readouterr()
        display.notify(update)
        if isinstance(update, progress.BlockStarted):
            assert capsys.readouterr() == ("", "")
        else:
            written += len(capsys.readouterr().err)
    display.close()
    assert written > 100


def test_lines_show_the_rounds_without_control_characters(
    plan: Plan, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    display = LineDisplay(Console())
    display.notify(progress.PlanReady(plan))
    for number in (1, 2, 3):
        for update in a_round(plan, number):
            display.notify(update)
        clock.now += 20
    printed = capsys.readouterr().err
    assert "\x1b" not in printed
    assert "\r" not in printed
    assert "3/20 rounds" in printed


def test_the_remaining_time_is_extrapolated_from_the_rounds_of_this_process(plan: Plan) -> None:
    work = Work(plan)
    work.rounds[plan.inputs[0].id] = 10  # done by an interrupted process
    for update in a_round(plan, 11):
        work.take(update)
    assert work.rounds_total == 21
    assert work.left_s(2.0) is None
    for update in a_round(plan, 12):
        work.take(update)
    assert work.left_s(2.0) == pytest.approx(2.0 * (21 - 12))


def test_an_installation_is_announced_with_its_duration(capsys: pytest.CaptureFixture[str]) -> None:
    LineDisplay(Console()).notify(progress.ToolInstall("hyperfine", "1.20.0", 0.0))
    text = "hyperfine 1.20.0 is not installed: installing it into the cache with cargo, once, "
    assert f"{text}1 to 2 minutes" in capsys.readouterr().err
    LineDisplay(Console()).notify(progress.ToolInstall("hyperfine", "2.0.0", 0.0, built=False))
    text = "hyperfine 2.0.0 is not installed: installing it from PyPI into the cache, once"
    assert text in capsys.readouterr().err


def test_the_total_is_shown_after_the_warm_up(plan: Plan) -> None:
    work = Work(replace(plan, measure=replace(plan.measure, by_budget=True, budget_s=100.0)))
    for update in a_round(plan, 1, warmup=True):
        work.take(update)
    assert progress_lines.state(work) == "warm-up"
    work.take(progress.LimitKnown(RoundLimit(60)))
    assert progress_lines.state(work) == "warm-up, 0/60 rounds"
    for update in a_round(plan, 25):  # 25 s of 100 s
        work.take(update)
    assert work.share == pytest.approx(26 / 61)
    assert work.left_s(2.0) == pytest.approx(2.0 / 25 * 35)
    for update in a_round(plan, 40):
        work.take(update)
    assert work.left_s(500.0) == 60.0


def test_a_stopped_input_counts_as_done_and_a_dropped_cell_as_a_problem(plan: Plan) -> None:
    work, here = Work(plan), plan.inputs[0].id
    work.take(progress.CellDropped(plan.cells[1].id, 3, message("exit status 1")))
    work.take(progress.LookTaken(Look(here, 0, 12, stopped=True)))
    assert work.problems == 1
    assert work.rounds_done == 20


def test_each_line_names_its_host_if_there_are_several(capsys: pytest.CaptureFixture[str]) -> None:
    rack = LineDisplay(Console(), "rack-7")
    rack.notify(progress.Message("waits"))
    rack.notify(progress.Remark(Event("BX320", "the baseline drifted", "warning")))
    text = capsys.readouterr().err
    assert " rack-7  note   waits\n" in text
    assert "warning[BX320]: rack-7: the baseline drifted" in text


def test_a_log_of_a_long_wait_has_a_line_a_minute(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LineDisplay(Console())
    for elapsed in range(0, 601, 5):
        clock.now = 1000.0 + elapsed
        log.notify(progress.Waiting("the machine", elapsed, 7200.0))
    waits = [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()]
    assert waits[:3] == [f"{n} s so far, at most 2 h 00 min" for n in (0, 10, 20)]
    assert len(waits) == 6 + 9
    assert waits[-1].startswith("9 min 50 s so far")


def test_pauses_between_sessions_are_not_extrapolated(plan: Plan, clock: Clock) -> None:
    measure = replace(plan.measure, sessions=2, warmup_rounds=1, rounds_max=20, every_s=100.0)
    work = Work(replace(plan, measure=measure))
    for update in a_round(plan, 1, warmup=True):
        work.take(update)
    for number in range(1, 11):
        clock.now += 1
        for update in a_round(plan, number):
            work.take(update)
    assert work.elapsed_s == 10
    # 11 rounds of a second, and the rest of 100 seconds until the second session.
    assert work.left_s(work.elapsed_s) == pytest.approx(11 + 100 - 11)
    for _ in range(3):
        clock.now += 30
        work.take(progress.Waiting("session 2 of 2", 30.0))
    assert work.elapsed_s == 10 + 30  # until the first message
    clock.now += 5
    for update in a_round(plan, 2, warmup=True):
        work.take(update)
    assert work.elapsed_s == 10 + 30
    for number in (11, 12):
        for update in a_round(plan, number):
            work.take(update)
    assert work.left_s(13.0) == pytest.approx(8.0)


def test_the_length_of_sessions_is_shown_once(
    plan: Plan, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    measure = replace(plan.measure, sessions=4, sessions_min=2, by_budget=True)
    display = LineDisplay(Console())
    display.notify(progress.PlanReady(replace(plan, measure=measure)))
    for limit in (RoundLimit(48), lines.Limit(48)):  # the second one is that of the journal
        display.notify(progress.LimitKnown(limit))
    printed = capsys.readouterr().err
    assert printed.count("limit") == 1
    assert "2 to 4 sessions of 12 rounds" in printed
