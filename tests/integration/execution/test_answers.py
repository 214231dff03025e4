"""Each form of `answer` in a measured record: what counts as equal, and the message if it does not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import Interrupted
from bench_framework.execution import answers
from bench_framework.execution.process import Command, Finished
from bench_framework.model.plan.policies import AnswerPolicy, MeasurePolicy
from bench_framework.store.records import Record
from bench_framework.text.numbers import format_size
from tests.integration.execution.conftest import blocks_of, events_of, plan_of

ARMS = {"a": ["run-a"], "b": ["run-b"], "c": ["run-c"]}
ROUNDS = MeasurePolicy(rounds_min=2, rounds_max=2, warmup_rounds=1)
THOUSAND = "".join(f"row {number}\n" for number in range(1000))


def record_of(fake: Any, policy: AnswerPolicy, *outputs: str, control: bool = False) -> Record:
    """Measure arms a, b and c, which print `outputs`."""
    rules = [
        {"match": f"run-{arm}", "stdout": text} for arm, text in zip("abc", outputs, strict=False)
    ]
    fake.script(*rules)
    arms = {arm: ARMS[arm] for arm in "abc"[: len(outputs)]}
    return fake.measure(plan_of(arms, answer=policy, measure=ROUNDS, control=control))


FORMS = {
    "ignore": (
        AnswerPolicy(ignore=(r"\d+ ms",)),
        ("sum 4\ntook 12 ms\n", "sum 4\ntook 9 ms\n", "sum 5\ntook 9 ms\n"),
        "line 1 of the compared text, saved in raw/diff/{id}.txt\na: sum 4\nc: sum 5",
    ),
    "extract": (
        AnswerPolicy(extract=r"^sum (\d+)$"),
        ("x\nsum 4\n", "y\nz\nsum 4\n", "x\nsum 5\n"),
        "line 1 of the compared text, saved in raw/diff/{id}.txt\na: 4\nc: 5",
    ),
    "json": (
        AnswerPolicy("json", json_ignore=("time",)),
        (
            '{"rows": [{"n": 1, "time": 3}], "time": 7}',
            '{"time": 8, "rows": [{"time": 4, "n": 1.0}]}'.replace("1.0", "1"),
            '{"rows": [{"n": 2, "time": 3}], "time": 7}',
        ),
        'line 5 of the indented JSON, saved in raw/diff/{id}.txt\na:     "n": 1\nc:     "n": 2',
    ),
    "tolerance": (
        AnswerPolicy(tolerance=1e-6),
        ("x=1.0000000 y=-2e3\n", "x=1.0000004 y=-2000.0001\n", "x=1.0001 y=-2e3\n"),
        "line 1, saved in raw/diff/{id}.txt\na: x=1.0000000 y=-2e3\nc: x=1.0001 y=-2e3",
    ),
    "filter": (
        AnswerPolicy(filter=("grep", "-v", "^#")),
        ("# a\n1\n2\n", "1\n# b\n2\n", "1\n3\n"),
        "line 2 of the compared text, saved in raw/diff/{id}.txt\na: 2\nc: 3",
    ),
    "differs": (
        AnswerPolicy(tolerated_share=0.0021),
        (
            THOUSAND,
            THOUSAND.replace("row 7\n", "row seven\n"),
            THOUSAND.replace("row 55", "line 5"),
        ),
        "line 56, saved in raw/diff/{id}.txt\na: row 55\nc: line 5",
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.slow
def test_what_a_form_ignores_is_equal_and_anything_else_is_shown(fake: Any, form: str) -> None:
    policy, outputs, difference = FORMS[form]
    if form == "differs":  # 11 of 1000 lines start with "row 55"
        outputs = (*outputs[:2], outputs[2].replace("row 56", "line 6"))
    record = record_of(fake, policy, *outputs)
    assert {block.status for block in blocks_of(record, "b")} == {"ok"}
    assert {block.status for block in blocks_of(record, "c")} == {"other-output"}
    [event] = events_of(record, "BX210")
    assert event.message == "c prints a different result from a"
    lines = dict(event.details)["first difference"]
    assert lines == difference.format(id=event.cell_id)
    digests = {b.answer.digest for label in "ab" for b in blocks_of(record, label) if b.answer}
    assert len(digests) == 1
    assert not record.raw.edited.exists() or policy.edited


def test_a_tolerated_share_is_a_warning_and_stored_with_each_block(fake: Any) -> None:
    other = THOUSAND.replace("row 7\n", "row seven\n") + "one more\n"
    record = record_of(fake, AnswerPolicy(tolerated_share=0.003), THOUSAND, other)
    answers_of_b = [block.answer for block in blocks_of(record, "b")]
    assert [a.differing for a in answers_of_b if a] == [2 / 1001] * 3
    [event] = events_of(record, "BX335")
    assert event.message == "0.2\u202f% of the lines that b prints differ from a"
    assert "tolerates less than 0.3" in (event.effect or "")
    assert "b: row seven" in dict(event.details)["first difference"]


def test_a_tolerated_share_that_is_exceeded_is_another_answer(fake: Any) -> None:
    other = THOUSAND.replace("row 7\n", "row seven\n")
    policy = AnswerPolicy(tolerated_share=0.001)
    record = record_of(fake, policy, THOUSAND, other)
    assert {block.status for block in blocks_of(record, "b")} == {"other-output"}
    assert events_of(record, "BX335") == []
    assert len(events_of(record, "BX210")) == 1


def test_a_check_decides_about_each_output_by_itself(fake: Any) -> None:
    policy = AnswerPolicy(check=("/bin/sh", "-c", "grep -q sum || { echo no sum >&2; exit 4; }"))
    record = record_of(fake, policy, "sum 4\n", "the sum is 4\n", "nothing\n")
    assert {block.status for block in blocks_of(record, "b")} == {"ok"}
    assert {b.answer.source for b in blocks_of(record, "b") if b.answer} == {"check"}
    assert {block.status for block in blocks_of(record, "c")} == {"other-output"}
    [event] = events_of(record, "BX210")
    message = "c: the check (sh) finds its answer wrong (cause exit status 4: no sum)"
    assert event.message == message


def test_a_baseline_that_its_check_refuses_is_not_measured(fake: Any) -> None:
    record = record_of(fake, AnswerPolicy(check=("grep", "sum")), "x\n", "sum\n")
    assert [block.status for block in blocks_of(record, "a")] == ["other-output"]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (AnswerPolicy(filter=("false",)), "answer.filter (false) failed (cause exit status 1)"),
        (AnswerPolicy(filter=("true",)), "answer.filter (true) failed (cause it printed nothing)"),
        (AnswerPolicy(filter=("/no/such",)), "answer.filter (such) failed (cause cannot start"),
        (AnswerPolicy(check=("/no/such",)), "answer.check (such) failed (cause cannot start"),
        (AnswerPolicy(extract="none"), "answer: extract leaves nothing to compare"),
        (AnswerPolicy(ignore=(".*",)), "answer: ignore leaves nothing to compare"),
        (
            AnswerPolicy(extract="some text", ignore=("some", "text")),
            "answer: extract and ignore leave nothing to compare (output b'some text",
        ),
        (AnswerPolicy("json", json_ignore=("x",)), "the output is not JSON"),
    ],
)
def test_a_form_that_cannot_be_used_makes_the_run_a_failure(
    fake: Any, policy: AnswerPolicy, words: str
) -> None:
    record = record_of(fake, policy, "some text\n")
    [block] = blocks_of(record, "a")
    assert block.status == "failed"
    assert str(block.message).startswith(words)


def test_a_run_that_took_longer_than_the_timeout_does_not_count(fake: Any) -> None:
    """The process of hyperfine may take longer, as it makes several runs."""
    fake.script({"match": "run-b", "wall_s": 0.8}, {"match": "run-"})
    measure = MeasurePolicy(rounds_min=1, rounds_max=1, warmup_rounds=1, timeout_s=0.5)
    record = fake.measure(plan_of({"a": ["run-a"], "b": ["run-b"]}, measure=measure, control=False))
    assert {block.status for block in blocks_of(record, "a")} == {"ok"}
    [block] = blocks_of(record, "b")
    assert (block.status, block.message) == ("timeout", "timed out after 0.5 s")


@pytest.mark.parametrize("key", ["filter", "check"])
def test_a_command_that_hangs_is_killed_after_the_timeout(fake: Any, key: str) -> None:
    fake.script({"match": "run-", "stdout": "text\n"})
    policy = AnswerPolicy(**{key: ("sleep", "60")})  # type: ignore[arg-type]
    measure = MeasurePolicy(rounds_min=1, rounds_max=1, warmup_rounds=1, timeout_s=0.5)
    record = fake.measure(plan_of({"a": ["run-a"]}, answer=policy, measure=measure, control=False))
    [block] = blocks_of(record, "a")
    assert block.message == f"answer.{key} (sleep) failed (cause timed out)"


def test_an_expression_that_takes_too_long_is_killed_after_the_timeout_and_named(fake: Any) -> None:
    fake.script({"match": "run-", "stdout": "a" * 40 + "!\n"})
    policy = AnswerPolicy(extract="a.*", ignore=("x", "(a+)+$"))
    measure = MeasurePolicy(rounds_min=1, rounds_max=1, warmup_rounds=1, timeout_s=0.5)
    record = fake.measure(plan_of({"a": ["run-a"]}, answer=policy, measure=measure, control=False))
    [block] = blocks_of(record, "a")
    assert str(block.message).startswith(
        "answer.ignore ((a+)+$) exceeded the time limit of 0.5 s (cause nested repetitions"
    )


@pytest.mark.parametrize("policy", [AnswerPolicy(ignore=("(a+)+$",)), AnswerPolicy(check=("cat",))])
def test_a_stop_request_ends_the_reading_of_an_answer_at_once(
    fake: Any, policy: AnswerPolicy
) -> None:
    fake.script({"match": "run-", "stdout": "a" * 40 + "!\n"})
    run = fake.launcher.run

    def stop_at(command: Command, *rest: Any) -> Finished:
        if command.argv[-1].endswith("edited") or command.argv[0] == "cat":
            fake.stop.level = 1
            command = replace(command, argv=("sleep", "60")) if policy.check else command
        finished: Finished = run(command, *rest)
        return finished

    fake.launcher.run = stop_at
    with pytest.raises(Interrupted):
        fake.measure(plan_of({"a": ["run-a"]}, answer=policy, measure=ROUNDS))


def test_a_text_that_is_too_large_to_edit_is_a_failure(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "LARGEST_EDITED", 100)
    record = record_of(fake, AnswerPolicy(ignore=("x",)), THOUSAND)
    [block] = blocks_of(record, "a")
    assert "too large" in str(block.message)
    for words, limit in ((("cat",), 1 << 10), (("cat", "-", "/dev/zero"), 1 << 20)):
        monkeypatch.setattr(answers, "LARGEST_EDITED", limit)
        record = record_of(fake, AnswerPolicy(filter=words), THOUSAND)
        [block] = blocks_of(record, "a")
        message = f"answer.filter (cat) failed (cause it printed more than {format_size(limit)})"
        assert block.message == message
        assert record.raw.edited.stat().st_size < 2 * (1 << 20)


def test_an_answer_file_is_edited_and_its_difference_shown(fake: Any, tmp_path: Path) -> None:
    file = str(tmp_path / "out")
    policy = AnswerPolicy(file=file, ignore=(r"\d\d:\d\d:\d\d",))
    fake.script({"match": "run-a", "file": [file, "n 1\nat 12:00:01\n"]})
    record = fake.measure(plan_of({"a": ["run-a"]}, answer=policy, measure=ROUNDS))
    assert {block.status for block in blocks_of(record, "a")} == {"ok"}
    [reference] = (record.raw.root / "reference").iterdir()
    assert reference.read_text() == "n 1\nat \n"


def test_an_answer_file_of_an_earlier_run_is_not_the_answer(fake: Any, tmp_path: Path) -> None:
    file = str(tmp_path / "out")
    fake.script({"match": "run-a", "file": [file, "1"]}, {"match": "run-b"})
    arms = {arm: ARMS[arm] for arm in "ab"}
    record = fake.measure(plan_of(arms, answer=AnswerPolicy(file=file), measure=ROUNDS))
    assert {block.status for block in blocks_of(record, "a")} == {"ok"}
    assert {block.status for block in blocks_of(record, "b")} == {"failed"}
    assert "the run did not write it" in str(blocks_of(record, "b")[0].message)


def test_the_control_runs_before_other_variants_in_the_first_warm_up_round(fake: Any) -> None:
    record = record_of(fake, AnswerPolicy(), "x", "x", "x", control=True)
    first = [record.plan.cell(b.cell_id).label for b in record.contents.blocks if b.warmup]
    assert first[:2] == ["a", "control"]
