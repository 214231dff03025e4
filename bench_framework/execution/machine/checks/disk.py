"""Checks of the disks that contain records and inputs."""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from pathlib import Path
from typing import Final

from bench_framework.execution.machine.checks.check import Check, Machine, bad, ok, warn
from bench_framework.execution.machine.mounts import IN_MEMORY, existing, filesystem_of, free_bytes
from bench_framework.units import format_size

SCARCE_BYTES: Final = 2 << 30
ALIGNED: Final = 4096


def results(machine: Machine) -> Check:
    """Check the filesystem that records are written to."""
    return _filesystem(machine.results, "records are lost at the next boot", "--out")


def data(machine: Machine) -> Check:
    """Check the filesystem that inputs are read from."""
    meaning = "inputs are read from memory: cold-cache and O_DIRECT times are meaningless there"
    return _filesystem(machine.data, meaning, "data-dir:")


def room(machine: Machine) -> Check:
    """Check the free space for inputs and builds."""
    free = free_bytes(machine.data)
    if free < SCARCE_BYTES:
        fix = "free some space, for example with `benchctl clean`"
        return warn(f"{format_size(free)} free", "builds and large inputs may not fit", fix)
    return ok(f"{format_size(free)} free")


def direct_io(machine: Machine) -> Check:
    """Write a file in the data folder with O_DIRECT."""
    folder = existing(machine.data)
    kind = filesystem_of(folder)
    if kind in IN_MEMORY:
        meaning = "O_DIRECT modes fall back to buffered I/O or measure memory"
        return warn(f"meaningless on {kind}", meaning, "set `data-dir:` to a folder on ext4 or xfs")
    try:
        _write_directly(folder)
    except OSError as error:
        return warn(
            f"refused on {kind} ({errno.errorcode.get(error.errno or 0, error.errno)})",
            "O_DIRECT modes fall back to buffered I/O; reports show the actual mode",
            "set `data-dir:` to a folder on ext4 or xfs",
        )
    return ok(f"works on {kind}")


def _write_directly(folder: Path) -> None:
    fd, name = tempfile.mkstemp(prefix=".benchctl-probe-", dir=folder)
    os.close(fd)
    try:
        fd = os.open(name, os.O_WRONLY | os.O_DIRECT)
        try:
            # An anonymous mapping is page-aligned, as O_DIRECT requires of its buffers.
            with mmap.mmap(-1, ALIGNED) as buffer:
                os.write(fd, buffer)
        finally:
            os.close(fd)
    finally:
        os.unlink(name)  # noqa: PTH108 -- a name from mkstemp


def _filesystem(path: Path, meaning: str, option: str) -> Check:
    folder = existing(path)
    kind = filesystem_of(folder) or "unknown"
    if not os.access(folder, os.W_OK):
        meaning = "nothing can be stored there"
        return bad(f"{folder} is not writable", meaning, f"choose another folder with {option}")
    if kind in IN_MEMORY:
        return warn(f"{kind} at {folder}", meaning, f"choose a folder on ext4 or xfs with {option}")
    return ok(f"{kind} at {folder}")
