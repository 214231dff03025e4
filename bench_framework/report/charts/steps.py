"""Waterfall of the steps of a ladder, in the unit of the metric, with the reference as the last bar."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from bench_framework.model.plan.plan import Cell as PlanCell, Input
from bench_framework.model.reasons import ReasonCode
from bench_framework.model.result.structure import Contribution, Step
from bench_framework.model.verdict import Interval
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table
from bench_framework.report.charts import OTHER, Axes, Palette, amounts, frame, rows, token
from bench_framework.report.charts.amounts import Unit
from bench_framework.report.claim_blocks import recommended
from bench_framework.report.context import ReportData
from bench_framework.report.main_table import value_by_ratio
from bench_framework.report.table_cells import CI, titled
from bench_framework.text.names import LONGEST_LABEL, capital, listed
from bench_framework.text.numbers import signed_percent, significant
from bench_framework.text.words import noun

FROM_ZERO: Final = 0.45
"""The axis begins at zero if the smallest value is at most this share of the largest one."""
ROOM: Final = 0.35
"""Room of an axis that does not begin at zero, below the smallest value, as a share of the range."""
REFERENCE: Final = "reference"
"""Series of a bar that is no step."""
STEP: Final = "step"


def steps(data: ReportData, item: Input) -> Figure | None:
    """Return the waterfall of an input, or `None` if its ladder has no figures.

    The values are those of the table of results; the changes are those of the steps.
    """
    ladders = (t for t in data.judgement.structure.contributions if t.design == "ladder")
    ladder = next((t for t in ladders if t.input_id == item.id and t.steps), None)
    start = data.summary(ladder.start_cell_id, data.metric) if ladder else None
    if ladder is None or start is None or start.median <= 0:
        return None
    intervals = [data.of_values(step.contrast.shown) for step in ladder.steps]
    if any(i is None for i in intervals):
        return None
    unit = Unit.for_metric(data, start.median)
    label, now = data.label(ladder.start_cell_id), start.median
    base = Point(label, now, text=unit.text(now), strong=True, baseline=True)
    points, changes = [base], [("", "")]
    for step, interval in zip(ladder.steps, intervals, strict=True):
        assert interval is not None
        point = _step(data, step, interval, now, unit)
        points.append(point)
        changes.append((signed_percent(interval.ratio), _bounds(interval)))
        now = point.x
    for cell in _references(data, ladder):
        points.append(_reference(data, ladder, cell, now, unit))
        changes.append(("", ""))
    less = [p.x for p in points] + [p.x_lo for p in points if p.x_lo is not None]
    table = _table(data, points, changes, unit)
    scaled = tuple(_scaled(point, unit.factor) for point in points)
    name = f"Median {noun(data.metric)}{data.on_input(item, ' on ')}"
    desc = amounts.caption(data, name, f"lines: {CI}s of the steps")
    axis = axis_begin(min(less), max(p.x for p in points)) * unit.factor
    return Figure(
        "answer-figure",
        "steps",
        "Each change on top of the one before",
        desc,
        scaled,
        table,
        (("unit", unit.name),),
        (("baseline", start.median * unit.factor), ("from", axis)),
    )


def _step(data: ReportData, step: Step, i: Interval, before: float, unit: Unit) -> Point:
    """Return the bar from the end of the step before to that of this step.

    It ends at the value of the table of results, which compares with the baseline. The interval is
    that of the ratio to the step before.
    """
    cell = data.plan.cell(step.cell_id) if step.cell_id else None
    now = (cell and value_by_ratio(data, cell)) or before * i.ratio
    verdict = step.contrast.verdict
    # A variant that the answer names is a bar with another name here.
    answered = {i for c in data.claims("answer") for i in c.cells}
    label = _short(data, step.cell_id) if step.cell_id in answered else ""
    parts = [unit.text(now), label, _unstable(data, step)]
    return Point(
        f"+ {_name(data, step)}",
        now,
        before,
        now * i.lo / i.ratio,
        now * i.hi / i.ratio,
        verdict=verdict,
        lead=amounts.lead(data, i.ratio, verdict),
        text=" · ".join(filter(None, parts)),
        series=STEP,
    )


def _short(data: ReportData, cell_id: str | None) -> str:
    """Return the label of a configuration if it has room next to a bar, else nothing."""
    label = data.label(cell_id) if cell_id else ""
    return label if len(label) <= LONGEST_LABEL else ""


def _name(data: ReportData, step: Step) -> str:
    """Return the names of the changes: of an experiment with this change, or of the level."""
    names = {e.change[0]: e.name for e in data.plan.experiments if len(e.change) == 1}
    labels = data.plan.value_labels
    keys = [(c.axis, c.after) for c in step.changes]
    return listed([names.get(key) or labels.get(key) or key[1] for key in keys])


def _unstable(data: ReportData, step: Step) -> str:
    """Return both changes of a step whose ratio changed during the record; else nothing."""
    pair = data.pairs.get((step.cell_id or "", step.ref_cell_id or ""))
    if pair is not None and pair.phases is not None:
        phases = pair.phases.inverse if data.higher else pair.phases
        first, rest = (signed_percent(i.ratio) for i in (phases.first, phases.rest))
        return f"unstable: {first}, then {rest}"
    reason = step.contrast.reason
    return "unstable" if reason is not None and reason.code is ReasonCode.UNSTABLE else ""


def _references(data: ReportData, ladder: Contribution) -> Iterator[PlanCell]:
    """Yield the further baselines, the references of contrasts with the last step, and the variant to use."""
    rungs = {ladder.start_cell_id, *(step.cell_id for step in ladder.steps)}
    last = data.plan.cell(ladder.end_cell_id or ladder.start_cell_id).variant_id
    others = [c.reference_id for c in data.plan.contrasts if c.variant_id == last]
    best = data.best(ladder.input_id) if recommended(data) else None
    # Of several best variants, the recommendation depends on more than the time that the figure shows.
    use = [data.plan.cell(i).variant_id for i in best.cell_ids] if best else []
    references = (*data.plan.further_baselines, *others, *(use if len(use) == 1 else ()))
    measured = {c.variant_id: c for c in data.measured(ladder.input_id)}
    for variant_id in dict.fromkeys(references):
        cell = measured.get(variant_id)
        if cell is not None and cell.id not in rungs and data.summary(cell.id, data.metric):
            yield cell


def _reference(
    data: ReportData, ladder: Contribution, cell: PlanCell, last: float, unit: Unit
) -> Point:
    """Return the bar of a reference, and the ratio of the last step to it."""
    beyond = {(s.cell_id, s.ref_cell_id): s.contrast for s in ladder.beyond}
    key = (cell.id, ladder.end_cell_id or "")
    judged = beyond.get(key) or data.pairs.get(key)
    summary = data.summary(cell.id, data.metric)
    assert summary is not None
    i = data.of_values(judged.shown) if judged is not None else None
    label, now = data.label(cell.id), value_by_ratio(data, cell) or summary.median
    if judged is None or i is None:
        return Point(label, now, text=unit.text(now), strong=True, series=REFERENCE)
    now = value_by_ratio(data, cell) or last * i.ratio
    final = _short(data, ladder.end_cell_id) or "the last step"
    text = f"{unit.text(now)} · {final} vs this: {amounts.amount(data, 1 / i.ratio)}"
    bounds = (now * i.lo / i.ratio, now * i.hi / i.ratio)
    return Point(
        label,
        now,
        0.0,
        *bounds,
        verdict=judged.verdict,
        text=text,
        strong=True,
        series=REFERENCE,
    )


def _scaled(point: Point, factor: float) -> Point:
    x_lo, x_hi = (end and end * factor for end in (point.x_lo, point.x_hi))
    return replace(point, x=point.x * factor, y=point.y * factor, x_lo=x_lo, x_hi=x_hi)


def axis_begin(least: float, most: float) -> float:
    """Return where the axis begins: at zero, unless the differences would then be too small."""
    if least <= FROM_ZERO * most:
        return 0.0
    return max(0.0, least - ROOM * (most - least))


def _bounds(interval: Interval) -> str:
    lo, hi = signed_percent(interval.lo), signed_percent(interval.hi)
    return f"[{lo}, {hi}]"


def _table(
    data: ReportData, points: list[Point], changes: list[tuple[str, str]], unit: Unit
) -> Table:
    rows_ = tuple(
        Row.build(
            point.label,
            Cell(significant(point.x * unit.factor, 3), point.x),
            change,
            bounds,
            Cell(
                amounts.mark(point.verdict, higher=data.higher) if change else "",
                verdict=point.verdict,
            ),
            baseline=point.baseline,
        )
        for point, (change, bounds) in zip(points, changes, strict=True)
    )
    columns = (
        Column("Step"),
        Column(titled(f"{capital(noun(data.metric))} after it", unit.name), "decimal"),
        Column("Change", "decimal"),
        Column(CI),
        Column("Direction"),
    )
    caption = "Data of the figure: each step against the one before"
    return Table("answer-figure-data", caption, columns, rows_, sortable=False)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw a bar from the end of the step before (`y`) to the end of the step (`x`).

    Baseline and references begin at the axis. If it does not begin at zero, these bars have a gap.
    """
    low = figure.mark("from") or 0.0
    most = max(max(p.x, p.y, p.x_hi or p.x) for p in figure.points)
    span = (most - low) * 1.02 or 1.0
    laid = rows.after_marks(figure, lambda p: (max(p.x, p.y, p.x_hi or p.x) - low) / span)
    at = frame.linear_scale(low, low + span, (laid.left, laid.right))
    unit = Unit(figure.label("unit"), 1.0)
    ticks = frame.nice_between(low, most, 4 if figure.narrow else 7)
    rows.draw_axis(ax, laid, at, [(tick, unit.tick(tick)) for tick in ticks], colours)
    base = figure.mark("baseline") or 0.0
    dotted = rows.upright(laid, at(base))
    frame.strokes(ax, dotted, colours["muted"], linestyle=(0, (2, 2)), zorder=1)
    before = None
    for place in laid.places:
        point = place.point
        step = point.series == STEP
        colour = token(point.verdict)
        begin = at(point.y) if step else laid.left
        faint = not step and colour == OTHER
        rows.draw_bar(ax, (begin, at(point.x)), place.y, colours[colour], colours, faint=faint)
        if not step and low > 0:
            cut = [(begin + 7, place.y - rows.BAR - 1), (begin + 12, place.y + rows.BAR + 1)]
            frame.strokes(ax, [cut], colours["ground"], 3.0, zorder=3)
        if before is not None and step and not figure.narrow:
            link = [(begin, before - rows.BAR), (begin, place.y + rows.BAR)]
            frame.strokes(ax, [link], colours["muted"], zorder=1)
        frame.interval(ax, point.x_lo, point.x_hi, at, place.y, colours["ink"])
        before = place.y
    rows.draw_texts(ax, laid, colours)
