"""Sections about the effects of the axes: their rows show the analysis, and are absent without it."""

from dataclasses import replace

import figure_records as records
import pytest
from report_sample import tables_in, with_judgement, with_sign_change, with_structure

from bench_framework.features.ablation import section as ablation_section
from bench_framework.features.effects import section as effects_section
from bench_framework.features.experiments import section as experiments_section
from bench_framework.features.judge import judge
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.result.structure import (
    Change,
    ContrastResult,
    Contribution,
    Effect,
    EffectCell,
    Step,
)
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.report.blocks import Block, Bullets, KeyFinding, Table
from bench_framework.report.context import ReportData
from bench_framework.report.sections import summary
from bench_framework.report.sections.figure import result_input
from bench_framework.report.table_cells import contrast_cells
from bench_framework.text.reasons import phrase
from tests.build import require
from tests.unit.judging.conftest import Study

LESS = ContrastResult(Verdict.BETTER, Interval(0.9, 0.88, 0.92, 0.99), 40, 1e-9, 1e-8)
MORE = ContrastResult(Verdict.WORSE, Interval(1.2, 1.1, 1.3, 0.99), 40, 1e-9, 1e-8)
OPEN = ContrastResult(Verdict.INCONCLUSIVE, Interval(0.99, 0.9, 1.1, 0.99), 40, 0.5, 1.0)


def sentences(blocks: tuple[Block, ...]) -> list[str]:
    findings = [b.sentence.text for b in blocks if isinstance(b, KeyFinding)]
    return findings + [s.text for b in blocks if isinstance(b, Bullets) for s in b.items]


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in table.rows]


def with_cpu(data: ReportData) -> ReportData:
    """Return the record with a sign change of time and of CPU time of the same pair."""
    changed = with_sign_change(data)
    claims = changed.judgement.claims
    more = tuple(replace(c, metric="cpu") for c in claims if c.kind == "sign-change")
    return with_judgement(changed, claims=(*claims, *more))


def test_a_sign_change_is_listed_with_every_input_and_the_crossing(data: ReportData) -> None:
    blocks = effects_section.sign_changes(with_sign_change(data))
    (table,) = tables_in(blocks)
    sizes = [["size", size] for size in ("10MiB", "50MiB", "200MiB")]
    assert [row[:2] for row in texts(table)] == sizes
    assert [row[4] for row in texts(table)] == ["▼ faster", "· inconclusive", "▲ slower"]
    assert sentences(effects_section.sign_changes(with_cpu(data))) == sentences(blocks)
    text = "\n".join(sentences(blocks))
    assert "smol+system vs rayon+system depends on the input" in text
    assert (
        "cross over between 10MiB and 200MiB, at about 62\u202fMiB [51, 71] (interpolated)" in text
    )


def test_a_sign_change_against_another_baseline_is_listed_with_its_ratios() -> None:
    example = records.Study(arms=("a", "b", "c"), sizes=(1, 10), rounds=24)
    names = {dict(v.values)["arm"]: v.id for v in example.plan.variants}
    plan = replace(example.plan, further_baselines=(names["b"],))
    factors = {("b", "1MiB"): 0.5, ("b", "10MiB"): 0.8, ("c", "1MiB"): 0.6, ("c", "10MiB"): 0.6}

    def wall(arm: str, where: str, number: int) -> float:
        return 0.05 * factors.get((arm, where), 1.0) * records.noise(0.005, arm, where, number)

    judged = judge(plan, example.blocks(wall), {}, example.inputs(), example.looks())
    data = records.report(plan, judged, example.inputs())
    (table,) = tables_in(effects_section.sign_changes(data))
    assert [row[1] for row in texts(table)] == ["1MiB", "10MiB"]
    assert [row[4] for row in texts(table)] == ["▲ slower", "▼ faster"]
    claims = {c.id: c for c in judged.claims}
    linked = [claims[row.cells[2].claim or ""] for row in table.rows]
    assert {(c.subject, c.reference) for c in linked} == {("c", "b")}


def test_an_effect_that_changes_sign_over_other_axes_has_cells_and_no_mean(
    data: ReportData,
) -> None:
    item = data.plan.inputs[-1]
    ids = tuple(c.id for c in data.arms(item.id)[:2])
    mean = replace(OPEN, shown=None, reason=Reason(ReasonCode.NOT_POOLED))
    effect = Effect(
        item.id,
        "wall",
        (Change("runtime", "rayon", "smol"),),
        pooled=False,
        mean=mean,
        cells=(EffectCell("system", ids, LESS), EffectCell("jemalloc", ids, MORE)),
    )
    one = with_structure(data, effects=(effect,))
    in_summary = [s.text for b in summary.build(one) for s in getattr(b, "items", ())]
    assert "the sign depends on the other axes: runtime smol." in in_summary
    (where,) = tables_in(effects_section.sign_changes(one))
    assert [row[1:3] for row in texts(where)] == [["system", "0.900"], ["jemalloc", "1.20"]]
    (mains,) = (t for t in tables_in(effects_section.build(one)) if t.anchor == "effects-3-mains")
    assert texts(mains)[0][3:7] == [
        "—",
        "",
        "not pooled: the sign changes",
        "less in 1, more in 1 of 2",
    ]


def test_crossed_axes_without_effects_have_a_reason(data: ReportData) -> None:
    reasons = tuple(
        replace(f, axes=(), reason=Reason(ReasonCode.BEFORE_FIRST))
        for f in data.judgement.structure.factorials
    )
    without = with_structure(data, effects=(), factorials=reasons)
    assert effects_section.EFFECTS.section(without) is None
    assert effects_section.EFFECTS.reason(without) == phrase(Reason(ReasonCode.BEFORE_FIRST))


def ladder(data: ReportData, total: ContrastResult, share: float | None) -> ReportData:
    item = data.plan.inputs[-1]
    base, first, second, third = (c.id for c in data.arms(item.id)[:4])
    steps = (
        Step((Change("parser", "simd", "sonic"),), first, base, LESS, share),
        Step(
            (Change("alloc", "sys", "je"),),
            second,
            first,
            OPEN,
            None if share is None else 1 - share,
        ),
    )
    table = Contribution(
        item.id,
        "wall",
        "ladder",
        base,
        second,
        steps,
        total,
        None,
        None if share is None else 0.0,
        None if share is None else 0,
        (Step((Change("engine", "tokio", "rayon"),), third, second, MORE, None),),
    )
    return with_structure(data, contributions=(table,))


def test_a_ladder_ends_with_the_interaction_the_total_and_the_steps_beyond(
    data: ReportData,
) -> None:
    record = ladder(data, LESS, 0.9)
    (table,) = tables_in(ablation_section.build(record))
    assert [row[0] for row in texts(table)] == ["start", "1", "2", "", "total", "beyond"]
    shares = [row[6].replace("\u202f", " ") for row in texts(table)]
    assert shares == ["", "90 %", "10 %", "0 %", "100 %", "—"]
    assert texts(table)[3][1] == "interaction / unexplained"
    assert "The ratios multiply to the total" in table.caption


def test_tables_whose_rounds_are_too_few_explain_intervals_without_1(data: ReportData) -> None:
    effects, note = (
        data.judgement.structure.effects,
        "although their interval does not contain 1: too few",
    )
    few = replace(OPEN, reason=Reason(ReasonCode.TOO_FEW_FOR_CONTRASTS))
    short = with_structure(data, effects=tuple(replace(e, mean=few) for e in effects))
    for record, contrast, noted in ((data, LESS, False), (short, few, True)):
        tables = tables_in(effects_section.build(record))
        tables += tables_in(ablation_section.build(ladder(data, contrast, 0.9)))
        assert len(tables) > 2
        assert {any(note in line for line in t.legend) for t in tables} == {noted}


@pytest.mark.parametrize(
    ("start", "keep", "about"), [("", "only alone", ""), ("x", "yes", "from x")]
)
def test_a_step_that_is_a_part_of_a_change_does_not_decide_it(
    data: ReportData, start: str, keep: str, about: str
) -> None:
    """The change alone is better, and its step worse; `start` is the value that an earlier step left."""
    experiment, item = data.plan.experiments[1], require(result_input(data))
    ((axis, value),) = experiment.change
    cells = (data.plan.cell_id(i, item.id) for i in (experiment.variant_id, data.plan.baseline_id))
    cell_id, ref_cell_id = map(require, cells)
    before = start or dict(data.plan.baseline.values)[axis]
    step = Step((Change(axis, before, value),), cell_id, ref_cell_id, MORE, None)
    table = Contribution(item.id, "wall", "ladder", ref_cell_id, cell_id, (step,), MORE, None, None)
    (changes,) = tables_in(
        experiments_section.changes(with_structure(data, contributions=(table,)))
    )
    (row,) = (r for r in changes.rows if r.cells[0].text == experiment.name)
    assert (row.cells[-1].text, row.cells[4].about) == (keep, about)


def test_an_inconclusive_total_has_no_shares(data: ReportData) -> None:
    (table,) = tables_in(ablation_section.build(ladder(data, OPEN, None)))
    assert {row[6] for row in texts(table)} == {"", "—"}
    assert "The total is inconclusive, so there are no shares." in table.legend


def test_ratios_of_a_sign_change_and_of_effects_are_those_of_the_values() -> None:
    """If larger values are better, they are inverted, as in the other tables."""
    effect = ContrastResult(Verdict.BETTER, Interval(0.7, 0.6, 0.8, 0.95), 10, 0.01, 0.01)
    data = records.of_study(Study(sizes=(10, 50)), {}, changed={"10MiB": 0.7, "50MiB": 1.3})
    comparisons = tuple(replace(c, direction="higher") for c in data.judgement.comparisons)
    higher = with_judgement(data, comparisons=comparisons)
    for record, expected in ((data, (0.7, 1.3)), (higher, (1 / 0.7, 1 / 1.3))):
        (table,) = tables_in(effects_section.sign_changes(record))
        assert [row.cells[2].value for row in table.rows] == pytest.approx(expected, rel=0.01)
        assert contrast_cells(effect, record)[0].value == expected[0]
