"""The page of ``benchctl history``: changes, configurations, and the chart."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from bench_framework.extensions.history.compute import CERTAIN, FEWEST, POWER
from bench_framework.extensions.history.model import History, HistoryPoint, HistorySeries, Shift
from bench_framework.model.metrics import METRICS
from bench_framework.report import blocks
from bench_framework.report.blocks import (
    Cell,
    Column,
    Document,
    MastheadLine,
    Row,
    Section,
    Sentence,
    Table,
)
from bench_framework.report.charts import LESS, MORE, Axes, Palette, frame
from bench_framework.report.table_cells import Scale, titled
from bench_framework.text.numbers import (
    DASH,
    format_percent,
    metric_unit,
    percent,
    percent_up,
    shortest,
    show_change,
)
from bench_framework.text.reasons import phrase
from bench_framework.units import counted

SHORT: Final = 9
"""Digits of a commit that are printed."""
MOST_CHANGES: Final = 30
DIGITS: Final = 4
USEFUL: Final = 1.0
"""Larger detectable changes are not printed as a number."""
ROW: Final = 62.0
TOP: Final = 8.0
BOTTOM: Final = 34.0
PAD: Final = 9.0
MOST_ROWS: Final = 24
MOST_LABEL: Final = 28
LEAST_RANGE: Final = 4.0
"""Smallest range of a row in percent, so that noise does not fill it."""
MOST_DOTS: Final = 400
"""Largest number of dots in a row. Of more records, every k-th is drawn."""


def document(history: History, *, plot: bool = False) -> Document:
    """Return the page of a history, with its chart if `plot`."""
    changes = [(one, change) for one in history.series for change in one.changes]
    changes.sort(key=lambda pair: pair[0].points[pair[1].at].place, reverse=True)
    overview = _overview(history)
    content: list[blocks.Block] = [blocks.KeyFinding(Sentence(_finding(history)))]
    if changes:
        content.append(_changes(changes))
    figures = [_figure(history, overview)] if plot else []
    content += [overview, *figures, *(blocks.Fallback(line) for line in _notes(history))]
    points = [point for one in history.series for point in one.points]
    first, last = (end(point.started for point in points)[:10] for end in (min, max))
    order = "revision" if history.order == "revision" else "time of measurement"
    facts = ", ".join(f"{name} {value}" for name, value in history.machine.facts.items())
    return Document(
        title=history.scenario,
        question="",
        status="exploratory",
        masthead=(MastheadLine("Machine", facts),),
        run_line=(
            f"{history.scenario}  {METRICS[history.metric].noun}  "
            f"{counted(history.records, 'record')} from {first} to {last}, by {order}  "
            f"machine {history.machine.digest}: {facts}"
        ),
        sections=(Section("S10", "history", "History", tuple(content), terminal="all"),),
        claims=(),
        glossary=(),
    )


def _finding(history: History) -> str:
    searched = [one for one in history.series if one.noise is not None]
    if not searched:
        return (
            f"No configuration has {FEWEST} records of one command and input, so changes were not "
            f"searched. {_next(history)}"
        )
    changed = sum(bool(one.changes) for one in history.series)
    number = f"{changed} of" if changed else "None of"
    verb = "changed" if changed else "has a significant change"
    return f"{number} {counted(len(history.series), 'configuration')} {verb}."


def _next(history: History) -> str:
    if history.records > 1:
        return "`benchctl compare @prev @last` compares two records."
    return "Each `benchctl run` of the scenario adds a record; --backfill measures earlier commits."


def _changes(changes: Sequence[tuple[HistorySeries, Shift]]) -> Table:
    columns = (
        Column("Configuration"),
        Column("Change [95 % CI]"),
        Column("Between"),
        Column("Confidence", "right", drop=1),
    )
    rows = []
    for one, change in changes[:MOST_CHANGES]:
        confidence = format_percent(change.confidence, decimals=1)
        if change.confidence > CERTAIN:
            confidence = f"> {format_percent(CERTAIN)}"
        size, sure = Cell(_size(change), change.ratio), Cell(confidence, change.confidence)
        rows.append(Row.build(one.label, size, _between(one, change), sure))
    notes = []
    if not all(change.confirmed for _, change in changes):
        notes.append("? only one record before or after: measure again to confirm it.")
    if rest := len(changes) - len(rows):
        notes.append(f"{counted(rest, 'earlier change')} in --json.")
    caption, note = "Changes, newest first; + is more", " ".join(notes)
    return Table("changes", caption, columns, tuple(rows), sortable=False, note=note)


def _size(change: Shift) -> str:
    text = str(show_change(change.ratio, change.lo, change.hi, 0.0, keep=False))
    return text if change.confirmed else f"{text} ?"


def _between(one: HistorySeries, change: Shift) -> str:
    before, after = one.points[change.before], one.points[change.after]
    if before.revision and after.revision and _commit(before) != _commit(after):
        return f"{_commit(before)} → {_commit(after)}"
    return f"{before.record} → {after.record}"


def _commit(point: HistoryPoint) -> str:
    """Return a commit as it is printed, with a plus sign for uncommitted changes."""
    return f"{(point.revision or '')[:SHORT]}{'+' if point.dirty else ''}"


def _overview(history: History) -> Table:
    least = min((one.points[-1].fitted for one in history.series), default=1.0)

    def unit_of(value: float) -> tuple[str, float]:
        return metric_unit(history.metric, value, history.unit_family)

    form = Scale(*unit_of(least), 0, unit_of, DIGITS)
    columns = (
        Column("Configuration"),
        Column("Records", "right", drop=3),
        Column(titled("First level", form.unit), "decimal", drop=2),
        Column(titled("Last level", form.unit), "decimal"),
        Column("Noise", "decimal", drop=1),
        Column("MDE", "decimal"),
        Column("Changes", "right"),
    )
    rows = []
    for one in history.series:
        count, changes = one.records(), len(one.changes)
        first, last = (
            Cell(form.text(point.fitted), point.fitted) for point in (one.points[0], one.points[-1])
        )
        useful = one.detectable is not None and one.detectable <= USEFUL
        mde = Cell(percent_up(one.detectable) if useful else DASH, one.detectable)
        known = Cell(str(changes) if one.noise is not None else DASH, changes)
        noise = Cell(percent(one.noise), one.noise)
        rows.append(Row.build(one.label, Cell(str(count), count), first, last, noise, mde, known))
    legend = (
        "Noise: standard deviation between records.",
        f"MDE: the smallest change that the next record would show (power {format_percent(POWER)}).",
    )
    caption = "Configurations, with the mean levels of the first and the last records"
    return Table("configurations", caption, columns, tuple(rows), legend, sortable=False)


def _notes(history: History) -> list[str]:
    outliers = Counter(p.record for one in history.series for p in one.points if p.outlier)
    breaks = sum(len(one.breaks) for one in history.series)
    reasons = Counter(phrase(reason) for _, reason in history.left_out)
    lines = [
        f"Left out: {counted(number, 'record')}, {reason}." for reason, number in reasons.items()
    ]
    if changed := {p.record for one in history.series for p in one.points if p.dirty}:
        after = ", after its commit" if history.order == "revision" else ""
        lines.append(
            f"Uncommitted changes (+): {counted(len(changed), 'record')}; each is a point of its own{after}."
        )
    if outliers:
        lines.append(
            f"{counted(sum(outliers.values()), 'value')} of {counted(len(outliers), 'record')} differ "
            "from those before and after, and are in no mean."
        )
    if breaks:
        lines.append(
            f"Command or input changed {counted(breaks, 'time')}; levels are not compared."
        )
    return lines


def _figure(history: History, table: Table) -> blocks.Figure:
    """Return the chart of the configurations with changes first, at most `MOST_ROWS`."""
    chosen = sorted(history.series, key=lambda one: not one.changes)[:MOST_ROWS]
    labels = dict(Counter(one.label for one in chosen))
    points = [
        point
        for one in chosen
        for point in _drawn(one, one.label if labels[one.label] == 1 else f"{one.label} {one.id}")
    ]
    ends = [
        end((p for one in chosen for p in one.points), key=lambda p: p.place) for end in (min, max)
    ]
    first, last = (f"{_commit(p) or p.record} {p.started[:10]}" for p in ends)
    desc = (
        "Levels of the records without the change of the machine; lines are means between changes, and "
        f"rings are outliers. Each row has its own scale, of at least {shortest(LEAST_RANGE)} %."
    )
    texts = (("x", "revisions" if history.order == "revision" else "records"), ("first", first))
    title = f"History of {history.scenario}"
    labelled = (*texts, ("last", last))
    return blocks.Figure("history-plot", "history", title, desc, tuple(points), table, labelled)


def _drawn(one: HistorySeries, name: str) -> list[blocks.Point]:
    base = one.points[0].fitted
    sizes = {change.at: change for change in one.changes}
    return [
        blocks.Point(
            _commit(point),
            float(point.place),
            100 * (point.level / base - 1),
            y_lo=None if point.outlier else 100 * (point.fitted / base - 1),
            text=_size(sizes[n]).partition(" [")[0] if n in sizes else "",
            strong=n in sizes and sizes[n].ratio > 1,
            series=name,
        )
        for n, point in enumerate(one.points)
    ]


def draw(ax: Axes, figure: blocks.Figure, colours: Palette) -> None:
    """Draw the rows.

    A point has its place as `x`, and in percent of the first level its level as `y` and the mean
    level as `y_lo`, or none for an outlier. `text` is the size of a change, which begins at this point.
    """
    rows = figure.by_series()
    width, height = frame.WIDTH, TOP + BOTTOM + ROW * len(rows)
    frame.sheet(ax, width, height)
    left = frame.label_room(list(rows), MOST_LABEL) + 6
    first, last = (end(p.x for p in figure.points) for end in (min, max))
    scale = (width - left - 14) / max(1.0, last - first)
    labels = frame.shorts(list(rows), MOST_LABEL)
    for number, (name, points) in enumerate(rows.items()):
        base = height - TOP - ROW * (number + 1)
        frame.strokes(ax, [[(left, base), (width - 8, base)]], colours["rule"], 0.8)
        frame.words(ax, (left - 12, base + ROW / 2), labels[name], colours["ink"], ha="right")
        places = [(left + (p.x - first) * scale, p) for p in points]
        _draw_row(ax, places, base, colours)
    for x, label, side in ((left, "first", "left"), (width - 8, "last", "right")):
        frame.words(ax, (x, 22), figure.label(label), colours["muted"], ha=side)
    frame.words(ax, ((left + width) / 2, 8), figure.label("x"), colours["muted"], ha="center")


def _draw_row(
    ax: Axes, places: list[tuple[float, blocks.Point]], base: float, colours: Palette
) -> None:
    ends = [y for _, p in places if p.y_lo is not None for y in (p.y, p.y_lo)]
    low, high = min(ends), max(ends)
    middle, reach = (low + high) / 2, max(high - low, LEAST_RANGE)

    def at(percent: float) -> float:
        inside = min(max((percent - middle) / reach, -0.5), 0.5)
        return base + ROW / 2 + inside * (ROW - 2 * PAD)

    step = -(-len(places) // MOST_DOTS)
    dots = [(x, at(p.y)) for x, p in places[::step] if p.y_lo is not None]
    frame.marks(ax, dots, "o", color=colours["muted"], markersize=3, alpha=0.55, linestyle="none")
    rings = [(x, at(p.y)) for x, p in places if p.y_lo is None]
    ring = {"markerfacecolor": "none", "markeredgecolor": colours["muted"]}
    frame.marks(ax, rings, "o", markersize=5, linestyle="none", **ring)
    line: list[tuple[float, float]] = []
    for x, p in places:
        if p.y_lo is None:
            continue
        if p.text and line:
            colour = colours[MORE if p.strong else LESS]
            frame.strokes(ax, [line], colours["ink"], 1.6)
            frame.strokes(ax, [[(x, base + 2), (x, base + ROW - 4)]], colour, 1.0, linestyle=":")
            frame.words(ax, (x - 4, base + ROW - 9), p.text, colour, ha="right")
            line = []
        y = at(p.y_lo)
        if len(line) > 1 and line[-2][1] == y:  # the same level: keep only its ends
            line.pop()
        line.append((x, y))
    frame.strokes(ax, [line], colours["ink"], 1.6)
