"""Where a program spends its time, as a sampler saw it: what was asked, what was seen, and the shares that follow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

OTHER: Final = "other"
"""The bucket of what no bucket takes."""
Sampler = Literal["perf", "callgrind"]
Unwinding = Literal["frame-pointers", "dwarf"]
SamplerWanted = Literal["auto", "perf", "callgrind"]
UnwindingWanted = Literal["auto", "frame-pointers", "dwarf"]


@dataclass(frozen=True, slots=True)
class Bucket:
    """A name for the functions whose name the regular expression finds."""

    name: str
    pattern: str


@dataclass(frozen=True, slots=True)
class ProfilePolicy:
    """Which variants are profiled after measuring, and how."""

    variant_ids: tuple[str, ...]
    """In plan order; every input of each is profiled."""
    after_run: bool = True
    """True if `benchctl run` profiles by itself, or only where it is asked to."""
    runs: int = 5
    frequency_hz: int = 997
    """Samples per second of processor time that are asked for."""
    sampler: SamplerWanted = "auto"
    unwinding: UnwindingWanted = "auto"
    timeout_s: float = 600.0
    """Of one profiled run."""
    buckets: tuple[Bucket, ...] = ()
    """Tried in this order: the first that fits takes a function."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A function in a stack."""

    name: str
    """Demangled, without the hash of the compiler; ``[unknown]`` where there is no symbol."""
    module: str = ""
    """File name of the program, library or kernel module."""
    kernel: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """Equal stacks of one run."""

    run: int
    """From 1."""
    count: int
    """Samples; of callgrind: instructions."""
    frames: tuple[int, ...]
    """Indexes into `Profile.frames`, the outermost first; the last was running."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a sampler saw of one cell."""

    cell_id: str
    sampler: Sampler
    tool: str
    """Name and version of the program that sampled."""
    event: str
    """What a sample stands for, such as ``cpu-clock``; ``Ir`` for callgrind's instructions."""
    frequency_hz: int | None
    """As it was asked of the kernel; `None` for callgrind, which counts."""
    unwinding: Unwinding | None
    """How callers were found; `None` where none are known."""
    runs: tuple[int, ...]
    """Samples (callgrind: instructions) of each run that ended well."""
    runs_asked: int
    lost: int
    """Samples that the kernel dropped, of all runs."""
    measured_sha256: str | None
    """Of the binary that was measured."""
    profiled_sha256: str | None
    """Of the binary that was profiled; another one where it was built again with symbols."""
    frames: tuple[Frame, ...]
    stacks: tuple[Stack, ...]
    buckets: tuple[Bucket, ...] = ()
    remarks: tuple[str, ...] = ()
    """What went wrong and what that means, in words for a reader."""

    @property
    def total(self) -> int:
        """Samples of all runs."""
        return sum(self.runs)

    def bucket_of(self, frame: Frame) -> str:
        """The first bucket whose pattern is found in a function's name, else `OTHER`."""
        return next((b.name for b in self.buckets if re.search(b.pattern, frame.name)), OTHER)


@dataclass(frozen=True, slots=True)
class Share:
    """A part of all samples of a cell, with its 95 % interval over the runs."""

    count: int
    share: float
    lo: float | None = None
    """`None` for callgrind, which counts and does not sample."""
    hi: float | None = None


@dataclass(frozen=True, slots=True)
class FunctionShare:
    """A function: samples in which it ran, and samples in which it was anywhere in the stack, counted once each."""

    name: str
    module: str
    kernel: bool
    own: Share
    inclusive: Share | None
    """`None` where callers are not known."""
    bucket: str = ""


@dataclass(frozen=True, slots=True)
class BucketShare:
    """The functions of a bucket by their own samples; ``other`` takes what fits none, so that all add up."""

    name: str
    own: Share


@dataclass(frozen=True, slots=True)
class ProfileShares:
    """What follows from the profile of one cell."""

    cell_id: str
    event: str
    unit: Literal["samples", "instructions"]
    total: int
    runs: int
    enough: bool
    """True if there are samples enough to rank functions."""
    functions: tuple[FunctionShare, ...]
    """Most of its own samples first; empty without enough."""
    buckets: tuple[BucketShare, ...]
    """In the scenario's order, ``other`` last; empty without buckets or without enough samples."""
