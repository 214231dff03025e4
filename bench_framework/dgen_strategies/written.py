"""One file, written from begin to end."""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import monotonic_ns
from typing import TYPE_CHECKING, Final

from bench_framework import dgen
from bench_framework.dgen_strategies import evidence as traces
from bench_framework.dgen_strategies import loop, threads
from bench_framework.dgen_strategies import target as targets
from bench_framework.dgen_strategies.fault import Fault, refused
from bench_framework.dgen_strategies.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.dgen_strategies.evidence import Evidence
    from bench_framework.dgen_strategies.options import Options
    from bench_framework.dgen_strategies.target import Target

STRATEGIES: Final[dict[str, Callable[[Work], Evidence]]] = {
    "python-loop": loop.run,
    "python-threads": threads.run,
}


@dataclass(frozen=True, slots=True)
class Written:
    """A written file, and what was seen on the way. Times are nanoseconds."""

    options: Options
    size: int
    digest: str
    effective: dict[str, str]
    evidence: Evidence
    start: int
    """From dgen's handing over to here: the interpreter and its imports."""
    started: int
    """When the first contents were begun."""
    opening: int
    elapsed: int
    synced: int
    closing: int
    cached_before: int | None
    cached_after: int | None
    notes: tuple[str, ...]


def write_file(options: Options, *, arrived: int) -> Written:
    """Write the file. It has no name until it is whole; what stood there is removed first.

    Args:
        options: what and how.
        arrived: when this program began, by the monotonic clock.

    Raises:
        Fault: no file has the name then.
    """
    run = STRATEGIES.get(options.strategy)
    if run is None:
        message = f"Python drives {', '.join(STRATEGIES)}, not {options.strategy}"
        raise Fault(message, is_usage=True)
    try:
        generator = dgen.Generator(options.seed, dedup=options.dedup, compress=options.compress)
    except ValueError as error:
        raise Fault(str(error), is_usage=True) from error
    cached_before = dgen.cached_bytes(options.path)
    opened = monotonic_ns()
    target = targets.create(options)
    try:
        started = monotonic_ns()
        seen = run(Work(options, generator, target))
        elapsed = (seen.last_done or started) - started
        written = traces.extents(seen.ranges, options.size)
        if not written.are_whole(options.size):
            raise _not_whole(written.bytes, written.twice, options.size)
        cut = _cut(target, options.size)
        if options.durability == "end-fsync" or options.sync_every is not None:
            _sync(target, seen)
        synced = monotonic_ns() - started
        closed = monotonic_ns()
        size = target.finish(durable=options.durability != "none")
        closing = cut + monotonic_ns() - closed
    finally:
        target.close()
    if size != options.size:
        raise _not_whole(size, 0, options.size)
    return Written(
        options,
        size,
        traces.digest(generator.identity, written, size),
        traces.effective(options, target, seen),
        seen,
        start=arrived - options.handed_over,
        started=started,
        opening=started - opened,
        elapsed=elapsed,
        synced=synced,
        closing=closing,
        cached_before=cached_before,
        cached_after=dgen.cached_bytes(options.path),
        notes=tuple(target.notes),
    )


def _cut(target: Target, size: int) -> int:
    """Cut off padding; how long that took. Nothing is written after this."""
    start = monotonic_ns()
    try:
        if os.fstat(target.fd).st_size != size:
            os.ftruncate(target.fd, size)
    except OSError as error:
        raise refused("set the size of", error) from error
    return monotonic_ns() - start


def _sync(target: Target, seen: Evidence) -> None:
    start = monotonic_ns()
    try:
        os.fsync(target.fd)
    except OSError as error:
        raise refused("sync", error) from error
    seen.sync += monotonic_ns() - start
    seen.syncs_after += 1


def _not_whole(written: int, twice: int, size: int) -> Fault:
    return Fault(f"completions cover {written} of {size} bytes, {twice} of them more than once")
