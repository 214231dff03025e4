"""Suspicions: one change shows, refutes or leaves open. Projections: never of what was measured."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bench_framework.analysis import suspicions
from bench_framework.analysis.judge import judge
from bench_framework.model.judgement import ONE_PROGRAM, Comparison
from bench_framework.model.plan import DerivedRow, NamedCell
from bench_framework.model.suspicion import UNTESTED, Cause, ProjectedRow, Suspicion
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from conftest import Study

    from bench_framework.model.judgement import Judgement
    from bench_framework.model.plan import Plan

SPEEDS = {"a": 1.0, "quick": 0.8, "alike": 1.0, "slow": 1.3}
MIB = 1 << 20


def suspecting(made: Study, *found: Suspicion) -> Plan:
    return replace(made.plan, causes=found)


def suspicion(made: Study, arm: str, *, before: str = "a", expect: str = "better") -> Suspicion:
    ids = {dict(v.values)["arm"]: v.id for v in made.plan.variants}
    return Suspicion(f"what {before} has", f"arm: {before} → {arm}", ids[arm], ids[before], expect)  # type: ignore[arg-type]  # a literal


def judged(made: Study, plan: Plan, spread: float = 0.004) -> Judgement:
    noise = random.Random(8)
    blocks = made.blocks(lambda arm, *_: 0.05 * SPEEDS.get(arm, 1.0) * math.exp(noise.gauss(0, spread)))
    return judge(plan, blocks, {}, made.inputs(), made.looks())


@pytest.fixture
def made(study: type[Study]) -> Study:
    return study(arms=tuple(SPEEDS), sizes=(1,))


def test_a_decided_change_shows_or_refutes_and_says_no_more_than_its_comparison(made: Study) -> None:
    plan = suspecting(
        made, suspicion(made, "quick"), suspicion(made, "slow"), suspicion(made, "slow", expect="worse"),
        suspicion(made, "quick", expect="worse"), suspicion(made, "alike"),
    )  # fmt: skip
    found = judged(made, plan)
    assert [c.status for c in found.causes] == ["shown", "refuted", "shown", "refuted", "refuted"]
    headline = {c.cell_id: c for c in found.comparisons if c.family == "headline" and c.metric == "wall"}
    for cause in found.causes:
        assert (cause.verdict, cause.shown) == (
            headline[cause.cell_id].verdict,
            headline[cause.cell_id].shown,
        )
    texts = [c.text for c in found.claims if c.kind == "cause"]
    assert texts[0].startswith(
        "the test of “what a has” finds what was suspected: with arm: a → quick and no other axis"
    )
    assert "less time [" in texts[0]
    assert texts[1].startswith("the test of “what a has” refutes it: ")
    assert "more time [" in texts[1]
    assert "less than 2\u202f% apart in time" in texts[4]
    for text in texts:
        assert "because" not in text
        assert "cause" not in text


def test_a_pair_beside_the_baseline_is_tested_by_the_best_groups_comparison(made: Study) -> None:
    plan = suspecting(made, suspicion(made, "quick", before="slow"))
    found = judged(made, plan)
    (cause,) = found.causes
    assert cause.status == "shown"
    assert cause.shown is not None
    assert cause.shown.lo < 0.8 / 1.3 < cause.shown.hi
    (claim,) = [c for c in found.claims if c.kind == "cause"]
    assert claim.reference == "slow"


def test_noise_shows_nothing(made: Study) -> None:
    found = judged(made, suspecting(made, suspicion(made, "alike")), spread=0.3)
    (cause,) = found.causes
    assert cause.status == "not shown"
    (claim,) = [c for c in found.claims if c.kind == "cause"]
    assert "does not decide" in claim.text
    assert "undecided in time" in claim.text


def test_without_a_change_or_without_its_cells_nothing_is_tested(made: Study) -> None:
    lost = replace(suspicion(made, "quick"), variant_id="0" * 12)
    plan = suspecting(made, Suspicion("the weather"), lost)
    found = judged(made, plan)
    assert [(c.status, c.reason) for c in found.causes] == [
        ("untested", UNTESTED), ("untested", "this record does not compare the two"),
    ]  # fmt: skip
    texts = [c.text for c in found.claims if c.kind == "cause"]
    assert texts[0] == "“the weather” was not tested (no single change of this record tests it)"
    assert texts[1].startswith("“what a has” was not tested: arm: a → quick (")


@pytest.mark.parametrize(
    ("verdict", "reason", "status"),
    [
        (Verdict.UNDECIDED, ONE_PROGRAM, "untested"),
        (Verdict.OTHER_OUTPUT, "digest", "untested"),
        (Verdict.FAILED, "exit 1", "untested"),
        (Verdict.UNDECIDED, "control tripped", "not shown"),
        (Verdict.BETTER_SIZE_OPEN, "", "shown"),
    ],
)
def test_what_cannot_be_compared_tests_nothing(
    made: Study, verdict: Verdict, reason: str, status: str
) -> None:
    plan = suspecting(made, suspicion(made, "quick"))
    cell, reference = made.cell("quick"), made.cell("a")
    pair = Comparison(cell.id, reference.id, "wall", "headline", verdict, reason)
    (found,) = suspicions.causes(plan, [pair])
    assert isinstance(found, Cause)
    assert (found.status, found.reason) == (status, reason)


def projecting(made: Study, *rows: ProjectedRow) -> Plan:
    ids = {dict(v.values)["arm"]: v.id for v in made.plan.variants}
    return replace(
        made.plan, named=(NamedCell("base", ids["a"]), NamedCell("quick", ids["quick"])),
        derived=(DerivedRow("share", "rate(base) / rate(quick)"),), projections=rows,
    )  # fmt: skip


def test_a_projection_is_its_formula_over_measured_rounds_and_no_derived_row(made: Study) -> None:
    plan = projecting(
        made, ProjectedRow("ten", "10 * time(base)", "time grows"), ProjectedRow("more", "2 * ten")
    )
    found = judged(made, plan)
    assert [r.name for r in found.derived if not r.measured] == ["share"]
    first, second = found.projections
    assert first.value == pytest.approx(0.5, rel=0.02)
    assert second.value == pytest.approx(1.0, rel=0.02)
    assert first.lo is not None
    assert first.hi is not None
    assert first.lo <= 0.5 * 1.01
    texts = [c.text for c in found.claims if c.kind == "projection"]
    assert texts[0].startswith("ten would be ")
    assert "projected and not measured: assuming time grows; 10 * time(base) over 40 rounds" in texts[0]
    assert "assuming" not in texts[1]


def test_what_was_measured_is_not_projected(made: Study) -> None:
    plan = projecting(made, ProjectedRow("quick_one", "time(base) / 2", "half", cell="quick"))
    found = judged(made, plan)
    (row,) = found.projections
    assert (row.value, row.measured) == (None, "quick")
    (claim,) = [c for c in found.claims if c.kind == "projection"]
    assert claim.text == "quick one is not projected: quick measures it"


def test_a_projection_without_its_figures_is_not_told(made: Study) -> None:
    plan = projecting(made, ProjectedRow("gone", "time(base)", "x"))
    plan = replace(plan, named=(NamedCell("base", "0" * 12),))
    found = judged(made, plan)
    assert [row.value for row in found.projections] == [None]
    assert not [c for c in found.claims if c.kind == "projection"]
