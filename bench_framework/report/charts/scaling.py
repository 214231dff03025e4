"""Scaling plot: time and throughput against input size."""

import math
from typing import Final

from rich.cells import cell_len

from bench_framework.report.blocks import Figure, Point
from bench_framework.report.charts import Axes, Palette, frame, token

BOTTOM: Final = 46.0
TALL: Final = 246.0
PANEL: Final = 194.0
HEIGHT: Final = 320.0
Place = tuple[float, float, float, float]
MOST_LABELLED: Final = 6
LINE: Final = 13.0
EXPONENTS: Final = "exponents "
MOST_TICK: Final = 12
MARKERS: Final = "os^vDP"


def layout(figure: Figure) -> tuple[tuple[float, float], Place, Place]:
    """Return width and height, and left, bottom, right and top of both panels, in units.

    The panels are next to or above each other.
    """
    first = (64.0, BOTTOM, 64.0 + PANEL, BOTTOM + TALL)
    if figure.narrow:
        above = (64.0, BOTTOM + HEIGHT, 64.0 + PANEL, BOTTOM + HEIGHT + TALL)
        return (frame.NARROW, 2 * HEIGHT), above, first
    return (frame.WIDTH, HEIGHT), first, (316.0, BOTTOM, 316.0 + PANEL, BOTTOM + TALL)


def draw(left: Axes, right: Axes, figure: Figure, colours: Palette) -> None:
    """Draw both panels, and the labels at the right edge."""
    series = {name: sorted(ps, key=lambda p: p.x) for name, ps in figure.by_series().items()}
    labels = labelled(series)
    family = figure.label("family") or "iec"
    every = [p for points in series.values() for p in points]
    guide, far = every[0], max(p.x for p in every)
    rates = {name: [p.x / p.y for p in points] for name, points in series.items()}
    for panel, title in ((left, "time"), (right, "throughput per second")):
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        frame.calm(panel, figure, colours, titles="x")
        panel.set_title(title, loc="left", fontsize=frame.SMALL, color=colours["muted"])
        panel.set_xticks(*_sizes(series))
        panel.grid(axis="y", color=colours["rule"], linewidth=0.6)
    line = [(guide.x, guide.y), (far, guide.y * far / guide.x)]
    frame.marks(left, line, ":", color=colours["muted"], linewidth=1)
    for name, points in series.items():
        colour, marker = _style(points, labels, colours)
        _line(left, points, [p.y for p in points], colour, marker, whiskers=bool(marker))
        _line(right, points, rates[name], colour, marker, whiskers=False)
    times, speeds = [p.y for p in every], [p.x / p.y for p in every]
    low, high = min(times) / 1.2, max(times) * 1.2
    left.set_ylim(low, high)
    ticks = frame.nice_steps(low, high, 6)
    left.set_yticks(ticks, [frame.duration_label(t) for t in ticks])
    low, high = min(speeds) / 1.25, max(speeds) * 1.25
    right.set_ylim(low, high)
    ticks = frame.nice_sizes(low, high, 6, family)
    right.set_yticks(ticks, [frame.size_label(t, family) for t in ticks])
    # The names are at the height of the last throughput, moved so that they do not overlap.
    heights = [right.transData.transform((1, rates[name][-1]))[1] - BOTTOM for name in labels]
    room = frame.drawn_width(figure) - layout(figure)[2][2] - 10
    names = {name: _texts(name, series[name], room, narrow=figure.narrow) for name in labels}
    least = LINE * max(map(len, names.values())) + 4
    lowest = min(0.0, TALL - least * len(labels))
    places = frame.spread(heights, least, lowest, TALL - least / 2)
    muted, style = colours["muted"], {"transform": right.transAxes}
    for name, place in zip(labels, places, strict=True):
        colour, _ = _style(series[name], labels, colours)
        lines = names[name]
        for number, text in enumerate(lines):
            y = (place + LINE * ((len(lines) - 1) / 2 - number)) / TALL
            below = text.startswith(EXPONENTS)
            frame.words(right, (1.04, y), text, muted if below else colour, **style)
    if rest := len(series) - len(labels):
        text = f"+{rest} more, in the table"
        frame.words(right, (1.04, 1.02), text, muted, va="bottom", **style)


def _texts(name: str, points: list[Point], room: float, *, narrow: bool) -> list[str]:
    """Return the name of a line, and its exponents unless the drawing is narrow."""
    exponents = " · ".join(p.text for p in points if p.text)
    below = [f"{EXPONENTS}{exponents}"] if exponents and not narrow else []
    return [*frame.text_lines(name, room), *below]


def labelled(series: dict[str, list[Point]]) -> list[str]:
    """Return series with a label and a colour: all if there are few, else baseline and extremes."""
    if len(series) <= MOST_LABELLED:
        return list(series)
    ends = sorted(series, key=lambda name: series[name][-1].y / series[name][-1].x)
    base = [name for name, points in series.items() if any(p.baseline for p in points)]
    chosen = dict.fromkeys([*base, *ends[:3], *ends[-2:]])
    return [name for name in series if name in chosen]


def _sizes(series: dict[str, list[Point]]) -> tuple[list[float], list[str]]:
    """Return the input sizes as ticks, without those that would overlap the previous one."""
    label_of = {p.x: p.label for points in series.values() for p in points}
    order = sorted(label_of)
    scale = PANEL / max(1.0, math.log2(order[-1] / order[0]))
    ticks: list[float] = []
    for size in order:
        room = frame.UNITS_PER_COLUMN * max(cell_len(frame.short(label_of[size], MOST_TICK)), 4) + 6
        if not ticks or math.log2(size / ticks[-1]) * scale >= room:
            ticks.append(size)
    return ticks, [frame.short(label_of[size], MOST_TICK) for size in ticks]


def _style(points: list[Point], labels: list[str], colours: Palette) -> tuple[str, str]:
    """Return the colour of the direction, and a marker that differs from those of other lines."""
    if (name := points[0].series) not in labels:
        return colours["rule"], ""
    colour = "ink" if points[0].baseline else token(points[0].verdict)
    return colours[colour], MARKERS[labels.index(name) % len(MARKERS)]


def _line(
    ax: Axes, points: list[Point], values: list[float], colour: str, marker: str, *, whiskers: bool
) -> None:
    sizes = [p.x for p in points]
    ax.plot(sizes, values, color=colour, linewidth=1.4, marker=marker, markersize=5, zorder=3)
    for p in points if whiskers else []:
        if p.y_lo is not None and p.y_hi is not None:
            ax.plot([p.x, p.x], [p.y_lo, p.y_hi], color=colour, linewidth=1, zorder=2)
