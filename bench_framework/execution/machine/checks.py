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
_RING_MEANING: Final = {
    errno.ENOSYS: "this kernel has no io_uring",
    errno.EPERM: "io_uring is disabled (kernel.io_uring_disabled) or blocked by the container",
    errno.ENOMEM: "the limit of locked memory (ulimit -l) is too small for a ring",
}
_RUST: Final = "install Rust from https://rustup.rs"
_TOOLS: Final = {
    "cargo": ("to build the variants of a crate, but not to compare commands", _RUST),
    "rustc": ("to compile these variants; its version is recorded with every binary", _RUST),
    "cc": ("to build crates with C code, such as jemalloc and mimalloc", "install gcc or clang"),
    "git": ("to build revisions, and to store the commit in records", "install git"),
    "strip": ("to report binary sizes without symbols", "install binutils"),
    "perf": ("to profile programs and to count instructions in hardware", "install linux-perf"),
    "valgrind": ("to count instructions exactly", "install valgrind"),
}
"""The purpose of each tool, and the fix if it is missing."""

State = Literal["ok", "warn", "bad"]
"""``warn``: results are noisier or less complete, or something cannot be built; ``bad``: nothing can be measured."""


@dataclass(frozen=True, slots=True)
class MachineCheck:
    """The result of a check: `figure` is what was measured, `meaning` its effect on the results."""

    name: str
    state: State
    figure: str
    meaning: str = ""
    fix: str = ""


# The registry adds the name.
ok = partial(MachineCheck, "", "ok")
warn = partial(MachineCheck, "", "warn")
bad = partial(MachineCheck, "", "bad")


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
    figure = f"{there}" if there == ours else f"{ours} of {there} usable"
    if ours == 1:
        meaning = "hyperfine and the timed program share one core; thread counts cannot be compared"
        return warn(figure, meaning, "give this machine or container a second core")
    return ok(figure)


def governor(machine: Machine, number: int = 0) -> MachineCheck:
    """Read the frequency governor of a CPU; virtual machines report none."""
    name = machine.read(machine.sys / GOVERNOR.format(number))
    if not name:
        return ok("not reported", "frequency changes cannot be seen; they widen the noise floor")
    if name in STEADY:
        return ok(name)
    meaning = "the CPU frequency follows the load, so short runs are slower and vary more"
    return warn(name, meaning, "cpupower frequency-set -g performance")


def load(machine: Machine) -> MachineCheck:
    """Compare the load average with the number of cores."""
    text = machine.read(machine.proc / "loadavg")
    if text is None:
        return warn("not reported", "other load on this machine cannot be detected")
    value, count = float(text.split()[0]), os.cpu_count() or 1
    if value > BUSY_SHARE * count:
        meaning = "other programs are running, so more rounds are needed for the same precision"
        return warn(f"{fixed(value, 2)} on {count} cores", meaning, "stop them, or measure later")
    return ok(f"{fixed(value, 2)} on {count} cores")


def virtual(machine: Machine) -> MachineCheck:  # noqa: ARG001 -- all checks have this signature
    """Detect a hypervisor or container, which may take CPU time away."""
    name = host.virtualisation()
    if name is None:
        return ok("none detected")
    meaning = "other guests may take CPU time; it is recorded as steal if the hypervisor reports it"
    return ok(name, meaning)


def pressure(machine: Machine) -> MachineCheck:
    """Look for pressure stall information, which marks runs disturbed by other load."""
    if machine.read(machine.proc / "pressure/cpu") is not None:
        return ok("available")
    meaning = "runs disturbed by other load are not marked; verdicts do not depend on it"
    return warn("not available", meaning, "boot the kernel with psi=1")


def free(machine: Machine) -> MachineCheck:
    """Check the available memory; inputs must stay in the page cache between rounds."""
    available = host.memory_bytes(_meminfo(machine))
    if available is None:
        return warn("not reported", "it is unknown if inputs fit into the page cache")
    figure = f"{format_size(available)} available"
    if available < SCARCE_MEMORY_BYTES:
        meaning = "inputs may not stay in the page cache and may be read from the disk repeatedly"
        return warn(figure, meaning, "stop other programs, or use smaller inputs")
    return ok(figure)


def swap(machine: Machine) -> MachineCheck:
    """Check the swap in use: a page that was swapped out is read back while a program is timed."""
    text = _meminfo(machine)
    total, unused = host.memory_bytes(text, "SwapTotal"), host.memory_bytes(text, "SwapFree")
    if not total:
        return ok("none")
    used = total - (unused or 0)
    if used > 0:
        meaning = "pages may be read from the disk while a program is timed"
        fix = "swapoff -a && swapon -a, or free memory"
        return warn(f"{format_size(used)} of {format_size(total)} used", meaning, fix)
    return ok(f"{format_size(total)}, unused")


def huge_pages(machine: Machine) -> MachineCheck:
    """Read the setting of transparent huge pages, which affects allocators differently."""
    text = machine.read(machine.sys / "kernel/mm/transparent_hugepage/enabled")
    match = re.search(r"\[(\w+)\]", text or "")
    if match is None:
        return ok("not reported")
    meaning = "peak memory grows in steps of 2 MiB" if match[1] == "always" else ""
    return ok(match[1], meaning)


def _meminfo(machine: Machine) -> bytes:
    return (machine.read(machine.proc / "meminfo") or "").encode()


def hyperfine(machine: Machine) -> MachineCheck:
    """Find the hyperfine that `run` would use, without installing one."""
    for tool in hf.installed(machine.launcher, machine.env):
        if tool.version >= hf.MINIMUM:
            return ok(f"{'.'.join(map(str, tool.version))} at {tool.path}")
    if configured := machine.env.get("BENCHCTL_HYPERFINE"):
        figure = f"{configured} is not hyperfine {'.'.join(map(str, hf.MINIMUM))} or newer"
        fix = "set BENCHCTL_HYPERFINE to such a hyperfine, or unset it"
        return bad(figure, "nothing can be measured", fix)
    meaning = (
        f"the first run downloads {hf.WHEEL_VERSION} from PyPI, or builds {hf.BUILT} with cargo"
    )
    return warn("not found", meaning, f"install hyperfine, or `pip install {hf.WHEEL}`")


def tool(machine: Machine, name: str) -> MachineCheck:
    """Report a tool's version, or the effect of its absence."""
    version = host.version_of(machine.launcher, name, machine.env)
    purpose, fix = _TOOLS[name]
    if version is not None:
        return ok(version, f"used {purpose}")
    return warn("not found", f"needed {purpose}", fix)


def results(machine: Machine) -> MachineCheck:
    """Check the filesystem that records are written to."""
    return _filesystem(machine.results, "records are lost at the next boot", "--out")


def data(machine: Machine) -> MachineCheck:
    """Check the filesystem that inputs are read from."""
    meaning = "inputs are read from memory: cold-cache and O_DIRECT times are meaningless there"
    return _filesystem(machine.data, meaning, "data-dir:")


def room(machine: Machine) -> MachineCheck:
    """Check the free space for inputs and builds."""
    free = host.free_bytes(machine.data)
    if free < SCARCE_DISK_BYTES:
        fix = "free some space, for example with `benchctl clean`"
        return warn(f"{format_size(free)} free", "builds and large inputs may not fit", fix)
    return ok(f"{format_size(free)} free")


def direct_io(machine: Machine) -> MachineCheck:
    """Write a file in the data folder with O_DIRECT."""
    folder = existing(machine.data)
    kind = filesystem_of(folder)
    if kind in IN_MEMORY:
        meaning = "O_DIRECT modes fall back to buffered I/O or measure memory"
        return warn(f"meaningless on {kind}", meaning, "set `data-dir:` to a folder on ext4 or xfs")
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
        return warn(
            f"refused on {kind} ({errno.errorcode.get(error.errno or 0, error.errno)})",
            "O_DIRECT modes fall back to buffered I/O; reports show the actual mode",
            "set `data-dir:` to a folder on ext4 or xfs",
        )
    return ok(f"works on {kind}")


def _filesystem(path: Path, meaning: str, option: str) -> MachineCheck:
    folder = existing(path)
    kind = filesystem_of(folder) or "unknown"
    if not os.access(folder, os.W_OK):
        meaning = "nothing can be stored there"
        return bad(f"{folder} is not writable", meaning, f"choose another folder with {option}")
    if kind in IN_MEMORY:
        return warn(f"{kind} at {folder}", meaning, f"choose a folder on ext4 or xfs with {option}")
    return ok(f"{kind} at {folder}")


def io_uring(machine: Machine) -> MachineCheck:  # noqa: ARG001 -- all checks have this signature
    """Set up a ring of two entries and close it."""
    ring = _syscall(IO_URING_SETUP, ctypes.c_uint(2), ctypes.create_string_buffer(PARAMS_BYTES))
    if ring >= 0:
        os.close(ring)
        return ok("works")
    words = _RING_MEANING.get(-ring, os.strerror(-ring))
    meaning = f"{words}; io_uring modes are excluded"
    fix = "sysctl kernel.io_uring_disabled=0, or allow it in the container's seccomp profile"
    return warn(f"refused ({errno.errorcode.get(-ring, -ring)})", meaning, fix)


def counters(machine: Machine) -> MachineCheck:
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
    # The negated errno stands for an error, as in the kernel.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    return result if result >= 0 else -ctypes.get_errno()


CHECKS: Final[dict[str, tuple[Callable[[Machine], MachineCheck], str]]] = {
    "hyperfine": (hyperfine, "times every run"),
    **{name: (partial(tool, name=name), "") for name in _TOOLS},
    "cores": (cores, "the timed program and hyperfine run on different cores"),
    "governor": (governor, "the CPU frequency is constant"),
    "load": (load, "few other programs are running"),
    "virtualisation": (virtual, "no other guest takes CPU time"),
    "pressure": (pressure, "runs disturbed by other load are marked"),
    "memory": (free, "inputs stay in the page cache between rounds"),
    "swap": (swap, "no page is read from the disk while a program is timed"),
    "huge pages": (huge_pages, "programs get them only on request"),
    "results folder": (results, "records survive a reboot"),
    "data folder": (data, "inputs are on a disk, as in production"),
    "disk space": (room, "builds and inputs fit"),
    "O_DIRECT": (direct_io, "modes that bypass the page cache can be measured"),
    "io_uring": (io_uring, "its modes can be measured"),
    "counters": (counters, "hardware counters of instructions are available"),
}
"""Each check, with its effect if it passed and gives none itself."""


def examine_machine(results: Path) -> tuple[MachineCheck, ...]:
    """Run all checks in order. Temporary files are removed again."""
    require_linux()
    env = host.environment()
    with Launcher() as launcher:
        return tuple(run_checks(Machine(launcher, env, results, host.cache_root(env) / "data")))


def run_checks(machine: Machine) -> Iterator[MachineCheck]:
    """Run every check; a check that raises an error is reported as a warning."""
    for name, (probe, meaning) in CHECKS.items():
        try:
            check = probe(machine)
            default = meaning if check.state == "ok" else ""
            yield replace(check, name=name, meaning=check.meaning or default)
        except (OSError, ValueError) as error:
            yield MachineCheck(name, "warn", f"could not be checked ({error})")
