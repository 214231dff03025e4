"""Tests of what a command waits for, from files as in /proc."""

import platform
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_framework.execution.machine import waits
from bench_framework.execution.machine.waits import CALLS, NEEDS_CALLS, Waits, state_of
from bench_framework.model.metrics import WAITING, WAITS

X86 = {"futex": 202, "futex_wait": 455, "semop": 65, "semtimedop": 220, "nanosleep": 230}
X86 |= {"io_uring": 426, "read": 0, "vfork": 58, "wait4": 61}


@pytest.fixture(autouse=True)
def x86(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "CALLS", waits._X86_64)


def thread(proc: Path, pid: int, tid: int, state: str, call: str = "", delay: int = 0) -> Path:
    """Write the files of a thread whose name has a parenthesis and a space.

    `call` has the name of a system call, and the argument that is not 0 if there is one.
    """
    task = proc / str(pid) / "task" / str(tid)
    task.mkdir(parents=True, exist_ok=True)
    (task / "stat").write_text(f"{tid} (a) R b) {state} 1 1 1")
    (task / "schedstat").write_text(f"5 {delay} 1\n")
    name, _, limit = call.partition(" ")
    arguments = " ".join("0x7f01" if str(n) == limit else "0x0" for n in range(6))
    line = f"{X86.get(name, name)} {arguments} 0x1 0x2\n"
    (task / "syscall").write_text(line if call else "")
    return task


def waits_of(proc: Path, *samples: float) -> Waits:
    clock: Iterator[float] = iter(samples)
    return Waits(lambda: next(clock), proc)


@pytest.mark.parametrize(
    ("state", "call", "kind"),
    [
        ("R", "", "running"),
        ("S", "running", "running"),
        ("Z", "", ""),
        ("D", "read", "disk"),
        ("D", "-1", "disk"),
        ("D", "vfork", "child"),
        ("S", "futex", "lock"),
        ("S", "futex 3", "event"),
        ("S", "futex_wait 3", "lock"),
        ("S", "futex_wait 4", "event"),
        ("S", "semop 3", "lock"),
        ("S", "semtimedop 3", "event"),
        ("S", "nanosleep", "sleep"),
        ("S", "io_uring", "io_uring"),
        ("S", "wait4", "child"),
        ("S", "read", "event"),
        ("S", "", "unknown"),
        ("D", "", "disk"),
    ],
)
def test_the_state_and_the_system_call_of_a_thread_say_what_it_waits_for(
    tmp_path: Path, state: str, call: str, kind: str
) -> None:
    assert state_of(thread(tmp_path, 7, 7, state, call)) == kind
    assert state_of(tmp_path / "ended") == ""


def test_a_thread_that_waits_for_a_lock_waits_for_what_the_other_threads_wait_for(
    tmp_path: Path,
) -> None:
    sampled = waits_of(tmp_path, 0.0, 1.0, 3.0, 7.0)
    thread(tmp_path, 7, 7, "S", "futex")
    sampled.sample([7])
    sampled.sample([7])  # 1 s: a lock
    thread(tmp_path, 7, 8, "S", "nanosleep")
    sampled.sample([7])  # 2 s: whoever has it sleeps
    thread(tmp_path, 9, 9, "R", delay=3_000_000_000)
    sampled.sample([7, 9])  # 4 s: one runs
    values = sampled.values(elapsed_s=7.0, cpu_s=1.0)
    assert values[WAITING] == 6.0
    assert list(values) == [WAITING, *WAITS], "the order of the columns of runs.csv"
    assert [values[m] for m in WAITS] == [0.0, 0.0, 2.0, 1.0, 3.0]
    late = sampled.values(elapsed_s=5.5, cpu_s=1.0)
    assert [late[m] for m in WAITS] == [0.0, 0.0, 2.0, 1.0, 1.5], "the samples came late"


def test_a_thread_waits_for_a_core_unless_another_one_of_the_command_runs(tmp_path: Path) -> None:
    sampled = waits_of(tmp_path, 0.0, 1.0, 4.0)
    thread(tmp_path, 7, 7, "R")
    sampled.sample([7])
    thread(tmp_path, 7, 7, "S", "nanosleep")
    sampled.sample([7])  # 1 s: it sleeps
    thread(tmp_path, 7, 7, "R", delay=2_500_000_000)
    sampled.sample([7])
    alone = sampled.values(elapsed_s=4.0, cpu_s=1.0)
    assert [alone[m] for m in WAITS] == [0.0, 0.0, 0.5, 0.0, 2.5]
    assert sampled.values(elapsed_s=1.5, cpu_s=1.0)["wait_core"] == 0.5


def test_two_threads_that_share_a_core_do_not_wait_for_it(tmp_path: Path) -> None:
    sampled = waits_of(tmp_path, 0.0, 2.0, 3.0)
    for tid in (7, 8):
        thread(tmp_path, 7, tid, "R", delay=1_000_000_000)
    sampled.sample([7])
    sampled.sample([7])  # 2 s: each has the core half of the time
    for tid in (7, 8):
        thread(tmp_path, 7, tid, "S", "nanosleep", delay=1_000_000_000)
    sampled.sample([7])  # 1 s: both sleep
    values = sampled.values(elapsed_s=3.0, cpu_s=2.0)
    assert [values[m] for m in WAITS] == [0.0, 0.0, 1.0, 0.0, 0.0]


def test_what_the_machine_does_not_show_is_missing_and_not_zero(tmp_path: Path) -> None:
    sampled = waits_of(tmp_path, 0.0, 1.0, 2.0)
    task = thread(tmp_path, 7, 7, "D", "")
    (task / "schedstat").write_text("0 0 0\n")
    sampled.sample([7])
    sampled.sample([7])
    (thread(tmp_path, 7, 8, "S", "") / "schedstat").write_text("0 0 0\n")
    expected = {WAITING, "wait_disk", *(f"wait_{k}" for k in NEEDS_CALLS)}
    assert sampled.values(2.0, 0.0).keys() == expected
    (tmp_path / "7" / "task" / "7" / "stat").unlink()
    sampled.sample([7])
    assert sampled.values(2.0, 0.0) == {WAITING: 2.0, "wait_disk": 1.0}
    assert waits_of(tmp_path).values(2.0, 0.0) == {}, "no sample"
    assert sampled.values(1.0, 1.5) == {}, "more than one core"


def test_a_child_that_is_not_sampled_yet_is_reported(tmp_path: Path) -> None:
    sampled = waits_of(tmp_path, 0.0, 1.0)
    thread(tmp_path, 7, 7, "S", "wait4")
    assert not sampled.sample([7])
    thread(tmp_path, 8, 8, "S", "nanosleep")
    assert sampled.sample([7, 8])


def test_each_supported_machine_has_the_same_waits() -> None:
    assert {*waits._X86_64.values()} == {*waits._AARCH64.values()} == {*NEEDS_CALLS, "child"}
    assert CALLS or platform.machine() not in {"x86_64", "aarch64"}
