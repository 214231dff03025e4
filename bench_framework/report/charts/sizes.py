"""Lines of the main metric over the size of the input, one for each variant."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.model.plan.plan import Input, Role, Variant
from bench_framework.report.blocks import Column, Figure, Point, Row, Table
from bench_framework.report.charts import OTHER, Axes, Palette, Scale, amounts, frame, token
from bench_framework.report.charts.amounts import Unit
from bench_framework.report.context import ReportData
from bench_framework.report.main_table import plain_interval, value_by_ratio
from bench_framework.report.table_cells import scale_of, titled, value_cell
from bench_framework.text.names import capital
from bench_framework.text.numbers import shortest
from bench_framework.text.words import noun
from bench_framework.units import THIN_SPACE

FEWEST: Final = 3
"""Fewest sizes with values."""
MOST: Final = 8
"""Most lines of a figure."""
HEIGHT: Final = 224.0
NARROW_HEIGHT: Final = 230.0
LEFT: Final = 60.0
TOP: Final = 8.0
BOTTOM: Final = 24.0
LINE: Final = 15.0
"""Distance of the names of two lines."""
MOST_NAME: Final = 315.0
"""Most room of a name and its change at the end of a line."""
MARKERS: Final = "osD^vPXp"
PAD: Final = 1.12


def inputs_of(data: ReportData) -> list[tuple[int, Input]]:
    """Return the inputs of one dataset with their sizes, the smallest first; none if they differ."""
    datasets = {(i.dataset.family, i.dataset.seed) if i.dataset else None for i in data.plan.inputs}
    sizes = [(data.input_bytes(item.id) or 0, item) for item in data.plan.inputs]
    if len(datasets) != 1 or None in datasets or len({size for size, _ in sizes}) < len(sizes):
        return []
    return sorted(sizes, key=lambda pair: pair[0])


def sizes(data: ReportData, item: Input) -> Figure | None:
    """Return a line for each variant, `None` for fewer than three measured sizes or too many variants."""
    inputs = inputs_of(data)
    variants = [v for v in data.plan.variants if _values(data, v)]
    if not inputs or not inputs[0][0] or not 0 < len(variants) <= MOST:
        return None
    base = data.baseline_summary(item.id, data.metric)
    if base is None or base.median <= 0:
        return None
    # The unit of a time changes along the axis. Other values have one unit.
    unit, elapsed = Unit.for_metric(data, base.median), Unit.for_metric(data, 1.0).name == "s"
    points = tuple(
        replace(point, y=point.y * (1.0 if elapsed else unit.factor))
        for variant in variants
        for point in _points(data, variant, inputs, item)
    )
    if len({point.x for point in points}) < FEWEST or any(point.y <= 0 for point in points):
        return None
    name = noun(data.metric)
    changes = f"changes on {item.label} relative to {data.baseline_on(item).label}"
    desc = amounts.caption(data, f"Median {name}, both axes logarithmic", changes)
    return Figure(
        "answer-figure",
        "sizes",
        f"{capital(name)} by size of the input",
        desc,
        points,
        _table(data, variants, [i for _, i in inputs]),
        (("kind", "time" if elapsed else ""), ("unit", "" if elapsed else unit.name)),
    )


def _values(data: ReportData, variant: Variant) -> dict[str, float]:
    """Return the values of a variant that was measured, by input."""
    values: dict[str, float] = {}
    for item in data.plan.inputs:
        for cell in data.measured(item.id):
            summary = data.summary(cell.id, data.metric)
            if cell.variant_id == variant.id and cell.role is not Role.BOUND and summary:
                values[item.id] = value_by_ratio(data, cell) or summary.median
    return values


def _points(
    data: ReportData, variant: Variant, inputs: Sequence[tuple[int, Input]], leading: Input
) -> list[Point]:
    values = _values(data, variant)
    cell = next((c for c in data.arms(leading.id) if c.variant_id == variant.id), None)
    comparison = data.comparison(cell.id, data.metric) if cell is not None else None
    base = cell is not None and cell.role is Role.BASELINE
    verdict = comparison.verdict if comparison is not None else None
    change = plain_interval(comparison)
    lead = amounts.lead(data, change.ratio, verdict) if change is not None else ""
    value = values.get(leading.id)
    text = Unit.for_metric(data, value).text(value) if value is not None else ""
    return [
        Point(
            item.label,
            float(size),
            values[item.id],
            verdict=verdict,
            text=text,
            lead=lead,
            baseline=base,
            series=variant.label,
        )
        for size, item in inputs
        if item.id in values
    ]


def _table(data: ReportData, variants: Sequence[Variant], inputs: Sequence[Input]) -> Table:
    scales = {
        item.id: scale_of(data, data.metric, data.summaries(data.measured(item.id), data.metric))
        for item in inputs
    }
    rows = []
    for variant in variants:
        values = _values(data, variant)
        cells = (value_cell(values.get(item.id), scales[item.id].text) for item in inputs)
        rows.append(Row.build(variant.label, *cells, baseline=data.is_baseline(variant.id)))
    columns = (
        Column("Variant"),
        *(Column(titled(data.input_name(i), scales[i.id].unit), "decimal") for i in inputs),
    )
    caption = f"Data of the figure: {noun(data.metric)} by size of the input"
    return Table("answer-figure-data", caption, columns, tuple(rows), sortable=False)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw the lines, and at their right ends the names with the changes on one input."""
    series = figure.by_series()
    width, below = frame.drawn_width(figure), 0.0
    leads = {name: _lead(points[0]) for name, points in series.items()}
    most = width - 26 if figure.narrow else MOST_NAME
    names = {name: _lines(name, lead, most) for name, lead in leads.items()}
    room = 26 + max(_room(lines, leads[name]) for name, lines in names.items())
    tall = LINE * max(map(len, names.values()))
    if figure.narrow:  # the names are a legend below the lines
        room, below = 16.0, tall * len(series) + 10
    height = (NARROW_HEIGHT if figure.narrow else max(HEIGHT, tall * len(series) + 40)) + below
    frame.sheet(ax, width, height)
    ends = LEFT, width - room
    floor = BOTTOM + below
    every = figure.points
    across = frame.log_scale(min(p.x for p in every), max(p.x for p in every), (LEFT + 20, ends[1]))
    low, high = min(p.y for p in every) / PAD, max(p.y for p in every) * PAD
    up = frame.log_scale(low, high, (floor, height - TOP))
    _axes(ax, figure, (low, high), across, up, (*ends, floor), colours)
    order = sorted(series, key=lambda name: -series[name][-1].y)
    places = frame.spread(
        [up(series[name][-1].y) for name in order], tall, floor - 8, height - TOP - 4
    )
    for number, (name, place) in enumerate(zip(order, places, strict=True)):
        points = sorted(series[name], key=lambda p: p.x)
        colour = _colour(points[0], colours)
        line = [(across(p.x), up(p.y)) for p in points]
        marker = MARKERS[number % len(MARKERS)]
        solid = token(points[0].verdict) != OTHER
        face = colour if solid else colours["ground"]
        dashed = {"linestyle": (0, (4, 2))} if points[0].baseline else {}
        frame.strokes(ax, [line], colour, 1.6, zorder=2, **dashed)
        style = {"markerfacecolor": face, "markeredgecolor": colour, "markersize": 6}
        frame.marks(ax, line, marker, linestyle="none", zorder=3, **style)
        x, y = ends[1] + 20, place
        if figure.narrow:
            x, y = 18.0, below - tall * (number + 0.5) - 2
            frame.marks(ax, [(9.0, y)], marker, linestyle="none", **style)
        elif abs(line[-1][1] - place) > 1:
            frame.strokes(ax, [[(line[-1][0] + 5, line[-1][1]), (x - 4, y)]], colours["rule"], 0.8)
        lines, lead = names[name], leads[name]
        for down, label in enumerate(lines):
            at = (x, y + LINE * ((len(lines) - 1) / 2 - down))
            frame.words(ax, at, label, colours["ink"], fontsize=frame.TEXT)
        bold = {"fontsize": frame.TEXT, "fontweight": "bold"}
        if figure.narrow:
            frame.words(ax, (width - 4, at[1]), lead, colour, ha="right", **bold)
        else:
            frame.words(ax, (x + frame.text_width(lines[-1]) + 7, at[1]), lead, colour, **bold)


def _colour(point: Point, colours: Palette) -> str:
    return colours["ink" if point.baseline else token(point.verdict)]


def _lead(point: Point) -> str:
    return point.lead or ("baseline" if point.baseline else "")


def _lines(name: str, lead: str, room: float) -> list[str]:
    """Return a name in lines that leave room for the change after the last one."""
    return frame.text_lines(name, room - frame.text_width(lead, bold=True) - 12)


def _room(lines: Sequence[str], lead: str) -> float:
    return max(map(frame.text_width, lines)) + frame.text_width(lead, bold=True) + 12


def _axes(
    ax: Axes,
    figure: Figure,
    span: tuple[float, float],
    across: Scale,
    up: Scale,
    place: tuple[float, float, float],
    colours: Palette,
) -> None:
    left, right, floor = place
    lines = []
    for tick in frame.nice_steps(*span, 6):
        lines.append([(left, up(tick)), (right, up(tick))])
        label = _tick(figure, tick)
        frame.words(ax, (left - 6, up(tick)), label, colours["muted"], ha="right")
    frame.strokes(ax, lines, colours["rule"], zorder=0)
    labels: Mapping[float, str] = {p.x: p.label for p in figure.points}
    last = -1e9
    for size, label in sorted(labels.items()):
        half = frame.text_width(label, frame.SMALL) / 2
        middle = min(across(size), frame.drawn_width(figure) - half - 2)
        if middle - half > last + 6:
            frame.words(ax, (middle, floor - 12), label, colours["muted"], ha="center")
            last = middle + half


def _tick(figure: Figure, value: float) -> str:
    if figure.label("kind") == "time":
        return frame.duration_label(value)
    return f"{shortest(value, 3)}{THIN_SPACE}{figure.label('unit')}".rstrip(THIN_SPACE)
