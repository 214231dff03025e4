import ast
import mmap
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bench_framework
from bench_framework import dgen
from bench_framework.dgen import Generator

SIZE = 100_003


def contents(generator: Generator, offset: int = 0, size: int = SIZE) -> bytes:
    buffer = bytearray(size)
    generator.fill(buffer, offset)
    return bytes(buffer)


def test_every_kind_of_buffer_is_filled_in_place() -> None:
    generator = Generator(42)
    expected = contents(generator, 7)
    array = np.zeros(SIZE, dtype=np.uint8)
    generator.fill(array, 7)
    assert array.tobytes() == expected
    words = np.zeros((25, 100), dtype=np.float64, order="F")
    generator.fill(words, 7)
    assert words.tobytes(order="F") == expected[:20_000]
    with mmap.mmap(-1, SIZE) as pages:
        generator.fill(pages, 7)
        assert pages[:] == expected
    buffer = bytearray(SIZE + 20)
    generator.fill(memoryview(buffer)[10:-10], 7)
    assert buffer == bytes(10) + expected + bytes(10)


@pytest.mark.parametrize(
    ("buffer", "error"),
    [
        (b"constant", BufferError),
        (np.frombuffer(b"constant", dtype=np.uint8), BufferError),
        (memoryview(bytearray(10))[::2], BufferError),
        (np.zeros((8, 8))[:, 1], BufferError),
        ("text", TypeError),
        (None, TypeError),
    ],
)
def test_what_cannot_be_filled_is_refused(buffer: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        Generator(1).fill(buffer)  # type: ignore[arg-type]


def test_nothing_is_filled_with_nothing() -> None:
    Generator(1).fill(bytearray())
    Generator(1).fill(np.zeros((0, 5)))
    assert Generator(1).validate(b"").compared == 0


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"seed": -1}, OverflowError, "negative"),
        ({"seed": 1 << 64}, OverflowError, "too big"),
        ({"seed": 1, "compress": 0.5}, ValueError, "0.5 is no ratio"),
        ({"seed": 1, "compress": float("nan")}, ValueError, "no ratio"),
        ({"seed": 1, "compress": 200}, ValueError, "compresses by"),
        ({"seed": 1, "dedup": "2,near"}, ValueError, "write adjacent, uniform or set:N"),
        ({"seed": 1, "dedup": 2, "compress": "2@8KiB"}, ValueError, "whole granules"),
    ],
)
def test_wrong_settings_say_so(
    arguments: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        Generator(**arguments)  # type: ignore[arg-type]


def test_numbers_and_text_mean_the_same() -> None:
    one = Generator(3, dedup=2.5, compress=2)
    other = Generator(3, dedup="2.5@4KiB,uniform", compress="2.000@4096")
    assert one.identity == other.identity
    assert repr(one) == f"<Generator {one.identity}>"
    assert contents(one) == contents(other)
    assert contents(one) != contents(Generator(4, dedup=2.5, compress=2))
    assert one.path in {"portable", "aes-ni", "vaes"}


@given(
    offset=st.sampled_from([0, 5, 4096, (1 << 32) - 50_000, (1 << 64) - 50_001]),
    cut=st.integers(0, SIZE),
    threads=st.integers(1, 9),
)
def test_any_cut_gives_the_same_bytes(offset: int, cut: int, threads: int) -> None:
    generator = Generator(42, dedup=1.5, compress=3)
    buffer = bytearray(SIZE)
    view = memoryview(buffer)
    generator.fill(view[:cut], offset, threads=threads)
    generator.fill(view[cut:], (offset + cut) % (1 << 64), threads=threads)
    assert buffer == contents(generator, offset)


def test_threads_fill_the_same_bytes_and_none_is_no_number() -> None:
    generator = Generator(42)
    buffer = bytearray(20 << 20)
    generator.fill(buffer, 3, threads=3)
    assert buffer == contents(generator, 3, len(buffer))
    with pytest.raises(ValueError, match="threads must be at least 1"):
        generator.fill(buffer, threads=0)
    with pytest.raises(OverflowError):
        generator.fill(buffer, -1)


def test_a_changed_byte_is_found() -> None:
    generator = Generator(42, compress=2)
    buffer = bytearray(contents(generator, 1000))
    assert generator.validate(buffer, 1000) == dgen.Differences(SIZE, 0, None, b"", b"")
    right = bytes(buffer)
    buffer[99_990] ^= 1
    buffer[50_000] ^= 0x80
    result = generator.validate(buffer, 1000)
    assert (result.count, result.first) == (2, 51_000)
    assert result.expected == right[50_000:50_016]
    assert result.actual == bytes(buffer[50_000:50_016])


def test_the_gil_is_released() -> None:
    """A thread of Python runs on while another fills; it would not, if the fill held the lock all along."""
    buffer = np.empty(1 << 28, dtype=np.uint8)
    generator = Generator(42)
    counts: list[bool] = []
    filling = threading.Event()

    def fill() -> None:
        filling.set()
        generator.fill(buffer)
        counts.append(True)

    thread = threading.Thread(target=fill)
    thread.start()
    filling.wait()
    turns = 0
    while not counts:
        turns += 1
        time.sleep(0)
    thread.join()
    assert turns > 1


def test_a_signal_ends_a_long_fill() -> None:
    """It is raised between two pieces of 64 MiB; the last of four, which would take far longer, is not touched."""

    class EnoughError(Exception):
        pass

    def stop(*_: object) -> None:
        raise EnoughError

    buffer = np.zeros(256 << 20, dtype=np.uint8)

    def interrupted() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        Generator(42).fill(buffer)

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(EnoughError):
            interrupted()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not buffer[-(64 << 20) :].any()


def test_few_modules_use_the_extension() -> None:
    root = Path(bench_framework.__file__).parent
    users = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import | ast.ImportFrom)
                else []
            )
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if any(name.split(".")[-1] == "_native" for name in [*names, module]):
                users.add(str(path.relative_to(root)))
    assert users == {
        "dgen.py",
        "execution/inputs/datasets.py",
        "execution/symbols.py",
        "stats/portable_math.py",
        "stats/run_labels.py",
        "stats/signed_rank.py",
    }
