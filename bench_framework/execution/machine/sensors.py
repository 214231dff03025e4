"""System counters, read just before and just after a block.

The files are opened once and read with ``pread``, so no path is resolved between two runs. A value
is `None` if its file is missing: PSI is a boot option, and containers hide files.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final, Self

from bench_framework.model.run import Sensors

_TOTAL: Final = re.compile(rb"some [^\n]*total=(\d+)")
_AVAILABLE: Final = re.compile(rb"MemAvailable:\s+(\d+) kB")
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
_STEAL_COLUMN: Final = 8
"""Column of steal in the line ``cpu`` of /proc/stat (proc(5))."""
_SWAPS: Final = {
    name: re.compile(rb"^" + name + rb" (\d+)$", re.MULTILINE) for name in (b"pswpin", b"pswpout")
}
_THROTTLES: Final = "sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/{}_throttle_count"
_READ_BYTES: Final = 16384
"""Bytes to read: all values are in the first bytes of their files; /proc/vmstat is the longest."""


class Gauge:
    """Reader of system counters; a context manager that keeps the files open.

    Args:
        root: root of the file system, or a replacement for tests.
    """

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()

    def read(self) -> Sensors:
        """Return all counters at this moment; `None` if this machine does not have the counter."""
        load = self._text("load").split()
        khz = self._text("khz").strip()
        available = _AVAILABLE.search(self._text("memory"))
        vmstat = self._text("vmstat")
        return Sensors(
            steal_of(self._text("stat")),
            _total(self._text("psi_cpu")),
            _total(self._text("psi_io")),
            float(load[0]) if load else None,
            int(available[1]) * 1024 if available else None,
            int(khz) / 1000 if khz.isdigit() else None,
            _total(self._text("psi_memory")),
            _swapped(b"pswpin", vmstat),
            _swapped(b"pswpout", vmstat),
            self._throttled(),
        )

    def _throttled(self) -> int | None:
        """Return how often a core, or a package with all of its cores, was throttled."""
        cores = [int(text) for name in self._cores if (text := self._text(name).strip()).isdigit()]
        packages = [
            int(text) for name in self._packages if (text := self._text(name).strip()).isdigit()
        ]
        return sum(cores) + max(packages, default=0) if cores or packages else None

    def _text(self, name: str) -> bytes:
        fd = self._fds.get(name)
        if fd is None:
            return b""
        try:
            return os.pread(fd, _READ_BYTES, 0)
        except OSError:  # PSI files exist but cannot be read if PSI is disabled
            return b""


def between(before: Sensors, after: Sensors) -> Sensors:
    """Return the growth of the counters over a block, and load and memory just before it."""
    return Sensors(
        _growth(before.steal_ticks, after.steal_ticks),
        _growth(before.psi_cpu_us, after.psi_cpu_us),
        _growth(before.psi_io_us, after.psi_io_us),
        before.load1,
        before.mem_available_bytes,
        after.cpu_mhz,
        _growth(before.psi_memory_us, after.psi_memory_us),
        _growth(before.swap_in_pages, after.swap_in_pages),
        _growth(before.swap_out_pages, after.swap_out_pages),
        _growth(before.throttle_events, after.throttle_events),
    )


def steal_of(text: bytes) -> int | None:
    """Return the ticks stolen by the hypervisor over all CPUs, from the text of /proc/stat."""
    columns = text.partition(b"\n")[0].split()
    if len(columns) > _STEAL_COLUMN and columns[0] == b"cpu":
        return int(columns[_STEAL_COLUMN])
    return None


def _total(text: bytes) -> int | None:
    match = _TOTAL.search(text)
    return int(match[1]) if match else None


def _swapped(name: bytes, vmstat: bytes) -> int | None:
    match = _SWAPS[name].search(vmstat)
    return int(match[1]) if match else None


def _growth(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else max(0, after - before)
