"""The measuring loop with the fake hyperfine."""

import itertools
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_framework.compare.stopping import CONCLUSIVE
from bench_framework.errors import Interrupted, MachineError
from bench_framework.execution import answers, block as measuring, progress, rounds as loop
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import AnswerPolicy, MeasurePolicy
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Preload, PreparedInput
from bench_framework.model.result.interim import LookOutcome
from bench_framework.store import layout, wire
from bench_framework.store.journal import read_journal
from bench_framework.store.records import Record, plan_sha256
from bench_framework.workflow.records.integrity import journal_differences
from tests.build import require
from tests.integration.execution.conftest import blocks_of, events_of, plan_of, timed_spans

ARMS = {"a": ["run-a"], "b": ["run-b"], "c": ["run-c"]}
CONTRACT = AnswerPolicy("exact", contract=True)


def policy(rounds: int, **options: Any) -> MeasurePolicy:
    return MeasurePolicy(rounds_min=min(12, rounds), rounds_max=rounds, **options)


def sequence(record: Record) -> list[tuple[str, str, int]]:
    """Return input label, warm-up or round, and number, in order, without repetition."""
    entries: list[tuple[str, str, int]] = []
    for block in record.contents.blocks:
        label = record.plan.input(record.plan.cell(block.cell_id).input_id).label
        entry = (label, "warmup" if block.warmup else "round", block.round)
        if not entries or entries[-1] != entry:
            entries.append(entry)
    return entries


def test_two_warm_ups_then_the_rounds_each_with_every_cell_once(fake: Any) -> None:
    record = fake.measure(plan_of(ARMS))
    assert sequence(record) == [
        ("all", "warmup", 1),
        ("all", "warmup", 2),
        ("all", "round", 1),
        ("all", "round", 2),
        ("all", "round", 3),
    ]
    counts = Counter((block.warmup, block.round, block.cell_id) for block in record.contents.blocks)
    assert len(counts) == 5 * 4
    assert set(counts.values()) == {1}
    assert record.contents.complete
    assert len(fake.calls()) == len(record.contents.blocks)  # one process for each
    finished = [h for h in fake.observer.updates if isinstance(h, progress.RoundFinished)]
    rounds = [("warmup" if h.warmup else "round", h.round) for h in finished]
    assert rounds == [entry[1:] for entry in sequence(record)]
    again = Record.open(record.path)
    assert (again.contents, again.plan) == (record.contents, record.plan)


def test_inputs_take_turns_round_by_round(fake: Any) -> None:
    record = fake.measure(plan_of(ARMS, inputs=("x", "y"), measure=policy(2)))
    assert sequence(record) == [
        ("x", "warmup", 1),
        ("y", "warmup", 1),
        ("x", "warmup", 2),
        ("y", "warmup", 2),
        ("x", "round", 1),
        ("y", "round", 1),
        ("x", "round", 2),
        ("y", "round", 2),
    ]


def test_the_observer_is_not_called_while_a_program_is_timed(fake: Any) -> None:
    fake.script({"match": "run-b", "exit_code": 3})
    fake.measure(plan_of(ARMS))
    spans = timed_spans(fake.observer)
    assert len(spans) == 2 * 4 + 3 * 3
    assert all(span == [] or {type(item).__name__ for item in span} == {"Remark"} for span in spans)


def test_the_output_of_hyperfine_is_on_the_disk_before_the_journal(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut, the journal must not contain samples that hyperfine's output lacks."""
    flushed: list[str] = []
    real = os.fdatasync

    def note(fd: int) -> None:
        real(fd)
        flushed.append(Path(f"/proc/self/fd/{fd}").resolve().name)

    monkeypatch.setattr(os, "fdatasync", note)
    fake.measure(plan_of(ARMS))
    both = [name for name in flushed if name in {"hyperfine.jsonl", "journal.jsonl"}]
    ends = [pair for pair in itertools.pairwise(both) if pair[0] == "hyperfine.jsonl"]
    assert ends == [("hyperfine.jsonl", "journal.jsonl")] * 6  # five rounds, and the end


def test_a_torn_line_of_hyperfine_does_not_spoil_the_next_sample(fake: Any) -> None:
    def stop(update: progress.Update) -> None:
        if isinstance(update, progress.RoundFinished) and not update.warmup:
            fake.stop.request()

    plan, fake.observer.react = plan_of(ARMS), stop
    record = fake.create(plan)
    with pytest.raises(Interrupted):
        fake.measure(plan, record)
    with record.raw.hyperfine.open("ab") as file:
        file.write(b'{"seq":99,"export":{"resu')  # as after a power cut
    fake.observer.react = None
    again = fake.measure(plan, Record.open(record.path))
    assert again.contents.complete
    assert journal_differences(again) == []


def test_short_runs_are_repeated_from_the_first_round_on(fake: Any) -> None:
    """All cells of an input get the repeats of the median cell."""
    fake.script(
        {"match": "run-a", "wall_s": 0.005, "spread": 0},
        {"match": "run-b", "wall_s": 0.05, "spread": 0},
        {"match": "run-c", "wall_s": 0.005, "spread": 0},
    )
    record = fake.measure(plan_of(ARMS))
    for label in ("a", "b", "c", "control"):
        assert [len(block.wall_s) for block in blocks_of(record, label)] == [1, 1, 4, 4, 4]


def test_the_control_repeats_as_often_as_the_baseline(fake: Any) -> None:
    fake.script({"match": "run-", "wall_s": 0.0068, "spread": 0.9})
    record = fake.measure(plan_of(ARMS))
    lengths = [
        [len(block.wall_s) for block in blocks_of(record, label)] for label in ("a", "control")
    ]
    assert lengths[0] == lengths[1]
    assert lengths[0][-1] > 1


def test_answers_of_workers_become_receipts(fake: Any) -> None:
    fake.script(
        {
            "match": "run-",
            "digest": "d",
            "wall_s": 0.01,
            "effective": {"arm": "z"},
            "memory_bytes": 9 << 20,
        }
    )
    record = fake.measure(plan_of(ARMS, answer=CONTRACT))
    block = blocks_of(record, "b")[-1]
    assert len(block.receipts) == len(block.wall_s) == 2
    assert block.receipts[0].effective == {"arm": "z"}
    assert (block.peak_rss_bytes, block.peak_rss_source) == (9 << 20, "worker")
    assert require(block.answer).digest == "d"


def test_a_cell_with_another_answer_is_reported_and_dropped_after_the_warm_up(fake: Any) -> None:
    fake.script({"match": "run-b", "digest": "other"}, {"match": "run-", "digest": "right"})
    record = fake.measure(plan_of(ARMS, answer=CONTRACT))
    assert [block.status for block in blocks_of(record, "b")] == ["other-output"] * 2
    assert [block.status for block in blocks_of(record, "c")] == ["ok"] * 5
    [event] = events_of(record, "BX210")
    assert event.message == "b prints a different result from a"
    assert "`differs: warn` under `answer`" in (event.help or "")
    assert dict(event.details)["digest"] == "right… ≠ other…"
    assert "input" not in dict(event.details)
    assert [d.state for d in record.contents.dropped.values()] == ["other-output"]
    several = fake.measure(plan_of(ARMS, inputs=("x", "y"), answer=CONTRACT))
    details = [dict(event.details) for event in events_of(several, "BX210")]
    assert [places["input"] for places in details] == [i.label for i in several.plan.inputs]


def test_stdout_is_the_answer_of_an_external_program_and_its_difference_is_saved(fake: Any) -> None:
    fake.script(
        {"match": "run-b", "stdout": "one\ntwo\nthree\n"},
        {"match": "run-", "stdout": "one\n2\nthree\n"},
    )
    record = fake.measure(plan_of(ARMS, answer=AnswerPolicy("exact")))
    [event] = events_of(record, "BX210")
    assert "line 2" in dict(event.details)["first difference"]
    assert record.raw.diff(event.cell_id).read_text().splitlines()[1:] == ["- 2", "+ two"]


@pytest.mark.parametrize(("lines", "counts"), [("one\n3\n", []), ("one\n", ["2 ≠ 1"])])
def test_numbers_of_lines_are_details_if_they_differ(
    fake: Any, lines: str, counts: list[str]
) -> None:
    fake.script({"match": "run-b", "stdout": lines}, {"match": "run-", "stdout": "one\n2\n"})
    [event] = events_of(fake.measure(plan_of(ARMS, answer=AnswerPolicy("sorted-lines"))), "BX210")
    assert [text for name, text in event.details if name == "count"] == counts


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        (AnswerPolicy("exact"), "FILE"),
        (AnswerPolicy("none"), "DRAIN"),
        (CONTRACT, "DRAIN"),
        (AnswerPolicy("exact", file="/etc/hostname"), "DRAIN"),
        (AnswerPolicy("exact", stdout="null"), "null"),
        (AnswerPolicy("exact", stdout="pipe"), "DRAIN"),
    ],
)
@pytest.mark.slow
def test_where_stdout_goes(fake: Any, answer: AnswerPolicy, output: str) -> None:
    fake.script({"match": "run-", "digest": "d"})
    record = fake.measure(plan_of({"a": ["run-a"]}, answer=answer, measure=policy(1)))
    expected = {"FILE": re.escape(str(record.raw.stdout)), "DRAIN": r"/proc/\d+/fd/\d+"}
    outputs = {call["options"]["--output"] for call in fake.calls()}
    assert all(re.fullmatch(expected.get(output, output), path) for path in outputs)


def test_without_warm_up_rounds_the_baseline_runs_once_for_its_answer(fake: Any) -> None:
    fake.script({"match": "run-b", "digest": "other"}, {"match": "run-", "digest": "right"})
    record = fake.measure(plan_of(ARMS, answer=CONTRACT, measure=policy(2, warmup_rounds=0)))
    warm = [block for block in record.contents.blocks if block.warmup]
    assert [record.plan.cell(block.cell_id).label for block in warm] == ["a"]
    assert [block.status for block in blocks_of(record, "b")] == ["other-output"]


def test_a_cell_that_always_fails_is_dropped_after_the_warm_up(fake: Any) -> None:
    fake.script({"match": "run-b", "exit_code": 101})
    record = fake.measure(plan_of(ARMS))
    assert [block.status for block in blocks_of(record, "b")] == ["failed"] * 2
    assert [block.status for block in blocks_of(record, "c")] == ["ok"] * 5
    assert len(events_of(record, "BX201")) == 1
    [dropped] = [h for h in fake.observer.updates if isinstance(h, progress.CellDropped)]
    assert (dropped.round, dropped.reason) == (2, Reason(ReasonCode.RUN_FAILED, "exit status 101"))


TABLE = "calls errors syscall\n0 0.1 0 1 execve\n0 0.1 0 4 openat\n0 0.1 0 2 2 io_uring_enter\n"


UNKNOWN = "\"strace: invalid system call 'mmapp'\""


@pytest.mark.parametrize(
    ("strace", "calls", "exit_codes", "failed", "code"),
    [
        ("cat >$5 <<E\n{}E", ("openat",), (0,), False, ""),
        ("cat >$5 <<E\n{}E", ("openat", "io_uring_enter", "mmap"), (0,), True, "BX219"),
        ("cat >$5 <<E\n{}E\nexit 1", ("io_uring_enter", "mmap"), (0, 1), True, "BX219"),
        ("cat >$5 <<E\n{}E\nexit 1", ("mmap",), (0,), False, "BX353"),
        ("echo no >&2; exit 1", ("mmap",), (0, 1), False, "BX353"),
        ("echo no >&2; >$5; exit 1", ("mmap",), (0, 1), False, "BX353"),
        (f"echo {UNKNOWN} >&2; exit 1", ("openat", "mmapp"), (0,), True, "BX219"),
        (f"echo {UNKNOWN} >&2; exit 1", ("openat", "mmapp"), (0, 1), True, "BX219"),
        ("sleep 9", ("mmap",), (0,), False, "BX353"),
        ("cat >$5 <<E\n{}E\nexec sleep 9", ("openat",), (0,), False, ""),
        ("", ("mmap",), (0,), False, "BX353"),
    ],
)
def test_a_variant_that_never_makes_a_required_system_call_fails(
    fake: Any,
    tmp_path: Path,
    strace: str,
    calls: tuple[str, ...],
    exit_codes: tuple[int, ...],
    failed: bool,
    code: str,
) -> None:
    program = tmp_path / "bin" / "strace"
    program.parent.mkdir()
    fake.env["PATH"] = f"{program.parent}:/bin"
    if strace:
        shift = "while [ $5 != -o ]; do shift; done; shift\n"
        program.write_text(f"#!/bin/sh\necho >>{tmp_path}/log\n{shift}{strace.format(TABLE)}\n")
        program.chmod(0o755)
    policy = MeasurePolicy(rounds_min=3, rounds_max=3, timeout_s=2.0)
    answer = AnswerPolicy("none", exit_codes=exit_codes)
    plan = plan_of(ARMS, control=False, answer=answer, measure=policy)
    cells = (plan.cells[0], replace(plan.cells[1], calls=calls), plan.cells[2])
    record = fake.measure(replace(plan, cells=cells))
    assert [b.status for b in blocks_of(record, "b")] == (["failed"] * 2 if failed else ["ok"] * 5)
    assert [event.code for event in record.contents.events] == [code] * bool(code)
    if failed:
        absent, unknown = (
            "no successful system call io_uring_enter, mmap",
            "unknown system call mmapp",
        )
        message = unknown if "mmapp" in calls else absent
        assert blocks_of(record, "b")[0].message == message
    elif strace:
        assert (tmp_path / "log").read_text() == "\n"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"json": "none"}, "No such file or directory"),
        ({"json": "{torn"}, "JSON cannot be read"),
        ({"answer": "not json\n"}, "not a valid line of protocol 1"),
        ({"answer": ""}, "answered 0 times"),
        ({"digests": ["d"], "exit_code": 0, "answer": '{"protocol": 9}\n'}, "protocol 9"),
    ],
)
@pytest.mark.slow
def test_a_malformed_result_fails_its_cell_with_a_message(
    fake: Any, rule: dict[str, Any], words: str
) -> None:
    fake.script({"match": "run-b", **rule}, {"match": "run-", "digest": "d"})
    record = fake.measure(plan_of(ARMS, answer=CONTRACT))
    block = blocks_of(record, "b")[0]
    assert block.status == "failed"
    assert words in require(block.message)
    assert {block.status for block in blocks_of(record, "c")} == {"ok"}


def test_an_export_of_an_earlier_block_is_not_read(fake: Any) -> None:
    fake.script({"match": "run-b", "json": "none"}, {"match": "run-"})
    record = fake.measure(plan_of(ARMS))
    assert all(block.wall_s == () for block in blocks_of(record, "b"))


def test_interim_analyses_follow_the_schedule_and_can_stop_an_input(fake: Any) -> None:
    arms = {"a": ["run-a"], "b": ["run-b"]}
    plan = plan_of(arms, inputs=("x", "y"), control=False, measure=policy(27))
    calls: list[tuple[str, int, int]] = []

    def looker(input_id: str, index: int, number: int) -> LookOutcome:
        label = plan.input(input_id).label
        calls.append((label, index, number))
        return LookOutcome(label == "x" and number >= 18, CONCLUSIVE)

    record = fake.measure(plan, looker=looker)
    assert calls == [("x", 0, 12), ("y", 0, 12), ("x", 1, 18), ("y", 1, 18), ("y", 2, 27)]
    looks = [(look.index, look.round, look.stopped, look.reason) for look in record.contents.looks]
    assert looks[2] == (1, 18, True, CONCLUSIVE)
    assert looks[-1] == (2, 27, True, Reason(ReasonCode.LAST_ROUND))
    assert [
        h.look for h in fake.observer.updates if isinstance(h, progress.LookTaken)
    ] == record.contents.looks


def test_the_looker_finds_the_blocks_in_the_record(fake: Any) -> None:
    plan = plan_of(ARMS)
    record = fake.create(plan)
    counts: list[int] = []

    def looker(input_id: str, index: int, number: int) -> LookOutcome:
        counts.append(sum(not block.warmup for block in record.contents.blocks))
        return LookOutcome(stop=False)

    fake.measure(plan, record, looker)
    assert counts == [3 * 4]


def test_a_used_up_budget_does_the_last_analysis_at_once(fake: Any) -> None:
    record = fake.measure(plan_of(ARMS, inputs=("x", "y"), measure=policy(40, budget_s=0.0)))
    assert record.contents.rounds == {item.id: 1 for item in record.plan.inputs}
    looks = [(look.index, look.round, look.stopped) for look in record.contents.looks]
    assert looks == [(3, 1, True), (3, 1, True)]
    reasons = [look.reason and look.reason.code for look in record.contents.looks]
    assert reasons == [ReasonCode.BUDGET_TOO_SMALL] * 2


class BlockClock:
    """A clock on which a block takes half a second and nothing else takes any time."""

    def __init__(self, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(loop, "seconds", lambda: self.now)
        fake.observer.react = self.react

    def react(self, update: progress.Update) -> None:
        if isinstance(update, progress.BlockStarted):
            self.now += 0.5


BY_BUDGET = MeasurePolicy(rounds_max=1000, by_budget=True, budget_s=28.0)


@pytest.mark.slow
def test_the_budget_limits_the_rounds_of_a_plan_without_a_number(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """24 s remain after the warm-up, 12 rounds of 2 s. The limit is the next step of the grid."""
    BlockClock(fake, monkeypatch)
    record = fake.measure(plan_of(ARMS, measure=BY_BUDGET))
    assert record.contents.limit.rounds == record.plan.measure.rounds_max == 18
    assert [
        u.limit.rounds for u in fake.observer.updates if isinstance(u, progress.LimitKnown)
    ] == [18]
    assert set(record.contents.rounds.values()) == {12}
    assert (record.contents.looks[-1].round, record.contents.looks[-1].stopped) == (12, True)
    again = Record.open(record.path)
    assert again.plan == record.plan
    assert require_unlimited(again)


def require_unlimited(record: Record) -> bool:
    """Return whether the stored plan is the one without a limit, which resuming looks for."""
    stored = wire.load_plan((record.path / "plan.json").read_bytes())
    return stored.measure.by_budget and plan_sha256(stored) == record.contents.header.plan_sha256


def test_a_short_budget_has_a_limit_with_which_the_plan_could_decide(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    BlockClock(fake, monkeypatch)
    record = fake.measure(plan_of(ARMS, measure=replace(BY_BUDGET, budget_s=9.0)))
    assert looks_of(record.plan).rounds == (12,)
    assert looks_of(record.plan).decidable
    assert set(record.contents.rounds.values()) == {3}


def test_repeated_runs_and_dropped_cells_are_part_of_the_limit(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round of three cells takes 3 · (0.5 + 4 · 0.004) s."""
    clock = BlockClock(fake, monkeypatch)
    fake.script({"match": "run-c", "exit_code": 1}, {"match": "run-", "wall_s": 0.004, "spread": 0})

    def react(update: progress.Update) -> None:
        clock.react(update)
        if isinstance(update, progress.LimitKnown):
            fake.stop.request()

    fake.observer.react = react
    limits = []
    for rounds in (22.4, 22.6, 33.3):
        plan = plan_of(ARMS, measure=replace(BY_BUDGET, budget_s=4 + rounds * 1.548))
        clock.now, record = 0.0, fake.create(plan)
        with pytest.raises(Interrupted):
            fake.measure(plan, record)
        limits.append(record.contents.limit.rounds)
    assert limits == [27, 40, 40]


def test_without_warm_up_rounds_the_limit_is_the_largest(fake: Any) -> None:
    policy = replace(BY_BUDGET, warmup_rounds=0, budget_s=0.0)  # one round at most
    assert fake.measure(plan_of(ARMS, measure=policy)).contents.limit.rounds == 1000


@pytest.mark.slow
def test_a_resumed_record_keeps_its_limit(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(ARMS, measure=BY_BUDGET)
    clock = BlockClock(fake, monkeypatch)
    record = fake.create(plan)
    stop = stop_at(fake, 14)

    def react(update: progress.Update) -> None:
        clock.react(update)
        stop(update)

    fake.observer.react = react
    with pytest.raises(Interrupted):
        fake.measure(plan, record)
    fake.observer.react = lambda _: None  # programs take no time on this clock now
    opened = Record.open(record.path)
    assert opened.plan.measure.rounds_max == 18
    again = fake.measure(plan, opened)
    assert again.contents.complete
    assert set(again.contents.rounds.values()) == {18}
    text = (again.path / "journal.jsonl").read_text()
    assert text.count('"kind":"limit"') == 1


def stop_at(fake: Any, number: int) -> Callable[[progress.Update], None]:
    """Return a reaction that requests a stop when block `number` of the session begins (from 1)."""
    count = 0

    def react(update: progress.Update) -> None:
        nonlocal count
        if isinstance(update, progress.BlockStarted):
            count += 1
            if count == number:
                fake.stop.request()

    return react


def test_ctrl_c_finishes_the_block_and_a_resumed_record_repeats_the_round(fake: Any) -> None:
    plan = plan_of(ARMS)
    fake.observer.react = stop_at(fake, 14)  # the second block of round 2
    record = fake.create(plan)
    with pytest.raises(Interrupted):
        fake.measure(plan, record)
    assert len(record.contents.blocks) == 14
    fake.observer.react = None
    again = fake.measure(plan, Record.open(record.path))
    assert again.contents.complete
    assert [block.status for block in again.contents.blocks][8:16] == ["ok"] * 4 + [
        "skipped"
    ] * 2 + ["ok"] * 2
    good = Counter(
        (b.warmup, b.round, b.cell_id) for b in again.contents.blocks if b.status != "skipped"
    )
    assert len(good) == 20
    assert set(good.values()) == {1}
    assert [block.seq for block in again.contents.blocks] == list(range(22))
    assert again.contents.starts == 2


def test_the_answer_of_an_interrupted_round_is_no_reference(fake: Any) -> None:
    """Answers that differ within a tolerance have the digest of the one that they are compared with."""
    plan = plan_of(ARMS, answer=AnswerPolicy(tolerance=1e-6), control=False)
    fake.script({"match": "run-", "stdout": "1.00000001"})
    fake.observer.react = stop_at(fake, 1)
    record = fake.create(plan)
    with pytest.raises(Interrupted):
        fake.measure(plan, record)
    fake.observer.react = None
    fake.script({"match": "run-", "stdout": "1.00000002"})
    again = fake.measure(plan, Record.open(record.path))
    assert events_of(again, "BX210") == events_of(again, "BX214") == []
    assert len(again.contents.rounds) == 1


@pytest.mark.slow
def test_a_resumed_record_keeps_its_order_its_repeats_and_its_reference(fake: Any) -> None:
    plan = plan_of(ARMS, answer=CONTRACT)
    fake.script({"match": "run-", "wall_s": 0.004, "spread": 0, "digest": "d"})
    whole = fake.measure(plan)
    (fake.root / "script.json.calls").unlink()
    fake.observer.react = stop_at(fake, 10)
    cut = fake.create(plan)
    with pytest.raises(Interrupted):
        fake.measure(plan, cut)
    fake.observer.react = None
    # Faster and with another answer: the resumed record keeps its repeats and reference.
    fake.script(
        {"match": "run-a", "wall_s": 0.001, "spread": 0, "digest": "d"},
        {"match": "run-b", "digest": "other"},
        {"match": "run-", "digest": "d"},
    )
    again = fake.measure(plan, Record.open(cut.path))
    complete = [block for block in again.contents.blocks if block.status != "skipped"]
    assert [b.cell_id for b in complete][:12] == [b.cell_id for b in whole.contents.blocks][:12]
    assert {len(block.wall_s) for block in blocks_of(again, "a") if not block.warmup} == {5}
    assert blocks_of(again, "b")[-1].status == "other-output"


def test_a_second_ctrl_c_kills_the_block_and_drops_it(fake: Any) -> None:
    fake.script({"match": "run-", "sleep_s": 30})
    plan = plan_of(ARMS)
    record = fake.create(plan)

    def react(update: progress.Update) -> None:
        if isinstance(update, progress.BlockStarted):
            fake.stop.request()
            # The second one arrives while the program runs.
            threading.Timer(0.5, fake.stop.request).start()

    import threading  # noqa: PLC0415

    fake.observer.react = react
    with pytest.raises(Interrupted):
        fake.measure(plan, record)
    assert record.contents.blocks == []


def test_a_complete_record_is_not_measured_again(fake: Any) -> None:
    plan = plan_of(ARMS)
    record = fake.measure(plan)
    calls = len(fake.calls())
    fake.measure(plan, Record.open(record.path))
    assert len(fake.calls()) == calls


def test_prepare_and_cleanup_run_before_and_after_every_block(fake: Any, tmp_path: Path) -> None:
    log = tmp_path / "log"
    cell = {
        "prepare": ((("/bin/sh",), ("-c",), (f"echo prepare >>{log}",)),),
        "cleanup": ((("/bin/sh",), ("-c",), (f"echo cleanup >>{log}",)),),
    }
    record = fake.measure(plan_of({"a": ["run-a"]}, control=False, cell=cell, measure=policy(2)))
    assert log.read_text().split() == ["prepare", "cleanup"] * len(record.contents.blocks)


def test_a_failed_prepare_fails_its_cell(fake: Any) -> None:
    cell = {"prepare": ((("/bin/sh",), ("-c",), ("echo no disk; exit 5",)),)}
    record = fake.measure(plan_of({"a": ["run-a"]}, control=False, cell=cell, measure=policy(1)))
    assert {block.message for block in record.contents.blocks} == {
        "prepare (/bin/sh): exit status 5 no disk"
    }


def two_inputs(folder: Path) -> tuple[Plan, list[PreparedInput], list[Path]]:
    """Return a plan with two inputs, the prepared inputs, and their files."""
    plan = plan_of(ARMS, inputs=("x", "y"))
    paths = [folder / "x", folder / "y"]
    for path in paths:
        path.write_text("same")
    inputs = [
        PreparedInput(item.id, str(path), 4, None, "f", None)
        for item, path in zip(plan.inputs, paths, strict=True)
    ]
    return plan, inputs, paths


def test_a_changed_input_stops_only_its_own_measurement(fake: Any, tmp_path: Path) -> None:
    plan, inputs, paths = two_inputs(tmp_path)

    def react(update: progress.Update) -> None:
        if isinstance(update, progress.RoundFinished) and update.round == 1 and not update.warmup:
            os.utime(paths[0], ns=(1, 1))

    fake.observer.react = react
    record = fake.measure(plan, inputs=inputs)
    assert len(events_of(record, "BX420")) == 1
    assert [record.contents.rounds.get(item.id, 0) for item in plan.inputs] == [1, 3]


def test_the_round_in_which_an_input_changed_does_not_count(fake: Any, tmp_path: Path) -> None:
    plan, inputs, paths = two_inputs(tmp_path)
    first = {cell.id for cell in plan.cells_of(plan.inputs[0].id)}

    def react(update: progress.Update) -> None:
        if isinstance(update, progress.BlockFinished):
            block = update.block
            if block.cell_id in first and block.round == 2 and not block.warmup:
                os.utime(paths[0], ns=(1, 1))

    fake.observer.react = react
    record = fake.measure(plan, inputs=inputs)
    contents = read_journal(record.path / layout.JOURNAL)  # as a later report reads it
    for blocks in (record.contents.blocks, contents.blocks):
        measured = {(b.cell_id in first, b.round): b.status for b in blocks if not b.warmup}
        assert measured == {
            (True, 1): "ok",
            (True, 2): "skipped",
            **{(False, number): "ok" for number in (1, 2, 3)},
        }
    assert [contents.rounds[item.id] for item in plan.inputs] == [1, 3]


def test_an_input_that_changes_in_a_round_is_the_cause_of_other_answers(
    fake: Any, tmp_path: Path
) -> None:
    plan = plan_of(ARMS, answer=AnswerPolicy(), control=False)
    (tmp_path / "x").write_text("same")
    inputs = [PreparedInput(plan.inputs[0].id, str(tmp_path / "x"), 4, None, "f", None)]
    fake.script(*({"match": words[0], "stdout": name} for name, words in ARMS.items()))

    def react(update: progress.Update) -> None:
        if isinstance(update, progress.BlockFinished):
            os.utime(tmp_path / "x", ns=(1, 1))

    fake.observer.react = react
    record = fake.measure(plan, inputs=inputs)
    assert len(events_of(record, "BX420")) == 1
    assert events_of(record, "BX210") == []
    assert len(record.contents.blocks) == 2
    assert record.contents.complete


def test_a_variant_without_a_build_is_left_out(fake: Any) -> None:
    fake.build = type(fake.build)("program", ok=False, message="error: no such feature")
    record = fake.measure(plan_of(ARMS))
    assert record.contents.blocks == []
    assert record.contents.complete


def test_the_event_of_a_failed_cell_has_a_command_to_reproduce_it(fake: Any) -> None:
    fake.script({"match": "run-b", "exit_code": 3})
    record = fake.measure(plan_of({"a": ["run-a"], "b": ["run-b", "it's"]}))
    [event] = events_of(record, "BX201")
    assert event.help == (
        "reproduce: benchctl run s.yaml -k 'arm=b on=all' --quick. If exit code 3 is no failure, accept it with "
        "`exit-codes: [0, 3]` in the scenario, or with `--exit-codes 0,3`"
    )
    assert dict(event.details)["command"] == """run-b 'it'"'"'s'"""
    assert event.effect == "its failed rounds are left out of comparisons"


def test_a_failure_of_the_baseline_states_its_effect(fake: Any) -> None:
    fake.script({"match": "run-a", "exit_code": 3})
    [event] = events_of(fake.measure(plan_of({"a": ["run-a"], "b": ["run-b"]})), "BX201")
    assert event.message.startswith("a ")  # the A/A control fails in the same way
    assert (event.effect or "").endswith("no variant can be compared with the baseline")


@pytest.mark.parametrize("failing", ["a", "b"])
def test_nothing_is_measured_if_no_two_configurations_are_left(fake: Any, failing: str) -> None:
    fake.script({"match": f"run-{failing}", "exit_code": 3})
    plan = plan_of({"a": ["run-a"], "b": ["run-b"]})
    record = fake.measure(plan)
    assert all(block.warmup for block in record.contents.blocks)
    # A resumed record does not continue either.
    path = record.path / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"kind":"end"' not in line))
    again = fake.measure(plan, Record.open(record.path))
    assert again.contents.complete
    assert len(again.contents.blocks) == len(record.contents.blocks)


def test_a_baseline_with_varying_answers_is_reported(fake: Any) -> None:
    fake.script({"match": "run-a", "digests": ["x", "y"]}, {"match": "run", "digest": "x"})
    record = fake.measure(plan_of(ARMS, control=False, answer=CONTRACT))
    [event] = events_of(record, "BX214")
    assert event.message.startswith("a gives different answers in different runs")
    assert events_of(record, "BX210") == []


def test_a_control_with_another_answer_means_that_the_baseline_varies(fake: Any) -> None:
    outputs = {"match": "run-a", "digests": ["x", "y"]}
    fake.script(outputs, {"match": "run", "digest": "z"})
    record = fake.measure(plan_of({"a": ["run-a"]}, answer=CONTRACT))
    [event] = events_of(record, "BX214")
    assert event.message == "a gives different answers in different runs"
    assert event.cell_id == record.plan.cells[0].id
    assert events_of(record, "BX210") == []


def test_sorted_lines_are_compared_sorted_and_not_suggested_again(fake: Any) -> None:
    fake.script(
        {"match": "run-b", "stdout": "three\none\nzwei\n"},
        {"match": "run-", "stdout": "one\ntwo\nthree\n"},
    )
    record = fake.measure(plan_of(ARMS, answer=AnswerPolicy("sorted-lines")))
    [event] = events_of(record, "BX210")
    details = dict(event.details)
    place, *both = details["first difference"].splitlines()
    assert place.startswith("line 3 of the sorted outputs")
    assert both == ["a: two", "b: zwei"]
    assert "sorted-lines" not in str(event.help)


def test_an_output_that_fills_the_disk_fails_only_its_own_cell(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.script(
        {"match": "run-a", "stdout": "same"},
        {"match": "run-b", "stdout": "x" * (measuring.LEAST_ROOM_BYTES + 1)},
        {"match": "run-c", "stdout": "same"},
    )
    monkeypatch.setattr(
        measuring,
        "_free",
        lambda raw: 10 * measuring.LEAST_ROOM_BYTES - 10 * (raw / "stdout").stat().st_size,
    )
    record = fake.measure(plan_of(ARMS, answer=AnswerPolicy()))
    assert {b.status for b in blocks_of(record, "b")} == {"failed"}
    assert "filled the record's disk" in str(blocks_of(record, "b")[0].message)
    assert {b.status for label in "ac" for b in blocks_of(record, label)} == {"ok"}


def test_of_an_output_that_is_too_large_both_ends_are_kept(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "LARGEST_ANSWER", 1 << 20)
    fake.script(
        {"match": "run-a", "stdout": "same"},
        {"match": "run-b", "stdout": f"first{'x' * (1 << 20)}last"},
    )
    record = fake.measure(plan_of(ARMS, answer=AnswerPolicy()))
    block = blocks_of(record, "b")[0]
    assert block.status == "failed"
    log = record.path / "raw" / "logs" / f"{block.cell_id}.stdout"
    assert str(block.message).startswith(
        "its output is too large (1.00\u202fMiB, of which raw/logs/"
    )
    assert log.read_bytes()[:6] == b"firstx"
    assert log.read_bytes()[-5:] == b"xlast"
    assert log.stat().st_size == 2 * measuring.KEPT_BYTES + len("\n[bytes are left out here]\n")
    assert {b.status for b in blocks_of(record, "a")} == {"ok"}


def test_a_stdin_that_is_not_a_file_fails_before_it_is_opened(fake: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    record = fake.measure(plan_of(ARMS, cell={"stdin": (str(tmp_path / "fifo"),)}))
    assert {str(block.message) for block in blocks_of(record, "a")} == {
        f"stdin: {tmp_path}/fifo is not a regular file"
    }


def test_a_full_disk_ends_the_run_which_can_be_resumed(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(ARMS)
    record = fake.create(plan)
    real = measuring._free
    fake.observer.react = lambda update: (
        monkeypatch.setattr(measuring, "_free", lambda _: 0)
        if isinstance(update, progress.RoundFinished) and update.round == 2 and not update.warmup
        else None
    )
    with pytest.raises(MachineError, match="No space left") as caught:
        fake.measure(plan, record)
    assert caught.value.exit_code == 3
    monkeypatch.setattr(measuring, "_free", real)
    fake.observer.react = None
    again = Record.open(record.path)
    assert again.contents.rounds == {plan.inputs[0].id: 2}
    fake.measure(plan, again)
    good = [b for b in again.contents.blocks if b.status == "ok" and not b.warmup]
    assert Counter(b.round for b in good) == {1: 4, 2: 4, 3: 4}


def test_a_missing_working_directory_fails_its_cell(fake: Any, tmp_path: Path) -> None:
    plan = plan_of(ARMS, control=False)
    cells = (plan.cells[0], replace(plan.cells[1], cwd=str(tmp_path / "gone")), plan.cells[2])
    record = fake.measure(replace(plan, cells=cells))
    assert record.contents.complete
    assert f"No such file or directory: {tmp_path}/gone" in str(blocks_of(record, "b")[0].message)
    assert {b.status for label in "ac" for b in blocks_of(record, label)} == {"ok"}


def test_a_pending_drop_is_done_after_a_kill(fake: Any) -> None:
    fake.script({"match": "run-b", "exit_code": 1})
    plan = plan_of(ARMS)
    whole = fake.measure(plan)
    dropped = set(whole.contents.dropped)
    assert len(dropped) == 1
    # Cut the journal between the last line of the warm-up and the line that drops the cell.
    path = whole.path / "journal.jsonl"
    text = path.read_text().splitlines(keepends=True)
    cut = next(index for index, line in enumerate(text) if '"kind":"dropped"' in line)
    path.write_text("".join(text[:cut]))
    again = fake.measure(plan, Record.open(whole.path))
    assert set(again.contents.dropped) == dropped
    assert (
        len([b for b in again.contents.blocks if b.cell_id in dropped])
        == plan.measure.warmup_rounds
    )


@pytest.mark.parametrize("library", [False, True])
@pytest.mark.slow
def test_a_replaced_program_or_library_stops_the_measurement(
    fake: Any, tmp_path: Path, library: bool
) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    preload = Preload("mine", str(program), "")
    fake.build = replace(fake.build, **{"preload": preload} if library else {"path": str(program)})

    def rebuild(update: progress.Update) -> None:
        if isinstance(update, progress.RoundFinished) and update.round == 2 and not update.warmup:
            program.write_text("#!/bin/sh\n# another\n")

    fake.observer.react = rebuild
    record = fake.measure(plan_of(ARMS, measure=policy(12)))
    [event] = events_of(record, "BX420")
    assert str(program) in event.message
    assert set(record.contents.rounds.values()) == {2}
    assert record.contents.complete


def test_one_round_is_measured_if_that_is_enough(fake: Any) -> None:
    measure = MeasurePolicy(rounds_min=12, rounds_max=40, warmup_rounds=2)
    plan = plan_of(ARMS, answer=AnswerPolicy(), measure=measure, inputs=("x", "y"))
    same = Reason(ReasonCode.GATE_SAME_PROGRAM)
    record = fake.measure(plan, one_round=same)
    assert [block.warmup for block in blocks_of(record, "b")] == [True, True, False, False]
    uncompared = fake.measure(replace(plan, answer=AnswerPolicy(compare="none")), one_round=same)
    assert [block.warmup for block in blocks_of(uncompared, "b")] == [False, False]
    last = [(look.round, look.stopped, look.reason) for look in record.contents.looks]
    assert last == [(1, True, same)] * 2
    assert record.contents.complete
    assert journal_differences(record) == []
