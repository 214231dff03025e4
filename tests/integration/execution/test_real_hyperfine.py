"""The real hyperfine: failures, signals, hangs, memory, unusual arguments."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from bench_framework.execution.hyperfine import NUMBERS_RUNS
from bench_framework.model.plan.policies import AnswerPolicy, MeasurePolicy
from tests.integration.execution.conftest import WORKER, blocks_of, events_of, plan_of
from tests.integration.processes import executable

pytestmark = pytest.mark.real

SH = "/bin/sh"
MIB = 1 << 20
FIRST_WITH_MEMORY = (1, 20, 0)
BIG_MIB = 300
SPENDER = """
#include <stdlib.h>
#include <string.h>
int main(int count, char **words) {
    size_t size = (size_t)atoi(words[1]) << 20;
    char *memory = malloc(size + 1);
    memset(memory, 1, size + 1);
    return memory[size / 2] - 1;
}
"""

LEAVES_A_PROCESS = """#!/bin/sh
# The parent, hyperfine, is another one in each block.
while read -r block pid; do
    test $block = $PPID || ! test -e /proc/$pid/exe || echo $pid >> {alive}
done < {started}
setsid sh -c 'echo $0 $$ >> {started}; exec sleep 61' $PPID > /dev/null 2>&1 &
until grep -q " $!\\$" {started}; do :; done
"""


def policy(rounds: int = 2, **options: Any) -> MeasurePolicy:
    return MeasurePolicy(rounds_min=rounds, rounds_max=rounds, **options)


@pytest.mark.slow
def test_times_are_those_of_the_program(real: Any) -> None:
    record = real.measure(
        plan_of({"a": ["/bin/sleep", "0.05"], "b": ["/bin/sleep", "0.1"]}, measure=policy())
    )
    for label, seconds in (("a", 0.05), ("b", 0.1), ("control", 0.05)):
        walls = [block.wall for block in blocks_of(record, label)]
        assert len(walls) >= 2
        assert all(wall is not None and seconds <= wall < seconds + 0.5 for wall in walls)
    assert {block.exit_codes for block in record.contents.blocks} == {(0,)}


@pytest.mark.slow
def test_every_kind_of_failure_is_reported_and_affects_only_its_cell(real: Any) -> None:
    arms = {
        "good": ["/bin/true"],
        "one": [SH, "-c", "echo out of luck >&2; exit 1"],
        "crash": [SH, "-c", "kill -SEGV $$"],
        "hang": [SH, "-c", "sleep 60 & sleep 60"],
        "absent": ["/no/such/program"],
    }
    record = real.measure(plan_of(arms, measure=policy(timeout_s=0.3)))
    first = {label: blocks_of(record, label)[0] for label in arms}
    assert first["good"].status == "ok"
    assert (first["one"].status, first["one"].message) == ("failed", "exit status 1")
    assert (first["crash"].message, first["crash"].signal) == ("killed by SIGSEGV", "SIGSEGV")
    assert (first["hang"].status, first["hang"].timed_out) == ("timeout", True)
    assert first["absent"].status == "failed"
    assert "No such file" in str(first["absent"].message)
    assert {block.status for block in blocks_of(record, "good")} == {"ok"}
    assert {len(blocks_of(record, label)) for label in arms if label != "good"} == {2}
    reported = {
        event.message.split()[0]: dict(event.details) for event in events_of(record, "BX201")
    }
    assert set(reported) == set(arms) - {"good"}
    assert "out of luck" in reported["one"]["stderr"]
    log = record.path / str(first["one"].stderr_log)
    assert log.read_text() == "out of luck\n"


def test_a_failure_that_does_not_repeat_is_reported_as_such(real: Any, tmp_path: Path) -> None:
    flaky = f"test -e {tmp_path}/been && exit 0; touch {tmp_path}/been; exit 7"
    record = real.measure(plan_of({"a": [SH, "-c", flaky]}, control=False, measure=policy()))
    [event] = events_of(record, "BX201")
    assert dict(event.details)["repetitions"].startswith("all 20 succeeded, so its stderr is not")
    assert record.contents.blocks[0].stderr_log is None
    assert not [*(record.path / "raw/logs").glob("*.stderr")]
    assert [block.status for block in record.contents.blocks] == ["failed", "ok", "ok", "ok"]


@pytest.mark.slow
def test_peak_memory_is_correct_after_a_larger_program(real: Any, tmp_path: Path) -> None:
    """hyperfine reports a maximum over its children, and a child inherits its parent's peak."""
    ballast = bytearray(BIG_MIB * MIB)  # memory of the parent must not be counted either
    (tmp_path / "spend.c").write_text(SPENDER)
    spend = str(tmp_path / "spend")
    compiler = shutil.which("cc")
    assert compiler is not None
    built = real.launcher.capture(
        [compiler, "-O1", "-o", spend, str(tmp_path / "spend.c")], real.env
    )
    assert built.ok, built.stderr
    record = real.measure(
        plan_of(
            {"small": [spend, "1"], "big": [spend, str(BIG_MIB)]}, control=False, measure=policy(3)
        )
    )
    assert len(ballast) == BIG_MIB * MIB
    peaks = {
        label: [block.peak_rss_bytes for block in blocks_of(record, label)]
        for label in ("small", "big")
    }
    if real.tool.version < FIRST_WITH_MEMORY:
        assert {*peaks["small"], *peaks["big"]} == {None}
        return
    assert all(peak and BIG_MIB * MIB < peak < (BIG_MIB + 8) * MIB for peak in peaks["big"])
    assert all(peak and peak < 8 * MIB for peak in peaks["small"])


def test_unusual_arguments_are_passed_unchanged(real: Any) -> None:
    words = [
        "it's",
        "a b",
        "",
        "a;b",
        "$(id)",
        "100%",
        "<script>",
        "größe",
        "new\nline",
        '"',
        "\\",
        "*",
        "{bin}",
    ]
    arms = {"a": ["/usr/bin/printf", "[%s]", *words]}
    record = real.measure(plan_of(arms, answer=AnswerPolicy("exact"), measure=policy(1)))
    assert record.raw.stdout.read_text() == "".join(f"[{word}]" for word in words)
    assert {block.status for block in record.contents.blocks} == {"ok"}


def test_stdin_is_read_from_its_file(real: Any, tmp_path: Path) -> None:
    path = tmp_path / "in put"
    path.write_text("one two\n")
    plan = plan_of(
        {"a": ["/usr/bin/wc", "-w"]},
        answer=AnswerPolicy("exact"),
        cell={"stdin": (str(path),)},
        measure=policy(1),
    )
    assert real.measure(plan).raw.stdout.read_text() == "2\n"


def test_short_runs_are_repeated_and_a_worker_answers_each_time(real: Any, tmp_path: Path) -> None:
    real.env["BENCHCTL_FAKE_LOG"] = str(tmp_path / "log")
    plan = plan_of(
        {"a": [WORKER, "run", "a"], "b": [WORKER, "run", "b", "same"]},
        answer=AnswerPolicy("exact", contract=True),
        measure=policy(),
    )
    record = real.measure(plan)
    for block in record.contents.blocks:
        assert block.status == "ok", block.message
        assert len(block.receipts) == len(block.wall_s) == len(block.exit_codes)
        assert (block.peak_rss_bytes, block.peak_rss_source) == (MIB, "worker")
    runs = sum(len(block.wall_s) for block in record.contents.blocks)
    assert len((tmp_path / "log").read_text().splitlines()) == runs
    # The log has the order of the journal, with the iterations of each block from 0 on.
    numbered = real.tool.version >= NUMBERS_RUNS
    labels = {cell.id: cell.label.replace("control", "a") for cell in record.plan.cells}
    expected = [
        f"{labels[block.cell_id]} {run if numbered else ''}"
        for block in record.contents.blocks
        for run in range(len(block.wall_s))
    ]
    assert (tmp_path / "log").read_text().splitlines() == expected


def test_different_answers_of_real_programs_are_detected(real: Any) -> None:
    arms = {"a": ["/usr/bin/printf", "1\\n2\\n"], "b": ["/usr/bin/printf", "2\\n1\\n"]}
    exact = real.measure(plan_of(arms, answer=AnswerPolicy("exact"), measure=policy(1)))
    assert {block.status for block in blocks_of(exact, "b")} == {"other-output"}
    lines = real.measure(plan_of(arms, answer=AnswerPolicy("sorted-lines"), measure=policy(1)))
    assert {block.status for block in blocks_of(lines, "b")} == {"ok"}


def test_processes_left_behind_are_killed_before_the_next_block(real: Any, tmp_path: Path) -> None:
    program, started, alive = (tmp_path / name for name in ("program", "started", "alive"))
    started.touch()
    executable(program, LEAVES_A_PROCESS.format(started=started, alive=alive))
    record = real.measure(plan_of({"a": [str(program)]}, control=False, measure=policy(2)))
    blocks = record.contents.blocks
    assert {block.status for block in blocks} == {"ok"}
    lines = [line.split() for line in started.read_text().splitlines()]
    assert len({block for block, _ in lines}) == len(blocks) > 1
    assert not alive.exists(), alive.read_text()
    assert not [pid for _, pid in lines if Path("/proc", pid, "exe").exists()]
