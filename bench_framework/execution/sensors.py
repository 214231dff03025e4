"""The machine around a block, read just before and just after it.

The files are opened once and read by ``pread``: no name is looked up between two runs.
Any of them may be missing (PSI is a boot option, a container hides files): its figure is then `None`.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from typing import Final, Self

from bench_framework.model.run import Sensors

_TOTAL: Final = re.compile(rb"some [^\n]*total=(\d+)")
_AVAILABLE: Final = re.compile(rb"MemAvailable:\s+(\d+) kB")
_FILES: Final = {
    "stat": "/proc/stat",
    "psi_cpu": "/proc/pressure/cpu",
    "psi_io": "/proc/pressure/io",
    "load": "/proc/loadavg",
    "memory": "/proc/meminfo",
    "khz": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
}
_STEAL_COLUMN: Final = 8
"""Of the line ``cpu`` in /proc/stat: user nice system idle iowait irq softirq **steal** (proc(5))."""
_ENOUGH: Final = 2048
"""Every figure stands in the first bytes of its file."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Counters at one moment; `None` where this machine has none."""

    steal_ticks: int | None = None
    psi_cpu_us: int | None = None
    psi_io_us: int | None = None
    load1: float | None = None
    mem_available_bytes: int | None = None
    cpu_mhz: float | None = None


class Gauge:
    """Reads the machine; a context manager that holds the open files."""

    def __init__(self) -> None:
        self._fds: dict[str, int] = {}
        for name, path in _FILES.items():
            with contextlib.suppress(OSError):
                self._fds[name] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()

    def read(self) -> Reading:
        """All counters now."""
        load = self._text("load").split()
        khz = self._text("khz").strip()
        available = _AVAILABLE.search(self._text("memory"))
        return Reading(
            steal_of(self._text("stat")),
            _total(self._text("psi_cpu")),
            _total(self._text("psi_io")),
            float(load[0]) if load else None,
            int(available[1]) * 1024 if available else None,
            int(khz) / 1000 if khz.isdigit() else None,
        )

    def _text(self, name: str) -> bytes:
        fd = self._fds.get(name)
        if fd is None:
            return b""
        try:
            return os.pread(fd, _ENOUGH, 0)
        except OSError:  # PSI files exist but cannot be read where it is switched off
            return b""


def between(before: Reading, after: Reading) -> Sensors:
    """Growth of the counters over a block, and the levels just before it."""
    return Sensors(
        _growth(before.steal_ticks, after.steal_ticks),
        _growth(before.psi_cpu_us, after.psi_cpu_us),
        _growth(before.psi_io_us, after.psi_io_us),
        before.load1,
        before.mem_available_bytes,
        after.cpu_mhz,
    )


def steal_of(text: bytes) -> int | None:
    """Ticks stolen by the hypervisor, over all CPUs, from the text of /proc/stat."""
    columns = text.partition(b"\n")[0].split()
    if len(columns) > _STEAL_COLUMN and columns[0] == b"cpu":
        return int(columns[_STEAL_COLUMN])
    return None


def _total(text: bytes) -> int | None:
    match = _TOTAL.search(text)
    return int(match[1]) if match else None


def _growth(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else max(0, after - before)
