"""Intervals: the change of each variant relative to the baseline, the fewest that answer."""

import math
from collections.abc import Sequence
from typing import Final

from bench_framework.model.plan.plan import Cell as PlanCell, Input, Role
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table
from bench_framework.report.charts import Axes, Palette, Scale, amounts, frame, rows, token
from bench_framework.report.context import ReportData
from bench_framework.report.main_table import change_parts, mark, plain_interval, revision_cells
from bench_framework.report.table_cells import CI
from bench_framework.text.names import capital
from bench_framework.text.numbers import format_percent, shortest
from bench_framework.text.words import noun
from bench_framework.units import MINUS, THIN_SPACE, counted

MOST_ROWS: Final = 10
LEAST_REACH: Final = 1.3
"""Smallest factor by which the range may exceed the estimates to show their intervals."""
FACTORS: Final = (1.25, 1.5, 2, 3, 4, 5, 7, 10, 20, 50, 100)
TICK_ROOM: Final = 44.0
POINT: Final = 7.0
"""Size of the marker of an estimate."""


def forest(data: ReportData, item: Input) -> Figure | None:
    """Return the intervals of an input, or of both revisions; `None` if nothing was compared."""
    baseline = data.plan.baseline_cell(item.id)
    cells: Sequence[PlanCell] = data.arms(item.id)
    base, where = data.baseline_on(item).label, data.on_input(item, " on ")
    if data.plan.revisions is not None:
        cells, baseline = revision_cells(data), None
        base, where = data.plan.revisions.names[0], ""
    known = [c for c in cells if plain_interval(data.comparison(c.id, data.metric)) is not None]
    if not known:
        return None
    chosen = selection(data, known, MOST_ROWS - (baseline is not None))
    points = [_point(data, cell) for cell in chosen]
    if baseline is not None:
        strong = baseline.id in data.ahead(item.id)
        points.append(Point(base, 1.0, text="baseline", baseline=True, strong=strong))
    points.sort(key=lambda p: p.x, reverse=data.higher)  # the best first
    if data.plan.revisions is not None:
        points.reverse()  # the largest increase first
    rest = len(known) - len(chosen)
    more = f" {capital(counted(rest, 'more variant'))} in the appendix." if rest > 0 else ""
    what = f"{capital(noun(data.metric))}{where}"
    band = f"band: margin of {format_percent(data.margin)}"
    desc = amounts.caption(data, what, f"lines: {CI}s", band) + more
    title, table = f"Change relative to {base}", _table(points)
    marks = (("margin", data.margin), ("times", float(data.in_times)))
    return Figure("answer-figure", "forest", title, desc, tuple(points), table, (), marks)


def selection(data: ReportData, cells: Sequence[PlanCell], most: int) -> list[PlanCell]:
    """Return at most `most` configurations.

    First are those of the answer and the best ones, then those of the takeaways, then others that the scenario
    compares by name, then the largest effects.
    """
    plan = data.plan
    by_name = {v for c in plan.contrasts for v in (c.variant_id, c.reference_id)}
    by_name |= {*plan.further_baselines, *(item.variant_id for item in plan.named)}

    answer = plan.headline.contrast if plan.headline is not None else ""
    pairs = ((c.variant_id, c.reference_id) for c in plan.contrasts if c.name == answer)
    in_answer = {variant for pair in pairs for variant in pair}

    in_takeaways = {cell for claim in data.claims("takeaway") for cell in claim.cells}

    def rank(cell: PlanCell) -> tuple[bool, bool, bool, float]:
        interval = plain_interval(data.comparison(cell.id, data.metric))
        size = abs(math.log(interval.ratio)) if interval is not None else 0.0
        leading = cell.variant_id in in_answer or cell.id in data.ahead(cell.input_id)
        return not leading, cell.id not in in_takeaways, cell.variant_id not in by_name, -size

    first = min(cells, key=lambda cell: _ratio(data, cell))
    ranked = [first, *(cell for cell in sorted(cells, key=rank) if cell is not first)]
    return ranked[:most]


def _ratio(data: ReportData, cell: PlanCell) -> float:
    comparison = data.comparison(cell.id, data.metric)
    interval = comparison.shown if comparison is not None else None
    return interval.ratio if interval is not None else math.inf


def _point(data: ReportData, cell: PlanCell) -> Point:
    comparison = data.comparison(cell.id, data.metric)
    interval = plain_interval(comparison)
    assert comparison is not None
    assert interval is not None
    change, bounds = change_parts(comparison, times=data.in_times)
    return Point(
        data.between_revisions(cell) if data.plan.revisions is not None else data.label(cell.id),
        interval.ratio,
        0.0,
        interval.lo,
        interval.hi,
        verdict=comparison.verdict,
        lead=f"{mark(comparison)} {change}",
        text=bounds,
        strong=cell.role is not Role.BASELINE and cell.id in data.ahead(cell.input_id),
    )


def _table(points: Sequence[Point]) -> Table:
    rows_ = tuple(
        Row.build(
            point.label,
            Cell(point.lead or point.text, point.x, verdict=point.verdict),
            "" if point.baseline else point.text,
            baseline=point.baseline,
            strong=point.strong,
        )
        for point in points
    )
    columns = (Column("Variant"), Column("Change"), Column(CI))
    caption = "Data of the figure: changes"
    return Table("answer-figure-data", caption, columns, rows_, sortable=False)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw the rows from top to bottom. The axis is linear with ticks in percent, logarithmic with factors."""
    laid = rows.with_column(figure)
    lo, hi = limits(figure)
    times = bool(figure.mark("times"))
    scale = frame.log_scale if times else frame.linear_scale
    at = scale(lo, hi, (laid.left + 4, laid.right - 4))
    if times:
        ticks = [(tick, f"{shortest(tick, 3)}×") for tick in kept_factors(lo, hi, at)]
    else:
        most = max(2, int((laid.right - laid.left) / TICK_ROOM) - 1)
        percents = frame.nice_between(100 * (lo - 1), 100 * (hi - 1), most)
        ticks = [(1 + tick / 100, _percent(tick)) for tick in percents]
    rows.draw_axis(ax, laid, at, ticks, colours, even=not times)
    if margin := figure.mark("margin"):
        ends = at(max(lo, 1 / (1 + margin))), at(min(hi, 1 + margin))
        band = {"facecolor": colours["band"], "edgecolor": "none", "zorder": -1}
        ax.fill_between(ends, rows.BOTTOM, laid.top, **band)
    frame.strokes(ax, rows.upright(laid, at(1.0)), colours["muted"], zorder=1)
    for place in laid.places:
        _mark(ax, place, at, (lo, hi), colours)
    rows.draw_texts(ax, laid, colours)


def _mark(
    ax: Axes, place: rows.RowPlace, at: Scale, span: tuple[float, float], colours: Palette
) -> None:
    """Draw the interval of a row, with an arrow where it leaves the axis, and its estimate."""
    point, (lo, hi) = place.point, span
    if point.baseline:
        hollow = {"markerfacecolor": colours["ground"], "markeredgecolor": colours["ink"]}
        frame.marks(ax, [(at(1.0), place.y)], "D", markersize=POINT - 1, zorder=4, **hollow)
        return
    colour = colours[token(point.verdict)]
    if point.x_lo is not None and point.x_hi is not None:
        line = [(at(point.x_lo), place.y), (at(point.x_hi), place.y)]
        frame.strokes(ax, [line], colour, 1.6, zorder=2)
        for bound, edge, arrow in ((point.x_lo, lo, "<"), (point.x_hi, hi, ">")):
            sign = "|" if lo <= bound <= hi else arrow
            end = [(at(bound if sign == "|" else edge), place.y)]
            frame.marks(ax, end, sign, markersize=POINT - 2, color=colour, zorder=3)
    filled = (
        point.verdict is not None and point.verdict.settled and not point.verdict.size_uncertain
    )
    face = {"markerfacecolor": colour if filled else colours["ground"]}
    border = {"markeredgecolor": colour, "markeredgewidth": 1.4, "markersize": POINT}
    frame.marks(ax, [(at(point.x), place.y)], _marker(point), zorder=4, **face, **border)


def limits(figure: Figure) -> tuple[float, float]:
    """Return the range: every estimate, twice the margin, and the readable interval parts."""
    margin = figure.mark("margin") or 0.02
    estimates = [p.x for p in figure.points]
    low = min(*estimates, 1 / (1 + 2 * margin)) if estimates else 0.5
    high = max(*estimates, 1 + 2 * margin) if estimates else 2.0
    # An interval is cut, with an arrow at its end, only if the estimates would otherwise have less
    # than a third of the width.
    reach = max(LEAST_REACH, high / low)
    lows = [p.x_lo for p in figure.points if p.x_lo is not None and p.x_lo > 0]
    highs = [p.x_hi for p in figure.points if p.x_hi is not None and math.isfinite(p.x_hi)]
    low = max(min([low, *lows]), low / reach)
    high = min(max([high, *highs]), high * reach)
    pad = (high / low) ** 0.03
    return low / pad, high * pad


def kept_factors(lo: float, hi: float, at: Scale) -> list[float]:
    """Return ticks of a logarithmic axis that do not overlap. The tick at 1 is always included."""
    ticks = [1.0]
    # Of ticks that do not fit together, the rounder number stays.
    for tick in sorted(
        (*FACTORS, *(1 / f for f in FACTORS)), key=lambda t: (_fine(t), abs(math.log2(t)))
    ):
        if lo <= tick <= hi and all(abs(at(tick) - at(k)) >= TICK_ROOM for k in ticks):
            ticks.append(tick)
    return sorted(ticks)


def _fine(tick: float) -> bool:
    """Return whether a factor has more digits than 2, 5 or 10 times."""
    return round(max(tick, 1 / tick), 2) not in {2, 5, 10, 100}


def _marker(point: Point) -> str:
    """Return the marker of an estimate, which has the form of its mark in the text."""
    if point.verdict is Verdict.EQUIVALENT:
        return "s"
    if point.verdict is not None and point.verdict.decided:
        return "v" if point.x < 1 else "^"
    return "o"


def _percent(tick: float) -> str:
    sign = MINUS if tick < 0 else "+" if tick > 0 else ""
    return f"{sign}{shortest(abs(tick), 3)}{THIN_SPACE}%"
