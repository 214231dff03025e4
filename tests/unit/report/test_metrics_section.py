"""The table of other metrics: units, counts outside timing, and notes that no output drops."""

from dataclasses import replace

from report_sample import tables_in, with_contents, with_judgement, with_plan

from bench_framework.model.plan.declared_metrics import DeclaredMetric, InstructionPolicy
from bench_framework.model.plan.plan import Cell, Role
from bench_framework.model.result.judgement import Summary
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.report.blocks import Table
from bench_framework.report.context import ReportData
from bench_framework.report.sections.metrics import MOST_COLUMNS, build
from tests.build import make_comparison

REQUESTS = DeclaredMetric("requests", "stdout", "1/s", direction="higher", about="served")


def counted(cell_id: str, metric: str, *values: float, rounds: int = 0) -> Summary:
    middle = sorted(values)[len(values) // 2]
    figures = (middle, None, None, middle, None, min(values), max(values), None)
    return Summary(cell_id, metric, rounds, len(values), 0, *figures)


def with_counts(data: ReportData) -> ReportData:
    """Return the sample with instructions, faults and a declared metric on the first input."""
    arms = measured_arms(data)
    base = next(c for c in arms if c.role is Role.BASELINE)
    counts = [
        s
        for number, cell in enumerate(arms)
        for s in (
            counted(cell.id, "instructions", 5e6 + number, 5.001e6 + number),
            counted(cell.id, "minor_faults", 900.0 + number),
            counted(cell.id, "major_faults_per_s", 7.0 + number),
            counted(cell.id, "write_bytes", 0.0),
            counted(cell.id, "requests", 100.0 + number, rounds=12),
        )
    ]
    better = make_comparison(
        next(c.id for c in arms if c is not base),
        base.id,
        "requests",
        "headline",
        Verdict.BETTER,
        shown=Interval(0.9, 0.88, 0.92, 0.95),
        direction="higher",
    )
    judged = with_judgement(
        data,
        summaries=(*data.judgement.summaries, *counts),
        comparisons=(*data.judgement.comparisons, better),
    )
    return with_plan(judged, metrics=(REQUESTS,), instructions=InstructionPolicy())


def measured_arms(data: ReportData) -> list[Cell]:
    """Return the measured configurations of the first input."""
    return [c for c in data.arms(data.plan.inputs[0].id) if data.state(c.id).state == "measured"]


def first_table(data: ReportData) -> Table:
    return tables_in(build(data))[0]


def test_each_input_has_its_table_with_n(data: ReportData) -> None:
    tables = tables_in(build(with_counts(data)))
    assert tables
    for table in tables:
        assert [table.columns[0].title, table.columns[-1].title] == ["Variant", "n"]
        assert {len(row.cells) for row in table.rows} == {len(table.columns)}


def test_counts_have_units_and_a_metric_that_is_always_zero_has_no_column(data: ReportData) -> None:
    table = first_table(with_counts(data))
    titles = [column.title for column in table.columns]
    assert {"Instructions, million", "Minor page faults", "Requests, 1/s"} <= set(titles)
    assert "Major page faults per second" in titles
    assert "Written to storage, B" not in titles
    assert any("Zero in every variant: bytes written to storage" in line for line in table.legend)
    assert any(line == "Requests: served; from stdout; larger is better." for line in table.legend)
    marked = [row.cells[titles.index("Requests, 1/s")].text for row in table.rows]
    assert sum("▲" in text for text in marked) == 1


def test_the_note_explains_counts_from_outside_timing(data: ReportData) -> None:
    counts = with_counts(data)
    table = first_table(counts)
    assert "counted outside timing, in one run of each variant" in table.note
    assert "valgrind, 2 repetitions, within 0.02\u202f% of each other" in table.note
    assert "do not include I/O, locks and waiting" in table.note
    timed = tuple(s for s in counts.judgement.summaries if s.n_rounds)
    inside = with_judgement(counts, summaries=timed)
    table = first_table(inside)
    assert table.note == ""


def test_a_declared_metric_has_its_unit(data: ReportData) -> None:
    assert with_counts(data).unit_of("requests") == "1/s"


def test_a_metric_with_one_value_everywhere_is_one_line_and_no_column(data: ReportData) -> None:
    arms = measured_arms(data)
    counts = [
        s
        for number, cell in enumerate(arms)
        for s in (
            counted(cell.id, "files", 256.0, rounds=12),
            counted(cell.id, "reads", 5.0 + number, rounds=12),
        )
    ]
    summaries = (*data.judgement.summaries, *counts)
    announced = [
        {"name": n, "unit": "count", "about": f"{n} of the input"} for n in ("files", "reads")
    ]
    builds = tuple(
        replace(build, describe={"metrics": announced}) for build in data.contents.builds
    )
    data = with_contents(data, builds=builds)
    constant = with_judgement(data, summaries=summaries)
    table = first_table(constant)
    titles = [column.title for column in table.columns]
    assert "Files" not in titles
    assert "Reads" in titles
    assert "The same in every run of every variant: files 256." in table.legend
    assert "Reported by the worker. Reads: reads of the input." in table.legend
    one_differs = (
        *summaries[:-2],
        counted(arms[-1].id, "files", 255.0, 256.0, rounds=12),
        summaries[-1],
    )
    varying = with_judgement(data, summaries=one_differs)
    table = first_table(varying)
    assert "Files" in [column.title for column in table.columns]
    assert not any("The same" in line for line in table.legend)


def test_a_table_too_wide_for_paper_is_split_without_loss(data: ReportData) -> None:
    arms = measured_arms(data)
    names = [f"own_{number}" for number in range(20)]
    counts = [
        counted(c.id, n, float(i + j), rounds=12)
        for i, c in enumerate(arms)
        for j, n in enumerate(names)
    ]
    wide = with_judgement(data, summaries=(*data.judgement.summaries, *counts))
    tables = [t for t in tables_in(build(wide)) if t.anchor.startswith("metrics-1-")]
    assert [t.anchor for t in tables] == ["metrics-1-own-1", "metrics-1-own-2", "metrics-1-own-3"]
    titles = [column.title for table in tables for column in table.columns]
    assert [t for t in titles if t.startswith("Own")] == [
        n.replace("_", " ").capitalize() for n in names
    ]
    assert max(len(table.columns) for table in tables) <= MOST_COLUMNS + 2
    assert [table.columns[0].title for table in tables] == ["Variant"] * 3
    assert all(len(table.rows) == len(arms) for table in tables)
    assert all(len(row.cells) == len(table.columns) for table in tables for row in table.rows)
    assert [bool(table.legend) for table in tables[:-1]] == [False] * 2
