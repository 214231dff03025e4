"""Tables and plots of an imported set: one of each per sitting, and one between sittings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.model.judgement import Verdict
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
    from bench_framework.model.imported import Arm, Imported, Series, Sitting
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
        self.bridges = tuple(c for c in judgement.comparisons if c.family == "bridge")
        self._claims = {
            (c.cells, c.metric): c.id
            for c in judgement.claims
            if c.kind in {"block-comparison", "block-memory", "bridge-anchor", "bridge-changed"}
        }
        self.best = {group.input_id: group.cell_ids for group in judgement.best}

    def comparison(self, arm: Arm, metric: str = "wall") -> Comparison | None:
        """An arm against the baseline of its sitting."""
        return self._pairs.get((arm.id, metric))

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


def sitting_table(figures: Figures, sitting: Sitting, number: int) -> Table:
    """S03 of one sitting, the baseline in its place, sorted by the ratio."""
    walls = [s for arm in sitting.arms if (s := arm.of("wall")) is not None]
    base = sitting.arm(figures.imported.baseline)
    scale_of = (base.of("wall") if base else None) or (walls[0] if walls else None)
    unit, scale = time_unit(scale_of.mean if scale_of else 1.0)
    decimals = column_decimals(measured_decimals(s.mean, *_ends(s), scale) for s in walls)
    columns = (
        Column("Variant"), Column(f"Time, mean, {unit}", "decimal"), Column(f"sd, {unit}", "decimal", drop=2),
        Column("vs baseline and interval"), Column("Verdict"), Column("CPU time, mean", "right", drop=3),
        Column("Peak RSS", "right", drop=4), Column("n", "right"), Column("Notes", prose=True),
    )  # fmt: skip
    rows = [_row(figures, sitting, arm, (scale, decimals)) for arm in sitting.arms]
    rows.sort(key=_order)
    judged = [c for arm in sitting.arms if (c := figures.comparison(arm)) is not None]
    count = len(judged) * (2 if sitting.format == "hyperfine-2" else 1)
    caption = (
        f"In one sitting, in blocks: {sitting.label}; {count} comparison{'s' if count != 1 else ''}, Holm over them at "
        f"{figures.imported.judge.level * 100:g}{THIN_SPACE}%, margin {margin_text(figures.imported.judge.margin)}; "
        f"{METHOD} of {'the runs' if sitting.raw else 'published mean, sd and n (delta method)'}"
    )
    legend = (
        "n: blocks × runs. Each command ran in one block: no interval here covers drift between the blocks.",
    )
    shown_columns, rows = _told(columns, rows)
    return Table(f"sitting-{number}", caption, shown_columns, tuple(rows), legend, stub=sitting.label)


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


def _row(figures: Figures, sitting: Sitting, arm: Arm, column: tuple[float, int]) -> Row:
    wall, c = arm.of("wall"), figures.comparison(arm)
    scale, decimals = column
    is_base = arm.label == figures.imported.baseline
    verdict = c.verdict if c is not None else None
    claim = figures.claim_id(c) if c is not None else None
    notes = [c.reason] if c is not None and c.reason else []
    if c is not None and c.mde is not None:
        notes.append(f"{percent_up(c.mde)} would have been found")
    if arm.failed and verdict is not Verdict.FAILED:
        notes.append(f"{arm.failed} failed run{'s are' if arm.failed > 1 else ' is'} left out")
    time = show_measured(wall.mean, *_ends(wall), scale, decimals) if wall is not None else DASH
    spread = DASH
    if wall is not None and wall.sd is not None:
        spread = show_measured(wall.sd, None, None, scale, decimals + 1)
    compared = "baseline" if is_base else ratio_text(c) if c is not None else DASH
    return Row(
        (
            Cell(arm.label),
            Cell(time, wall.mean if wall is not None else None),
            Cell(spread, wall.sd if wall is not None else None),
            Cell(compared, c.shown.ratio if c is not None and c.shown else (1.0 if is_base else None), claim),
            Cell(shown(verdict, "wall") if verdict is not None else "", None, claim, verdict),
            Cell(_second(figures, arm, "cpu")),
            Cell(_second(figures, arm, "peak_rss")),
            Cell(replication(wall), wall.n if wall is not None else 0),
            Cell("; ".join(notes)),
        ),
        verdict,
        arm.id in figures.best.get(sitting.id, ()),
        is_base,
        "; ".join(notes),
    )


def _second(figures: Figures, arm: Arm, metric: str) -> str:
    """CPU time or memory with the glyph of its verdict, if it has one."""
    series, c = arm.of(metric), figures.comparison(arm, metric)
    if series is None:
        return DASH
    value = show_size(series.mean, "iec")
    if metric == "cpu":
        unit, scale = time_unit(series.mean)
        value = f"{show_measured(series.mean, None, None, scale)}{THIN_SPACE}{unit}"
    return f"{value} {glyph(c.verdict)}" if c is not None else value


def _order(row: Row) -> tuple[bool, float]:
    value = row.cells[3].value
    return (not isinstance(value, float), value if isinstance(value, float) else 0.0)


def forest(figures: Figures, sitting: Sitting, number: int) -> Figure | None:
    """The ratios of one sitting with their intervals; `None` if there is none."""
    points = [p for arm in sitting.arms if (p := _point(figures, sitting, arm)) is not None]
    if all(p.baseline for p in points):
        return None
    points.sort(key=lambda p: (p.x, not p.baseline))
    baseline, margin = figures.imported.baseline, figures.imported.judge.margin
    rows = tuple(
        Row(
            (
                Cell(p.label),
                Cell(p.text.rsplit(" ", 1)[0] if p.verdict else p.text, p.x),
                Cell(shown(p.verdict, "wall") if p.verdict else "", None, None, p.verdict),
            ),
            p.verdict, p.strong, p.baseline,
        )
        for p in points
    )  # fmt: skip
    columns = (Column("Variant"), Column("Ratio and interval"), Column("Verdict"))
    return Figure(
        f"sitting-{number}-forest", "forest", f"Ratio to {baseline}: {sitting.label}, in blocks",
        f"Ratio of {noun('wall')} to {baseline}, with intervals that cover the runs alone. "
        f"The band is the margin of {margin_text(margin)}.",
        tuple(points),
        Table(f"sitting-{number}-forest-data", "The numbers of the plot", columns, rows, sortable=False),
        (("x", f"time, variant ÷ {baseline}"), ("less", "less"), ("more", "more")),
        (("margin", margin),),
    )  # fmt: skip


def _point(figures: Figures, sitting: Sitting, arm: Arm) -> Point | None:
    strong = arm.id in figures.best.get(sitting.id, ())
    if arm.label == figures.imported.baseline:
        return Point(arm.label, 1.0, text="baseline", baseline=True, strong=strong)
    c = figures.comparison(arm)
    if c is None or c.shown is None:
        return None
    return Point(
        arm.label, c.shown.ratio, x_lo=c.shown.lo, x_hi=c.shown.hi, verdict=c.verdict,
        text=f"{ratio_text(c)} {glyph(c.verdict)}", strong=strong,
    )  # fmt: skip


def bridge_table(figures: Figures) -> Table | None:
    """S10: what the same labels did between sittings; `None` for a single sitting or without shared labels."""
    if not figures.bridges:
        return None
    rows = tuple(_bridge_row(figures, c) for c in figures.bridges)
    columns = (
        Column("Cell"), Column("Set A"), Column("Set B"), Column("Ratio and interval"), Column("Role"),
        Column("Verdict"), Column("n", "right"), Column("Notes", prose=True),
    )  # fmt: skip
    caption = (
        "Between sittings: anchors directly, other arms by their ratio to the anchors of their own sitting, and only "
        "where every anchor is equivalent"
    )
    return Table("bridge-table", caption, columns, rows, sortable=False)


def _bridge_row(figures: Figures, c: Comparison) -> Row:
    later, arm = figures.imported.place(c.cell_id)
    first, before = figures.imported.place(c.ref_cell_id)
    role = "anchor" if arm.label in figures.imported.anchors else "changed"
    return Row(
        (
            Cell(arm.label),
            Cell(f"{first.label}: {_time(before)}"),
            Cell(f"{later.label}: {_time(arm)}"),
            Cell(ratio_text(c), c.shown.ratio if c.shown else None, figures.claim_id(c)),
            Cell(role),
            Cell(_bridge_word(c, role), c.verdict.value, figures.claim_id(c), c.verdict),
            Cell(f"{replication(before.of('wall'))} and {replication(arm.of('wall'))}"),
            Cell(c.reason),
        ),
        c.verdict,
        reason=c.reason,
    )


def _bridge_word(c: Comparison, role: str) -> str:
    """An anchor is not faster or slower: it moved, or is shown to have stayed."""
    if role == "anchor" and c.verdict.decided:
        return f"{glyph(c.verdict)} moved"
    return shown(c.verdict, "wall")


def _time(arm: Arm) -> str:
    wall = arm.of("wall")
    if wall is None:
        return DASH
    unit, scale = time_unit(wall.mean)
    return f"{show_measured(wall.mean, *_ends(wall), scale)}{THIN_SPACE}{unit}"
