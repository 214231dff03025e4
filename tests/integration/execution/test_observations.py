"""Untimed counting runs of real programs: kernel counters, valgrind, and its failures."""

import fcntl
import shlex
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from bench_framework.errors import Interrupted, MachineError
from bench_framework.execution.counting import observations
from bench_framework.execution.counting.instructions import Counter, counter
from bench_framework.execution.progress import Counting
from bench_framework.execution.stop import Driver, Stop
from bench_framework.foreign import sha256_of
from bench_framework.model.metrics import KERNEL_KEYS, SIMULATED
from bench_framework.model.plan.declared_metrics import DeclaredMetric, InstructionPolicy
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import AnswerPolicy
from bench_framework.model.record.run import Observation
from bench_framework.store.lines import Dropped
from bench_framework.store.records import Record
from tests.integration.execution.conftest import events_of, plan_of
from tests.integration.processes import is_without

needs_valgrind = pytest.mark.skipif(
    is_without("valgrind"), reason="BENCHCTL_TESTS_WITHOUT names valgrind"
)


def count_cells(lab: Any, plan: Plan, record: Record) -> list[Observation]:
    with record:
        driver = Driver(lab.launcher, lab.env, lab.observer, lab.stop)
        observations.observe_cells(plan, record, driver)
    return record.contents.observations


def script(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_kernel_counters_are_read_once_per_cell_and_never_for_the_control(fake: Any) -> None:
    plan = plan_of({"a": ["/bin/true"], "b": ["/bin/echo", "hello"]})
    record = fake.measure(plan)
    counted = count_cells(fake, plan, record)
    expected = [("a", "observed", "ok"), ("b", "observed", "ok")]
    assert [(plan.cell(o.cell_id).label, o.kind, o.status) for o in counted] == expected
    for observation in counted:
        assert set(observation.values) >= set(KERNEL_KEYS)
        assert observation.values["minor_faults"] > 10
    assert len(count_cells(fake, plan, record)) == 2, "a resumed record keeps its counts"


def test_a_program_that_was_replaced_after_its_rounds_is_not_counted(
    fake: Any, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\ntrue\n")
    program.chmod(0o755)
    fake.build = replace(fake.build, sha256=sha256_of(program), path=str(program))
    plan = plan_of({"a": ["/bin/true"], "b": ["/bin/echo", "hello"]})
    record = fake.measure(plan)
    program.write_text("#!/bin/sh\nexit\n")
    assert count_cells(fake, plan, record) == []
    assert len(events_of(record, "BX420")) == 1


@pytest.mark.parametrize("reason", ["raced", "idle"])
def test_a_cell_that_left_before_the_end_is_counted_and_a_failed_one_is_not(
    fake: Any, reason: Any
) -> None:
    plan = plan_of({"a": ["true"], "b": ["true"], "c": ["true"]}, control=False)
    record = fake.measure(plan)
    a, b, c = (cell.id for cell in plan.cells)
    dropped: list[tuple[str, Any]] = [(b, reason), (c, "failed")]
    for cell, state in dropped:
        record.append(Dropped(cell, plan.inputs[0].id, 2, warmup=False, state=state))
    assert [o.cell_id for o in count_cells(fake, plan, record)] == [a, b]


def test_storage_bytes_are_those_of_the_program(fake: Any, tmp_path: Path, disk: Path) -> None:
    out = disk / "written"
    program = script(
        tmp_path, "write", f"dd if=/dev/zero of={out} bs=1M count=3 conv=fsync 2>/dev/null"
    )
    plan = plan_of({"a": ["/bin/true"], "b": [program]}, control=False)
    none, some = count_cells(fake, plan, fake.measure(plan))
    assert some.values["write_bytes"] >= 3 << 20
    assert none.values["write_bytes"] < 1 << 20


HEAP: Final = 200_000_000
HOLD: Final = f"""
import sys, time
def hold():
    heap = bytearray({HEAP})
    for page in range(0, len(heap), 4096):
        heap[page] = 1
    time.sleep(0.05)
hold()
time.sleep(0.05)
"""


@pytest.mark.slow
def test_memory_that_is_freed_before_the_end_is_in_the_parts_of_the_peak(
    fake: Any, tmp_path: Path
) -> None:
    hold = [sys.executable, "-S", "-c", HOLD]
    child = script(tmp_path, "child", f"{shlex.join(hold)}; true")
    mapped = tmp_path / "mapped"
    mapped.write_bytes(bytes(64 << 20))
    look = (
        "import mmap, sys, time\nwith open(sys.argv[1], 'rb') as file:\n"
        " with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view:\n"
        "  sum(view[page] for page in range(0, len(view), 4096))\n  time.sleep(0.05)\n"
    )
    plan = plan_of(
        {"heap": hold, "child": [child], "file": [sys.executable, "-S", "-c", look, str(mapped)]},
        control=False,
    )
    heap, of_child, file = (o.values for o in count_cells(fake, plan, fake.measure(plan)))
    assert heap["anon_bytes"] >= HEAP
    assert of_child["anon_bytes"] >= HEAP
    assert file["file_bytes"] >= 64 << 20
    assert file["anon_bytes"] < 64 << 20
    assert heap["file_bytes"] < 64 << 20


LOCKED = """
import fcntl, sys
with open(sys.argv[1]) as file:
    fcntl.flock(file, fcntl.LOCK_EX)
"""


@pytest.mark.slow
def test_waiting_is_split_by_what_is_waited_for(fake: Any, tmp_path: Path) -> None:
    """Another process holds the lock until the command waits for it. A pipe is neither a lock nor sleep."""
    path = tmp_path / "lock"
    path.touch()
    take = script(tmp_path, "take", f"flock {path} sleep 0.6 & sleep 0.2; exec flock {path} true")
    pipe = script(tmp_path, "pipe", "sleep 0.3 | cat")
    limit = [sys.executable, "-S", "-c", "import threading; threading.Event().wait(0.3)"]
    arms = {"sleep": ["/bin/sleep", "0.3"], "take": [take], "pipe": [pipe], "limit": limit}
    plan = plan_of(arms, control=False)
    sleep, take_, pipe_, limited = (o.values for o in count_cells(fake, plan, fake.measure(plan)))
    for values in (sleep, pipe_):
        assert values["wait_sleep"] > 0.5 * values["wait_total"] > 0.1
        assert values["wait_lock"] < 0.05 * values["wait_total"]
    # A futex with a time limit may end by it, and is neither.
    assert limited["wait_lock"] + limited["wait_sleep"] < 0.05 * limited["wait_total"]
    assert limited["wait_total"] > 0.2
    # The holder sleeps, and whoever waits for the lock waits for that.
    assert take_["wait_sleep"] > 0.5 * take_["wait_total"]
    plan = plan_of({"locked": [sys.executable, "-S", "-c", LOCKED, str(path)]}, control=False)
    record = fake.measure(plan)
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        threading.Timer(0.4, fcntl.flock, (file, fcntl.LOCK_UN)).start()
        (locked,) = (o.values for o in count_cells(fake, plan, record))
    assert locked["wait_lock"] > 0.5 * locked["wait_total"] > 0.1
    assert sleep["fault_cost"] > 0


def test_a_run_that_fails_is_an_observation_without_values(fake: Any, tmp_path: Path) -> None:
    program = script(tmp_path, "bad", "echo why >&2; exit 3")
    plan = plan_of({"a": ["/bin/true"], "b": [program]})
    good, bad = count_cells(fake, plan, fake.measure(plan))
    assert good.status == "ok"
    assert (bad.status, dict(bad.values), bad.message) == ("failed", {}, "exit status 3: why")


def test_a_run_with_another_answer_is_not_counted(fake: Any) -> None:
    fake.script({"match": "echo", "stdout": "other\n"})
    plan = plan_of(
        {"a": ["/bin/echo", "hello"], "b": ["/bin/echo", "hello", ""]}, answer=AnswerPolicy("exact")
    )
    counted = count_cells(fake, plan, fake.measure(plan))
    assert {o.status for o in counted} == {"failed"}
    assert "differs from" in (counted[0].message or "")


def test_prepare_and_cleanup_run_before_and_after_the_run(fake: Any, tmp_path: Path) -> None:
    log = tmp_path / "log"
    note = script(tmp_path, "note", f'echo "$1" >> {log}')
    around = {"prepare": (((note,), ("before",)),), "cleanup": (((note,), ("after",)),)}
    plan = plan_of({"a": [note, "run"]}, control=False, cell=around)
    record = fake.measure(plan)
    log.unlink()
    count_cells(fake, plan, record)
    runs = log.read_text().split()
    assert len(runs) <= 3 * observations.MOST_RUNS
    assert runs == ["before", "run", "after"] * (len(runs) // 3)


def test_a_stop_keeps_the_counts_so_far(fake: Any) -> None:
    plan = plan_of({"a": ["/bin/true"], "b": ["/bin/true", "b"]})
    record = fake.measure(plan)
    stop = Stop(fake.launcher)
    fake.stop = stop
    fake.observer.react = lambda h: stop.request() if isinstance(h, Counting) else None
    with pytest.raises(Interrupted):
        count_cells(fake, plan, record)
    assert len(record.contents.observations) == 1
    fake.stop, fake.observer.react = Stop(fake.launcher), None
    assert len(count_cells(fake, plan, record)) == 2


@needs_valgrind
def test_repeated_instruction_counts_are_equal(fake: Any) -> None:
    plan = replace(
        plan_of({"a": ["/bin/echo", "x"], "b": ["/usr/bin/seq", "20000"]}, control=False),
        instructions=InstructionPolicy(runs=2),
    )
    counted = count_cells(fake, plan, fake.measure(plan))
    counts = {
        label: [
            o.values["instructions"]
            for o in counted
            if o.kind == "instructions" and plan.cell(o.cell_id).label == label
        ]
        for label in ("a", "b")
    }
    assert {len(values) for values in counts.values()} == {2}
    for values in counts.values():
        assert max(values) / min(values) < 1.001
    assert counts["b"][0] > 1.5 * counts["a"][0]


@needs_valgrind
@pytest.mark.slow
def test_estimates_of_caches_repeat_and_leave_the_other_counts_as_they_are(fake: Any) -> None:
    plan = plan_of({"a": ["/usr/bin/seq", "20000"]}, control=False)
    plain, simulated = (
        [
            o.values
            for o in count_cells(fake, counting, fake.measure(counting))
            if o.kind == "instructions"
        ]
        for counting in (
            replace(plan, instructions=InstructionPolicy(runs=2, cache_sim=cache_sim))
            for cache_sim in (False, True)
        )
    )
    assert SIMULATED[0] not in plain[0]
    for values in simulated:
        assert values["instructions"] == pytest.approx(plain[0]["instructions"], rel=0.001)
        assert values["system_calls"] == plain[0]["system_calls"]
        assert values["ll_misses"] > 0
        least = values["instructions"] + 10 * values["d1_misses"] + 100 * values["ll_misses"]
        assert values["estimated_cycles"] > least, "misses of instructions are not in d1_misses"
    for metric in SIMULATED:
        assert simulated[0][metric] == pytest.approx(simulated[1][metric], rel=0.001)


@needs_valgrind
@pytest.mark.slow
def test_a_program_that_valgrind_cannot_count_does_not_affect_others(
    fake: Any, tmp_path: Path
) -> None:
    slow = script(tmp_path, "slow", "sleep 60")
    plan = replace(
        plan_of({"a": ["/bin/true"], "b": [slow]}, control=False),
        instructions=InstructionPolicy(runs=2, timeout_s=3.0),
        answer=AnswerPolicy("none", contract=False),
        measure=replace(plan_of({"a": ["x"]}).measure, timeout_s=0.2),
    )
    counted = [o for o in count_cells(fake, plan, fake.measure(plan)) if o.kind == "instructions"]
    states = {
        label: [o.status for o in counted if plan.cell(o.cell_id).label == label]
        for label in ("a", "b")
    }
    assert states == {"a": ["ok", "ok"], "b": ["timeout"]}
    assert "took longer than 3 s" in next(o.message or "" for o in counted if o.status != "ok")


@needs_valgrind
@pytest.mark.slow
def test_a_shell_and_its_children_are_counted_together(fake: Any, tmp_path: Path) -> None:
    twice = script(
        tmp_path, "twice", "/usr/bin/seq 20000 >/dev/null; /usr/bin/seq 20000 >/dev/null; true"
    )
    plan = replace(
        plan_of({"once": ["/usr/bin/seq", "20000"], "twice": [twice]}, control=False),
        instructions=InstructionPolicy(runs=1),
    )
    once, both = (
        o.values["instructions"]
        for o in count_cells(fake, plan, fake.measure(plan))
        if o.kind != "observed"
    )
    assert both > 1.9 * once


COUNTING_ALLOCATOR: Final = """
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
static COUNTS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
struct Counting;
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNTS[0].fetch_add(1, Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNTS[1].fetch_add(1, Relaxed);
        unsafe { System.realloc(start, layout, size) }
    }
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        COUNTS[2].fetch_add(1, Relaxed);
        unsafe { System.dealloc(start, layout) }
    }
}
#[global_allocator]
static ALLOCATOR: Counting = Counting;
fn main() {
    let number: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut kept = Vec::new();
    for n in 0..number {
        kept.push(format!("{n} of {number}"));
        if n % 3 == 0 {
            kept.pop();
        }
    }
    drop(std::hint::black_box(kept));
    // Standard error has no buffer, so that printing allocates nothing.
    let [all, grown, freed] = COUNTS.each_ref().map(|count| count.load(Relaxed));
    eprintln!("{all} {grown} {freed}");
}
"""


@pytest.mark.slow
@needs_valgrind
def test_allocations_are_those_of_a_counting_allocator(fake: Any, tmp_path: Path) -> None:
    (tmp_path / "counting.rs").write_text(COUNTING_ALLOCATOR)
    program = tmp_path / "counting"
    build = ["rustc", "-O", "-o", str(program), str(tmp_path / "counting.rs")]
    subprocess.run(build, check=True)
    used = counter(InstructionPolicy(), fake.launcher, fake.env)

    def run(number: int) -> tuple[dict[str, float], list[int]]:
        folder = tmp_path / str(number)
        folder.mkdir()
        words = [*used.under(folder), str(program), str(number)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        _, costs = used.read(folder)
        assert costs is not None
        return costs.counters(), [int(word) for word in done.stderr.split()]

    few, of_few = run(500)
    many, of_many = run(4000)
    for counts, printed in ((few, of_few), (many, of_many)):
        assert [counts["allocations"], counts["reallocations"]] == printed[:2]
    # The runtime frees memory after the program has printed its counts.
    assert many["deallocations"] - few["deallocations"] == of_many[2] - of_few[2]
    assert of_many[0] > 4000
    subprocess.run(["strip", "--strip-all", str(program)], check=True)
    # Without symbols, the functions of libc that the program calls are still visible.
    assert run(501)[0]["allocations"] == pytest.approx(few["allocations"], abs=2)


def test_a_missing_tool_is_reported(fake: Any) -> None:
    for tool in ("valgrind", "perf"):
        policy = InstructionPolicy(tool=tool)
        with pytest.raises(MachineError) as caught:
            counter(policy, fake.launcher, {**fake.env, "PATH": str(fake.root)})
        expected = ("BX250", True)
        assert (caught.value.code, f"{tool} is not installed" in caught.value.message) == expected


def test_perf_counts_or_reports_that_it_cannot(fake: Any) -> None:
    result: Counter | MachineError
    try:
        result = counter(InstructionPolicy(tool="perf"), fake.launcher, fake.env)
    except MachineError as error:
        result = error
    if isinstance(result, MachineError):
        assert result.code == "BX250"
        assert "remove `instructions`" in (result.fix or "")
    else:
        assert result.tool.startswith("perf")


def test_a_declared_metric_is_read_after_each_block(fake: Any) -> None:
    fake.script(
        {"match": "true a", "stdout": "requests/s: 100\n"},
        {"match": "true b", "stdout": "requests/s: many\n"},
    )
    plan = replace(
        plan_of({"a": ["/bin/true", "a"], "b": ["/bin/true", "b"]}, control=False),
        metrics=(
            DeclaredMetric(
                "requests", "stdout", "1/s", regex="requests/s: (.*)", direction="higher"
            ),
        ),
    )
    record = fake.measure(plan)
    by_label: dict[str, list[Any]] = {"a": [], "b": []}
    for block in record.contents.blocks:
        by_label[plan.cell(block.cell_id).label].append(block)
    assert {b.metric("requests") for b in by_label["a"]} == {100.0}
    assert {b.metric("requests") for b in by_label["b"]} == {None}
    (event,) = events_of(record, "BX217")
    assert event.severity == "error"
    assert 'requests: `requests/s: (.*)` matches "many", which is not a number' in event.message
