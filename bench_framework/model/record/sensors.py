"""The state of the machine and of an input's pages around a block."""

from dataclasses import dataclass

from bench_framework.model.plan.plan import CacheState


@dataclass(frozen=True, slots=True)
class Sensors:
    """System counters around a block. Differences are from just before it to just after it."""

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
    """Number of times that a CPU was throttled because of its temperature."""
    device_bytes: int | None = None
    """Bytes that the block's processes, including hyperfine, read from storage."""
    cpu_capacity_us: int | None = None
    """CPU time that the block could use at most: its CPUs times its duration, in microseconds."""
    other_cpu_us: int | None = None
    """Part of `cpu_capacity_us` that other processes used."""


@dataclass(frozen=True, slots=True)
class PageCache:
    """The actual state of an input's pages in the page cache around a block."""

    state: CacheState
    resident_before: float | None = None
    """Share of its pages in memory just before the block, 0 to 1. `None` if the kernel does not
    report it."""
    resident_after: float | None = None
    """The same share just after the block, for cold runs only."""
    why: str = ""
    """Reason why the state differs from the requested one."""
