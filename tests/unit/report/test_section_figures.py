"""Single figures and notes of sections, compared with their sources."""

from dataclasses import replace

import figure_records as records
import pytest
from report_sample import tables_in, with_judgement, with_plan, with_structure

from bench_framework.features.ablation import section as ablation_section
from bench_framework.features.experiments.section import hypotheses
from bench_framework.features.references import section as references_section
from bench_framework.features.scaling import section as scaling_section
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.result.judgement import Derived
from bench_framework.model.result.structure import Change, ContrastResult, Contribution, Step
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.report.blocks import KeyFinding, Table
from bench_framework.report.checks import checks
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import headline_table
from bench_framework.report.sections import budget, headline, masthead, memory, metrics
from bench_framework.report.sections.figure import answer_figure
from bench_framework.report.table_cells import interval_cells
from tests.build import make_comparison, require

LESS = ContrastResult(Verdict.BETTER, Interval(0.8, 0.75, 0.85, 0.99), 40, 1e-9, 1e-8)
MORE = ContrastResult(Verdict.WORSE, Interval(1.2, 1.15, 1.3, 0.99), 40, 1e-9, 1e-8)
TOTAL = ContrastResult(Verdict.BETTER, Interval(0.75, 0.7, 0.8, 0.99), 40, 1e-9, 1e-8)


def ladder(data: ReportData, *steps: ContrastResult, total: ContrastResult = TOTAL) -> Table:
    """Return the table of a ladder on the first input."""
    item = data.plan.inputs[0]
    ids = [c.id for c in data.arms(item.id)]
    rungs = tuple(
        Step(
            (Change("axis", str(n), str(n + 1)),),
            ids[n],
            ids[n - 1],
            c,
            0.5 if c is not MORE else -0.5,
        )
        for n, c in enumerate(steps, 1)
    )
    one = Contribution(
        item.id, "wall", "ladder", ids[0], ids[len(steps)], rungs, total, None, 0.0, None, ()
    )
    return tables_in(ablation_section.build(with_structure(data, contributions=(one,))))[0]


class TestContributions:
    def test_the_interaction_is_the_total_over_the_product_of_the_steps(
        self, data: ReportData
    ) -> None:
        table = ladder(data, LESS, MORE)
        (left,) = [r for r in table.rows if r.cells[1].text == "interaction / unexplained"]
        assert left.cells[3].text == "0.781"  # 0.75 / (0.8 · 1.2)

    def test_a_negative_share_is_explained(self, data: ReportData) -> None:
        below = "A negative share: the step works against the total."
        assert below in ladder(data, LESS, MORE).legend
        assert below not in ladder(data, LESS, LESS).legend


class TestReferences:
    """A pair that is judged in one direction is also reported in the other, with swapped bounds."""

    @pytest.mark.parametrize(
        ("verdict", "ratio", "text"),
        [
            (Verdict.BETTER, 0.5, "+100\u202f% [+60, +150] ▲"),
            (Verdict.WORSE, 2.0, "−50\u202f% [−60, −37] ▼"),
            (Verdict.INCONCLUSIVE, 1.0, "0\u202f% [−20, +25] ·"),
        ],
    )
    def test_a_mirrored_pair(
        self, data: ReportData, verdict: Verdict, ratio: float, text: str
    ) -> None:
        item = data.plan.inputs[0]
        base = require(data.plan.baseline_cell(item.id))
        further = next(
            c for c in data.arms(item.id) if c.variant_id == data.plan.further_baselines[0]
        )
        pair = make_comparison(
            further.id,
            base.id,
            "wall",
            "headline",
            verdict,
            shown=Interval(ratio, ratio * 0.8, ratio * 1.25, 0.99),
            rounds=40,
        )
        both, comparisons = {further.id, base.id}, data.judgement.comparisons
        rest = [c for c in comparisons if {c.cell_id, c.ref_cell_id} != both]
        judged = with_judgement(data, comparisons=(*rest, pair))
        table = tables_in(references_section.build(judged))[0]
        cell = next(r for r in table.rows if r.baseline).cells[3]
        assert cell.value == pytest.approx(1 / ratio)
        assert cell.text == text


def test_tables_name_the_metric_and_its_unit() -> None:
    (changes,) = tables_in(ablation_section.build(records.rates()))
    assert changes.columns[2].title == "Rate after, 1/s"
    policy = JudgePolicy(metrics=("cpu",))
    example = records.Study(sizes=(1, 4, 16), rounds=24, policy=policy)
    blocks = scaling_section.build(records.of_study(example, {"b": 0.9}))
    assert [b.kind for b in blocks[:2]] == ["table", "table"]  # no plot of time and throughput
    assert tables_in(blocks)[0].caption.startswith("CPU time by input size")


class TestLargerIsBetter:
    """Ratios and marks are those of the values: x1 has +25 %, and y1 has −20 % after it."""

    def test_results_of_all_pairs_and_other_metrics(self) -> None:
        data = records.rates()
        (pairs,) = tables_in(headline.pairs(data))
        assert [cell.text for cell in pairs.rows[0].cells] == ["1 x1 y0", "—", "1.25 ▲", "1.25 ▲"]
        (others,) = tables_in(metrics.build(data))
        assert [row.cells[3].text for row in others.rows] == ["1000", "1250 ▲", "1000 ≡"]
        results = headline_table(data, data.plan.inputs[0], "results")
        cores = [c.title for c in results.columns].index("Cores")
        assert {row.cells[cores].text for row in results.rows} == {"1.00"}

    def test_changes_relative_to_a_reference(self) -> None:
        (table,) = tables_in(references_section.build(records.rates(reference=True)))
        changes = {row.cells[0].text: [c.text for c in row.cells[2:4]] for row in table.rows}
        assert table.columns[1].title == "Rate, 1/s"
        assert changes["x1 y0"] == ["+25.0\u202f% [+24.5, +25.3] ▲", "—"]
        assert changes["x1 y1"][1] == "−19.99\u202f% [−20.20, −19.77] ▼"

    def test_hypotheses(self) -> None:
        (table,) = tables_in(hypotheses(records.rates()))
        texts = [cell.text for cell in table.rows[0].cells]
        assert table.rows[0].cells[3].value == pytest.approx(1.25, abs=0.01)
        assert texts[5:7] == ["▲ better rate", "supported"]

    def test_steps(self) -> None:
        figure = require(answer_figure(records.rates()))
        texts = [[cell.text for cell in row.cells] for row in figure.table.rows]
        assert texts[1][2:] == ["+25\u202f%", "[+25\u202f%, +25\u202f%]", "▲"]
        assert texts[2][2:] == ["−20\u202f%", "[−20\u202f%, −20\u202f%]", "▼"]


def test_an_exponent_has_the_rounds_of_the_size_with_fewer(data: ReportData) -> None:
    first = data.plan.inputs[0]
    few = tuple(
        replace(s, n_rounds=31) if data.plan.cell(s.cell_id).input_id == first.id else s
        for s in data.judgement.summaries
    )
    table = tables_in(scaling_section.SCALING.build(with_judgement(data, summaries=few)))[-1]
    counts = {(r.cells[1].text, r.cells[-1].text) for r in table.rows}
    assert counts == {("10MiB", "31"), ("50MiB", "40")}


def test_a_judged_ratio_in_the_budget_keeps_its_relation_to_one(data: ReportData) -> None:
    item = data.plan.inputs[0]
    row = Derived(
        item.id,
        "all",
        "time(a) / time(b)",
        "ratio",
        tuple(c.id for c in data.arms(item.id)[:2]),
        *(False, 40, 1.0819, 1.0096, 1.1694, True, 0.999),
    )
    figures = []
    for variation in (row, replace(row, judged=False)):
        judged = with_judgement(data, derived=(variation,))
        table = tables_in(budget.build(judged))[0]
        figures.append(f"{table.rows[0].cells[1].text} {table.rows[0].cells[2].text}")
    assert figures == ["1.082 [1.009, 1.170]", "1.08 [1.00, 1.17]"]


@pytest.mark.parametrize(("floor", "warns"), [(0.019, False), (0.021, True)])
def test_the_noise_floor_warns_beyond_the_margin(
    data: ReportData, floor: float, warns: bool
) -> None:
    floors = tuple(replace(f, fraction=floor) for f in data.judgement.floors)
    text = masthead.noise_warning(with_judgement(data, floors=floors))
    assert bool(text) is warns
    assert ("below the noise floor of 2.1" in text) is warns


def test_conclusive_comparisons_need_no_warning_of_noise(data: ReportData) -> None:
    floors = tuple(replace(f, fraction=0.2) for f in data.judgement.floors)
    noisy = with_judgement(data, floors=floors)
    comparisons = tuple(
        replace(c, verdict=Verdict.BETTER) if c.family != "control" else c
        for c in noisy.judgement.comparisons
    )
    assert masthead.noise_warning(noisy)
    assert masthead.noise_warning(with_judgement(noisy, comparisons=comparisons)) == ""


def test_cells_that_were_not_measured_fail_the_count(data: ReportData) -> None:
    def mark(data: ReportData) -> str:
        return {c.label: c.mark for c in masthead.main_checks(data)}["configurations measured"]

    measured = tuple(replace(s, state="measured") for s in data.judgement.states)
    assert mark(data) == "fail"
    assert mark(with_judgement(data, states=measured)) == "pass"


class TestHeadline:
    """Throughput, cores, and the meaning of the two intervals of one pair."""

    def test_throughput_is_bytes_over_time_and_cores_are_processor_time_over_time(
        self, data: ReportData
    ) -> None:
        item = data.plan.inputs[0]
        table = headline_table(data, item, "results-1")
        titles = [c.title for c in table.columns]
        base = require(data.plan.baseline_cell(item.id))
        row = next(r for r in table.rows if r.baseline)
        wall, cpu = (require(data.summary(base.id, metric)) for metric in ("wall", "cpu"))
        size = require(data.handled_bytes(item.id))
        assert row.cells[titles.index("MiB/s")].value == pytest.approx(size / wall.median)
        assert row.cells[titles.index("Cores")].value == pytest.approx(cpu.median / wall.median)


def test_outputs_that_a_command_checks_are_not_called_equal(data: ReportData) -> None:
    answer = replace(data.plan.answer, check=("grep", "-q", "total: "))
    checked = checks(with_plan(data, answer=answer))
    figure = next(c.figure for c in checked if c.label == "outputs")
    assert figure.startswith("each accepted by `grep -q 'total: '` in ")
    assert ", not compared with each other" in figure
    assert "equal" not in figure


def test_empty_outputs_are_not_called_equal(data: ReportData) -> None:
    states = tuple(replace(state, empty=True) for state in data.judgement.states)
    silent = with_judgement(data, states=states)
    figures = [
        next(check.figure for check in items if check.label == "outputs")
        for items in (checks(silent), masthead.main_checks(silent))
    ]
    assert all(figure.startswith("empty, so no results were compared") for figure in figures)


def test_an_inconclusive_ratio_gets_no_extra_digits_for_a_bound() -> None:
    near = Interval(1.05, 1.0004, 1.1, 0.95)
    assert interval_cells(near, Verdict.INCONCLUSIVE, 0.02)[1].text == "[1.00, 1.10]"
    assert interval_cells(near, Verdict.WORSE_SIZE_UNCERTAIN, 0.02)[1].text == "[1.0004, 1.1000]"


@pytest.mark.parametrize(("least", "stated"), [(0.0, False), (0.37, True)])
def test_a_table_of_small_memory_states_from_which_difference_on_it_counts(
    data: ReportData, least: float, *, stated: bool
) -> None:
    """1 MiB is 37 % of a baseline of 2.7 MiB, and less than the margin of a large one."""
    comparisons = tuple(
        replace(c, thresholds=c.thresholds.at_least(least)) if c.metric == "peak_rss" else c
        for c in data.judgement.comparisons
    )
    judged = with_judgement(data, comparisons=comparisons)
    tables = [block for block in memory.MEMORY.build(judged) if isinstance(block, Table)]
    assert tables
    text = "a difference counts from 1\u202fMiB on, which is more than the margin of 5\u202f%"
    for table in tables:
        assert (text in " ".join(table.legend)) is stated, table.legend


def test_an_inconclusive_difference_in_memory_is_no_key_finding(data: ReportData) -> None:
    inconclusive = tuple(
        replace(c, verdict=Verdict.INCONCLUSIVE) if c.metric == "peak_rss" else c
        for c in data.judgement.claims
    )
    judged = with_judgement(data, claims=inconclusive)
    assert not any(isinstance(b, KeyFinding) for b in memory.MEMORY.build(judged))
    assert any(isinstance(b, KeyFinding) for b in memory.MEMORY.build(data))
