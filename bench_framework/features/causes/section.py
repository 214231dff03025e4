"""Section "Where the time differs": the parts of the time difference of contrasts and hypotheses."""

from collections.abc import Iterator
from typing import Final

from bench_framework.compare import samples as sampling
from bench_framework.compare.decide import judged_pairs
from bench_framework.compare.samples import Sample
from bench_framework.features.causes.compute import HANDLED, evidence_of
from bench_framework.model.facts.causes import CauseEvidence, CounterDifference, TimePart
from bench_framework.model.looks import contrast_cells
from bench_framework.model.metrics import METRICS, WALL
from bench_framework.model.plan import Cell as PlanCell
from bench_framework.model.plan import Input
from bench_framework.report.blocks import Block, Column, Row, Table
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.text.numbers import format_duration, format_percent, grouped, show_size
from bench_framework.text.words import noun
from bench_framework.units import MINUS, THIN_SPACE

LEAST_SHARE: Final = 0.05
"""Parts with a smaller share of the difference are not listed."""
_CAPTION: Final = (
    "Parts of the time difference of each contrast and hypothesis whose times differ, and what else differs by "
    "more than a factor of two. Such a counter may be the cause as well, unless it is what the change is about."
)
_LEGEND: Final = (
    "Parts are the phases that the workers report and the time outside of them, otherwise processor time and "
    "waiting. Each is the median over rounds of its difference, so that the shares need not add up to 100 %. The "
    "processor time of a program that uses several cores can differ by more than its elapsed time."
)
_PARTS: Final = {
    "outside": "outside the phases",
    "user": "user time",
    "sys": "system time",
    "waiting": "waiting",
}


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table of the contrasts and hypotheses of all inputs whose times differ."""
    samples = sampling.collect(data.blocks)
    rows = tuple(_rows(data, samples))
    columns = (
        Column("Contrast", prose=True),
        Column("Time difference", "right"),
        Column("Where", prose=True),
        Column("Also different", prose=True),
    )
    return (Table("causes-table", _CAPTION, columns, rows, (_LEGEND,)),) if rows else ()


def _rows(data: ReportData, samples: dict[str, Sample]) -> Iterator[Row]:
    judged = judged_pairs(data.judgement.comparisons, WALL)
    for item in data.plan.inputs:
        for cell, reference in _pairs(data, item):
            comparison = judged.get((cell.id, reference.id))
            if comparison is None or not comparison.verdict.decided:
                continue
            evidence = evidence_of(samples[cell.id], samples[reference.id])
            if evidence is not None:
                label = f"{_label(data, cell)} against {_label(data, reference)}"
                yield _row(f"{label}{data.on_input(item, ', input ')}", evidence)


def _pairs(data: ReportData, item: Input) -> list[tuple[PlanCell, PlanCell]]:
    """Return the configurations that a contrast or a hypothesis of the scenario compares, once each."""
    cells = {cell.variant_id: cell for cell in data.plan.compared_cells(item.id)}
    pairs = [(cell, ref) for _, cell, ref in contrast_cells(data.plan, item.id)]
    pairs += [
        (cells[h.variant_id], cells[h.reference_id])
        for h in data.plan.hypotheses
        if {h.variant_id, h.reference_id} <= cells.keys()
    ]
    return list(dict.fromkeys(pairs))


def _label(data: ReportData, cell: PlanCell) -> str:
    return data.plan.variant(cell.variant_id).label


def _row(label: str, evidence: CauseEvidence) -> Row:
    parts = [part for part in evidence.parts if abs(evidence.share(part)) >= LEAST_SHARE]
    sign = MINUS if evidence.difference < 0 else "+"
    return Row.build(
        label,
        f"{sign}{format_duration(abs(evidence.difference))}",
        ", ".join(_part(part, evidence.share(part)) for part in parts),
        ", ".join(map(_counter, evidence.counters)),
    )


def _part(part: TimePart, share: float) -> str:
    name = part.name if part.kind == "phase" else _PARTS[part.kind]
    return f"{name} {MINUS if share < 0 else ''}{format_percent(abs(share), decimals=0)}"


def _counter(counter: CounterDifference) -> str:
    handled = counter.metric == HANDLED
    name = "bytes that the worker reports" if handled else noun(counter.metric)
    in_bytes = handled or METRICS[counter.metric].unit == "bytes"
    values = (
        show_size(value, "iec") if in_bytes else grouped(round(value), THIN_SPACE)
        for value in (counter.value, counter.reference)
    )
    return f"{name} {' and '.join(values)}"


CAUSES: Final = SectionKind(
    "S34",
    "causes",
    "Where the time differs",
    "for each contrast and hypothesis: the parts of the time difference, and counters that differ by more than a "
    "factor of two",
    build,
)
