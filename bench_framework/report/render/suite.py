"""The result of a suite: terminal page, pull request comment, step summary, JUnit XML, index page."""

import shlex
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench_framework.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_NOT_JUDGED,
    EXIT_NOT_MEASURED,
    EXIT_WORSE,
)
from bench_framework.model.documents.gate import SuiteMember
from bench_framework.model.plan.invocation import without_folder
from bench_framework.model.result.decision import ChangeKind
from bench_framework.report.render import gate
from bench_framework.report.render.gate import GatePage, GateRow
from bench_framework.report.render.gate_heading import BUDGETS_EXCEEDED, RESULTS
from bench_framework.report.render.html import FILTERS, policy, printable, trusted
from bench_framework.report.render.junit import suite_of, xml_text
from bench_framework.report.render.markdown import fitting
from bench_framework.report.render.templates import Templates
from bench_framework.report.render.widths import cut_middle, pad, visible
from bench_framework.text.lines import wrap
from bench_framework.text.names import listed
from bench_framework.text.numbers import format_clock, format_moment, format_percent
from bench_framework.units import counted

ORDER: Final = (EXIT_INTERRUPTED, EXIT_NOT_MEASURED, EXIT_WORSE, EXIT_NOT_JUDGED, EXIT_DONE)
"""The exit code of a suite is the first of these that a scenario has."""
OVER_BUDGET: Final = ("▲", "^", BUDGETS_EXCEEDED)
MEASURED: Final = ("✓", "+", "measured")
SKIPPED: Final = ("–", "-", "skipped")
FAILED: Final = ("✕", "x", "failed")
WAITING: Final = ("·", "-", "not measured yet")
REMARK: Final = ("⚠", "!")
"""Mark of a remark, which is not the result, and its replacement in ASCII."""
LONGEST_NAME: Final = 28
URGENT: Final = ("worse", "suspicious", "failed")
"""States of the comparisons that a comment shows unfolded."""


@dataclass(frozen=True, slots=True)
class SuiteRow(SuiteMember):
    """A scenario of a suite.

    Attributes:
        incomplete: True if something in it could not be measured.
        page: its gate; `None` without one.
        sentence: its answer without a gate, or why it failed or was skipped.
    """

    incomplete: bool = False
    page: GatePage | None = None
    sentence: str = ""

    @property
    def words(self) -> tuple[str, str, str]:
        """Glyph, its replacement in ASCII, and the result."""
        if self.skipped:
            return SKIPPED
        if self.exit_code is None:
            return WAITING
        if self.error:
            return FAILED
        if self.page is None and self.exit_code == EXIT_DONE:
            return MEASURED
        if self.page is not None and self.exit_code == EXIT_WORSE and self.page.only_budgets:
            return OVER_BUDGET
        return RESULTS.get(self.exit_code, FAILED)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks of its gate, such as outputs that differ."""
        return self.page.remarks if self.page is not None else ()

    @property
    def change(self) -> ChangeKind:
        """The change that its gate shows. A scenario is skipped if the change cannot affect it."""
        if self.skipped:
            return ChangeKind.SAME
        if self.page is None or self.exit_code in (None, EXIT_INTERRUPTED):
            return ChangeKind.FAILED
        return self.page.change

    @property
    def passed(self) -> str:
        """The number of passed comparisons and of all, such as ``3/4``; empty without a gate."""
        return f"{len(self.page.passed)}/{self.page.compared}" if self.page else ""

    @property
    def report(self) -> str:
        """The address of its report relative to the folder of the suite; empty without one."""
        done = self.record and not self.error and self.exit_code not in (None, EXIT_INTERRUPTED)
        return f"../../{self.scenario}/{self.record}/report.html" if done else ""


@dataclass(frozen=True, slots=True)
class SuitePage:
    """The result of a suite, independent of the output format."""

    id: str
    started: str
    """Start of the suite, UTC, ISO 8601."""
    gated: bool
    command: str
    level: float
    """Error rate of the suite."""
    decisions: int
    rows: tuple[SuiteRow, ...]

    @property
    def public_command(self) -> str:
        """The command without the folder of the records, which another machine does not have."""
        return shlex.join(without_folder(shlex.split(self.command)))

    @property
    def exit_code(self) -> int:
        """The first code of `ORDER` that a scenario has."""
        codes = {EXIT_INTERRUPTED if r.exit_code is None else r.exit_code for r in self.rows}
        return next((code for code in ORDER if code in codes), EXIT_NOT_MEASURED)

    @property
    def change(self) -> ChangeKind:
        """The change that all gates together show."""
        return max(row.change for row in self.rows)

    @property
    def measured(self) -> tuple[SuiteRow, ...]:
        """The scenarios that were not skipped."""
        return tuple(row for row in self.rows if not row.skipped)

    @property
    def answer(self) -> str:
        """The glyph of the result, and the heading."""
        return f"{RESULTS[self.exit_code][0]} {self.heading}"

    @property
    def heading(self) -> str:
        """The result in a line, with the scenarios that need attention."""
        rows = {code: [row for row in self.rows if row.exit_code == code] for code in ORDER}
        worse, over = EXIT_WORSE, OVER_BUDGET
        parts = [
            f"{word} in {_names(those)}{_largest(those)}"
            for word, those in (
                (RESULTS[EXIT_NOT_MEASURED][2], rows[EXIT_NOT_MEASURED]),
                (RESULTS[worse][2], [row for row in rows[worse] if row.words != over]),
                (over[2], [row for row in rows[worse] if row.words == over]),
                (RESULTS[EXIT_NOT_JUDGED][2], rows[EXIT_NOT_JUDGED]),
            )
            if those
        ]
        waiting = [row for row in self.rows if row.exit_code in (None, EXIT_INTERRUPTED)]
        parts[:0] = [f"interrupted; not finished: {_names(waiting)}"] if waiting else []
        done = RESULTS[self.exit_code][2] if self.gated else MEASURED[2]
        if not self.measured:
            return gate.heading(f"the change affects none of {_count(self.rows)}")
        return gate.heading("; ".join(parts) or f"{_count(self.measured)} {done}")

    @property
    def how(self) -> str:
        """The error rate, as a sentence."""
        if not self.measured:
            return "Nothing was measured."
        scenarios = f"{_count(self.measured)} together"
        if len(self.measured) == 1:
            scenarios = _count(self.measured)
        level, number = format_percent(self.level), counted(self.decisions, "comparison")
        if self.gated:
            return (
                f"Probability of a false alarm in the first measurement: at most {level} for the {number} by rounds "
                f"of {scenarios}."
            )
        return (
            f"Probability of a false difference: at most {level} for the {number} of {scenarios}."
        )

    @property
    def attention(self) -> tuple[tuple[SuiteRow, GateRow], ...]:
        """The comparisons that need attention, in the order of `gate.FULL_ROWS`, the largest growth first."""
        pairs = [(row, one) for row in self.rows if row.page for one in row.page.full]
        order = gate.FULL_ROWS
        return tuple(sorted(pairs, key=lambda pair: (order.index(pair[1].state), -pair[1].size)))

    @property
    def causes(self) -> tuple[tuple[SuiteRow, str], ...]:
        """The lines about the causes of regressions."""
        return tuple((row, line) for row in self.rows if row.page for line in row.page.causes)

    @property
    def passed(self) -> tuple[tuple[SuiteRow, GateRow], ...]:
        """The comparisons that passed."""
        return tuple((row, one) for row in self.rows if row.page for one in row.page.passed)

    @property
    def annotations(self) -> tuple[str, ...]:
        """The failures of all gates, one line each."""
        return tuple(
            f"{row.scenario}: {text}"
            for row in self.rows
            if row.page
            for text in row.page.annotations
        )

    @property
    def accept(self) -> tuple[tuple[str, str], ...]:
        """Each regression that could be accepted: its scenario, and a line for the file of accepted changes."""
        return tuple((r.scenario, line) for r in self.rows if r.page for line in r.page.accept)


def _count(rows: Sequence[SuiteRow]) -> str:
    return counted(len(rows), "scenario")


def _names(rows: Sequence[SuiteRow]) -> str:
    return listed((row.scenario for row in rows), most=3)


def _largest(rows: Sequence[SuiteRow]) -> str:
    """Return the largest regression of some scenarios with its size; empty if they have none."""
    pages = [row.page for row in rows if row.page is not None and row.page.largest]
    if not pages:
        return ""
    page = max(pages, key=lambda page: page.growth)
    several = len(pages) > 1 or sum(one.state == "worse" for one in page.rows) > 1
    where = f"{page.scenario}, " if len(pages) > 1 else ""
    return f", the largest: {where}{page.largest}" if several else f": {page.largest}"


def terminal(page: SuitePage, width: int, *, unicode: bool, most: int = 10) -> str:
    """Return the terminal page: the result, the table of scenarios, what needs attention, the error rate.

    Only regressions and failures have their sentences.
    """
    width, mark = max(width, 40), 0 if unicode else 1
    lines = [*wrap(page.answer if unicode else page.heading, width, rest="  "), ""]
    lines += [*_table(page, width, unicode=unicode), ""]
    urgent = [pair for pair in page.attention if pair[1].state in URGENT]
    for row, one in urgent[:most]:
        glyph = one.glyph if unicode else one.ascii
        text = f"{glyph} {row.scenario}: {one.cell}, {one.metric}: {one.word}"
        lines += [*wrap(text, width, rest="  "), *wrap(one.sentence, width, "    ", "    ")]
    if len(urgent) > most:
        lines.append(f"{len(urgent) - most} more are in index.html")
    for row, line in page.causes:
        lines += wrap(f"Why, {row.scenario}: {line}", width, rest="  ")
    others: dict[tuple[str, str, str, str], list[str]] = {}
    for row, one in page.attention:
        if one.state not in URGENT:
            key = (one.glyph if unicode else one.ascii, row.scenario, one.cell, one.word)
            others.setdefault(key, []).append(one.metric)
    for (glyph, scenario, cell, word), metrics in others.items():
        text = f"{glyph} {scenario}: {cell}: {word}: {', '.join(metrics)}"
        lines += wrap(text, width, rest="  ")
    for row in page.rows:
        reasons = row.page.reasons if row.page and not row.page.full else ()
        texts = [(row.words[mark], text) for text in (row.sentence, *reasons) if text]
        texts += [(REMARK[mark], text) for text in row.remarks]
        for glyph, text in texts:
            lines += wrap(f"{glyph} {row.scenario}: {text}", width, rest="  ")
    lines += ["", *wrap(page.how, width)]
    return "\n".join(visible(line) for line in lines)


def _table(page: SuitePage, width: int, *, unicode: bool) -> list[str]:
    longest = min(LONGEST_NAME, width // 3)
    head = ["", "scenario", "result", "passed", "time", "record"]
    cells = [
        [
            row.words[0 if unicode else 1],
            cut_middle(row.scenario, longest, "…" if unicode else "..."),
            row.words[2],
            row.passed,
            format_clock(row.seconds) if row.seconds else "",
            row.record,
        ]
        for row in page.rows
    ]
    if not page.gated:
        head, *cells = ([*line[:3], *line[4:]] for line in (head, *cells))
    columns = [*zip(head, *cells, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    right = {"passed", "time"}
    return [
        "  ".join(
            pad(text, size, left=name not in right)
            for name, text, size in zip(head, line, widths, strict=True)
        ).rstrip()
        for line in (head, *cells)
    ]


def markdown(page: SuitePage, *, comment: bool) -> str:
    """Return a comment, or a step summary, without passed rows if it is too long."""
    rows = page.attention, page.passed
    return fitting("suite.md.j2", page, rows, comment=comment, urgent_states=URGENT)


def junit(page: SuitePage) -> str:
    """Return JUnit XML with a suite of tests for each scenario."""
    suites = ET.Element("testsuites")
    for row in page.rows:
        suites.append(suite_of(row.page or _one_row(page, row)))
    return xml_text(suites)


def _one_row(page: SuitePage, row: SuiteRow) -> GatePage:
    """Return the page of a scenario without a gate result: one row with the reason."""
    state = (
        "skipped" if row.skipped or row.exit_code is None else "failed" if row.error else "passed"
    )
    one = GateRow(
        "all configurations",
        "measurement",
        state,
        *row.words[:2],
        row.sentence,
        row.seconds,
        row.words[2],
    )
    code = row.exit_code or EXIT_DONE
    return GatePage(
        row.scenario, row.record, page.started, None, row.words[2], code, (), (one,), ""
    )


def index(page: SuitePage) -> str:
    """Return the index page: one HTML file that links the reports of the scenarios."""
    templates = Templates()
    given = {
        "page": page,
        "when": f"{format_moment(page.started)} UTC",
        "style": trusted(templates.text("report.css")),
        "policy": policy(""),
    }
    filters = dict(FILTERS) | {"clock": format_clock}
    return templates.render("suite.html.j2", given, filters, printable)
