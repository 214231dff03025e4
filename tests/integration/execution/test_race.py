"""A race while it is measured: who leaves, who stays, and what a kill changes (nothing)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bench_framework.execution.progress import CellDropped
from bench_framework.execution.racing import Decision
from bench_framework.model.looks import looks_of
from bench_framework.model.policies import MeasurePolicy
from bench_framework.store.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.model.plan import Plan

    MakePlan = Callable[..., Plan]
    Found = dict[tuple[str, int], tuple[str, ...]]
    """Input label and look from 0, to the labels that trail there."""

ARMS = {"a": ["run-a"], "b": ["run-b"], "c": ["run-c"]}


def racing(rounds: int = 20, **options: Any) -> MeasurePolicy:
    return MeasurePolicy(
        rounds_min=12, rounds_max=rounds, strategy="race", warmup_rounds=1, **options
    )


def scripted(plan: Plan, found: Found) -> Callable[[str, int, int], Decision]:
    """A looker that finds what it is told."""
    ids = {(c.input_id, c.label): c.id for c in plan.cells}

    def look(input_id: str, index: int, _: int) -> Decision:
        labels = found.get((plan.input(input_id).label, index), ())
        return Decision(stop=False, trailing=tuple(ids[input_id, label] for label in labels))

    return look


def rounds_of(record: Record) -> dict[tuple[str, str], int]:
    """Counted rounds by input label and cell label."""
    cells = {c.id: c for c in record.plan.cells}
    counts = Counter(b.cell_id for b in record.contents.blocks if not b.warmup and b.status == "ok")
    return {
        (record.plan.input(cells[c].input_id).label, cells[c].label): n for c, n in counts.items()
    }


def test_who_trails_is_measured_no_further(fake: Any, plan_of: MakePlan) -> None:
    plan = plan_of(ARMS, measure=racing())
    record = fake.measure(plan, looker=scripted(plan, {("all", 0): ("c",)}))
    first = looks_of(plan).rounds[0]
    assert rounds_of(record) == {
        ("all", "a"): 20,
        ("all", "b"): 20,
        ("all", "c"): first,
        ("all", "control"): 20,
    }
    [dropped] = [h for h in fake.observer.updates if isinstance(h, CellDropped)]
    assert (dropped.raced, dropped.round) == (True, first)
    assert (
        record.contents.looks[0].trailing == record.contents.looks[0].dropped == (dropped.cell_id,)
    )


def test_with_strategy_fixed_nobody_leaves(fake: Any, plan_of: MakePlan) -> None:
    plan = plan_of(ARMS, measure=replace(racing(), strategy="fixed"))
    record = fake.measure(plan, looker=scripted(plan, {("all", 0): ("c",)}))
    assert set(rounds_of(record).values()) == {20}
    assert record.contents.dropped == {}


def test_the_baseline_the_control_and_further_references_stay(fake: Any, plan_of: MakePlan) -> None:
    plan = plan_of(ARMS, measure=racing())
    plan = replace(plan, further_baselines=(next(v.id for v in plan.variants if v.label == "b"),))
    record = fake.measure(plan, looker=scripted(plan, {("all", 0): ("a", "b", "c", "control")}))
    found = rounds_of(record)
    assert found.pop(("all", "c")) < 20
    assert set(found.values()) == {20}


def test_a_variant_leaves_only_if_it_trails_on_every_input(fake: Any, plan_of: MakePlan) -> None:
    """b trails on x from the first look on, on y from the second; c on x alone."""
    plan = plan_of(ARMS, inputs=("x", "y"), measure=racing(30))
    looks = looks_of(plan).rounds
    found: Found = {("x", i): ("b", "c") for i in range(len(looks))}
    found |= {("y", i): ("b",) for i in range(1, len(looks))}
    counts = rounds_of(fake.measure(plan, looker=scripted(plan, found)))
    assert (counts["x", "b"], counts["y", "b"]) == (looks[1], looks[1])
    assert (counts["x", "c"], counts["y", "c"]) == (30, 30)


def test_an_input_on_which_a_variant_failed_does_not_keep_it(fake: Any, plan_of: MakePlan) -> None:
    plan = plan_of(ARMS, inputs=("x", "y"), measure=racing())
    broken = next(
        c.id for c in plan.cells if c.label == "c" and plan.input(c.input_id).label == "x"
    )
    cells = tuple(replace(c, cwd="/nowhere") if c.id == broken else c for c in plan.cells)
    plan = replace(plan, cells=cells)
    record = fake.measure(plan, looker=scripted(plan, {("y", 0): ("c",)}))
    assert [line.state for line in record.contents.dropped.values()] == ["failed", "raced"]
    assert rounds_of(record)["y", "c"] == looks_of(plan).rounds[0]


def test_who_is_idle_leaves_too_and_is_no_loser(fake: Any, plan_of: MakePlan) -> None:
    plan = plan_of(ARMS, inputs=("x", "y"), measure=racing())
    here = next(c.id for c in plan.cells if c.label == "c" and plan.input(c.input_id).label == "x")
    loser = scripted(plan, {("y", 0): ("c",)})

    def look(input_id: str, index: int, number: int) -> Decision:
        found = loser(input_id, index, number)
        return found._replace(idle=(here,)) if plan.input(input_id).label == "x" else found

    record = fake.measure(plan, looker=look)
    first = looks_of(plan).rounds[0]
    assert (rounds_of(record)["x", "c"], rounds_of(record)["y", "c"]) == (first, first)
    assert {line.state for line in record.contents.dropped.values()} == {"idle"}


@pytest.mark.parametrize("ending", ['"kind":"look"', '"kind":"dropped"'])
def test_who_has_left_stays_away_after_a_kill(fake: Any, plan_of: MakePlan, ending: str) -> None:
    """Killed right after the look, or right after the line of the cell that left: the same rounds follow."""
    plan = plan_of(ARMS, measure=racing())
    looker = scripted(plan, {("all", 0): ("c",)})
    whole = fake.measure(plan, looker=looker)
    wanted = rounds_of(whole)
    path = whole.path / "journal.jsonl"
    text = path.read_text().splitlines(keepends=True)
    last = next(index for index, line in enumerate(text) if ending in line)
    path.write_text("".join(text[: last + 1]))
    again = fake.measure(plan, Record.open(whole.path), looker)
    assert rounds_of(again) == wanted
    assert [line.state for line in again.contents.dropped.values()] == ["raced"]
    assert again.contents.complete
