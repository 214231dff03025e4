"""Bars of the share of a limit that each configuration reaches, from 0 to 100 %."""

import re
from typing import Final

from bench_framework.compare.derived_values import LimitShare, limit_shares
from bench_framework.model.metrics import PEAK_RSS
from bench_framework.model.plan.plan import Input, Role
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table, left, numeric
from bench_framework.report.charts import OTHER, Axes, Palette, amounts, frame, rows, token
from bench_framework.report.context import ReportData
from bench_framework.report.main_table import change_parts, mark
from bench_framework.report.table_cells import CI
from bench_framework.text.numbers import DASH, format_percent, format_size, percent, rate
from bench_framework.text.words import noun

FEWEST: Final = 2
"""Fewest shares of a figure."""
NBSP: Final = "\u00a0"
_FIRST: Final = re.compile(r"(?<=\()\w+")
"""The name of a configuration, which is the first argument of a function."""
TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


def shares(data: ReportData, item: Input) -> Figure | None:
    """Return the shares of the main limit of an input, the largest first, if there are two."""
    limits = limit_shares(data.judgement.derived, item.id)
    listed = [share for share in limits[0] if share.rate.cell_ids] if limits else []
    if len(listed) < FEWEST:
        return None
    family = data.plan.unit_family
    points = tuple(_point(data, share) for share in listed)
    what = f"Whole runs{data.on_input(item, ' on ')}; peak memory"
    change = f"change of {noun(data.metric)} relative to {data.baseline_on(item).label}"
    limit = listed[0].limit
    desc = amounts.caption(data, what, change, f"lines: {CI}s of the share")
    return Figure(
        "answer-figure",
        "shares",
        f"Share of the limit of {rate(limit.value or 0.0, family)}",
        desc,
        points,
        _table(data, listed, points),
    )


def _point(data: ReportData, share: LimitShare) -> Point:
    cell_id, row = share.rate.cell_ids[0], share.share
    comparison = data.comparison(cell_id, data.metric)
    verdict = comparison.verdict if comparison is not None else None
    baseline = data.plan.cell(cell_id).role is Role.BASELINE
    note = "baseline" if baseline else ""
    if comparison is not None and not baseline:
        change, bounds = change_parts(comparison, times=data.in_times)
        note = f"{mark(comparison)} {change}".replace(" ", NBSP) if bounds else ""
    # Not the rate: the share is a median over rounds, and not that of the rate to the limit of all.
    parts = [_memory(data, cell_id), note]
    value = row.value or 0.0
    return Point(
        data.label(cell_id),
        value,
        x_lo=row.lo,
        x_hi=row.hi,
        verdict=verdict,
        lead=percent(value),
        text=", ".join(filter(None, parts)),
        baseline=baseline,
    )


def _formula(data: ReportData, formula: str) -> str:
    """Return the formula of a limit with the labels of its configurations in place of their names."""
    labels = {c.name: data.plan.variant(c.variant_id).label for c in data.plan.named}
    return _FIRST.sub(lambda match: labels.get(match[0], match[0]), formula)


def _rate(data: ReportData, share: LimitShare) -> str:
    return rate(share.rate.value or 0.0, data.plan.unit_family)


def _memory(data: ReportData, cell_id: str) -> str:
    peak = data.summary(cell_id, PEAK_RSS)
    return format_size(peak.median, data.plan.unit_family) if peak is not None else ""


def _table(data: ReportData, listed: list[LimitShare], points: tuple[Point, ...]) -> Table:
    rows_ = tuple(
        Row.build(
            point.label,
            Cell(percent(point.x), point.x),
            _bounds(point),
            Cell(_rate(data, share), share.rate.value),
            _memory(data, share.rate.cell_ids[0]) or DASH,
            baseline=point.baseline,
        )
        for share, point in zip(listed, points, strict=True)
    )
    columns = (*left("Variant"), *numeric("Share of the limit"), *left(CI), *numeric("Rate"))
    columns += (Column("Peak memory", "right"),)
    source = f"limit: {_formula(data, listed[0].limit.formula)}, median over rounds"
    caption = f"Data of the figure: share of the limit, {CI}s of the share; {source}"
    return Table("answer-figure-data", caption, columns, rows_, sortable=False)


def _bounds(point: Point) -> str:
    if point.x_lo is None or point.x_hi is None:
        return DASH
    return f"[{percent(point.x_lo)}, {percent(point.x_hi)}]"


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw a bar from zero to each share (`x`), its interval, and a line at 100 %."""
    most = max(1.0, *(max(p.x, p.x_hi or 0.0) for p in figure.points))
    laid = rows.with_column(figure)
    at = frame.linear_scale(0.0, most, (laid.left, laid.right))
    ticks = [(tick, format_percent(tick)) for tick in TICKS]
    rows.draw_axis(ax, laid, at, ticks, colours)
    frame.strokes(ax, rows.upright(laid, at(1.0)), colours["muted"], zorder=1)
    for place in laid.places:
        point = place.point
        ends, colour = (at(0.0), at(point.x)), token(point.verdict)
        rows.draw_bar(ax, ends, place.y, colours[colour], colours, faint=colour == OTHER)
        frame.interval(ax, point.x_lo, point.x_hi, at, place.y, colours["ink"])
    rows.draw_texts(ax, laid, colours)
