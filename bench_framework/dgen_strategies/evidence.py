"""What writing leaves behind, counted where it happens, and what it says about what really ran."""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench_framework.dgen_strategies.options import Options
    from bench_framework.dgen_strategies.target import Target


@dataclass(slots=True)
class Evidence:
    """Traces of one thread, or of all of them merged. Times are nanoseconds of the monotonic clock."""

    filled_bytes: int = 0
    written_bytes: int = 0
    """What calls returned, padding of an unaligned end included."""
    operations: int = 0
    repeated: int = 0
    """Calls that asked for a repetition."""
    short: int = 0
    """Calls that took fewer bytes than they were given."""
    syncs_between: int = 0
    syncs_after: int = 0
    generate: int = 0
    wait: int = 0
    write: int = 0
    sync: int = 0
    ranges: list[tuple[int, int]] = field(default_factory=list)
    """Start and end of what each call took."""
    latencies: array[int] = field(default_factory=lambda: array("Q"))
    """Of each block, from before its first call to after its last."""
    first_done: int | None = None
    last_done: int | None = None
    slots: set[int] = field(default_factory=set)
    """Buffers that were filled."""
    fillers: set[int] = field(default_factory=set)
    """Threads that filled a buffer."""
    writers: set[int] = field(default_factory=set)
    """Threads that finished a block."""

    def merge(self, other: Evidence) -> None:
        """Add what another thread left."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.ranges += other.ranges
        self.latencies += other.latencies
        self.first_done = min(
            (t for t in (self.first_done, other.first_done) if t is not None), default=None
        )
        self.last_done = max(
            (t for t in (self.last_done, other.last_done) if t is not None), default=None
        )
        self.slots |= other.slots
        self.fillers |= other.fillers
        self.writers |= other.writers

    @property
    def blocks(self) -> int:
        """Blocks that were finished."""
        return len(self.latencies)


_SUMS = (
    "filled_bytes",
    "written_bytes",
    "operations",
    "repeated",
    "short",
    "syncs_between",
    "syncs_after",
    "generate",
    "wait",
    "write",
    "sync",
)


@dataclass(frozen=True, slots=True)
class Extents:
    """Ranges of a file, merged where they touch, and how many bytes were reported more than once."""

    ranges: tuple[tuple[int, int], ...]
    twice: int

    def are_whole(self, size: int) -> bool:
        """Whether they are exactly the `size` bytes from 0, each written once."""
        return self.twice == 0 and self.ranges == (((0, size),) if size else ())

    @property
    def bytes(self) -> int:
        """Bytes covered, each counted once."""
        return sum(end - start for start, end in self.ranges)


def extents(ranges: list[tuple[int, int]], size: int) -> Extents:
    """What calls took, without padding behind `size`."""
    merged: list[tuple[int, int]] = []
    twice = 0
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            last_start, last_end = merged[-1]
            twice += min(end, last_end) - start
            merged[-1] = (last_start, max(last_end, end))
        elif end > start:
            merged.append((start, end))
    return Extents(tuple((start, min(end, size)) for start, end in merged if start < size), twice)


def digest(identity: str, written: Extents, size: int) -> str:
    """The digest of a written file, as dgen makes it: over what it holds, which bytes calls took, and its size.

    The text is that of dgen's own strategies, which answer alike for the same file; a test compares the two.
    """
    lines = [
        identity,
        *(f"{start}-{end}" for start, end in written.ranges),
        f"twice {written.twice}",
        f"size {size}",
    ]
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def quantile(ranked: list[int], thousandths: int) -> float:
    """Seconds that so many thousandths of ranked nanoseconds do not exceed; 0 of none."""
    if not ranked:
        return 0.0
    rank = -(-thousandths * len(ranked) // 1000)
    return ranked[rank - 1] / 1e9


def effective(options: Options, target: Target, seen: Evidence) -> dict[str, str]:
    """Axis to the value that really ran, from traces and from the descriptor."""
    return {
        "strategy": _strategy(options, seen),
        # What os.pwrite returned is all that was counted.
        "backend": "pwrite" if seen.written_bytes >= options.size else "unknown",
        "direct": _direct(options, target),
        "durability": _durability(options, target, seen),
        "dontcache": "off",
    }


def _strategy(options: Options, seen: Evidence) -> str:
    """A loop fills and writes in one thread; a producer never writes."""
    if not seen.fillers and not seen.writers:
        return options.strategy
    return "python-loop" if seen.fillers & seen.writers else "python-threads"


def _direct(options: Options, target: Target) -> str:
    if not target.is_direct:
        return "off"
    return "require" if options.direct == "off" else options.direct


def _durability(options: Options, target: Target, seen: Evidence) -> str:
    between, after = seen.syncs_between > 0, seen.syncs_after > 0
    if options.sync_every is not None:
        fits = (
            after and not target.is_dsync and seen.syncs_between in _syncs(options.sync_every, seen)
        )
    else:
        fits = (target.is_dsync, between, after) == (
            options.durability == "dsync",
            False,
            options.durability == "end-fsync",
        )
    if fits:
        return options.durability
    if target.is_dsync:
        return "dsync"
    if between:
        return f"fdatasync:{_mean_between(options.sync_every, seen)}"
    return "end-fsync" if after else "none"


def _syncs(every: int, seen: Evidence) -> range:
    """How many syncs there are between writes if each writer syncs after `every` blocks.

    How the blocks were shared out is not counted, and each share may leave a rest that needs no sync.
    """
    rests = max(1, len(seen.writers)) * (every - 1)
    fewest = -(-max(0, seen.blocks - rests) // every)
    return range(fewest, seen.blocks // every + 1)


def _mean_between(asked: int | None, seen: Evidence) -> int:
    """Blocks between two syncs, on average, rounded away from the number that was asked for and not kept."""
    if asked is not None and seen.syncs_between > seen.blocks // asked:
        return seen.blocks // seen.syncs_between
    return -(-seen.blocks // seen.syncs_between)
