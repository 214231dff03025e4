"""Inputs of the user: a file, a folder, or several files. Their digests are kept in the cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError
from bench_framework.execution.inputs import folders
from bench_framework.execution.machine.mounts import filesystem_of
from bench_framework.foreign import fault_of, matching_files
from bench_framework.model.plan import Dataset
from bench_framework.model.run import PreparedInput
from bench_framework.units import counted, format_size

MOST_WORDS: Final = 96 << 10
"""Bytes of the names of several files: hyperfine takes a command as one argument of 128 KiB at most."""
_RELATIVE: Final = "the path is relative to the scenario's folder"


def prepare(input_id: str, dataset: Dataset, digests: Path) -> PreparedInput:
    """Return the user's files with their digest; `digests` is the folder of stored digests.

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
            fix = f"correct `input: {{{dataset.kind}: …}}`; {_RELATIVE}"
            raise _unfit(f"the input {dataset.kind} {path} {fault or 'is a file'}", fix)
    key = "\0".join((str(path), *files)).encode(errors="surrogateescape")
    note = digests / f"{hashlib.sha256(key).hexdigest()[:16]}.json"
    try:
        size = folders.size(path, files)
        count = sum(1 for _ in folders.files(path, files)) if path.is_dir() else None
        if count == 0:
            raise _unfit(f"the input folder {path} contains no files", "choose another folder")
        digest = folders.stored_digest(note, path, files)
        if digest is None:
            digest = folders.digest(path, files)
            # Without the note, the files are digested again next time.
            with contextlib.suppress(MachineError):
                folders.store_digest(note, digest, path, files)
    except OSError as error:
        message = f"the input file {error.filename or path} cannot be read: {error.strerror}"
        raise _unfit(message, "make it readable, or choose another input") from error
    return PreparedInput(
        input_id,
        str(path),
        size,
        digest,
        dataset.family,
        None,
        filesystem=filesystem_of(path),
        files=files,
        file_count=count,
    )


def _matching(folder: Path, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files of each pattern in turn, each file once."""
    files: dict[str, None] = {}
    for pattern in patterns:
        matches = matching_files(folder, pattern)
        if not matches:
            fix = f"correct `input: {{files: …}}`; {_RELATIVE}"
            raise _unfit(f"no file matches {pattern} in {folder}", fix)
        files |= dict.fromkeys(map(os.path.normpath, matches))
    words = len(os.fsencode(shlex.join(files)))
    if words > MOST_WORDS:
        raise MachineError(
            f"the names of the {counted(len(files), 'file')} of the input are too long for a "
            f"command: {format_size(words)}, at most {format_size(MOST_WORDS)}",
            code="BC413",
            effect="nothing was measured",
            fix="use `input: {folder: …}`, or a shorter pattern",
        )
    return tuple(files)


def _unfit(message: str, fix: str) -> MachineError:
    return MachineError(message, code="BC406", effect="nothing was measured", fix=fix)
