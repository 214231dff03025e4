"""Checks of tools that benchctl starts, of disks, and of kernel features."""

import ctypes
import errno
import mmap
import os
import platform
import shutil
import struct
import tempfile
from pathlib import Path
from typing import Final

from bench_framework.execution import hyperfine as hf
from bench_framework.execution.machine.checks.check import Check, Machine, bad, ok, warn
from bench_framework.execution.machine.host import version_of
from bench_framework.execution.machine.mounts import IN_MEMORY, existing, filesystem_of, free_bytes
from bench_framework.units import format_size

_ABSENCE: Final = {
    "cc": ("crates with C code (jemalloc, mimalloc) cannot be built", "install gcc or clang"),
    "git": ("revisions cannot be built, and records do not contain the commit", "install git"),
    "perf": ("instructions cannot be counted by hardware counters", "install linux-perf"),
    "valgrind": ("instructions cannot be counted exactly", "install valgrind"),
    "strip": ("binary sizes without symbols are not reported", "install binutils"),
}
"""Effect of the absence of each tool, and its fix. Nothing can be built without the others."""
SCARCE_BYTES: Final = 2 << 30
ALIGNED: Final = 4096
IO_URING_SETUP: Final = 425
"""System call number; it is the same on every architecture."""
PERF_EVENT_OPEN: Final = {"x86_64": 298, "aarch64": 241, "riscv64": 241}
PARAMS_BYTES: Final = 120
"""``sizeof(struct io_uring_params)``."""
ATTR_BYTES: Final = 128
HARDWARE, INSTRUCTIONS = 0, 1
EXCLUDE_KERNEL_AND_HV: Final = 1 << 5 | 1 << 6
_RING_MEANING: Final = {
    errno.ENOSYS: "this kernel has no io_uring",
    errno.EPERM: "io_uring is disabled (kernel.io_uring_disabled) or blocked by the container",
    errno.ENOMEM: "the limit of locked memory (ulimit -l) is too small for a ring",
}


def hyperfine(machine: Machine) -> Check:
    """Find the hyperfine that `run` would use, without installing one."""
    on_path = shutil.which("hyperfine", path=machine.env.get("PATH"))
    configured = machine.env.get("BENCHCTL_HYPERFINE")
    for path in (configured, on_path, str(hf.cached_path(machine.env))):
        version = path and hf.probe(machine.launcher, machine.env, path)
        if path and version and version >= hf.MINIMUM:
            return ok(f"{'.'.join(map(str, version))} at {path}")
        if path and path == configured:
            return bad(
                f"{path} is not hyperfine {'.'.join(map(str, hf.MINIMUM))} or newer",
                "nothing can be measured",
                "set BENCHCTL_HYPERFINE to such a hyperfine, or unset it",
            )
    meaning = f"the first run installs {hf.INSTALLED} with cargo, which takes about a minute"
    return warn("not found", meaning, f"cargo install --locked hyperfine@{hf.INSTALLED}")


def tool(machine: Machine, name: str) -> Check:
    """Report a tool's version, or the effect of its absence."""
    version = version_of(machine.launcher, name, machine.env)
    if version is not None:
        return ok(version)
    if name not in _ABSENCE:
        return bad("not found", "nothing can be built", "install Rust from https://rustup.rs")
    return warn("not found", *_ABSENCE[name])


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


def io_uring(machine: Machine) -> Check:  # noqa: ARG001 -- all checks have this signature
    """Set up a ring of two entries and close it."""
    ring = _syscall(IO_URING_SETUP, ctypes.c_uint(2), ctypes.create_string_buffer(PARAMS_BYTES))
    if ring >= 0:
        os.close(ring)
        return ok("works")
    words = _RING_MEANING.get(-ring, os.strerror(-ring))
    meaning = f"{words}; io_uring modes are excluded"
    fix = "sysctl kernel.io_uring_disabled=0, or allow it in the container's seccomp profile"
    return warn(f"refused ({errno.errorcode.get(-ring, -ring)})", meaning, fix)


def counters(machine: Machine) -> Check:
    """Open a hardware counter of instructions for this process."""
    paranoid = machine.read(machine.proc / "sys/kernel/perf_event_paranoid")
    figure = f"perf_event_paranoid {paranoid}" if paranoid else "the kernel has no perf events"
    number = PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        return warn(
            f"not checked on {platform.machine()}", "instructions are counted by valgrind only"
        )
    # struct perf_event_attr: type, size, config, sample_period, sample_type, read_format, flags.
    attr = struct.pack(
        "=IIQQQQQ", HARDWARE, ATTR_BYTES, INSTRUCTIONS, 0, 0, 0, EXCLUDE_KERNEL_AND_HV
    )
    buffer = ctypes.create_string_buffer(attr, ATTR_BYTES)
    counter = _syscall(
        number, buffer, ctypes.c_int(0), ctypes.c_int(-1), ctypes.c_int(-1), ctypes.c_ulong(0)
    )
    if counter >= 0:
        os.close(counter)
        return ok(figure)
    name = errno.errorcode.get(-counter, str(-counter))
    absent = -counter in {errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV}
    return warn(
        f"{figure}; {'no hardware counters' if absent else 'refused'} ({name})",
        "instructions are counted by valgrind only, which is exact but 8 times slower",
        "" if absent else "sysctl kernel.perf_event_paranoid=1",
    )


def _syscall(number: int, *arguments: object) -> int:
    """Return the result of a system call, or the negated errno."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    return result if result >= 0 else -ctypes.get_errno()
