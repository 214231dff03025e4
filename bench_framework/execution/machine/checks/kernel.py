"""Checks of kernel features: io_uring, hardware counters."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from typing import Final

from bench_framework.execution.machine.checks.check import Check, Machine, ok, warn

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
