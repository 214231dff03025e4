"""Progress as one line per event, for logs."""

from dataclasses import replace

from bench_framework import units
from bench_framework.cli import progress_lines
from bench_framework.cli.console import Console, on_github
from bench_framework.execution import progress
from bench_framework.execution.machine.host import seconds, utc_now
from bench_framework.text import numbers, words
from bench_framework.text.reasons import phrase
from bench_framework.workflow.run_progress import Work, count_update

INTO_CACHE = {
    True: "into the cache with cargo, once, 1 to 2 minutes",
    False: "from PyPI into the cache, once",
}
"""Text by whether a tool is built."""
LINE_EVERY_S = 10.0
"""Minimum time between two lines about rounds, in seconds."""
HEARTBEAT_S = 60.0
"""Maximum time without a line, in seconds: CI systems kill a job that prints nothing for minutes."""


def print_message(
    console: Console, update: progress.Message | progress.Remark, host: str = ""
) -> None:
    """Print a message or an event, after the name of its host if there are several."""
    where = f"{host}: " if host else ""
    if isinstance(update, progress.Message):
        console.say(f"{where}{update.text}")
    else:
        console.warn(replace(update.event, message=f"{where}{update.event.message}"))


class LineDisplay:
    """A display that writes one line per event to stderr; each names the host, if there are several."""

    def __init__(self, console: Console, host: str = "") -> None:
        self._console = console
        self._host = host
        self._work: Work | None = None
        self._limit = 0
        self._last = 0.0
        self._grouped = False

    def notify(self, update: progress.Update) -> None:
        """Print a line for the updates that a log needs."""
        self._work = count_update(self._work, update)
        if self._work is not None:
            self._measuring(self._work, update)
        match update:
            case progress.PlanReady():
                self._line("plan", f"{update.plan.name}: {words.plan_size(update.plan)}")
            case progress.Message():
                self._line("note", update.text)
            case progress.RunEnded():
                self._line("end", update.text)
            case progress.Remark():
                print_message(self._console, update, self._host)
            case _:
                self._preparation(update)

    def _measuring(self, work: Work, update: progress.Update) -> None:
        plan = work.plan
        several = len(plan.inputs) > 1
        match update:
            # Once for all sessions.
            case progress.LimitKnown() if update.limit.rounds != self._limit:
                self._limit = update.limit.rounds
                self._line("limit", progress_lines.limit_text(update, plan.measure))
            case progress.RoundFinished():
                self._seldom("run", progress_lines.progress_line(work))
            case progress.BlockFinished() if seconds() - self._last >= HEARTBEAT_S:
                self._line("run", f"{work.blocks} hyperfine calls done")
            case progress.CellDropped():
                cell = plan.cell(update.cell_id)
                where = f", {plan.input(cell.input_id).label}" if several else ""
                self._line("drop", f"{cell.label}{where}: {phrase(update.reason)}")
            case progress.LookTaken() if update.look.stopped:
                look = update.look
                where = f"{plan.input(look.input_id).label}: " if several else ""
                after = f"after {units.counted(look.round, 'round')}"
                self._line("stop", f"{where}{after}, {phrase(look.reason)}")

    def _preparation(self, update: progress.Update) -> None:
        match update:
            case progress.ToolInstall() if update.elapsed_s == 0:
                tool = f"{update.tool} {update.version}"
                how = INTO_CACHE[update.built]
                self._line("tool", f"{tool} is not installed: installing it {how}")
            case progress.ToolInstall():
                self._seldom("tool", f"{update.tool}: {numbers.format_clock(update.elapsed_s)}")
            case progress.Waiting():
                clock = numbers.format_clock(update.elapsed_s)
                most = f", at most {numbers.format_clock(update.limit_s)}" if update.limit_s else ""
                # Waiting can take hours.
                every = LINE_EVERY_S if update.elapsed_s < HEARTBEAT_S else HEARTBEAT_S
                self._seldom("wait", f"for {update.reason}: {clock} so far{most}", every)
            case progress.BuildStep():
                if on_github() and not (self._grouped or self._host):
                    self._grouped = True
                    self._console.workflow_command("::group::builds")
                elapsed = numbers.format_clock(update.elapsed_s)
                self._seldom("build", f"{progress_lines.progress_of(update)}, {elapsed}")
            case progress.BuildFinished():
                build = update.build
                outcome = "unchanged" if build.ok else "failed"
                if build.ok and build.build_s is not None:
                    wrapper = f" with {build.wrapper}" if build.wrapper else ""
                    outcome = f"{numbers.fixed(build.build_s, 1)} s{wrapper}"
                self._line("build", f"{update.index}/{update.total} {update.label}: {outcome}")
                if update.index == update.total:
                    self.close()
            case progress.DataStarted(size_bytes=size):
                what = "with its command" if size is None else numbers.format_size(size)
                self._line("data", f"{update.label}: generating {what}")
            case progress.DataFinished() if not update.reused:
                self._line("data", f"{update.label}: ready")
            case progress.Counting():
                where = f"configuration {update.index} of {update.total}"
                self._seldom(update.verb, f"{update.what}: {where}")

    def close(self) -> None:
        """Close an open group."""
        if self._grouped:
            self._console.workflow_command("::endgroup::")
            self._grouped = False

    def _seldom(self, word: str, text: str, every_s: float = LINE_EVERY_S) -> None:
        if seconds() - self._last >= every_s:
            self._line(word, text)

    def _line(self, word: str, text: str) -> None:
        self._last = seconds()
        where = f"{self._host}  " if self._host else ""
        self._console.say(f"{utc_now()[11:19]} {where}{word:<6} {text}")
