"""Figures derived from named configurations, and configurations that are bounds."""

import math
from dataclasses import dataclass, replace

import pytest

from bench_framework.compare.derived_values import derived_rows, with_contribution_figures
from bench_framework.compare.samples import collect
from bench_framework.features.judge import judge
from bench_framework.model.plan.declarations import DerivedRow, NamedCell
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.record.run import Answer, Block, Receipt
from bench_framework.model.result.judgement import Derived, Judgement
from bench_framework.model.result.structure import Change, ContrastResult, Contribution, Step
from bench_framework.model.verdict import Interval, Verdict
from tests.build import make_comparison, require
from tests.unit.judging.conftest import MIB, Study, changed

FORMULAS = (
    DerivedRow("ideal", "min(rate(generate), rate(write))"),
    DerivedRow("no_overlap", "harmonic(rate(generate), rate(write))"),
    DerivedRow("gained", "rate(streaming) / no_overlap"),
    DerivedRow("share", "rate(streaming) / ideal"),
)
ARMS = ("streaming", "generate", "write", "other")
SECONDS = {"streaming": 1.1, "generate": 0.25, "write": 1.0, "other": 1.4, "control": 1.1}


@dataclass
class Budget(Study):
    """A study in which streaming is the baseline, and generate and write are bounds."""

    arms: tuple[str, ...] = ARMS
    sizes: tuple[int, ...] = (100,)

    @property
    def plan(self) -> Plan:
        plan = super().plan
        ids = {dict(v.values)["arm"]: v.id for v in plan.variants}
        limits = {ids["generate"], ids["write"]}
        return replace(
            plan,
            cells=tuple(
                replace(c, role=Role.BOUND) if c.variant_id in limits else c for c in plan.cells
            ),
            named=tuple(NamedCell(name, ids[name]) for name in ("generate", "write", "streaming")),
            derived=FORMULAS,
        )


def wall(arm: str, _: str, number: int) -> float:
    # All arms have the same drift, which the ratios of a round do not contain.
    return SECONDS[arm] * (1 + 0.01 * (number % 7))


def judged(study: Budget, blocks: list[Block]) -> Judgement:
    return judge(study.plan, blocks, {}, study.inputs(), study.looks())


def rows(judgement: Judgement) -> dict[str, Derived]:
    return {row.name: row for row in judgement.derived}


def test_rates_and_formulas_are_medians_over_rounds_with_intervals() -> None:
    study = Budget()
    by_name = rows(judged(study, study.blocks(wall)))
    assert list(by_name) == [
        "generate",
        "write",
        "streaming",
        "ideal",
        "no_overlap",
        "gained",
        "share",
    ]
    middle = 1.03
    assert by_name["generate"].measured
    assert by_name["generate"].value == pytest.approx(100 * MIB / 0.25 / middle)
    assert by_name["ideal"].value == pytest.approx(100 * MIB / middle)
    assert by_name["no_overlap"].value == pytest.approx(100 * MIB / 1.25 / middle)
    share = by_name["share"]
    assert share.unit == "ratio"
    # The figures are paired by round, so that the drift cancels and the interval is a point.
    assert [share.value, share.lo, share.hi] == pytest.approx([1 / 1.1] * 3)
    assert by_name["gained"].value == pytest.approx(1.25 / 1.1)
    assert share.rounds == 40


def test_what_a_worker_reports_is_what_it_handled() -> None:
    study = Budget()
    blocks = [replace(b, receipts=(Receipt(bytes=7 * MIB),)) for b in study.blocks(wall)]
    assert rows(judged(study, blocks))["write"].value == pytest.approx(7 * MIB / 1.03)


def test_a_phase_has_the_time_that_the_worker_reports_and_its_rate() -> None:
    study = Budget()
    write = study.cell("write", 100).id
    spent = Receipt(bytes=8 * MIB, phases_s={"fill": 0.25})
    blocks = [
        replace(b, receipts=(spent,)) if b.cell_id == write and b.round > 3 else b
        for b in study.blocks(wall)
    ]
    formulas = (
        DerivedRow("filling", "time(write, fill)"),
        DerivedRow("limit", "max(rate(write, fill), rate(generate) / 1000)"),
        DerivedRow("unknown", "time(generate, fill)"),
    )
    plan = replace(study.plan, derived=formulas)
    by_name = rows(judge(plan, blocks, {}, study.inputs(), study.looks()))
    assert (by_name["filling"].value, by_name["filling"].unit) == (0.25, "s")
    # Rounds without the phase do not count.
    assert by_name["filling"].rounds == 37
    assert by_name["limit"].value == 32 * MIB
    assert by_name["limit"].cell_ids == (write, study.cell("generate", 100).id)
    assert by_name["unknown"].value is None


@pytest.mark.parametrize(("void", "known"), [(1, True), (2, True), (3, False), (40, False)])
def test_void_rounds_do_not_count_and_more_than_five_percent_give_no_figure(
    void: int, known: bool
) -> None:
    """The remaining rounds depend on the failure: 3 of 40 are more than 5 %, and 2 are not."""
    study = Budget()
    write = study.cell("write", 100).id
    blocks = [
        replace(b, status="failed", wall_s=(), message="exit 9")
        if b.cell_id == write and b.round <= void
        else b
        for b in study.blocks(wall)
    ]
    by_name = rows(judged(study, blocks))
    for name in ("write", "ideal", "share"):
        assert (by_name[name].value is not None) is known
    if known or void == 40:
        assert by_name["share"].rounds == 40 - void
    assert by_name["generate"].value is not None
    assert by_name["generate"].rounds == 40


class TestBounds:
    def test_they_do_other_work_and_are_compared_with_nothing(self) -> None:
        study = Budget()
        bounds = {study.cell(arm, 100).id: arm for arm in ("generate", "write")}
        blocks = [
            replace(b, answer=Answer(bounds[b.cell_id], 1)) if b.cell_id in bounds else b
            for b in study.blocks(wall)
        ]
        judgement = judged(study, blocks)
        states = {s.cell_id: s.state for s in judgement.states}
        assert [states[cell] for cell in bounds] == ["measured", "measured"]
        assert not {c.cell_id for c in judgement.comparisons} & set(bounds)
        # It is four times as fast as the others, but not a candidate.
        (best,) = judgement.best
        assert best.cell_ids == (study.cell("streaming", 100).id,)
        assert study.comparison(judgement, "other", size=100).verdict is Verdict.WORSE

    def test_one_that_answers_differently_each_time_is_refused(self) -> None:
        study = Budget()
        limit = study.cell("write", 100).id
        blocks = [
            replace(b, answer=Answer(f"d{b.round}", 1)) if b.cell_id == limit else b
            for b in study.blocks(wall)
        ]
        assert {s.cell_id: s.state for s in judged(study, blocks).states}[limit] == "other-output"


def test_every_row_is_a_claim_that_states_its_formula() -> None:
    study = Budget()
    sentences_of = {
        c.subject: c.text for c in judged(study, study.blocks(wall)).claims if c.kind == "derived"
    }
    assert (
        sentences_of["share"]
        == "share is 0.909 [0.909, 0.910] (rate(streaming) / ideal, 40 rounds)."
    )
    assert sentences_of["ideal"].startswith("ideal is 97.")
    assert "MiB/s (min(rate(generate), rate(write)), 40 rounds)" in sentences_of["ideal"]


PAIRS = (
    DerivedRow("other_over_streaming", "time(other) / time(streaming)"),
    DerivedRow("streaming_over_other", "time(streaming) / time(other)"),
    DerivedRow("twice", "2 * time(other) / time(streaming)"),
)


@dataclass
class PairStudy(Budget):
    """Pairs of named configurations, one of which is judged in the results."""

    @property
    def plan(self) -> Plan:
        plan = super().plan
        ids = {dict(v.values)["arm"]: v.id for v in plan.variants}
        return replace(
            plan,
            named=tuple(NamedCell(name, ids[name]) for name in ("streaming", "other")),
            derived=PAIRS,
        )


def scattered(arm: str, _: str, number: int) -> float:
    return SECONDS[arm] * (1 + 0.01 * ((number * (3 if arm == "other" else 7)) % 11))


def test_the_ratio_of_a_judged_pair_has_the_pairs_own_figures() -> None:
    study = PairStudy()
    judgement = judged(study, study.blocks(scattered))
    pair = study.comparison(judgement, "other", size=100)
    assert pair.family == "headline"
    interval = require(pair.shown)
    ratio, lo, hi = interval.ratio, interval.lo, interval.hi
    by_name = rows(judgement)
    row, inverted, twice = (by_name[r.name] for r in PAIRS)
    assert row.judged
    assert (row.value, row.lo, row.hi, row.level) == (ratio, lo, hi, interval.level)
    assert interval.level > 0.95
    assert inverted.judged
    assert (inverted.value, inverted.lo, inverted.hi) == (1 / ratio, 1 / hi, 1 / lo)
    # An expression that is not a plain ratio is not a pair. It is computed by round, at a separate
    # level.
    assert not twice.judged
    assert twice.level == 0.95
    claim = next(
        c for c in judgement.claims if c.kind == "derived" and c.subject == "other over streaming"
    )
    assert claim.level == interval.level


def test_the_ratio_of_a_pair_that_is_not_compared_has_no_figure() -> None:
    study = PairStudy()
    other = study.cell("other", 100).id
    blocks = changed(study.blocks(scattered), other, answer=Answer("another", 1))
    judgement = judged(study, blocks)
    assert rows(judgement)["other_over_streaming"].value is None
    assert not [
        c for c in judgement.claims if c.kind == "derived" and c.subject == "other over streaming"
    ]


def test_a_ratio_that_is_a_step_has_the_figures_that_it_has_among_the_contributions() -> None:
    figures = (0.91, 0.81, 1.004, True, 0.9995)
    row = Derived("i", "step", "time(b) / time(a)", "ratio", ("b", "a"), False, 40, *figures)
    contrast = ContrastResult(
        Verdict.BETTER_SIZE_UNCERTAIN, Interval(0.908, 0.835, 0.982, 0.99875), 40, 1e-5, 1e-3
    )
    step = Step((Change("allocator", "system", "jemalloc"),), "b", "a", contrast, None)
    table = Contribution("i", "wall", "ladder", "a", "b", (step,), None, None, None, None, ())
    (by_name,) = with_contribution_figures([row], [table], [])
    assert (by_name.value, by_name.lo, by_name.hi, by_name.level) == (0.908, 0.835, 0.982, 0.99875)
    headline = make_comparison("b", "a", "wall", "headline", Verdict.INCONCLUSIVE)
    assert with_contribution_figures([row], [table], [headline]) == (row,)
    computed = replace(row, judged=False)
    assert with_contribution_figures([computed], [table], []) == (computed,)


def test_the_ratio_of_a_pair_without_an_upper_bound_has_no_interval() -> None:
    study = PairStudy()
    open_ended = make_comparison(
        *(study.cell("other", 100).id, study.cell("streaming", 100).id),
        "wall",
        "headline",
        Verdict.INCONCLUSIVE,
        shown=Interval(1.2, 0.0, math.inf, 0.99),
        rounds=6,
    )
    samples = collect(study.blocks(scattered))
    usable = frozenset(c.id for c in study.plan.cells)
    every = derived_rows(study.plan, samples, study.inputs(), usable, [open_ended])
    by_name = {row.name: row for row in every}
    row = by_name["other_over_streaming"]
    assert (row.judged, row.value, row.lo, row.hi, row.level) == (True, 1.2, None, None, None)
    inverted = by_name["streaming_over_other"]
    assert (inverted.value, inverted.lo, inverted.hi) == (1 / 1.2, None, None)
