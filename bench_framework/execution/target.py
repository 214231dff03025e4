"""Executable targets: a cell with its slots filled, its environment, and its CPUs."""

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from bench_framework.errors import CellError, MeasureError
from bench_framework.execution.machine.cpus import available_cpus, parse_cpus, require_usable
from bench_framework.execution.machine.programs import preloaded
from bench_framework.execution.process import Command, Launcher
from bench_framework.execution.worker import ANSWERS
from bench_framework.foreign import first_lines, in_one_line
from bench_framework.model.plan.arguments import INPUT, PORT, Slot, Word
from bench_framework.model.plan.plan import Cell, Role
from bench_framework.model.record.run import Build, Preload, PreparedInput

SERVER_PORT: Final = "{port}"
"""The text of the slot of a port before the server has one."""


@dataclass(frozen=True, slots=True)
class ServerTarget:
    """The server of a cell with its slots filled: its command, and what shows that it is ready."""

    argv: tuple[str, ...]
    awaited: str
    stop: tuple[str, ...]
    cpus: tuple[int, ...]


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
    server: ServerTarget | None = None
    words: Callable[[str], Mapping[str, Any]] | None = field(default=None, compare=False)
    """Function that returns the fields that depend on the port of the server, `None` without one."""

    def at_port(self, port: int) -> "Target":
        """Return the target of a server that gets this port."""
        return self if self.words is None else replace(self, **self.words(str(port)))

    @property
    def all_cpus(self) -> tuple[int, ...]:
        """CPUs of the command and of its server; empty if one of them may use all."""
        if self.server is None or not (self.cpus and self.server.cpus):
            return self.cpus if self.server is None else ()
        return tuple(sorted({*self.cpus, *self.server.cpus}))

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

    def fill_part(part: str | Slot, port: str, *, quote: bool) -> str:
        if isinstance(part, str):
            return part
        if files and part == INPUT:  # in a shell command
            return shlex.join(files)
        value = port if part == PORT else slots[part.slot]
        if value is None:
            slot, worker, given = part.slot, part.slot == "bin", part.slot == "input"
            raise CellError("BX202", label=cell.label, slot=slot, worker=worker, input=given)
        return shlex.quote(value) if quote else value

    def fill(words: Iterable[Word], port: str, *, quote: bool = False) -> tuple[str, ...]:
        texts: list[str] = []
        for word in words:
            filled = "".join(fill_part(part, port, quote=quote) for part in word)
            texts += files if files and word == (INPUT,) else [filled]
        return tuple(texts)

    def words_at(port: str) -> dict[str, Any]:
        # The plan has quoted the values in the shell text; paths are quoted here.
        argv = fill(cell.command, port, quote=cell.shell)
        if cell.shell:
            # Not hyperfine's --shell: it takes 100 ms per call to calibrate the start of the shell.
            argv = ("/bin/sh", "-c", " ".join(argv))
        given = cell.server
        return {
            "argv": argv,
            "stdin": fill((cell.stdin,), port)[0] if cell.stdin else None,
            "prepare": tuple(fill(words, port) for words in cell.prepare),
            "cleanup": tuple(fill(words, port) for words in cell.cleanup),
            "server": given
            and ServerTarget(
                fill(given.command, port),
                fill((given.awaited,), port)[0],
                tuple(fill(given.stop, port)),
                parse_cpus(given.cpus or cell.cpus or ""),
            ),
        }

    env = {**env, **dict(cell.env)}
    if preload is not None:  # before other libraries that the scenario preloads
        env = preloaded(preload.path, env)
    return Target(
        cell=cell,
        env=env,
        cwd=cell.cwd or (path if files else str(Path(path).parent) if path else folder),
        cpus=parse_cpus(cell.cpus or ""),
        input_path=path,
        binary=binary,
        input_files=files,
        preload=preload,
        words=words_at if cell.server is not None else None,
        **words_at(SERVER_PORT),
    )


def require_cpus(cells: Sequence[Cell], usable: Collection[int] | None = None) -> None:
    """Check that the CPUs of every `cpus` are available. Raises `MachineError` (BX238)."""
    given = [(cell.cpus, cell.label) for cell in cells if cell.cpus]
    given += [(c.server.cpus, c.label) for c in cells if c.server is not None and c.server.cpus]
    for text in dict.fromkeys(cpus for cpus, _ in given):
        labels = dict.fromkeys(label for cpus, label in given if cpus == text)
        some = available_cpus() if usable is None else usable
        require_usable(text, some, (("cells", ", ".join(labels)),))
