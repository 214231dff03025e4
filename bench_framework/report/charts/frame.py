"""Parts that all charts share: frame, ticks and labels that do not overlap."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from rich.cells import cell_len

from bench_framework.report.blocks import Figure
from bench_framework.report.charts import Axes, Palette, Scale
from bench_framework.report.render.widths import cut_distinct, cut_middle, visible
from bench_framework.text.numbers import format_size, shortest, significant, time_unit
from bench_framework.units import THIN_SPACE

WIDTH: Final = 720.0
NARROW: Final = 360.0
"""Width of a drawing, and of one for phones, in units."""
TEXT: Final = 12.0
SMALL: Final = 11.0
"""Smallest font size: 11 units in a drawing that is 720 units wide."""
FEWEST_TICKS: Final = 3
FINE_DIGITS: Final = tuple(n / 10 for n in range(10, 100))
UNITS_PER_COLUMN: Final = 7.0
"""Width of a character at `TEXT`. It is a generous estimate, because the reader's font is unknown.
"""

_EMS: Final = {
    **dict.fromkeys("\u202f\u2009", 0.2),
    **dict.fromkeys(" ijlI.,:;'|!·", 0.33),
    **dict.fromkeys('ftrJ()[]{}-/\\"', 0.41),
    **dict.fromkeys("+−×÷=<>~≈≡w▼▲", 0.84),
    **dict.fromkeys("mMW%@", 0.98),
}
"""Widths of characters in DejaVu Sans, which is wider than most other fonts."""
_OTHER: Final = 0.64
_CAPITAL: Final = 0.75
_FULL_WIDTH: Final = 2
BOLD: Final = 1.08
"""Width of bold text relative to plain text."""
_PIECE: Final = re.compile(r" +|[^ \-/_=+,:]*[\-/_=+,:]+|[^ \-/_=+,:]+")
_WORD: Final = re.compile(r" +|[^ ]+")
Box = tuple[float, float, float, float]
"""Left, bottom, right and top."""

T = TypeVar("T")


def drawn_width(figure: Figure) -> float:
    """Return the width of a drawing in units."""
    return NARROW if figure.narrow else WIDTH


def text_width(text: str, size: float = TEXT, *, bold: bool = False) -> float:
    """Return the width of a text in units, for a wide font: the reader's font is unknown."""
    ems = 0.0
    for character in text:
        columns = cell_len(character)
        if columns == _FULL_WIDTH:
            ems += 1.05
        elif columns:
            ems += _EMS.get(character, _CAPITAL if character.isupper() else _OTHER)
    return ems * size * (BOLD if bold else 1.0)


def text_lines(
    text: str, room: float, *, bold: bool = False, first: float | None = None
) -> list[str]:
    """Return a text in lines of at most `room` units, and a first line of at most `first` units.

    Lines break at spaces. Only a word that is wider than a line breaks at its punctuation, or else
    at any character. Nothing is left out.
    """
    text = visible(text)
    fits = all(text_width(word, bold=bold) <= room for word in text.split(" "))
    pieces = _WORD.findall(text) if fits else _PIECE.findall(text)
    lines = [""]
    for piece in pieces:
        limit = room if first is None or len(lines) > 1 else first
        if text_width((lines[-1] + piece).rstrip(), bold=bold) <= limit:
            lines[-1] += piece
            continue
        if lines[-1].strip() or len(lines) == 1:
            lines.append("")
        for character in piece.lstrip():
            if text_width(lines[-1] + character, bold=bold) > room and lines[-1]:
                lines.append("")
            lines[-1] += character
    lines = [line.strip() for line in lines]
    return lines if first is not None else [line for line in lines if line] or [""]


def overlap(one: Box, two: Box) -> bool:
    """Return whether two boxes overlap."""
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def nice_between(lo: float, hi: float, most: int) -> list[float]:
    """Return at most `most` ticks of a linear axis between two values, in steps of 1, 2 or 5 × 10ᵏ."""
    if hi <= lo:
        return [lo]
    step = 10.0 ** math.floor(math.log10((hi - lo) / most))
    step = next(s for s in (step, 2 * step, 5 * step, 10 * step) if (hi - lo) / s <= most)
    return [step * n for n in range(math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9) + 1)]


def nice_ticks(lo: float, hi: float, most: int) -> list[float]:
    """Return ticks of a logarithmic axis: round numbers, linear within a factor of ten."""
    return nice_between(lo, hi, most) if hi < 10 * lo else nice_steps(lo, hi, most)


def log_scale(lo: float, hi: float, ends: tuple[float, float]) -> Scale:
    """Return the places of a logarithmic axis between two ends."""
    first, last = ends
    length = (last - first) / math.log(hi / lo)
    return lambda value: first + math.log(min(max(value, lo), hi) / lo) * length


def linear_scale(lo: float, hi: float, ends: tuple[float, float]) -> Scale:
    """Return the places of a linear axis between two ends."""
    first, last = ends
    return lambda value: first + (min(max(value, lo), hi) - lo) / (hi - lo) * (last - first)


def calm(ax: Axes, figure: Figure, colours: Palette, *, titles: str = "xy") -> None:
    """Draw axis lines at the bottom and left in the rule colour, and muted ticks and titles."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(colours["rule"])
    ax.patch.set_visible(False)
    ax.minorticks_off()
    ax.tick_params(colors=colours["muted"], labelsize=SMALL, length=3, width=0.8)
    for axis in titles:
        write = ax.set_xlabel if axis == "x" else ax.set_ylabel
        write(figure.label(axis), color=colours["muted"], fontsize=SMALL)


def short(label: str, columns: int) -> str:
    """Return a label of at most `columns` columns, cut in the middle; the table has all of it."""
    return cut_middle(visible(label), columns)


def shorts(labels: Sequence[str], columns: int) -> dict[str, str]:
    """Return labels that are cut at their end, or at a place where they remain different."""
    names = {label: visible(label) for label in labels}
    cut = {name: cut_middle(name, columns, head_width=columns - 1) for name in names.values()}
    if len(set(cut.values())) < len(cut):
        cut = cut_distinct(names.values(), columns)
    return {label: cut[name] for label, name in names.items()}


def label_room(labels: Sequence[str], most: int) -> float:
    """Return the width of a column of labels in units, for labels of at most `most` columns."""
    columns = min(most, max((cell_len(label) for label in labels), default=1))
    return 14 + columns * UNITS_PER_COLUMN


def nice_sizes(lo: float, hi: float, most: int, family: str = "iec") -> list[float]:
    """Return at most `most` ticks of bytes: powers of two, subdivided if few, or decimal for MB."""
    if family == "si":
        return nice_steps(lo, hi, most)
    ticks: list[float] = []
    for parts in ((1.0,), (1.0, 1.5), (1.0, 1.25, 1.5, 1.75)):
        ticks = _multiples(parts, 2.0, math.log2, lo, hi)
        if len(ticks) >= FEWEST_TICKS:
            break
    return _thinned(ticks, most) or [lo]


def nice_steps(lo: float, hi: float, most: int) -> list[float]:
    """Return ticks at 1, 2 or 5 × powers of ten within a range, at most `most`."""
    ticks: list[float] = []
    for digits in (FINE_DIGITS, (1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = _multiples(digits, 10.0, math.log10, lo, hi)
        if len(ticks) <= most:
            break
    return _thinned(ticks, most)


def _multiples(
    factors: Sequence[float], base: float, log: Callable[[float], float], lo: float, hi: float
) -> list[float]:
    """Return the multiples of the powers of a base within a range. `log` has this base."""
    powers = range(math.floor(log(lo)), math.ceil(log(hi)) + 1)
    ticks = [factor * base**power for power in powers for factor in factors]
    return [x for x in ticks if lo * 0.999 <= x <= hi * 1.001]


def _thinned(ticks: list[float], most: int) -> list[float]:
    return ticks[:: max(1, math.ceil(len(ticks) / most))]


def duration_label(seconds: float) -> str:
    """Return a tick label of a time axis: ``50 ms``."""
    unit, scale = time_unit(seconds)
    return f"{shortest(seconds * scale, 3)}{THIN_SPACE}{unit}"


def size_label(size: float, family: str) -> str:
    """Return a tick label of a size axis: ``64 MiB``."""
    number, unit = format_size(size, family).rsplit(THIN_SPACE, 1)
    value = float(number)
    return f"{significant(value, 3) if value != int(value) else int(value)}{THIN_SPACE}{unit}"


def spread(targets: Sequence[float], least: float, lo: float, hi: float) -> list[float]:
    """Return places near the requested ones with a minimum distance, in the same order."""
    order = sorted(range(len(targets)), key=lambda i: targets[i])
    places = [0.0] * len(targets)
    last = lo - least
    for index in order:
        last = max(targets[index], last + least)
        places[index] = last
    above = hi
    for index in reversed(order):
        places[index] = max(lo, min(places[index], above))
        above = places[index] - least
    return places


def sheet(ax: Axes, width: float, height: float) -> None:
    """Make Axes a sheet of units from the lower left, on which a chart draws its own axes."""
    ax.set_xlim(0, width)
    ax.set_ylim(0, height)
    ax.set_axis_off()


def words(ax: Axes, place: tuple[float, float], text: str, colour: str, **style: object) -> None:
    """Draw a small text, by default on a sheet, to the right of a place and vertically centred."""
    ax.text(
        *place, text, color=colour, **{"ha": "left", "va": "center", "fontsize": SMALL, **style}
    )


def interval(
    ax: Axes, lo: float | None, hi: float | None, at: Scale, y: float, colour: str
) -> None:
    """Draw a horizontal interval on a sheet, if there is one."""
    if lo is not None and hi is not None:
        strokes(ax, [[(at(lo), y), (at(hi), y)]], colour, 1.6)


def marks(ax: Axes, places: Sequence[tuple[float, float]], marker: str, **style: object) -> None:
    """Draw a marker at each place."""
    ax.plot([x for x, _ in places], [y for _, y in places], marker, **style)


def strokes(
    ax: Axes,
    lines: Sequence[Sequence[tuple[float, float]]],
    colour: str,
    width: float = 1.0,
    **style: object,
) -> None:
    """Draw lines of one style as one path, each through its places."""
    style = {"solid_capstyle": "butt", "clip_on": False, **style}
    gap = (math.nan, math.nan)
    places = [place for line in lines for place in (*line, gap)]
    if places:
        xs, ys = zip(*places, strict=True)
        ax.plot(xs, ys, color=colour, linewidth=width, **style)


def slices(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Return at most `most` consecutive parts with equal numbers of items."""
    count = min(most, len(items))
    return [items[n * len(items) // count : (n + 1) * len(items) // count] for n in range(count)]
