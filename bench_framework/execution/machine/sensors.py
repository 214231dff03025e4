"""System counters, read just before and just after a block.

The files are opened once and read with ``pread``, so no path is resolved between two runs. A value
is `None` if its file is missing: PSI is a boot option, and containers hide files.
"""

import contextlib
import os
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench_framework.execution.machine.cpus import allowed_cpus
from bench_framework.execution.machine.host import memory_bytes, seconds
from bench_framework.model.record.contention import TICK_S
from bench_framework.model.record.sensors import Sensors

_TOTAL: Final = re.compile(rb"some [^\n]*total=(\d+)")
_FILES: Final = {
    "stat": "/proc/stat",
    "psi_cpu": "/proc/pressure/cpu",
    "psi_io": "/proc/pressure/io",
    "psi_memory": "/proc/pressure/memory",
    "vmstat": "/proc/vmstat",
    "load": "/proc/loadavg",
    "memory": "/proc/meminfo",
    "khz": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
}
_PRESSURES: Final = ("psi_cpu_us", "psi_io_us", "psi_memory_us")
_EVENTS: Final = ("swap_in_pages", "swap_out_pages", "throttle_events")
_COUNTERS: Final = ("steal_ticks", *_PRESSURES, *_EVENTS, "cpu_capacity_us")
"""Fields of `Sensors` that count from the start of the machine."""
_STEAL_COLUMN: Final = 8
"""Column of steal in the line ``cpu`` of /proc/stat (proc(5))."""
_IDLE_COLUMN: Final = 4
_NO_PROCESS: Final = slice(_IDLE_COLUMN, _STEAL_COLUMN + 1)
"""Columns of the time in which no process ran: idle, iowait, irq, softirq and steal. Interrupts are
not charged to the process that caused them."""
_SWAPPED_IN: Final = re.compile(rb"^pswpin (\d+)$", re.MULTILINE)
_SWAPPED_OUT: Final = re.compile(rb"^pswpout (\d+)$", re.MULTILINE)
_THROTTLES: Final = "sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/{}_throttle_count"
_READ_BYTES: Final = 1 << 16
"""Bytes to read: all values are in the first bytes of their files. /proc/stat has one line of up to
100 bytes per CPU."""


class Gauge:
    """Reader of system counters that keeps the files below `root` open."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._fds: dict[str, int] = {}
        files = {name: root / path.lstrip("/") for name, path in _FILES.items()}
        # Each core has its own counter; every CPU repeats the counter of its package.
        for kind in ("core", "package"):
            paths = sorted(root.glob(_THROTTLES.format(kind)))
            files |= {f"{kind}{index}": path for index, path in enumerate(paths)}
        for name, path in files.items():
            with contextlib.suppress(OSError):
                self._fds[name] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._cores = [name for name in self._fds if name.startswith("core")]
        self._packages = [name for name in self._fds if name.startswith("package")]
        self._allowed = allowed_cpus()

    def close(self) -> None:
        """Close the files."""
        for fd in self._fds.values():
            os.close(fd)

    def read(self, cpus: Collection[int] = ()) -> Sensors:
        """Return all counters, `None` for a missing one; by default of the CPUs of this process."""
        now_us, stat = round(seconds() * 1e6), self._text("stat")
        count, free_ticks = without_process(stat, set(cpus or self._allowed)) or (0, 0)
        load = self._text("load").split()
        khz = self._text("khz").strip()
        vmstat = self._text("vmstat")
        return Sensors(
            steal_of(stat),
            _number(_TOTAL, self._text("psi_cpu")),
            _number(_TOTAL, self._text("psi_io")),
            float(load[0]) if load else None,
            memory_bytes(self._text("memory")),
            int(khz) / 1000 if khz.isdigit() else None,
            _number(_TOTAL, self._text("psi_memory")),
            _number(_SWAPPED_IN, vmstat),
            _number(_SWAPPED_OUT, vmstat),
            self._throttled(),
            cpu_capacity_us=count * now_us if count else None,
            other_cpu_us=count * now_us - round(free_ticks * TICK_S * 1e6) if count else None,
        )

    def _throttled(self) -> int | None:
        """Return how often a core, or a package with all of its cores, was throttled."""
        cores, packages = (
            [int(text) for name in names if (text := self._text(name).strip()).isdigit()]
            for names in (self._cores, self._packages)
        )
        return sum(cores) + max(packages, default=0) if cores or packages else None

    def _text(self, name: str) -> bytes:
        fd = self._fds.get(name)
        if fd is None:
            return b""
        try:
            return os.pread(fd, _READ_BYTES, 0)
        except OSError:  # PSI files exist but cannot be read if PSI is disabled
            return b""


def between(before: Sensors, after: Sensors, own_s: float | None = None) -> Sensors:
    """Return the growth of the counters over a block; `own_s` is the CPU time of its processes."""
    others_us = _growth(before.other_cpu_us, after.other_cpu_us)
    if others_us is not None:
        others_us = None if own_s is None else max(0, others_us - round(own_s * 1e6))
    grown = {name: _growth(getattr(before, name), getattr(after, name)) for name in _COUNTERS}
    return replace(before, **grown, cpu_mhz=after.cpu_mhz, other_cpu_us=others_us)


def steal_of(text: bytes) -> int | None:
    """Return the ticks stolen by the hypervisor over all CPUs, from the text of /proc/stat."""
    columns = text.partition(b"\n")[0].split()
    if len(columns) > _STEAL_COLUMN and columns[0] == b"cpu":
        return int(columns[_STEAL_COLUMN])
    return None


def without_process(text: bytes, cpus: Collection[int]) -> tuple[int, int] | None:
    """Return how many of the CPUs are online, and their ticks in which no process ran.

    The time of processes is the rest. It is not taken from its own columns, because most kernels
    count it by sampling, and idle time by a clock. The result is `None` if the text of /proc/stat
    has no such counters.
    """
    *whole, last = text.split(b"\n")
    lines = [line.split() for line in whole if line.startswith(b"cpu")]
    if not lines or len(lines[0]) <= _STEAL_COLUMN or last.startswith(b"cpu"):
        return None
    chosen = [line for line in lines[1:] if int(line[0][3:]) in cpus]
    # The line of all CPUs is truncated to ticks only once.
    counted = lines[:1] if len(chosen) == len(lines) - 1 else chosen
    if not all(int(line[_IDLE_COLUMN]) for line in counted):
        return None  # sandboxes such as gVisor print zeros
    ticks = sum(int(ticks) for line in counted for ticks in line[_NO_PROCESS])
    return (len(chosen), ticks) if chosen else None


def _number(pattern: re.Pattern[bytes], text: bytes) -> int | None:
    match = pattern.search(text)
    return int(match[1]) if match else None


def _growth(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else max(0, after - before)
