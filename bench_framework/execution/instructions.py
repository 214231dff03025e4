"""Instructions of a cell: counted by valgrind, or by the processor through perf; outside timing, a few times.

valgrind runs every instruction of user code through its own translator: the count depends on the program alone, and
not on the machine's load. It offers programs no AVX-512, so one that asks the processor what it can do may take
another path than when it was timed; a worker's receipt shows that, and is held against the timed ones.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench_framework.errors import MachineError, MeasureError
from bench_framework.execution.host import utc_now
from bench_framework.model.observation import Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from bench_framework.execution.process import Finished, Launcher
    from bench_framework.execution.single_run import Alone, SingleRun
    from bench_framework.execution.target import Target
    from bench_framework.model.metrics import InstructionPolicy

_SUMMARY: Final = re.compile(rb"^summary:\s*(\d+)\s*$", re.MULTILINE)
_BEGAN: Final = b"For interactive control"
"""callgrind says it once per program that it starts, and not for a child that is forked and goes on by itself."""
_NO_TRANSLATION: Final = (b"unhandled instruction", b"Unrecognised instruction", b"Illegal opcode")
_TOO_NEW: Final = (
    "valgrind cannot run an instruction of this binary (AVX-512, or another that target-cpu=native chose): "
    "build it for an older processor, such as target-cpu=x86-64-v3, to count its instructions"
)
_NO_COUNTER: Final = ("<not supported>", "<not counted>")


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of instructions that works on this machine.

    Attributes:
        tool: name and version.
        under: words before the command, given a scratch folder.
        read: the count from that folder, or why there is none.
    """

    tool: str
    under: Callable[[Path], Sequence[str]]
    read: Callable[[Path], int | str]


def counter(policy: InstructionPolicy, launcher: Launcher, env: Mapping[str, str]) -> Counter:
    """The counter that a plan asks for, tried.

    Raises:
        MachineError: BX250, it is not installed, or it cannot count here.
    """
    found = shutil.which(policy.tool, path=env.get("PATH"))
    if found is None:
        raise _cannot(
            f"{policy.tool} is not installed", f"install the package of {policy.tool}, {_WITHOUT}"
        )
    if policy.tool == "perf":
        return _perf(found, launcher, env)
    try:
        said = launcher.capture([found, "--version"], env)
    except MeasureError as error:
        raise _cannot(
            f"{found} cannot be started", f"repair the installation of valgrind, {_WITHOUT}"
        ) from error
    if not said.ok:
        raise _cannot(
            f"{found} --version: {said.finished.how}",
            f"repair the installation of valgrind, {_WITHOUT}",
        )

    def under(folder: Path) -> Sequence[str]:
        return [
            found,
            "--tool=callgrind",
            "--trace-children=yes",
            f"--callgrind-out-file={folder}/counts.%p",
            f"--log-file={folder}/valgrind.%p",
        ]

    return Counter(said.stdout.strip(), under, read_valgrind)


_WITHOUT: Final = "or take `instructions` out of `judge`, `metrics` and `gate`"


def _perf(found: str, launcher: Launcher, env: Mapping[str, str]) -> Counter:
    version = (
        launcher.capture([found, "--version"], env)
        .stdout.strip()
        .replace("perf version", "perf")
        .strip()
    )
    said = launcher.capture([found, "stat", "-x", ",", "-e", "instructions:u", "--", "true"], env)
    counted = parse_perf(said.stderr)
    if not said.ok or isinstance(counted, str):
        why = counted if isinstance(counted, str) else said.finished.how
        advice = f"metrics: {{instructions: {{tool: valgrind}}}} counts without them, {_WITHOUT}"
        raise _cannot(f"perf cannot count instructions here: {why}", advice)

    def under(folder: Path) -> Sequence[str]:
        return [found, "stat", "-x", ",", "-e", "instructions:u", "-o", f"{folder}/perf", "--"]

    def read(folder: Path) -> int | str:
        path = folder / "perf"
        return (
            parse_perf(path.read_text(errors="replace"))
            if path.is_file()
            else "perf wrote no counts"
        )

    return Counter(version, under, read)


def _cannot(message: str, advice: str) -> MachineError:
    return MachineError(message, code="BX250", effect="nothing was measured", help=advice)


def count(
    alone: Alone,
    target: Target,
    expected: str | None,
    used: Counter,
    policy: InstructionPolicy,
    run: int,
    ran: Mapping[str, str],
) -> Observation:
    """Count the instructions of one run of a cell.

    Args:
        alone: runs it.
        target: the cell.
        expected: digest of its answer.
        used: from `counter`.
        policy: with the time limit.
        run: from 1.
        ran: what the timed runs report as their effective modes; under valgrind they must be the same.

    Raises:
        Interrupted: it was killed by the user.
    """
    started = utc_now()
    counted: list[int | str] = []

    def read(folder: Path, _: Finished) -> None:
        counted.append(used.read(folder))

    found = alone.run(target, expected, policy.timeout_s, under=used.under, read=read)
    outcome = counted[0] if counted else "nothing was counted"
    why = _why(found, outcome, ran, policy)
    if why is None and isinstance(outcome, int):
        return Observation(
            target.cell.id,
            "instructions",
            run,
            started,
            used.tool,
            "ok",
            {"instructions": float(outcome)},
        )
    over = found.status == "timeout"
    return Observation(
        target.cell.id,
        "instructions",
        run,
        started,
        used.tool,
        "timeout" if over else "failed",
        {},
        why,
    )


def _why(
    found: SingleRun, outcome: int | str, ran: Mapping[str, str], policy: InstructionPolicy
) -> str | None:
    """Why a count cannot be used; `None` if it can."""
    if outcome == _TOO_NEW:
        return _TOO_NEW
    if found.status == "timeout":
        advice = "metrics: {instructions: {timeout: …}} gives it more"
        return f"it took longer than {policy.timeout_s:g} s under {policy.tool}; {advice}"
    if found.status != "ok":
        return f"under {policy.tool}: {found.message}"
    if isinstance(outcome, str):
        return outcome
    effective = found.receipt.effective if found.receipt else {}
    other = [
        f"{axis}: {ran[axis]} → {value}"
        for axis, value in effective.items()
        if ran.get(axis, value) != value
    ]
    return (
        f"under {policy.tool} it takes another path than when it was timed ({'; '.join(other)})"
        if other
        else None
    )


def read_valgrind(folder: Path) -> int | str:
    """The instructions of all processes of a run, from callgrind's files; or why they cannot be told."""
    logs = {path.suffix: path.read_bytes() for path in folder.glob("valgrind.*")}
    if any(word in text for text in logs.values() for word in _NO_TRANSLATION):
        return _TOO_NEW
    files = {path.suffix: path.read_bytes() for path in folder.glob("counts.*")}
    found = {process: _SUMMARY.findall(text) for process, text in files.items()}
    if not found or not all(found.values()):
        return f"valgrind wrote no count{_words(logs)}"
    if len(found) > 1 and not all(_BEGAN in logs.get(process, b"") for process in found):
        return "it forks children that go on without exec: valgrind counts what their parent did before once more"
    return sum(int(number) for numbers in found.values() for number in numbers)


def _words(logs: Mapping[str, bytes]) -> str:
    lines = [
        line.partition(b"== ")[2].strip() for text in logs.values() for line in text.splitlines()
    ]
    told = [line.decode(errors="replace") for line in lines if line]
    return f": {told[-1]}" if told else ""


def parse_perf(text: str) -> int | str:
    """The count of ``perf stat -x ,`` for ``instructions:u``; or why there is none."""
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2].startswith("instructions"):  # noqa: PLR2004 -- value, unit, event
            if fields[0] in _NO_COUNTER:
                return "this machine lets nobody read the processor's counter of instructions"
            return int(fields[0]) if fields[0].isdigit() else f"perf said {fields[0]!r}"
    return "perf wrote no count of instructions"
