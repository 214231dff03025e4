"""The page of ``benchctl compare --axis``."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench_framework.features.document import build_document
from bench_framework.model.plan.declarations import Axis
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import Plan
from bench_framework.model.result.judgement import Comparison
from bench_framework.report.blocks import (
    Block,
    Cell,
    Column,
    Document,
    Fallback,
    Row,
    Section,
    Table,
)
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import effect_note
from bench_framework.report.table_cells import CI, comparison_cells, verdict_cell
from bench_framework.text.numbers import format_percent, interim_analyses, replication
from bench_framework.text.reasons import phrase
from bench_framework.text.words import noun, word
from bench_framework.units import counted


def document(
    data: ReportData, axis: Axis, comparisons: Sequence[Comparison], looks: Looks, where: str | None
) -> Document:
    """Return the document with one section, which compares the levels of an axis."""
    title = axis.label or axis.name
    blocks: tuple[Block, ...] = tuple(
        _table(data.plan, axis, [c for c in comparisons if c.metric == metric], looks, where)
        for metric in dict.fromkeys(c.metric for c in comparisons)
    )
    blocks = blocks or (Fallback(f"No two configurations differ in {title} alone."),)
    section = Section("S14", "axis-levels", f"Levels of {title}", blocks)
    exploratory = replace(data, judgement=replace(data.judgement, status="exploratory"))
    draft = build_document(exploratory, only=("S03",))
    size = counted(looks.family, "comparison")
    run_line = (
        f"{data.plan.name}  {title}, everything else equal  exploratory: "
        f"chosen after measuring; {size}, Holm-adjusted"
    )
    return replace(draft, run_line=run_line, sections=(section,), claims=(), files=(), next=())


def _table(
    plan: Plan, axis: Axis, rows: Sequence[Comparison], looks: Looks, where: str | None
) -> Table:
    metric, title = rows[0].metric, axis.label or axis.name
    start = dict(plan.baseline.values)[axis.name]
    columns = (
        Column(title),
        *((Column("Input"),) if len(plan.inputs) > 1 else ()),
        Column(f"vs {start}", "decimal"),
        Column(CI, drop=1),
        Column("Verdict"),
        Column("n", "right", drop=2),
        Column("Notes", prose=True),
    )
    chosen = f" where {where}" if where else ""
    size = counted(looks.family, "comparison")
    caption = (
        f"{title} against {start}{chosen}, everything else equal, paired within "
        f"rounds. Exploratory: chosen after measuring. {size}, Holm-adjusted, "
        f"{interim_analyses(looks.count)}, family-wise level {format_percent(looks.level)}."
    )
    return Table(
        f"axis-{metric}",
        caption,
        columns,
        tuple(_row(plan, axis, c) for c in rows),
        sortable=False,
        stub=f"{title}: {noun(metric)}",
        note=" ".join(_counts(plan, axis, rows)),
    )


def _row(plan: Plan, axis: Axis, c: Comparison) -> Row:
    cell = plan.cell(c.cell_id)
    values = dict(plan.variant(cell.variant_id).values)
    varied = (a for a in plan.axes if a.kind != "input" and len(a.values) > 1)
    rest = " ".join(values[a.name] for a in varied if a.name != axis.name)
    notes = "; ".join(part for part in (phrase(c.reason), effect_note(c)) if part)
    return Row.build(
        f"{values[axis.name]}{f', with {rest}' if rest else ''}",
        *((Cell(plan.input(cell.input_id).label),) if len(plan.inputs) > 1 else ()),
        *comparison_cells(c, None),
        verdict_cell(c.verdict, c.metric),
        replication(c.rounds, c.runs),
        notes,
        verdict=c.verdict,
        reason=notes,
    )


def _counts(plan: Plan, axis: Axis, rows: Sequence[Comparison]) -> Iterator[str]:
    """Yield the counts of verdicts per level. No mean is taken over the other axes."""
    counts = {value.name: Counter[str]() for value in axis.values}
    for c in rows:
        level = dict(plan.variant(plan.cell(c.cell_id).variant_id).values)[axis.name]
        counts[level][word(c.verdict, c.metric)] += 1
    for name, verdicts in counts.items():
        shares = [f"{text} in {n} of {verdicts.total()}" for text, n in verdicts.items()]
        if shares:
            yield f"{name}: {', '.join(shares)}."
