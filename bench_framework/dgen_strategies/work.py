"""What both strategies do with a buffer: fill it, and write it where it belongs."""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import TYPE_CHECKING, Final

from bench_framework.dgen_strategies.fault import Fault, refused
from bench_framework.dgen_strategies.target import PAGE

if TYPE_CHECKING:
    from bench_framework import dgen
    from bench_framework.dgen_strategies.evidence import Evidence
    from bench_framework.dgen_strategies.options import Options
    from bench_framework.dgen_strategies.target import Target

LARGEST_OPERATION: Final = 0x7FFF_F000
"""The most bytes that one write takes: Linux stops there, whatever was asked for."""
PATIENCE: Final = 100_000
"""Repetitions in a row without a byte written, after which a write counts as stuck."""


@dataclass(slots=True)
class Work:
    """The job, for all its threads."""

    options: Options
    generator: dgen.Generator
    target: Target
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set by the first that fails: the others need not go on for a file that will not be."""


def pool(buffer: int, count: int) -> list[memoryview]:
    """Buffers that begin on a page, enough for any direct write; their memory is taken when it is first touched.

    Raises:
        Fault: so much memory cannot be had.
    """
    stride = -(-buffer // PAGE) * PAGE
    try:
        memory = mmap.mmap(-1, stride * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError) as error:
        message = f"{count} buffers of {buffer} bytes cannot be had: {error}"
        raise Fault(message) from error
    with contextlib.suppress(OSError):  # advice only: without large pages the pool is the same
        memory.madvise(mmap.MADV_HUGEPAGE)
    whole = memoryview(memory)
    return [whole[slot * stride : (slot + 1) * stride] for slot in range(count)]


def fill(work: Work, seen: Evidence, block: int, slot: int, buffer: memoryview) -> int:
    """Fill a buffer with a block, and with zeros up to the alignment; bytes to write. The GIL is released."""
    start = monotonic_ns()
    offset = block * work.options.buffer
    length = min(work.options.buffer, work.options.size - offset)
    work.generator.fill(buffer[:length], offset)
    padded = -(-length // work.target.alignment) * work.target.alignment
    if padded > length:
        buffer[length:padded] = bytes(padded - length)
    seen.generate += monotonic_ns() - start
    seen.filled_bytes += length
    seen.slots.add(slot)
    seen.fillers.add(threading.get_ident())
    return padded


def write(work: Work, seen: Evidence, block: int, contents: memoryview) -> None:
    """Write a whole block where it belongs, however many calls that takes, and sync if it is time to.

    Raises:
        Fault: the system refused, or writes nothing.
    """
    since = monotonic_ns()
    fd, alignment = work.target.fd, work.target.alignment
    offset, start, repeated = block * work.options.buffer, 0, 0
    while start < len(contents):
        asked = min(len(contents) - start, LARGEST_OPERATION)
        seen.operations += 1
        try:
            taken = os.pwrite(fd, contents[start : start + asked], offset)
        except BlockingIOError as error:  # Python itself repeats what a signal interrupted
            seen.repeated += 1
            repeated += 1
            if repeated > PATIENCE:
                raise refused("write", error, offset) from error
            continue
        except OSError as error:
            raise refused("write", error, offset) from error
        if taken < asked:
            seen.short += 1
            taken -= taken % alignment
        if taken == 0:
            message = f"writes at offset {offset} succeed without writing anything"
            raise Fault(message)
        _landed(seen, offset, taken)
        offset, start, repeated = offset + taken, start + taken, 0
    now = monotonic_ns()
    seen.write += now - since
    seen.latencies.append(now - since)
    seen.first_done = seen.first_done or now
    seen.last_done = now
    seen.writers.add(threading.get_ident())
    if work.options.sync_every is not None and seen.blocks % work.options.sync_every == 0:
        _sync(work, seen)


def _landed(seen: Evidence, offset: int, taken: int) -> None:
    """Take note of what a call took; neighbours become one range, so that a long file stays a short list."""
    seen.written_bytes += taken
    if seen.ranges and seen.ranges[-1][1] == offset:
        seen.ranges[-1] = (seen.ranges[-1][0], offset + taken)
    else:
        seen.ranges.append((offset, offset + taken))


def _sync(work: Work, seen: Evidence) -> None:
    start = monotonic_ns()
    try:
        os.fdatasync(work.target.fd)
    except OSError as error:
        raise refused("sync", error) from error
    seen.sync += monotonic_ns() - start
    seen.syncs_between += 1
