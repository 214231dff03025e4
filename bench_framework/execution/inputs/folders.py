"""Files, size and digest of a file, folder or chosen files, and whether they changed."""

import contextlib
import hashlib
import os
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError
from bench_framework.foreign import sha256_of
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.record.run import Build, Event, PreparedInput
from bench_framework.store.layout import read_note, write_note
from bench_framework.text.errors import new_event

LARGEST_DIGESTED_BYTES: Final = 64 << 20
"""A larger argument file counts as changed if its size, mtime or inode differs."""
OUTPUTS: Final = frozenset({"-o", "--output", "--out", ">", ">>", "2>"})
"""Words before a file that a command writes."""


def files(path: Path, chosen: Sequence[str] = ()) -> Iterator[Path]:
    """Yield the files in byte order, or the chosen ones. Raises `OSError`: unreadable."""
    if not path.is_dir():
        yield path
        return
    paths = [Path(name) for name in chosen]
    for folder, _, names in os.walk(path, onerror=_raise) if not chosen else ():
        paths += [Path(folder, name) for name in names]
    yield from sorted(paths, key=lambda file: os.fsencode(file.relative_to(path)))


def size(path: Path, chosen: Sequence[str] = ()) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    return sum(file.stat().st_size for file in files(path, chosen))


def digest(
    path: Path, chosen: Sequence[str] = (), check: Callable[[], object] = lambda: None
) -> str:
    """Return the SHA-256 of a file, or of the `sha256sum` listing of a folder sorted by name.

    `check` is called before each MiB, and may raise an error.
    """
    if not path.is_dir():
        return sha256_of(path, check=check)
    listing = hashlib.sha256()
    for file in files(path, chosen):
        name = os.fsencode(file.relative_to(path))
        listing.update(f"{sha256_of(file, check=check)}  ".encode() + name + b"\n")
    return listing.hexdigest()


def stamp(path: Path, chosen: Sequence[str] = (), *, ctime: bool = False) -> str:
    """Return a digest of size, mtime, inode and perhaps ctime of every file. Raises `OSError`: no such path."""
    hasher = hashlib.sha256()
    for file in files(path, chosen):
        status = file.stat()
        if not stat.S_ISREG(status.st_mode) and path.is_dir():
            continue
        name = os.fsencode(file.relative_to(path)) if file != path else b""
        values = [status.st_size, status.st_mtime_ns, status.st_ino, *[status.st_ctime_ns] * ctime]
        hasher.update(name + f"\0{' '.join(map(str, values))}\n".encode())
    return hasher.hexdigest()


def stored_digest(
    note: Path, path: Path, chosen: Sequence[str] = (), *, ctime: bool = False
) -> str | None:
    """Return the digest in a note; `None` if a file of the input changed since.

    Files of a user are compared with their `ctime`, too: another file may have the same size and mtime.
    """
    stored = read_note(note, "sha256")
    try:
        unchanged = stored.items() >= _state(path, chosen, ctime=ctime).items()
    except OSError:
        return None
    return str(stored["sha256"]) if unchanged else None


def store_digest(
    note: Path, digest: str, path: Path, chosen: Sequence[str] = (), *, ctime: bool = False
) -> None:
    """Write the digest with the state of the input. Raises `MachineError`: it is impossible."""
    write_note(note, {"sha256": digest, **_state(path, chosen, ctime=ctime)})


def _state(path: Path, chosen: Sequence[str], *, ctime: bool) -> dict[str, int | str]:
    if ctime:
        return {"state": stamp(path, chosen, ctime=True)}
    if path.is_dir():
        return {"size_bytes": size(path, chosen), "files": stamp(path, chosen)}
    status = path.stat()
    return {"size_bytes": status.st_size, "mtime_ns": status.st_mtime_ns}


def _raise(error: OSError) -> None:
    raise error


class Guard:
    """Comparison of every input and program with its size, mtime and inode at the start."""

    def __init__(self, inputs: Mapping[str, PreparedInput], builds: Iterable[Build] = ()) -> None:
        self._inputs = inputs
        self._stamps = {key: _stamp(item.path, item.files) for key, item in inputs.items()}
        self._digests = _programs(builds)
        self._programs = {path: _stamp(path) for path in sorted(self._digests)}

    def changed(self, input_id: str) -> Event | None:
        """Return the event BX420 if an input changed; one ``stat`` per file."""
        item = self._inputs.get(input_id)
        if item is None or item.path is None:
            return None
        if _stamp(item.path, item.files) == self._stamps[input_id]:
            return None
        folder = item.file_count is not None
        what = Phrase(PhraseCode.FILES_OR_SIZE if folder else PhraseCode.SIZE_OR_MTIME)
        return new_event("BX420.input", "error", path=item.path, what=what)

    def replaced(self) -> Event | None:
        """Return the event BX420 if a program or library changed, for example because it was built again."""
        for path, stamp in self._programs.items():
            if _stamp(path) != stamp:
                return new_event("BX420.program", "error", path=path)
        return None

    def other_programs(self) -> Iterator[Event]:
        """Yield the event BX420 for each program or library whose digest is not that of its build."""
        for path, expected in self._digests.items():
            if not _is_same(path, expected):
                yield new_event("BX420.program", "error", path=path)

    def other_inputs(self, check: Callable[[], object]) -> Iterator[tuple[str, Event]]:
        """Digest every input again, and yield the event BX420 of each that changed, perhaps without its size and mtime.

        `check` is that of `digest`.
        """
        known = dict[tuple[str, tuple[str, ...]], str | None]()
        for input_id, item in self._inputs.items():
            if item.path is None or item.sha256 is None:
                continue
            key = (item.path, item.files)  # several inputs may have the same files
            if key not in known:
                known[key] = _digest(*key, check)
            if known[key] != item.sha256:
                yield input_id, new_event("BX420.input", "error", path=item.path, what="digest")


class ArgumentFiles:
    """The files that commands have as arguments, and their content before the first run.

    A program that edits its file has no work left in later runs. A cell with `prepare` or `cleanup` is left out,
    because they may restore the file, and so are its outputs. Inputs are checked by `Guard`.
    """

    def __init__(self, plan: Plan) -> None:
        self._given = bool(plan.scenario_path)
        cells = [cell for cell in plan.cells if not (cell.prepare or cell.cleanup)]
        paths = dict.fromkeys(path for cell in cells for path in _arguments(cell))
        self._contents = {path: content for path in paths if (content := _content(path))}

    def changes(self) -> Iterator[Event]:
        """Yield the warning BX354 for each file with another content than before."""
        key = "BX354.in-scenario" if self._given else "BX354.in-command-line"
        for path, (before, digest) in self._contents.items():
            now = _content(path) if _stamp(str(path)) != before else None
            if now is not None and (digest is None or digest != now[1]):
                yield new_event(key, path=path)


def _arguments(cell: Cell) -> Iterator[Path]:
    """Yield the regular files that the fixed words of a command name, without its program and its outputs."""
    words = [
        "".join(part if isinstance(part, str) else "\0" for part in word)  # not a path
        for word in cell.command
    ]
    if cell.shell:
        try:
            words = shlex.split(" ".join(words), comments=True)
        except ValueError:  # an open quote
            return
    for before, argument in pairwise(words):
        option, _, value = argument.partition("=")
        if option not in OUTPUTS and before not in OUTPUTS:
            for name in filter(None, (argument, value)):
                with contextlib.suppress(OSError, ValueError):
                    if (path := Path(cell.cwd or "", name)).is_file():
                        yield path


def _content(path: Path) -> tuple[str, str | None] | None:
    """Return stamp and digest of a file, without a digest if it is large; `None` if it cannot be read."""
    try:
        small = path.stat().st_size <= LARGEST_DIGESTED_BYTES
        return stamp(path), sha256_of(path) if small else None
    except OSError:
        return None


def require_unchanged(builds: Iterable[Build]) -> None:
    """Check that all programs and libraries still have the digests that a record will contain.

    Raises `MachineError` (BX420): one changed, for example while benchctl waited for the machine.
    """
    for path, expected in _programs(builds).items():
        if not _is_same(path, expected):
            raise MachineError("BX420.changed-before", path=path)


def _is_same(path: str, expected: str | None) -> bool:
    return expected is None or (Path(path).is_file() and sha256_of(Path(path)) == expected)


def _programs(builds: Iterable[Build]) -> dict[str, str | None]:
    digests: dict[str, str | None] = {}
    for build in builds:
        files = [(build.path, build.sha256), (build.control_path, build.sha256)]
        if build.preload is not None:
            files.append((build.preload.path, build.preload.sha256))
        digests |= {path: digest for path, digest in files if path is not None}
    return digests


def _stamp(path: str | None, chosen: Sequence[str] = ()) -> str | None:
    if path is None:
        return None
    try:
        return stamp(Path(path), chosen)
    except OSError:
        return None


def _digest(path: str, chosen: Sequence[str], check: Callable[[], object]) -> str | None:
    try:
        return digest(Path(path), chosen, check)
    except OSError:
        return None
