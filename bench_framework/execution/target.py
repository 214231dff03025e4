"""Executable targets: a cell with its slots filled, its environment, and its CPUs."""

import os
import shlex
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from bench_framework.errors import CellError, MachineError, MeasureError
from bench_framework.execution.process import Command, Launcher
from bench_framework.execution.worker import ANSWERS
from bench_framework.foreign import first_lines, in_one_line
from bench_framework.model.plan import INPUT, Cell, Role, Slot, Word
from bench_framework.model.run import Build, Preload, PreparedInput

MOST_CPUS: Final = 8192
"""Largest number of CPUs that Linux supports (CONFIG_NR_CPUS)."""
_NEEDS: Final = {"bin": "a worker", "input": "an input", "tuning": "`tuning`"}


@dataclass(frozen=True, slots=True)
class Target:
    """The command, environment and CPUs of a cell. Paths are absolute."""

    cell: Cell
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    stdin: str | None
    cpus: tuple[int, ...]
    input_path: str | None
    prepare: tuple[tuple[str, ...], ...]
    cleanup: tuple[tuple[str, ...], ...]
    binary: str | None = None
    """File of the program, `None` if benchctl does not know it."""
    input_files: tuple[str, ...] = ()
    """Paths of the input if it is several files."""
    preload: Preload | None = None

    def command(self, answers: Path, timeout_s: float, **more: Any) -> Command:
        """Return the command of one run, whose worker appends its answer to the file `answers`."""
        env = {**self.env, ANSWERS: str(answers)}
        command = Command(self.argv, env, self.cwd, self.stdin, timeout_s=timeout_s, cpus=self.cpus)
        return replace(command, **more)


def run_setup(
    launcher: Launcher, target: Target, what: Literal["prepare", "cleanup"], timeout_s: float
) -> str | None:
    """Run `prepare` or `cleanup`. Return why it failed. Raises `Interrupted`: it was killed."""
    for argv in target.prepare if what == "prepare" else target.cleanup:
        try:
            output = launcher.capture(argv, target.env, cwd=target.cwd, timeout_s=timeout_s)
        except MeasureError as error:
            return f"{what}: {error.message}"
        if not output.ok:
            printed = in_one_line(output.stderr) or " / ".join(first_lines(output.stdout))
            return f"{what} ({argv[0]}): {output.finished.how} {printed}".rstrip()
    return None


def target_of(
    cell: Cell,
    build: Build | None,
    prepared: PreparedInput | None,
    env: Mapping[str, str],
    tuning: str | None = None,
) -> Target:
    """Fill the slots of a cell.

    The control cell runs the `control_path` of its build. `tuning` is the file that ``{tuning}``
    stands for.

    Raises `CellError` (BX202): a slot has no value.
    """
    binary, preload = (build.path, build.preload) if build is not None else (None, None)
    if build is not None and cell.role is Role.CONTROL:
        binary = build.control_path or binary
    folder = build.bench.folder if build is not None and build.bench is not None else None
    path, files = (prepared.path, prepared.files) if prepared else (None, ())
    slots = {"bin": binary, "input": path, "tuning": tuning}

    def fill_part(part: str | Slot, *, quote: bool) -> str:
        if isinstance(part, str):
            return part
        if files and part == INPUT:  # in a shell command
            return shlex.join(files)
        value = slots[part.slot]
        if value is None:
            words = f"contains {{{part.slot}}}, but the scenario has none"
            raise CellError("BX202", label=cell.label, words=words, needs=_NEEDS[part.slot])
        return shlex.quote(value) if quote else value

    def fill(words: Iterable[Word], *, quote: bool = False) -> tuple[str, ...]:
        texts: list[str] = []
        for word in words:
            filled = "".join(fill_part(part, quote=quote) for part in word)
            texts += files if files and word == (INPUT,) else [filled]
        return tuple(texts)

    # The plan has quoted the values in the shell text; paths are quoted here.
    argv = fill(cell.command, quote=cell.shell)
    if cell.shell:
        # Not hyperfine's --shell: it takes 100 ms per call to calibrate the start of the shell.
        argv = ("/bin/sh", "-c", " ".join(argv))
    env = {**env, **dict(cell.env)}
    if preload is not None:  # before other libraries that the scenario preloads
        env["LD_PRELOAD"] = ":".join(filter(None, (preload.path, env.get("LD_PRELOAD"))))
    return Target(
        cell,
        argv,
        env,
        cell.cwd or (path if files else str(Path(path).parent) if path else folder),
        fill((cell.stdin,))[0] if cell.stdin else None,
        parse_cpus(cell.cpus or ""),
        path,
        tuple(fill(words) for words in cell.prepare),
        tuple(fill(words) for words in cell.cleanup),
        binary,
        files,
        preload,
    )


def parse_cpus(text: str) -> tuple[int, ...]:
    """Parse CPU numbers such as ``0-1,3``, or none. Raises `CellError` (BX203): invalid text."""
    cpus: set[int] = set()
    try:
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            first, _, last = part.partition("-")
            cpus.update(range(int(first), int(last or first) + 1))
    except ValueError as error:
        raise CellError("BX203", text=text) from error
    return tuple(sorted(cpus))


def format_cpus(numbers: Iterable[int]) -> str:
    """Return a list of CPUs such as ``0-2,5``."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ",".join("-".join(map(str, ends)) for ends in ranges)


def require_cpus(cells: Sequence[Cell], usable: Collection[int] | None = None) -> None:
    """Check that the CPUs of every `cpus` are available. Raises `MachineError` (BX238)."""
    for text in dict.fromkeys(cell.cpus for cell in cells if cell.cpus):
        labels = dict.fromkeys(cell.label for cell in cells if cell.cpus == text)
        some = available_cpus() if usable is None else usable
        require_usable(text, some, (("cells", ", ".join(labels)),))


def require_usable(
    text: str, usable: Collection[int], details: tuple[tuple[str, str], ...] = ()
) -> None:
    """Check that the CPUs of a list are available. Raises `MachineError` (BX238)."""
    missing = [cpu for cpu in parse_cpus(text) if cpu not in usable]
    if missing:
        cpus = f"`cpus: {text}` contains CPU {format_cpus(missing)}"
        details = (*details, ("available", format_cpus(usable)))
        raise MachineError("BX238", details=details, cpus=cpus)


def available_cpus() -> frozenset[int]:
    """Return the CPU numbers to which a child may be pinned: those of the cpuset.

    The kernel reduces a requested list to the cpuset (sched_setaffinity(2)). A separate thread
    requests every CPU and ends. Affinity belongs to a thread, so that of benchctl does not change.
    """
    usable: set[int] = set()

    def ask() -> None:
        os.sched_setaffinity(0, range(MOST_CPUS))
        usable.update(os.sched_getaffinity(0))

    thread = threading.Thread(target=ask, name="affinity")
    thread.start()
    thread.join()
    return frozenset(usable)
