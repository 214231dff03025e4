"""Tests of the live display: printed text stays above the region."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from bench_framework.cli.console import Console
from bench_framework.cli.display import HostsDisplay, LiveDisplay
from bench_framework.execution import progress
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import Reason, ReasonCode, message
from bench_framework.model.record.run import Block, Event
from bench_framework.model.verdict import Verdict
from bench_framework.report.render.widths import visible
from bench_framework.text.words import verdict_text
from bench_framework.workflow import run_progress
from bench_framework.workflow.run_options import plan_scenario
from tests.build import make_comparison, require

SCENARIO = """\
version: 1
name: small
question: Is b slower?
worker: {command: [/bin/true]}
axes: {arm: [a, b, c, d, e, f]}
command: ["{bin}", "{arm}"]
baseline: {arm: a}
measure: {rounds: {max: 40}}
"""


def screen(text: str) -> list[str]:
    """Return the lines on a terminal; the region uses only carriage return, cursor up and erase line."""
    rows, row, column = [""], 0, 0
    for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|.|\n", text, flags=re.DOTALL):
        if token == "\n":
            row, column = row + 1, 0
            rows += [""] * (row + 1 - len(rows))
        elif token == "\r":
            column = 0
        elif re.fullmatch(r"\x1b\[\d*A", token):
            row = max(0, row - int(token[2:-1] or 1))
        elif token == "\x1b[2K":
            rows[row] = ""
        elif not token.startswith("\x1b"):
            rows[row] = rows[row][:column].ljust(column) + token + rows[row][column + 1 :]
            column += 1
    return [line.rstrip() for line in rows]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return plan_scenario(str(path))


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a terminal of 100 columns for rich."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")


def draw_again(display: LiveDisplay, plan: Plan) -> None:
    """Draw the display with the next update."""
    display._drawn = float("-inf")  # the last drawing is long ago
    display.notify(progress.RoundStarted(plan.inputs[0].id, 1, warmup=False))


def test_warnings_stay_above_the_region_which_is_removed(
    plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    display = LiveDisplay(Console())
    display.notify(progress.PlanReady(plan))
    for number in range(4):
        draw_again(display, plan)
        display.notify(
            progress.Remark(Event(f"BX30{number}", f"remark {number}", help="one\ntwo\nthree"))
        )
    display.notify(progress.Message("stopping after the run in flight"))
    display.close()
    lines = [line for line in screen(capsys.readouterr().err) if line]
    expected = [
        line
        for number in range(4)
        for line in (
            f"warning[BX30{number}]: remark {number}",
            "   fix      one",
            "            two",
            "            three",
        )
    ]
    assert lines == [*expected, "stopping after the run in flight"]


@pytest.mark.parametrize(
    "text", ["\x1b]52;c;cHduCg==\x1b\\", "\x1b[2J\x1b[H", "\u202e", "\x9b8m", "\x1b[31m", "[bold]"]
)
def test_a_label_reaches_the_terminal_as_text(
    plan: Plan, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    variants = tuple(replace(v, label=f"x{text}{n}") for n, v in enumerate(plan.variants))
    inputs = tuple(replace(i, label=f"i{text}") for i in plan.inputs)
    plan = replace(plan, name=f"n{text}", variants=variants, inputs=(*inputs, *inputs))
    display = LiveDisplay(Console())
    display.notify(progress.PlanReady(plan))
    cell = plan.cells[1]
    display.notify(progress.CellDropped(cell.id, 1, message(f"r{text}")))
    draw_again(display, plan)
    display.close()
    printed = capsys.readouterr().err
    # The sequences of rich: colours, erase line, cursor up, cursor off and on.
    rest = re.sub(r"\x1b\[(?:[0-9;]*m|2K|\d*A|\?25[lh])", "", printed)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", rest)
    for start in ("x", "i", "n", "r"):
        assert f"{start}{visible(text)}" in rest


def test_a_dropped_cell_has_its_reason(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    display = LiveDisplay(Console())
    display.notify(progress.PlanReady(plan))
    cell, other = plan.cells[1], plan.cells[2]
    display.notify(progress.CellDropped(cell.id, 1, Reason(ReasonCode.OTHER_OUTPUT)))
    display.notify(progress.CellDropped(other.id, 1, message("x" * 200)))
    draw_again(display, plan)
    printed = capsys.readouterr().err
    display.close()
    assert "✕ output differs from the baseline's" in printed
    assert "x…" in printed
    assert "problems 2" in printed


@pytest.mark.parametrize("verdict", Verdict)
def test_a_cell_has_its_interim_verdict(
    plan: Plan, verdict: Verdict, capsys: pytest.CaptureFixture[str]
) -> None:
    base, cell = plan.cells[:2]
    display = LiveDisplay(Console())
    display.notify(progress.PlanReady(plan))
    comparison = make_comparison(cell.id, base.id, "wall", "headline", verdict)
    display.notify(progress.InterimVerdicts((comparison,)))
    draw_again(display, plan)
    printed = capsys.readouterr().err
    display.close()
    assert verdict_text(verdict, "wall").split()[0] in printed


@pytest.mark.parametrize(
    ("columns", "lines", "bar"), [(40, 2, 0), (60, 1, 0), (72, 1, 13), (80, 1, 21), (120, 1, 28)]
)
def test_the_bar_uses_the_remaining_width(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, columns: int, lines: int, bar: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    display = LiveDisplay(Console())
    display.notify(progress.PlanReady(plan))
    work = require(display._work)
    monkeypatch.setattr(run_progress, "seconds", lambda: 3700.0)
    work.started, work.warmup = 0.0, False
    work.rounds[plan.inputs[0].id] = 9
    with display._rich.capture() as printed:
        display._rich.print(display._header(work))
    display.close()
    # The region itself is drawn below what is printed.
    rows = [line for line in screen(printed.get()) if line and "reading the scenario" not in line]
    assert len(rows) == lines
    assert all(cell_len(line) <= columns for line in rows)
    head = " ".join(rows)
    text = " ".join(re.sub("[━╸╺]+", " ", head).split())
    assert text == "small 9/40 rounds in 1 h 01 min, at most 3 h 46 min left"
    assert len(re.findall("[━╸╺]", head)) == bar


def test_a_time_has_its_interval_and_the_first_one_is_that_of_the_warm_up(
    plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    display = LiveDisplay(Console())
    display.notify(progress.PlanReady(plan))
    cell = plan.cells[0].id

    def block(number: int, wall_s: float, *, warmup: bool = False) -> None:
        display.notify(progress.RoundStarted(plan.inputs[0].id, number, warmup))
        display._drawn = float("-inf")  # the last drawing is long ago
        block = Block(number, number, 0, cell, warmup, "ok", "2026-01-01", wall_s=(wall_s,))
        display.notify(progress.BlockFinished(block))

    block(1, 0.25, warmup=True)
    block(1, 0.1)
    for number in range(2, 10):
        block(number, 0.1 + number / 1000)
    display.close()
    text = capsys.readouterr().err
    assert re.search(r"a \(base\).* 250\s?ms", text)
    assert re.search(r"a \(base\).* 105\s?ms .*\[102, 108\]", text)


def test_stored_rounds_of_a_resumed_record_are_in_the_table(plan: Plan) -> None:
    work, cell = run_progress.Work(plan), plan.cells[0].id

    def block(number: int, **keys: Any) -> Block:
        return Block(number, number, 0, cell, False, "ok", "2026-01-01", **keys)

    stored = [block(number, wall_s=(0.1,)) for number in range(9)]
    failed = replace(block(9, wall_s=(0.9,)), status="failed")
    skipped = replace(block(10, wall_s=(0.9,)), status="skipped")
    work.take(progress.Resumed({plan.inputs[0].id: 9}, (*stored, failed, skipped)))
    work.take(progress.BlockFinished(block(10, wall_s=(0.3,))))
    assert work.values[cell] == [*[0.1] * 9, 0.3]
    assert work.median(cell) == 0.1
    assert work.blocks == 1


@pytest.mark.parametrize("columns", [80, 120])
def test_each_host_of_a_fleet_has_a_line(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(run_progress, "seconds", lambda: 3700.0)
    display = HostsDisplay(Console())

    def page() -> list[str]:
        with display._rich.capture() as printed:
            display._rich.print(display._page())
        return [line for line in screen(printed.get()) if line]

    client = display.observer_of("")
    client.notify(progress.Waiting("a worker", 3.0))
    client.notify(progress.Message("stopping"))
    lines = [line for line in screen(capsys.readouterr().err) if line]
    assert lines == ["stopping", "waiting for a worker (3 s)"]
    names = ("rack-1", "rack-2", "arm-graviton-3")
    lost, slow, fast = (display.observer_of(name) for name in names)
    slow.notify(progress.Waiting("host rack-2", 61.0))
    for host in (lost, fast):
        host.notify(progress.PlanReady(plan))
        host.notify(progress.RoundStarted(plan.inputs[0].id, 1, warmup=False))
    work = require(display._hosts["arm-graviton-3"]._work)
    work.started, work.rounds[plan.inputs[0].id] = 0.0, 9
    fast.notify(progress.CellDropped(plan.cells[1].id, 1, message("exit status 1")))
    reason = "the record of host rack-1 is lost: its worker is not at the scheduler any more"
    lost.notify(
        progress.RunEnded(f"{reason}; host rack-4, of the same kind, measures in its place")
    )
    rows = page()[-3:]
    display.close()
    assert rows[:2] == [
        "rack-2          waiting for host rack-2 (1 min 01 s)",
        "arm-graviton-3  9/40 rounds  at most 3 h 46 min left  problems 1",
    ]
    # What ended is at the end. The error is printed after the region.
    assert rows[2].startswith("rack-1          the record of host rack-1 is lost: its worker")
    assert rows[2].endswith("…")
    assert cell_len(rows[2]) == columns
