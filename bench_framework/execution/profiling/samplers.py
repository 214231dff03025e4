"""Samplers of functions, tested once: perf, or callgrind where the kernel forbids it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench_framework.execution.machine.host import version_of
from bench_framework.execution.process import Command, Launcher, scratch_folder
from bench_framework.execution.profiling.samples import Samples, read_costs, read_samples
from bench_framework.foreign import text_of
from bench_framework.model.profile import Sampler as SamplerName
from bench_framework.model.profile import Unwinding

PARANOID: Final = Path("/proc/sys/kernel/perf_event_paranoid")
FASTEST: Final = Path("/proc/sys/kernel/perf_event_max_sample_rate")
EVENTS: Final = ("cycles", "cpu-clock", "cycles:u", "cpu-clock:u")
"""Events in the order of trials: the CPU's counter, the kernel's timer, and both in user space.

An unprivileged user may sample only user space.
"""
BUSY: Final = ("/bin/sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")
"""About 60 ms of work, to detect an event that never counts, as on some virtual machines."""
RECORD: Final = ("perf", "record", "--no-buildid-cache", "--quiet")
SCRIPT: Final = ("perf", "script", "--force", "--show-lost-events", "--no-inline")
CALLGRIND: Final = ("valgrind", "--tool=callgrind", "--quiet", "--trace-children=yes")
STACK_BYTES: Final = 16384
"""Bytes of the stack that dwarf unwinding copies with each sample."""
SCRIPT_TIMEOUT_S: Final = 900.0


@dataclass(frozen=True, slots=True)
class Perf:
    """perf, with an event that counts on this machine."""

    launcher: Launcher
    env: Mapping[str, str]
    tool: str
    event: str
    frequency_hz: int | None
    name: SamplerName = "perf"

    def under(self, folder: Path, unwinding: Unwinding) -> list[str]:
        """Return the command prefix of a run; perf writes its data to `folder`."""
        graph = "fp" if unwinding == "frame-pointers" else f"dwarf,{STACK_BYTES}"
        words = [*RECORD, "-e", self.event, "-F", str(self.frequency_hz), "--call-graph", graph]
        return [*words, "-o", str(folder / "perf.data"), "--"]

    def read(self, folder: Path) -> Samples | str:
        """Return the samples of a run, or the reason for none; `folder` has the file ``stderr``.

        Raises `MachineError` (BX232): the launcher died.
        """
        data, out, errors = (folder / name for name in ("perf.data", "script.txt", "script.stderr"))
        if not data.is_file():
            return f"perf recorded nothing {_tail(folder / 'stderr')}".strip()
        # Symbols are read from local files only, not from a debuginfod server.
        env = {name: value for name, value in self.env.items() if name != "DEBUGINFOD_URLS"}
        words = [*SCRIPT, "-i", str(data), "-F", "tid,time,event,ip,sym,dso"]
        script = Command(
            words, env, stdout=str(out), stderr=str(errors), timeout_s=SCRIPT_TIMEOUT_S
        )
        finished = self.launcher.run(script)
        if not finished.ok:
            return f"perf script: {finished.how} {_tail(errors)}".strip()
        with out.open(encoding="utf-8", errors="replace") as lines:
            return read_samples(lines)


@dataclass(frozen=True, slots=True)
class Callgrind:
    """valgrind's instruction counter: exact and slow, without kernel code and waiting."""

    tool: str
    name: SamplerName = "callgrind"
    frequency_hz: int | None = None

    def under(self, folder: Path, unwinding: Unwinding) -> list[str]:
        """Return the command prefix of a run. Callers are not recorded, whatever the unwinding."""
        del unwinding
        out = folder / "callgrind.out"
        return [*CALLGRIND, "--dump-instr=no", f"--callgrind-out-file={out}.%p", "--"]

    def read(self, folder: Path) -> Samples | str:
        """Return the counts of a run, or the reason for none."""
        samples = Samples()
        for file in sorted(folder.glob("callgrind.out.*")):
            with file.open(encoding="utf-8", errors="replace") as lines:
                read_costs(lines, samples)
        return samples if samples.total else "callgrind counted nothing"


Sampler = Perf | Callgrind
"""A profiler of single runs. `frequency_hz` is `None` if it counts instructions."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a sampler cannot be used on this machine, and the fix."""

    reason: str
    fix: str


def find_sampler(
    choice: str, frequency_hz: int, launcher: Launcher, env: Mapping[str, str]
) -> tuple[Sampler | None, tuple[Refusal, ...]]:
    """Return the first working sampler and the refusals of those before it.

    `choice` is ``auto``, ``perf`` or ``callgrind``. The frequency is reduced to the kernel's
    maximum.
    """
    refused: list[Refusal] = []
    if choice in {"auto", "perf"}:
        perf = find_perf(frequency_hz, launcher, env)
        if isinstance(perf, Perf):
            return perf, ()
        refused.append(perf)
    if choice in {"auto", "callgrind"}:
        callgrind = find_callgrind(launcher, env)
        if isinstance(callgrind, Callgrind):
            return callgrind, tuple(refused)
        refused.append(callgrind)
    return None, tuple(refused)


def find_perf(frequency_hz: int, launcher: Launcher, env: Mapping[str, str]) -> Perf | Refusal:
    """Return perf with the first event that counts on this machine, or the refusal."""
    version = version_of(launcher, "perf", env)
    if version is None:
        fix = "install linux-perf (Debian), linux-tools-generic (Ubuntu) or perf"
        return Refusal("perf is not installed", fix)
    hertz = min(frequency_hz, _number(FASTEST) or frequency_hz)
    reason = ""
    for event in EVENTS:
        perf = Perf(launcher, env, version, event, hertz)
        with scratch_folder() as name:
            folder = Path(name)
            argv = [*perf.under(folder, "frame-pointers"), *BUSY]
            launcher.run(Command(argv, env, stderr=str(folder / "stderr"), timeout_s=60.0))
            samples = perf.read(folder)
            if isinstance(samples, Samples) and samples.total:
                return perf
            failure = samples if isinstance(samples, str) else ""
            reason = reason or failure or _tail(folder / "stderr")
    paranoid = _number(PARANOID)
    fix = "allow the system call perf_event_open (CAP_PERFMON), which containers often block"
    # Above 2 an unprivileged user cannot sample.
    if paranoid is not None and paranoid > 2 and os.geteuid() != 0:  # noqa: PLR2004
        reason = f"perf_event_paranoid is {paranoid}"
        fix = "run as root: sysctl kernel.perf_event_paranoid=2 (or 1 to include kernel functions)"
    return Refusal(f"perf may not sample on this machine{f': {reason}' if reason else ''}", fix)


def find_callgrind(launcher: Launcher, env: Mapping[str, str]) -> Callgrind | Refusal:
    """Return callgrind if valgrind is installed, or the refusal."""
    if (version := version_of(launcher, "valgrind", env)) is not None:
        return Callgrind(version)
    return Refusal("valgrind is not installed", "install valgrind")


def _number(path: Path) -> int | None:
    text = text_of(path).strip()
    return int(text) if text.removeprefix("-").isdecimal() else None


def _tail(path: Path) -> str:
    """Return the last words of a tool's output on one line."""
    return " ".join(text_of(path).split()[-40:])
