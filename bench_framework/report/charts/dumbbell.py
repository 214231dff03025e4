"""Old and new value of each configuration at two revisions, the largest increase first."""

from typing import Final

from bench_framework.model.plan.plan import Cell as PlanCell, Input
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table
from bench_framework.report.charts import Axes, Palette, amounts, frame, rows, token
from bench_framework.report.charts.amounts import Unit
from bench_framework.report.context import ReportData
from bench_framework.report.main_table import plain_interval, revision_cells, value_by_ratio
from bench_framework.report.table_cells import CI, titled
from bench_framework.text.names import capital
from bench_framework.text.numbers import significant
from bench_framework.text.words import noun
from bench_framework.units import counted

MOST_ROWS: Final = 14
MOST_SPAN: Final = 100.0
"""Largest factor between the values of a figure. Beyond it, no change would be visible."""
PAD: Final = 1.04


def dumbbell(data: ReportData, _: Input) -> Figure | None:
    """Return the figure of two revisions, `None` for other records or values of all magnitudes."""
    if data.plan.revisions is None:
        return None
    pairs = [(cell, pair) for cell in revision_cells(data) if (pair := _values(data, cell))]
    rest = len(pairs) - MOST_ROWS
    pairs = pairs[:MOST_ROWS]
    values = [value for _, pair in pairs for value in pair]
    if not values or min(values) <= 0 or max(values) > MOST_SPAN * min(values):
        return None
    unit = Unit.for_metric(data, pairs[0][1][0])
    points = tuple(_point(data, cell, pair, unit) for cell, pair in pairs)
    base, head = data.plan.revisions.names
    name = noun(data.metric)
    more = f" {capital(counted(rest, 'more configuration'))} in the appendix." if rest > 0 else ""
    legend = (f"Hollow: {base}", f"filled: {head}", f"lines: {CI}s")
    desc = amounts.caption(data, *legend) + more
    return Figure(
        "answer-figure",
        "dumbbell",
        f"{capital(name)} before and after",
        desc,
        points,
        _table(data, points, unit),
        (("unit", unit.name),),
    )


def _values(data: ReportData, cell: PlanCell) -> tuple[float, float] | None:
    """Return the old and the new value, or `None` if one of them was not measured."""
    if data.state(cell.id).state != "measured":
        return None
    old = data.baseline_summary(cell.input_id, data.metric)
    new = data.summary(cell.id, data.metric)
    if old is None or new is None:
        return None
    return old.median, value_by_ratio(data, cell) or new.median


def _point(data: ReportData, cell: PlanCell, pair: tuple[float, float], unit: Unit) -> Point:
    old, new = pair
    comparison = data.comparison(cell.id, data.metric)
    interval = plain_interval(comparison)
    verdict = comparison.verdict if comparison is not None else None
    suitable = unit.suited(data, new)
    return Point(
        data.between_revisions(cell),
        new * unit.factor,
        old * unit.factor,
        interval.lo * old * unit.factor if interval else None,
        interval.hi * old * unit.factor if interval else None,
        verdict=verdict,
        lead=amounts.lead(data, new / old, verdict),
        text=f"{significant(old * suitable.factor, 3)} → {suitable.text(new)}",
    )


def _table(data: ReportData, points: tuple[Point, ...], unit: Unit) -> Table:
    assert data.plan.revisions is not None
    name = capital(noun(data.metric))
    rows_ = tuple(
        Row.build(
            point.label,
            Cell(significant(point.y, 3), point.y),
            Cell(significant(point.x, 3), point.x),
            Cell(point.lead, point.x / point.y, verdict=point.verdict),
        )
        for point in points
    )
    columns = (
        Column("Configuration"),
        *(
            Column(titled(f"{name} at {revision}", unit.name), "decimal")
            for revision in data.plan.revisions.names
        ),
        Column("Change"),
    )
    caption = "Data of the figure: both revisions"
    return Table("answer-figure-data", caption, columns, rows_, sortable=False)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw the old value (`y`) as a hollow dot and the new one (`x`) as a filled one.

    The axis is logarithmic, so that equal changes have equal lengths.
    """
    laid = rows.with_column(figure)
    ends = [v for p in figure.points for v in (p.x, p.y, p.x_lo or p.x, p.x_hi or p.x)]
    scale = frame.log_scale(min(ends) / PAD, max(ends) * PAD, (laid.left + 6, laid.right - 6))
    unit = Unit(figure.label("unit"), 1.0)
    ticks = frame.nice_ticks(min(ends) / PAD, max(ends) * PAD, 4 if figure.narrow else 6)
    rows.draw_axis(
        ax, laid, scale, [(tick, unit.tick(tick)) for tick in ticks], colours, even=False
    )
    for place in laid.places:
        point = place.point
        colour = colours[token(point.verdict)]
        frame.interval(ax, point.x_lo, point.x_hi, scale, place.y, colour)
        ends_ = [(scale(point.y), place.y), (scale(point.x), place.y)]
        frame.strokes(ax, [ends_], colour, 3.0, zorder=3)
        hollow = {"markerfacecolor": colours["ground"], "markeredgecolor": colours["muted"]}
        frame.marks(ax, ends_[:1], "o", markersize=7, markeredgewidth=1.6, zorder=4, **hollow)
        full = {"markerfacecolor": colour, "markeredgecolor": colour}
        frame.marks(ax, ends_[1:], "o", markersize=7, zorder=5, **full)
    rows.draw_texts(ax, laid, colours)
