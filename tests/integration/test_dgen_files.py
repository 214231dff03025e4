"""Tests of seeded files that Python writes and validates."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench_framework import _native, dgen

SIZE = (3 << 20) + 17


@pytest.mark.parametrize("backend", ["pwrite", "uring", "mmap"])
def test_a_file_contains_the_data_of_the_generator(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "data"
    steps: list[int] = []
    stats = dgen.write_file(
        path,
        SIZE,
        seed=7,
        compress=2,
        backend=backend,
        durability="end-fsync",
        progress=steps.append,
    )
    assert path.stat().st_size == stats.bytes == SIZE
    assert stats.effective["backend"] == backend
    assert stats.effective["durability"] == "end-fsync"
    assert stats.synced_s >= stats.elapsed_s > 0
    assert stats.rate > 0
    assert steps == sorted(steps)
    assert steps[-1] == SIZE
    assert dgen.Generator(7, compress=2).validate(path.read_bytes()).count == 0
    validation = dgen.read_and_validate(path, seed=7, compress=2, size=SIZE)
    assert validation.is_right
    assert validation.differences.compared == SIZE


def test_a_wrong_file_is_reported_with_its_differences(tmp_path: Path) -> None:
    path = tmp_path / "data"
    dgen.write_file(path, SIZE, seed=7)
    assert not dgen.read_and_validate(path, seed=8).is_right
    with path.open("r+b") as file:
        file.seek(1_234_567)
        (right,) = file.read(1)
        file.seek(1_234_567)
        file.write(bytes([right ^ 1]))
    differences = dgen.read_and_validate(path, seed=7).differences
    assert (differences.count, differences.first) == (1, 1_234_567)
    assert (differences.expected[0], differences.actual[0]) == (right, right ^ 1)
    short = dgen.read_and_validate(path, seed=7, size=SIZE + 1)
    assert (short.size_expected, short.size_actual) == (SIZE + 1, SIZE)
    assert not short.is_right


def test_several_files_of_one_size_have_different_data(tmp_path: Path) -> None:
    path = tmp_path / "data"
    stats = dgen.write_file(path, SIZE, files=3, threads=2, seed=7, dedup=2, backend="pwrite")
    assert (stats.files, stats.bytes) == (3, SIZE)
    written = [tmp_path / f"data.{index}" for index in range(3)]
    assert sorted(tmp_path.iterdir()) == written
    assert sum(file.stat().st_size for file in written) == SIZE
    units = [
        {data[at : at + 4096] for at in range(0, len(data), 4096)}
        for data in (file.read_bytes() for file in written)
    ]
    assert len(set.union(*units)) == sum(len(unit) for unit in units)
    steps: list[int] = []
    assert dgen.read_and_validate(
        path, files=3, seed=7, dedup=2, size=SIZE, progress=steps.append
    ).is_right
    assert steps == sorted(steps)
    assert steps[-1] == SIZE
    with written[1].open("r+b") as file:
        file.seek(4321)
        (right,) = file.read(1)
        file.seek(4321)
        file.write(bytes([right ^ 1]))
    validation = dgen.read_and_validate(path, files=3, seed=7, dedup=2)
    assert (validation.first_file, validation.differences.first, validation.differences.count) == (
        1,
        4321,
        1,
    )
    assert not validation.is_right
    written[2].unlink()
    with pytest.raises(FileNotFoundError) as missing:
        dgen.read_and_validate(path, files=3, seed=7, dedup=2)
    assert missing.value.filename == str(written[2])


def test_an_exception_in_progress_keeps_the_previous_file(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("previous")

    class EnoughError(Exception):
        pass

    def stop(_: int) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        dgen.write_file(path, SIZE, progress=stop)
    assert path.read_text() == "previous"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(EnoughError):
        dgen.read_and_validate(path, progress=stop)


WRITE = """
import sys
from bench_framework import _native, dgen
def report(done):
    if done:
        print("started", flush=True)
dgen.write_file(sys.argv[1], 1 << 42, durability="dsync", buffer_size=65536, progress=report)
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_write_leaves_no_file(tmp_path: Path, sent: signal.Signals) -> None:
    path = tmp_path / "data"
    with subprocess.Popen(
        [sys.executable, "-c", WRITE, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        process.send_signal(sent)
        process.stdout.read()
        error = process.stderr.read()
    assert line == "started\n", error
    if sent == signal.SIGINT:
        assert "KeyboardInterrupt" in error
    assert list(tmp_path.iterdir()) == []


def test_errors_have_separate_classes(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        dgen.write_file(tmp_path / "no" / "data", 10)
    assert missing.value.errno == errno.ENOENT
    assert missing.value.filename == os.fspath(tmp_path / "no" / "data")
    with pytest.raises(FileNotFoundError):
        dgen.read_and_validate(tmp_path / "none")
    with pytest.raises(ValueError, match="regular file"):
        dgen.read_and_validate(tmp_path)
    with pytest.raises(ValueError, match='no strategy is called "fast"; known are'):
        dgen.write_file(tmp_path / "data", 10, strategy="fast")
    with pytest.raises(ValueError, match="no backend is called"):
        dgen.write_file(tmp_path / "data", 10, backend="aio")
    with pytest.raises(ValueError, match="no durability is called"):
        dgen.write_file(tmp_path / "data", 10, durability="fdatasync:0")
    with pytest.raises(ValueError, match="buffer_count must be at least 1"):
        dgen.write_file(tmp_path / "data", 10, buffer_count=0)
    with pytest.raises(OverflowError):
        dgen.write_file(tmp_path / "data", -1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "buffers"),
    [
        ({}, 4),
        ({"queue_depth": 16}, 16),
        ({"queue_depth": 8, "threads": 3}, 24),
        ({"queue_depth": 16, "buffer_count": 2}, 2),
    ],
)
def test_a_queue_has_a_buffer_for_each_of_its_places(
    given: dict[str, Any], buffers: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    requested: dict[str, object] = {}
    real = _native.write_file

    def listening(*args: Any, **options: Any) -> dict[str, Any]:
        requested.update(options)
        return real(*args, **options)

    monkeypatch.setattr(_native, "write_file", listening)
    dgen.write_file(tmp_path / "data", 1 << 20, buffer_size=4096, backend="pwrite", **given)
    assert requested["buffer_count"] == buffers
