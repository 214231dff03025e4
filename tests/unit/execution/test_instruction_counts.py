"""Counts read from the files of valgrind and perf, and the reasons for missing ones."""

from pathlib import Path

import pytest

from bench_framework.execution.counting.instructions import parse_perf, read_valgrind
from bench_framework.model.phrases import Phrase
from bench_framework.text.reasons import phrase

LOG = "==1== Command: ./f\n==1== For interactive control, run 'callgrind_control -h'.\n"


def write_files(folder: Path, logs: dict[int, str], counts: dict[int, str]) -> Path:
    for process, text in logs.items():
        (folder / f"valgrind.{process}").write_text(text)
    for process, text in counts.items():
        (folder / f"counts.{process}").write_text(text)
    return folder


def test_the_counts_of_all_processes_are_added(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path, {1: LOG, 2: LOG}, {1: "cmd: a\nsummary: 70\ntotals: 71\n", 2: "summary: 5\n"}
    )
    assert read_valgrind(folder) == 75


@pytest.mark.parametrize(
    ("logs", "counts", "words"),
    [
        (
            {1: LOG, 2: "==2== Parent PID: 1\n"},
            {1: "summary: 70\n", 2: "summary: 75\n"},
            "without exec",
        ),
        (
            {1: LOG + "vex amd64->IR: unhandled instruction bytes: 0x62\n"},
            {1: "summary: 3\n"},
            "AVX-512",
        ),
        ({1: "==1== valgrind: cannot execute\n"}, {}, "no count: valgrind: cannot execute"),
        ({1: LOG}, {1: "creator: callgrind\n"}, "wrote no count"),
        ({}, {}, "wrote no count"),
    ],
)
def test_the_reason_for_a_missing_count(
    logs: dict[int, str], counts: dict[int, str], words: str, tmp_path: Path
) -> None:
    reason = read_valgrind(write_files(tmp_path, logs, counts))
    assert isinstance(reason, Phrase)
    assert words in phrase(reason)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("81234567,,instructions:u,1000,100.00,,\n", 81234567),
        ("# started\n\n5,,instructions:u,1,100.00,2.1,insn per cycle\n", 5),
        ("<not supported>,,instructions:u,0,100.00,,\n", "not available on this machine"),
        ("<not counted>,,instructions:u,0,0.00,,\n", "not available on this machine"),
        ("x,,instructions:u,0,0.00,,\n", "perf printed 'x' instead of a count"),
        ("", "wrote no count"),
    ],
)
def test_the_output_of_perf_is_read(text: str, expected: int | str) -> None:
    result = parse_perf(text)
    given = phrase(result) if isinstance(result, Phrase) else result
    assert given == expected if isinstance(expected, int) else str(expected) in str(given)
