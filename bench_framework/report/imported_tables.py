"""Tables and plots of an imported set: one of each per session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.verdict import Verdict
from bench_framework.model.words import glyph, noun, shown
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table
from bench_framework.report.numbers import (
    DASH,
    LEAST_DECIMALS,
    column_decimals,
    margin_text,
    measured_decimals,
    percent_up,
    show_measured,
    show_ratio,
    show_size,
)
from bench_framework.units import THIN_SPACE, time_unit

if TYPE_CHECKING:
    from bench_framework.model.imported import Command, Imported, Series, Session
    from bench_framework.model.judgement import Comparison, Judgement

LEAST_RATIO: Final = 3
"""Decimals of a ratio that is told in percent: tenths, as sentences have them."""
TIMES_FROM: Final = 1.5
"""From this factor on a ratio is told as "n×" (R1), and needs no such digits."""
METHOD: Final = "Welch on the log scale"
_PLUS_MINUS: Final = 1.96
"""Half-width of what the digits of a mean are taken from, in its standard errors."""


class Figures:
    """What the tables ask of a judgement."""

    def __init__(self, imported: Imported, judgement: Judgement) -> None:
        self.imported = imported
        self._pairs = {
            (c.cell_id, c.metric): c for c in judgement.comparisons if c.family in {"headline", "memory"}
        }
        self._claims = {
            (c.cells, c.metric): c.id
            for c in judgement.claims
            if c.kind in {"block-comparison", "block-memory"}
        }
        self.best = {group.input_id: group.cell_ids for group in judgement.best}

    def comparison(self, command: Command, metric: str = WALL) -> Comparison | None:
        """An command against the baseline of its session."""
        return self._pairs.get((command.id, metric))

    def claim_id(self, c: Comparison) -> str | None:
        """The claim that tells a comparison."""
        return self._claims.get(((c.cell_id, c.ref_cell_id), c.metric))


def ratio_text(c: Comparison) -> str:
    """``0.982 [0.935, 1.032]``, or a dash."""
    if c.shown is None:
        return DASH
    keep = c.verdict is not Verdict.UNDECIDED
    near = c.shown.lo > 1 / TIMES_FROM and c.shown.hi < TIMES_FROM
    least = LEAST_RATIO if near else LEAST_DECIMALS
    made = show_ratio(c.shown.ratio, c.shown.lo, c.shown.hi, c.margin, least=least, keep=keep)
    return str(made)


def replication(series: Series | None) -> str:
    """R13: ``1×20``: one block of twenty runs."""
    if series is None:
        return "0"
    return f"1×{series.n}" if series.n is not None else "not given"


def session_table(figures: Figures, session: Session, number: int) -> Table:
    """S03 of one session, the baseline in its place, sorted by the ratio."""
    walls = [s for command in session.commands if (s := command.of(WALL)) is not None]
    base = session.command(figures.imported.baseline)
    scale_of = (base.of(WALL) if base else None) or (walls[0] if walls else None)
    unit, scale = time_unit(scale_of.mean if scale_of else 1.0)
    decimals = column_decimals(measured_decimals(s.mean, *_ends(s), scale) for s in walls)
    columns = (
        Column("Variant"), Column(f"Time, mean, {unit}", "decimal"), Column(f"sd, {unit}", "decimal", drop=2),
        Column("vs baseline and interval"), Column("Verdict"), Column("CPU time, mean", "right", drop=3),
        Column("Peak RSS", "right", drop=4), Column("n", "right"), Column("Notes", prose=True),
    )  # fmt: skip
    rows = [_row(figures, session, command, (scale, decimals)) for command in session.commands]
    rows.sort(key=_order)
    judged = [c for command in session.commands if (c := figures.comparison(command)) is not None]
    count = len(judged) * (2 if session.format == "hyperfine-2" else 1)
    caption = (
        f"In one session, in blocks: {session.label}; {count} comparison{'s' if count != 1 else ''}, Holm over them at "
        f"{figures.imported.judge.level * 100:g}{THIN_SPACE}%, margin {margin_text(figures.imported.judge.margin)}; "
        f"{METHOD} of {'the runs' if session.raw else 'published mean, sd and n (delta method)'}"
    )
    legend = (
        "n: blocks × runs. Each command ran in one block: no interval here covers drift between the blocks.",
    )
    shown_columns, rows = _told(columns, rows)
    return Table(f"session-{number}", caption, shown_columns, tuple(rows), legend, stub=session.label)


def _told(columns: tuple[Column, ...], rows: list[Row]) -> tuple[tuple[Column, ...], list[Row]]:
    """The columns of which at least one row has something to say."""
    kept = [n for n in range(len(columns)) if any(row.cells[n].text not in {"", DASH} for row in rows)]
    slim = [replace(row, cells=tuple(row.cells[n] for n in kept)) for row in rows]
    return tuple(columns[n] for n in kept), slim


def _ends(series: Series) -> tuple[float | None, float | None]:
    """What the digits of a mean follow from: its standard error, twice."""
    if series.sd is None or not series.n:
        return None, None
    half = _PLUS_MINUS * series.sd / series.n**0.5
    return series.mean - half, series.mean + half


def _row(figures: Figures, session: Session, command: Command, column: tuple[float, int]) -> Row:
    wall, c = command.of(WALL), figures.comparison(command)
    scale, decimals = column
    is_base = command.label == figures.imported.baseline
    verdict = c.verdict if c is not None else None
    claim = figures.claim_id(c) if c is not None else None
    notes = [c.reason] if c is not None and c.reason else []
    if c is not None and c.mde is not None:
        notes.append(f"{percent_up(c.mde)} would have been found")
    if command.failed and verdict is not Verdict.FAILED:
        notes.append(f"{command.failed} failed run{'s are' if command.failed > 1 else ' is'} left out")
    time = show_measured(wall.mean, *_ends(wall), scale, decimals) if wall is not None else DASH
    spread = DASH
    if wall is not None and wall.sd is not None:
        spread = show_measured(wall.sd, None, None, scale, decimals + 1)
    compared = "baseline" if is_base else ratio_text(c) if c is not None else DASH
    return Row(
        (
            Cell(command.label),
            Cell(time, wall.mean if wall is not None else None),
            Cell(spread, wall.sd if wall is not None else None),
            Cell(compared, c.shown.ratio if c is not None and c.shown else (1.0 if is_base else None), claim),
            Cell(shown(verdict, WALL) if verdict is not None else "", None, claim, verdict),
            Cell(_second(figures, command, CPU)),
            Cell(_second(figures, command, PEAK_RSS)),
            Cell(replication(wall), wall.n if wall is not None else 0),
            Cell("; ".join(notes)),
        ),
        verdict,
        command.id in figures.best.get(session.id, ()),
        is_base,
        "; ".join(notes),
    )


def _second(figures: Figures, command: Command, metric: str) -> str:
    """CPU time or memory with the glyph of its verdict, if it has one."""
    series, c = command.of(metric), figures.comparison(command, metric)
    if series is None:
        return DASH
    value = show_size(series.mean, "iec")
    if metric == CPU:
        unit, scale = time_unit(series.mean)
        value = f"{show_measured(series.mean, None, None, scale)}{THIN_SPACE}{unit}"
    return f"{value} {glyph(c.verdict)}" if c is not None else value


def _order(row: Row) -> tuple[bool, float]:
    value = row.cells[3].value
    return (not isinstance(value, float), value if isinstance(value, float) else 0.0)


def forest(figures: Figures, session: Session, number: int) -> Figure | None:
    """The ratios of one session with their intervals; `None` if there is none."""
    points = [p for command in session.commands if (p := _point(figures, session, command)) is not None]
    if all(p.baseline for p in points):
        return None
    points.sort(key=lambda p: (p.x, not p.baseline))
    baseline, margin = figures.imported.baseline, figures.imported.judge.margin
    rows = tuple(
        Row(
            (
                Cell(p.label),
                Cell(p.text.rsplit(" ", 1)[0] if p.verdict else p.text, p.x),
                Cell(shown(p.verdict, WALL) if p.verdict else "", None, None, p.verdict),
            ),
            p.verdict, p.strong, p.baseline,
        )
        for p in points
    )  # fmt: skip
    columns = (Column("Variant"), Column("Ratio and interval"), Column("Verdict"))
    return Figure(
        f"session-{number}-forest", "forest", f"Ratio to {baseline}: {session.label}, in blocks",
        f"Ratio of {noun(WALL)} to {baseline}, with intervals that cover the runs alone. "
        f"The band is the margin of {margin_text(margin)}.",
        tuple(points),
        Table(f"session-{number}-forest-data", "The numbers of the plot", columns, rows, sortable=False),
        (("x", f"time, variant ÷ {baseline}"), ("less", "less"), ("more", "more")),
        (("margin", margin),),
    )  # fmt: skip


def _point(figures: Figures, session: Session, command: Command) -> Point | None:
    strong = command.id in figures.best.get(session.id, ())
    if command.label == figures.imported.baseline:
        return Point(command.label, 1.0, text="baseline", baseline=True, strong=strong)
    c = figures.comparison(command)
    if c is None or c.shown is None:
        return None
    return Point(
        command.label, c.shown.ratio, x_lo=c.shown.lo, x_hi=c.shown.hi, verdict=c.verdict,
        text=f"{ratio_text(c)} {glyph(c.verdict)}", strong=strong,
    )  # fmt: skip
