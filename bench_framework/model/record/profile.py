"""Profiles of programs: the sampled stacks, and the shares of functions."""

import re
from dataclasses import dataclass, field
from typing import Literal

from bench_framework.model.plan.profile import OTHER
from bench_framework.model.verdict import Share

Sampler = Literal["perf", "callgrind"]
Unwinding = Literal["frame-pointers", "dwarf"]


@dataclass(frozen=True, slots=True)
class Frame:
    """A function in a stack."""

    name: str
    """Demangled name without the compiler's hash, ``[unknown]`` without a symbol."""
    module: str = ""
    """File name of the program, library or kernel module."""
    kernel: bool = False
    """True for a function of the kernel."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A distinct stack of one run, with the number of its samples."""

    run: int
    """Number of the run, from 1."""
    count: int
    """Number of samples, or of instructions for callgrind."""
    frames: tuple[int, ...]
    """Indexes into `Profile.frames`, from the outermost function to the running one."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The samples of one cell."""

    cell_id: str
    sampler: Sampler
    tool: str
    """Name and version of the program that sampled."""
    event: str
    """Sampled event, such as ``cpu-clock``, or ``Ir`` for callgrind's instructions."""
    frequency_hz: int | None
    """Frequency requested from the kernel, `None` for callgrind, which does not sample."""
    unwinding: Unwinding | None
    """Method of finding callers, `None` if callers are unknown."""
    runs: tuple[int, ...]
    """Number of samples (callgrind: instructions) of each successful run."""
    runs_asked: int
    """Requested number of runs."""
    lost: int
    """Number of samples that the kernel dropped in all runs."""
    measured_sha256: str | None
    """Digest of the measured binary."""
    profiled_sha256: str | None
    """Digest of the profiled binary. It differs if the binary was built again with symbols."""
    frames: tuple[Frame, ...]
    stacks: tuple[Stack, ...]
    buckets: dict[str, str] = field(default_factory=dict)
    """Name and regular expression of each bucket, in order of priority."""
    remarks: tuple[str, ...] = ()
    """Problems and their effects, as sentences for the report."""

    @property
    def total(self) -> int:
        """Total number of samples of all runs."""
        return sum(self.runs)

    def bucket_of(self, frame: Frame) -> str:
        """Return the name of the first bucket that matches a function's name, else `OTHER`."""
        matches = (name for name, pattern in self.buckets.items() if re.search(pattern, frame.name))
        return next(matches, OTHER)


@dataclass(frozen=True, slots=True)
class SampleShare:
    """A part of the samples of a cell."""

    count: int
    """Number of samples; of instructions for callgrind."""
    share: Share
    """Share of all samples, from 0 to 1, with its 95 % CI over the runs. There is no interval for
    callgrind, which counts and does not sample."""


@dataclass(frozen=True, slots=True)
class FunctionShare:
    """The shares of a function.

    `own` counts the samples in which the function was running. `inclusive` counts the samples in
    which the function was in the stack, each sample once.
    """

    frame: Frame
    """The function."""
    own: SampleShare
    """Share of the samples in which the function was running."""
    inclusive: SampleShare | None
    """Inclusive share, null if callers are unknown."""
    bucket: str = ""
    """Name of its bucket."""


@dataclass(frozen=True, slots=True)
class BucketShare:
    """The share of a bucket: the sum of its functions' own shares.

    The bucket ``other`` contains the remaining functions, so that the shares add up to 1.
    """

    name: str
    """Name of the bucket."""
    own: SampleShare
    """Sum of the own shares of its functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSize:
    """The amount of data of a profile."""

    total: int
    """Number of samples or instructions."""
    unit: Literal["samples", "instructions"]
    """Unit of `total`."""
    runs: int
    """Number of profiled runs."""


@dataclass(frozen=True, slots=True)
class ProfileShares:
    """The shares of functions and buckets in the profile of one cell."""

    cell_id: str
    """Id of the configuration, as in `cells.csv`."""
    event: str
    """Sampled event, such as `cpu-clock`, or `Ir` for the instructions of callgrind."""
    size: ProfileSize
    """Amount of data."""
    enough: bool
    """True if there are enough samples to rank functions."""
    functions: tuple[FunctionShare, ...]
    """Functions by falling own share. It is empty without enough samples."""
    buckets: tuple[BucketShare, ...]
    """Buckets in the scenario's order, ``other`` last. It is empty without enough samples."""
