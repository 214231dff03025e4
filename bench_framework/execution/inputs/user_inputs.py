"""Inputs of the user: a file, a folder, several files, or the output of a command.

Digests of files are kept in the cache. The output of a command is kept until the command or one of
its files changes.
"""

import contextlib
import hashlib
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import Interrupted, MachineError
from bench_framework.execution.build.binaries import find_program, unfit
from bench_framework.execution.inputs import folders
from bench_framework.execution.machine.host import filesystem_of
from bench_framework.execution.process import Command, Launcher, scratch_folder, with_secrets
from bench_framework.foreign import fault_of, matching_files, sha256_of, text_of
from bench_framework.model.plan.arguments import OUTPUT, filled
from bench_framework.model.plan.build_spec import stable_id
from bench_framework.model.plan.plan import Dataset
from bench_framework.model.record.run import PreparedInput
from bench_framework.text.numbers import format_size
from bench_framework.units import counted

MOST_WORDS: Final = 96 << 10
"""Bytes of the names of several files: hyperfine takes a command as one argument of 128 KiB at most."""
TIMEOUT_S: Final = 7200.0
_LINES: Final = 5
"""Last lines of stderr in a message."""


def prepare(
    input_id: str, dataset: Dataset, digests: Path, check: Callable[[], object]
) -> PreparedInput:
    """Return the user's files with their digest; `digests` is the folder of stored digests.

    `check` is called while the files are digested, and raises `Interrupted` if a stop was requested.

    Raises `MachineError` (BC406): a file is missing or cannot be read, or no file matches; BC413,
    there are too many for a command.
    """
    path, files = Path(dataset.path or ""), tuple[str, ...]()
    if dataset.kind == "files":
        files = _matching(path, dataset.patterns)
        path = Path(os.path.commonpath([Path(name).parent for name in files]))
    else:
        fault, right = fault_of(path), "is a folder" if dataset.kind == "folder" else ""
        if fault != right:
            raise unfit("BC406.no-input", kind=dataset.kind, path=path, fault=fault or "is a file")
    key = "\0".join((str(path), *files)).encode(errors="surrogateescape")
    note = digests / f"{hashlib.sha256(key).hexdigest()[:16]}.json"
    try:
        size = folders.size(path, files)
        count = sum(1 for _ in folders.files(path, files)) if path.is_dir() else None
        if count == 0:
            raise unfit("BC406.empty-folder", path=path)
        digest = folders.stored_digest(note, path, files, ctime=True)
        if digest is None:
            digest = folders.digest(path, files, check)
            # Without the note, the files are digested again next time.
            with contextlib.suppress(MachineError):
                folders.store_digest(note, digest, path, files, ctime=True)
    except OSError as error:
        raise unfit(
            "BC406.not-readable", filename=error.filename or path, strerror=error.strerror
        ) from error
    prepared = PreparedInput(input_id, str(path), size, digest, dataset.family, None)
    return replace(prepared, filesystem=filesystem_of(path), files=files, file_count=count)


def _matching(folder: Path, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files of each pattern in turn, each file once."""
    files: dict[str, None] = {}
    for pattern in patterns:
        matches = matching_files(folder, pattern)
        if not matches:
            raise unfit("BC406.no-match", pattern=pattern, folder=folder)
        files |= dict.fromkeys(map(os.path.normpath, matches))
    words = len(os.fsencode(shlex.join(files)))
    if words > MOST_WORDS:
        size, most = format_size(words), format_size(MOST_WORDS)
        raise unfit("BC413", files=counted(len(files), "file"), size=size, most=most)
    return tuple(files)


def output_path(dataset: Dataset, folder: Path, env: Mapping[str, str]) -> Path:
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


def write_output(
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
            raise _command_failed("BC411.too-large", dataset, most=format_size(most))
        notify(written)

    with scratch_folder() as scratch:
        log = Path(scratch, "stderr")
        output = str(target) if prints else None
        command = Command(
            argv, env, dataset.path, stdout=output, stderr=str(log), timeout_s=TIMEOUT_S
        )
        finished = launcher.run(command, step)
        if finished.killed:
            raise Interrupted("BX130.write-output", family=dataset.family)
        if not finished.ok:
            lines = text_of(log).strip().splitlines()
            stderr = "\n".join(lines[-_LINES:])
            raise _command_failed("BC411.failed", dataset, stderr, how=finished.how)
    if target.is_symlink():  # its target can change without the words of the command
        raise _command_failed("BC411.symbolic-link", dataset)
    step()
    if not written:
        raise _command_failed("BC411.nothing-printed" if prints else "BC411.no-file", dataset)


def _command_failed(key: str, dataset: Dataset, stderr: str = "", /, **values: Any) -> MachineError:
    details = (("command", dataset.command_line), *((("stderr", stderr),) if stderr else ()))
    return MachineError(key, details=details, **values)
