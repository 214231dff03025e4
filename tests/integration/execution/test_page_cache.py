"""Cold and warm runs for real: pages dropped, seen to be gone, and read from the device again."""

from __future__ import annotations

import mmap
import os
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench_framework.compare import cache_states
from bench_framework.execution import mounts, pagecache
from bench_framework.execution.pagecache import InputPages, around, judged
from bench_framework.features.judge import judge
from bench_framework.model.plan import INPUT
from bench_framework.model.policies import MeasurePolicy
from bench_framework.model.run import Block, PageCache, PreparedInput
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bench_framework.model.plan import CacheState, Plan
    from bench_framework.model.run import Event
    from bench_framework.store.records import Record

    MakePlan = Callable[..., Plan]
    BlocksOf = Callable[[Record, str], list[Block]]
    EventsOf = Callable[[Record, str], list[Event]]

SIZE = 8 << 20
ELSEWHERE = Path("/usr/bin/cat")
"""A file of another user, for whoever is not root."""


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder whose files are on a disk."""
    if mounts.filesystem_of(tmp_path) in mounts.IN_MEMORY:
        pytest.skip("the temporary folder is in memory: set TMPDIR to one on a disk")
    return tmp_path


@pytest.fixture
def data(disk: Path) -> Path:
    """A file that no filesystem can shrink."""
    path = disk / "data"
    path.write_bytes(random.Random(1).randbytes(SIZE))
    return path


@pytest.fixture
def memory() -> Iterator[Path]:
    """A file in a filesystem that is memory."""
    path = Path("/dev/shm") / f"benchctl-test-{os.getpid()}"
    if mounts.filesystem_of(path) not in mounts.IN_MEMORY:
        pytest.skip("/dev/shm is no tmpfs here")
    path.write_bytes(bytes(SIZE))
    yield path
    path.unlink()


def plan_with(make: MakePlan, path: Path, caches: Mapping[str, CacheState], rounds: int = 2) -> Any:
    """`cat` of the input once per arm, each with its own state of the cache; with the input prepared."""
    policy = MeasurePolicy(rounds_min=rounds, rounds_max=rounds, until="rounds", warmup_rounds=1)
    plan = make({name: ["cat"] for name in caches}, control=False, measure=policy)
    cells = tuple(
        replace(cell, command=(("cat",), (INPUT,)), cache=caches[cell.label]) for cell in plan.cells
    )
    size = path.stat().st_size
    prepared = PreparedInput(plan.inputs[0].id, str(path), size, None, "random", None)
    return replace(plan, cells=cells), [prepared]


def measured(found: list[Block]) -> list[Block]:
    return [block for block in found if not block.warmup]


@pytest.mark.real
def test_cold_runs_read_the_input_from_the_device_and_warm_ones_do_not(
    real: Any, plan_of: MakePlan, blocks_of: BlocksOf, events_of: EventsOf, data: Path
) -> None:
    plan, inputs = plan_with(plan_of, data, {"warm": "warm", "cold": "cold"})
    record = real.measure(plan, inputs=inputs)
    warm, cold = measured(blocks_of(record, "warm")), measured(blocks_of(record, "cold"))
    assert len(warm) == len(cold) == 2
    for block in cold:
        assert block.page_cache is not None
        assert block.page_cache.state == "cold", block.page_cache.why
        assert block.page_cache.resident_before == 0.0
        assert block.page_cache.resident_after == 1.0
        assert block.sensors.device_bytes is not None
        # Beyond the file itself: a page of metadata here and there.
        assert SIZE <= block.sensors.device_bytes <= SIZE * 1.05
    for block in warm:
        assert block.page_cache == PageCache("warm", 1.0)
        assert block.sensors.device_bytes == 0
    assert not events_of(record, "BX341")
    assert not events_of(record, "BX342")
    judgement = judge(record.plan, record.contents.blocks, {}, inputs, record.contents.looks)
    assert {state.cache for state in judgement.states} == {"warm", "cold"}
    assert {state.state for state in judgement.states} == {"measured"}
    # The variants' own names tell the states apart; no sentence calls the whole input cold.
    assert not any(("cache", "cold") in claim.scope for claim in judgement.claims)


@pytest.mark.real
def test_a_record_of_cold_runs_says_so(real: Any, plan_of: MakePlan, data: Path) -> None:
    plan, inputs = plan_with(plan_of, data, {"a": "cold", "b": "cold"})
    record = real.measure(plan, inputs=inputs)
    judgement = judge(record.plan, record.contents.blocks, {}, inputs, record.contents.looks)
    texts = [claim.text for claim in judgement.claims if ("cache", "cold") in claim.scope]
    assert any(text.startswith("With a cold cache: ") for text in texts)


@pytest.mark.real
def test_in_tmpfs_nothing_is_called_cold_and_nothing_is_compared(
    real: Any, plan_of: MakePlan, events_of: EventsOf, memory: Path
) -> None:
    plan, inputs = plan_with(plan_of, memory, {"a": "cold", "b": "cold"})
    record = real.measure(plan, inputs=inputs)
    events = events_of(record, "BX341")
    assert len(events) == 2
    why = "100\u202f% of it stayed in memory: tmpfs keeps its files in memory"
    assert all(event.message.endswith(why) for event in events)
    judgement = judge(record.plan, record.contents.blocks, {}, inputs, record.contents.looks)
    assert {state.state for state in judgement.states} == {"not-comparable"}
    assert all(
        state.reason.startswith("cache state not verified: 2 of 2 blocks")
        for state in judgement.states
    )
    assert {c.verdict for c in judgement.comparisons} == {Verdict.NOT_COMPARABLE}
    assert not any("cold cache" in claim.text for claim in judgement.claims)


@pytest.mark.real
def test_a_mapping_of_another_keeps_its_pages_and_is_told(
    real: Any, plan_of: MakePlan, blocks_of: BlocksOf, events_of: EventsOf, data: Path
) -> None:
    plan, inputs = plan_with(plan_of, data, {"a": "cold"})
    with data.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as held:
        assert (
            sum(held[:: mmap.PAGESIZE]) > 0
        )  # every page is touched, so that it is in the mapping
        record = real.measure(plan, inputs=inputs)
    for block in blocks_of(record, "a"):
        assert block.page_cache is not None
        assert block.page_cache.state == "unknown"
        assert block.page_cache.why.endswith("another process maps or reads it")
    [event] = events_of(record, "BX341")
    assert event.message.startswith(
        "cache state not verified: a in warm-up round 1 was not seen to be cold"
    )


def test_a_run_that_the_device_gave_nothing_is_not_cold(
    fake: Any, plan_of: MakePlan, blocks_of: BlocksOf, data: Path
) -> None:
    """The pages are gone, but the program never reads them: nothing of it was cold."""
    plan, inputs = plan_with(plan_of, data, {"a": "cold"})
    record = fake.measure(plan, inputs=inputs)
    for block in measured(blocks_of(record, "a")):
        assert block.page_cache is not None
        assert block.page_cache.resident_before == 0.0
        assert block.page_cache.state == "unknown"
        assert block.page_cache.why == "the run read nothing from a device"


def test_a_file_that_another_process_reads_meanwhile_is_not_cold(data: Path) -> None:
    pages = InputPages(data)
    seen = around(pages, "cold")
    data.read_bytes()  # by us, and not by the run
    found = judged(pages, "cold", seen, SIZE // 4)
    assert found.state == "unknown"
    assert found.why.endswith("another process read it too")
    assert judged(pages, "cold", seen, SIZE).state == "cold"


def test_reading_around_the_page_cache_is_cold_too(data: Path) -> None:
    pages = InputPages(data)
    assert judged(pages, "cold", around(pages, "cold"), SIZE) == PageCache("cold", 0.0, 0.0)


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
    assert around(pages, "cold").resident_before == 0.0
    (folder / "a").read_bytes()
    assert pages.resident() == 0.5
    assert judged(pages, "warm", around(pages, "warm"), 0) == PageCache("warm", 1.0)


def test_without_a_wish_the_pages_are_left_as_they_are(data: Path) -> None:
    pages = InputPages(data)
    pages.drop()
    assert around(pages, "unknown") == PageCache("unknown", 0.0)
    assert judged(pages, "unknown", around(pages, "unknown"), 0) == PageCache("unknown", 0.0)


def test_what_memory_cannot_hold_is_not_read_in_and_not_warm(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pagecache, "available_bytes", lambda: SIZE // 2)
    pages = InputPages(data)
    pages.drop()
    found = judged(pages, "warm", around(pages, "warm"), 0)
    assert found == PageCache("unknown", 0.0, why="only 0\u202f% of it was in memory")


def test_both_ways_of_asking_the_kernel_agree(data: Path) -> None:
    with data.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        for there in (SIZE // 2, SIZE):
            os.pread(file.fileno(), there, 0)
            by_mincore = pagecache.by_mincore(file.fileno(), SIZE, mmap.PAGESIZE)
            by_cachestat = pagecache.by_cachestat(file.fileno())
            assert by_mincore is not None
            assert by_mincore >= there // mmap.PAGESIZE
            assert by_cachestat in {None, by_mincore}  # Linux 6.5 or newer


@pytest.mark.real
def test_of_another_user_s_file_the_kernel_tells_nothing_and_no_state_is_claimed(real: Any) -> None:
    """As nobody, where we are root: mincore(2) would call every page of such a file resident."""
    if os.geteuid() == 0:
        program = (
            "import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "from pathlib import Path\n"
            "print(pages.resident(), judged(pages, 'warm', around(pages, 'warm'), 0).state)\n"
        )
        setup = (
            "from pathlib import Path\n"
            "from bench_framework.execution.pagecache import InputPages, around, judged\n"
            f"pages = InputPages(Path({str(ELSEWHERE)!r}))\n"
        )
        said = real.launcher.capture([sys.executable, "-c", setup + program], real.env)
        assert (said.stdout, said.stderr) == ("None unknown\n", "")
    else:
        pages = InputPages(ELSEWHERE)
        assert pages.resident() is None
        assert judged(pages, "cold", around(pages, "cold"), SIZE).why == pagecache.NOT_TOLD


def test_an_input_that_is_gone_is_a_reason_and_no_crash(data: Path) -> None:
    pages = InputPages(data)
    data.unlink()
    found = judged(pages, "cold", around(pages, "cold"), SIZE)
    assert found.state == "unknown"
    assert found.why == f"{data}: No such file or directory"


def test_blocks_from_before_anybody_looked_are_of_an_unknown_state(
    plan_of: MakePlan, data: Path
) -> None:
    plan, _ = plan_with(plan_of, data, {"a": "warm", "b": "cold"})
    block = Block(0, 1, 0, plan.cells[1].id, warmup=False, status="ok", started_at="")
    assert cache_states.seen([block]) == "unknown"
    assert cache_states.refusal(plan.cells[1], [block]) == (
        "cache state not verified: 1 of 1 blocks were not seen to be cold (round 1: nobody looked)"
    )
    assert set(cache_states.needed(plan)) == {
        c.id for c in plan.cells
    }  # a warm cell beside a cold one
    alone, _ = plan_with(plan_of, data, {"a": "warm"})
    assert cache_states.needed(alone) == {}
