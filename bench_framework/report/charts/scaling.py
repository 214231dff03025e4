"""Scaling plot: time and throughput against input size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from bench_framework.report.charts.frame import (
    SMALL,
    UNITS_PER_COLUMN,
    apart,
    calm,
    duration_label,
    nice_sizes,
    nice_steps,
    short,
    shorts,
    size_label,
)
from bench_framework.report.palette import SERIES
from bench_framework.report.render.widths import width_of

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure, Point
    from bench_framework.report.charts import Axes, Palette

WIDTH: Final = 720.0
HEIGHT: Final = 320.0
BOTTOM: Final = 46.0
TOP: Final = 28.0
LEFT_PANEL: Final = (64.0, 258.0)
RIGHT_PANEL: Final = (316.0, 510.0)
MOST_LABELLED: Final = 6
LABEL_ROOM: Final = 15.0
MOST_TICK: Final = 12
MARKERS: Final = "os^vDP"


def draw(left: Axes, right: Axes, figure: Figure, colours: Palette) -> None:
    """Draw both panels, and the labels at the right edge."""
    series = by_series(figure)
    named = labelled(series)
    family = figure.label("family") or "iec"
    guide = next((p for points in series.values() for p in points), None)
    sizes = [p.x for points in series.values() for p in points]
    rates = {name: [p.x / p.y for p in points] for name, points in series.items()}
    for panel, title in ((left, "time"), (right, "throughput per second")):
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        calm(panel, colours)
        panel.set_title(title, loc="left", fontsize=SMALL, color=colours["muted"])
        panel.set_xlabel(figure.label("x"), color=colours["muted"], fontsize=SMALL)
        panel.set_xticks(*_sizes(series))
        panel.grid(axis="y", color=colours["rule"], linewidth=0.6)
    if guide is not None:
        far = max(sizes)
        left.plot(
            [guide.x, far],
            [guide.y, guide.y * far / guide.x],
            ":",
            color=colours["muted"],
            linewidth=1,
        )
    for name, points in series.items():
        colour, marker = _style(name, named, colours)
        _line(left, points, [p.y for p in points], colour, marker, whiskers=bool(marker))
        _line(right, points, rates[name], colour, marker, whiskers=False)
    _ticks(left, right, series, rates, family)
    _labels(right, series, rates, named, colours)


def by_series(figure: Figure) -> dict[str, list[Point]]:
    """Return the points of each variant, ordered by size."""
    found: dict[str, list[Point]] = {}
    for point in figure.points:
        found.setdefault(point.series, []).append(point)
    return {name: sorted(points, key=lambda p: p.x) for name, points in found.items()}


def labelled(series: dict[str, list[Point]]) -> list[str]:
    """Return series with a label and a colour: all if there are few, else baseline and extremes."""
    if len(series) <= MOST_LABELLED:
        return list(series)
    ends = sorted(series, key=lambda name: series[name][-1].y / series[name][-1].x)
    base = [name for name, points in series.items() if any(p.baseline for p in points)]
    wanted = dict.fromkeys([*base, *ends[:3], *ends[-2:]])
    return [name for name in series if name in wanted]


def _sizes(series: dict[str, list[Point]]) -> tuple[list[float], list[str]]:
    """Return the input sizes as ticks, without those that would overlap the previous one."""
    named = {p.x: p.label for points in series.values() for p in points}
    order = sorted(named)
    scale = (LEFT_PANEL[1] - LEFT_PANEL[0]) / max(1.0, math.log2(order[-1] / order[0]))
    kept: list[float] = []
    for size in order:
        room = UNITS_PER_COLUMN * max(width_of(short(named[size], MOST_TICK)), 4) + 6
        if not kept or math.log2(size / kept[-1]) * scale >= room:
            kept.append(size)
    return kept, [short(named[size], MOST_TICK) for size in kept]


def _style(name: str, named: list[str], colours: Palette) -> tuple[str, str]:
    if name not in named:
        return colours["rule"], ""
    index = named.index(name)
    return colours[SERIES[index % len(SERIES)]], MARKERS[index % len(MARKERS)]


def _line(
    ax: Axes, points: list[Point], values: list[float], colour: str, marker: str, *, whiskers: bool
) -> None:
    sizes = [p.x for p in points]
    ax.plot(sizes, values, color=colour, linewidth=1.4, marker=marker, markersize=5, zorder=3)
    for point in points if whiskers else []:
        if point.y_lo is not None and point.y_hi is not None:
            ax.plot(
                [point.x, point.x], [point.y_lo, point.y_hi], color=colour, linewidth=1, zorder=2
            )


def _ticks(
    left: Axes,
    right: Axes,
    series: dict[str, list[Point]],
    rates: dict[str, list[float]],
    family: str,
) -> None:
    times = [p.y for points in series.values() for p in points]
    speeds = [rate for found in rates.values() for rate in found]
    low, high = min(times) / 1.2, max(times) * 1.2
    left.set_ylim(low, high)
    ticks = nice_steps(low, high, 6)
    left.set_yticks(ticks, [duration_label(t) for t in ticks])
    low, high = min(speeds) / 1.25, max(speeds) * 1.25
    right.set_ylim(low, high)
    ticks = nice_sizes(low, high, 6, family)
    right.set_yticks(ticks, [size_label(family)(t) for t in ticks])


def _labels(
    ax: Axes,
    series: dict[str, list[Point]],
    rates: dict[str, list[float]],
    named: list[str],
    colours: Palette,
) -> None:
    """Draw names at the height of the last throughput, moved so that they do not overlap."""
    room = HEIGHT - TOP - BOTTOM
    heights = [ax.transData.transform((1, rates[name][-1]))[1] - BOTTOM for name in named]
    places = apart(heights, LABEL_ROOM * 2, 0.0, room - LABEL_ROOM)
    names = shorts(named, 27)
    for name, place in zip(named, places, strict=True):
        colour, _ = _style(name, named, colours)
        exponents = " · ".join(p.text for p in series[name] if p.text)
        y = place / room
        ax.text(
            1.04,
            y,
            names[name],
            transform=ax.transAxes,
            ha="left",
            va="bottom",
            fontsize=SMALL,
            color=colour,
        )
        if exponents:
            ax.text(
                1.04,
                y,
                f"exponents {exponents}",
                transform=ax.transAxes,
                ha="left",
                va="top",
                fontsize=SMALL,
                color=colours["muted"],
            )
    rest = len(series) - len(named)
    if rest:
        ax.text(
            1.04,
            1.02,
            f"+{rest} more, in the table",
            transform=ax.transAxes,
            ha="left",
            va="bottom",
            fontsize=SMALL,
            color=colours["muted"],
        )
