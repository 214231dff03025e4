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

from bench_framework.registry import LazyObject, registry
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

_TAG: Final = re.compile(r"<[^>]+>")
_LOOK: Final = re.compile(r' (?:style|clip-path)="[^"]*"')
_PAIR: Final = r"(-?[\d.]+) (-?[\d.]+)"
_STROKE: Final = re.compile(rf'<path id="([^"]*)" d="M {_PAIR} L {_PAIR} ?" style="([^"]*)"/>\n?')
_USE: Final = re.compile(r'<use href="#([^"]*)" x="([^"]*)" y="([^"]*)"[^>]*/>')
_LINE: Final = re.compile(rf"M {_PAIR} L {_PAIR}")
_HATCH: Final = re.compile(
    r'<pattern id="([^"]*)"[^>]*>\s*<rect[^>]*/>\s*<path d="((?:M [^ ]+ [^ ]+ L [^ ]+ [^ ]+ ?){3,})" style=("[^"]*")'
)
_KINDS: Final = ("path", "use", "text")
_MARK: Final = re.compile(r"<(path|use|text)\b[^>]*?(?:/>|>[^<]*</text>)")
_CLIPPED: Final = re.compile(r'<g clip-path="[^"]*">')
_COMMAND: Final = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_PATH: Final = re.compile(r' d="([^"]*)"')


def trimmed(text: str, anchor: str) -> str:
    """Return a drawing without prolog, metadata and layout, with ids that are unique in a page.

    Coordinates are rounded to a tenth of a unit, which is less than a pixel at any size. `text` is
    the output of matplotlib, and every id begins with `anchor`.
    """
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    # The font is set once, at the root.
    text = re.sub(r"font: ([^\"';]*?)'DejaVu Sans'[^\";]*", _font, text)
    text = re.sub(r"font-family: 'DejaVu Sans'[^;\"]*;? ?", "", text)
    text = _ungrouped(re.sub(r'<g id="[^"]*">', "<g>", text))
    text = text.replace('xlink:href="', 'href="')
    text = text.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    text = re.sub(r"\s*\n\s*(?=<)", "\n", text)
    text = re.sub(r" transform=\"rotate\(-0 [^\"]*\)\"", "", text)
    text = re.sub(r"\s*\n(?!<)", " ", text)
    text = re.sub(r"M (\S+ \S+) L \1(?=[ \"])", r"M\1h0", text)
    text = _TAG.sub(_shorter, _with_short_ids(_tiled(_stroked(text)), anchor)).strip()
    return _gathered(text)


def _stroked(text: str) -> str:
    """Replace markers that are one stroke, such as ticks, by strokes; a quarter of the bytes."""
    strokes: dict[str, tuple[list[float], str]] = {}

    def drop(match: re.Match[str]) -> str:
        strokes[match[1]] = ([float(number) for number in match.groups()[1:5]], match[6])
        return ""

    def place(match: re.Match[str]) -> str:
        if match[1] not in strokes:
            return match[0]
        (x0, y0, x1, y1), look = strokes[match[1]]
        x, y = float(match[2]), float(match[3])
        return f'<path d="M {x + x0:g} {y + y0:g} L {x + x1:g} {y + y1:g}" style="fill: none; {look}"/>'

    return _USE.sub(place, _STROKE.sub(drop, text))


def _tiled(text: str) -> str:
    """Replace hatches by the smallest tile that repeats. Matplotlib draws a whole inch of them."""

    def tile(match: re.Match[str]) -> str:
        lines = [[float(number) for number in line] for line in _LINE.findall(match[2])]
        step = lines[1][0] - lines[0][0]
        return (
            f'<pattern id="{match[1]}" patternUnits="userSpaceOnUse" width="{step:g}" height="{step:g}">\n'
            f'<path d="M -1 1 L 1 -1 M 0 {step:g} L {step:g} 0 '
            f'M {step - 1:g} {step + 1:g} L {step + 1:g} {step - 1:g}" style={match[3]}'
        )

    return _HATCH.sub(tile, text)


def _with_short_ids(text: str, anchor: str) -> str:
    """Replace the ids, which are digests in matplotlib, by numbers in their order."""
    ids = dict.fromkeys(re.findall(r'\bid="([^"]*)"', text))
    names = {name: f"{anchor}-{number}" for number, name in enumerate(ids, 1)}
    text = re.sub(r'\bid="([^"]*)"', lambda m: f'id="{names[m[1]]}"', text)
    return re.sub(r'(url\(#|href="#)([^)"]*)', lambda m: m[1] + names[m[2]], text)


def _ungrouped(text: str) -> str:
    """Remove groups without attributes."""
    text = re.sub(r"<g\b[^>]*/>", "", text)
    silent: list[bool] = []

    def keep(match: re.Match[str]) -> str:
        if match[0] == "</g>":
            return "" if silent.pop() else match[0]
        silent.append(match[0] == "<g>")
        return "" if silent[-1] else match[0]

    return re.sub(r"</?g\b[^>]*>", keep, text)


def _shorter(tag: re.Match[str]) -> str:
    """Return a tag with coordinates in tenths of units and without redundant spaces."""
    text = re.sub(r"(\.\d)\d+(?=[ \",)zh])", r"\1", tag[0])
    text = re.sub(r"(\d)\.0(?=[ \",)zh])", r"\1", text)
    text = re.sub(
        r'(?<= d=")[^"]*', lambda m: _straight(re.sub(r" ?([A-Za-z]) ?", r"\1", m[0]).strip()), text
    )
    return re.sub(r' style="[^"]*"', lambda m: re.sub(r"(?<=[:;]) | ?;(?=\")", "", m[0]), text)


def _straight(path: str) -> str:
    """Return a path with `H` and `V` for straight lines, which halves steps and frames."""
    if "e" in path:  # a power of ten, not a command
        return path
    commands: list[str] = []
    at: list[str] = []
    for command, values in _COMMAND.findall(path):
        to = values.split() if command in {"M", "L"} else []
        if command == "L" and at and to[0] == at[0]:
            commands.append(f"V{to[1]}")
        elif command == "L" and at and to[1] == at[1]:
            commands.append(f"H{to[0]}")
        else:
            commands.append(command + values)
        at = to
    return "".join(commands)


def _gathered(text: str) -> str:
    """Group consecutive marks by style.

    Lines come first, then markers, then text, so that no text is covered. Line styles
    are in the order of their first use. Definitions between the marks come before them.
    """
    lines: list[str] = []
    clips: list[str] = []
    defs: list[str] = []
    marks: dict[tuple[int, str], list[str]] = {}

    def end_group() -> None:
        lines.extend(["<defs>", *defs, "</defs>"] if defs else [])
        for (kind, look), same in sorted(marks.items(), key=lambda item: item[0][0]):
            if kind == 0 and "fill:none" in look:  # strokes of one style become one path
                same[:] = [
                    f'<path d="{"".join(p for mark in same for p in _PATH.findall(mark))}"/>'
                ]
            # A clip path on a marker would move with it, so that it is set on a group.
            clipped_marker = _KINDS[kind] == "use" and "clip-path" in look
            if not look:
                lines.extend(same)
            elif len(same) == 1 and not clipped_marker:
                lines.append(same[0].replace(" ", f"{look} ", 1))
            else:
                lines.extend([f"<g{look}>", *same, "</g>"])
        defs.clear()
        marks.clear()

    inside = False
    for line in text.split("\n"):
        if _CLIPPED.fullmatch(line):
            clips.append(line[2:-1])
        elif line == "</g>" and clips:
            clips.pop()
        elif line in {"<defs>", "</defs>"}:
            inside = line == "<defs>"
        elif inside:
            defs.append(line)
        elif (match := _MARK.fullmatch(line)) is not None:
            look = "".join(clips) + "".join(sorted(_LOOK.findall(line)))
            marks.setdefault((_KINDS.index(match[1]), look), []).append(_LOOK.sub("", line))
        else:
            end_group()
            lines.append(line)
    end_group()
    return "\n".join(lines)


def _font(match: re.Match[str]) -> str:
    """Return the properties of ``font: 700 12px `` without the family."""
    *weight, size = match[1].split()
    return f"font-size: {size}" + (f"; font-weight: {weight[-1]}" if weight else "")


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


def _of_extension(target: LazyObject) -> Callable[[Axes, Figure, Mapping[str, str]], None]:
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
