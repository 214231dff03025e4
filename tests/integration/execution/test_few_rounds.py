"""Budgets that are too small for the usual number of rounds, with the fake hyperfine."""

from dataclasses import replace
from typing import Any

import pytest

from bench_framework.errors import Interrupted, UsageError
from bench_framework.execution import block as measuring, progress, rounds as loop
from bench_framework.execution.budget import used_up
from bench_framework.execution.schedule import InputProgress
from bench_framework.features.gate.question import can_decide
from bench_framework.features.gate.remarks import budget_remarks
from bench_framework.model.plan.looks import RoundLimit, looks_of
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.store import lines
from bench_framework.store.records import Record
from bench_framework.text.reasons import phrase
from tests.integration.execution.conftest import plan_of

ARMS = {"a": ["run-a"], "b": ["run-b"]}


class RunClock:
    """A clock on which the runs of each cell take a number of seconds, and nothing else takes time."""

    def __init__(self, fake: Any, monkeypatch: pytest.MonkeyPatch, *blocks: float) -> None:
        self.now, self.blocks, self.rest = 0.0, blocks, list(blocks)
        monkeypatch.setattr(loop, "seconds", lambda: self.now)
        fake.observer.react = self.react

    def react(self, update: progress.Update) -> None:
        """Let time pass: the given seconds for the first blocks, and the last of them for all others."""
        if isinstance(update, progress.BlockStarted):
            self.now += self.rest.pop(0) if len(self.rest) > 1 else self.rest[0]


def budget(seconds: float) -> MeasurePolicy:
    return MeasurePolicy(rounds_max=1000, by_budget=True, budget_s=seconds)


def test_long_commands_have_few_rounds_without_a_control(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One warm-up round and 4 rounds of 6 s end at the budget of 30 s."""
    RunClock(fake, monkeypatch, 3.0)
    record = fake.measure(plan_of(ARMS, measure=budget(30.0)), few_rounds=True)
    assert (record.contents.limit.rounds, record.contents.limit.by_t) == (4, True)
    assert not record.contents.limit.control
    assert set(record.contents.rounds.values()) == {4}
    assert set(record.contents.warmups.values()) == {1}
    assert len(record.contents.blocks) == 10
    assert len(record.plan.cells) == 2
    [known] = [u for u in fake.observer.updates if isinstance(u, progress.LimitKnown)]
    assert known.round_s == 6.0


def test_a_budget_that_is_too_small_for_a_verdict_says_which_one_is_enough(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round of three runs takes 9 s. Two of warm-up and 5 others need 63 s."""
    RunClock(fake, monkeypatch, 3.0)
    policy = replace(budget(50.0), warmup_rounds=2)
    record = fake.measure(plan_of(ARMS, measure=policy))
    (look,) = record.contents.looks
    text = "a verdict needs at least 5 rounds, and a round takes 9 s; use --budget 2m, or fewer configurations (-k)"
    assert look.round == 4
    assert phrase(look.reason) == f"the time budget is used up: {text}"
    assert [*budget_remarks(record.contents)] == [look.reason]
    # The estimates of several inputs differ, and the largest one is enough.
    less = replace(look, reason=Reason(ReasonCode.BUDGET_TOO_SMALL, (7, 8.0, 1)))
    both = replace(record.contents, looks=[look, less])
    assert [*budget_remarks(both)] == [look.reason]
    longer = fake.measure(plan_of(ARMS, measure=replace(policy, budget_s=63.0)))
    assert phrase(longer.contents.looks[-1].reason) == "the time budget is used up"
    assert not [*budget_remarks(longer.contents)]
    reached = longer.contents.looks[-1].round
    assert reached == looks_of(longer.plan).needed_with(3) == 5
    # A gate has its own rule.
    plan = longer.plan
    gated = replace(plan, invocation=replace(plan.invocation, gate=True))
    state = InputProgress(plan.inputs[0], {}, plan.cells[0].id, rounds=reached, warmups=2)
    ending = used_up(gated, state, [state], 63.0, can_decide)
    assert ending is not None
    assert "a verdict needs at least 9 rounds, and a round takes 9 s" in phrase(ending)


def test_shorter_commands_keep_the_label_test_without_a_control(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    RunClock(fake, monkeypatch, 1.5)
    record = fake.measure(plan_of(ARMS, measure=budget(30.0)), few_rounds=True)
    assert (record.contents.limit.rounds, record.contents.limit.by_t) == (9, False)
    assert not record.contents.limit.control


@pytest.mark.slow
def test_a_budget_that_is_large_enough_changes_nothing(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    RunClock(fake, monkeypatch, 0.5)
    record = fake.measure(plan_of(ARMS, measure=budget(28.0)), few_rounds=True)
    assert (record.contents.limit.by_t, record.contents.limit.control) == (False, True)
    assert set(record.contents.warmups.values()) == {2}
    assert len(record.plan.cells) == 3


@pytest.mark.slow
def test_a_first_run_that_may_have_read_the_disk_is_no_reason_for_few_rounds(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second warm-up round shows that the programs take 0.1 s."""
    RunClock(fake, monkeypatch, 6.0, 0.1)
    record = fake.measure(plan_of(ARMS, measure=budget(30.0)), few_rounds=True)
    assert (record.contents.limit.by_t, record.contents.limit.control) == (False, True)
    assert record.contents.limit.rounds >= 60


def test_a_budget_for_fewer_than_three_rounds_is_refused(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    RunClock(fake, monkeypatch, 10.0)
    with pytest.raises(UsageError) as refused:
        fake.measure(plan_of(ARMS, measure=budget(30.0)), few_rounds=True)
    assert refused.value.code == "BX123"
    assert "80s" in (refused.value.fix or "")


def test_a_resumed_record_keeps_its_few_rounds(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(ARMS, measure=budget(30.0))
    clock, record = RunClock(fake, monkeypatch, 3.0), fake.create(plan)

    def react(update: progress.Update) -> None:
        clock.react(update)
        if isinstance(update, progress.RoundFinished) and not update.warmup:
            fake.stop.request()

    fake.observer.react = react
    with pytest.raises(Interrupted):
        fake.measure(plan, record, few_rounds=True)
    fake.observer.react = clock.react
    again = fake.measure(plan, Record.open(record.path), few_rounds=True)
    assert again.contents.limit == record.contents.limit
    assert isinstance(again.contents.limit, RoundLimit)
    assert set(again.contents.rounds.values()) == {4}


def test_without_few_rounds_a_small_budget_ends_the_measurement(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate decides by the label test only."""
    RunClock(fake, monkeypatch, 3.0)
    record = fake.measure(plan_of(ARMS, measure=budget(30.0)))
    assert not record.contents.limit.by_t
    assert len(record.plan.cells) == 3


def test_a_baseline_that_is_slower_runs_once_more_before_the_decision(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warm-up: 3 s, 2 s, and 3 s again. Then 4 rounds of 5 s."""
    clock = RunClock(fake, monkeypatch, 0.0)
    seconds = {"a": 3.0, "b": 2.0}
    plan = plan_of(ARMS, measure=budget(30.0))
    labels = {cell.id: cell.label for cell in plan.cells}
    run = measuring.BlockRunner.run

    def timed(self: Any, target: Any, block: Any, runs: int) -> Any:
        clock.now += seconds.get(labels[target.cell.id], 3.0)
        return run(self, target, block, runs)

    monkeypatch.setattr(measuring.BlockRunner, "run", timed)
    record = fake.measure(plan, few_rounds=True)
    warm_up = [labels[b.cell_id] for b in record.contents.blocks if b.warmup]
    assert warm_up == ["a", "b", "a"]
    assert record.contents.limit == lines.Limit(4, by_t=True, control=False)


def test_what_fails_in_the_warm_up_takes_no_time_of_the_rounds(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    RunClock(fake, monkeypatch, 3.0)
    fake.script({"match": "run-bad", "exit_code": 1}, {"match": "run-"})
    arms = {**ARMS, "bad": ["run-bad"]}
    record = fake.measure(plan_of(arms, measure=budget(34.0)), few_rounds=True)
    bad = next(cell.id for cell in record.plan.cells if cell.label == "bad")
    assert record.contents.dropped[bad].state == "failed"
    assert not any(b.cell_id == bad for b in record.contents.blocks if not b.warmup)
    assert record.contents.limit == lines.Limit(4, by_t=True, control=False)


def test_the_times_of_a_warm_up_are_known_after_a_resumption(fake: Any) -> None:
    plan = plan_of(ARMS, measure=budget(30.0))

    def react(update: progress.Update) -> None:
        if isinstance(update, progress.RoundFinished):
            fake.stop.request()

    record = fake.create(plan)
    fake.observer.react = react
    with pytest.raises(Interrupted):
        fake.measure(plan, record)
    cells = {cell.id for cell in plan.cells}
    state = InputProgress(plan.inputs[0], {}, "")
    state.resume(Record.open(record.path).contents, cells, ())
    assert state.warmups == 1
    assert state.warmup_s.keys() == cells
    assert all(seconds > 0 for seconds in state.warmup_s.values())
