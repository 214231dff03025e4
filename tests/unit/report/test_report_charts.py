"""The charts next to the tables: they show the values of the tables and omit nothing silently."""

import math
import re
from dataclasses import replace

import pytest
from report_sample import ROUNDS, svg_texts, with_contents, with_judgement, with_plan

from bench_framework.features.document import build_document
from bench_framework.model.record.sensors import Sensors
from bench_framework.model.verdict import Verdict
from bench_framework.report import figures
from bench_framework.report.blocks import Document, Figure, Table
from bench_framework.report.charts import grid, runs
from bench_framework.report.charts.frame import nice_between
from bench_framework.report.charts.grid import grid as grid_of
from bench_framework.report.charts.order import MOST_TURNS, order_strip
from bench_framework.report.charts.runs import MOST_PANELS, is_outlier, runs_plot
from bench_framework.report.charts.sensors import sensors
from bench_framework.report.context import ReportData
from tests.build import require

NO_TABLE = Table("t", "c", (), ())


def figures_of(document: Document, chart: str) -> list[Figure]:
    return [figure for figure in document.figures() if figure.chart == chart]


def test_a_waterfall_ends_at_its_total(document: Document, drawn: dict[str, str]) -> None:
    charts = figures_of(document, "waterfall")
    assert len(charts) == 3
    for figure in charts:
        *steps, rest, total = figure.points
        assert rest.label == "interaction / unexplained"
        assert total.label == "total"
        assert math.isclose(math.prod(p.x for p in (*steps, rest)), total.x)
        assert steps[0].y == total.y == 1.0
        assert steps[1].y == steps[0].x
        assert figure.table.rows[-1].cells[0].text == "total"
        assert [p.text for p in (*steps, total)] == [
            t for t in svg_texts(drawn[figure.anchor]) if "[" in t
        ]


def test_changes_alone_are_dots_with_their_interaction(data: ReportData) -> None:
    structure = data.judgement.structure
    piled = structure.contributions[0]
    rest = replace(piled.steps[0].contrast, verdict=Verdict.INCONCLUSIVE)
    structure = replace(structure, contributions=(replace(piled, design="alone", remainder=rest),))
    document = build_document(with_judgement(data, structure=structure))
    (figure,) = figures_of(document, "waterfall")
    assert figure.title.startswith("Each change alone vs")
    assert {p.y for p in figure.points} == {1.0}  # the bars are not stacked
    interaction = next(p for p in figure.points if p.label == "interaction / unexplained")
    row = next(row for row in figure.table.rows if row.cells[1].text == "interaction / unexplained")
    assert interaction.text == f"{row.cells[3].text} {row.cells[4].text}"
    interval = require(rest.shown)
    ends = (interval.ratio, interval.lo, interval.hi)
    assert (interaction.x, interaction.x_lo, interaction.x_hi) == ends
    svg = figures.draw(figure)
    assert "fill-opacity" not in svg  # a bar would have it
    assert svg.count("<use") == len(figure.points)


def test_every_configuration_has_its_runs_in_the_table_and_twelve_have_a_panel(
    document: Document,
) -> None:
    (figure,) = figures_of(document, "runs")
    panels = list(dict.fromkeys(p.series for p in figure.points))
    # Baseline, then the best group.
    assert panels[:3] == ["rayon+system", "smol+jemalloc", "rayon+jemalloc"]
    assert len(panels) == MOST_PANELS
    assert len(figure.table.rows) == 13
    assert "The table also contains 1 more configuration." in figure.desc
    assert {p.series for p in figure.points if p.baseline} == {"rayon+system"}
    assert {len([p for p in figure.points if p.series == name]) for name in panels} == {ROUNDS}
    for row in figure.table.rows:
        values = [cell.value for cell in row.cells[2:7]]
        assert values == sorted(values)  # type: ignore[type-var]
    drawing = figures.standalone(figures.draw(figure), figure)
    assert f'height="{4 * runs.ROW + runs.BOTTOM:g}"' in drawing


def test_the_counters_have_the_axis_of_the_drift_plot_and_their_own_rows(
    document: Document, data: ReportData
) -> None:
    (figure,) = figures_of(document, "sensors")
    (drift,) = figures_of(document, "drift")
    names = list(dict.fromkeys(p.series for p in figure.points))
    assert {row.cells[0].text for row in figure.table.rows} >= set(names)
    places = [p.x for p in drift.points]
    assert min(p.x_lo for p in figure.points if p.x_lo is not None) == min(places)
    assert max(p.x_hi for p in figure.points if p.x_hi is not None) == max(places)
    waiting = next(row for row in figure.table.rows if row.cells[0].text == "CPU pressure")
    shares = sorted((b.sensors.psi_cpu_us or 0) / 1e6 / sum(b.wall_s) for b in data.measured_blocks)
    assert waiting.cells[4].value == pytest.approx(shares[-1])
    assert int(waiting.cells[1].text) == len(shares)


def test_missing_and_constant_counters_are_described_and_not_drawn(data: ReportData) -> None:
    blocks = tuple(
        replace(b, sensors=replace(b.sensors, load1=2.0, mem_available_bytes=None))
        for b in data.blocks
    )
    figure = require(sensors(with_contents(data, blocks=blocks)))
    assert "load average (1 min) (2.0)" in figure.desc
    assert re.search(r"Not available on this machine: .*available memory", figure.desc)
    assert not {p.series for p in figure.points} & {"load of one minute", "available memory"}
    assert "available memory" not in {row.cells[0].text for row in figure.table.rows}
    nothing = tuple(replace(b, sensors=Sensors()) for b in data.blocks)
    assert sensors(with_contents(data, blocks=nothing)) is None


def test_outliers_are_marked_counted_and_kept(data: ReportData) -> None:
    quiet = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5]
    assert not any(is_outlier(wall, quiet) for wall in quiet)
    outliers = [wall for wall in (99.0, 0.1, 10.2) if is_outlier(wall, [*quiet, 99.0, 0.1])]
    assert outliers == [99.0, 0.1]
    cell = require(data.plan.baseline_cell(data.plan.inputs[-1].id))
    first = next(b for b in data.measured_blocks if b.cell_id == cell.id)
    far = replace(first, wall_s=tuple(100 * wall for wall in first.wall_s))
    figure = require(
        runs_plot(with_contents(data, blocks=tuple(far if b is first else b for b in data.blocks)))
    )
    marked = [p for p in figure.points if p.baseline and p.strong]
    assert max(marked, key=lambda p: p.x).x == far.wall
    row = next(row for row in figure.table.rows if row.baseline)
    assert row.cells[-1].value == len(marked)
    assert int(row.cells[1].text) == ROUNDS  # nothing is omitted
    assert row.cells[6].value == far.wall


def test_the_execution_order_has_the_control_and_every_position(document: Document) -> None:
    (figure,) = figures_of(document, "order")
    names = {p.series for p in figure.points}
    assert len(names) == 14
    assert "control" in names
    assert len({p.x for p in figure.points}) == len(figure.points) == MOST_TURNS
    assert f"The first {MOST_TURNS} of {14 * ROUNDS} samples" in figure.desc
    places = [row.cells[2].value for row in figure.table.rows]
    # Each round contains the positions 1 to 14 once, so that their mean over all is 7.5.
    assert math.isclose(sum(p for p in places if isinstance(p, float)) / len(places), 7.5)
    assert "about 7.5" in figure.table.caption
    assert {row.cells[1].text for row in figure.table.rows} == {str(ROUNDS)}


def test_a_map_has_the_figures_of_the_table(document: Document, drawn: dict[str, str]) -> None:
    charts = figures_of(document, "grid")
    assert len(charts) == 3
    figure = charts[-1]
    fields = {(p.label, p.series): p for p in figure.points if not p.strong}
    assert len(fields) == 4 * 3
    assert fields["rayon", "system"].text == "baseline"
    assert fields["tokio", "mimalloc"].text == "✕"
    assert fields["smol", "mimalloc"].text == "≠"
    table = {row.cells[0].text: row.cells[2].text for row in figure.table.rows}
    for (runtime, allocator), point in fields.items():
        expected = point.text.split(" ")[0]
        if expected[0].isdigit():
            assert expected == table[f"{runtime}+{allocator}"].strip()
    assert {p.text for p in figure.points} <= set(svg_texts(drawn[figure.anchor]))
    assert "hatched is inconclusive" in figure.desc


def test_the_edges_of_a_map_have_the_figures_of_the_table_of_effects(
    document: Document, data: ReportData
) -> None:
    figure = figures_of(document, "grid")[0]
    edges = {p.label if p.series == "mean" else p.series: p.text for p in figure.points if p.strong}
    effects = next(b for b in document.section("S14").blocks if isinstance(b, Table))  # type: ignore[union-attr]
    levels = {row.cells[1].text: row for row in effects.rows}
    assert len(levels) >= 2
    for level, row in levels.items():
        pooled = row.cells[3].text != "—"
        expected = f"{row.cells[3].text} {row.cells[5].text[0]}" if pooled else "changes sign"
        assert edges[level] == expected
    assert edges["rayon"] == edges["system"] == "baseline"
    assert "geometric mean over the other axes" in figure.desc

    turning = tuple(replace(e, pooled=False) for e in data.judgement.structure.effects)
    structure = replace(data.judgement.structure, effects=turning)
    changed = build_document(with_judgement(data, structure=structure))
    means = [p.text for p in figures_of(changed, "grid")[0].points if p.strong]
    assert set(means) <= {"changes sign", "baseline", "—"}
    assert "changes sign" in means


def test_a_map_states_which_ratios_are_better(data: ReportData) -> None:
    comparisons = tuple(replace(c, direction="higher") for c in data.judgement.comparisons)
    higher = replace(data, judgement=replace(data.judgement, comparisons=comparisons))
    figures = [require(grid_of(d, data.plan.inputs[0], NO_TABLE)) for d in (data, higher)]
    assert [figure.label("x").split()[1] for figure in figures] == ["below", "above"]


def test_axes_that_are_not_crossed_make_no_map_and_an_experiment_can_fill_it(
    data: ReportData,
) -> None:
    item, table = data.plan.inputs[0], NO_TABLE
    labels = {"rayon+system", "smol+system", "rayon+jemalloc"}
    corner = [v for v in data.plan.variants if v.label in labels]
    star = with_plan(data, variants=tuple(corner))
    assert grid_of(star, item, table) is None
    fourth = next(v for v in data.plan.variants if v.label == "smol+jemalloc")
    experiment = replace(fourth, experiment="both")
    full = with_plan(data, variants=(*corner, experiment))
    figure = require(grid_of(full, item, table))
    assert len([p for p in figure.points if not p.strong]) == 4


@pytest.mark.parametrize(
    ("ratio", "shade"),
    [(None, 0.0), (1.0, 0.0), (0.97, 0.1), (0.5, 0.8), (2.0, 0.8), (9.0, 0.8), (math.inf, 0.0)],
)
def test_shades_are_symmetric_and_limited(ratio: float | None, shade: float) -> None:
    assert grid._shade(ratio) == shade


def test_one_axis_makes_no_map(data: ReportData) -> None:
    axes = tuple(a for a in data.plan.axes if a.name != "allocator")
    document = build_document(with_plan(data, axes=axes))
    assert figures_of(document, "grid") == []


def test_too_few_blocks_make_no_plot_of_runs(data: ReportData) -> None:
    few = with_contents(data, blocks=tuple(b for b in data.blocks if b.round <= 3))
    assert runs_plot(few) is None
    assert order_strip(few) is None


@pytest.mark.parametrize("most", [0.07, 1.0, 3.2, 9.9, 10.0, 812.0, 1973.0])
def test_ticks_from_zero_are_few_and_round(most: float) -> None:
    ticks = nice_between(0.0, most, 6)
    assert ticks[0] == 0
    assert 3 <= len(ticks) <= 7
    assert ticks[-1] <= most < ticks[-1] + ticks[1]
    assert re.fullmatch(r"[125](\.0*)?e[+-]\d+", f"{ticks[1]:.1e}")
