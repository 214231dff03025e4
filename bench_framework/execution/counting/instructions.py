"""Instructions of a cell, counted by valgrind or by perf in a few untimed runs.

valgrind counts them by function, with the calls between functions and the system calls. From these follow
the counts of the allocator's functions.

valgrind translates every instruction of user code, so the count depends on the program alone and
not on the load of the machine. It has no AVX-512, so a program that selects code by CPU features
may run other code than in the timed runs. A worker's receipt shows this; it is compared with the
receipts of the timed runs.
"""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError
from bench_framework.execution.counting.callgrind import FunctionCosts, read_functions
from bench_framework.execution.counting.single_run import SingleRun, SingleRunner
from bench_framework.execution.machine.host import utc_now, version_of
from bench_framework.execution.process import Launcher
from bench_framework.execution.target import Target
from bench_framework.foreign import text_of
from bench_framework.model.faults import FaultCode
from bench_framework.model.metrics import INSTRUCTIONS
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.declared_metrics import InstructionPolicy
from bench_framework.model.reasons import Difference, Reason, ReasonCode
from bench_framework.model.record.run import CountStatus, Observation
from bench_framework.text.reasons import phrase

_SUMMARY: Final = re.compile(rb"^summary:\s*(\d+)(?:\s+\d+)*\s*$", re.MULTILINE)
"""The totals of the events, of which instructions are the first."""
_BEGAN: Final = b"For interactive control"
"""Text that callgrind prints once per program, but not for a child that is forked without exec."""
_NO_TRANSLATION: Final = (b"unhandled instruction", b"Unrecognised instruction", b"Illegal opcode")
_TOO_NEW: Final = Phrase(FaultCode.INSTRUCTION_TOO_NEW)
_NO_COUNTER: Final = ("<not supported>", "<not counted>")


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of instructions that works on this machine.

    Given a scratch folder, `under` returns the command prefix, and `read` the count or the reason
    for none, with the costs of functions if the tool counts them.
    """

    tool: str
    under: Callable[[Path], Sequence[str]]
    read: Callable[[Path], tuple[int | Phrase, FunctionCosts | None]]


def counter(
    policy: InstructionPolicy,
    launcher: Launcher,
    env: Mapping[str, str],
    *,
    without_forks: bool = False,
) -> Counter:
    """Return the requested counter, tested. With `without_forks`, it ignores forked processes.

    Raises `MachineError` (BX250): it cannot count here.
    """
    tool = policy.tool
    program = shutil.which(tool, path=env.get("PATH"))
    if program is None:
        raise MachineError("BX250.not-installed", tool=tool)
    if tool == "perf":
        return _perf(program, launcher, env)
    version = version_of(launcher, program, env)
    if version is None:
        raise MachineError("BX250.no-version", program=program)

    words = [program, "--tool=callgrind", "--collect-systime=yes", "--trace-children=yes"]
    words += ["--cache-sim=yes"] if policy.cache_sim else []

    def under(folder: Path) -> Sequence[str]:
        files = (f"--callgrind-out-file={folder}/counts.%p", f"--log-file={folder}/valgrind.%p")
        return [*words, *files]

    def read(folder: Path) -> tuple[int | Phrase, FunctionCosts | None]:
        if without_forks:
            for path in folder.glob("counts.*"):
                log = folder / f"valgrind{path.suffix}"
                if not log.is_file() or _BEGAN not in log.read_bytes():
                    path.unlink()
        count = read_valgrind(folder)
        return count, None if isinstance(count, Phrase) else read_functions(folder.glob("counts.*"))

    return Counter(version, under, read)


def _perf(program: str, launcher: Launcher, env: Mapping[str, str]) -> Counter:
    version = version_of(launcher, program, env) or "perf"
    stat = [program, "stat", "-x", ",", "-e", "instructions:u"]
    output = launcher.capture([*stat, "--", "true"], env)
    counted = parse_perf(output.stderr)
    if not output.ok or isinstance(counted, Phrase):
        reason = counted if isinstance(counted, Phrase) else output.finished.how
        raise MachineError("BX250.perf", reason=reason)

    def under(folder: Path) -> Sequence[str]:
        return [*stat, "-o", f"{folder}/perf", "--"]

    def read(folder: Path) -> tuple[int | Phrase, None]:
        return parse_perf(text_of(folder / "perf")), None

    return Counter(version.replace("perf version", "perf"), under, read)


def count(
    runner: SingleRunner,
    target: Target,
    expected: str | None,
    used: Counter,
    policy: InstructionPolicy,
    run: int,
    ran: Mapping[str, str],
) -> tuple[Observation, FunctionCosts | None]:
    """Count the instructions of one run of a cell, and the costs of its functions if the tool does.

    `ran` has the actual modes of the timed runs; they must be the same under valgrind. `run` counts
    from 1.

    Raises `Interrupted`: the user killed the run.
    """
    started = utc_now()
    limit_s, read = policy.timeout_s, lambda folder, _: used.read(folder)
    outcome = runner.run(target, expected, limit_s, under=used.under, read=read)
    count, costs = outcome.output or (None, None)
    reason = _rejection(outcome, count, ran, policy)
    observation = Observation(target.cell.id, "instructions", run, started, used.tool)
    if reason is None and count is not None:
        counters = costs.counters() if costs is not None else {}
        return replace(observation, values={INSTRUCTIONS: float(count), **counters}), costs
    status: CountStatus = "timeout" if outcome.status == "timeout" else "failed"
    return replace(observation, status=status, message=phrase(reason)), None


def _rejection(
    outcome: SingleRun,
    count: int | Phrase | None,
    ran: Mapping[str, str],
    policy: InstructionPolicy,
) -> Phrase | None:
    """Return the reason why a count cannot be used; `None` if it can."""
    if count == _TOO_NEW:
        return _TOO_NEW
    if outcome.status == "timeout":
        return Phrase(FaultCode.COUNTING_TOO_LONG, (policy.timeout_s, policy.tool))
    if outcome.status != "ok":
        return Phrase(FaultCode.UNDER_TOOL, (policy.tool, str(outcome.message)))
    if isinstance(count, Phrase):
        return count
    effective = outcome.receipt.effective if outcome.receipt else {}
    changed = [axis for axis, value in effective.items() if ran.get(axis, value) != value]
    if not changed:
        return None
    modes = tuple(Difference(axis, ran[axis], effective[axis]) for axis in changed)
    return Phrase(FaultCode.OTHER_MODE, (policy.tool, Reason(ReasonCode.MODE_DIFFERS, modes)))


def read_valgrind(folder: Path) -> int | Phrase:
    """Add up the instructions in callgrind's files, or return the reason for none."""
    logs = {path.suffix: path.read_bytes() for path in folder.glob("valgrind.*")}
    if any(word in text for text in logs.values() for word in _NO_TRANSLATION):
        return _TOO_NEW
    files = {path.suffix: path.read_bytes() for path in folder.glob("counts.*")}
    counts = {process: _SUMMARY.findall(text) for process, text in files.items()}
    if not counts or not all(counts.values()):
        silent, line = Phrase(FaultCode.VALGRIND_SILENT), _last_line(logs)
        return Phrase(PhraseCode.BECAUSE, (silent, line)) if line else silent
    if len(counts) > 1 and not all(_BEGAN in logs.get(process, b"") for process in counts):
        return Phrase(FaultCode.FORKS_WITHOUT_EXEC)
    return sum(int(number) for numbers in counts.values() for number in numbers)


def _last_line(logs: Mapping[str, bytes]) -> str:
    lines = b"\n".join(logs.values()).decode(errors="replace").splitlines()
    texts = [text for line in lines if (text := line.partition("== ")[2].strip())]
    return texts[-1] if texts else ""


def parse_perf(text: str) -> int | Phrase:
    """Return the count of ``perf stat -x ,`` for ``instructions:u``, or the reason for none."""
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2].startswith("instructions"):  # noqa: PLR2004 -- value, unit, event
            if fields[0] in _NO_COUNTER:
                return Phrase(FaultCode.NO_HARDWARE_COUNTER)
            if fields[0].isdigit():
                return int(fields[0])
            return Phrase(FaultCode.PERF_NO_NUMBER, repr(fields[0]))
    return Phrase(FaultCode.PERF_SILENT)
