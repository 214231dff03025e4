"""Section "Contribution of each change": ladder, single changes, Shapley values."""

import functools
import operator
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from bench_framework.model.facts import Claim
from bench_framework.model.result.structure import ContrastResult, Contribution, Step
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Block, Cell, Column, Figure, Point, Row, Table
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import metric_name
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import (
    CI,
    contrast_cells,
    few_rounds,
    interaction_cell,
    scale_of,
    titled,
    value_cell,
    with_claims,
)
from bench_framework.text.numbers import DASH, fixed, format_percent, show_ratio, significant
from bench_framework.text.words import glyph

_HEADS: Final = {
    "ladder": "Changes made one after the other: each step ÷ the step before it",
    "alone": "Each change alone ÷ the variant without changes",
    "shapley": "Shapley values: each change, averaged over all orders of the changes",
}
_ROUNDED: Final = (
    "Ratios and medians are rounded to the precision of their intervals. Shares are computed before "
    "rounding and have no interval: the share of an inconclusive step is inconclusive."
)
_NEAR_ONE: Final = 0.1
"""The distance from 1 below which a remainder has three decimals.

With two decimals, most of these remainders would be printed as 1.00.
"""
_UNEXPLAINED: Final = "interaction / unexplained"
_CUMULATIVE: Final = (
    "Each bar begins where the previous one ends; lines are the intervals of the steps. "
    "Hatched: the part of the total that the steps do not explain."
)
_ALONE: Final = (
    "Dots: each change alone, and all changes together as the total, with intervals. "
    "Hollow: the interaction, total ÷ product of the changes (1: none)."
)


def build(data: ReportData) -> tuple[Block, ...]:
    """Return one table per input and design, none for single changes without a total."""
    blocks: list[Block] = []
    tables = data.judgement.structure.contributions
    for number, (table, claim) in enumerate(with_claims(tables, data.claims("contributions")), 1):
        if table.design == "alone" and table.total is None:
            continue
        block = _table(data, table, claim, f"contributions-{number}")
        plot = waterfall(data, table, block)
        blocks += [plot, block] if plot is not None else [block]
    return tuple(blocks)


def _table(data: ReportData, table: Contribution, claim: Claim | None, name: str) -> Table:
    steps = (*table.steps, *table.beyond)
    ids = (table.start_cell_id, *(s.cell_id for s in steps), table.end_cell_id)
    medians = {i: data.summary(i, table.metric) for i in ids if i}
    summaries = [s for s in medians.values() if s is not None]
    scale = scale_of(data, table.metric, summaries)
    times = {i: scale.cell(medians.get(i or "")) for i in ids}
    start = (data.label(table.start_cell_id), times[table.start_cell_id])
    rows = [Row.build("start", *start, DASH, "", "", "", "", baseline=True)]
    rows += [_row(data, str(n), s, times, claim) for n, s in enumerate(table.steps, 1)]
    if table.total is not None:
        rows.append(_left(data, table, claim))
        share = _share(1.0 if table.unexplained is not None else None)
        label = data.label(table.end_cell_id) if table.end_cell_id else ""
        head = ("total", label, times[table.end_cell_id])
        figures = contrast_cells(table.total, data, claim)
        rows.append(Row.build(*head, *figures, share, str(table.total.rounds), strong=True))
    rows += [_row(data, "beyond", s, times, claim) for s in table.beyond]
    columns = (
        Column("Step"),
        Column("Change", prose=True),
        Column(titled(f"{metric_name(table.metric)} after", scale.unit), "decimal", drop=2),
        Column("Step ratio", "decimal"),
        Column(CI, drop=3),
        Column("Verdict"),
        Column("Share of the total", "right", drop=1),
        Column("n", "right", drop=4),
    )
    item = data.plan.input(table.input_id)
    caption = (
        f"{_HEADS[table.design]}{data.on_input(item, ', input ')}. The ratios multiply to the "
        "total; share = log(step) ÷ log(total)."
    )
    return Table(name, caption, columns, tuple(rows), _legend(table), sortable=False)


def _row(
    data: ReportData, place: str, step: Step, times: Mapping[str | None, Cell], claim: Claim | None
) -> Row:
    return Row.build(
        place,
        step.text,
        times[step.cell_id],
        *contrast_cells(step.contrast, data, claim),
        _share(step.share),
        str(step.contrast.rounds),
        verdict=step.contrast.verdict,
    )


def _left(data: ReportData, table: Contribution, claim: Claim | None) -> Row:
    """Return the part of the total that the steps do not explain."""
    head, share = ("", _UNEXPLAINED, DASH), _share(table.unexplained)
    if table.remainder is None:
        return Row.build(*head, _quotient(data, table), "", "", share, "")
    ratio, bounds, _ = contrast_cells(table.remainder, data, claim)
    verdict = interaction_cell(table.remainder.verdict, higher=data.higher)
    return Row.build(*head, ratio, bounds, verdict, share, str(table.remainder.rounds))


def _quotient(data: ReportData, table: Contribution) -> Cell:
    contrasts = (table.total, *(s.contrast for s in table.steps))
    values = [data.of_values(c.shown) for c in contrasts if c is not None]
    ratios = [interval.ratio for interval in values if interval is not None]
    if len(ratios) < len(contrasts):
        return Cell(DASH)
    total = functools.reduce(operator.truediv, ratios)
    return Cell(fixed(total, 3) if abs(total - 1) < _NEAR_ONE else significant(total, 3), total)


def _share(share: float | None) -> Cell:
    return value_cell(share, partial(format_percent, decimals=0))


def _legend(table: Contribution) -> tuple[str, ...]:
    contrasts = [s.contrast for s in (*table.steps, *table.beyond)]
    lines = [_ROUNDED, *few_rounds([*contrasts, *filter(None, (table.total, table.remainder))])]
    if table.total is None:
        lines.append("No variant has every change, so there are no total and no shares.")
    elif table.unexplained is None:
        lines.append("The total is inconclusive, so there are no shares.")
    elif table.total.verdict is not Verdict.EQUIVALENT and any(
        (s.share or 0) < 0 for s in table.steps
    ):
        lines.append("A negative share: the step works against the total.")
    if table.remainder is None and table.total is not None:
        lines.append(
            "In each round the steps multiply to the total; the medians over rounds can deviate "
            "from this."
        )
    if table.beyond:
        lines.append("Beyond: steps after the last adopted one; not part of the total.")
    return tuple(lines)


CONTRIBUTIONS = SectionKind(
    "S13",
    "contributions",
    "Contribution of each change",
    "ablation: steps of a ladder, each change alone, or Shapley values",
    build,
    "it needs a ladder, crossed axes, or a variant with all changes",
)


def waterfall(data: ReportData, contribution: Contribution, table: Table) -> Figure | None:
    """Return the plot of the steps and the total, or `None` without a total.

    Each step begins where the previous one ends. Changes that were measured alone all begin at the
    start and are drawn as dots. The rest of the total is their interaction.
    """
    if contribution.total is None:
        return None
    total = data.of_values(contribution.total.shown)
    steps = [data.of_values(step.contrast.shown) for step in contribution.steps]
    if total is None or None in steps:
        return None
    cumulative = contribution.design != "alone"
    points: list[Point] = []
    product = 1.0
    for step in contribution.steps:
        points.append(_point(data, step.text, step.contrast, product if cumulative else 1.0))
        product *= points[-1].x
    points += [
        _rest(data, contribution, total.ratio, product),
        _point(data, "total", contribution.total, 1.0),
    ]
    where = data.on_input(data.plan.input(contribution.input_id), ", input ")
    start = data.label(contribution.start_cell_id)
    title, desc = f"Each change alone vs {start}{where}", _ALONE
    if cumulative:
        title, desc = f"From {start}, step by step{where}", _CUMULATIVE
    return Figure(
        f"{table.anchor}-plot",
        "waterfall",
        title,
        f"Ratios to the start; below 1 is less. {desc}",
        tuple(points),
        table,
        (),
        () if cumulative else (("alone", 1.0),),
        with_table=True,
    )


def _rest(data: ReportData, contribution: Contribution, total: float, product: float) -> Point:
    remainder = contribution.remainder
    if remainder is not None and data.of_values(remainder.shown) is not None:
        point = _point(data, _UNEXPLAINED, remainder, 1.0)
        return replace(point, verdict=None, text=_ratio_text(data, remainder))
    begin = 1.0 if contribution.design == "alone" else product
    return Point(_UNEXPLAINED, total / product, begin, text=significant(total / product, 3))


def _ratio_text(data: ReportData, contrast: ContrastResult) -> str:
    interval = data.of_values(contrast.shown)
    assert interval is not None
    keep = contrast.verdict is not Verdict.INCONCLUSIVE
    return str(show_ratio(*interval.figures, data.margin, keep=keep))


def _point(data: ReportData, label: str, contrast: ContrastResult, begin: float) -> Point:
    i, verdict = data.of_values(contrast.shown), contrast.verdict
    assert i is not None
    text = f"{_ratio_text(data, contrast)} {glyph(verdict)}"
    return Point(label, i.ratio, begin, i.lo, i.hi, verdict=verdict, text=text)
