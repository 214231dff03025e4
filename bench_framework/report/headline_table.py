"""The results table of an input: one row per variant, ordered by ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.plan import Cell as PlanCell
from bench_framework.model.plan import Input, Role, Variant
from bench_framework.model.verdict import Verdict
from bench_framework.model.words import glyph, noun, verdict_text
from bench_framework.report import detectable, race_notes
from bench_framework.report.blocks import (
    Cell,
    Column,
    Row,
    Table,
)
from bench_framework.report.counts import ADJUSTED_CI, caption_tail
from bench_framework.report.numbers import (
    DASH,
    SIZES,
    column_decimals,
    column_size,
    measured_decimals,
    metric_unit,
    percent_up,
    show_comparison,
    show_measured,
    show_ratio,
    significant,
)

if TYPE_CHECKING:
    from bench_framework.model.judgement import CellState, Comparison, Summary
    from bench_framework.report.context import ReportData

_REFUSED = {
    "failed": Verdict.FAILED,
    "other-output": Verdict.OTHER_OUTPUT,
    "not-comparable": Verdict.NOT_COMPARABLE,
}
_NAMES = {WALL: "Time", CPU: "CPU time", PEAK_RSS: "Peak RSS"}


def headline_table(data: ReportData, item: Input, name: str) -> Table:
    """Return the results table, ordered by ratio. Rows without a comparison are last."""
    arms = data.arms(item.id)
    baseline = data.plan.baseline_cell(item.id)
    scales = _Scales(data, item)
    best = data.ahead(item.id)
    rows = [
        _row(data, cell, scales, strong=cell.id in best)
        for cell in sorted(arms, key=lambda cell: order(data, cell, baseline))
    ]
    statistic = "median over rounds" if data.metric != PEAK_RSS else "median over runs"
    caption = (
        f"{_name(data.metric)} by variant{data.on_input(item, ', input ')}{data.cold(item)}: "
        f"{statistic}; ratios are {data.ratio_words(item)}. {caption_tail(data, item)}"
    )
    return Table(
        name + "-table",
        caption,
        scales.columns(),
        tuple(rows),
        _legend(data, item, best=len(best)),
        stub=data.on_input(item),
        note=detectable.effects_note(
            [
                data.comparison(c.id, data.metric)
                for c in arms
                if data.state(c.id).state == "measured"
            ]
        ),
    )


class _Scales:
    """The units of one table: one per column, chosen from the baseline's row."""

    def __init__(self, data: ReportData, item: Input) -> None:
        self.family = data.plan.unit_family
        self.metric = data.metric
        self.interval = ADJUSTED_CI
        self.bytes = data.handled_bytes(item.id)
        self.throughput = self.bytes is not None and data.metric == WALL
        self.per_second = ("MB/s", 1e-6) if self.family == "si" else ("MiB/s", 2.0**-20)
        self.main = self._unit(data, item, data.metric)
        self.cpu = self._unit(data, item, CPU)
        self.rss = self._unit(data, item, PEAK_RSS)
        self.decimals = {
            data.metric: self._decimals(data, item, data.metric, self.main[1]),
            CPU: self._decimals(data, item, CPU, self.cpu[1]),
            PEAK_RSS: self._decimals(data, item, PEAK_RSS, self.rss[1]),
        }
        self.shows_cpu = self._any(data, item, CPU) and data.metric != CPU
        self.shows_rss = self._any(data, item, PEAK_RSS) and data.metric != PEAK_RSS

    def _any(self, data: ReportData, item: Input, metric: str) -> bool:
        return any(data.summary(cell.id, metric) for cell in data.arms(item.id))

    def _decimals(self, data: ReportData, item: Input, metric: str, scale: float) -> int:
        summaries = (data.summary(cell.id, metric) for cell in data.arms(item.id))
        return column_decimals(
            measured_decimals(s.median, s.lo, s.hi, scale) for s in summaries if s
        )

    def _unit(self, data: ReportData, item: Input, metric: str) -> tuple[str, float]:
        baseline = data.plan.baseline_cell(item.id)
        first = data.summary(baseline.id, metric) if baseline else None
        summaries = [
            s for cell in data.arms(item.id) if (s := data.summary(cell.id, metric)) is not None
        ]
        chosen = first or next(iter(summaries), None)
        size = chosen.median if chosen else 1.0
        if metric in SIZES:
            size = column_size(size, (s.median for s in summaries), self.family)
        return metric_unit(metric, size, self.family, data.own_unit(metric))

    def columns(self) -> tuple[Column, ...]:
        """Return the columns. A narrow output drops those with the highest `drop` first."""
        columns = [
            Column("Variant"),
            Column(titled(_name(self.metric), self.main[0]), "decimal"),
            Column("vs baseline", "decimal"),
            Column(self.interval, drop=1),
            Column("Verdict"),
        ]
        if self.throughput:
            columns.append(Column(self.per_second[0], "right", drop=3))
        if self.shows_cpu:
            columns.append(Column(titled("CPU time", self.cpu[0]), "decimal", drop=5))
            columns.append(Column("CPU vs baseline", "decimal", drop=5))
            columns.append(Column("Cores", "decimal", drop=6))
        if self.shows_rss:
            columns.append(Column(titled("Peak RSS", self.rss[0]), "decimal", drop=2))
        columns += [Column("n", "right", drop=4), Column("Notes", drop=7, prose=True)]
        return tuple(columns)


def _name(metric: str) -> str:
    """Return the name of a metric as the title of a column."""
    words = noun(metric)
    return _NAMES.get(metric, words[:1].upper() + words[1:])


def titled(name: str, unit: str) -> str:
    """Return the title of a column with its unit."""
    return f"{name}, {unit}" if unit else name


def _row(data: ReportData, cell: PlanCell, scales: _Scales, *, strong: bool) -> Row:
    state = data.state(cell.id)
    variant = data.variant_of(cell)
    baseline = cell.role is Role.BASELINE
    refused = _REFUSED.get(state.state)
    summary = data.summary(cell.id, data.metric) if refused is None else None
    comparison = data.comparison(cell.id, data.metric) if refused is None and not baseline else None
    verdict = refused or (comparison.verdict if comparison and state.state == "measured" else None)
    claim = data.claim_id(cell.id, data.metric)
    reason = _reason(state, variant, comparison)
    cells = [
        Cell(variant.label),
        _measured(summary, scales.main[1], scales.decimals[data.metric]),
        *_judged(
            comparison, claim, baseline=baseline, role=cell.role.value if cell.role.separate else ""
        ),
        _verdict(verdict, state, data.metric),
        *_further(data, cell, scales, refused=refused is not None),
        Cell(data.replication([cell.id]) if summary else DASH),
        Cell(
            "; ".join(
                part
                for part in (
                    reason,
                    race_notes.stopped(data, cell.id),
                    _by_floor(comparison),
                    detectable.effect_note(comparison),
                    variant.describe,
                )
                if part
            )
        ),
    ]
    return Row(tuple(cells), verdict, strong and summary is not None, baseline, reason)


def _verdict(verdict: Verdict | None, state: CellState, metric: str) -> Cell:
    if verdict is None:
        return Cell("not started" if state.state == "not-started" else "")
    return Cell(verdict_text(verdict, metric), verdict.value, None, verdict)


def _measured(summary: Summary | None, scale: float, most: int) -> Cell:
    if summary is None:
        return Cell(DASH)
    return Cell(show_measured(summary.median, summary.lo, summary.hi, scale, most), summary.median)


def _judged(
    comparison: Comparison | None, claim: str | None, *, baseline: bool, role: str
) -> tuple[Cell, Cell]:
    """Return the ratio and its interval. A bound or an anchor has no interval."""
    if baseline:
        return Cell("baseline", 1.0), Cell("")
    if role:
        return Cell(role), Cell("")
    if comparison is None or comparison.shown is None:
        return Cell(DASH), Cell("")
    interval, text = comparison.shown, show_comparison(comparison)
    assert text is not None
    return Cell(text.estimate, interval.ratio, claim), Cell(text.bounds, interval.lo, claim)


def _further(data: ReportData, cell: PlanCell, scales: _Scales, *, refused: bool) -> list[Cell]:
    wall, cpu, rss = (
        None if refused else data.summary(cell.id, m) for m in (data.metric, CPU, PEAK_RSS)
    )
    cells: list[Cell] = []
    if scales.throughput and scales.bytes is not None:
        rate = scales.bytes / wall.median if wall else None
        cells.append(
            Cell(significant(rate * scales.per_second[1], 3), rate) if rate else Cell(DASH)
        )
    if scales.shows_cpu:
        cells += [
            _measured(cpu, scales.cpu[1], scales.decimals[CPU]),
            _cpu_ratio(data, cell, refused=refused),
        ]
        cores = cpu.median / wall.median if cpu and wall and wall.median > 0 else None
        cells.append(Cell(f"{cores:.2f}", cores) if cores is not None else Cell(DASH))
    if scales.shows_rss:
        cells.append(_measured(rss, scales.rss[1], scales.decimals[PEAK_RSS]))
    return cells


def _cpu_ratio(data: ReportData, cell: PlanCell, *, refused: bool) -> Cell:
    if cell.role is Role.BASELINE:
        return Cell("baseline", 1.0)
    comparison = None if refused else data.comparison(cell.id, CPU)
    if comparison is None or comparison.shown is None:
        return Cell(DASH)
    text = show_comparison(comparison)
    assert text is not None
    claim = data.claim_id(cell.id, CPU)
    return Cell(
        f"{text.estimate} {glyph(comparison.verdict)}",
        comparison.shown.ratio,
        claim,
        comparison.verdict,
    )


def _reason(state: CellState, variant: Variant, comparison: Comparison | None) -> str:
    """Return the reason why a row has no verdict or an inconclusive one."""
    if state.state == "not-started":
        return state.reason or "not started"
    if state.state == "not-comparable":
        return _changed(state, variant) or state.reason
    if state.state in _REFUSED:
        return state.reason
    return comparison.reason if comparison else ""


def _by_floor(comparison: Comparison | None) -> str:
    """Return the ratio over all rounds where the verdict uses the fastest third."""
    if comparison is None or comparison.statistic != "floor" or not comparison.verdict.decided:
        return ""
    all_rounds = comparison.typical
    typical = (
        show_ratio(all_rounds.ratio, all_rounds.lo, all_rounds.hi, 0.0, keep=False)
        if all_rounds
        else None
    )
    return (
        f"ratio of the fastest third of rounds; over all rounds: {typical}"
        if typical
        else "ratio of the fastest third of rounds"
    )


def _changed(state: CellState, variant: Variant) -> str:
    """Return requested and actual modes that differ, such as ``io: direct → read``."""
    requested = dict(variant.values)
    pairs = [
        (axis, ran) for axis, ran in state.effective.items() if requested.get(axis, ran) != ran
    ]
    return "; ".join(f"{axis}: {requested[axis]} → {ran}" for axis, ran in pairs)


def order(data: ReportData, cell: PlanCell, baseline: PlanCell | None) -> tuple[int, float]:
    """Return the sort key of a row: its ratio. Rows that were not compared are last."""
    if data.state(cell.id).state in _REFUSED:
        return 2, 0.0
    if cell.role is Role.BASELINE:
        return 0, 1.0
    comparison = data.comparison(cell.id, data.metric)
    if comparison is not None and comparison.shown is not None:
        return 0, comparison.shown.ratio
    mine = data.summary(cell.id, data.metric)
    other = data.summary(baseline.id, data.metric) if baseline else None
    if mine is not None and other is not None and other.median > 0:
        return 0, mine.median / other.median
    return 1, mine.median if mine else 0.0


def _legend(data: ReportData, item: Input, *, best: int) -> tuple[str, ...]:
    lines = [
        *(
            ["Bound: a limit or a reference that does different work; it is not compared."]
            if any(cell.role is Role.BOUND for cell in data.arms(item.id))
            else []
        ),
        *(
            [
                (
                    "Anchor: the same program in every record, for comparisons between records; it is "
                    "not compared here."
                )
            ]
            if any(cell.role is Role.ANCHOR for cell in data.arms(item.id))
            else []
        ),
        "Ratios are paired within rounds and can differ from the quotient of the two medians.",
        (
            f"{ADJUSTED_CI}: confidence interval of the ratio at the level of its test, which is "
            "adjusted for all comparisons and interim analyses; rounded outward."
        ),
    ]
    compared = [data.comparison(cell.id, data.metric) for cell in data.arms(item.id)]
    if any(map(_by_floor, compared)):
        lines.append(
            "Over all rounds: the typical ratio with an unadjusted 95 % CI. The fastest third is used "
            "where its evidence is stronger."
        )
    if smaller := _below_floor(data, item):
        lines.append(smaller)
    if best:
        lines.append("Bold: the best group; no other variant of this input is shown to be better.")
    elif data.best(item.id) is not None:
        lines.append("No row is bold: no variant of this input is shown to be better than another.")
    if data.plan.baseline_cell(item.id) is None:
        lines.append("The baseline is excluded on this input: nothing is compared.")
    return tuple(lines)


def _below_floor(data: ReportData, item: Input) -> str | None:
    """Return a line about significant differences below the noise floor, if there are any."""
    floor = data.floor(item.id, data.metric)
    if floor is None or floor.fraction is None:
        return None
    ratios = [
        c.shown.ratio
        for cell in data.arms(item.id)
        if (c := data.comparison(cell.id, data.metric)) is not None
        and c.verdict.decided
        and c.shown is not None
    ]
    count = sum(max(ratio, 1 / ratio) - 1 < floor.fraction for ratio in ratios)
    if not count:
        return None
    few = "1 smaller difference was" if count == 1 else f"{count} smaller differences were"
    intervals = "its CI excludes" if count == 1 else "their CIs exclude"
    return (
        f"Noise floor {percent_up(floor.fraction)}: the largest difference that the interval "
        f"of the A/A control leaves possible; smaller ones can remain undetected. {few} detected: {intervals} 1."
    )
