"""Samplers of functions, perf or callgrind, and the readers of their output.

In ``perf script``, a sample is a paragraph: a header line (command, process, time, event), then one line per frame,
innermost first. A frame is an address, a symbol, an optional offset, and the file in parentheses.
Versions of perf differ in the header and in spacing.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final

from bench_framework.execution.counting.callgrind import (
    INSTRUCTIONS_EVENT,
    FunctionCosts,
    read_functions,
)
from bench_framework.execution.machine import perf_events
from bench_framework.execution.machine.host import version_of
from bench_framework.execution.process import Command, Launcher, scratch_folder
from bench_framework.execution.symbols import plain_name
from bench_framework.foreign import text_of
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.record.functions import UNKNOWN
from bench_framework.model.record.profile import Frame, Sampler as SamplerName, Unwinding
from bench_framework.text.errors import error_text

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
NO_SAMPLES: Final = Phrase(FaultCode.PERF_RECORDED_NO_SAMPLES)
MOST_FRAMES: Final = 1 << 16
"""Most parsed frames that are kept. A text contains the offset in the function, so a program has many."""


_FRAME: Final = re.compile(r"\s*(?P<ip>[0-9a-f]+)\s+(?P<rest>.*\S)\s*")
_SAMPLED: Final = re.compile(r"(?P<event>\S+):\s*$")
_OFFSET: Final = re.compile(r"\+0x[0-9a-f]+$")
_LOST: Final = re.compile(r"PERF_RECORD_LOST(?:_SAMPLES)?\b.*?lost (?P<count>\d+)")
_NOT_KERNEL: Final = frozenset({UNKNOWN, "[vdso]", "[vsyscall]", "[heap]", "[stack]", "[anon]"})
_INLINED: Final = "inlined"


@dataclass(slots=True)
class Samples:
    """The samples of one recording, outermost frames first. The kernel dropped `lost` ones."""

    stacks: Counter[tuple[Frame, ...]] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    lost: int = 0

    @property
    def total(self) -> int:
        """Return the number of samples in `stacks`."""
        return self.stacks.total()


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

    def read(self, folder: Path) -> Samples | Phrase:
        """Return the samples of a run, or the reason for none; `folder` has the file ``stderr``.

        Raises `MachineError` (BX232): the launcher died.
        """
        data, out, errors = (folder / name for name in ("perf.data", "script.txt", "script.stderr"))
        if not data.is_file():
            return _with_output(Phrase(FaultCode.PERF_RECORDED_NOTHING), folder / "stderr")
        # Symbols are read from local files only, not from a debuginfod server.
        env = {name: value for name, value in self.env.items() if name != "DEBUGINFOD_URLS"}
        words = [*SCRIPT, "-i", str(data), "-F", "tid,time,event,ip,sym,dso"]
        script = Command(
            words, env, stdout=str(out), stderr=str(errors), timeout_s=SCRIPT_TIMEOUT_S
        )
        finished = self.launcher.run(script)
        if not finished.ok:
            return _with_output(Phrase(FaultCode.PERF_SCRIPT, finished.how), errors)
        with out.open(encoding="utf-8", errors="replace") as lines:
            samples = read_samples(lines)
        return samples if samples.total else NO_SAMPLES


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

    def read(self, folder: Path) -> Samples | Phrase:
        """Return the counts of a run, or the reason for none."""
        samples = samples_of(read_functions(folder.glob("callgrind.out.*")))
        return samples if samples.total else Phrase(FaultCode.CALLGRIND_COUNTED_NOTHING)


def samples_of(costs: FunctionCosts) -> Samples:
    """Return the instructions of each function as stacks of one frame."""
    samples = Samples()
    for (name, module), count in costs.instructions.items():
        samples.stacks[Frame(name, module),] = count
    samples.events[INSTRUCTIONS_EVENT] = samples.total
    return samples


Sampler = Perf | Callgrind
"""A profiler of single runs. `frequency_hz` is `None` if it counts instructions."""


class Refusal(Exception):  # noqa: N818 -- a state of this machine
    """The reason why a sampler cannot be used on this machine, and the fix."""

    def __init__(self, key: str, **values: object) -> None:
        text = error_text(key, values)
        super().__init__(text.message)
        self.reason, self.fix = text.message, text.fix or ""


def find_sampler(
    choice: str, frequency_hz: int, launcher: Launcher, env: Mapping[str, str]
) -> tuple[Sampler | None, list[Refusal]]:
    """Return the first working sampler and the refusals of those before it.

    `choice` is ``auto``, ``perf`` or ``callgrind``. The frequency is reduced to the kernel's
    maximum.
    """
    refused: list[Refusal] = []
    try:
        if choice in {"auto", "perf"}:
            return find_perf(frequency_hz, launcher, env), refused
    except Refusal as refusal:
        refused.append(refusal)
    if choice in {"auto", "callgrind"}:
        if (version := version_of(launcher, "valgrind", env)) is not None:
            return Callgrind(version), refused
        refused.append(Refusal("BX350.no-valgrind"))
    return None, refused


def find_perf(frequency_hz: int, launcher: Launcher, env: Mapping[str, str]) -> Perf:
    """Return perf with the first event that counts on this machine. Raises `Refusal`."""
    version = version_of(launcher, "perf", env)
    if version is None:
        raise Refusal("BX350.no-perf")
    hertz = min(frequency_hz, perf_events.highest_frequency() or frequency_hz)
    reason: str | Phrase = ""
    for event in EVENTS:
        perf = Perf(launcher, env, version, event, hertz)
        with scratch_folder() as name:
            folder = Path(name)
            argv = [*perf.under(folder, "frame-pointers"), *BUSY]
            launcher.run(Command(argv, env, stderr=str(folder / "stderr"), timeout_s=60.0))
            samples = perf.read(folder)
            if isinstance(samples, Samples):
                return perf
            # perf may record an event that does not count, and print why.
            reason = reason or (_tail(folder / "stderr") if samples == NO_SAMPLES else samples)
    paranoid = perf_events.paranoid()
    if paranoid is not None and paranoid > 2 and os.geteuid() != 0:  # noqa: PLR2004
        raise Refusal("BX350.paranoid", paranoid=paranoid)
    raise Refusal("BX350.no-samples", reason=reason)


def _tail(path: Path) -> str:
    return " ".join(text_of(path).split()[-40:])


def _with_output(reason: Phrase, path: Path) -> Phrase:
    """Return a reason with the end of the output of a program, if there is any."""
    tail = _tail(path)
    return Phrase(FaultCode.WITH_OUTPUT, (reason, tail)) if tail else reason


def read_samples(lines: Iterable[str]) -> Samples:
    """Read the samples of ``perf script``; an empty or truncated stack counts as unknown."""
    samples = Samples()
    head: str | None = None
    frames: list[Frame] = []
    for line in lines:
        if line.startswith("#"):
            continue
        if lost := _LOST.search(line):
            samples.lost += int(lost["count"])
        elif not line.strip():
            _close(samples, head, frames)
            head, frames = None, []
        elif head is None:
            head = line
        else:
            match = _FRAME.fullmatch(line)
            frames.append(_frame(match["rest"] if match else line.strip()))
    _close(samples, head, frames)
    return samples


def _close(samples: Samples, head: str | None, frames: list[Frame]) -> None:
    if head is None:
        return
    event = _SAMPLED.search(head.rstrip())
    if event is None:  # a line of a record that is not a sample
        return
    samples.events[event["event"]] += 1
    samples.stacks[tuple(_resolve_inlined(frames)) or (Frame(UNKNOWN),)] += 1


def _resolve_inlined(frames: list[Frame]) -> list[Frame]:
    """Return the frames outermost first; an inlined one gets the module of the one that contains it."""
    module, kernel = "", False
    resolved: list[Frame] = []
    for frame in reversed(frames):
        if frame.module == _INLINED:
            resolved.append(Frame(frame.name, module, kernel))
        else:
            module, kernel = frame.module, frame.kernel
            resolved.append(frame)
    return resolved


@lru_cache(maxsize=MOST_FRAMES)  # equal texts share one object
def _frame(rest: str) -> Frame:
    symbol, file = _split_symbol(rest)
    kernel = file.startswith("[") and file not in _NOT_KERNEL and not file.startswith("[anon")
    module = file if file.startswith(("[", "//")) else PurePosixPath(file).name
    module = module.removesuffix(" (deleted)")
    name = plain_name(_OFFSET.sub("", symbol)) if symbol else UNKNOWN
    return Frame(name or UNKNOWN, "" if module == UNKNOWN else module, kernel)


def _split_symbol(rest: str) -> tuple[str, str]:
    """Split symbol and file, which may contain spaces. A file begins with ``/`` or ``[``."""
    if not rest.endswith(")"):
        return rest, ""
    known = [start for start in [rest.find(mark) for mark in (" (/", " ([", " (//")] if start >= 0]
    cut = min(known) if known else rest.rfind(" (")
    if cut < 0:
        return ("", rest[1:-1]) if rest.startswith("(") else (rest, "")
    return rest[:cut].strip(), rest[cut + 2 : -1]
