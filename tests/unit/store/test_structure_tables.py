"""Effects of the axes on disk: the tables, the judgement and back, and records from before both."""

import csv
import io
from dataclasses import replace

import pytest

from bench_framework.model.facts import AxisEffect, Claim, Contributions, Interaction
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.result.judgement import Judgement
from bench_framework.model.result.structure import (
    Change,
    ContrastResult,
    Contribution,
    Crossing,
    Effect,
    EffectCell,
    Factorial,
    Front,
    Replacement,
    Standing,
    Step,
    Structure,
)
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.store import tables
from bench_framework.store.judged import VERSION, Judged, dump_judged, load_judged
from bench_framework.store.records import Record
from bench_framework.store.source import Source
from tests.unit.store.conftest import PLAN

LESS = ContrastResult(Verdict.BETTER, Interval(0.9, 0.88, 0.92, 0.99), 40, 1e-9, 1e-8)
OPEN = ContrastResult(Verdict.INCONCLUSIVE, None, 40, 0.5, 1.0, Reason(ReasonCode.NOT_POOLED))
PARSER, ALLOC = Change("parser", "simd", "sonic"), Change("alloc", "sys", "je")


@pytest.fixture
def structure() -> Structure:
    item = PLAN.inputs[0].id
    base, other = (cell.id for cell in PLAN.cells[:2])
    cell = EffectCell("rayon", (other, base), LESS)
    return Structure(
        factorials=(
            Factorial(item, (("parser", ("simd", "sonic")),), (("alloc", "mi"),), None, 40),
        ),
        effects=(
            Effect(item, "wall", (PARSER,), pooled=True, mean=LESS, cells=(cell, cell)),
            Effect(item, "wall", (PARSER, ALLOC), pooled=False, mean=OPEN, cells=(cell,)),
        ),
        contributions=(
            Contribution(
                item,
                "wall",
                "alone",
                base,
                other,
                (Step((PARSER,), other, base, LESS, 0.6),),
                LESS,
                LESS,
                0.4,
                0,
                (Step((ALLOC,), other, base, LESS, None),),
            ),
        ),
        crossings=(
            Crossing((base, other), "v", "w", "wall", item, item, 2e7, 1e7, 3e7, 0.9875, 40),
        ),
        fronts=(Front(item, ("wall",), (Standing(base, False, (), (other,)),)),),
        replacements=(Replacement(item, "wall", "", base, other, (PARSER,)),),
        effect_family=3,
        contribution_family=4,
    )


@pytest.fixture
def judgement(structure: Structure) -> Judgement:
    return Judgement(
        looks=looks_of(PLAN),
        states=(),
        summaries=(),
        comparisons=(),
        best=(),
        floors=(),
        scaling=(),
        status="conclusive",
        structure=structure,
        claims=(
            Claim(
                "parser sonic",
                "simd",
                "wall",
                verdict=Verdict.BETTER,
                fact=AxisEffect(combinations=2, better=2, worse=0, significant_in=2, pooled=True),
                id="c7",
                text="less",
            ),
            Claim(
                "parser sonic",
                "alloc je",
                "wall",
                fact=Interaction(pooled=False),
                id="c8",
                text="changes sign",
            ),
            Claim(
                "b",
                "a",
                "wall",
                verdict=Verdict.BETTER,
                fact=Contributions(design="ladder", parts=(), inconclusive=0, in_percent=False),
                id="c9",
                text="together",
            ),
        ),
    )


def test_a_judgement_with_its_structure_survives(judgement: Judgement) -> None:
    judged = Judged(VERSION, "20260302T1704Z", "demo", judgement)
    text = dump_judged(judged)
    assert load_judged(text) == judged
    assert dump_judged(load_judged(text)) == text


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_effects_have_a_row_each_and_one_for_each_of_their_cells(
    measured: Record, judgement: Judgement
) -> None:
    source = Source(measured.plan, measured.contents, judgement)
    effects = table(tables.table_texts(source)["effects"])
    assert [(r["kind"], r["axis_2"], r["where"]) for r in effects] == [
        ("main", "", ""),
        ("main-cell", "", "rayon"),
        ("main-cell", "", "rayon"),
        ("interaction", "alloc", ""),
        ("interaction-cell", "alloc", "rayon"),
    ]
    first, interaction = effects[0], effects[3]
    interval = [first[name] for name in ("ratio", "lo", "hi", "level")]
    assert interval == ["0.9", "0.88", "0.92", "0.99"]
    claim = [first[name] for name in ("claim_id", "text", "better", "worse")]
    assert claim == ["c7", "less", "2", "0"]
    outcome = [interaction[name] for name in ("ratio", "pooled", "verdict")]
    assert outcome == ["", "false", "inconclusive"]
    assert interaction["reason"].startswith("its sign changes")


def test_contributions_have_steps_the_interaction_and_the_total(
    measured: Record, judgement: Judgement
) -> None:
    source = Source(measured.plan, measured.contents, judgement)
    steps = table(tables.table_texts(source)["contributions"])
    assert [(r["step"], r["change"], r["share"]) for r in steps] == [
        ("1", "parser: simd → sonic", "0.6"),
        ("beyond", "alloc: sys → je", ""),
        ("interaction", "", "0.4"),
        ("total", "", "1.0"),
    ]
    assert (steps[-1]["claim_id"], steps[0]["claim_id"]) == ("c9", "")


def test_a_record_without_effects_has_no_such_table(measured: Record, judgement: Judgement) -> None:
    both = {"effects", "contributions"}
    none = replace(judgement, structure=Structure())
    for results, expected in ((judgement, both), (none, set()), (None, set())):
        names = tables.record_tables(Source(measured.plan, measured.contents, results))
        assert both & set(names) == expected
