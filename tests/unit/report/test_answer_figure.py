"""The figure of the first screen: its kind follows the design, and nothing in it is cut or covered."""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from xml.etree import ElementTree as ET

import figure_records as records
import pytest
from report_sample import SVG, with_judgement, with_plan

from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.plan.declarations import NamedContrast
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.report import figures
from bench_framework.report.blocks import Figure, Point
from bench_framework.report.charts import LESS, MORE, OTHER, amounts, frame, rows, steps, token
from bench_framework.report.charts.sweep import number_of, sweep_of
from bench_framework.report.claim_blocks import recommended
from bench_framework.report.context import ReportData
from bench_framework.report.sections import headline, summary
from bench_framework.report.sections.figure import answer_figure, result_input
from tests.build import require

PIXELS = 860 / frame.WIDTH
"""Pixels per unit on a wide screen (`max-width` of a chart in report.css)."""
LONG = "A long name of a variant with many words, and-with-one-word-that-has-no-spaces-at-all"
CHANGES = {5: 1.12, 50: 1.0, 9: 0.88, 30: 1.03, 17: 1.3, 80: 0.99}
RECORDS: dict[str, tuple[str, Callable[[], ReportData]]] = {
    "ladder": ("steps", records.ladder),
    "unstable ladder": ("steps", lambda: records.ladder("jemalloc")),
    "ladder without reference": ("steps", lambda: records.ladder(reference=False)),
    "limit": ("shares", records.limit),
    "sweep": ("sweep", records.sweep),
    "sweep of few numbers": ("sweep", lambda: records.sweep(("1", "2", "3", "4"))),
    "revisions": ("dumbbell", lambda: records.revisions(CHANGES)),
    "sizes": ("sizes", lambda: records.sizes(("Stream", LONG, "Parallel MMAP", "tally"))),
    "many variants": ("forest", records.many),
}
THREE = {"b": 1.2, "c": 0.8}


def figure_of(data: ReportData) -> Figure:
    return require(answer_figure(data))


@pytest.fixture(scope="module")
def all_figures() -> dict[str, Figure]:
    return {name: figure_of(make()) for name, (_, make) in RECORDS.items()}


def test_the_design_of_the_scenario_chooses_the_kind(all_figures: dict[str, Figure]) -> None:
    chosen = {name: figure.chart for name, figure in all_figures.items()}
    assert chosen == {name: kind for name, (kind, _) in RECORDS.items()}


def test_the_variants_of_the_takeaways_are_in_the_figure() -> None:
    data = records.many()
    known, drawn = {v.label for v in data.plan.variants}, figure_of(data).points
    missing = min(known - {p.label for p in drawn})
    cell = next(c for c in data.plan.cells if data.plan.variant(c.variant_id).label == missing)
    fact = facts.AuthorText(kind="takeaway", parts=("As measured.",))
    claim = Claim("As measured.", cells=(cell.id,), fact=fact)
    figure = figure_of(with_judgement(data, claims=(*data.judgement.claims, claim)))
    assert missing in {p.label for p in figure.points}
    assert len(figure.points) == len(drawn)


def test_what_does_not_suffice_for_a_kind_has_intervals() -> None:
    three = records.of_study(records.Study(arms=("a", "b", "c"), rounds=24), THREE)
    assert figure_of(three).chart == "forest"
    assert figure_of(records.sweep(("1", "2", "many", "4", "5"))).chart == "forest"
    assert figure_of(records.sweep(("1", "2", "4"))).chart == "forest"
    two = records.of_study(records.Study(arms=("a", "b", "c"), sizes=(1, 2), rounds=24), THREE)
    assert figure_of(two).chart == "forest"
    assert figure_of(records.sizes([f"v{n}" for n in range(9)])).chart == "forest"
    sizes = records.sizes()
    for size in (10, 50, 200):  # the program failed on the two others
        (item,) = (item.id for item in sizes.plan.inputs if item.name == f"{size}MiB")
        cells = {c.id for c in sizes.plan.cells_of(item)}
        summaries = tuple(s for s in sizes.judgement.summaries if s.cell_id in cells)
        assert figure_of(with_judgement(sizes, summaries=summaries)).chart == "forest"
    # A change of 10 % cannot be seen on an axis of three decades.
    assert figure_of(records.revisions({1: 1.1, 1000: 1.1})).chart == "forest"


def test_the_page_has_the_figure_in_its_answer() -> None:
    data = records.ladder()
    assert answer_figure(data) in summary.build(data)


@pytest.mark.parametrize("name", RECORDS)
def test_every_figure_has_its_data_in_a_table(name: str, all_figures: dict[str, Figure]) -> None:
    figure = all_figures[name]
    heads = {row.cells[0].text for row in figure.table.rows}
    series = {p.series if figure.chart == "sizes" else p.label for p in figure.points}
    assert heads == series
    assert not figure.with_table
    assert figure.desc.endswith(".")


class TestSteps:
    def test_each_bar_begins_where_the_previous_one_ends(
        self, all_figures: dict[str, Figure]
    ) -> None:
        base, *steps, reference = all_figures["ladder"].points
        assert base.baseline
        assert base.label == "default simd-json system tokio-task-per-file"
        assert base.text == f"{base.x:.0f}\u202fms"
        ends = [base.x, *(p.x for p in steps)]
        assert [p.y for p in steps] == ends[:-1]
        ratios = [p.x / p.y for p in steps]
        assert ratios == pytest.approx([0.9, 1.2, 0.8, 1.0], rel=0.01)
        better, worse, equal = Verdict.BETTER, Verdict.WORSE, Verdict.EQUIVALENT
        assert [p.verdict for p in steps] == [better, worse, better, equal]
        assert [p.label for p in steps] == [
            "+ target-cpu native",
            "+ parser sonic-rs",
            "+ allocator jemalloc",
            "+ engine tokio-worker-pool",
        ]
        assert [p.lead for p in steps][:3] == ["▼ −10\u202f%", "▲ +20\u202f%", "▼ −20\u202f%"]
        assert reference.label == "native sonic-rs jemalloc rayon"
        assert reference.x == pytest.approx(0.7 * steps[-1].x, rel=0.01)
        assert reference.text.endswith("ms · the last step vs this: +43\u202f%")

    def test_the_axis_begins_at_zero_only_if_the_steps_stay_visible(
        self, all_figures: dict[str, Figure]
    ) -> None:
        assert steps.axis_begin(45.0, 100.0) == 0
        begin = require(all_figures["ladder without reference"].mark("from"))
        assert 0 < begin < min(p.x for p in all_figures["ladder without reference"].points)

    def test_an_unstable_step_says_so_and_is_grey(self, all_figures: dict[str, Figure]) -> None:
        step = all_figures["unstable ladder"].points[3]
        assert step.label == "+ allocator jemalloc"
        assert step.text.endswith("unstable: −40\u202f%, then −10\u202f%")
        assert token(step.verdict) == OTHER
        others = [p for p in all_figures["unstable ladder"].points if p is not step]
        assert not any("unstable" in p.text for p in others)

    def test_a_contrast_with_the_last_step_gives_the_reference(self) -> None:
        data = records.ladder()
        claims = tuple(c for c in data.judgement.claims if c.kind != "recommendation")
        data = with_judgement(data, claims=claims)
        last, rayon = data.plan.variants[-2:]
        contrast = NamedContrast("against Rayon", last.id, rayon.id, (), "wall")
        plan = replace(data.plan, further_baselines=(), contrasts=(contrast,))
        assert figure_of(replace(data, plan=plan)).points[-1].label == rayon.label
        plan = replace(plan, contrasts=())
        assert figure_of(replace(data, plan=plan)).points[-1].label != rayon.label

    def test_the_recommended_variant_is_a_reference(self) -> None:
        data = records.ladder()
        (claim,) = recommended(data)
        alone = with_plan(data, further_baselines=(), contrasts=())
        assert figure_of(alone).points[-1].label == claim.subject


def test_shares_are_those_of_the_limit_with_memory(all_figures: dict[str, Figure]) -> None:
    data, figure = records.limit(), all_figures["limit"]
    rows_ = {row.name: row for row in data.judgement.derived}
    assert [p.label for p in figure.points] == ["streaming", "python-loop", "single-buffer"]
    assert [p.x for p in figure.points] == [
        rows_[f"{name}_share"].value for name in ("streaming", "python_loop", "single_buffer")
    ]
    assert figure.title.startswith("Share of the limit of 20.")
    streaming, loop, _ = figure.points
    assert streaming.text.endswith("MiB, baseline")
    assert loop.lead == "62\u202f%"
    assert re.fullmatch(r"[\d.]+.MiB, ▲\u00a01.60×\u00a0slower", loop.text)
    # Bar and line are those of the share.
    share = rows_["python_loop_share"]
    assert (loop.x_lo, loop.x_hi) == (share.lo, share.hi)
    assert "limit: min(rate(" in figure.table.caption


class TestSweep:
    def test_the_line_has_a_point_for_each_value_in_its_order(
        self, all_figures: dict[str, Figure]
    ) -> None:
        points = all_figures["sweep"].points
        assert [p.x for p in points] == [1, 2, 4, 8, 32, 128, 500]
        assert [p.label for p in points] == ["1", "2", "4", "8", "32", "128", "500"]
        base = points[-1]
        assert base.baseline
        assert points[0].y == pytest.approx(2.85 * base.y, rel=0.02)
        assert points[0].lead.endswith("× slower")
        assert require(points[0].y_lo) < points[0].y < require(points[0].y_hi)
        assert all_figures["sweep"].title == "Time by maximum of blocking threads"

    def test_an_experiment_or_a_second_axis_makes_no_sweep(self) -> None:
        data = records.sweep()
        item = data.plan.inputs[0]
        line = require(sweep_of(data, item))
        assert len(line.cells) == 7
        *others, last = data.plan.variants
        tried = replace(last, values=others[0].values, experiment="x")
        cells = tuple(
            replace(c, variant_id=tried.id) if c.variant_id == last.id else c
            for c in data.plan.cells
        )
        plan = replace(data.plan, variants=(*others, tried), cells=cells)
        assert sweep_of(replace(data, plan=plan), item) is None
        ladder = records.ladder()
        assert sweep_of(ladder, ladder.plan.inputs[0]) is None

    def test_a_numeric_axis_among_others_has_its_line_in_the_appendix(self) -> None:
        data = records.two_axes()
        assert figure_of(data).chart == "forest"
        drawn = [block for block in headline.in_full(data) if isinstance(block, Figure)]
        (figure,) = (figure for figure in drawn if figure.chart == "sweep")
        assert [p.label for p in figure.points] == ["1", "2", "4", "8"]
        assert figure.points[1].y == pytest.approx(0.6 * figure.points[0].y, rel=0.02)
        assert figure.anchor == "all-1-sweep-1"
        whole = records.sweep()
        assert not [b for b in headline.in_full(whole) if isinstance(b, Figure)]

    @pytest.mark.parametrize(
        ("name", "size", "number"),
        [
            ("8", None, 8.0),
            ("0.5", None, 0.5),
            ("64KiB", 65536, 65536.0),
            ("auto", None, None),
            ("nan", None, None),
        ],
    )
    def test_numbers_are_names_or_sizes(
        self, name: str, size: int | None, number: float | None
    ) -> None:
        assert number_of(records.AxisValue(name, name, size_bytes=size)) == number


class TestDumbbell:
    def test_the_largest_increase_is_first_with_both_values(
        self, all_figures: dict[str, Figure]
    ) -> None:
        points = all_figures["revisions"].points
        order = ["17MiB", "5MiB", "30MiB", "50MiB", "80MiB", "9MiB"]
        assert [p.label for p in points] == order
        for point in points:
            factor = CHANGES[int(point.label.removesuffix("MiB"))]
            assert point.x / point.y == pytest.approx(factor, rel=0.01)
            old, new = point.text.removesuffix("\u202fms").split(" → ")
            assert (float(old), float(new)) == pytest.approx((point.y, point.x), abs=0.5)
        assert points[0].lead == "▲ +30\u202f%"
        assert "Hollow: 1111111; filled: working tree" in all_figures["revisions"].desc

    def test_at_most_fourteen_rows_are_drawn(self) -> None:
        figure = figure_of(records.revisions({n: 1 + n / 50 for n in range(3, 20)}))
        assert len(figure.points) == 14
        assert figure.desc.endswith("3 more configurations in the appendix.")
        assert figure.points[0].label == "19MiB"


def test_lines_over_the_size_have_the_values_of_each_variant(
    all_figures: dict[str, Figure],
) -> None:
    series = all_figures["sizes"].by_series()
    assert list(series) == ["Stream", LONG, "Parallel MMAP", "tally"]
    assert {tuple(p.label for p in ps) for ps in series.values()} == {("10MiB", "50MiB", "200MiB")}
    stream, mmap = series["Stream"], series["Parallel MMAP"]
    assert stream[0].baseline
    assert [b.y / a.y for a, b in zip(stream, mmap, strict=True)] == pytest.approx(
        [0.42] * 3, rel=0.02
    )
    assert mmap[0].lead == "▼ 2.39× faster"


class TestIntervals:
    def test_ten_rows_have_the_best_the_baseline_and_the_largest_effects(self) -> None:
        data = records.many(14)
        figure = figure_of(data)
        assert len(figure.points) == 10
        ratios = [p.x for p in figure.points]
        assert ratios == sorted(ratios)
        assert figure.points[0].label == "variant-13"
        assert figure.points[0].strong
        assert [p.label for p in figure.points if p.baseline] == ["base"]
        every = {
            data.label(c.cell_id): c.shown.ratio
            for c in data.judgement.comparisons
            if c.family == "headline" and c.metric == "wall" and c.shown
        }
        left_out = set(every) - {p.label for p in figure.points}
        least = min(abs(math.log(p.x)) for p in figure.points if not p.baseline)
        assert len(left_out) == 4
        assert all(abs(math.log(every[name])) < least for name in left_out)
        assert figure.desc.endswith("4 more variants in the appendix.")

    def test_the_axis_has_at_least_two_fifths_of_the_width(
        self, all_figures: dict[str, Figure]
    ) -> None:
        figure = all_figures["many variants"]
        long = replace(figure, points=tuple(replace(p, label=LONG) for p in figure.points))
        for drawn in (figure, long):
            laid = rows.with_column(drawn)
            assert laid.right - laid.left >= 0.4 * laid.width


@pytest.mark.parametrize("verdict", Verdict)
def test_two_colours_of_direction_and_grey(verdict: Verdict) -> None:
    assert token(verdict) == {Verdict.BETTER: LESS, Verdict.WORSE: MORE}.get(verdict, OTHER)


def test_nothing_in_a_chart_that_is_not_worse_is_orange(all_figures: dict[str, Figure]) -> None:
    calm = [
        replace(figure, points=tuple(replace(p, verdict=None) for p in figure.points))
        for figure in all_figures.values()
    ]
    for figure in calm:
        drawn = figures.inline(figures.draw(figure), figure)
        assert "--alert" not in drawn
        assert "--series-2" not in drawn


@pytest.mark.parametrize(
    ("ratios", "factors"), [((0.51, 1.9), False), ((0.49, 1.0), True), ((1.0, 2.1), True)]
)
def test_one_scale_of_changes_per_page(ratios: tuple[float, ...], factors: bool) -> None:
    data = records.many(len(ratios) + 1)
    cells = [c.id for c in data.arms(data.plan.inputs[0].id)][1:]
    intervals = {
        cell: Interval(r, 0.9 * r, 1.1 * r, 0.95) for cell, r in zip(cells, ratios, strict=True)
    }
    comparisons = tuple(
        replace(c, shown=intervals.get(c.cell_id)) if c.metric == data.metric else c
        for c in data.judgement.comparisons
    )
    data = with_judgement(data, comparisons=comparisons)
    assert data.in_times == factors
    assert amounts.amount(data, 0.8) == ("1.25× faster" if factors else "−20\u202f%")
    assert amounts.amount(data, 1.001) == ("1.00×" if factors else "+0.1\u202f%")


def test_the_mark_shows_which_way_a_value_moved_if_larger_is_better() -> None:
    data = records.many(3)
    comparisons = tuple(replace(c, direction="higher") for c in data.judgement.comparisons)
    higher = with_judgement(data, comparisons=comparisons)
    assert amounts.lead(data, 0.8, Verdict.BETTER) == "▼ −20\u202f%"
    assert amounts.lead(higher, 1.25, Verdict.BETTER) == "▲ +25\u202f%"
    smaller, larger = (amounts.caption(with_verdicts(d, Verdict.BETTER)) for d in (data, higher))
    assert (smaller[0], larger[0]) == ("▼", "▲")


def with_verdicts(data: ReportData, *verdicts: Verdict) -> ReportData:
    """Return a record whose variants have these verdicts on the main metric, in their order."""
    cells = [c.id for c in data.arms(data.plan.inputs[0].id)][1:]
    given = dict(zip(cells, verdicts, strict=False))
    comparisons = tuple(
        replace(c, verdict=given.get(c.cell_id, verdicts[-1])) if c.metric == data.metric else c
        for c in data.judgement.comparisons
    )
    return with_judgement(data, comparisons=comparisons)


def test_a_caption_explains_the_marks_of_the_page() -> None:
    data = records.many(4)
    marked = with_verdicts(data, Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN, Verdict.INCONCLUSIVE)
    assert amounts.caption(marked, "Time") == (
        "Time; ▲: over 2\u202f%; △: not shown to exceed 2\u202f%; ·: inconclusive."
    )
    assert amounts.caption(with_verdicts(data, Verdict.FAILED)) == ""


def test_a_record_without_comparisons_has_no_figure(empty: ReportData) -> None:
    assert result_input(empty) is None
    assert answer_figure(empty) is None


def texts(element: ET.Element, outer: str = "") -> Iterator[tuple[str, frame.Box]]:
    """Yield each text of a drawing with its box, for a wide font."""
    style = f"{outer};{element.get('style', '')}"
    if element.tag == f"{SVG}text":
        size = float(re.findall(r"font-size: ?([\d.]+)px", style)[-1])
        anchor = re.findall(r"text-anchor: ?(\w+)", style)[-1]
        wide = frame.text_width(element.text or "", size, bold="font-weight" in style)
        x, y = (float(element.get(key, "0")) for key in ("x", "y"))
        begin = x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        yield element.text or "", (begin, y - 0.75 * size, begin + wide, y + 0.2 * size)
    for child in element:
        yield from texts(child, style)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", RECORDS)
def test_texts_are_complete_inside_and_separate(
    name: str, narrow: bool, all_figures: dict[str, Figure]
) -> None:
    figure = replace(all_figures[name], narrow=narrow)
    svg = figures.inline(figures.draw(figure), figure)
    root = ET.fromstring(svg)
    width, height = map(float, root.get("viewBox", "").split()[2:])
    boxes = list(texts(root))
    for text, (left, top, right, bottom) in boxes:
        assert left >= -0.5, text
        assert right <= width + 0.5, text
        assert top >= -0.5, text
        assert bottom <= height + 0.5, text
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert not frame.overlap(a, b), f"{one!r} covers {other!r}"
    printed = "".join(text for text, _ in boxes).replace(" ", "")
    names = {p.series if figure.chart == "sizes" else p.label for p in figure.points}
    assert all(label.replace(" ", "") in printed for label in names)
    assert "…" not in printed


def test_eight_rows_fit_on_the_first_screen(all_figures: dict[str, Figure]) -> None:
    ladder = all_figures["ladder without reference"]
    step = replace(ladder.points[-1], label="+ a step", lead="▲ +1.0\u202f%")
    points = (replace(ladder.points[0], label="original"), *[step] * 7)
    for figure in (replace(ladder, points=points), all_figures["sweep"]):
        svg = figures.inline(figures.draw(figure), figure)
        box = require(re.search(r'viewBox="0 0 720 ([\d.]+)"', svg))
        assert float(box[1]) * PIXELS <= 260


@pytest.mark.parametrize("room", [40.0, 90.0, 400.0])
def test_lines_of_a_text_fit_and_lose_nothing(room: float) -> None:
    lines = frame.text_lines(LONG, room)
    assert "".join(lines).replace(" ", "") == LONG.replace(" ", "")
    assert all(frame.text_width(line) <= room for line in lines)
    first, *rest = frame.text_lines(LONG, room, first=20.0)
    assert frame.text_width(first) <= 20.0
    assert "".join([first, *rest]).replace(" ", "") == LONG.replace(" ", "")


def test_a_bar_of_no_length_is_visible(all_figures: dict[str, Figure]) -> None:
    ladder = all_figures["ladder without reference"]
    base = ladder.points[0]
    still = Point(
        "+ nothing", base.x, base.x, verdict=Verdict.EQUIVALENT, series="step", lead="≡ 0 %"
    )
    svg = figures.draw(replace(ladder, points=(base, still)))
    bars = re.findall(r"M([\d.]+) ([\d.]+)V[\d.]+H([\d.]+)", svg)
    assert any(0 < float(right) - float(left) < 2 for left, _, right in bars)
