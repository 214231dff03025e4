"""The audit of a page with its data, and its form as Markdown, as text for a terminal, and as JSON."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench_framework.errors import EXIT_DONE, EXIT_WORSE, MachineError, UsageError
from bench_framework.extensions.audit.compute import LEVEL, Result, Status, content_words, statement
from bench_framework.extensions.audit.page import Number, Page, Reading, read_page
from bench_framework.extensions.audit.rules import audit_page
from bench_framework.foreign import read_input
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.phrases import Phrase
from bench_framework.model.record.sessions import HarnessSession, Series
from bench_framework.report.render.markdown import escape
from bench_framework.report.render.widths import visible
from bench_framework.stats import welch
from bench_framework.stats.portable_math import exp, t_quantile
from bench_framework.store import sessions as reader
from bench_framework.text.lines import wrap
from bench_framework.text.names import capital
from bench_framework.text.numbers import format_duration, format_size
from bench_framework.units import counted

MOST_BRACKETS: Final = 20_000
"""Most brackets of a page: the time to parse Markdown is quadratic in those without an end."""
MOST_BYTES: Final = 1024 * 1024
"""Largest page that is audited. The longest report of an example has 40 kB."""
_KINDS: Final[Mapping[str, tuple[str, Callable[[float], str]]]] = {
    WALL: ("time", format_duration),
    PEAK_RSS: ("size", format_size),
}
_NEAR: Final = 0.1
"""The relative difference up to which one of several figures with a name is that of a command."""
_OFF: Final = 0.05
"""The relative difference from which a figure contradicts the runs that belong to it."""


def attach(page: Page, sessions: Iterable[HarnessSession]) -> Iterator[Result]:
    """Give figures their runs, and add commands that are not on the page as further figures.

    A command belongs to the figures with its name. Without such figures, it belongs to the one
    figure that is its rounded mean.

    Yield the figures that contradict their runs.
    """
    for number, session in enumerate(sessions, 1):
        for command, series in ((c, s) for c in session.commands for s in c.series):
            if series.metric in _KINDS:
                yield from _assign(page, command.label, series, -number)


def _assign(page: Page, label: str, series: Series, group: int) -> Iterator[Result]:
    (kind, show), words = _KINDS[series.metric], content_words(label)
    same = [f for f in page.figures if f.quantity.kind == kind and not f.series]
    namesakes = [(f, names) for f in same if (names := content_words(f.row)) and names <= words]
    chosen = [f for f, names in namesakes if names == words] or [f for f, _ in namesakes]
    if len({f.row for f in chosen}) > 1:
        chosen = []
    elif len(chosen) > 1:
        chosen = [f for f in chosen if abs(f.quantity.value / series.mean - 1) <= _NEAR]
    if not chosen:
        equal = [f for f in same if f.quantity.lo <= series.mean <= f.quantity.hi]
        chosen = equal if len(equal) == 1 else []
    for f in chosen:
        page.figures[page.figures.index(f)] = replace(f, series=series)
        if reason := _contradiction(f, series):
            yield statement(f, f"{f.label}: {f.quantity.text}", Status.NOT_SUPPORTED, reason)
    if not chosen:
        mean = series.mean
        quantity = Reading(kind, mean, mean, mean, show(mean))
        page.figures.append(Number(label, quantity, 0, group, (), row=label, series=series))


def _contradiction(figure: Number, series: Series) -> Phrase | None:
    """Return why a figure contradicts its runs, or `None`."""
    q, centre = figure.quantity, welch.log_mean(series)
    if centre is None or abs(q.value / series.mean - 1) <= _OFF:
        return None
    half = t_quantile((1 + LEVEL) / 2, centre.freedom) * centre.variance**0.5
    lo, hi = exp(centre.centre - half), exp(centre.centre + half)
    if lo <= q.hi and q.lo <= hi:
        return None
    _, show = _KINDS[series.metric]
    return Phrase(ExtensionCode.CONTRADICTS_DATA, tuple(map(show, (series.mean, lo, hi))))


NOTHING: Final = "no comparative statements found"
_MARKS: Final = dict(zip(Status, "✗–?✓", strict=True))


@dataclass(frozen=True, slots=True)
class AuditDocument:
    """The result of `audit`."""

    page: str
    """The page that was checked."""
    data: tuple[str, ...]
    """Names of the data files."""
    counts: Mapping[str, int]
    """Number of statements by result: `not_supported`, `no_data`, `inconclusive`, `supported`."""
    statements: tuple[Result, ...]
    """The statements in the order of the page."""
    exit_code: int
    """Exit code of the command."""

    @property
    def summary(self) -> str:
        """Return the number of statements by result as one line."""
        parts = (f"{n} {name.replace('_', ' ')}" for name, n in self.counts.items() if n)
        text = f"{counted(len(self.statements), 'statement')}: {', '.join(parts)}"
        return text if self.statements else NOTHING


def audit_files(page: Path, data: Sequence[Path]) -> AuditDocument:
    """Audit a page with its data. Raises `UsageError`: BX456, the page; BX450 to BX454, a file."""
    try:
        source = read_input(page, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("BX456.not-utf-8", page=page) from error
    except ValueError as error:
        raise UsageError("BX456.not-usable", page=page, fault=error) from error
    if "\0" in source:
        raise UsageError("BX456.binary", page=page)
    if (brackets := source.count("[")) > MOST_BRACKETS:
        raise UsageError("BX456.brackets", page=page, brackets=brackets, most=MOST_BRACKETS)
    try:
        sessions = [
            reader.read_session(reader.read_bytes(path), path.name, number)
            for number, path in enumerate(data, 1)
        ]
    except UsageError as error:
        error.amend("BX456.not-audited")
        raise
    return audit(source, page.name, sessions)


def audit(source: str, page: str, sessions: Sequence[HarnessSession] = ()) -> AuditDocument:
    """Audit a page."""
    content = read_page(source)
    statements = [*attach(content, sessions), *audit_page(content)]
    statements.sort(key=lambda s: s.line)
    tally = Counter(s.status for s in statements)
    counts = {status.replace(" ", "_"): tally[status] for status in Status}
    code = EXIT_WORSE if tally[Status.NOT_SUPPORTED] else EXIT_DONE
    return AuditDocument(page, tuple(s.label for s in sessions), counts, tuple(statements), code)


def as_markdown(result: AuditDocument) -> str:
    """Return the audit as a Markdown page."""
    data = ", ".join(result.data) or "none, only the page itself"
    summary = capital(result.summary)
    lines = [f"# Audit of {escape(result.page)}", f"\n**{summary}.** Data: {escape(data)}."]
    if result.statements:
        lines += ["\n| Line | Statement | Result | Reason |", "|--:|:--|:--|:--|"]
    for s in result.statements:
        mark = f"**{s.status}**" if s.status is Status.NOT_SUPPORTED else s.status
        cells = (str(s.line), escape(s.text), mark, escape(capital(s.reason)))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def as_text(result: AuditDocument, width: int) -> str:
    """Return the audit as text of at most `width` columns where its words allow it."""
    lines = list(wrap(visible(f"{result.page}: {result.summary}"), width))
    room = max(20, width - 7)
    for status in Status:
        chosen = [s for s in result.statements if s.status == status]
        lines += [f"\n{_MARKS[status]} {status} ({len(chosen)})"] if chosen else []
        for s in chosen:
            first, *rest = (*wrap(visible(f"“{s.text}”"), room), *wrap(visible(s.reason), room))
            lines.append(f"{s.line:>5}  {first}")
            lines += (" " * 7 + line for line in rest)
    return "\n".join(lines) + "\n"


def write_audit(result: AuditDocument, path: Path) -> None:
    """Write an audit as Markdown. Raises `MachineError` (BX235): the file cannot be written."""
    try:
        path.write_text(as_markdown(result), encoding="utf-8")
    except OSError as error:
        raise MachineError("BX235.audit", path=path, strerror=error.strerror or error) from error
