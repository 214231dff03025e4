"""The Python write strategies: bytes that count as written, the report, and short writes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_framework import dgen
from bench_framework.dgen_strategies import evidence, loop, options, threads, work
from bench_framework.dgen_strategies import target as targets
from bench_framework.dgen_strategies.evidence import Evidence, Extents
from bench_framework.dgen_strategies.fault import Fault
from bench_framework.dgen_strategies.target import Target

KIB = 1024
OPTIONS = options.Options(
    strategy="python-loop",
    size=10 * KIB,
    buffer=4 * KIB,
    buffers=2,
    depth=4,
    threads=1,
    direct="off",
    durability="none",
    sync_every=None,
    seed=7,
    dedup=None,
    compress=None,
    handed_over=0,
    path="file",
)
RUNS = {"python-loop": loop.run, "python-threads": threads.run}


@pytest.fixture
def target(tmp_path: Path) -> Target:
    path = tmp_path / "file"
    return Target(os.open(path, os.O_RDWR | os.O_CREAT), path, None)


def job(target: Target, **changes: object) -> work.Work:
    return work.Work(replace(OPTIONS, **changes), dgen.Generator(7), target)  # type: ignore[arg-type]


def test_eight_writers_at_offset_0_cover_one_block() -> None:
    result = evidence.extents([(0, 8)] * 8, 64)
    assert result == Extents(((0, 8),), 56)
    assert result.bytes == 8
    assert not result.are_whole(64)
    assert not result.are_whole(8)


def test_padding_is_cut_off() -> None:
    assert evidence.extents([(4096, 8192), (0, 4096)], 4097).are_whole(4097)
    assert not evidence.extents([(0, 8192)], 8193).are_whole(8193)
    assert evidence.extents([], 0).are_whole(0)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=20))
def test_extents_are_the_bytes_that_a_bitmap_has(pieces: list[tuple[int, int]]) -> None:
    counts = [0] * 100
    for start, length in pieces:
        for at in range(start, start + length):
            counts[at] += 1
    result = evidence.extents([(start, start + length) for start, length in pieces], 100)
    covered = [any(start <= at < end for start, end in result.ranges) for at in range(100)]
    assert covered == [count > 0 for count in counts]
    assert result.twice == sum(count - 1 for count in counts if count)


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=50), st.integers(1, 1000))
def test_a_quantile_is_the_least_value_that_so_many_do_not_exceed(
    values: list[int], thousandths: int
) -> None:
    ranked = sorted(values)
    result = evidence.quantile(ranked, thousandths)
    enough = [
        value
        for value in ranked
        if 1000 * sum(v <= value for v in ranked) >= thousandths * len(ranked)
    ]
    assert result == enough[0] / 1e9


def test_a_file_of_no_blocks_has_no_latency() -> None:
    assert evidence.quantile([], 999) == 0


@pytest.mark.parametrize("requested", ["python-loop", "python-threads"])
def test_the_reported_strategy_follows_from_the_threads(requested: str) -> None:
    target = Target(-1, Path("file"), None)

    def effective(observed: Evidence) -> str:
        return evidence.effective(replace(OPTIONS, strategy=requested), target, observed)[
            "strategy"
        ]

    assert effective(Evidence(fillers={1}, writers={1})) == "python-loop"
    assert effective(Evidence(fillers={1}, writers={2, 3})) == "python-threads"
    assert effective(Evidence()) == requested


def test_the_reported_durability_is_the_counted_one() -> None:
    def effective(
        requested: str, every: int | None, observed: Evidence, *, is_dsync: bool = False
    ) -> str:
        observed.latencies.extend([1] * 100)
        observed.writers = {1}
        target = Target(-1, Path("file"), None, is_dsync=is_dsync)
        return evidence.effective(
            replace(OPTIONS, durability=requested, sync_every=every), target, observed
        )["durability"]

    assert effective("end-fsync", None, Evidence(syncs_after=1)) == "end-fsync"
    assert effective("end-fsync", None, Evidence()) == "none"
    assert effective("end-fsync", None, Evidence(), is_dsync=True) == "dsync"
    assert effective("dsync", None, Evidence()) == "none"
    assert (
        effective("fdatasync:10", 10, Evidence(syncs_between=10, syncs_after=1)) == "fdatasync:10"
    )
    assert effective("fdatasync:10", 10, Evidence(syncs_after=1)) == "end-fsync"
    assert effective("fdatasync:10", 10, Evidence(syncs_between=9, syncs_after=1)) == "fdatasync:12"
    assert effective("fdatasync:10", 10, Evidence(syncs_between=11, syncs_after=1)) == "fdatasync:9"
    assert (
        effective("fdatasync:10", 10, Evidence(syncs_between=10, syncs_after=1), is_dsync=True)
        == "dsync"
    )
    assert effective("fdatasync", 200, Evidence(syncs_after=1)) == "fdatasync"
    assert effective("none", None, Evidence(syncs_between=1, syncs_after=1)) == "fdatasync:100"


def test_the_reported_direct_mode_is_that_of_the_descriptor() -> None:
    def effective(requested: str, *, is_direct: bool) -> str:
        target = Target(-1, Path("file"), None, is_direct=is_direct)
        return evidence.effective(replace(OPTIONS, direct=requested), target, Evidence())["direct"]

    assert effective("try", is_direct=False) == "off"
    assert effective("try", is_direct=True) == "try"
    assert effective("require", is_direct=True) == "require"
    assert effective("off", is_direct=True) == "require"


@pytest.mark.parametrize("name", RUNS)
def test_every_block_is_written_once_where_it_belongs(target: Target, name: str) -> None:
    observed = RUNS[name](job(target, strategy=name, threads=2))
    assert evidence.extents(observed.ranges, OPTIONS.size).are_whole(OPTIONS.size)
    assert (observed.blocks, observed.operations, observed.filled_bytes) == (3, 3, OPTIONS.size)
    assert dgen.Generator(7).validate(target.path.read_bytes()).count == 0


PWrite = Callable[[int, memoryview, int], int]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], int]], None]:
    """Replace `os.pwrite` by one that accepts a given number of bytes, or refuses."""
    real = os.pwrite

    def install(take: Callable[[int], int]) -> None:
        def pwrite(fd: int, contents: memoryview, offset: int) -> int:
            taken = take(len(contents))
            return real(fd, contents[:taken], offset) if taken else 0

        monkeypatch.setattr(os, "pwrite", pwrite)

    return install


@pytest.mark.parametrize("name", RUNS)
def test_a_short_write_goes_on_where_it_stopped(
    target: Target, answers: Callable[[Callable[[int], int]], None], name: str
) -> None:
    answers(lambda requested: min(requested, 1000))
    observed = RUNS[name](job(target, strategy=name))
    assert observed.short == observed.operations - observed.blocks > 0
    assert evidence.extents(observed.ranges, OPTIONS.size).are_whole(OPTIONS.size)
    assert dgen.Generator(7).validate(target.path.read_bytes()).count == 0


def test_a_short_direct_write_goes_on_at_a_multiple_of_the_alignment(
    target: Target, answers: Callable[[Callable[[int], int]], None]
) -> None:
    answers(lambda requested: min(requested, 700))
    target.alignment = 512
    observed = loop.run(job(target))
    assert all(start % 512 == 0 for start, _ in observed.ranges)
    result = evidence.extents(observed.ranges, OPTIONS.size)
    assert result.are_whole(OPTIONS.size)


@pytest.mark.parametrize("name", RUNS)
def test_what_the_system_refuses_ends_every_thread_with_the_offset(
    target: Target, answers: Callable[[Callable[[int], int]], None], name: str
) -> None:
    def full(_: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    answers(full)
    with pytest.raises(Fault) as caught:
        RUNS[name](job(target, strategy=name, size=1 << 30))
    assert str(caught.value) == "cannot write at offset 0: No space left on device (os error 28)"


def test_no_progress_is_an_error(
    target: Target, answers: Callable[[Callable[[int], int]], None]
) -> None:
    answers(lambda _: 0)
    with pytest.raises(Fault, match="offset 0 succeed without writing anything"):
        loop.run(job(target))


def test_a_write_that_asks_to_be_repeated_is_repeated_but_not_for_ever(
    target: Target, answers: Callable[[Callable[[int], int]], None]
) -> None:
    calls = 0

    def now_and_then(requested: int) -> int:
        nonlocal calls
        calls += 1
        if calls % 2:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return requested

    answers(now_and_then)
    observed = loop.run(job(target))
    assert (observed.repeated, observed.blocks) == (3, 3)

    def never(_: int) -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    answers(never)
    with pytest.raises(Fault, match="cannot write at offset 0: Resource temporarily unavailable"):
        loop.run(job(target))


def test_a_producer_that_fails_ends_its_consumers(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        message = "no contents"
        raise Fault(message)

    monkeypatch.setattr(work, "fill", fail)
    with pytest.raises(Fault, match="no contents"):
        threads.run(job(target, strategy="python-threads", threads=3))


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--size", "1"],
        ["--size", "x", "--", "file"],
        ["--unknown", "1", "--", "file"],
        ["--", "file"],
    ],
)
def test_only_what_dgen_spells_out_is_taken(words: list[str]) -> None:
    with pytest.raises(Fault) as caught:
        options.parse(words)
    assert caught.value.is_usage


def test_where_there_are_no_unnamed_files_the_name_says_that_it_is_partial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuse(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    long = tmp_path / ("n" * 255)
    (tmp_path / f"{'n' * (255 - len(f'.{os.getpid()}.partial'))}.{os.getpid()}.partial").touch()
    target = targets.create(replace(OPTIONS, path=str(long)))
    assert target.partial is not None
    assert target.partial.name.endswith(f".{os.getpid()}-1.partial")
    assert "no unnamed files here: Operation not supported (os error 95)" in target.notes[0]
    assert target.finish(durable=True) == 0
    assert long.exists()
    assert len(list(tmp_path.iterdir())) == 2
    target = targets.create(replace(OPTIONS, path=str(long)))
    target.close()
    assert len(list(tmp_path.iterdir())) == 1
