"""Progress as lines, for logs, pipes and CI: no carriage returns, no colour, at most one line every few seconds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bench_framework.cli.plan_page import counts
from bench_framework.cli.run_progress import Work, progress_of
from bench_framework.execution.host import seconds, utc_now
from bench_framework.execution.progress import (
    BlockFinished,
    BuildFinished,
    BuildStarted,
    BuildStep,
    CellDropped,
    Counting,
    DataFinished,
    DataStarted,
    Happening,
    LockWaiting,
    LookTaken,
    Remark,
    RoundFinished,
    ToolInstall,
)
from bench_framework.units import format_clock, format_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.cli.console import Console
    from bench_framework.model.judgement import Comparison
    from bench_framework.model.plan import Plan

EVERY_S = 10.0
"""Rounds finish too often for a log; one line in this time tells enough."""
HEARTBEAT_S = 60.0
"""CI systems kill a job that says nothing for minutes."""


class LineDisplay:
    """Writes to stderr what happened, one line each."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._work: Work | None = None
        self._start: float | None = None
        self._done_at_start = 0
        self._last = 0.0
        self._grouped = False

    def plan_ready(self, plan: Plan) -> None:
        """The plan is known."""
        self._work = Work(plan)
        self._line("plan", f"{plan.name}: {counts(plan)}")

    def resumed(self, rounds: Mapping[str, int]) -> None:
        """Rounds that an earlier process has done, per input."""
        if self._work is not None:
            self._done_at_start = self._work.resume(rounds)

    def judged(self, input_id: str, comparisons: tuple[Comparison, ...]) -> None:
        """Interim verdicts of a look; the lines stay silent about them until the end."""
        _ = input_id
        if self._work is not None:
            self._work.judge(comparisons)

    def say(self, text: str) -> None:
        """One sentence."""
        self._line("note", text)

    def notify(self, happening: Happening) -> None:
        """Write a line if this is worth one."""
        if self._work is not None:
            self._work.take(happening)
        match happening:
            case ToolInstall():
                self._tool(happening)
            case LockWaiting():
                self._seldom("wait", f"{happening.holder} ({format_clock(happening.elapsed_s)})")
            case BuildStarted() if self._on_github and not self._grouped:
                self._grouped = True
                self._console.say("::group::builds")
            case BuildStep():
                self._seldom(
                    "build",
                    f"{progress_of(happening)}, {format_clock(happening.elapsed_s)}",
                )
            case BuildFinished():
                self._built(happening)
            case DataStarted():
                self._line("data", f"{happening.label}: generating {format_size(happening.size_bytes)}")
            case DataFinished() if not happening.reused:
                self._line("data", f"{happening.label}: ready")
            case RoundFinished():
                self._round()
            case BlockFinished():
                self._heartbeat()
            case CellDropped():
                self._line("drop", f"{self._label(happening.cell_id)}: {happening.reason}")
            case LookTaken() if happening.look.stopped and self._work is not None:
                plan, look = self._work.plan, happening.look
                where = f"{plan.input(look.input_id).label}: " if len(plan.inputs) > 1 else ""
                self._line("stop", f"{where}after {look.round} rounds, {look.reason}")
            case Counting():
                self._seldom("count", f"{happening.what}: cell {happening.index} of {happening.total}")
            case Remark():
                self._console.warn(happening.event)
            case _:
                pass

    def close(self) -> None:
        """Nothing is open but perhaps a group."""
        self._end_group()

    @property
    def _on_github(self) -> bool:
        return os.environ.get("GITHUB_ACTIONS") == "true"

    def _end_group(self) -> None:
        if self._grouped:
            self._console.say("::endgroup::")
            self._grouped = False

    def _tool(self, happening: ToolInstall) -> None:
        if happening.elapsed_s == 0:
            self._line(
                "tool",
                f"{happening.tool} {happening.version} is not here:"
                " installing it into the cache with cargo, once, about 1 minute",
            )
        else:
            self._seldom("tool", f"{happening.tool}: {format_clock(happening.elapsed_s)}")

    def _built(self, happening: BuildFinished) -> None:
        build = happening.build
        what = (
            "failed" if not build.ok else "unchanged" if build.build_s is None else f"{build.build_s:.1f} s"
        )
        self._line("build", f"{happening.index}/{happening.total} {happening.label}: {what}")
        if happening.index == happening.total:
            self._end_group()

    def _round(self) -> None:
        work = self._work
        if work is None:
            return
        now = seconds()
        if self._start is None:
            self._start = now
        left = work.left_s(now - self._start, self._done_at_start)
        until = "" if left is None else f"  at most {format_clock(left)} left"
        state = f"{work.rounds_done}/{work.rounds_total} rounds{until}  problems {work.problems}"
        self._seldom("run", state)

    def _heartbeat(self) -> None:
        if self._work is not None and seconds() - self._last >= HEARTBEAT_S:
            self._line("run", f"{self._work.blocks} blocks")

    def _label(self, cell_id: str) -> str:
        return self._work.plan.cell(cell_id).label if self._work else cell_id

    def _seldom(self, word: str, text: str) -> None:
        if seconds() - self._last >= EVERY_S:
            self._line(word, text)

    def _line(self, word: str, text: str) -> None:
        self._last = seconds()
        self._console.say(f"{utc_now()[11:19]} {word:<6} {text}")
