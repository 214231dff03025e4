"""The part of a time difference that the gate names in addition to what was counted."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from bench_framework.features.gate import compute as gate, plans
from bench_framework.features.gate.explanation import _is_split, _known, explained
from bench_framework.model.facts.causes import CauseEvidence, Explained, PartKind, TimePart
from bench_framework.model.metrics import ITERATION, WAITS
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.functions import FunctionCost, FunctionCounts
from bench_framework.model.record.run import Block
from bench_framework.model.result.gate import GatedPair, Gating
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.text.write import render
from bench_framework.workflow import run
from bench_framework.workflow.run_options import RunContext
from tests.build import make_block, require
from tests.unit.judging.conftest import Study, gate_policy, log_normal_timing


def evidence(kind: PartKind, **shares: float) -> CauseEvidence:
    part = TimePart(name=kind, kind=kind, value=2.0, reference=1.0, difference=1.0)
    explained = tuple(
        Explained(part="waiting", metric=f"wait_{name}", share=share)
        for name, share in shares.items()
    )
    assert {item.metric for item in explained} <= {*WAITS}
    empty = CauseEvidence(
        cell_id="a",
        ref_cell_id="b",
        metric="wall",
        rounds=12,
        difference=1.0,
        parts=(part,),
        counters=(),
    )
    return replace(empty, explained=explained)


@pytest.mark.parametrize(
    ("place", "added"),
    [
        (evidence("waiting", disk=0.9, core=0.1), True),
        (evidence("waiting", disk=0.9), True),
        (evidence("waiting", disk=0.2, core=0.8), True),
        (evidence("sys", disk=0.9), False),
        (evidence("waiting"), False),
        (evidence("sys"), False),
        (None, False),
    ],
)
def test_waiting_is_added_to_what_was_counted_if_it_is_known_for_what(
    place: CauseEvidence | None, *, added: bool
) -> None:
    assert _is_split(place) is added


SPLIT = evidence("waiting", disk=0.9)


@pytest.mark.parametrize(
    ("first", "used"),
    [
        (evidence("waiting"), SPLIT),
        (evidence("waiting", sleep=0.9), evidence("waiting", sleep=0.9)),
        (evidence("sys"), evidence("sys")),
        (None, None),  # most of it is user time
    ],
)
def test_another_pass_says_only_for_what_the_first_one_waited(
    first: CauseEvidence | None, used: CauseEvidence | None
) -> None:
    assert _known([first, SPLIT]) == used
    assert _known([first]) == first


def test_a_regression_is_counted_although_another_configuration_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    example = Study(arms=("a", "b", "c"), policy=gate_policy(wall=0.02))

    def measured(seed: int) -> list[Block]:
        return example.blocks(log_normal_timing({"b": 1.5, "c": 1.5}, seed=seed))

    first = gate.first_pass(example.plan, example.contents(measured(7)))
    plan = require(plans.confirmation_plan(example.plan, first, "20260101T0000Z"))
    record = SimpleNamespace(plan=plan, contents=example.contents(measured(8)))
    counted: list[set[str]] = []

    def observe(plan: Plan, *_: object) -> None:
        counted.append({example.arm_of(cell) for cell in plan.cells} - {"a", "control"})

    monkeypatch.setattr(run, "observe_cells", observe)
    before = frozenset({example.cell("a").id, example.cell("b").id})
    driver = SimpleNamespace(env={})
    run._count_for_gate(record, RunContext(counted=before), driver)  # type: ignore[arg-type]
    run._count_for_gate(record, RunContext(), driver)  # type: ignore[arg-type]
    run._count_for_gate(record, RunContext(counts=False), driver)  # type: ignore[arg-type]
    assert counted == [{"c"}, {"b", "c"}]


def test_the_line_has_all_parts_of_the_time() -> None:
    user = TimePart(name="user", kind="user", value=2.0, reference=1.6, difference=0.43)
    waiting = TimePart(name="waiting", kind="waiting", value=2.0, reference=1.5, difference=0.55)
    sys = TimePart(name="sys", kind="sys", value=1.0, reference=1.0, difference=0.02)
    place = replace(evidence("waiting"), parts=(waiting, user, sys))
    assert render("explanation", None, None, None, place) == (
        "of the time difference, waiting 55\u202f% (for what: unknown), user time 43\u202f%"
    )


@pytest.mark.parametrize(
    ("expected", "ratio", "second", "options"),
    [
        ("same-instructions", 1.2, 1e-6, {}),
        ("worse", 1.2, 1e-6, {"on_same_instructions": "fail"}),
        ("worse", 1.2, 1e-6, {"parse": 4001}),  # a division in place of a shift would be one, too
        ("worse", 1.2, 1e-6, {"parse": 0}),  # not counted
        ("worse", 1.2, 1e-5, {}),  # it waits for most of its time, or was counted in part
        ("worse", 1.8, 1e-6, {}),  # more than the place of code explains
        ("worse", 1.2, 1e-6, {"metric": "wall"}),
        ("same-instructions", 1.2, 1e-6, {"other": "binary_size"}),  # which is worse anyway
    ],
)
def test_a_benchmark_with_the_same_instructions_passes_if_the_scenario_says_so(
    expected: str, ratio: float, second: float, options: dict[str, Any]
) -> None:
    given: dict[str, Any] = {
        "on_same_instructions": "warn",
        "parse": 4000,
        "metric": ITERATION,
    } | options
    policy = gate_policy(iteration=0.02, on_same_instructions=given["on_same_instructions"])
    example = Study(rounds=1, policy=policy)
    new, old = (example.cell(arm).id for arm in "ba")
    interval = Interval(ratio, ratio - 0.05, ratio + 0.05, 0.95)
    limits = Thresholds(0.02, 0.0)
    c = Comparison.unjudged(new, old, given["metric"], "headline", limits)
    c = replace(c, verdict=Verdict.WORSE, shown=interval)
    pair = GatedPair(new, given["metric"], 0.02, "worse", c, again=c)
    others = [replace(pair, metric=given["other"])] if "other" in given else []
    gating = Gating((pair, *others), 0.01, 1, 1, 12, 1, ())
    block = make_block(0, 1, 0, new, 1.0, metrics={ITERATION: second})
    contents = example.contents([block])
    for cell_id, number in ((new, given["parse"]), (old, 4000)):
        costs = (FunctionCost("c::parse", "", number, 1),)
        if number:
            contents.functions[cell_id, 1] = FunctionCounts(cell_id, 1, costs)
    result = explained(example.plan, gating, [contents])
    assert [p.state for p in result.pairs] == [expected, *("worse" for _ in others)]
    assert result.exit_code == (0 if expected == "same-instructions" and not others else 1)
