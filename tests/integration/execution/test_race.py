"""A race during measuring: dropped cells, cells that stay, and resumption after a kill."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bench_framework.errors import Interrupted
from bench_framework.execution.progress import CellDropped, RoundFinished, Update
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.result import race
from bench_framework.model.result.interim import LookOutcome
from bench_framework.store.records import Record
from tests.integration.execution.conftest import plan_of

Trailing = dict[tuple[str, int], tuple[str, ...]]
"""Labels that are worse than another one, by input label and index of the interim analysis."""

ARMS = {"a": ["run-a"], "b": ["run-b"], "c": ["run-c"]}


def racing(rounds: int = 20, **options: Any) -> MeasurePolicy:
    return MeasurePolicy(
        rounds_min=12, rounds_max=rounds, strategy="race", warmup_rounds=1, **options
    )


def scripted(plan: Plan, trailing: Trailing) -> Callable[[str, int, int], LookOutcome]:
    """Return a looker with given decisions."""
    ids = {(c.input_id, c.label): c.id for c in plan.cells}

    def look(input_id: str, index: int, _: int) -> LookOutcome:
        labels = trailing.get((plan.input(input_id).label, index), ())
        return LookOutcome(stop=False, trailing=tuple(ids[input_id, label] for label in labels))

    return look


def rounds_of(record: Record) -> dict[tuple[str, str], int]:
    """Return the number of counted rounds by input label and cell label."""
    cells = {c.id: c for c in record.plan.cells}
    counts = Counter(b.cell_id for b in record.contents.blocks if not b.warmup and b.status == "ok")
    return {
        (record.plan.input(cells[c].input_id).label, cells[c].label): n for c, n in counts.items()
    }


@pytest.mark.slow
def test_a_trailing_cell_is_dropped(fake: Any) -> None:
    plan = plan_of(ARMS, measure=racing())
    record = fake.measure(plan, looker=scripted(plan, {("all", 0): ("c",)}))
    first = looks_of(plan).rounds[0]
    expected = {("all", "a"): 20, ("all", "b"): 20, ("all", "c"): first, ("all", "control"): 20}
    assert rounds_of(record) == expected
    [dropped] = [h for h in fake.observer.updates if isinstance(h, CellDropped)]
    assert (dropped.raced, dropped.round) == (True, first)
    assert (
        record.contents.looks[0].trailing == record.contents.looks[0].dropped == (dropped.cell_id,)
    )


@pytest.mark.slow
def test_the_fixed_strategy_drops_no_cell(fake: Any) -> None:
    plan = plan_of(ARMS, measure=replace(racing(), strategy="fixed"))
    record = fake.measure(plan, looker=scripted(plan, {("all", 0): ("c",)}))
    assert set(rounds_of(record).values()) == {20}
    assert record.contents.dropped == {}


@pytest.mark.slow
def test_a_finished_cell_is_measured_in_every_fourth_round_of_its_input(fake: Any) -> None:
    plan = plan_of(ARMS, inputs=("x", "y"), measure=replace(racing(), strategy="fixed"))
    x = plan.inputs[0].id
    names = {c.id for c in plan.cells if c.input_id == x and c.label in ("a", "c", "control")}

    def look(input_id: str, index: int, _: int) -> LookOutcome:
        done = input_id == x and index == 0
        return LookOutcome(stop=False, settled=tuple(names) if done else ())

    record = fake.measure(plan, looker=look)
    counts = rounds_of(record)
    first = looks_of(plan).rounds[0]
    later = [n for n in range(first + 1, 21) if race.includes_finished(plan.measure.seed, x, n)]
    assert counts.pop(("x", "c")) == first + len(later)
    assert len(later) == 2
    assert set(counts.values()) == {20}
    [line] = record.contents.dropped.values()
    assert (line.state, line.round) == ("idle", first)


@pytest.mark.slow
def test_a_resumed_record_keeps_its_finished_cells(fake: Any) -> None:
    plan = plan_of(ARMS, measure=replace(racing(), strategy="fixed"))
    name = next(c.id for c in plan.cells if c.label == "c")

    def look(_: str, index: int, __: int) -> LookOutcome:
        return LookOutcome(stop=False, settled=() if index else (name,))

    def react(update: Update) -> None:
        if isinstance(update, RoundFinished) and update.round == 14 and not update.warmup:
            fake.stop.request()

    record = fake.create(plan)
    fake.observer.react = react
    with pytest.raises(Interrupted):
        fake.measure(plan, record, looker=look)
    fake.observer.react = None
    whole = fake.measure(plan, Record.open(record.path), looker=look)
    assert rounds_of(whole)[("all", "c")] == 12 + 2


@pytest.mark.slow
def test_a_finished_cell_that_fails_is_dropped(fake: Any) -> None:
    plan = plan_of(ARMS, measure=replace(racing(), strategy="fixed", rounds_max=40))
    name = next(c.id for c in plan.cells if c.label == "c")

    def look(_: str, index: int, __: int) -> LookOutcome:
        if not index:
            fake.script({"match": "run-c", "exit_code": 1}, {"match": "run-"})
        return LookOutcome(stop=False, settled=() if index else (name,))

    record = fake.measure(plan, looker=look)
    assert record.contents.dropped[name].state == "failed"
    assert name not in {b.cell_id for b in record.contents.blocks if b.round > 26}


def test_the_baseline_the_control_and_further_references_stay(fake: Any) -> None:
    plan = plan_of(ARMS, measure=racing())
    plan = replace(plan, further_baselines=(next(v.id for v in plan.variants if v.label == "b"),))
    record = fake.measure(plan, looker=scripted(plan, {("all", 0): ("a", "b", "c", "control")}))
    rounds = rounds_of(record)
    assert rounds.pop(("all", "c")) < 20
    assert set(rounds.values()) == {20}


@pytest.mark.slow
def test_a_variant_is_dropped_only_if_it_is_worse_on_every_input(fake: Any) -> None:
    """b is worse on x from the first analysis on, on y from the second; c is worse on x only."""
    plan = plan_of(ARMS, inputs=("x", "y"), measure=racing(30))
    looks = looks_of(plan).rounds
    trailing: Trailing = {("x", i): ("b", "c") for i in range(len(looks))}
    trailing |= {("y", i): ("b",) for i in range(1, len(looks))}
    counts = rounds_of(fake.measure(plan, looker=scripted(plan, trailing)))
    assert (counts["x", "b"], counts["y", "b"]) == (looks[1], looks[1])
    assert (counts["x", "c"], counts["y", "c"]) == (30, 30)


@pytest.mark.slow
def test_an_input_on_which_a_variant_failed_is_ignored(fake: Any) -> None:
    plan = plan_of(ARMS, inputs=("x", "y"), measure=racing())
    broken = next(
        c.id for c in plan.cells if c.label == "c" and plan.input(c.input_id).label == "x"
    )
    cells = tuple(replace(c, cwd="/nowhere") if c.id == broken else c for c in plan.cells)
    plan = replace(plan, cells=cells)
    record = fake.measure(plan, looker=scripted(plan, {("y", 0): ("c",)}))
    assert [line.state for line in record.contents.dropped.values()] == ["failed", "raced"]
    assert rounds_of(record)["y", "c"] == looks_of(plan).rounds[0]


@pytest.mark.slow
def test_an_idle_cell_is_dropped_too(fake: Any) -> None:
    plan = plan_of(ARMS, inputs=("x", "y"), measure=racing())
    here = next(c.id for c in plan.cells if c.label == "c" and plan.input(c.input_id).label == "x")
    loser = scripted(plan, {("y", 0): ("c",)})

    def look(input_id: str, index: int, number: int) -> LookOutcome:
        decision = loser(input_id, index, number)
        return replace(decision, settled=(here,)) if plan.input(input_id).label == "x" else decision

    record = fake.measure(plan, looker=look)
    first = looks_of(plan).rounds[0]
    assert (rounds_of(record)["x", "c"], rounds_of(record)["y", "c"]) == (first, first)
    assert {line.state for line in record.contents.dropped.values()} == {"idle"}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ['"kind":"look"', '"kind":"dropped"'])
def test_a_dropped_cell_stays_dropped_after_a_kill(fake: Any, ending: str) -> None:
    """A kill after the analysis or after the line of the dropped cell changes no round."""
    plan = plan_of(ARMS, measure=racing())
    looker = scripted(plan, {("all", 0): ("c",)})
    whole = fake.measure(plan, looker=looker)
    expected = rounds_of(whole)
    path = whole.path / "journal.jsonl"
    text = path.read_text().splitlines(keepends=True)
    last = next(index for index, line in enumerate(text) if ending in line)
    path.write_text("".join(text[: last + 1]))
    again = fake.measure(plan, Record.open(whole.path), looker)
    assert rounds_of(again) == expected
    assert [line.state for line in again.contents.dropped.values()] == ["raced"]
    assert again.contents.complete
