"""Section "Sessions": the ratios of each session, and the range of another one."""

from collections.abc import Iterator
from typing import Final

from bench_framework.model.plan.plan import Role
from bench_framework.model.result.judgement import Comparison
from bench_framework.report.blocks import Block, Cell, Column, Row, Table
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import CI
from bench_framework.text.numbers import fixed, show_comparison, show_ratio
from bench_framework.text.reasons import phrase
from bench_framework.text.words import noun
from bench_framework.units import counted

CONTROL: Final = "A/A control"
DECIMALS: Final = 3
MOST_LISTED: Final = 6
"""Largest number of listed ratios. Of more sessions, the table has the smallest and the largest one."""


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table of the comparisons with the references and the A/A controls, by session."""
    rows = tuple(_rows(data))
    if not rows:
        return ()
    measure = data.plan.measure
    count, rounds = counted(data.sessions, "session"), counted(measure.session_rounds, "round")
    caption = (
        f"Ratios in {count} of {rounds}{_end(data)} Each session began with new copies of "
        "programs and generated inputs and its own warm-up. Intervals include the variation between sessions. The "
        f"reference is {data.plan.baseline.label} unless the row names another one."
    )
    legend: tuple[str, ...] = (
        "Another session: 95\u202f% prediction interval for a session of the same length on this machine.",
        (
            "Differ: the ratio changed between sessions, by an exact test at 1\u202f% for all comparisons "
            "together, and by more than the margin."
        ),
    )
    if any(look.dropped for look in data.contents.looks):
        legend += (
            (
                "A configuration whose comparisons are all conclusive is measured in every fourth round "
                "of later sessions."
            ),
        )
    columns = (
        Column("Comparison", prose=True),
        Column("Metric"),
        Column("Ratio by session", "right"),
        Column(f"All, {CI}", "right"),
        Column("Another session", "right"),
        Column("Differ"),
    )
    return (Table("sessions-table", caption, columns, rows, legend),)


def _end(data: ReportData) -> str:
    """Return how a range of sessions was planned and the reason why it ended, after their number."""
    measure = data.plan.measure
    if measure.sessions_min is None:
        return "."
    ends = dict.fromkeys(phrase(look.reason) for look in data.contents.looks if look.stopped)
    planned = f" ({measure.sessions_min} to {measure.sessions} were planned)."
    return f"{planned} Measuring ended because {'; '.join(ends)}." if ends else planned


def _rows(data: ReportData) -> Iterator[Row]:
    for item in data.plan.inputs:
        cells = {cell.id for cell in data.plan.cells_of(item.id)}
        for c in data.judgement.comparisons:
            if c.cell_id in cells and c.sessions is not None and c.shown is not None:
                yield _row(data, c, data.on_input(item, ", input "))


def _row(data: ReportData, c: Comparison, where: str) -> Row:
    assert c.sessions is not None
    assert c.ratio is not None
    margin = c.thresholds.margin
    sessions = c.sessions.inverse if c.direction == "higher" else c.sessions
    ratios = sessions.ratios
    if len(ratios) > MOST_LISTED:
        ratios = (min(ratios, key=lambda r: r.ratio), max(ratios, key=lambda r: r.ratio))
    joint = " to " if len(ratios) < len(sessions.ratios) else ", "
    each = joint.join(fixed(ratio.ratio, DECIMALS) for ratio in ratios)
    subject = CONTROL if c.family == "control" else data.label(c.cell_id)
    baseline = data.plan.cell(c.ref_cell_id).role is Role.BASELINE
    reference = "" if baseline else f" vs {data.label(c.ref_cell_id)}"
    return Row.build(
        f"{subject}{reference}{where}",
        noun(c.metric),
        each,
        Cell(str(show_comparison(c)), c.ratio.ratio),
        show_ratio(*sessions.another.figures, margin).bounds,
        "yes" if sessions.differ else "no",
    )


SESSIONS: Final = SectionKind(
    "S35",
    "sessions",
    "Sessions",
    "with `sessions`: the ratios of each session, and the range of another one",
    build,
)
