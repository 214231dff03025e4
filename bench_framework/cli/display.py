"""Progress display: a live region on a terminal, one line per event elsewhere.

Neither draws between `BlockStarted` and `BlockFinished`, because a terminal that redraws would take
CPU time from the process that is timed.
"""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from rich.cells import cell_len
from rich.console import Console as RichConsole, Group, OverflowMethod, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from bench_framework import units
from bench_framework.cli import progress_lines
from bench_framework.cli.console import Console
from bench_framework.cli.line_display import INTO_CACHE, LineDisplay, print_message
from bench_framework.execution import progress
from bench_framework.execution.machine.host import seconds
from bench_framework.execution.progress import Observer
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.plan import Cell, Role
from bench_framework.model.verdict import Verdict
from bench_framework.report.render.widths import visible_lines
from bench_framework.text import numbers, words
from bench_framework.text.reasons import phrase
from bench_framework.workflow.run_progress import Work, count_update

DRAW_EVERY_S = 0.5
"""Minimum time between two drawings, in seconds. A drawing takes milliseconds of CPU time."""
LONGEST_REASON = 42
"""Columns for the reason why a configuration was dropped; the report shows all of it."""
GAP = 2
SHORTEST_BAR, LONGEST_BAR = 8, 28
"""Limits of the width of the progress bar in columns; it is omitted if there is less room."""
RESERVED_LINES = 4
"""Lines of the terminal that the region does not use."""
STYLES = {Verdict.BETTER: "blue", Verdict.WORSE: "yellow"}
"""Colours of the two directions, as in the report. All other verdicts are dim."""


def _text(
    text: str, *, style: str = "", overflow: OverflowMethod | None = None, no_wrap: bool = False
) -> Text:
    """Return text that a terminal only prints: rich removes some control characters, but not ESC."""
    return Text(visible_lines(text), style=style, overflow=overflow, no_wrap=no_wrap)


class _Region(ABC):
    """A region of the terminal that is drawn again, below what is printed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        no_color = console.color == "never" or None
        self._rich = RichConsole(stderr=True, no_color=no_color, highlight=False)
        self._live = Live(console=self._rich, auto_refresh=False, transient=True)
        self._drawn = 0.0
        self._live.start()

    @abstractmethod
    def _page(self) -> RenderableType: ...

    def close(self) -> None:
        """Remove the region; results are printed in its place."""
        self._live.stop()

    @contextmanager
    def _above(self) -> Iterator[None]:
        """Print above the region, which continues below.

        A restarted region remembers its height and would erase as many printed lines when it stops.
        Therefore a new region replaces it.
        """
        self._live.stop()
        yield
        self._live = Live(console=self._rich, auto_refresh=False, transient=True)
        self._live.start()

    def _draw(self, *, force: bool = False) -> None:
        now = seconds()
        if force or now - self._drawn >= DRAW_EVERY_S:
            self._drawn = now
            self._live.update(self._page(), refresh=True)


class LiveDisplay(_Region):
    """A display with a header, the current task, and the configurations of the current input."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._work: Work | None = None
        self._doing = "reading the scenario"
        self._timing = False

    def notify(self, update: progress.Update) -> None:
        """Record the update, and draw if nothing is timed and the last drawing is old enough."""
        self._work = count_update(self._work, update)
        match update:
            case progress.PlanReady():
                self._draw(force=True)
                return
            case progress.BlockStarted():
                self._timing = True
            case progress.BlockFinished():
                self._timing = False
            case progress.Message() | progress.Remark():  # Messages react to the user at any time.
                with self._above():
                    print_message(self._console, update)
            case _:
                self._doing = _doing(update) or self._doing
        if not self._timing:
            self._draw()

    def _page(self) -> RenderableType:
        work = self._work
        if work is None or work.input_id is None:
            line = f"{work.plan.name if work else 'benchctl'}  {self._doing}"
            return _text(line, overflow="ellipsis", no_wrap=True)
        state = "interim verdicts can change" if work.verdicts else "no interim verdicts yet"
        footer = f"\n{state}.  Ctrl-C stops, and prints the command that resumes."
        return Group(self._header(work), Text(), self._cells(work), _text(footer, style="dim"))

    def _header(self, work: Work) -> RenderableType:
        state = f"{progress_lines.state(work)} in {numbers.format_clock(work.elapsed_s)}"
        if (left := work.left_s(work.elapsed_s)) is not None:
            state += f", at most {numbers.format_clock(left)} left"
        state += f"  problems {work.problems}" if work.problems else ""
        room = self._rich.width - cell_len(work.plan.name) - cell_len(state) - 2 * GAP
        if room < SHORTEST_BAR:
            return Text.assemble(_text(work.plan.name, style="bold"), " " * GAP, state)
        row = Table.grid(padding=(0, GAP))
        bar = ProgressBar(total=1.0, completed=work.share, width=min(LONGEST_BAR, room))
        row.add_row(_text(work.plan.name, style="bold"), bar, state)
        return row

    def _cells(self, work: Work) -> RenderableType:
        assert work.input_id is not None
        every = work.plan.cells_of(work.input_id)
        cells = [cell for cell in every if cell.role is not Role.CONTROL]
        room = max(3, shutil.get_terminal_size().lines - RESERVED_LINES - 6)
        rows = sorted(cells, key=lambda cell: work.median(cell.id) or float("inf"))[:room]
        stage = "warm-up" if work.warmup else f"round {work.round}"
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        label = work.plan.input(work.input_id).label
        where = f"input {label}, " if len(work.plan.inputs) > 1 else ""
        table.add_column(_text(f"{where}{stage}"), overflow="fold")
        table.add_column("time", justify="right", no_wrap=True)
        table.add_column(f"95{units.THIN_SPACE}% CI", no_wrap=True)
        table.add_column("interim verdict", no_wrap=True)
        table.add_column("rounds", justify="right", no_wrap=True)
        for cell in rows:
            table.add_row(*self._row(work, cell))
        if len(rows) < len(cells):
            table.add_row(_text(f"… {len(cells) - len(rows)} more", style="dim"))
        return table

    def _row(self, work: Work, cell: Cell) -> tuple[RenderableType, ...]:
        """Return label, median, 95 % CI in the unit of the median, verdict, and number of rounds."""
        label = work.plan.variant(cell.variant_id).label
        median, bounds, verdict = work.median(cell.id), work.interval(cell.id), Text()
        if cell.role is Role.BASELINE:
            label += " (base)"
        elif cell.id in work.dropped:
            sign, style = ("", "dim") if cell.id in work.raced else ("✕ ", "red")
            verdict = _text(f"{sign}{phrase(work.dropped[cell.id])}", style=style)
            verdict.truncate(LONGEST_REASON, overflow="ellipsis")
        elif (interim := work.verdicts.get(cell.id)) is not None:
            word = words.verdict_text(interim.verdict, WALL)
            verdict = _text(word, style=STYLES.get(interim.verdict, "dim"))
        time = interval = ""
        if median is not None:
            time, scale = numbers.format_duration(median), numbers.time_unit(median)[1]
            if bounds is not None:
                lo, hi = (numbers.significant(bound * scale, 3) for bound in bounds)
                interval = f"[{lo}, {hi}]"
        rounds = str(len(work.values.get(cell.id, ())))
        return _text(label), _text(time), _text(interval), verdict, _text(rounds)


def _doing(update: progress.Update) -> str | None:
    match update:
        case progress.ToolInstall():
            clock = numbers.format_clock(update.elapsed_s)
            return f"installing {update.tool} {update.version} {INTO_CACHE[update.built]} ({clock})"
        case progress.Waiting():
            return f"waiting for {update.reason} ({numbers.format_clock(update.elapsed_s)})"
        case progress.BuildStep():
            return f"build {progress_lines.progress_of(update)} ({numbers.format_clock(update.elapsed_s)})"
        case progress.BuildFinished():
            return f"built {update.index}/{update.total} {update.label}"
        case progress.DataStep():
            total = f" of {numbers.format_size(update.size_bytes)}" if update.size_bytes else ""
            return f"generating {update.label}: {numbers.format_size(update.done_bytes)}{total}"
        case progress.DataFinished():
            return f"{update.label} is ready"
        case progress.Counting():
            times = f", {update.run} of {update.runs}" if update.runs > 1 else ""
            where = f"configuration {update.index} of {update.total}{times}"
            return f"{update.verb}ing {update.what}: {where}"
    return None


class HostsDisplay(_Region):
    """A display with one line per host. Nothing is timed on this machine."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._hosts: dict[str, _HostLine] = {}

    def observer_of(self, host: str) -> Observer:
        """Return the observer of a host; of the client, if the name is empty."""
        return self._hosts.setdefault(host, _HostLine(host, self))

    def take(self, line: "_HostLine", update: progress.Update) -> None:
        """Show an update of a host."""
        if isinstance(update, progress.Message | progress.Remark):
            with self._above():
                print_message(self._console, update, line.host)
        # Printing removes the region.
        kinds = (progress.RunEnded, progress.Message, progress.Remark)
        self._draw(force=isinstance(update, kinds))

    def _page(self) -> RenderableType:
        room = max(3, shutil.get_terminal_size().lines - RESERVED_LINES)
        lines = [line for line in self._hosts.values() if line.host]
        if not lines:
            return _text("\n".join(line.text for line in self._hosts.values()))
        rows = sorted(lines, key=lambda line: line.ended)[:room]
        table = Table.grid(padding=(0, GAP))
        for line in rows:
            text = _text(line.text, overflow="ellipsis", no_wrap=True)
            table.add_row(_text(line.host, style="bold"), text)
        if len(rows) < len(lines):
            table.add_row("", _text(f"… {len(lines) - len(rows)} more", style="dim"))
        return table


class _HostLine:
    """The observer of a host, with its line in the region."""

    def __init__(self, host: str, display: HostsDisplay) -> None:
        self.host, self.ended = host, False
        self._display = display
        self._work: Work | None = None
        self._doing = "starting"

    def notify(self, update: progress.Update) -> None:
        """Record the update, and draw."""
        self._work = count_update(self._work, update)
        if isinstance(update, progress.RunEnded):
            self.ended, self._doing = True, update.text
        else:
            self._doing = _doing(update) or self._doing
        self._display.take(self, update)

    @property
    def text(self) -> str:
        """The progress of the run, or how it ended."""
        if self.ended or self._work is None or self._work.input_id is None:
            return self._doing
        return progress_lines.progress_line(self._work)


@contextmanager
def display_for(console: Console) -> Iterator[Observer]:
    """Yield the display that suits stderr, with the file of ``--events``. It is closed at the end of the block."""
    with closing(LiveDisplay(console) if console.live else LineDisplay(console)) as display:
        if console.events is None:
            yield display
            return
        from bench_framework.workflow.event_file import event_file

        with event_file(console.events, display) as observer:
            yield observer


@contextmanager
def display_of_hosts(console: Console) -> Iterator[Callable[[str], Observer]]:
    """Yield a function that returns the observer of a host; of the client, for an empty name."""
    if not console.live:
        yield partial(LineDisplay, console)
        return
    with closing(HostsDisplay(console)) as display:
        yield display.observer_of
