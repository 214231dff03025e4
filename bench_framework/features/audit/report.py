"""The audit of a page as Markdown, as text for a terminal, and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from bench_framework.errors import EXIT_DONE, EXIT_WORSE
from bench_framework.features.audit.conditions import Conditions
from bench_framework.features.audit.judging import Finding
from bench_framework.features.audit.measurements import attach
from bench_framework.features.audit.page import read_page
from bench_framework.features.audit.rules import Statement, audit_page
from bench_framework.report.render.characters import visible
from bench_framework.report.render.markdown import escape
from bench_framework.report.render.widths import wrap
from bench_framework.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench_framework.model.imported import Session

STATUSES: Final = ("not supported", "no data", "inconclusive", "supported")
NOTHING: Final = "no comparative statements found"
MEANINGS: Final = {
    "supported": "the runs, or mean, standard deviation and number of runs, show it: the 95 % "
    "confidence interval of the ratio excludes 1, or is within the margin",
    "not supported": "the page contradicts itself, the data contradict it, or the compared figures "
    "were measured under different conditions",
    "inconclusive": "the figures agree with it, but their spread or number of runs does not show it",
    "no data": "neither the page nor the data contain the figures that it needs",
}
_MARKS: Final = {"supported": "✓", "not supported": "✗", "inconclusive": "?", "no data": "–"}


@dataclass(frozen=True, slots=True)
class Audit:
    """The statements of a page with their results.

    `missing` lists what the page does not state, and `data` the names of the data files.
    """

    page: str
    data: tuple[str, ...]
    statements: tuple[Statement, ...]
    missing: tuple[str, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of statements by result."""
        tally = Counter(s.finding.status for s in self.statements)
        return {status: tally[status] for status in STATUSES}

    @property
    def exit_code(self) -> int:
        """Return 1 if at least one statement is not supported, else 0."""
        return EXIT_WORSE if self.counts["not supported"] else EXIT_DONE

    @property
    def summary(self) -> str:
        """Return the number of statements by result as one line."""
        if not self.statements:
            return NOTHING
        parts = ", ".join(f"{n} {status}" for status, n in self.counts.items() if n)
        return f"{counted(len(self.statements), 'statement')}: {parts}"


def audit(source: str, page: str, sessions: Sequence[Session] = ()) -> Audit:
    """Audit a page.

    Args:
        source: its Markdown.
        page: its name.
        sessions: imported data.
    """
    content = read_page(source)
    wrong = attach(content, sessions)
    statements = [
        *audit_page(content),
        *(
            Statement(
                figure.line,
                "".join(figure.headings[-1:]),
                f"{figure.label}: {figure.quantity.text}",
                Finding("not supported", reason),
            )
            for figure, reason in wrong
        ),
    ]
    return Audit(
        page,
        tuple(s.label for s in sessions),
        tuple(sorted(statements, key=lambda s: s.line)),
        Conditions(content).missing(),
    )


def as_json(result: Audit) -> dict[str, Any]:
    """Return the audit as plain values."""
    return {
        "page": result.page,
        "data": list(result.data),
        "counts": {name.replace(" ", "_"): n for name, n in result.counts.items()},
        "statements": [
            {"line": s.line, "section": s.section, "text": s.text, **asdict(s.finding)}
            for s in result.statements
        ],
        "missing": list(result.missing),
        "exit_code": result.exit_code,
    }


def as_markdown(result: Audit) -> str:
    """Return the audit as a Markdown page."""
    return "\n".join(_markdown(result)) + "\n"


def _markdown(result: Audit) -> Iterator[str]:
    data = ", ".join(result.data) if result.data else "none, only the page itself"
    yield f"# Audit of {escape(result.page)}"
    yield f"\n**{result.summary[0].upper()}{result.summary[1:]}.** Data: {escape(data)}."
    if result.statements:
        yield "\n| Line | Statement | Result | Reason |"
        yield "|--:|:--|:--|:--|"
    for s in result.statements:
        status = s.finding.status
        mark = f"**{status}**" if status == "not supported" else status
        reason = s.finding.reason
        yield f"| {s.line} | {escape(s.text)} | {mark} | {escape(reason[0].upper() + reason[1:])} |"
    if result.statements and result.missing:
        yield "\n## Missing on the page\n"
        yield from (f"- {escape(text)}" for text in result.missing)
    if result.statements:
        yield "\n## Results\n"
        yield from (f"- **{status}**: {MEANINGS[status]}." for status in STATUSES)


def as_text(result: Audit, width: int) -> str:
    """Return the audit as text of at most `width` columns where its words allow it."""
    return "\n".join(_lines(result, width)) + "\n"


def _lines(result: Audit, width: int) -> Iterator[str]:
    yield from wrap(visible(f"{result.page}: {result.summary}"), width)
    for status in STATUSES:
        chosen = [s for s in result.statements if s.finding.status == status]
        if chosen:
            yield ""
            yield f"{_MARKS[status]} {status} ({len(chosen)})"
        for s in chosen:
            yield from _indented(f"{s.line:>5}  ", f"“{s.text}”", width)
            yield from _indented("       ", s.finding.reason, width)
    if result.statements and result.missing:
        yield ""
        yield from _indented("", f"The page does not state: {'; '.join(result.missing)}.", width)


def _indented(start: str, text: str, width: int) -> Iterator[str]:
    for number, line in enumerate(wrap(visible(text), max(20, width - len(start)))):
        yield (start if number == 0 else " " * len(start)) + line
