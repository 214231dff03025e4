"""Ways to see where a program spends its time: perf, and callgrind where the kernel lets nobody sample.

A sampler is asked once whether it works here (`Ready` or the reason), and then watches single runs.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from bench_framework.errors import MachineError
from bench_framework.execution.callgrind import read_costs
from bench_framework.execution.perf_script import Samples, read_samples
from bench_framework.execution.process import Command, Finished, scratch_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.execution.process import Launcher
    from bench_framework.model.profile import Sampler as SamplerName
    from bench_framework.model.profile import Unwinding

PARANOID: Final = Path("/proc/sys/kernel/perf_event_paranoid")
FASTEST: Final = Path("/proc/sys/kernel/perf_event_max_sample_rate")
EVENTS: Final = ("cycles", "cpu-clock", "cycles:u", "cpu-clock:u")
"""Tried in this order: the processor's own counter, the kernel's timer, and both without the kernel's own functions,
which is all that a user without privileges may see."""
BUSY: Final = ("/bin/sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")
"""Some 60 ms of work: an event that exists and never counts, as on some virtual machines, is found out."""
STACK_BYTES: Final = 16384
"""Of the stack, copied with each sample for dwarf."""
SCRIPT_TIMEOUT_S: Final = 900.0
_LOST_SHARE: Final = re.compile(r"Processed (\d+) samples and lost ([\d.]+)%")


@dataclass(frozen=True, slots=True)
class Watched:
    """One run under a sampler.

    Attributes:
        finished: how the program ended.
        samples: `None` where the sampler left nothing that can be read.
        why: then, the reason.
    """

    finished: Finished
    samples: Samples | None
    why: str = ""


class Sampler(Protocol):
    """A way to watch a run."""

    @property
    def name(self) -> SamplerName:
        """Which one it is."""

    @property
    def tool(self) -> str:
        """Its name and version, in its own words."""

    @property
    def frequency_hz(self) -> int | None:
        """Samples per second that it asks for; `None` if it counts."""

    def watch(self, command: Command, unwinding: Unwinding, folder: Path) -> Watched:
        """Run a command once and say what was seen. `folder` takes what the sampler writes, and may be emptied.

        Raises:
            MachineError: BX231, the program cannot be started; BX232, the launcher died.
        """


@dataclass(frozen=True, slots=True)
class Perf:
    """perf, with an event that was seen to count here."""

    launcher: Launcher
    env: Mapping[str, str]
    tool: str
    event: str
    frequency_hz: int | None
    name: SamplerName = "perf"

    def watch(self, command: Command, unwinding: Unwinding, folder: Path) -> Watched:
        """Record and read one run."""
        data, said = folder / "perf.data", folder / "perf.stderr"
        words = [
            "perf",
            "record",
            "--no-buildid-cache",
            "--quiet",
            "-e",
            self.event,
            "-F",
            str(self.frequency_hz),
            "--call-graph",
            "fp" if unwinding == "frame-pointers" else f"dwarf,{STACK_BYTES}",
            "-o",
            str(data),
            "--",
        ]
        finished = self.launcher.run(replace(command, argv=[*words, *command.argv]))
        if (
            finished.killed or finished.timed_out
        ):  # perf was killed with it and has left half a file
            return Watched(finished, None, finished.how)
        if not data.is_file():
            return Watched(finished, None, f"perf recorded nothing {_tail(said)}".strip())
        return replace(self._read(data, folder), finished=finished)

    def _read(self, data: Path, folder: Path) -> Watched:
        out, said = folder / "script.txt", folder / "script.stderr"
        # Symbols are read from the files of this machine: nothing is asked of a server.
        env = {name: value for name, value in self.env.items() if name != "DEBUGINFOD_URLS"}
        words = [
            "perf",
            "script",
            "-i",
            str(data),
            "--force",
            "--show-lost-events",
            "--no-inline",
            "-F",
            "tid,time,event,ip,sym,dso",
        ]
        finished = self.launcher.run(
            Command(words, env, stdout=str(out), stderr=str(said), timeout_s=SCRIPT_TIMEOUT_S)
        )
        if not finished.ok:
            return Watched(finished, None, f"perf script: {finished.how} {_tail(said)}".strip())
        with out.open(encoding="utf-8", errors="replace") as lines:
            return Watched(finished, read_samples(lines))


@dataclass(frozen=True, slots=True)
class Callgrind:
    """valgrind's counter of instructions: exact, slow, blind to the kernel and to waiting."""

    launcher: Launcher
    tool: str
    name: SamplerName = "callgrind"
    frequency_hz: int | None = None

    def watch(self, command: Command, unwinding: Unwinding, folder: Path) -> Watched:
        """Count one run. Callers are not told apart, whatever the unwinding."""
        del unwinding
        out = folder / "callgrind.out"
        words = [
            "valgrind",
            "--tool=callgrind",
            "--quiet",
            "--trace-children=yes",
            "--dump-instr=no",
            f"--callgrind-out-file={out}.%p",
        ]
        finished = self.launcher.run(replace(command, argv=[*words, "--", *command.argv]))
        if finished.killed or finished.timed_out:
            return Watched(finished, None, finished.how)
        samples = Samples()
        for file in sorted(folder.glob("callgrind.out.*")):
            with file.open(encoding="utf-8", errors="replace") as lines:
                read_costs(lines, samples)
        if not samples.total:
            return Watched(finished, None, f"callgrind counted nothing ({finished.how})")
        return Watched(finished, samples)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a sampler cannot be used here, and what would help."""

    why: str
    help: str


def find_sampler(
    wanted: str, frequency_hz: int, launcher: Launcher, env: Mapping[str, str]
) -> tuple[Sampler | None, tuple[Refusal, ...]]:
    """The sampler that works here, and why others before it do not.

    Args:
        wanted: ``auto``, ``perf`` or ``callgrind``.
        frequency_hz: samples per second; lowered to what the kernel takes.
        launcher: starts them.
        env: their environment.
    """
    refused: list[Refusal] = []
    if wanted in {"auto", "perf"}:
        found = find_perf(frequency_hz, launcher, env)
        if isinstance(found, Perf):
            return found, ()
        refused.append(found)
    if wanted in {"auto", "callgrind"}:
        counted = find_callgrind(launcher, env)
        if isinstance(counted, Callgrind):
            return counted, tuple(refused)
        refused.append(counted)
    return None, tuple(refused)


def find_perf(frequency_hz: int, launcher: Launcher, env: Mapping[str, str]) -> Perf | Refusal:
    """Perf with the first event that counts here."""
    version = _version("perf", launcher, env)
    if version is None:
        return Refusal(
            "perf is not installed",
            "install linux-perf (Debian), linux-tools-generic (Ubuntu) or perf",
        )
    hertz = min(frequency_hz, _number(FASTEST) or frequency_hz)
    why = ""
    for event in EVENTS:
        perf = Perf(launcher, env, version, event, hertz)
        with scratch_folder() as name:
            folder = Path(name)
            seen = perf.watch(
                Command(BUSY, env, stderr=str(folder / "perf.stderr"), timeout_s=60.0),
                "frame-pointers",
                folder,
            )
            if seen.samples is not None and seen.samples.total:
                return perf
            why = why or seen.why or _tail(folder / "perf.stderr")
    paranoid = _number(PARANOID)
    words = f"perf may not sample here{f': {why}' if why else ''}"
    if paranoid is not None and paranoid > 2 and os.geteuid() != 0:  # noqa: PLR2004 -- above 2 nothing is left to a user
        return Refusal(
            f"perf may not sample here: perf_event_paranoid is {paranoid}",
            "as root: sysctl kernel.perf_event_paranoid=2 (or 1, to see the kernel's functions)",
        )
    return Refusal(
        words, "containers often forbid it: allow the system call perf_event_open (CAP_PERFMON)"
    )


def find_callgrind(launcher: Launcher, env: Mapping[str, str]) -> Callgrind | Refusal:
    """valgrind, if it is installed."""
    version = _version("valgrind", launcher, env)
    return (
        Refusal("valgrind is not installed", "install valgrind")
        if version is None
        else Callgrind(launcher, version)
    )


def _version(tool: str, launcher: Launcher, env: Mapping[str, str]) -> str | None:
    try:
        said = launcher.capture([tool, "--version"], env, timeout_s=20)
    except MachineError:
        return None
    lines = said.stdout.strip().splitlines()
    return lines[0].strip() if said.ok and lines else None


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _tail(path: Path) -> str:
    """The last words of a tool, on one line."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    return " ".join(" ".join(line for line in lines if line.strip()).split()[-40:])
