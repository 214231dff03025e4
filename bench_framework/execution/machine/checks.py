"""Checks of the machine, in the order of ``benchctl doctor``. A new check is a function and a line."""

import ctypes
import errno
import mmap
import os
import platform
import re
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

from bench_framework.execution import hyperfine as hf
from bench_framework.execution.machine import host
from bench_framework.execution.machine.cpus import allowed_cpus
from bench_framework.execution.machine.host import IN_MEMORY, existing, filesystem_of
from bench_framework.execution.machine.system import require_linux
from bench_framework.execution.process import Launcher
from bench_framework.text.checks import text_of, texts_of
from bench_framework.text.numbers import fixed, format_size

BUSY_SHARE: Final = 0.25
"""Load average per core above which another program runs during most samples."""
STEADY: Final = frozenset({"performance"})
GOVERNOR: Final = "devices/system/cpu/cpu{}/cpufreq/scaling_governor"
SCARCE_MEMORY_BYTES: Final = 1 << 30
SCARCE_DISK_BYTES: Final = 2 << 30
ALIGNED: Final = 4096
IO_URING_SETUP: Final = 425
"""System call number; it is the same on every architecture."""
PERF_EVENT_OPEN: Final = {"x86_64": 298, "aarch64": 241, "riscv64": 241}
PARAMS_BYTES: Final = 120
"""``sizeof(struct io_uring_params)``."""
ATTR_BYTES: Final = 128
HARDWARE, INSTRUCTIONS = 0, 1
EXCLUDE_KERNEL_AND_HV: Final = 1 << 5 | 1 << 6
_TOOLS: Final = ("cargo", "rustc", "cc", "git", "strip", "perf", "valgrind")

State = Literal["ok", "warn", "bad"]
"""``warn``: results are noisier or less complete, or something cannot be built; ``bad``: nothing can be measured."""


@dataclass(frozen=True, slots=True)
class MachineCheck:
    """The result of a check: `figure` is what was measured, `meaning` its effect on the results."""

    name: str
    """Name of the check."""
    state: State
    """`warn`: results are noisier or less complete, or something cannot be built; `bad`: nothing can be
    measured."""
    figure: str
    """Measured value in words."""
    meaning: str = ""
    """Effect on the results; empty without one."""
    fix: str = ""
    """Advice on a change of the machine; empty without one."""


def _check(state: State, key: str, /, **values: object) -> MachineCheck:
    """Return a check with the texts of an entry of ``checks.toml``. The registry adds the name."""
    return MachineCheck("", state, *texts_of(key, **values))


ok = partial(_check, "ok")
warn = partial(_check, "warn")
bad = partial(_check, "bad")


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine as checks read it.

    The folders `results` and `data` need not exist. Tests replace `proc` and `sys`.
    """

    launcher: Launcher
    env: Mapping[str, str]
    results: Path
    data: Path
    proc: Path = Path("/proc")
    sys: Path = Path("/sys")

    def read(self, path: Path) -> str | None:
        """Return the text of a file, stripped; `None` if it cannot be read."""
        try:
            return path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None


def cores(machine: Machine) -> MachineCheck:  # noqa: ARG001 -- all checks have this signature
    """Count the CPUs of the machine and those that benchctl may use (affinity, cpuset)."""
    there, ours = os.cpu_count() or 1, len(allowed_cpus())
    usable = ok("cores.all" if there == ours else "cores.some", there=there, ours=ours)
    return warn("cores.one", figure=usable.figure) if ours == 1 else usable


def governor_of(machine: Machine, number: int) -> str:
    """Return the frequency governor of a CPU; empty in a virtual machine, which reports none."""
    return machine.read(machine.sys / GOVERNOR.format(number)) or ""


def governor(machine: Machine, number: int = 0) -> MachineCheck:
    """Check the frequency governor of a CPU."""
    name = governor_of(machine, number)
    if not name:
        return ok("governor.unknown")
    if name in STEADY:
        return ok("governor.steady", name=name)
    return warn("governor.other", name=name)


def load(machine: Machine) -> MachineCheck:
    """Compare the load average with the number of cores."""
    text = machine.read(machine.proc / "loadavg")
    if text is None:
        return warn("load.unknown")
    value, count = float(text.split()[0]), os.cpu_count() or 1
    if value > BUSY_SHARE * count:
        return warn("load.high", load=fixed(value, 2), cores=count)
    return ok("load.low", load=fixed(value, 2), cores=count)


def virtual(machine: Machine) -> MachineCheck:  # noqa: ARG001 -- all checks have this signature
    """Detect a hypervisor or container, which may take CPU time away."""
    name = host.virtualisation()
    if name is None:
        return ok("virtualisation.none")
    return ok("virtualisation.guest", name=name)


def pressure(machine: Machine) -> MachineCheck:
    """Look for pressure stall information, which marks runs disturbed by other load."""
    if machine.read(machine.proc / "pressure/cpu") is not None:
        return ok("pressure.available")
    return warn("pressure.missing")


def free(machine: Machine) -> MachineCheck:
    """Check the available memory; inputs must stay in the page cache between rounds."""
    available = host.memory_bytes(_meminfo(machine))
    if available is None:
        return warn("memory.unknown")
    size = format_size(available)
    if available < SCARCE_MEMORY_BYTES:
        return warn("memory.scarce", available=size)
    return ok("memory.enough", available=size)


def swap(machine: Machine) -> MachineCheck:
    """Check the swap in use: a page that was swapped out is read back while a program is timed."""
    text = _meminfo(machine)
    total, unused = host.memory_bytes(text, "SwapTotal"), host.memory_bytes(text, "SwapFree")
    if not total:
        return ok("swap.none")
    used = total - (unused or 0)
    if used > 0:
        return warn("swap.used", used=format_size(used), total=format_size(total))
    return ok("swap.unused", total=format_size(total))


def huge_pages_setting(machine: Machine) -> str:
    """Return the setting of transparent huge pages, such as ``madvise``; empty if it is not reported."""
    text = machine.read(machine.sys / "kernel/mm/transparent_hugepage/enabled")
    match = re.search(r"\[(\w+)\]", text or "")
    return match[1] if match else ""


def huge_pages(machine: Machine) -> MachineCheck:
    """Check the setting of transparent huge pages, which affects allocators differently."""
    setting = huge_pages_setting(machine)
    if not setting:
        return ok("huge pages.unknown")
    key = "huge pages.always" if setting == "always" else "huge pages.other"
    return ok(key, setting=setting)


def _meminfo(machine: Machine) -> bytes:
    return (machine.read(machine.proc / "meminfo") or "").encode()


def hyperfine(machine: Machine) -> MachineCheck:
    """Find the hyperfine that `run` would use, without installing one."""
    for tool in hf.installed(machine.launcher, machine.env):
        if tool.version >= hf.MINIMUM:
            version = ".".join(map(str, tool.version))
            return ok("hyperfine.installed", version=version, path=tool.path)
    if configured := machine.env.get("BENCHCTL_HYPERFINE"):
        minimum = ".".join(map(str, hf.MINIMUM))
        return bad("hyperfine.other", configured=configured, minimum=minimum)
    versions = {"wheel_version": hf.WHEEL_VERSION, "built": hf.BUILT, "wheel": hf.WHEEL}
    return warn("hyperfine.missing", **versions)


def tool(machine: Machine, name: str) -> MachineCheck:
    """Report a tool's version, or the effect of its absence."""
    version = host.version_of(machine.launcher, name, machine.env)
    purpose, fix = (text_of(name, part) for part in ("purpose", "fix"))
    if version is not None:
        return ok("tool.installed", version=version, purpose=purpose)
    return warn("tool.missing", purpose=purpose, fix=fix)


def results(machine: Machine) -> MachineCheck:
    """Check the filesystem that records are written to."""
    return _filesystem(machine.results, "results folder")


def data(machine: Machine) -> MachineCheck:
    """Check the filesystem that inputs are read from."""
    return _filesystem(machine.data, "data folder")


def room(machine: Machine) -> MachineCheck:
    """Check the free space for inputs and builds."""
    free = host.free_bytes(machine.data)
    if free < SCARCE_DISK_BYTES:
        return warn("disk space.scarce", free=format_size(free))
    return ok("disk space.enough", free=format_size(free))


def direct_io(machine: Machine) -> MachineCheck:
    """Write a file in the data folder with O_DIRECT."""
    folder = existing(machine.data)
    kind = filesystem_of(folder)
    if kind in IN_MEMORY:
        return warn("O_DIRECT.memory", kind=kind)
    try:
        with tempfile.NamedTemporaryFile(prefix=".benchctl-probe-", dir=folder) as file:
            fd = os.open(file.name, os.O_WRONLY | os.O_DIRECT)
            try:
                # An anonymous mapping is page-aligned, as O_DIRECT requires of its buffers.
                with mmap.mmap(-1, ALIGNED) as buffer:
                    os.write(fd, buffer)
            finally:
                os.close(fd)
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, error.errno)
        return warn("O_DIRECT.refused", kind=kind, error=name)
    return ok("O_DIRECT.works", kind=kind)


def _filesystem(path: Path, name: str) -> MachineCheck:
    folder = existing(path)
    kind = filesystem_of(folder) or "unknown"
    if not os.access(folder, os.W_OK):
        return bad(f"{name}.read-only", folder=folder)
    if kind in IN_MEMORY:
        return warn(f"{name}.memory", kind=kind, folder=folder)
    return ok(f"{name}.disk", kind=kind, folder=folder)


def io_uring(machine: Machine) -> MachineCheck:  # noqa: ARG001 -- all checks have this signature
    """Set up a ring of two entries and close it."""
    ring = _syscall(IO_URING_SETUP, ctypes.c_uint(2), ctypes.create_string_buffer(PARAMS_BYTES))
    if ring >= 0:
        os.close(ring)
        return ok("io_uring.works")
    name = errno.errorcode.get(-ring, str(-ring))
    cause = text_of("io_uring", name) or os.strerror(-ring)
    return warn("io_uring.refused", error=name, cause=cause)


def counters(machine: Machine) -> MachineCheck:
    """Open a hardware counter of instructions for this process."""
    paranoid = machine.read(machine.proc / "sys/kernel/perf_event_paranoid")
    figure = text_of("counters", "paranoid" if paranoid else "none", paranoid=paranoid)
    number = PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        return warn("counters.unchecked", machine=platform.machine())
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
        return ok("counters.works", figure=figure)
    name = errno.errorcode.get(-counter, str(-counter))
    absent = -counter in {errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV}
    key = "counters.absent" if absent else "counters.refused"
    return warn(key, figure=figure, error=name)


def _syscall(number: int, *arguments: object) -> int:
    # The negated errno stands for an error, as in the kernel.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    return result if result >= 0 else -ctypes.get_errno()


CHECKS: Final[dict[str, Callable[[Machine], MachineCheck]]] = {
    "hyperfine": hyperfine,
    **{name: partial(tool, name=name) for name in _TOOLS},
    "cores": cores,
    "governor": governor,
    "load": load,
    "virtualisation": virtual,
    "pressure": pressure,
    "memory": free,
    "swap": swap,
    "huge pages": huge_pages,
    "results folder": results,
    "data folder": data,
    "disk space": room,
    "O_DIRECT": direct_io,
    "io_uring": io_uring,
    "counters": counters,
}
"""The checks. `checks.toml` has the effect of each one that passed and gives none itself."""


def examine_machine(results: Path) -> tuple[MachineCheck, ...]:
    """Run all checks in order. Temporary files are removed again."""
    require_linux()
    env = host.environment()
    with Launcher() as launcher:
        return tuple(run_checks(Machine(launcher, env, results, host.cache_root(env) / "data")))


def run_checks(machine: Machine) -> Iterator[MachineCheck]:
    """Run every check; a check that raises an error is reported as a warning."""
    for name, probe in CHECKS.items():
        try:
            check = probe(machine)
            default = text_of(name, "passed") if check.state == "ok" else ""
            yield replace(check, name=name, meaning=check.meaning or default)
        except (OSError, ValueError) as error:
            yield replace(warn("check.failed", error=error), name=name)
