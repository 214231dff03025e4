"""Cold and warm runs on a real disk: pages are dropped, verified and read again."""

import mmap
import os
import random
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_framework.compare import cell_state
from bench_framework.execution.counting import observations
from bench_framework.execution.inputs import pagecache
from bench_framework.execution.inputs.pagecache import InputPages, set_state, verify_state
from bench_framework.execution.machine import cached_pages, host
from bench_framework.execution.stop import Driver
from bench_framework.features.judge import judge
from bench_framework.model.plan.arguments import INPUT
from bench_framework.model.plan.plan import CacheState
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Block, PreparedInput
from bench_framework.model.record.sensors import PageCache
from bench_framework.model.verdict import Verdict
from bench_framework.text.reasons import phrase
from tests.integration.execution.conftest import blocks_of, events_of, plan_of

SIZE = 8 << 20
FILE_OF_ROOT = Path("/usr/bin/cat")
NEARLY_ALL: Any = pytest.approx(1.0, abs=0.01)
"""The kernel may drop a page at any time."""
"""A file of another user if the test does not run as root."""


@pytest.fixture
def data(disk: Path) -> Path:
    """A file that no filesystem can shrink."""
    path = disk / "data"
    path.write_bytes(random.Random(1).randbytes(SIZE))
    return path


@pytest.fixture
def memory() -> Iterator[Path]:
    """A file in tmpfs."""
    path = Path("/dev/shm") / f"benchctl-test-{os.getpid()}"
    if host.filesystem_of(path) not in host.IN_MEMORY:
        pytest.skip("/dev/shm is not tmpfs on this machine")
    path.write_bytes(bytes(SIZE))
    yield path
    path.unlink()


def plan_with(path: Path, caches: Mapping[str, CacheState], rounds: int = 2) -> Any:
    """Return a plan that runs `cat` with one cache state per arm, and the prepared input."""
    policy = MeasurePolicy(rounds_min=rounds, rounds_max=rounds, until="rounds", warmup_rounds=1)
    plan = plan_of({name: ["cat"] for name in caches}, control=False, measure=policy)
    cells = tuple(
        replace(cell, command=(("cat",), (INPUT,)), cache=caches[cell.label]) for cell in plan.cells
    )
    size = path.stat().st_size
    prepared = PreparedInput(plan.inputs[0].id, str(path), size, None, "random", None)
    return replace(plan, cells=cells), [prepared]


def measured(blocks: list[Block]) -> list[Block]:
    return [block for block in blocks if not block.warmup]


@pytest.mark.real
def test_cold_runs_read_the_input_from_the_device_and_warm_ones_do_not(
    real: Any, data: Path
) -> None:
    plan, inputs = plan_with(data, {"warm": "warm", "cold": "cold"})
    record = real.measure(plan, inputs=inputs)
    warm, cold = measured(blocks_of(record, "warm")), measured(blocks_of(record, "cold"))
    assert len(warm) == len(cold) == 2
    for block in cold:
        assert block.page_cache is not None
        assert block.page_cache.state == "cold", block.page_cache.why
        assert block.page_cache.resident_before == 0.0
        assert block.page_cache.resident_after == NEARLY_ALL
        assert block.sensors.device_bytes is not None
        # The counter is that of the device: metadata and what other processes read are in it.
        assert SIZE <= block.sensors.device_bytes < SIZE * 1.5
    for block in warm:
        assert block.page_cache == PageCache("warm", NEARLY_ALL)
        assert block.sensors.device_bytes is not None
        assert block.sensors.device_bytes < SIZE / 2
    assert not events_of(record, "BX341")
    assert not events_of(record, "BX342")
    judgement = judge(record.plan, record.contents.blocks, {}, inputs, record.contents.looks)
    assert {state.cache for state in judgement.states} == {"warm", "cold"}
    assert {state.state for state in judgement.states} == {"measured"}
    # The names of the variants contain the states; no sentence calls the whole input cold.
    assert not any(("cache", "cold") in claim.scope for claim in judgement.claims)


@pytest.mark.real
def test_the_counted_run_of_a_cold_cell_reads_its_input_from_the_device(
    real: Any, data: Path
) -> None:
    plan, inputs = plan_with(data, {"warm": "warm", "cold": "cold"})
    record = real.measure(plan, inputs=inputs)
    with record:
        driver = Driver(real.launcher, real.env, real.observer, real.stop)
        observations.observe_cells(plan, record, driver)
    counted = record.contents.observations
    read = {plan.cell(o.cell_id).label: o.values["read_bytes"] for o in counted}
    assert read["warm"] < SIZE / 2 < SIZE <= read["cold"]


@pytest.mark.real
def test_claims_of_cold_runs_mention_the_cold_cache(real: Any, data: Path) -> None:
    plan, inputs = plan_with(data, {"a": "cold", "b": "cold"})
    record = real.measure(plan, inputs=inputs)
    judgement = judge(record.plan, record.contents.blocks, {}, inputs, record.contents.looks)
    texts = [claim.text for claim in judgement.claims if ("cache", "cold") in claim.scope]
    assert any(text.startswith("With a cold cache, ") for text in texts)


@pytest.mark.real
def test_in_tmpfs_nothing_is_called_cold_and_nothing_is_compared(real: Any, memory: Path) -> None:
    plan, inputs = plan_with(memory, {"a": "cold", "b": "cold"})
    record = real.measure(plan, inputs=inputs)
    events = events_of(record, "BX341")
    assert len(events) == 2
    reason = "100\u202f% of it stayed in memory: tmpfs keeps its files in memory"
    assert all(event.message.endswith(reason) for event in events)
    judgement = judge(record.plan, record.contents.blocks, {}, inputs, record.contents.looks)
    assert {state.state for state in judgement.states} == {"not-comparable"}
    assert all(
        phrase(state.reason).startswith("cache state not verified: 2 of 2 samples")
        for state in judgement.states
    )
    assert {c.verdict for c in judgement.comparisons} == {Verdict.NOT_COMPARABLE}
    assert not any("cold cache" in claim.text for claim in judgement.claims)


@pytest.mark.real
def test_pages_mapped_by_another_process_are_reported(real: Any, data: Path) -> None:
    plan, inputs = plan_with(data, {"a": "cold"})
    with data.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapping:
        assert sum(mapping[:: mmap.PAGESIZE]) > 0  # touch every page
        record = real.measure(plan, inputs=inputs)
    for block in blocks_of(record, "a"):
        assert block.page_cache is not None
        assert block.page_cache.state == "unknown"
        assert block.page_cache.why.endswith("another process maps or reads it")
    [event] = events_of(record, "BX341")
    assert event.message.startswith("page cache not verified to be cold: a in warm-up round 1")


def test_a_run_that_reads_nothing_from_the_device_is_not_cold(fake: Any, data: Path) -> None:
    """The pages are dropped, but the program does not read them."""
    plan, inputs = plan_with(data, {"a": "cold"})
    record = fake.measure(plan, inputs=inputs)
    for block in measured(blocks_of(record, "a")):
        assert block.page_cache is not None
        assert block.page_cache.resident_before == 0.0
        assert block.page_cache.state == "unknown"
        assert block.page_cache.why == "the run read nothing from a device"


def test_the_file_of_the_program_is_in_memory_before_each_sample(fake: Any, data: Path) -> None:
    fake.build = replace(fake.build, path=str(data))
    InputPages(data).drop()
    fake.measure(plan_of({"a": ["cat"]}, control=False))
    assert InputPages(data).resident() == NEARLY_ALL


def test_a_file_that_another_process_reads_is_not_cold(data: Path) -> None:
    pages = InputPages(data)
    before_run = set_state(pages, "cold")
    data.read_bytes()  # read by the test, not by the run
    state = verify_state(pages, "cold", before_run, SIZE // 4)
    assert state.state == "unknown"
    assert state.why.endswith("another process read it too")
    assert verify_state(pages, "cold", before_run, SIZE).state == "cold"


def test_reading_with_direct_io_is_cold(data: Path) -> None:
    pages = InputPages(data)
    assert verify_state(pages, "cold", set_state(pages, "cold"), SIZE) == PageCache(
        "cold", 0.0, 0.0
    )


def test_dirty_pages_are_written_before_they_are_dropped(disk: Path) -> None:
    path = disk / "dirty"
    contents = random.Random(2).randbytes(SIZE)
    path.write_bytes(contents)
    pages = InputPages(path)
    pages.drop()
    assert pages.resident() == 0.0
    assert path.read_bytes() == contents


def test_every_file_of_a_folder_is_dropped_and_read_in_again(disk: Path) -> None:
    folder = disk / "corpus"
    for name in ("a", "b/c", "b/empty"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"" if name.endswith("empty") else bytes(1 << 20))
    pages = InputPages(folder)
    assert pages.size == 2 << 20
    assert set_state(pages, "cold").resident_before == 0.0
    (folder / "a").read_bytes()
    assert pages.resident() == pytest.approx(0.5, abs=0.01)
    assert verify_state(pages, "warm", set_state(pages, "warm"), 0) == PageCache("warm", NEARLY_ALL)


def test_the_state_unknown_does_not_change_the_cache(data: Path) -> None:
    pages = InputPages(data)
    pages.drop()
    assert set_state(pages, "unknown") == PageCache("unknown", 0.0)
    assert verify_state(pages, "unknown", set_state(pages, "unknown"), 0) == PageCache(
        "unknown", 0.0
    )


def test_an_input_larger_than_memory_is_not_warm(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "memory_bytes", lambda _: SIZE // 2)
    pages = InputPages(data)
    pages.drop()
    state = verify_state(pages, "warm", set_state(pages, "warm"), 0)
    assert state == PageCache("unknown", 0.0, why="only 0\u202f% of it was in memory")


def test_mincore_and_cachestat_agree(data: Path) -> None:
    with data.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        for bytes_read in (SIZE // 2, SIZE):
            os.pread(file.fileno(), bytes_read, 0)
            by_mincore = cached_pages.by_mincore(file.fileno(), SIZE, mmap.PAGESIZE)
            by_cachestat = cached_pages.by_cachestat(file.fileno())
            assert by_mincore is not None
            assert by_mincore >= bytes_read // mmap.PAGESIZE
            assert by_cachestat in {None, by_mincore}  # Linux 6.5 or newer


@pytest.mark.real
def test_the_state_of_another_users_file_is_unknown(real: Any) -> None:
    """mincore(2) reports every page of such a file as resident. Root becomes uid 65534 first."""
    if os.geteuid() == 0:
        program = (
            "import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "from pathlib import Path\n"
            "print(pages.resident(), verify_state(pages, 'warm', set_state(pages, 'warm'), 0).state)\n"
        )
        setup = (
            "from pathlib import Path\n"
            "from bench_framework.execution.inputs.pagecache import InputPages, set_state, verify_state\n"
            f"pages = InputPages(Path({str(FILE_OF_ROOT)!r}))\n"
        )
        output = real.launcher.capture([sys.executable, "-c", setup + program], real.env)
        assert (output.stdout, output.stderr) == ("None unknown\n", "")
    else:
        pages = InputPages(FILE_OF_ROOT)
        assert pages.resident() is None
        assert verify_state(pages, "cold", set_state(pages, "cold"), SIZE).why == phrase(
            pagecache.NOT_REPORTED
        )


def test_a_missing_input_is_reported(data: Path) -> None:
    pages = InputPages(data)
    data.unlink()
    state = verify_state(pages, "cold", set_state(pages, "cold"), SIZE)
    assert state.state == "unknown"
    assert state.why == f"{data}: No such file or directory"


def test_blocks_without_a_cache_state_are_unknown(data: Path) -> None:
    plan, _ = plan_with(data, {"a": "warm", "b": "cold"})
    block = Block(0, 1, 0, plan.cells[1].id, warmup=False, status="ok", started_at="")
    assert cell_state.observed_cache([block]) == "unknown"
    unchecked = Reason(ReasonCode.NOT_CHECKED)
    assert cell_state.cache_refusal(plan.cells[1], [block]) == Reason(
        ReasonCode.CACHE_NOT_VERIFIED, (1, 1, "cold", 1, unchecked)
    )
    assert set(cell_state.needed_caches(plan.cells)) == {
        c.id for c in plan.cells
    }  # a warm cell and a cold one
    alone, _ = plan_with(data, {"a": "warm"})
    assert cell_state.needed_caches(alone.cells) == {}
