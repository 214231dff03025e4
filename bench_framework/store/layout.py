"""The files of a record, the names of records, and atomic writes."""

import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import MachineError, UsageError
from bench_framework.foreign import ABSENT, fault_of, parse_json, read_regular
from bench_framework.model.plan.plan import Cell, Role

PLAN: Final = "plan.json"
SCENARIO: Final = "scenario.yaml"
TUNING: Final = "tuning.json"
JOURNAL: Final = "journal.jsonl"
ENV: Final = "env.json"
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "digest.sig"
CLAIMS: Final = "claims.json"
COLUMNS: Final = "columns.json"
RUNS: Final = "runs.csv"
GATE: Final = "gate.json"
CELLS: Final = "cells.csv"
COMPARISONS: Final = "comparisons.csv"

NUMBERS: Final = range(1, 10_000)
"""Numbers of the records of one minute."""
_RECORD_ID: Final = re.compile(r"\d{8}T\d{4}Z(-\d+)?")


class Raw:
    """The folder ``raw/`` of a record, with the unmodified output of the tools."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.answers = root / "answers.jsonl"
        """File with one line per run of a worker with the contract."""
        self.hyperfine = root / "hyperfine.jsonl"
        """File with one line per block: hyperfine's JSON with the block's `seq`."""
        self.export = root / "export.json"
        """File with hyperfine's JSON of the current block."""
        self.stdout = root / "stdout"
        """File with the stdout of the current block."""
        self.edited = root / "edited"
        """File with the text of the current block's answer that is compared, if it is edited."""

    def log(self, name: str) -> Path:
        """Return the path of a log file, such as the stderr of a failed run."""
        return self.root / "logs" / name

    @property
    def scratch(self) -> tuple[Path, ...]:
        """Return the files that are needed only while a record is measured."""
        return self.export, self.stdout, self.edited

    def reference(self, cell: Cell) -> Path:
        """Return the path of the text that a cell's answers are compared with."""
        return self.root / "reference" / (cell.id if cell.role is Role.BOUND else cell.input_id)

    def diff(self, cell_id: str) -> Path:
        """Return the path of the first difference of a cell's output from the baseline's."""
        return self.root / "diff" / f"{cell_id}.txt"


def record_id(started_at: str) -> str:
    """Return ``20260302T1704Z`` for ``2026-03-02T17:04:09.123Z``."""
    return f"{started_at[:4]}{started_at[5:7]}{started_at[8:10]}T{started_at[11:13]}{started_at[14:16]}Z"


def is_record_id(name: str) -> bool:
    """Return whether a folder's name is the id of a record."""
    return _RECORD_ID.fullmatch(name) is not None


def require_unicode(path: Path) -> None:
    """Refuse a folder whose name is not UTF-8, which JSON, CSV and hyperfine need (BX100)."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise UsageError("BX100.name-not-utf-8", path=os.fsencode(path)) from error


@contextlib.contextmanager
def new_folder(
    scenario_folder: Path,
    started_at: str,
    numbers: range = NUMBERS,
    key: str = "BX235.not-measured",
) -> Iterator[tuple[Path, Path]]:
    """Yield the folder of a new record, and its draft, which gets this name at the end.

    So a killed process leaves no record without its first files, and the draft is removed after an error.
    ``-2``, ``-3`` … make the name of the minute unique. The first one of `numbers` is used that is
    larger than those of this minute, so that the order of the names is that of time.

    Raises `MachineError`: writing failed (BX235), with the effect of `key`.
    """
    with writing(scenario_folder, key):
        final = _reserve(scenario_folder, started_at, numbers)
    draft = draft_of(final)
    try:
        yield final, draft
        with writing(final):
            draft.replace(final)
    except BaseException as error:
        if isinstance(error, MachineError):
            error.amend(key)
        shutil.rmtree(draft, ignore_errors=True)
        with contextlib.suppress(OSError):  # removes an empty folder only, so other records remain
            scenario_folder.rmdir()
        raise


def _reserve(scenario_folder: Path, started_at: str, numbers: range) -> Path:
    scenario_folder.mkdir(parents=True, exist_ok=True)
    name = record_id(started_at)
    taken = (order_key(path.name) for path in scenario_folder.iterdir())
    newest = max((number for stem, number in taken if stem == name), default=0)
    for number in (n for n in numbers if n > newest):
        folder = scenario_folder / (name if number == 1 else f"{name}-{number}")
        with contextlib.suppress(FileExistsError):
            draft_of(folder).mkdir()
            if not folder.exists():
                return folder
            draft_of(folder).rmdir()
    raise FileExistsError(scenario_folder / name)


def draft_of(folder: Path) -> Path:
    """Return the hidden folder in which a folder is written or removed."""
    return folder.with_name(f".{folder.name}.part")


def is_draft(folder: Path) -> bool:
    """Return whether a folder has a name of `draft_of`."""
    return folder.name.startswith(".") and folder.name.endswith(".part")


def is_draft_of_record(folder: Path) -> bool:
    """Return whether a folder has a name of `draft_of` for the folder of a record."""
    return is_draft(folder) and is_record_id(folder.name[1:].removesuffix(".part"))


def part_of(path: Path) -> Path:
    """Return the name under which this process writes a file or folder of the cache.

    Several processes may write the same one at the same time.
    """
    return path.with_name(f".{path.name}.{os.getpid()}.part")


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path for a new file or folder, and rename it at the end of the block.

    An existing folder is kept: another process was faster. Nothing is left after an error.

    Raises `MachineError` (BX235): writing failed.
    """
    part = part_of(path)
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(part, ignore_errors=True)  # left by a process with the same process id
            yield part
            try:
                part.replace(path)
            except OSError:
                if not (path.is_dir() and part.is_dir()):
                    raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
        with contextlib.suppress(OSError):
            part.unlink()


def order_key(name: str) -> tuple[str, int]:
    """Return a key that sorts record ids by time, and ``-10`` after ``-2``."""
    stem, _, number = name.partition("-")
    return stem, int(number) if number.isdigit() else 1


def write_whole(path: Path, text: bytes | Iterable[str]) -> None:
    """Write a file under a temporary name, flush it to the disk, and rename it.

    Raises `MachineError`: writing failed (BX235). An existing file is unchanged.
    """
    write_all(path.parent, {path.name: text})


def write_note(path: Path, note: Mapping[str, Any]) -> None:
    """Write a note about files in the cache. Raises as `write_whole`."""
    write_whole(path, json.dumps(note) + "\n")


def read_note(path: Path, *keys: str) -> dict[str, Any]:
    """Return a note; empty if it is missing, damaged or without one of these keys."""
    try:
        note = parse_json(read_regular(path))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) and {*keys} <= note.keys() else {}


def write_output(path: Path, text: str | bytes) -> None:
    """Write a file that the user named as `write_whole` does. The target of a link is written.

    Raises `UsageError`: it is a folder, or a device or FIFO, which a rename would replace;
    `MachineError` (BX235): writing failed.
    """
    write_whole(output_path(path), text)


def output_path(path: Path) -> Path:
    """Return where to write a file that the user named. Raises `UsageError` as `write_output`."""
    if (fault := fault_of(path)) not in {"", ABSENT}:
        raise UsageError("BX100.output-path", path=path, fault=fault)
    return path.resolve()


def write_all(folder: Path, texts: Mapping[str, bytes | Iterable[str]]) -> None:
    """Write several files as `write_whole` does. None is renamed before all are on the disk.

    The names are paths within the folder. A text may be in parts.

    Raises `MachineError`: writing failed (BX235). Existing files are unchanged.
    """
    with contextlib.ExitStack() as opened:
        # Files are renamed in the opposite order.
        for name, text in reversed([*texts.items()]):
            with opened.enter_context(whole(folder / name)).open("wb") as file:
                if isinstance(text, bytes):
                    file.write(text)
                else:
                    parts = (text,) if isinstance(text, str) else text
                    file.writelines(part.encode() for part in parts)
                file.flush()
                os.fsync(file.fileno())


def replace_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Replace a folder by these files, if any. Raises `MachineError` (BX235): writing failed."""
    with writing(folder):
        if folder.is_dir():
            shutil.rmtree(folder)
    for name, text in texts.items():
        write_whole(folder / name, text)


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[bool]:
    """Mark a folder as in use until the end; the value is false if another process uses it.

    The kernel removes the mark when the process ends. A file system without such locks never has one.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        free = True
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            free = False
        except OSError:
            pass
        yield free
    finally:
        os.close(fd)


def is_in_use(folder: Path) -> bool:
    """Return whether a process, also this one, has marked a folder as in use; false if it does not exist."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), in_use(folder) as free:
        return not free
    return False


@contextlib.contextmanager
def writing(path: Path | str, key: str = "BX235.not-written") -> Iterator[None]:
    """Convert `OSError` in the block to `MachineError` (BX235), which names `path` or its file."""
    try:
        yield
    except OSError as error:
        raise MachineError(
            key,
            file=error.filename or path,
            strerror=error.strerror or error,
            full=error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG},
        ) from error
