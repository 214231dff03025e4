"""The charts as Axes or SVG. Only this module imports matplotlib.

Every colour is a sentinel that represents a token of the page. The same drawing therefore follows
light, dark and print styles in HTML, and has fixed light colours as a separate file. The output
does not depend on the clock, a display or the installed fonts: matplotlib's own fonts only measure
the text, which is printed in the reader's font.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl  # noqa: TID251 -- the door
from matplotlib.figure import Figure as Canvas  # noqa: TID251 -- the door

from bench_framework.report.charts import (
    bars,
    drift,
    forest,
    grid,
    memory_time,
    order,
    runs,
    scaling,
    sensors,
)
from bench_framework.report.drawing import trimmed
from bench_framework.report.palette import LIGHT, SENTINELS
from bench_framework.report.render.characters import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes  # noqa: TID251 -- the door

    from bench_framework.report.blocks import Document, Figure

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
            first, second = scaling.places(figure)
            left = _panel(scaling.size(figure), first)
            right = _panel(scaling.size(figure), second, left.get_figure())
        else:
            left, right = ax, ax.inset_axes((1.2, 0.0, 1.0, 1.0))
        scaling.draw(left, right, figure, colours)
    return left


def _plot(
    size: Callable[[Figure], Size],
    draw: Callable[[Axes, Figure, Mapping[str, str]], None],
    place: Callable[[Figure], Place] | None = None,
) -> Callable[..., Axes]:
    """Return the plot function of a chart with its size and the place of its Axes, in units.

    Without `place`, the chart draws its axes itself, on a sheet of its size.
    """

    def plot(figure: Figure, ax: Axes | None = None, colours: Mapping[str, str] = LIGHT) -> Axes:
        with mpl.rc_context(STYLE):
            whole = size(figure)
            if ax is None:
                ax = _panel(whole, place(figure) if place else (0.0, 0.0, *whole))
            draw(ax, figure, colours)
        return ax

    return plot


PLOTS: Final[Mapping[str, Callable[..., Axes]]] = {
    "forest": _plot(forest.size, forest.draw, forest.place),
    "scaling": scaling_plot,
    "memory-time": _plot(memory_time.size, memory_time.draw, memory_time.place),
    "drift": _plot(drift.size, drift.draw, drift.place),
    "waterfall": _plot(bars.size, bars.draw_changes),
    "bars": _plot(bars.size, bars.draw),
    "runs": _plot(runs.size, runs.draw),
    "order": _plot(order.size, order.draw),
    "grid": _plot(grid.size, grid.draw),
    "sensors": _plot(sensors.size, sensors.draw),
}
"""The plot function of each kind. A new chart is a file in `charts` and a line here."""


NARROW: Final = frozenset({"forest", "scaling", "memory-time", "drift", "waterfall", "bars"})
"""The charts that have a second drawing for phones. The others scroll."""


def drawings(document: Document) -> dict[str, str]:
    """Return the SVG of each figure by anchor, with the sentinel colours."""
    return {figure.anchor: _drawing(figure) for figure in document.figures()}


def inline(drawing: str, figure: Figure) -> str:
    """Return SVG for a page: colours of the page, unique ids, title and description."""
    for token, sentinel in SENTINELS.items():
        drawing = drawing.replace(sentinel, f"var(--{token})")
    return _titled(drawing, figure, extra="")


def responsive(drawing: str, figure: Figure) -> str:
    """Return the drawing of a page, and one for phones if the chart has it. CSS shows one."""
    wide = inline(drawing, figure)
    if figure.chart not in NARROW:
        return wide
    small = replace(figure, anchor=f"{figure.anchor}-narrow", narrow=True)
    narrow = inline(_drawing(small), small)
    return wide.replace("<svg ", '<svg class="wide" ', 1) + narrow.replace(
        "<svg ", '<svg class="narrow" ', 1
    )


def standalone(drawing: str, figure: Figure) -> str:
    """Return SVG as a file: light colours on a white background, also readable in a dark page."""
    for token, sentinel in SENTINELS.items():
        drawing = drawing.replace(sentinel, LIGHT[token])
    ground = f'<rect width="100%" height="100%" rx="6" fill="{LIGHT["ground"]}"/>'
    return _titled(drawing, figure, extra=ground) + "\n"


def _panel(size: Size, place: Place, canvas: object = None) -> Axes:
    """Return Axes at a place in units, on a canvas with a size in units."""
    width, height = size
    if not isinstance(canvas, Canvas):
        inches = (width / UNITS_PER_INCH, height / UNITS_PER_INCH)
        canvas = Canvas(figsize=inches, dpi=UNITS_PER_INCH)
        canvas.patch.set_visible(False)
    left, bottom, right, top = place
    return canvas.add_axes(
        (left / width, bottom / height, (right - left) / width, (top - bottom) / height)
    )


def _drawing(figure: Figure) -> str:
    axes = PLOTS[figure.chart](figure, None, SENTINELS)
    canvas = axes.get_figure(root=True)
    if not isinstance(canvas, Canvas):
        raise TypeError("the axes stand on no canvas")
    buffer = io.StringIO()
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # The reader's fonts print the text. A sign that matplotlib's fonts lack affects only its
        # measure.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        canvas.savefig(
            buffer,
            format="svg",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    # XML excludes most control characters. One in a name would make the picture invalid.
    return visible_lines(trimmed(buffer.getvalue(), figure.anchor))


def _titled(text: str, figure: Figure, *, extra: str) -> str:
    """Add role, title and description to the root element."""
    title, desc = (escape(visible(part)) for part in (figure.title, figure.desc))
    names = f'role="img" aria-labelledby="{figure.anchor}-title {figure.anchor}-desc"'
    head = f'<title id="{figure.anchor}-title">{title}</title><desc id="{figure.anchor}-desc">{desc}</desc>'
    box = re.search(r'viewBox="([^"]*)"', text)
    width, height = box[1].split()[2:] if box else ("720", "320")
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{FONTS}" stroke-linejoin="round" {names}>{head}{extra}'
    )
    return re.sub(r"^<svg[^>]*>", lambda _: root, text, count=1)
