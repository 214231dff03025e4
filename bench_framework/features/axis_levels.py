"""The document of ``benchctl compare --axis``: levels of one axis, with all else equal."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from bench_framework.features.document import build_document
from bench_framework.model.declarations import Axis
from bench_framework.model.judgement import Comparison
from bench_framework.model.looks import Looks
from bench_framework.model.plan import Plan
from bench_framework.model.words import noun, verdict_text, word
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
from bench_framework.report.numbers import DASH, interim_analyses, replication, show_comparison
from bench_framework.report.table_cells import ADJUSTED_CI
from bench_framework.units import counted


def document(
    data: ReportData, axis: Axis, comparisons: Sequence[Comparison], looks: Looks, where: str | None
) -> Document:
    """Return the document with one section, which compares the levels of an axis."""
    metrics = list(dict.fromkeys(c.metric for c in comparisons))
    blocks: tuple[Block, ...] = tuple(
        _table(
            data.plan, axis, metric, [c for c in comparisons if c.metric == metric], looks, where
        )
        for metric in metrics
    )
    nothing = Fallback(f"No two configurations differ in {axis.label or axis.name} alone.")
    section = Section(
        "S14", "axis-levels", f"Levels of {axis.label or axis.name}", blocks or (nothing,)
    )
    draft = build_document(
        replace(data, judgement=replace(data.judgement, status="exploratory")), only=("S03",)
    )
    size = counted(looks.family, "comparison")
    run_line = (
        f"{data.plan.name}  {axis.label or axis.name}, everything else equal  exploratory: chosen "
        f"after the data were seen; {size}, Holm-adjusted"
    )
    return replace(draft, run_line=run_line, sections=(section,), claims=(), files=(), next=())


def _table(
    plan: Plan, axis: Axis, metric: str, rows: Sequence[Comparison], looks: Looks, where: str | None
) -> Table:
    start = dict(plan.variant(plan.baseline_id).values)[axis.name]
    others = [
        a for a in plan.axes if a.kind != "input" and a.name != axis.name and len(a.values) > 1
    ]
    columns = (
        Column(axis.label or axis.name),
        *((Column("Input"),) if len(plan.inputs) > 1 else ()),
        Column(f"vs {start}", "decimal"),
        Column(ADJUSTED_CI, drop=1),
        Column("Verdict"),
        Column("n", "right", drop=2),
        Column("Notes", prose=True),
    )
    table_rows = tuple(_row(plan, axis, [a.name for a in others], c) for c in rows)
    chosen = f" where {where}" if where else ""
    size = counted(looks.family, "comparison")
    caption = (
        f"{axis.label or axis.name} against {start}{chosen}, everything else equal, paired within "
        f"rounds. Exploratory: chosen after the data were seen. {size}, Holm-adjusted, "
        f"{interim_analyses(looks.count)}, family-wise level {looks.level * 100:g}\u202f%."
    )
    return Table(
        f"axis-{metric}",
        caption,
        columns,
        table_rows,
        sortable=False,
        stub=f"{axis.label or axis.name}: {noun(metric)}",
        note=" ".join(_counts(plan, axis, metric, rows)),
    )


def _row(plan: Plan, axis: Axis, others: Sequence[str], c: Comparison) -> Row:
    cell = plan.cell(c.cell_id)
    values = dict(plan.variant(cell.variant_id).values)
    rest = " ".join(values[name] for name in others)
    figures = show_comparison(c)
    notes = "; ".join(part for part in (c.reason, effect_note(c)) if part)
    return Row.build(
        f"{values[axis.name]}{f', with {rest}' if rest else ''}",
        *((Cell(plan.input(cell.input_id).label),) if len(plan.inputs) > 1 else ()),
        Cell(figures.estimate, c.shown.ratio if c.shown else None) if figures else DASH,
        figures.bounds if figures else "",
        Cell(verdict_text(c.verdict, c.metric), c.verdict.value, None, c.verdict),
        replication(c.rounds, c.runs),
        notes,
        verdict=c.verdict,
        reason=notes,
    )


def _counts(plan: Plan, axis: Axis, metric: str, rows: Sequence[Comparison]) -> tuple[str, ...]:
    """Return the counts of verdicts per level. No mean is taken over the other axes."""
    lines = []
    for value in axis.values:
        level_rows = [c for c in rows if _level(plan, axis, c) == value.name]
        counts = Counter(word(c.verdict, metric) for c in level_rows)
        if level_rows:
            lines.append(
                f"{value.name}: "
                f"{', '.join(f'{w} in {n} of {len(level_rows)}' for w, n in counts.items())}."
            )
    return tuple(lines)


def _level(plan: Plan, axis: Axis, c: Comparison) -> str:
    return dict(plan.variant(plan.cell(c.cell_id).variant_id).values)[axis.name]
