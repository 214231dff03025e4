"""Measuring in sessions: rounds, warm-up, copies and resumption, with the fake hyperfine."""

import itertools
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import Interrupted, MachineError
from bench_framework.execution import progress, sessions
from bench_framework.execution.budget import session_s
from bench_framework.execution.schedule import InputProgress, Looker
from bench_framework.foreign import sha256_of
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Dataset, Plan
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Block, Look, PreparedInput
from bench_framework.model.result import race
from bench_framework.model.result.interim import LookOutcome
from bench_framework.store import layout, lines
from bench_framework.store.journal import read_journal
from bench_framework.store.records import Record
from bench_framework.text.reasons import phrase
from tests.integration.execution.conftest import events_of, plan_of

ARMS = {"a": ["run-a"], "b": ["run-b"]}
CELLS = 3
SESSIONS = MeasurePolicy(rounds_min=2, rounds_max=6, sessions=3, until="rounds")


def kinds(record: Record) -> list[tuple[bool, int]]:
    """Return (warm-up, round) in order, without repetition."""
    blocks = [b for b in record.contents.blocks if b.status != "skipped"]
    return [key for key, _ in itertools.groupby((b.warmup, b.round) for b in blocks)]


WHOLE = [
    *[(True, 1), (True, 2), (False, 1), (False, 2)],
    *[(True, 3), (True, 4), (False, 3), (False, 4)],
    *[(True, 5), (True, 6), (False, 5), (False, 6)],
]


def test_every_session_has_its_warm_up_and_its_rounds(fake: Any) -> None:
    plan = plan_of(ARMS, measure=SESSIONS)
    record = fake.measure(plan)
    assert kinds(record) == WHOLE[:4]
    assert not record.contents.complete
    assert sessions.next_session(plan, record.contents) == 2
    fake.measure(plan, record)
    assert sessions.next_session(plan, record.contents) == 3
    fake.measure(plan, record)
    assert kinds(record) == WHOLE
    assert record.contents.complete
    counts = Counter((b.warmup, b.round) for b in record.contents.blocks)
    assert set(counts.values()) == {CELLS}
    assert len(record.contents.looks) == 1


def test_a_budget_gives_all_sessions_the_same_number_of_rounds(fake: Any) -> None:
    measure = MeasurePolicy(
        rounds_min=3, rounds_max=15, sessions=3, by_budget=True, budget_s=1000.0
    )
    record = fake.measure(plan_of(ARMS, measure=measure))
    assert record.plan.measure.session_rounds == 5
    assert record.contents.rounds == dict.fromkeys(record.contents.rounds, 5)


def test_an_interrupted_session_continues(fake: Any) -> None:
    plan = plan_of(ARMS, measure=SESSIONS)
    record = fake.create(plan)
    fake.measure(plan, record)
    begun = 0

    def react(update: progress.Update) -> None:
        nonlocal begun
        begun += isinstance(update, progress.BlockStarted)
        if begun == 2 * CELLS + CELLS + 1:  # the first block of round 4
            fake.stop.request()

    fake.observer.react = react
    with pytest.raises(Interrupted):
        fake.measure(plan, record)
    fake.observer.react = None
    again = Record.open(record.path)
    assert sessions.next_session(plan, again.contents) == 2
    fake.measure(plan, again)
    fake.measure(plan, again)
    assert kinds(again) == WHOLE
    assert again.contents.complete


def test_an_input_that_changes_between_sessions_is_not_measured_further(
    fake: Any, tmp_path: Path
) -> None:
    plan = plan_of(ARMS, inputs=("x", "y"), measure=SESSIONS)
    for name in "xy":
        (tmp_path / name).write_text("same")
    inputs = [
        PreparedInput(item.id, str(path), 4, sha256_of(path), "f", None)
        for item, path in zip(plan.inputs, (tmp_path / "x", tmp_path / "y"), strict=True)
    ]
    record = fake.measure(plan, inputs=inputs)
    (tmp_path / "x").write_text("other")
    fake.measure(plan, record, inputs=inputs)
    assert sessions.next_session(plan, record.contents) == 3
    fake.measure(plan, record, inputs=inputs)
    assert [record.contents.rounds[item.id] for item in plan.inputs] == [2, 6]
    assert len(events_of(record, "BX420")) == 1
    assert record.contents.complete
    assert read_journal(record.path / layout.JOURNAL).changed == {plan.inputs[0].id}


def test_a_cell_that_failed_stays_out_of_later_sessions(fake: Any) -> None:
    fake.script({"match": "run-b", "exit_code": 1}, {"match": "run-", "wall_s": 0.01})
    plan = plan_of({**ARMS, "c": ["run-c"]}, measure=SESSIONS)
    record = fake.measure(plan)
    fake.measure(plan, record)
    failed = {b.cell_id for b in record.contents.blocks if b.status == "failed"}
    assert len(failed) == 1
    assert max(b.round for b in record.contents.blocks if b.cell_id in failed) <= 2


@pytest.mark.slow
def test_an_input_whose_cells_failed_does_not_stop_the_sessions_of_another(fake: Any) -> None:
    plan = plan_of(ARMS, inputs=("one", "two"), measure=SESSIONS, cell={"env": ()})
    first, second = plan.inputs
    broken = next(c for c in plan.cells_of(first.id) if c.label == "b")
    cells = tuple(replace(c, command=(("broken",),)) if c is broken else c for c in plan.cells)
    plan = replace(plan, cells=cells)
    fake.script({"match": "broken", "exit_code": 1}, {"match": "run-", "wall_s": 0.01})
    record = fake.create(plan)
    for _ in range(3):
        assert not record.contents.complete
        fake.measure(plan, record)
    assert record.contents.complete
    assert record.contents.rounds[second.id] == 6
    assert record.contents.rounds.get(first.id, 0) < 6


def copied_plan(kind: str = "generated") -> tuple[Plan, PreparedInput]:
    plan = plan_of(ARMS, measure=SESSIONS)
    (item,) = plan.inputs
    dataset = Dataset(kind, "prose", 4, 42)  # type: ignore[arg-type]
    item = replace(item, dataset=dataset)
    plan = replace(plan, inputs=(item,), program=None)
    return plan, PreparedInput(item.id, None, 4, None, "prose", 42)


def test_each_session_has_new_copies_at_the_same_paths(fake: Any, tmp_path: Path) -> None:
    plan, item = copied_plan()
    source, program = tmp_path / "prose.txt", tmp_path / "prog"
    source.write_text("text")
    program.write_text("#!/bin/sh\n")
    fake.build = replace(fake.build, path=str(program), control_path=str(program))
    record = fake.create(plan)
    paths = []
    record.contents.builds = (fake.build,)
    record.contents.inputs = (replace(item, path=str(source)),)
    env = {"BENCHCTL_CACHE": str(tmp_path / "cache")}
    for _ in range(2):
        with sessions.fresh_copies(record, env) as files:
            (build,), (given,) = files.builds, files.inputs
            assert build.path is not None
            assert build.control_path is not None
            assert given.path is not None
            assert Path(given.path).read_text() == "text"
            assert Path(build.path).stat().st_mode & 0o111
            stats = [Path(p).stat().st_ino for p in (build.path, build.control_path, given.path)]
            assert not {*stats} & {source.stat().st_ino, program.stat().st_ino}
            paths.append((build.path, build.control_path, given.path))
        assert not Path(given.path).exists()
    assert paths[0] == paths[1]
    assert len({*paths[0]}) == 3


def test_files_of_the_user_are_not_copied(fake: Any, tmp_path: Path) -> None:
    plan, item = copied_plan("file")
    source = tmp_path / "mine.txt"
    source.write_text("text")
    record = fake.create(plan)
    record.contents.inputs = (replace(item, path=str(source)),)
    with sessions.fresh_copies(record, {"BENCHCTL_CACHE": str(tmp_path)}) as files:
        assert files.inputs == record.contents.inputs


def test_a_program_that_may_depend_on_its_path_is_not_copied_and_noted(
    fake: Any, tmp_path: Path
) -> None:
    plan, _ = copied_plan()
    plan = replace(plan, program=("true",))
    build = replace(fake.build, path="/bin/true", control_path="/bin/true")
    record = fake.create(plan)
    record.contents.builds = (build,)
    with sessions.fresh_copies(record, {"BENCHCTL_CACHE": str(tmp_path)}) as files:
        assert files.builds == (build,)
    (event,) = sessions.copy_events(plan, [build])
    assert event.code == "BX346"
    assert "true" in event.message
    one = replace(plan, measure=plan.measure.in_one_session)
    assert sessions.copy_events(one, [build]) == []
    # The second pass of a gate is a session as well.
    assert sessions.needs_copies(replace(one, confirms="20260101T0000Z"))


def test_copies_that_do_not_fit_are_an_error_before_anything_is_written(
    fake: Any, tmp_path: Path
) -> None:
    plan, item = copied_plan()
    record = fake.create(plan)
    record.contents.inputs = (replace(item, path="/none", size_bytes=1 << 60),)
    with (
        pytest.raises(MachineError, match="a session copies the inputs") as caught,
        sessions.fresh_copies(record, {"BENCHCTL_CACHE": str(tmp_path)}),
    ):
        pass
    assert caught.value.code == "BC401"


RANGE = MeasurePolicy(rounds_min=5, rounds_max=20, sessions=4, sessions_min=2)


def test_an_input_that_failed_in_the_last_round_of_a_session_ends_no_later_session(
    fake: Any,
) -> None:
    """Without an interim analysis of its own, it looked like one that was interrupted."""
    plan = plan_of(ARMS, inputs=("one", "two"), measure=RANGE)
    first, second = plan.inputs
    contents = fake.create(plan).contents
    contents.rounds = {first.id: 10, second.id: 10}
    contents.looks = [Look(second.id, 0, 10, stopped=False)]
    assert sessions.next_session(plan, contents) == 2
    for cell in plan.compared_cells(first.id)[1:]:
        contents.dropped[cell.id] = lines.Dropped(cell.id, first.id, 10, False, "failed")
    assert sessions.next_session(plan, contents) == 3


def test_a_session_that_was_interrupted_in_the_last_round_of_an_input_continues(fake: Any) -> None:
    policy = MeasurePolicy(rounds_min=5, rounds_max=20, sessions=4)
    plan = plan_of({**ARMS, "c": ["run-c"]}, inputs=("one", "two"), measure=policy)
    first, second = plan.inputs
    contents = fake.create(plan).contents
    contents.rounds = {first.id: 5, second.id: 4}
    ran = [c.id for item in plan.inputs for c in plan.compared_cells(item.id) if c.label != "c"]
    contents.blocks = [Block(0, 1, 0, id_, False, "ok", "") for id_ in ran]
    assert sessions.next_session(plan, contents) == 1
    # One has failed, and another was not built: nothing is left to compare.
    failed = plan.compared_cells(second.id)[1].id
    contents.dropped[failed] = lines.Dropped(failed, second.id, 4, False, "failed")
    assert sessions.next_session(plan, contents) == 2


def all_sessions(fake: Any, record: Record, looker: Looker) -> list[int]:
    """Measure the sessions of a record that remain, and return their numbers."""
    numbers = []
    while not record.contents.complete:
        numbers.append(sessions.next_session(record.plan, record.contents))
        fake.measure(record.plan, record, looker)
    return numbers


@pytest.mark.slow
def test_a_range_of_sessions_ends_when_nothing_is_open(fake: Any) -> None:
    plan = plan_of(ARMS, measure=RANGE)
    record = fake.create(plan)
    assert looks_of(plan).rounds == (10, 15, 20)
    assert all_sessions(fake, record, lambda _, index, __: LookOutcome(stop=index == 1)) == [
        1,
        2,
        3,
    ]
    expected = [(0, 10, False), (1, 15, True)]
    assert [(x.index, x.round, x.stopped) for x in record.contents.looks] == expected


@pytest.mark.slow
def test_a_finished_configuration_has_few_rounds_in_later_sessions(fake: Any) -> None:
    plan = plan_of({**ARMS, "c": ["run-c"]}, measure=RANGE)
    record, cell = fake.create(plan), next(c for c in plan.cells if c.label == "b")

    def looker(_: str, index: int, __: int) -> LookOutcome:
        return LookOutcome(stop=False, settled=(cell.id,) if index == 0 else ())

    assert all_sessions(fake, record, looker) == [1, 2, 3, 4]
    rounds = [b.round for b in record.contents.blocks if b.cell_id == cell.id and not b.warmup]
    seed, (here,) = plan.measure.seed, plan.inputs
    later = [n for n in range(11, 21) if race.includes_finished(seed, here.id, n)]
    assert rounds == [*range(1, 11), *later]
    warmups = [b.round for b in record.contents.blocks if b.cell_id == cell.id and b.warmup]
    assert warmups == [*range(1, 9)]


@pytest.mark.slow
def test_a_range_ends_if_the_budget_has_no_time_for_another_session(fake: Any) -> None:
    plan = plan_of(ARMS, measure=replace(RANGE, budget_s=0.001))
    record = fake.create(plan)
    never = LookOutcome(stop=False, reason=Reason(ReasonCode.STILL_OPEN, "1 of 2"))
    assert all_sessions(fake, record, lambda *_: never) == [1, 2]
    (look,) = record.contents.looks
    assert (look.index, look.round, look.stopped) == (2, 10, True)
    assert look.reason is not None
    assert look.reason.code is ReasonCode.NO_TIME_FOR_SESSION
    assert "too small for another session, which would take about" in phrase(look.reason)


def test_the_time_of_another_session_is_that_of_the_open_configurations() -> None:
    plan = plan_of({**ARMS, "c": ["run-c"]}, measure=RANGE)
    (here,), cells = plan.inputs, [cell.id for cell in plan.cells]
    start = datetime(2026, 3, 2, tzinfo=UTC)
    blocks = [
        Block(
            4 * number + place,
            number,
            place,
            cell,
            False,
            "ok",
            (start + timedelta(seconds=4 * number + place)).isoformat(),
        )
        for number in range(1, 11)
        for place, cell in enumerate(cells[number % 4 :] + cells[: number % 4])
    ]
    targets: Any = dict.fromkeys(cells)
    state = InputProgress(here, targets, cells[0], rounds=10)
    few = sum(race.includes_finished(plan.measure.seed, here.id, n) for n in range(11, 16))
    # Four configurations of a second each, in two warm-up rounds and five rounds.
    assert session_s(plan, blocks, [state], ()) == pytest.approx(4 * 7)
    assert session_s(plan, blocks, [state], cells[1:3]) == pytest.approx(2 * 7 + 2 * (2 + few))
    state.finished.add(cells[1])
    assert session_s(plan, blocks, [state], cells[2:3]) == pytest.approx(2 * 7 + 2 * (2 + few))


def test_a_record_that_was_interrupted_before_a_look_takes_it_first(fake: Any) -> None:
    """The look may end the record, so that no session is begun and nothing is waited for."""
    plan = plan_of(ARMS, measure=RANGE)
    record = fake.create(plan)
    fake.measure(plan, record)

    def interrupted(*_: object) -> LookOutcome:
        raise Interrupted("BX130")

    with pytest.raises(Interrupted):
        fake.measure(plan, record, interrupted)
    again = Record.open(record.path)
    assert max(again.contents.rounds.values()) == 10
    blocks = len(again.contents.blocks)
    assert all_sessions(fake, again, lambda *_: LookOutcome(stop=True)) == [2]
    assert len(again.contents.blocks) == blocks
    assert again.contents.complete
