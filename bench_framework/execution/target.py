"""Executable targets: a cell with its slots filled, its environment, and its CPUs."""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from bench_framework.errors import CellError, MeasureError
from bench_framework.execution.machine.cpus import available_cpus, parse_cpus, require_usable
from bench_framework.execution.machine.programs import preloaded
from bench_framework.execution.process import Command, Launcher
from bench_framework.execution.worker import ANSWERS
from bench_framework.foreign import first_lines, in_one_line
from bench_framework.model.plan import INPUT, Cell, Role, Slot, Word
from bench_framework.model.run import Build, Preload, PreparedInput

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
        env = preloaded(preload.path, env)
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


def require_cpus(cells: Sequence[Cell], usable: Collection[int] | None = None) -> None:
    """Check that the CPUs of every `cpus` are available. Raises `MachineError` (BX238)."""
    for text in dict.fromkeys(cell.cpus for cell in cells if cell.cpus):
        labels = dict.fromkeys(cell.label for cell in cells if cell.cpus == text)
        some = available_cpus() if usable is None else usable
        require_usable(text, some, (("cells", ", ".join(labels)),))
