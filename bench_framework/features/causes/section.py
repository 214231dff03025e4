"""Section "Where the time differs": the parts of the time difference of contrasts and hypotheses."""

from typing import Final

from bench_framework.model.facts.causes import LEAST_SHARE, Cause
from bench_framework.model.metrics import WALL
from bench_framework.report.blocks import Block, Column, Row, Table
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.text.causes import counter_text, parts_text, share_text
from bench_framework.text.numbers import format_duration, format_percent
from bench_framework.text.words import noun
from bench_framework.text.write import render
from bench_framework.units import MINUS

_CAPTION: Final = (
    "Parts of the time difference of each contrast and hypothesis whose times differ, and what else differs by "
    "more than a factor of two. Of a change that the scenario offers as a cause, the last column has what it does "
    "not name: a counter, or the parts that have most of the difference. The change is then not shown to be the cause."
)
_LEGEND: Final = (
    "Parts are the phases that the workers report and the time outside of them, otherwise processor time and "
    "waiting. Each is the median over rounds of its difference, so that the shares need not add up to 100 %: the "
    f"rest is unexplained. Parts below {format_percent(LEAST_SHARE)} are not listed, but count. The processor "
    "time of a program that uses several cores can differ by more than its elapsed time. These shares are of "
    "timed rounds."
)
_UNTIMED: Final = (
    "In parentheses is what one to ten more runs of each side show, outside timing, of which the one that waited least "
    "counts. Waiting is split by the states of the "
    "threads, which are read about every millisecond: shares of the difference of the waiting between these runs. "
    "The split is unknown if they differ by another amount than the timed rounds, if the machine does not show the "
    f"states, or if a share is below {MINUS}10 % or above 110 %. Page faults are counted, and cost what a new small "
    "page costs on this machine."
)


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table of the contrasts and hypotheses of all inputs whose times differ."""
    pairs: dict[object, list[Cause]] = {}
    for cause in data.judgement.causes:
        evidence = cause.evidence
        pairs.setdefault((frozenset(evidence.cells), evidence.metric), []).append(cause)
    rows = tuple(_row(data, causes) for causes in pairs.values())
    columns = (
        Column("Contrast", prose=True),
        Column("Time difference", "right"),
        Column("Where", prose=True),
        Column("Unexplained", "right"),
        Column("Also different", prose=True),
        Column("As a cause", prose=True),
    )
    return (Table("causes-table", _CAPTION, columns, rows, (_LEGEND, _UNTIMED)),) if rows else ()


def _row(data: ReportData, causes: list[Cause]) -> Row:
    evidence, item = causes[0].evidence, data.plan.input(causes[0].input_id)
    label = " against ".join(map(data.label, evidence.cells))
    if evidence.metric != WALL:
        label += f", {noun(evidence.metric)}"
    sign = MINUS if evidence.difference < 0 else "+"
    return Row.build(
        f"{label}{data.on_input(item, ', input ')}",
        f"{sign}{format_duration(abs(evidence.difference))}",
        parts_text(evidence),
        share_text(evidence.unexplained) if evidence.parts else "unknown",
        ", ".join(counter_text(counter, evidence.fault_cost) for counter in evidence.counters),
        _as_a_cause(causes),
    )


def _as_a_cause(causes: list[Cause]) -> str:
    """Return the second difference of a pair, which a contrast and a hypothesis may compare."""
    for cause in causes:
        if cause.second is not None:
            return f"two differences at once: {render('second_difference', cause.second)}"
    return "no second difference" if any(cause.offered for cause in causes) else ""


CAUSES: Final = SectionKind(
    "S34",
    "causes",
    "Where the time differs",
    "for each contrast and hypothesis: the parts of the time difference, counters that differ by more than a "
    "factor of two, and whether two differences at once forbid a conclusion on the cause",
    build,
)
