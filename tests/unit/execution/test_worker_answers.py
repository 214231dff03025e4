"""Answers of runs, and the errors for invalid ones."""

import json
from pathlib import Path

import pytest

from bench_framework.errors import AnswerError
from bench_framework.execution import worker
from bench_framework.execution.answers import digest_file
from bench_framework.execution.worker import AnswersFile, parse_reply, read_replies
from bench_framework.model.metrics import PEAK_RSS, RECEIPT_KEYS
from bench_framework.model.plan.policies import AnswerKind, AnswerPolicy

PROTOCOL = Path(__file__).parents[2] / "fixtures" / "protocol"


def line(digest: str = "d", iteration: object = "0") -> bytes:
    answer = {"count": 1, "distinct": 1, "digest": digest}
    return json.dumps({"protocol": 1, "iteration": iteration, "answer": answer}).encode()


def digest(path: Path, text: bytes, compare: AnswerKind) -> str:
    path.write_bytes(text)
    return digest_file(path, AnswerPolicy(compare)).digest


def test_the_golden_answer_of_the_protocol_is_read() -> None:
    reply = parse_reply((PROTOCOL / "answer.json").read_bytes())
    assert (reply.answer.count, reply.answer.distinct) == (17885468, 81080)
    assert reply.answer.digest.startswith("sha256:")
    assert reply.answer.source == "worker"
    receipt = reply.receipt
    assert receipt.effective["io"] == "read"
    assert receipt.phases_s["count"] == 0.208713
    assert (receipt.threads, receipt.bytes, receipt.counts[PEAK_RSS]) == (1, 104857600, 20742144)
    assert "major_faults" in receipt.counts
    assert receipt.counts["write_bytes"] == 0
    assert receipt.metrics == {"read_calls": 1601.0, "wait_s": 0.25}
    assert len(receipt.notes) == 1


def test_the_registry_has_every_counter_of_the_golden_answer() -> None:
    """`native/crates/worker/tests/protocol.rs` compares the same keys with the worker's table."""
    answer = json.loads((PROTOCOL / "answer.json").read_text())
    others = {
        "protocol",
        "iteration",
        "answer",
        "effective",
        "threads",
        "phases_s",
        "bytes",
        "metrics",
        "notes",
    }
    assert set(RECEIPT_KEYS.values()) == set(answer) - others


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (b"panicked at src/main.rs\x1b[0m", "JSONDecodeError"),
        (b"[1]", "TypeError"),
        (b"{}", "KeyError: 'protocol'"),
        (b'{"protocol": 2}', "protocol 2"),
        (b'{"protocol": 1}', "KeyError: 'answer'"),
        (b'{"protocol": 1, "answer": {"digest": 5}}', "not a string"),
        (b'{"protocol": 1, "answer": {"digest": "d", "count": "many"}}', "not a whole number"),
        (b'{"protocol": 1, "answer": {"digest": "d"}, "threads": true}', "not a whole number"),
        (
            b'{"protocol": 1, "answer": {"digest": "d"}, "metrics": {"hits": "12"}}',
            "hits is '12', not a number",
        ),
        (
            b'{"protocol": 1, "answer": {"digest": "d"}, "metrics": {"hits": true}}',
            "hits is True, not a number",
        ),
        (
            b'{"protocol": 1, "answer": {"digest": "d"}, "metrics": {"x": 1, "x": 2}}',
            "'x' is a duplicate key",
        ),
    ],
)
def test_the_error_for_an_invalid_line_quotes_it(text: bytes, cause: str) -> None:
    with pytest.raises(AnswerError) as caught:
        parse_reply(text)
    assert caught.value.code == "BX211"
    details = dict(caught.value.details)
    assert cause in details["cause"]
    assert "\x1b" not in details["line"]


def test_a_block_has_one_answer_per_run() -> None:
    assert len(read_replies([line(), line(iteration="1")], 2)) == 2
    with pytest.raises(AnswerError, match="answered 1 times in 2 runs") as caught:
        read_replies([line()], 2)
    assert caught.value.code == "BX213"
    with pytest.raises(AnswerError, match=r"answered 0 times in 1 run$"):
        read_replies([], 1)


@pytest.mark.parametrize("iteration", ["77", "1", 0, None, "warmup-0"])
def test_a_receipt_of_another_run_is_invalid(iteration: object) -> None:
    with pytest.raises(AnswerError) as caught:
        read_replies([line(iteration=iteration)], 1)
    assert caught.value.code == "BX211"
    assert "HYPERFINE_ITERATION of the run was '0'" in dict(caught.value.details)["cause"]
    assert len(read_replies([line(iteration=iteration)], 1, timed=False)) == 1


@pytest.mark.parametrize(
    "part",
    [
        *(f'"{key}": -1' for key in ("threads", "bytes", *RECEIPT_KEYS.values())),
        '"phases_s": {"x": -0.1}',
    ],
)
def test_an_impossible_receipt_is_invalid(part: str) -> None:
    with pytest.raises(AnswerError) as caught:
        parse_reply(line()[:-1] + f", {part}}}".encode())
    assert caught.value.code == "BX211"
    assert "is negative" in dict(caught.value.details)["cause"]


def test_the_runs_of_a_block_must_agree() -> None:
    with pytest.raises(AnswerError, match="2 different answers in 3 runs") as caught:
        read_replies([line("a"), line("b", "1"), line("a", "2")], 3)
    assert caught.value.code == "BX214"


def test_only_lines_appended_by_the_block_are_read(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    path.write_bytes(b'{"half a line of a killed wor')
    answers = AnswersFile(path)
    answers.mark()
    with path.open("ab") as file:
        file.write(line("mine") + b"\n")
    assert answers.read() == [line("mine")]
    answers.mark()
    assert answers.read() == []
    answers.close()


def test_exact_output_counts_every_byte(tmp_path: Path) -> None:
    assert digest(tmp_path / "a", b"x\ny\n", "exact") == digest(tmp_path / "b", b"x\ny\n", "exact")
    assert digest(tmp_path / "a", b"x\ny\n", "exact") != digest(tmp_path / "b", b"y\nx\n", "exact")
    assert digest(tmp_path / "a", b"x\n", "exact") != digest(tmp_path / "b", b"x", "exact")


def test_sorted_lines_ignore_the_order_but_not_the_number_of_lines(tmp_path: Path) -> None:
    first = digest(tmp_path / "a", b"x\ny\ny\n", "sorted-lines")
    assert first == digest(tmp_path / "b", b"y\nx\ny", "sorted-lines")
    assert first != digest(tmp_path / "b", b"y\nx\n", "sorted-lines")


def test_json_ignores_spaces_and_the_order_of_keys(tmp_path: Path) -> None:
    first = digest(tmp_path / "a", b'{"a": 1, "b": [1, 2]}', "json")
    assert first == digest(tmp_path / "b", b'{\n  "b": [1,2], "a": 1}\n', "json")
    assert first != digest(tmp_path / "b", b'{"a": 1, "b": [2, 1]}', "json")


def test_json_lines_are_accepted(tmp_path: Path) -> None:
    lines = digest(tmp_path / "a", b'{"a": 1, "b": 2}\n{"c": 3}\n', "json")
    assert lines == digest(tmp_path / "b", b'{"b":2,"a":1}\n\n{"c":3}', "json")


def test_output_that_is_not_json_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AnswerError, match="not JSON") as caught:
        digest(tmp_path / "a", b"Segmentation fault", "json")
    assert "Segmentation fault" in dict(caught.value.details)["output"]


def test_too_deeply_nested_output_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AnswerError, match="not JSON") as caught:
        digest(tmp_path / "a", b"[" * 200_000, "json")
    assert caught.value.code == "BX216"


def test_a_missing_answer_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AnswerError, match="cannot be read") as caught:
        digest_file(tmp_path / "nothing", AnswerPolicy("exact", file=str(tmp_path / "nothing")))
    assert caught.value.code == "BX215"


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ('{"t": 1, "u": {"t": 2}}', False),
        ('{"t": 1}\n{"t": 2}\n', True),
        ('[{"t": 1}, [{"t": 2}]]', True),
        ("{}", False),
        ('[{"t": 1}, 0]', False),
    ],
)
def test_ignored_keys_must_leave_something(tmp_path: Path, text: str, nothing: bool) -> None:
    (tmp_path / "out").write_text(text)
    policy = AnswerPolicy("json", json_ignore=("t",))
    if not nothing:
        assert digest_file(tmp_path / "out", policy).digest
        return
    with pytest.raises(AnswerError, match="leaves nothing to compare") as caught:
        digest_file(tmp_path / "out", policy)
    assert caught.value.code == "BX218"


def test_none_compares_nothing(tmp_path: Path) -> None:
    assert digest_file(tmp_path / "nothing", AnswerPolicy("none")).source == "none"


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 200_000,
        b'{"protocol": 1, "answer": {"digest": "a"}, "phases_s": {"x": NaN}}',
        b'{"protocol": 1, "answer": {"digest": "a"}, "metrics": {"x": 1e999}}',
        b'{"protocol": 1, "answer": {"digest": "a"}, "metrics": {"x": 1.7e308}}',
        b'{"protocol": 1, "answer": {"digest": "\\ud800"}}',
        b'{"protocol": 1, "answer": {"digest": "a", "count": 99999999999999999999}}',
        b'{"protocol": 1, "answer": {"digest": "a", "count": ' + b"1" * 5000 + b"}}",
        b'{"protocol": 1, "answer": {"digest": "a"}, "metrics": {"x": 1' + b"0" * 400 + b"}}",
    ],
    ids=["deep", "nan", "infinite", "huge", "surrogate", "count", "digits", "no float"],
)
def test_a_line_that_a_record_cannot_store_is_invalid(line: bytes) -> None:
    with pytest.raises(AnswerError) as caught:
        parse_reply(line)
    assert caught.value.code == "BX211"


def test_a_remainder_of_floats_is_read_as_0() -> None:
    line = (
        b'{"protocol": 1, "answer": {"digest": "a"}, "phases_s": {"x": %s}, "metrics": {"y": %s}}'
    )
    receipt = parse_reply(line % (b"-5e-20", b"5e-20")).receipt
    assert (receipt.phases_s, receipt.metrics) == ({"x": 0.0}, {"y": 0.0})


def test_a_removed_answers_file_is_created_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    answers = AnswersFile(path)
    answers.mark()
    path.unlink()
    answers.mark()
    with path.open("ab") as file:
        file.write(b"{}\n")
    assert answers.read() == [b"{}"]
    answers.close()


def test_deeply_nested_output_is_digested_or_refused(tmp_path: Path) -> None:
    refused = 0
    for depth in range(700, 1100):
        try:
            assert digest(tmp_path / "out", b"[" * depth + b"]" * depth, "json")
        except AnswerError as error:
            refused += error.code == "BX216"
    assert 0 < refused < 400


def test_too_many_bytes_of_answers_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "MOST_ANSWERS", 100)
    file = AnswersFile(tmp_path / "answers")
    file.path.write_bytes(b"earlier\n")
    file.mark()
    with file.path.open("ab") as appended:
        appended.write(b"x" * 101)
    with pytest.raises(AnswerError, match="appended 101 bytes"):
        file.read()
    assert file.path.read_bytes() == b"earlier\n"
    file.close()
