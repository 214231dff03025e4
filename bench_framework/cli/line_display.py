"""Progress display without a live region: one line per event on stderr."""

from dataclasses import replace

from bench_framework import units
from bench_framework.cli.console import Console
from bench_framework.cli.github import on_github
from bench_framework.cli.plan_page import counts
from bench_framework.execution import progress
from bench_framework.execution.machine.host import seconds, utc_now
from bench_framework.workflow.run_progress import Work, progress_of

INTO_CACHE = "into the cache with cargo, once, about 1 minute"
EVERY_S = 10.0
"""Minimum time between two lines about rounds, in seconds."""
HEARTBEAT_S = 60.0
"""Maximum time without a line, in seconds: CI systems kill a job that prints nothing for minutes."""


class LineDisplay:
    """A display that writes one line per event to stderr; each names the host, if there are several."""

    def __init__(self, console: Console, host: str = "") -> None:
        self._console = console
        self._host = host
        self._work: Work | None = None
        self._last = 0.0
        self._grouped = False

    def notify(self, update: progress.Update) -> None:
        """Print a line for the updates that a log needs."""
        if self._work is not None:
            self._work.take(update)
        match update:
            case progress.PlanReady():
                self._work = Work(update.plan)
                self._line("plan", f"{update.plan.name}: {counts(update.plan)}")
            case progress.Message():
                self._line("note", update.text)
            case progress.RunEnded():
                self._line("end", update.text)
            case progress.LimitKnown() if self._work is not None:
                self._limit(update.rounds, self._work.plan.measure.budget_s)
            case progress.RoundFinished():
                self._round()
            case progress.BlockFinished():
                self._heartbeat()
            case progress.CellDropped():
                self._line("drop", f"{self._label(update.cell_id)}: {update.reason}")
            case progress.LookTaken() if update.look.stopped and self._work is not None:
                plan, look = self._work.plan, update.look
                where = f"{plan.input(look.input_id).label}: " if len(plan.inputs) > 1 else ""
                advice = self._work.advice(look)
                self._line(
                    "stop",
                    f"{where}after {units.counted(look.round, 'round')}, {look.reason}{advice}",
                )
            case progress.Counting():
                self._seldom(
                    update.verb, f"{update.what}: configuration {update.index} of {update.total}"
                )
            case progress.Remark():
                event = update.event
                where = f"{self._host}: " if self._host else ""
                self._console.warn(replace(event, message=f"{where}{event.message}"))
            case _:
                self._preparation(update)

    def _preparation(self, update: progress.Update) -> None:
        """Print a line for tools, builds and inputs."""
        match update:
            case progress.ToolInstall():
                self._tool(update)
            case progress.Waiting():
                self._seldom(
                    "wait", f"for {update.reason}: {units.format_clock(update.elapsed_s)} so far"
                )
            case progress.BuildStep():
                if on_github() and not (self._grouped or self._host):
                    self._grouped = True
                    self._console.say("::group::builds")
                self._seldom(
                    "build", f"{progress_of(update)}, {units.format_clock(update.elapsed_s)}"
                )
            case progress.BuildFinished():
                self._built(update)
            case progress.DataStarted():
                size = update.size_bytes
                what = "with its command" if size is None else units.format_size(size)
                self._line("data", f"{update.label}: generating {what}")
            case progress.DataFinished() if not update.reused:
                self._line("data", f"{update.label}: ready")
            case _:
                pass

    def close(self) -> None:
        """Close an open group."""
        if self._grouped:
            self._console.say("::endgroup::")
            self._grouped = False

    def _limit(self, rounds: int, budget_s: float | None) -> None:
        until = f" or {units.format_clock(budget_s)}" if budget_s is not None else ""
        self._line("limit", f"at most {units.counted(rounds, 'round')}{until}")

    def _tool(self, update: progress.ToolInstall) -> None:
        if update.elapsed_s == 0:
            tool = f"{update.tool} {update.version}"
            self._line("tool", f"{tool} is not installed: installing it {INTO_CACHE}")
        else:
            self._seldom("tool", f"{update.tool}: {units.format_clock(update.elapsed_s)}")

    def _built(self, update: progress.BuildFinished) -> None:
        build = update.build
        wrapper = f" with {build.wrapper}" if build.wrapper else ""
        outcome = "unchanged" if build.build_s is None else f"{build.build_s:.1f} s{wrapper}"
        outcome = outcome if build.ok else "failed"
        self._line("build", f"{update.index}/{update.total} {update.label}: {outcome}")
        if update.index == update.total:
            self.close()

    def _round(self) -> None:
        if self._work is not None:
            self._seldom("run", self._work.text)

    def _heartbeat(self) -> None:
        if self._work is not None and seconds() - self._last >= HEARTBEAT_S:
            self._line("run", f"{self._work.blocks} hyperfine calls done")

    def _label(self, cell_id: str) -> str:
        if self._work is None:
            return cell_id
        plan, cell = self._work.plan, self._work.plan.cell(cell_id)
        several = len(plan.inputs) > 1
        return cell.label + (f", {plan.input(cell.input_id).label}" if several else "")

    def _seldom(self, word: str, text: str) -> None:
        if seconds() - self._last >= EVERY_S:
            self._line(word, text)

    def _line(self, word: str, text: str) -> None:
        self._last = seconds()
        where = f"{self._host}  " if self._host else ""
        self._console.say(f"{utc_now()[11:19]} {where}{word:<6} {text}")
