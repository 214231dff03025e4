"""The charts as Axes or SVG. Only this module imports matplotlib.

Every colour is a sentinel that represents a token of the page. The same drawing therefore follows
light, dark and print styles in HTML, and has fixed light colours as a separate file. The output
does not depend on the clock, a display or the installed fonts: matplotlib's own fonts only measure
the text, which is printed in the reader's font.
"""

import io
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from typing import Any, Final

import matplotlib as mpl  # noqa: TID251 -- the door
from matplotlib.axes import Axes  # noqa: TID251 -- the door
from matplotlib.figure import Figure as Canvas  # noqa: TID251 -- the door

from bench_framework.registry import Addition, registry
from bench_framework.report.blocks import Document, Figure
from bench_framework.report.charts import (
    LIGHT,
    SENTINELS,
    bars,
    drift,
    dumbbell,
    forest,
    grid,
    memory_time,
    order,
    runs,
    scaling,
    sensors,
    shares,
    sizes,
    steps,
    sweep,
)
from bench_framework.report.render.widths import visible, visible_lines
from bench_framework.report.svg import trimmed

Size = tuple[float, float]
Place = tuple[float, float, float, float]
"""Left, bottom, right and top."""
UNITS_PER_INCH: Final = 72.0
FONTS: Final = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif"
)
STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "benchctl",
    "font.family": ["DejaVu Sans"],
    "path.simplify": False,
    "axes.unicode_minus": True,
    "hatch.linewidth": 0.8,
    "text.usetex": False,
    "text.parse_math": False,  # a name may contain a dollar sign
}


def scaling_plot(
    figure: Figure, ax: Axes | None = None, colours: Mapping[str, str] = LIGHT
) -> Axes:
    """Draw time and throughput against size, and return the Axes of the left panel."""
    with mpl.rc_context(STYLE):
        if ax is None:
            size, first, second = scaling.layout(figure)
            left = _panel(figure, size, first)
            right = _panel(figure, size, second, left.get_figure())
        else:
            left, right = ax, ax.inset_axes((1.2, 0.0, 1.0, 1.0))
        scaling.draw(left, right, figure, colours)
    return left


def _plot(
    draw: Callable[[Axes, Figure, Mapping[str, str]], None],
    layout: Callable[[Figure], tuple[Size, Place]] | None = None,
) -> Callable[..., Axes]:
    """Return the plot function of a chart. `layout` gives its size and the place of its Axes.

    Without `layout`, the chart draws its axes itself, on a sheet whose limits are its size.
    """

    def plot(figure: Figure, ax: Axes | None = None, colours: Mapping[str, str] = LIGHT) -> Axes:
        with mpl.rc_context(STYLE):
            if ax is not None:
                draw(ax, figure, colours)
                return ax
            panel = _panel(figure, *(layout(figure) if layout else ((1, 1), (0, 0, 1, 1))))
            draw(panel, figure, colours)
            canvas = panel.get_figure(root=True)
            if layout is None and canvas is not None:
                width, height = panel.get_xlim()[1], panel.get_ylim()[1]
                canvas.set_size_inches(width / UNITS_PER_INCH, height / UNITS_PER_INCH)
        return panel

    return plot


def _of_extension(target: Addition) -> Callable[[Axes, Figure, Mapping[str, str]], None]:
    """Return the function that draws a chart of an extension, which is loaded at the first drawing."""

    def draw(ax: Axes, figure: Figure, colours: Mapping[str, str]) -> None:
        target.load()(ax, figure, colours)

    return draw


_CORE: Final[Mapping[str, Callable[..., Axes]]] = {
    "steps": _plot(steps.draw),
    "shares": _plot(shares.draw),
    "sweep": _plot(sweep.draw),
    "dumbbell": _plot(dumbbell.draw),
    "sizes": _plot(sizes.draw),
    "forest": _plot(forest.draw),
    "scaling": scaling_plot,
    "memory-time": _plot(memory_time.draw, memory_time.layout),
    "drift": _plot(drift.draw, drift.layout),
    "waterfall": _plot(bars.draw_changes),
    "bars": _plot(bars.draw),
    "runs": _plot(runs.draw),
    "order": _plot(order.draw),
    "grid": _plot(grid.draw),
    "sensors": _plot(sensors.draw),
}
PLOTS: Final[Mapping[str, Callable[..., Axes]]] = {
    **_CORE,
    **{t.name: _plot(_of_extension(t)) for t in registry().additions("chart", _CORE)},
}
"""The plot function of each kind. A new chart is a file in `charts` and a line in `_CORE`."""


NARROW: Final = frozenset(
    {
        *("steps", "shares", "sweep", "dumbbell", "sizes", "forest"),
        *("scaling", "memory-time", "drift", "waterfall", "bars"),
    }
)
"""The charts that have a second drawing for phones. The others scroll."""


def drawings(document: Document) -> dict[str, str]:
    """Return the SVG of each figure by anchor, with the sentinel colours."""
    return {figure.anchor: draw(figure) for figure in document.figures()}


def inline(drawing: str, figure: Figure) -> str:
    """Return SVG for a page: colours of the page, unique ids, title and description."""
    return _titled(drawing, figure, {token: f"var(--{token})" for token in SENTINELS})


def responsive(drawing: str, figure: Figure) -> str:
    """Return the drawing of a page, and one for phones if the chart has it. CSS shows one."""
    wide = inline(drawing, figure)
    if figure.chart not in NARROW:
        return wide
    small = replace(figure, anchor=f"{figure.anchor}-narrow", narrow=True)
    drawn = (("wide", wide), ("narrow", inline(draw(small), small)))
    return "".join(svg.replace("<svg ", f'<svg class="{name}" ', 1) for name, svg in drawn)


def standalone(drawing: str, figure: Figure) -> str:
    """Return SVG as a file: light colours on a white background, also readable in a dark page."""
    ground = f'<rect width="100%" height="100%" rx="6" fill="{LIGHT["ground"]}"/>'
    return _titled(drawing, figure, LIGHT, ground) + "\n"


class Panel(Axes):
    """Axes that a notebook shows as SVG, together with all other Axes of the canvas."""

    source: Figure | None = None

    def _repr_svg_(self) -> str | None:
        return standalone(_svg(self, self.source), self.source) if self.source else None


def _panel(figure: Figure, size: Size, place: Place, canvas: object = None) -> Axes:
    """Return Axes at a place in units, on a canvas with a size in units."""
    (width, height), (left, bottom, right, top) = size, place
    if not isinstance(canvas, Canvas):
        inches = (width / UNITS_PER_INCH, height / UNITS_PER_INCH)
        canvas = Canvas(figsize=inches, dpi=UNITS_PER_INCH)
        canvas.patch.set_visible(False)
    extent = ((right - left) / width, (top - bottom) / height)
    panel = canvas.add_axes((left / width, bottom / height, *extent), axes_class=Panel)
    if isinstance(panel, Panel):
        panel.source = figure
    return panel


def draw(figure: Figure) -> str:
    """Return the SVG of a figure, with the sentinel colours."""
    return _svg(PLOTS[figure.chart](figure, None, SENTINELS), figure)


def _svg(axes: Axes, figure: Figure) -> str:
    """Return the canvas of Axes as SVG, with ids that begin with the anchor of the figure."""
    canvas = axes.get_figure(root=True)
    if not isinstance(canvas, Canvas):
        raise TypeError("the axes stand on no canvas")
    buffer = io.StringIO()
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # The reader's fonts print the text. A sign that matplotlib's fonts lack affects only its
        # measure.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        unwritten = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        canvas.savefig(buffer, format="svg", metadata=unwritten)
    # XML excludes most control characters. One in a name would make the picture invalid.
    return visible_lines(trimmed(buffer.getvalue(), figure.anchor))


def _titled(text: str, figure: Figure, colours: Mapping[str, str], extra: str = "") -> str:
    """Replace the sentinel colours, and add role, title and description to the root element."""
    for token, sentinel in SENTINELS.items():
        text = text.replace(sentinel, colours[token])
    title, desc = (escape(visible(part)) for part in (figure.title, figure.desc))
    anchor = figure.anchor
    head = f'<title id="{anchor}-title">{title}</title><desc id="{anchor}-desc">{desc}</desc>'
    box = re.search(r'viewBox="([^"]*)"', text)
    width, height = box[1].split()[2:] if box else ("720", "320")
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{FONTS}" stroke-linejoin="round" role="img" '
        f'aria-labelledby="{anchor}-title {anchor}-desc">{head}{extra}'
    )
    return re.sub(r"^<svg[^>]*>", lambda _: root, text, count=1)
