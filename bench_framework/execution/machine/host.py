"""The machine: clock, environment, and the facts that a record stores about it.

No other module reads the time of day or an environment variable.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import MachineError, UsageError
from bench_framework.foreign import text_of
from bench_framework.model.record.machine import variables_of
from bench_framework.model.record.run import Host
from bench_framework.units import parse_duration
from bench_framework.version import __version__

if TYPE_CHECKING:
    from bench_framework.execution.process import Launcher

PYTHON: Final = "BENCHCTL_PYTHON"
"""Variable with the path of the Python that runs some strategies of the worker dgen."""
WAIT: Final = "BENCHCTL_WAIT"
"""Variable with the time after which waiting for other processes of benchctl ends."""
LONGEST_WAIT_S: Final = 7200.0
CPUINFO: Final = Path("/proc/cpuinfo")
GOVERNOR: Final = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
MEMINFO: Final = Path("/proc/meminfo")
BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
MACHINE_ID: Final = Path("/etc/machine-id")
DMI: Final = Path("/sys/class/dmi/id")
_DESIGN: Final[Mapping[str, str]] = {
    "family": "cpu family",
    "model": "model",
    "implementer": "CPU implementer",
    "part": "CPU part",
}
"""Numbers of the design of a processor → their fields in ``/proc/cpuinfo``, on x86 and on ARM."""
HYPERVISORS: Final = ("KVM", "QEMU", "VMware", "VirtualBox", "Xen", "Amazon EC2", "Google")
MOUNTINFO: Final = Path("/proc/self/mountinfo")
MOUNT_FIELDS: Final = 5
"""Number of fields up to the mount point, in the part before the dash."""
IN_MEMORY: Final = frozenset({"tmpfs", "ramfs", "devtmpfs"})
"""Types of file systems whose files are in memory."""


GIT_REPOSITORY: Final = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
"""Variables that name a repository (``git rev-parse --local-env-vars``, without configuration).

git sets them for hooks and for ``git bisect run`` in a linked worktree. A git command that inherits
them changes the user's repository, even if it is started with ``-C`` in the clone of a revision."""


def utc_now() -> str:
    """Return UTC in ISO 8601 with milliseconds: ``2026-03-02T17:04:09.123Z``."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds() -> float:
    """Return monotonic seconds from an arbitrary start."""
    return time.monotonic()


def memory_bytes(text: bytes, name: str = "MemAvailable") -> int | None:
    """Return a size in the text of ``/proc/meminfo`` in bytes; `None` if it has none of this name."""
    match = re.search(rb"^%s:\s+(\d+) kB" % name.encode(), text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def available_memory() -> int | None:
    """Return the memory in bytes that programs can use without swapping; `None` if it is not reported.

    Raises `OSError`: the kernel has no such counters.
    """
    return memory_bytes(MEMINFO.read_bytes())


def file_age_s(path: Path) -> float:
    """Return the seconds since a file or folder was last changed."""
    return max(0.0, time.time() - path.stat().st_mtime)


def environment() -> dict[str, str]:
    """Return a copy of benchctl's environment for its children, with the path of its Python.

    The worker dgen runs some strategies in that Python. The path is not resolved: an interpreter
    finds the packages of its virtual environment by the path with which it was started. Variables
    that name a repository are removed: a repository is found by the path of a crate or file.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in GIT_REPOSITORY}
    return {**inherited, **({PYTHON: sys.executable} if sys.executable else {})}


def cache_root(env: Mapping[str, str] | None = None) -> Path:
    """Return the folder of tools, builds, binaries and corpora that records share.

    ``BENCHCTL_CACHE``, else ``$XDG_CACHE_HOME/benchctl``, else ``~/.cache/benchctl``. This function
    does not create it.
    """
    env = os.environ if env is None else env
    if folder := env.get("BENCHCTL_CACHE"):
        return Path(folder).absolute()
    base = env.get("XDG_CACHE_HOME") or ""
    # The XDG specification: a relative path there is invalid and ignored.
    root = Path(base) if base.startswith("/") else Path(env.get("HOME") or Path.home()) / ".cache"
    return root / "benchctl"


def wait_limit_s() -> float:
    """Return how long a build or a measurement waits for other processes, in seconds (`BENCHCTL_WAIT`).

    Raises `UsageError` (BX100): the variable is no duration.
    """
    text = os.environ.get(WAIT)
    try:
        return parse_duration(text) if text else LONGEST_WAIT_S
    except ValueError as error:
        raise UsageError("BX100.not-a-wait", name=WAIT, text=text, error=error) from error


def facts(
    launcher: Launcher,
    *,
    hyperfine: str,
    results: Path,
    data: Path,
    env: Mapping[str, str] | None = None,
    builds: bool = True,
) -> Host:
    """Return the contents of env.json; without `builds`, rustc and cargo are not run (0.2 s)."""
    env = environment() if env is None else env
    return Host(
        host_id=this_host_id(),
        boot_id=_read(BOOT_ID) or "",
        cpu=cpu_model(),
        cores=os.cpu_count() or 1,
        ram_bytes=ram_bytes(),
        kernel=platform.release(),
        os=os_name(),
        governor=_read(GOVERNOR),
        virtualised=virtualisation(),
        results_filesystem=filesystem_of(results),
        data_filesystem=filesystem_of(data),
        hyperfine=hyperfine,
        rustc=version_of(launcher, "rustc", env) if builds else None,
        cargo=version_of(launcher, "cargo", env) if builds else None,
        python=platform.python_version(),
        benchctl=__version__,
        load1=os.getloadavg()[0],
        variables=variables_of(env),
    )


def this_host_id() -> str:
    """Return the `host_id` of this machine."""
    machine = _read(MACHINE_ID) or _read(DMI / "product_uuid") or platform.node()
    return host_id(cpu_model(), os.cpu_count() or 1, ram_bytes(), machine)


def host_id(cpu: str, cores: int, ram: int, machine: str) -> str:
    """Return twelve hex digits that are equal between boots and do not reveal the machine id."""
    text = f"{cpu}\n{cores}\n{ram}\n{machine}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def version_of(
    launcher: Launcher,
    tool: str,
    env: Mapping[str, str],
    cwd: str | None = None,
    option: str = "--version",
) -> str | None:
    """Return the first line of ``TOOL --version``; `None` if the tool is missing or fails.

    Raises `MachineError` (BX232): the launcher died, which says nothing about the tool.
    """
    try:
        output = launcher.capture([tool, option], env, cwd=cwd, timeout_s=20)
    except MachineError as error:
        if error.code == "BX232":
            raise
        return None
    lines = (output.stdout or output.stderr).strip().splitlines()
    return lines[0].strip() if output.ok and lines else None


def cpu_model(text: str | None = None) -> str:
    """Return the name of the CPU and the numbers of its design: ``AMD EPYC family 25 model 1``.

    Hypervisors give different processors one name. Without a name (ARM), it is the architecture.
    """
    name = _cpu_field({"model name", "Model", "cpu model"}, text) or platform.machine()
    numbers = ((word, _cpu_field({field}, text)) for word, field in _DESIGN.items())
    return " ".join([name, *(f"{word} {number}" for word, number in numbers if number)])


def cpu_features() -> str:
    """Return the features of the CPU, as the kernel names them."""
    return _cpu_field({"flags", "Features"})


def _cpu_field(names: Collection[str], text: str | None = None) -> str:
    lines = (text if text is not None else _read(CPUINFO) or "").splitlines()
    pairs = (line.partition(":") for line in lines)
    return next((v.strip() for name, _, v in pairs if name.strip() in names and v.strip()), "")


def ram_bytes() -> int:
    """Return the physical memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def os_name() -> str:
    """Return ``PRETTY_NAME`` of os-release, such as ``Debian GNU/Linux 12 (bookworm)``."""
    return _release().get("PRETTY_NAME", "Linux")


def _release() -> dict[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def system_versions() -> str:
    """Return architecture, C library and operating system, each with its version."""
    library = " ".join(filter(None, platform.libc_ver())) or "musl"
    distribution = " ".join(filter(None, map(_release().get, ("ID", "VERSION_ID"))))
    return ", ".join((platform.machine(), library, distribution or "Linux"))


def virtualisation() -> str | None:
    """Return the name of the hypervisor or container, if detected; `None` on bare metal."""
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return "container"
    product = " ".join(filter(None, (_read(DMI / "sys_vendor"), _read(DMI / "product_name"))))
    for mark in (*HYPERVISORS, "Firecracker"):
        if mark.lower() in product.lower():
            return mark
    if "Microsoft" in product and "Virtual" in product:
        return "Hyper-V"
    if " hypervisor" in (_read(CPUINFO) or ""):
        return "hypervisor"
    return None


def kind_of(path: Path, text: str) -> str | None:
    """Return the type of the filesystem of an absolute, resolved path, from a mountinfo text (proc(5)).

    The longest mount point counts. A later mount covers an earlier one.
    """
    longest, kind = 0, None
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if len(left) >= MOUNT_FIELDS and right:
            at = unescaped(left[4])
            if path.is_relative_to(at) and len(at) >= longest:
                longest, kind = len(at), right[0]
    return kind


def unescaped(name: str) -> str:
    """Return a name of the kernel, in which spaces and backslashes are octal numbers, as it is."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), name)


def filesystem_of(path: Path) -> str | None:
    """Return the type of the filesystem of a path, which need not exist."""
    try:
        text = MOUNTINFO.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    return kind_of(path.resolve(), text)


def existing(path: Path) -> Path:
    """Return the path itself, or the nearest folder above it that exists."""
    path = path.absolute()
    return next(folder for folder in (path, *path.parents) if folder.exists())


def free_bytes(path: Path) -> int:
    """Return the free space of the filesystem of a path, which need not exist."""
    return shutil.disk_usage(existing(path)).free


def _read(path: Path) -> str | None:
    return text_of(path).strip() or None
