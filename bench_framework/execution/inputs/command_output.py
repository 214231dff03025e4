"""Inputs that a command generates. They are kept until the command or one of its files changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from bench_framework.errors import Interrupted, MachineError
from bench_framework.execution.build.binaries import find_program
from bench_framework.execution.process import Command, Launcher, scratch_folder, with_secrets
from bench_framework.foreign import fault_of, sha256_of, text_of
from bench_framework.model.plan import OUTPUT, Dataset, filled, stable_id
from bench_framework.units import format_size

TIMEOUT_S: Final = 7200.0
_LINES: Final = 5
"""Last lines of stderr in a message."""


def path_of(dataset: Dataset, folder: Path, env: Mapping[str, str]) -> Path:
    """Return the path of the output of a command.

    The name depends on the words, on the program, on the files that the words name, and on the folder
    in which the command runs.

    Raises `MachineError` (BX234): the program does not exist or is not executable.
    """
    program, *words = map(filled, dataset.command)
    start = Path(dataset.path or "")
    digests = [find_program(program, "", env).sha256, *digests_of(words, start)]
    return folder / f"{dataset.family}-{stable_id(str(start), words, digests)}.out"


def digests_of(words: Iterable[str], start: Path) -> Iterator[str]:
    """Yield each word, or the digest of the file that it names relative to `start`."""
    for word in with_secrets(words):
        path = start / word
        is_file = len(os.fsencode(word)) < os.pathconf("/", "PC_PATH_MAX") and not fault_of(path)
        yield sha256_of(path) if is_file else word


def write(
    dataset: Dataset,
    target: Path,
    env: Mapping[str, str],
    launcher: Launcher,
    notify: Callable[[int], None],
) -> None:
    """Run the command; its output becomes the file `target`. `notify` gets the bytes so far.

    Raises:
        MachineError: BC411, the command failed, wrote nothing, or wrote more than permitted.
        Interrupted: the user killed it.
    """
    prints = not any(OUTPUT in word for word in dataset.command)
    argv = [filled(word, {"output": str(target.absolute())}) for word in dataset.command]
    most = dataset.max_bytes or 0
    written = 0

    def step() -> None:
        nonlocal written
        written = target.stat().st_size if target.is_file() else 0
        if written > most:
            message = f"wrote more than {format_size(most)}"
            raise _failed(dataset, message, fix="set `input.max-size` to a larger size")
        notify(written)

    with scratch_folder() as scratch:
        log = Path(scratch, "stderr")
        output = str(target) if prints else None
        command = Command(
            argv, env, dataset.path, stdout=output, stderr=str(log), timeout_s=TIMEOUT_S
        )
        finished = launcher.run(command, step)
        if finished.killed:
            raise Interrupted("interrupted", effect=f"{dataset.family} was killed")
        if not finished.ok:
            lines = text_of(log).strip().splitlines()
            raise _failed(dataset, f"failed: {finished.how}", "\n".join(lines[-_LINES:]))
    if target.is_symlink():  # its target can change without the words of the command
        fix = "write a copy, such as with cp, in place of the link"
        raise _failed(dataset, "wrote a symbolic link as {output}", fix=fix)
    step()
    if not written:
        where = "printed nothing" if prints else "did not write the file {output}"
        raise _failed(dataset, where)


def _failed(
    dataset: Dataset, what: str, stderr: str = "", fix: str = "correct `input.command`"
) -> MachineError:
    return MachineError(
        f"the command of the input {what}",
        code="BC411",
        details=(("command", dataset.command_line), *((("stderr", stderr),) if stderr else ())),
        effect="nothing was measured",
        fix=fix,
    )
