"""The charts: well-formed, self-contained, in the colours of the page, with visible cuts."""

import re
from dataclasses import replace
from html import escape
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure as Canvas
from report_sample import HOSTILE, SVG, svg_texts

from bench_framework.model.verdict import Verdict
from bench_framework.report import figures
from bench_framework.report.blocks import Document, Figure, Point, Table
from bench_framework.report.charts import DARK, LIGHT, SENTINELS, drift, forest, frame, memory_time
from bench_framework.report.charts.frame import nice_sizes, nice_steps, shorts, spread
from bench_framework.report.context import ReportData
from bench_framework.report.render import widths
from bench_framework.report.render.templates import Templates
from bench_framework.report.render.widths import cut_distinct, cut_middle
from bench_framework.report.svg import _straight

NO_TABLE = Table("t", "c", (), ())
ANSWERS = {"steps", "shares", "sweep", "dumbbell", "sizes"}
"""Charts of the first screen that other records have (test_answer_figure.py)."""


def contrast(one: str, two: str) -> float:
    """Return the contrast ratio of WCAG 2: (L1 + 0.05) ÷ (L2 + 0.05) over relative luminances."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def chart(kind: str, points: tuple[Point, ...]) -> Figure:
    marks = (("margin", 0.02),)
    return Figure("f", kind, "title", "desc", points, NO_TABLE, (("x", "x"), ("y", "y")), marks)


def test_every_drawing_is_one_svg_with_title_and_description(
    document: Document, drawn: dict[str, str]
) -> None:
    assert set(drawn) == {f.anchor for f in document.figures()}
    for figure in document.figures():
        root = ET.fromstring(drawn[figure.anchor])
        assert root.get("role") == "img"
        assert root.find(f"{SVG}title").text == figure.title  # type: ignore[union-attr]
        assert root.find(f"{SVG}desc").text == figure.desc  # type: ignore[union-attr]
        assert root.get("viewBox", "").split()[2] == "720"


def test_all_colours_are_variables_of_the_page(drawn: dict[str, str]) -> None:
    for svg in drawn.values():
        assert not any(sentinel in svg for sentinel in SENTINELS.values())
        used = set(re.findall(r"var\(--([a-z0-9-]+)\)", svg))
        assert used
        assert used <= set(LIGHT)
        assert set(re.findall(r"#[0-9a-f]{6}\b", svg)) <= {"#000000"}


def printed_sizes(element: ET.Element, size: float = 0.0) -> list[float]:
    """Yield the font size of every text, from its element or its group."""
    style = re.search(r"font-size: ?([\d.]+)px", element.get("style", ""))
    size = float(style[1]) if style else size
    return [size] * (element.tag == f"{SVG}text") + [
        s for e in element for s in printed_sizes(e, size)
    ]


def test_nothing_is_printed_smaller_than_11_units(drawn: dict[str, str]) -> None:
    sizes = [size for svg in drawn.values() for size in printed_sizes(ET.fromstring(svg))]
    assert len(sizes) > 100
    assert min(sizes) >= 11


def test_no_marker_has_a_clip_path(drawn: dict[str, str]) -> None:
    # A clip path on the marker would move with it and cut it off.
    uses = [use for svg in drawn.values() for use in re.findall(r"<use[^>]*>", svg)]
    assert len(uses) > 50
    assert not [use for use in uses if "clip-path" in use]


def test_names_are_text_and_not_markup(drawn: dict[str, str]) -> None:
    svg = drawn["answer-figure"]
    assert "<script" not in svg
    labels = svg_texts(svg)
    assert "sequential+system" in labels
    hostile = chart("forest", (Point(HOSTILE, 0.9, x_lo=0.88, x_hi=0.92),))
    printed = "".join(svg_texts(figures.inline(figures.draw(hostile), hostile)))
    assert widths.visible(HOSTILE).replace(" ", "") in printed.replace(" ", "")


def test_the_forest_prints_the_text_of_every_point(
    document: Document, drawn: dict[str, str]
) -> None:
    forests = [figure for figure in document.figures() if figure.chart == "forest"]
    assert all(figure.points for figure in forests)
    assert forests
    for figure in forests:
        labels = svg_texts(drawn[figure.anchor])
        for point in figure.points:
            assert {point.lead, point.text} - {""} <= set(labels)
            assert widths.visible(point.label).replace(" ", "") in "".join(labels).replace(" ", "")


def test_files_are_light_and_self_contained(document: Document, drawings: dict[str, str]) -> None:
    assert list(drawings) == [figure.anchor for figure in document.figures()]
    for figure in document.figures():
        svg = figures.standalone(drawings[figure.anchor], figure)
        assert "var(" not in svg
        assert '<rect width="100%" height="100%" rx="6" fill="#ffffff"/>' in svg
        ET.fromstring(svg)


def places(path: str) -> list[tuple[float, float]]:
    """Return the points of a path of moves and lines."""
    points: list[tuple[float, float]] = []
    for command, values in re.findall(r"([A-Zz])([^A-Za-z]*)", path):
        numbers = [float(value) for value in values.split()]
        match command:
            case "H":
                points.append((numbers[0], points[-1][1]))
            case "V":
                points.append((points[-1][0], numbers[0]))
            case "M" | "L":
                points.append((numbers[0], numbers[1]))
    return points


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("M1 2L1 5L4 5L4 7.5", "M1 2V5H4V7.5"),
        ("M1 2L3 4L3 4", "M1 2L3 4V4"),
        ("M1 2L1 5zM1 5L9 5", "M1 2V5zM1 5H9"),
        ("M1 2C3 4 5 6 7 8L7 9", "M1 2C3 4 5 6 7 8L7 9"),
        ("M1 2h0M3 2L3 2", "M1 2h0M3 2V2"),
        ("M1e-05 2L1e-05 5", "M1e-05 2L1e-05 5"),
    ],
)
def test_a_shortened_path_has_the_same_points(path: str, short: str) -> None:
    assert _straight(path) == short
    if "C" not in path and "e" not in path:
        assert places(short) == places(path)


def test_a_notebook_gets_axes(document: Document) -> None:
    for figure in document.figures():
        axes = Canvas().add_subplot()
        assert figures.PLOTS[figure.chart](figure, axes) is axes
        assert axes.get_children()


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_and_marks_have_the_contrast_they_need(palette: dict[str, str]) -> None:
    for token in ("ink", "muted", "accent", "alert"):
        assert contrast(palette[token], palette["ground"]) >= 4.5
    for token in (t for t in palette if t.startswith("series-")):
        assert contrast(palette[token], palette["ground"]) >= 4.5


def test_light_and_dark_define_the_same_tokens() -> None:
    assert set(LIGHT) == set(DARK)
    style = Templates().text("report.css")
    for palette in (LIGHT, DARK):
        for token, colour in palette.items():
            assert f"--{token}: {colour}" in style


def test_names_in_any_script_are_drawn_without_a_warning() -> None:
    svg = figures.draw(chart("forest", (Point("漢字 🦀 $x$", 0.9, x_lo=0.88, x_hi=0.92),)))
    assert "漢字 🦀 $x$" in svg


def test_the_forest_shows_every_estimate_and_cuts_only_intervals() -> None:
    wide = Point("w", 1.1, x_lo=0.2, x_hi=9.0)
    lo, hi = forest.limits(chart("forest", (Point("a", 0.9, x_lo=0.88, x_hi=0.92), wide)))
    assert lo < 0.88
    assert hi > 1.1
    assert lo > 0.2
    assert hi < 9.0


def test_the_forest_shows_intervals_in_full_that_are_not_much_wider_than_the_estimates_differ() -> (
    None
):
    points = (Point("a", 0.77, x_lo=0.63, x_hi=1.04), Point("b", 0.91, x_lo=0.63, x_hi=1.18))
    lo, hi = forest.limits(chart("forest", points))
    assert lo < 0.63
    assert hi > 1.18
    lo, hi = forest.limits(chart("forest", (Point("near", 1.0, x_lo=0.8, x_hi=1.25),)))
    assert lo < 0.8
    assert hi > 1.25


def test_ticks_do_not_overlap_and_contain_1() -> None:
    ticks = forest.kept_factors(0.1, 2.2, frame.log_scale(0.1, 2.2, (0.0, 300.0)))
    assert 1.0 in ticks
    assert ticks == sorted(ticks)
    assert len(ticks) >= 4


def test_the_front_contains_the_points_that_no_other_dominates() -> None:
    fast, small, both = Point("fast", 1.0, 9.0), Point("small", 9.0, 1.0), Point("bad", 9.5, 9.5)
    assert memory_time.front((fast, small, both)) == [fast, small]


def test_a_point_is_dominated_only_if_both_intervals_do_not_overlap() -> None:
    good = Point("good", 1.0, 1.0, 0.9, 1.1, 0.9, 1.1)
    worse_in_both = Point("a", 2.0, 2.0, 1.8, 2.2, 1.8, 2.2)
    worse_in_one = Point("b", 2.0, 1.05, 1.8, 2.2, 0.95, 1.2)
    assert memory_time.dominated(worse_in_both, (good, worse_in_both))
    assert not memory_time.dominated(worse_in_one, (good, worse_in_one))


def test_rings_come_from_the_whole_record_however_many_blocks_are_flagged() -> None:
    points = tuple(Point("", float(i), 1.0, strong=i % 10 != 0) for i in range(3000))
    rings = drift.ringed(points)
    assert 100 < len(rings) <= drift.MOST_RINGS
    # The last tenth of the record has as many as the first, so that its end does not seem quiet.
    first, last = (sum(lo <= p.x < lo + 300 for p in rings) for lo in (0, 2700))
    assert abs(first - last) <= 1
    assert all(p.strong for p in rings)
    assert drift.ringed(points[:300]) == [p for p in points[:300] if p.strong]


def test_memory_against_time_shows_intervals_in_full_or_with_an_arrow() -> None:
    near = Point("near", 1.0, 1e6, 0.9, 1.4, 0.99e6, 1.01e6)
    lo, hi = memory_time.limits([1.0], [(0.9, 1.4)])
    assert lo < 0.9
    assert hi > 1.4
    wide = Point("wide", 1.0, 1e6, 0.01, 90.0, 0.99e6, 1.01e6)
    lo, hi = memory_time.limits([1.0], [(0.01, 90.0)])
    assert (lo, hi) == (1 / memory_time.REACH, memory_time.REACH)
    arrows = {  # each marker is one use of a definition
        name: figures.draw(chart("memory-time", (point,))).count("<use")
        for name, point in (("near", near), ("wide", wide))
    }
    assert arrows["wide"] == arrows["near"] + 2


def test_names_that_differ_are_cut_to_different_names() -> None:
    names = [
        f"tokio-{engine} + {parser}-json + {allocator}"
        for engine in ("worker-pool", "task-per-file")
        for parser in ("simd", "serde")
        for allocator in ("mimalloc", "jemalloc", "system")
    ]
    plain = {cut_middle(name, 30) for name in names}
    assert len(plain) < len(names)  # these names differ in the middle
    cut = cut_distinct(names, 30)
    assert list(cut) == names
    assert len(set(cut.values())) == len(names)
    assert all(len(short) == 30 for name, short in cut.items() if len(name) > 30)
    assert cut_distinct(["a", "b"], 30) == {"a": "a", "b": "b"}
    hopeless = ["x" * 20 + "1" + "y" * 20, "x" * 20 + "2" + "y" * 20]
    assert set(cut_distinct(hopeless, 8).values()) == {"xxxx…yyy"}


def test_charts_cut_names_at_the_end_if_they_remain_different() -> None:
    assert shorts(["tokio-worker-pool", "rayon"], 8) == {
        "tokio-worker-pool": "tokio-w…",
        "rayon": "rayon",
    }
    cut = shorts(["tokio-worker-pool", "tokio-worker-task"], 8)
    assert len(set(cut.values())) == 2


def test_drift_has_a_line_for_the_baseline_its_copy_and_the_others(
    document: Document, drawn: dict[str, str]
) -> None:
    (figure,) = (f for f in document.figures() if f.chart == "drift")
    series = figure.by_series()
    assert set(series) == {"baseline", "its A/A copy", "all others"}
    assert len(series["baseline"]) == len(series["its A/A copy"])
    labels = svg_texts(drawn[figure.anchor])
    assert set(series) <= set(labels)
    shifted = tuple(replace(p, y=p.y + 20 * (p.series == "baseline")) for p in figure.points)
    base = tuple(p for p in shifted if p.series == "baseline")
    assert min(drift.rolling_median(base)[1]) > 15  # the others do not hide its step


def test_lines_over_sizes_have_the_colour_of_the_largest_size(
    document: Document, data: ReportData
) -> None:
    (figure,) = (f for f in document.figures() if f.chart == "scaling")
    largest = {data.label(c.id): c for c in data.arms(data.plan.inputs[-1].id)}
    for name, points in figure.by_series().items():
        comparison = data.comparison(largest[name].id, "wall")
        verdict = comparison.verdict if comparison else None
        assert {p.verdict for p in points} == {verdict}
    assert {p.verdict for p in figure.points} >= {None, Verdict.BETTER}


def test_only_the_front_and_the_baseline_have_a_name_in_the_plot_of_memory() -> None:
    points = (
        Point("front", 1.0, 4e6),
        Point("beaten", 2.0, 9e6),
        Point("base", 3.0, 8e6, baseline=True),
        Point("small", 1.6, 2e6),
    )
    svg = figures.draw(chart("memory-time", points))
    texts = set(svg_texts(svg))
    assert {"front", "small", "base"} <= texts
    assert "beaten" not in texts


def test_the_cost_of_cutting_does_not_grow_with_the_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """A symbol of a measured program can have any length."""
    measured: list[int] = []

    def cell_len(text: str) -> int:
        measured.append(len(text))
        return len(text)

    monkeypatch.setattr(widths, "cell_len", cell_len)
    assert cut_middle("a" * 5000 + "z" * 5000, 11) == "aaaaa…zzzzz"
    assert sum(measured) < 2 * 10_000


def test_the_rolling_median_ignores_single_spikes() -> None:
    points = tuple(Point("", float(i), 50.0 if i == 30 else 0.0) for i in range(100))
    _, ys = drift.rolling_median(points)
    assert set(ys) == {0.0}


def test_labels_do_not_overlap_and_stay_in_order() -> None:
    places = spread([10.0, 11.0, 12.0, 90.0], 15.0, 0.0, 100.0)
    assert places == sorted(places)
    assert all(b - a >= 15.0 for a, b in pairwise(places))


@pytest.mark.parametrize(("lo", "hi"), [(1e-3, 1.0), (0.0101, 0.0149), (0.5, 400.0)])
def test_time_ticks_are_few_and_within_range(lo: float, hi: float) -> None:
    ticks = nice_steps(lo, hi, 8)
    assert 1 <= len(ticks) <= 8
    assert all(lo * 0.99 <= t <= hi * 1.01 for t in ticks)


def test_sizes_in_megabytes_have_round_ticks() -> None:
    ticks = nice_sizes(15e6, 260e6, 7, "si")
    assert 3 <= len(ticks) <= 7
    assert all(float(f"{tick:.1g}") == pytest.approx(tick) for tick in ticks)


def test_size_ticks_are_few_and_within_range() -> None:
    ticks = nice_sizes(11 * 2**20, 26 * 2**20, 7)
    assert 2 <= len(ticks) <= 7
    assert all(11 * 2**20 * 0.99 <= t <= 26 * 2**20 * 1.01 for t in ticks)


def test_charts_for_phones_have_a_second_drawing_of_half_the_width(
    document: Document, drawings: dict[str, str]
) -> None:
    charts = set()
    for figure in document.figures():
        text = figures.responsive(drawings[figure.anchor], figure)
        if figure.chart not in figures.NARROW:
            assert text.count("<svg ") == 1
            continue
        charts.add(figure.chart)
        wide, narrow = re.findall(r'<svg class="(\w+)"[^>]*viewBox="0 0 (\d+)', text)
        assert (wide, narrow) == (("wide", "720"), ("narrow", "360"))
        ids = re.findall(r'\bid="([^"]+)"', text)
        assert len(ids) == len(set(ids))
        for point in figure.points if figure.chart == "forest" else ():
            assert text.count(escape(point.text, quote=False)) >= 2
    assert charts | ANSWERS == figures.NARROW


def test_rates_of_more_than_one_decade_are_dots_on_a_logarithmic_axis() -> None:
    figure = chart("bars", (Point("slow", 50.0, text="50"), Point("fast", 30_000.0, text="30000")))
    near = replace(figure, points=(Point("slow", 50.0), Point("fast", 90.0)))
    ticks = [
        {t.get_text() for t in figures.PLOTS["bars"](f, Canvas().add_subplot()).texts}
        for f in (figure, near)
    ]
    assert {"100\u202fx", "1000\u202fx", "10000\u202fx"} <= ticks[0]
    assert "0\u202fx" not in ticks[0]
    assert "0\u202fx" in ticks[1]
    drawings = [figures.draw(f) for f in (figure, near)]
    assert ["fill-opacity" in svg for svg in drawings] == [False, False]  # derived: no filled bar
    assert [svg.count("<use") for svg in drawings] == [2, 0]
