"""What was measured: builds, blocks and what the worker said. Immutable, no I/O."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from bench_framework.model.metrics import CPU, METRICS, PEAK_RSS, RECEIPT_KEYS, WALL

Status = Literal["ok", "failed", "timeout", "other-output", "skipped"]
"""``skipped``: measured, but its round was cut by an interruption; never used."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The work done: equal digests mean equal results."""

    digest: str
    count: int | None = None
    distinct: int | None = None
    source: Literal["worker", "stdout", "file", "none"] = "worker"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a worker observed of its own run (docs/reference/worker-protocol.md)."""

    effective: Mapping[str, str] = field(default_factory=dict)
    threads: int | None = None
    phases_s: Mapping[str, float] = field(default_factory=dict)
    bytes: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    """Value of each built-in metric that the worker reported, by the metric's name."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sensors:
    """The machine around a block. Differences run from just before it to just after."""

    steal_ticks: int | None = None
    psi_cpu_us: int | None = None
    psi_io_us: int | None = None
    load1: float | None = None
    mem_available_bytes: int | None = None
    cpu_mhz: float | None = None
    psi_memory_us: int | None = None
    swap_in_pages: int | None = None
    swap_out_pages: int | None = None
    throttle_events: int | None = None
    """Times that a CPU was slowed down because it was too hot."""
    device_bytes: int | None = None
    """Read from storage by the block's own processes, hyperfine among them."""


@dataclass(frozen=True, slots=True)
class PageCache:
    """An input's pages around a block: the state that was seen, not the one that was asked for."""

    state: Literal["cold", "warm", "unknown"]
    resident_before: float | None = None
    """Share of its pages in memory just before the block, 0 to 1; `None` where the kernel does not
    tell."""
    resident_after: float | None = None
    """Just after it; only of cold runs."""
    why: str = ""
    """Why the state is not the one that was asked for."""


@dataclass(frozen=True, slots=True)
class Block:
    """The consecutive runs of one cell in one round: one hyperfine call.

    All times in seconds, sizes in bytes. `user_s` and `sys_s` are means over the runs.
    """

    seq: int
    """Order of execution within the record, from 0, counting every block."""
    round: int
    """From 1; warm-up rounds too, with `warmup` set. Rounds are counted per input."""
    position: int
    """Place within the round, from 0."""
    cell_id: str
    warmup: bool
    status: Status
    started_at: str
    """UTC, ISO 8601 with milliseconds."""
    wall_s: tuple[float, ...] = ()
    user_s: float | None = None
    sys_s: float | None = None
    peak_rss_bytes: int | None = None
    peak_rss_source: Literal["worker", "hyperfine"] | None = None
    exit_codes: tuple[int | None, ...] = ()
    signal: str | None = None
    timed_out: bool = False
    answer: Answer | None = None
    receipts: tuple[Receipt, ...] = ()
    """One per run for a worker with the contract; else empty."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Declared metrics that the last run printed, in stored units; those of a worker are in its
    receipts."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Declared metrics that could not be read, and why."""
    sensors: Sensors = field(default_factory=Sensors)
    page_cache: PageCache | None = None
    """`None` without an input, and in records from before it was looked at."""
    message: str | None = None
    """Why it failed, in one line."""
    stderr_log: str | None = None
    """Relative path in the record of what a failed run said when it was run again."""

    @property
    def wall(self) -> float | None:
        """The block's wall time: the median of its runs."""
        return statistics.median(self.wall_s) if self.wall_s else None

    @property
    def cpu(self) -> float | None:
        """User plus system time: a mean, as tick-sampled parts only add up over runs."""
        if self.user_s is None or self.sys_s is None:
            return None
        return self.user_s + self.sys_s

    def metric(self, name: str) -> float | None:
        """The block's value of a metric; `None` where it was not measured."""
        if (value := _OF_BLOCK.get(name)) is not None:
            return value(self)
        if (kind := METRICS.get(name)) is not None and kind.formula is not None:
            above, below = (self.metric(part) for part in kind.formula)
            return above / below if above is not None and below else None
        if name in RECEIPT_KEYS:
            counts = [r.counts[name] for r in self.receipts if name in r.counts]
            return float(statistics.median(counts)) if counts else None
        values = [r.metrics[name] for r in self.receipts if name in r.metrics]
        return statistics.median(values) if values else self.metrics.get(name)


_OF_BLOCK: Final[Mapping[str, Callable[[Block], float | None]]] = {
    WALL: lambda block: block.wall,
    CPU: lambda block: block.cpu,
    "user": lambda block: block.user_s,
    "sys": lambda block: block.sys_s,
    PEAK_RSS: lambda block: None if block.peak_rss_bytes is None else float(block.peak_rss_bytes),
}


@dataclass(frozen=True, slots=True)
class Build:
    """A binary: what was asked of cargo and what came out (or why nothing did)."""

    id: str
    """`BuildSpec.id`, or ``"program"`` for a program that is not built by us."""
    ok: bool
    sha256: str | None = None
    path: str | None = None
    """Absolute path in the binary store, or of the program."""
    control_path: str | None = None
    """Absolute path of the copy that the control arm runs."""
    size_bytes: int | None = None
    stripped_bytes: int | None = None
    code_sha256: str | None = None
    """Of the binary without symbols and build id. cargo puts the features into the names of
    symbols, so two builds of the same code differ in their bytes; this digest is equal for them."""
    build_s: float | None = None
    """`None` if nothing had to be built."""
    cached: bool = False
    rustc: str | None = None
    lockfile_sha256: str | None = None
    revision: str | None = None
    dirty: bool | None = None
    describe: Mapping[str, object] | None = None
    """What ``WORKER describe`` printed; `None` without the contract."""
    dependencies: int | None = None
    message: str | None = None
    log: str | None = None


@dataclass(frozen=True, slots=True)
class PreparedInput:
    """An input on disk, checked before and after the record."""

    input_id: str
    path: str | None
    size_bytes: int | None
    sha256: str | None
    family: str | None
    seed: int | None
    made_s: float | None = None
    """`None` if it was there already."""
    filesystem: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A warning or remark that belongs to the record; listed in docs/reference/codes.md."""

    code: str
    message: str
    severity: Literal["note", "warning", "error"] = "warning"
    cell_id: str | None = None
    round: int | None = None
    effect: str | None = None
    help: str | None = None
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Host:
    """The machine and the tools, as env.json holds them."""

    host_id: str
    """Twelve hex digits over CPU model, cores, RAM and machine id."""
    boot_id: str
    cpu: str
    cores: int
    ram_bytes: int
    kernel: str
    os: str
    governor: str | None
    virtualised: str | None
    results_filesystem: str | None
    data_filesystem: str | None
    hyperfine: str
    rustc: str | None
    cargo: str | None
    python: str
    benchctl: str
    load1: float | None = None
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables that change what runs , by name."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look taken: its place in the schedule and the round reached, per input."""

    input_id: str
    index: int
    """From 0; the last look takes index J - 1 even if the budget ended first."""
    round: int
    stopped: bool
    reason: str = ""
    """Why measuring stopped here, or empty."""
    trailing: tuple[str, ...] = ()
    """Cells of this input that a race found decidedly worse than another one."""
    idle: tuple[str, ...] = ()
    """Cells of this input that a race found unbeaten, with nothing open that is waited for."""
    dropped: tuple[str, ...] = ()
    """Cells, of whatever input, that the race measures no further from here on; a part of the look,
    so that no interruption parts the two."""
