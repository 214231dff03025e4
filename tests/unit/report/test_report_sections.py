"""Each section of the catalogue: its form with data, and the line it prints without data."""

from dataclasses import replace
from typing import Any, Literal

import figure_records as records
import pytest
from report_sample import all_tables, tables_in, with_contents, with_judgement, with_plan

from bench_framework.claims import factory
from bench_framework.features.document import build_document
from bench_framework.model import facts
from bench_framework.model.facts import AuthorText, Claim, Compared, NoiseFloorFact
from bench_framework.model.facts.summary import JudgedMetric, MeanEffects, Resources
from bench_framework.model.metrics import PEAK_RSS
from bench_framework.model.plan.arguments import BIN, INPUT, TUNING, Word
from bench_framework.model.plan.benches import BenchPolicy
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.plan import CacheState, Hole, Role
from bench_framework.model.plan.published import Published
from bench_framework.model.plan.revisions import Revisions
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Event, Receipt
from bench_framework.model.result.judgement import Derived
from bench_framework.model.result.structure import Structure
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.report import checks
from bench_framework.report.blocks import (
    Box,
    Bullets,
    Code,
    Document,
    Facts,
    Figure,
    Row,
    Section,
    Table,
)
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import headline_table
from bench_framework.report.main_table import main_table, revision_cells, revision_table
from bench_framework.report.sections import headline, masthead, summary, unmeasured
from bench_framework.report.sections.budget import LIMIT
from bench_framework.report.sections.recommendation import command_of, files_of
from bench_framework.report.sections.technical import TECHNICAL
from bench_framework.text.numbers import DASH
from bench_framework.text.write import clause, lead, say
from tests.build import require
from tests.unit.judging.conftest import Study, timing


def section(document: Document, code: str) -> Section:
    return require(document.section(code))


def row(table: Table, label: str) -> Row:
    return next(r for r in table.rows if r.cells[0].text == label)


def texts(r: Row) -> list[str]:
    return [cell.text for cell in r.cells]


def test_a_record_of_less_than_a_minute_has_one_time(data: ReportData) -> None:
    assert " · 2026-03-02 17:04 to 17:22 · " in masthead.run_line(data)
    short = with_contents(data, ended_at=data.contents.header.started_at)
    assert " · 2026-03-02 17:04 · " in masthead.run_line(short)


@pytest.mark.parametrize(
    ("caches", "line"),
    [
        (("warm", "warm"), "warm page cache"),
        (("cold", "cold"), "cold page cache"),
        (("cold", "warm"), "warm and cold page cache"),
        (("warm", "unknown"), ""),
    ],
)
def test_the_first_line_states_the_verified_page_cache(
    data: ReportData, caches: tuple[CacheState, CacheState], line: str
) -> None:
    states = tuple(
        replace(state, cache=caches[number > 0])
        for number, state in enumerate(data.judgement.states)
    )
    of_caches = with_judgement(data, states=states)
    lines = {one.name: one.value for one in masthead.lines(of_caches)}
    assert lines.get("Page cache", "") == line


@pytest.mark.parametrize(
    ("times", "files", "more"),
    [(1, None, "{}"), (1, 1280, "{} (1\u202f280 files)"), (2, 3, "{} (3 files), 2 times")],
)
def test_the_first_line_states_the_input_if_there_is_one(
    data: ReportData, times: int, files: int | None, more: str
) -> None:
    (*_, item) = data.plan.inputs
    command: tuple[Word, ...] = ((BIN,), *[(INPUT,)] * times)
    cells = tuple(replace(c, command=command, input_id=item.id) for c in data.plan.cells)
    (prepared,) = (
        replace(p, file_count=files) for p in data.contents.inputs if p.input_id == item.id
    )
    one = with_contents(with_plan(data, inputs=(item,), cells=cells), inputs=(prepared,))
    assert [line.value for line in masthead.lines(one) if line.name == "Input" and line.top] == [
        more.format(item.name)
    ]
    assert not any(line.top for line in masthead.lines(data) if line.name == "Inputs")


def test_a_contrast_that_the_answer_contains_is_not_repeated(data: ReportData) -> None:
    def leads(data: ReportData) -> list[str]:
        blocks = section(build_document(data), "S02").blocks
        return [item.lead for block in blocks if isinstance(block, Bullets) for item in block.items]

    (first, *_) = data.claims("answer")
    contrast = next(c for c in data.claims("contrast") if lead(c) == "Smol against rayon")
    answer = replace(
        first,
        subject=contrast.subject,
        reference=contrast.reference,
        metric=contrast.metric,
        verdict=Verdict.BETTER,
    )
    claims = tuple(answer if c == first else c for c in data.judgement.claims)
    assert "Smol against rayon" in leads(data)
    assert "Smol against rayon" not in leads(with_judgement(data, claims=claims))


def test_the_results_are_a_table_of_the_largest_input_then_all_inputs(document: Document) -> None:
    (plot,) = (b for b in section(document, "S02").blocks if isinstance(b, Figure))
    table, by_input = section(document, "S03").blocks
    assert isinstance(table, Table)
    assert isinstance(by_input, Table)
    assert plot.chart == "forest"
    assert "200MiB" in plot.desc
    assert "200MiB" in table.caption
    changes = {r.cells[0].text: r.cells[2] for r in table.rows}
    assert len(plot.points) == 10
    for point in (p for p in plot.points if not p.baseline):
        assert changes[point.label].text.endswith(f"{point.lead[2:]} {point.text}")
        assert changes[point.label].value == point.x
    assert [p.x for p in plot.points] == sorted(p.x for p in plot.points)
    assert "rayon+jemalloc" in {p.label for p in plot.points}  # of the best group
    assert plot.mark("margin") == 0.02
    assert [c.title for c in by_input.columns] == ["Variant", "10MiB", "50MiB", "200MiB"]
    assert [r.cells[0].text for r in by_input.rows] == [r.cells[0].text for r in table.rows]


def test_only_a_short_table_describes_its_variants(
    data: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = data.plan.inputs[-1]
    monkeypatch.setattr("bench_framework.report.main_table.MOST_DESCRIBED", 13)
    assert row(main_table(data, item, "x"), "rayon+system").cells[0].about == "work stealing"
    monkeypatch.setattr("bench_framework.report.main_table.MOST_DESCRIBED", 12)
    assert not any(r.cells[0].about for r in main_table(data, item, "x").rows)


def test_a_large_noise_floor_is_a_warning_of_the_answer_and_rounded_in_one_way(
    data: ReportData,
) -> None:
    def with_floor(floor: float) -> tuple[list[str], str]:
        floors = tuple(replace(f, fraction=floor) for f in data.judgement.floors)
        document = build_document(with_judgement(data, floors=floors))
        boxes = [b for b in section(document, "S02").blocks if isinstance(b, Box)]
        warnings = [s.text for b in boxes for s in b.sentences if b.tone == "warning"]
        return warnings, dict(document.facts)["Noise floor (95\u202f% interval)"]

    assert with_floor(0.01)[0] == []
    (text,), fact = with_floor(0.13312)
    assert text == "Differences below the noise floor of 14\u202f% can remain undetected."
    assert "14\u202f%" in fact


def test_several_declared_metrics_leave_room_for_memory_and_effects(data: ReportData) -> None:
    judged = [Claim("", metric=name, fact=JudgedMetric(compared=())) for name in ("x", "y", "z")]
    judgement = replace(data.judgement, claims=(*judged, *data.judgement.claims))
    lines = summary.lines(replace(data, judgement=judgement))
    kinds = [type(claim.fact) for claim in lines]
    assert kinds[1:4] == [JudgedMetric, Resources, MeanEffects]


@pytest.mark.parametrize(("direction", "expected"), [("lower", 1.25), ("higher", 0.8)])
def test_a_time_agrees_with_its_ratio(data: ReportData, direction: str, expected: float) -> None:
    """The median of the variant is another value, which the appendix has."""
    item = data.plan.inputs[0]
    compared = tuple(
        replace(c, shown=Interval(1.25, 1.2, 1.3, 0.95), direction=direction)  # type: ignore[arg-type]
        for c in data.judgement.comparisons
    )
    table = main_table(with_judgement(data, comparisons=compared), item, "x")
    baseline = next(r for r in table.rows if r.baseline)
    assert not baseline.cells[1].text.startswith("≈")
    other = row(table, "smol+jemalloc").cells[1]
    assert other.text.startswith("≈ ")
    assert isinstance(other.value, float)
    assert isinstance(baseline.cells[1].value, float)
    assert other.value == pytest.approx(expected * baseline.cells[1].value)


def test_a_long_table_keeps_the_baselines_and_names_the_number_of_the_others(
    data: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench_framework.report.main_table.MANY_ROWS", 12)
    monkeypatch.setattr("bench_framework.report.main_table.FEWEST_ROWS", 4)
    table = main_table(data, data.plan.inputs[-1], "x")
    labels = [r.cells[0].text for r in table.rows]
    assert len(labels) == 4
    assert {"rayon+system", "rayon+jemalloc"} <= set(labels)
    assert table.note.endswith("9 more variants in the appendix.")
    # What the lines name comes before the fastest, unless it has a row in the table of changes.
    item = data.plan.inputs[-1]
    changes = {e.variant_id for e in data.plan.experiments}
    others = (c for c in data.arms(item.id) if c.variant_id not in changes)
    cell = next(c for c in others if data.label(c.id) not in labels)
    line = Claim("", fact=AuthorText(kind="takeaway", parts=("a line",)), cells=(cell.id,))
    changed = with_judgement(data, claims=(*data.judgement.claims, line))
    assert data.label(cell.id) in [r.cells[0].text for r in main_table(changed, item, "x").rows]
    tried = (replace(data.plan.experiments[0], variant_id=cell.variant_id),)
    again = with_plan(changed, experiments=tried)
    assert [r.cells[0].text for r in main_table(again, item, "x").rows] == labels


def test_percentages_replace_factors_where_no_ratio_reaches_two(data: ReportData) -> None:
    item = data.plan.inputs[-1]
    small = [
        replace(c, verdict=Verdict.INCONCLUSIVE)
        for c in data.judgement.comparisons
        if c.unadjusted is not None and 1 / 1.5 < c.unadjusted.ratio < 1.5 and c.metric == "wall"
    ]
    table = main_table(with_judgement(data, comparisons=tuple(small)), item, "x")
    changes = [r.cells[2].text for r in table.rows if isinstance(r.cells[2].value, float)]
    assert all("\u202f%" in text or text == "baseline" for text in changes)
    assert row(table, "smol+jemalloc").cells[2].text.startswith("· −")


def test_an_interval_below_95_percent_has_its_level(data: ReportData) -> None:
    item, interval = data.plan.inputs[-1], Interval(1.0, 0.985, 1.01, 0.9)
    compared = (replace(c, shown=interval) for c in data.judgement.comparisons)
    changed = with_judgement(data, comparisons=tuple(compared))
    tables = main_table(changed, item, "x"), headline_table(changed, item, "x")
    for table, column in zip(tables, (2, 3), strict=True):
        assert row(table, "smol+jemalloc").cells[column].text.endswith("] at 90\u202f%")


def test_a_value_that_is_better_if_larger_is_printed_as_it_changed(data: ReportData) -> None:
    item = data.plan.inputs[-1]
    comparisons = tuple(replace(c, direction="higher") for c in data.judgement.comparisons)
    higher = with_judgement(data, comparisons=comparisons)
    lower, cells = (row(main_table(d, item, "x"), "smol+jemalloc").cells for d in (data, higher))
    assert lower[2].text == "▼ −10.6\u202f% [−12.2, −8.9]"
    assert cells[2].text == "▲ +11.8\u202f% [+9.8, +13.9]"
    assert cells[2].verdict is Verdict.BETTER
    assert require(cells[3].drawn).ratio == pytest.approx(1 / require(lower[3].drawn).ratio)


def test_an_exact_metric_of_the_gate_has_a_column_with_its_change(data: ReportData) -> None:
    item = data.plan.inputs[-1]
    counts = {cell.id: 2e6 + 1e4 * n for n, cell in enumerate(data.arms(item.id))}
    peak = require(data.summary(data.arms(item.id)[0].id, "peak_rss"))
    rows = (
        replace(peak, cell_id=cell_id, metric="instructions", median=n, lo=n, hi=n)
        for cell_id, n in counts.items()
    )
    counted = with_judgement(data, summaries=(*data.judgement.summaries, *rows))
    assert len(main_table(counted, item, "x").columns) == 6
    margins: dict[str, Any] = {"instructions": 0.01}
    gate = replace(data.plan.judge.gate, **margins)
    gated = with_plan(counted, judge=replace(data.plan.judge, gate=gate))
    table = main_table(gated, item, "x")
    assert table.columns[4].title == "Instructions, million"
    baseline = next(r for r in table.rows if r.cells[2].text == "baseline")
    assert baseline.cells[4].text == "2.00"
    assert row(table, "smol+jemalloc").cells[4].text == "2.04 (+2.0\u202f%)"


def test_the_size_of_a_binary_that_is_judged_has_a_column(data: ReportData) -> None:
    item, base = data.plan.inputs[-1], data.plan.baseline.build_id
    sizes = {b.id: (4 << 20) if b.id == base else 3 << 20 for b in data.contents.builds}
    builds = tuple(replace(b, size_bytes=sizes[b.id]) for b in data.contents.builds)
    sized = replace(data, contents=replace(data.contents, builds=builds))
    assert "Binary size" not in {
        c.title.split(",")[0] for c in main_table(sized, item, "x").columns
    }
    judge = replace(data.plan.judge, metrics=(*data.plan.judge.metrics, "binary_size"))
    table = main_table(with_plan(sized, judge=judge), item, "x")
    assert table.columns[4].title == "Binary size, MiB"
    texts = {r.cells[4].text for r in table.rows}
    assert {"4.00", "3.00 (−25\u202f%)"} <= texts


def test_what_k_does_not_select_is_not_excluded_by_the_scenario(data: ReportData) -> None:
    holes = 3 * (Hole((), Reason(ReasonCode.UNSELECTED, "io=mmap")),)
    plan = replace(data.plan, holes=(*data.plan.holes, *holes))
    (block,) = unmeasured.how_sure(replace(data, plan=plan))
    assert isinstance(block, Bullets)
    lines = [item.text for item in block.items]
    assert "-k selects 39 of 42 configurations." in lines
    assert any(line.endswith("and 1 combination of settings (appendix).") for line in lines)
    end = ", 3 not selected by -k, 1 more excluded from the plan"
    assert masthead.configurations(replace(data, plan=plan)).endswith(end)
    coverage = factory.FactWriter(plan, data.judgement, {}, ()).coverage()
    assert clause(coverage).endswith(end)
    both = replace(data, plan=replace(plan, revisions=Revisions("a" * 40, None)))
    assert ", 6 not selected by -k, 2 more" in masthead.configurations(both)


def test_two_revisions_are_one_table_with_a_row_for_each_configuration(data: ReportData) -> None:
    chosen = ("sequential+system", "smol+jemalloc", "smol+mimalloc")
    labels = {item.id: label for item, label in zip(data.plan.inputs, chosen, strict=True)}
    cells = tuple(
        replace(cell, role=Role.BOUND)
        if cell.role is Role.CANDIDATE and data.label(cell.id) != labels[cell.input_id]
        else cell
        for cell in data.plan.cells
    )
    changed = with_plan(data, cells=cells, revisions=Revisions("a" * 40, None))
    table, members = revision_table(changed, revision_cells(changed))
    # The largest increase is first, and what was not compared is last.
    assert [texts(r)[0] for r in table.rows] == ["10MiB", "50MiB", "200MiB"]
    assert tuple(data.label(cell.id) for cell in members) == chosen
    first, _, last = table.rows
    assert first.verdict is Verdict.WORSE
    assert texts(first)[2].startswith("▲ +72.0\u202f% [")
    assert first.cells[3].drawn is not None
    before, after = first.cells[4].value, first.cells[1].value
    assert isinstance(before, float)
    assert isinstance(after, float)
    assert before < after
    assert texts(last)[1:5] == [DASH, "≠ other output", "", DASH]
    assert [c.title for c in table.without_drawings().columns][1:4] == [
        "Time at working tree, ms",
        "vs aaaaaaa [95\u202f% CI]",
        "Time at aaaaaaa, ms",
    ]
    assert headline.build(changed) == (table,)
    assert not any(r.cells[-1].text.endswith("best") for r in table.rows)


def test_another_output_has_its_input_and_the_first_line_that_differs(data: ReportData) -> None:
    cell = next(cell for cell in data.plan.cells if cell.role is Role.CANDIDATE)
    details = (("first difference", "line 1\na: 17 unique\nb: 17 numbers"),)
    event = Event("BX210", "b prints a different result from a", "error", cell.id, details=details)
    changed = with_contents(with_plan(data, revisions=Revisions("a" * 40, None)), events=[event])
    bullets = [
        b for s in build_document(changed).sections for b in s.blocks if isinstance(b, Bullets)
    ]
    items = [item.text for block in bullets for item in block.items]
    (text,) = [text for text in items if "error BX210" in text]
    assert text.startswith(
        f"error BX210 ({cell.label}, {changed.plan.input(cell.input_id).name}): "
    )
    assert "; first difference: line 1 / a: 17 unique / b: 17 numbers." in text


def test_outputs_that_nothing_compares_name_a_scenario_only_if_there_is_one(
    data: ReportData,
) -> None:
    def outputs(**changes: Any) -> tuple[str, str]:
        answer = replace(data.plan.answer, compare="none")
        items = checks.checks(with_plan(data, answer=answer, **changes))
        return next((c.mark, c.figure) for c in items if c.label == "outputs")

    assert outputs() == ("warn", "not compared: the scenario says `none`")
    assert outputs(scenario_path="") == ("warn", "not compared")
    assert outputs(benches=BenchPolicy(("all",))) == ("unknown", "benchmarks have none")


@pytest.mark.parametrize(
    ("arms", "broken", "answer", "decision"),
    [
        ("ab", "", "Equal within ±2 %: ", "Choose by other criteria: time is equal within ±2 %."),
        (
            "abc",
            "",
            "a, the baseline, ",
            "Choose by other criteria: time is equal to a within ±2 %.",
        ),
        (
            "abc",
            "c",
            "a, the baseline, ",
            "Nothing to choose by time: no variant is shown to be better than another.",
        ),
    ],
)
def test_variants_are_equal_only_if_each_planned_one_is_measured(
    arms: str, broken: str, answer: str, decision: str
) -> None:
    example = Study(arms=tuple(arms))
    lost = {example.cell(arm).id for arm in broken}
    blocks = [
        replace(b, status="failed", wall_s=()) if b.cell_id in lost else b
        for b in example.blocks(timing({}, 0.004))
    ]
    equal = records.report(example.plan, example.judge(blocks))
    (box,) = (b for b in summary.build(equal) if isinstance(b, Box) and b.tone == "decision")
    (main,) = equal.claims("main")
    texts = (main.text, box.sentences[0].text)
    text, choice = (text.replace("\u202f", " ") for text in texts)
    assert text.startswith(answer)
    assert choice == decision


def test_the_decision_has_the_variants_of_the_answer_around_the_recommendation(
    data: ReportData,
) -> None:
    pair = next(c for c in data.claims("comparison") if c.verdict is Verdict.WORSE)
    alternative = facts.Alternative(members=(pair.subject,), axis="io", without="io=read")
    further = (replace(pair, fact=fact) for fact in (alternative, facts.EqualSides()))
    changed = with_judgement(data, claims=(*data.judgement.claims, *further))
    before, after = (
        [
            s.text
            for b in summary.build(d)
            if isinstance(b, Box) and b.tone == "decision"
            for s in b.sentences
        ]
        for d in (data, changed)
    )
    first, *others = after
    assert "hoose between" in first
    assert [text for text in others if "without io=read" not in text.lower()] == before
    assert len(others) == len(before) + 1


def test_a_decision_of_the_published_report_is_not_the_author_s(data: ReportData) -> None:
    published = Published("Blocks", "", "", (), decisions=True)
    other = with_plan(data, published=published)
    changes = [tables_in(section(build_document(d), "S11").blocks)[0] for d in (data, other)]
    assert [c.columns[1].title for c in changes] == ["The author", "The original report"]


def test_a_change_has_its_decision_its_effect_and_whether_to_keep_it(data: ReportData) -> None:
    experiments = tuple(replace(i, decision="adopted", why="a hope") for i in data.plan.experiments)
    changed = with_plan(data, experiments=experiments)
    document = build_document(changed)
    rows, full = (tables_in(section(document, code).blocks)[0].rows for code in ("S11", "S39"))
    assert [r.cells[0].text for r in rows] == [e.name for e in experiments]
    assert {r.cells[0].about for r in rows} == {""}
    assert full[1].cells[0].about == "allocator: jemalloc; a hope"
    assert [texts(r)[1:] for r in full] == [texts(r)[1:] for r in rows]
    assert {r.cells[1].text for r in rows} == {"adopted"}
    # The author adopted a change that the runs show to be slower. The row reports the runs.
    assert texts(rows[0])[2] == "△ +3.1\u202f% [+1.2, +5.0]"
    assert [r.cells[-1].about for r in rows] == ["small loss", "", ""]
    assert [texts(r)[-2:] for r in rows] == [
        ["equivalent", "no"],
        ["+21.0\u202f%", "yes"],
        ["equivalent", "inconclusive"],
    ]


def test_a_long_table_of_changes_leaves_out_what_was_rejected_rightly(
    data: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench_framework.features.experiments.section.MOST_CHANGES", 2)
    loss, gain, open_ = (replace(e, decision="rejected") for e in data.plan.experiments)
    document = build_document(with_plan(data, experiments=(loss, gain, open_)))
    (table,), (full,) = (tables_in(section(document, code).blocks) for code in ("S11", "S39"))
    # What is a gain here, and what is inconclusive, is no confirmation.
    assert [r.cells[0].text for r in table.rows] == [gain.name, open_.name]
    assert table.note == f"Rejected, and not better here: {loss.name} (appendix)."
    assert [r.cells[0].text for r in full.rows] == [loss.name, gain.name, open_.name]


def test_a_change_that_was_rejected_and_gains_is_to_be_tested_again(data: ReportData) -> None:
    experiments = tuple(replace(e, decision="rejected") for e in data.plan.experiments)
    changed = with_plan(data, experiments=experiments)
    rows = tables_in(section(build_document(changed), "S11").blocks)[0].rows
    assert texts(rows[1])[-1] == "test again"


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (Verdict.BETTER, ["only for memory", "yes", "yes"]),
        (Verdict.WORSE, ["no", "yes", "no"]),
        (Verdict.EQUIVALENT, ["no", "yes", "optional"]),
    ],
)
def test_memory_decides_on_a_change_that_is_no_gain_of_time(
    data: ReportData, memory: Verdict, expected: list[str]
) -> None:
    changes = data.plan.experiments[:2]
    equal = [data.plan.cell_id(changes[1].variant_id, item.id) for item in data.plan.inputs]

    def keep(*alike: str | None) -> list[str]:
        comparisons = tuple(
            replace(c, verdict=memory)
            if c.metric == PEAK_RSS
            else replace(c, verdict=Verdict.EQUIVALENT)
            if c.cell_id in alike
            else c
            for c in data.judgement.comparisons
        )
        document = build_document(with_judgement(data, comparisons=comparisons))
        table = tables_in(section(document, "S11").blocks)[0]
        return [texts(row(table, e.name))[-1] for e in changes]

    assert [*keep(), keep(*equal)[1]] == expected


def test_an_open_change_of_the_recommended_variant_is_part_of_the_recommendation(
    data: ReportData,
) -> None:
    assert {c.subject for c in data.claims("recommendation")} == {"smol+jemalloc"}
    experiments = tuple(replace(e, decision="open") for e in data.plan.experiments)
    document = build_document(with_plan(data, experiments=experiments))
    assert [texts(r)[-1] for r in tables_in(section(document, "S11").blocks)[0].rows] == [
        "no",
        "yes",
        "inconclusive, but recommended",
    ]


def test_the_limit_has_what_is_expected_achieved_and_lost(data: ReportData) -> None:
    item = data.plan.inputs[-1]
    ids = tuple(cell.id for cell in data.arms(item.id)[:2])

    def row(name: str, formula: str, value: float, *, measured: bool = False) -> Derived:
        unit: Literal["bytes/s", "ratio"] = "ratio" if value < 1 else "bytes/s"
        bounds = (value * 0.99, value * 1.01)
        return Derived(item.id, name, formula, unit, ids, measured, 40, value, *bounds)

    rows = (
        row("read", "rate(read)", 2e9, measured=True),
        row("slow", "rate(slow)", 1e9, measured=True),
        row("ideal", "min(rate(read), rate(disk))", 2.5e9),
        row("slow_share", "rate(slow) / ideal", 0.4),
        row("share", "rate(read) / ideal", 0.8),
        row("limit_of_the_slow_disk", "min(rate(read), rate(slow))", 1.25e9),
        row("slow_disk_share", "rate(slow) / limit_of_the_slow_disk", 0.8),
    )
    facts, other = LIMIT.build(with_judgement(data, derived=rows))
    assert isinstance(facts, Facts)
    assert isinstance(other, Facts)
    assert other.pairs[0][0] == "Expected limit, input 200MiB (of the slow disk)"
    assert other.pairs[1][1].startswith("slow: 954")
    (limit, expected), (_, achieved), (_, lost) = facts.pairs
    assert limit == "Expected limit, input 200MiB"
    assert expected.endswith("(min(rate(read), rate(disk)))")
    assert achieved.startswith("read: 1.86")
    assert "80.0 [79.2, 80.9]\u202f% of the limit" in achieved
    assert lost == "20\u202f% by read, 60\u202f% by slow"


def test_the_recommendation_names_the_package_of_the_program(data: ReportData) -> None:
    packaged = BuildSpec("/crates", "prog", package="core", features=("simd",))
    text = files_of(replace(data.plan.variants[4], build=packaged))
    assert text.startswith("# Cargo.toml of core\n[features]")


def test_a_command_that_reads_tuning_follows_the_command_that_writes_it(data: ReportData) -> None:
    words: tuple[Word, ...] = ((BIN,), ("run",), ("--tuning=", TUNING))
    cells = tuple(replace(c, command=words, env=()) for c in data.plan.cells)
    tuned = with_plan(data, cells=cells, tuning=((BIN,), ("probe",), ("a b",)))
    assert command_of(tuned, data.plan.variants[0]).splitlines() == [
        "search probe 'a b' > TUNING.json",
        "search run --tuning=TUNING.json",
    ]


def test_variants_with_different_outputs_have_a_remark_and_no_recommendation(
    data: ReportData,
) -> None:
    other = next(c for c in data.plan.cells if c.role is Role.CANDIDATE)
    event = Event("BX334", "b prints a different result from a", cell_id=other.id)
    claims = tuple(c for c in data.judgement.claims if c.kind != "recommendation")
    judged = replace(data.judgement, claims=claims)
    differing = build_document(
        with_contents(replace(data, judgement=judged), events=[*data.contents.events, event])
    )
    blocks = section(differing, "S02").blocks
    (box,) = (block for block in blocks if isinstance(block, Box))
    assert box.tone == "warning"
    assert box.sentences[0].text.startswith(f"Outputs differ: {data.label(other.id)} may")
    assert box.sentences[1].text == "All other outputs are equal."
    notes = [row.cells[-1].text for t in all_tables(differing) for row in t.rows]
    assert any("≠ other output" in note for note in notes)
    (again,) = section(differing, "S19").blocks
    assert isinstance(again, Code)
    assert again.text.startswith("benchctl run")
    assert "outputs: different" in str(section(differing, "S32").blocks)


def test_a_baseline_whose_output_varies_is_not_called_different_work(data: ReportData) -> None:
    (item, *_) = data.plan.inputs
    baseline = require(data.plan.baseline_cell(item.id))
    other = next(c for c in data.plan.cells_of(item.id) if c.role is Role.CANDIDATE)
    events = (Event("BX334", "differs", cell_id=c.id) for c in (other, baseline))
    document = build_document(with_contents(data, events=[*data.contents.events, *events]))
    boxes = [b for b in section(document, "S02").blocks if isinstance(b, Box)]
    (warning,) = (b for b in boxes if b.tone == "warning")
    assert data.label(baseline.id) in warning.sentences[0].text
    assert "Outputs differ" not in warning.sentences[0].text


def test_a_warning_that_begins_with_the_name_of_a_variant_keeps_its_case(data: ReportData) -> None:
    changed = with_contents(data, events=(Event("BX205", "n=1 failed"),))
    lists = [b for b in unmeasured.how_sure(changed) if isinstance(b, Bullets)]
    texts = [s.text for b in lists for s in b.items]
    assert "n=1 failed." in texts


def test_builds_below_what_the_machine_offers_are_one_line_of_the_checks(data: ReportData) -> None:
    values = [{"name": "jemalloc", "limited": "built for sse2"}]
    described = {"axes": {"allocator": {"values": values}}}
    builds = tuple(replace(build, describe=described) for build in data.contents.builds)
    by_label = {c.label: c for c in checks.checks(with_contents(data, builds=builds))}
    limited = by_label["builds"]
    assert limited.mark == "warn"
    assert limited.figure == (
        "rayon+jemalloc, smol+jemalloc and 2 more could be faster (allocator=jemalloc: built for "
        "sse2); the decision is about such builds"
    )
    assert "builds" not in {c.label for c in checks.checks(data)}


def test_how_sure_has_one_noise_floor_and_the_number_of_others_above_the_margin(
    data: ReportData,
) -> None:
    def line(*fractions: float) -> str:
        (first, *_) = data.judgement.floors
        floors = tuple(replace(first, fraction=fraction) for fraction in fractions)
        (block,) = unmeasured.how_sure(with_judgement(data, floors=floors))
        assert isinstance(block, Bullets)
        return next(item.text for item in block.items if "oise floor of time" in item.text)

    assert "more in the appendix" not in line(0.3, 0.001)
    assert line(0.3, 0.2, 0.4).endswith("above the margin of 2\u202f%; 2 more in the appendix.")


def test_required_system_calls_show_the_mode_of_programs_that_report_none(data: ReportData) -> None:
    states = tuple(replace(state, effective={}) for state in data.judgement.states)
    silent = with_judgement(data, states=states)

    def modes(*events: Event, calls: int) -> tuple[str, str]:
        """Return the check if the first configurations require a call, after some events."""
        cells = [
            replace(cell, calls=("io_uring_enter",) if n < calls else ())
            for n, cell in enumerate(silent.plan.cells)
        ]
        changed = with_contents(with_plan(silent, cells=tuple(cells)), events=events)
        return next((c.mark, c.figure) for c in checks.checks(changed) if c.label == "actual modes")

    text = "io_uring_enter succeeded in an untimed run of each of 2 configurations that require it"
    assert modes(calls=0) == ("unknown", "not reported by the programs")
    assert modes(calls=2) == ("pass", text)
    untraced = Event("BX353", "no strace", cell_id=silent.plan.cells[0].id)
    assert modes(untraced, calls=1) == ("unknown", "not reported by the programs")


def test_actual_modes_that_no_axis_sets_are_listed_with_their_variants(data: ReportData) -> None:
    states = tuple(
        replace(s, effective={"simd": "avx2" if n else "sse2"})
        for n, s in enumerate(data.judgement.states)
    )
    judged = with_judgement(data, states=states)
    table = next(b for b in TECHNICAL.build(judged) if isinstance(b, Table) and b.anchor == "modes")
    assert [[c.text for c in row.cells[:2]] for row in table.rows] == [
        ["simd", "avx2"],
        ["simd", "sse2"],
    ]
    assert data.variant_of(data.plan.cells[0]).label in table.rows[1].cells[2].text


def test_the_table_of_binaries_names_a_wrapper_of_the_compiler(data: ReportData) -> None:
    builds = tuple(replace(build, wrapper="sccache 9.8") for build in data.contents.builds)
    binaries = tables_in(section(build_document(with_contents(data, builds=builds)), "S22").blocks)[
        0
    ]
    assert "1.91.0, sccache 9.8" in texts(binaries.rows[0])


def test_the_table_of_binaries_names_direct_dependencies_once(data: ReportData) -> None:
    first, *others = data.contents.builds
    shared = (("clap", "4.6"), ("rayon", "1.11"))
    builds = (
        replace(first, direct_dependencies=shared),
        *(replace(b, direct_dependencies=(*shared, ("tikv-jemallocator", "0.6"))) for b in others),
    )
    binaries = tables_in(section(build_document(with_contents(data, builds=builds)), "S22").blocks)[
        0
    ]
    everywhere, some = binaries.legend
    assert everywhere == "Direct dependencies: clap 4.6, rayon 1.11."
    users = [v.label for v in data.plan.variants if v.build_id != first.id]
    assert some.startswith(f"Direct dependencies of {users[0]}, ")
    assert some.endswith(": tikv-jemallocator 0.6.")


def test_no_table_is_ever_empty(document: Document, empty: ReportData) -> None:
    for one in (document, build_document(empty)):
        for part in one.sections:
            for block in part.blocks:
                assert not isinstance(block, Table) or block.rows


def test_programs_without_an_input_are_reported_without_one(data: ReportData) -> None:
    first = data.plan.inputs[0]
    only = replace(first, label="no input", values=(), dataset=None)
    cells = tuple(replace(c, input_id=only.id) for c in data.plan.cells_of(first.id))
    ids = {c.id for c in cells}
    judged = data.judgement
    about = replace(
        judged,
        states=tuple(s for s in judged.states if s.cell_id in ids),
        summaries=tuple(s for s in judged.summaries if s.cell_id in ids),
        comparisons=tuple(c for c in judged.comparisons if c.cell_id in ids),
        best=tuple(replace(b, input_id=only.id) for b in judged.best if b.input_id == first.id),
        floors=(),
        scaling=(),
        claims=tuple(c for c in judged.claims if c.kind == "not-measured"),
        structure=Structure(),
        causes=(),
        hypotheses=(),
    )
    plan = replace(data.plan, inputs=(only,), cells=cells)
    small = with_contents(replace(data, plan=plan, judgement=about), inputs=())
    document = build_document(small)
    assert "no input" not in repr(
        [section(document, code) for code in ("S03", "S06", "S19", "S25")]
    )
    (cache,) = [c for c in checks.checks(small) if c.label == "page cache"]
    assert (cache.mark, cache.figure) == ("unknown", "unknown: the programs read no input")


def test_sections_can_be_chosen_by_code(data: ReportData) -> None:
    assert [s.code for s in build_document(data, only=("S03", "S02")).sections] == ["S02", "S03"]
    with pytest.raises(ValueError, match="no section S99"):
        build_document(data, only=("S99",))


def test_the_first_word_of_a_sentence_has_a_capital_and_a_label_is_unchanged() -> None:
    label = Claim("smol", "b", "wall", verdict=Verdict.FAILED, fact=Compared())
    assert say(label) == "smol: failed."
    few = Claim("x", cells=("x",), fact=NoiseFloorFact())
    assert say(few) == "No noise floor: the A/A control has too few rounds."
    assert say(replace(few, scope=(("input", "a"),))).startswith("On a, no noise floor")


def test_a_note_of_several_programs_is_printed_once_with_their_names(data: ReportData) -> None:
    first, second, *_ = data.arms(data.plan.inputs[0].id)
    receipts = {
        c.id: (Receipt(notes=("through the page cache: no O_DIRECT here",)),)
        for c in (first, second)
    }
    blocks = tuple(replace(b, receipts=receipts.get(b.cell_id, ())) for b in data.blocks)
    runs = sum(b.cell_id in receipts for b in data.measured_blocks)
    parts = section(build_document(with_contents(data, blocks=blocks)), "S21").blocks
    lines = [item.text for part in parts if isinstance(part, Bullets) for item in part.items]
    (note,) = (line for line in lines if "page cache" in line)
    who = {data.label(first.id), data.label(second.id)}
    assert set(note.partition(" (")[0].split(", ")) == who
    assert note.endswith(f" ({runs} runs): through the page cache: no O_DIRECT here.")


class TestBudget:
    def test_the_plot_has_the_rates_of_the_table(self, document: Document) -> None:
        plot, table, _ = section(document, "S09").blocks
        assert isinstance(plot, Figure)
        assert isinstance(table, Table)
        assert plot.table == table
        assert [(p.label, p.strong) for p in plot.points] == [
            ("reading", True),
            ("counting", True),
            ("ideal overlap", False),
        ]
        assert plot.points[1].text == " ".join(cell.text for cell in table.rows[1].cells[1:3])

    def test_phases_are_medians_of_the_workers_own_clocks_in_one_unit(
        self, data: ReportData
    ) -> None:
        first, second, *_ = data.arms(data.plan.inputs[-1].id)
        phases = {first.id: {"read": 0.2, "count": 0.05, "none": 0.0}, second.id: {"read": 0.1}}
        blocks = tuple(
            replace(b, receipts=(Receipt(phases_s=phases[b.cell_id]),))
            if b.cell_id in phases
            else b
            for b in data.blocks
        )
        first_blocks = [b for b in blocks if b.cell_id == first.id]
        slow = replace(first_blocks[0], receipts=(Receipt(phases_s={"read": 9.0, "count": 9.0}),))
        blocks = tuple(slow if b is first_blocks[0] else b for b in blocks)
        built = section(build_document(with_contents(data, blocks=blocks)), "S09")
        (table,) = (
            b for b in built.blocks if isinstance(b, Table) and b.anchor.startswith("phases-")
        )
        titles = [column.title for column in table.columns]
        assert titles == ["Variant", "read, ms", "count, ms", "n"]
        assert {row.cells[0].text: texts(row)[1:] for row in table.rows} == {
            data.label(first.id): ["200", "50.0", str(len(first_blocks))],
            data.label(second.id): ["100", "—", str(len(first_blocks))],
        }

    def test_a_bound_has_no_verdict_and_its_answer_is_checked_separately(
        self, data: ReportData
    ) -> None:
        item = data.plan.inputs[0]
        limit = next(c for c in data.arms(item.id) if c.label.startswith("smol+system"))
        cells = tuple(
            replace(c, role=Role.BOUND) if c.id == limit.id else c for c in data.plan.cells
        )
        others = tuple(c for c in data.judgement.comparisons if c.cell_id != limit.id)
        judged = replace(data.judgement, comparisons=others)
        bounded = build_document(
            replace(data, plan=replace(data.plan, cells=cells), judgement=judged)
        )
        table = next(
            b
            for b in section(bounded, "S29").blocks
            if isinstance(b, Table) and item.label in b.caption
        )
        assert texts(row(table, "smol+system"))[2:5] == ["bound", "", ""]
        assert "a bound is a limit" in str(section(bounded, "S30").blocks).lower()
        figures = {c.label: c.figure for c in checks.checks(with_plan(data, cells=cells))}
        assert figures["outputs"].endswith("; 1 bound checked separately")
        (plot, *_) = [b for b in section(bounded, "S06").blocks if isinstance(b, Figure)]
        assert limit.label.split(",")[0] not in {row.cells[0].text for row in plot.table.rows}


def test_where_all_are_best_no_variant_is_bold_or_recommended(
    data: ReportData, document: Document
) -> None:
    everyone = tuple(
        replace(group, cell_ids=tuple(cell.id for cell in data.arms(group.input_id)))
        for group in data.judgement.best
    )
    claims = tuple(c for c in data.judgement.claims if c.kind != "recommendation")
    equal = build_document(with_judgement(data, best=everyone, claims=claims))

    def strong(document: Document, code: str) -> bool:
        return any(row.strong for t in tables_in(section(document, code).blocks) for row in t.rows)

    assert not strong(equal, "S03")
    assert not strong(equal, "S29")
    figures = [b for b in section(equal, "S02").blocks if isinstance(b, Figure)]
    assert not any(point.strong for figure in figures for point in figure.points)
    assert strong(document, "S03")
    (again,) = section(equal, "S19").blocks
    assert isinstance(again, Code)
    assert again.text.startswith("benchctl run")
    (box,) = (b for b in section(equal, "S02").blocks if isinstance(b, Box))
    assert box.sentences[0].text.startswith("Nothing to choose by time: ")
