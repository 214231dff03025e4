"""Bundles: the files that a scenario needs on another host, by digest. What is unpacked is not trusted."""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError, UsageError
from bench_framework.execution.build.binaries import EXECUTABLE
from bench_framework.foreign import read_regular, sha256_of
from bench_framework.store.layout import writing
from bench_framework.units import format_size

MOST_BYTES: Final = 256 << 20
MOST_FILES: Final = 50_000
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a bundle, with the digest of its content; or a symbolic link, with its target."""

    path: str
    """Path from the root of the bundle, with slashes."""
    sha256: str = ""
    executable: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Files by path and their contents by SHA-256; `folders` exist even if they contain no file."""

    entries: tuple[Entry, ...] = ()
    contents: Mapping[str, bytes] | None = None
    folders: tuple[str, ...] = ()


def pack(files: Mapping[str, Path], folders: Iterable[str] = ()) -> Bundle:
    """Return the bundle of files. The keys are their paths in it.

    Raises `UsageError` (BX134): a file cannot be read, the files are too large, or a link leaves them.
    """
    entries, contents = [], {}
    try:
        _require_small({path: source.lstat().st_size for path, source in files.items()})
        for path, source in sorted(files.items()):
            if source.is_symlink():
                link = str(source.readlink())
                if not _stays(path, link):
                    message = f"{source} is a symbolic link to {link}, which is not sent with it"
                    raise unsent(message, "replace the link by the file")
                entries.append(Entry(path, link=link))
                continue
            content = read_regular(source, MOST_BYTES)
            digest = hashlib.sha256(content).hexdigest()
            contents[digest] = content
            executable = bool(source.stat().st_mode & stat.S_IXUSR)
            entries.append(Entry(path, digest, executable))
    except OSError as error:
        message = f"{error.filename} cannot be sent to a host: {error.strerror or error}"
        raise unsent(message, "make it readable, or let git ignore it") from error
    return Bundle(tuple(entries), contents, tuple(sorted({*folders})))


def _require_small(sizes: Mapping[str, int]) -> None:
    total = sum(sizes.values())
    if total <= MOST_BYTES and len(sizes) <= MOST_FILES:
        return
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:_MOST_NAMED]
    raise unsent(
        f"the scenario needs {len(sizes)} files with {format_size(total)}; at most {MOST_FILES} "
        f"files with {format_size(MOST_BYTES)} are sent to a host",
        "let git ignore files that are not needed; copy large inputs to the host, and give their "
        "absolute paths in the scenario",
        tuple(("file", f"{path} ({format_size(size)})") for path, size in largest),
    )


def unsent(message: str, fix: str, details: tuple[tuple[str, str], ...] = ()) -> UsageError:
    """Return the error BX134: a scenario or option cannot be sent to a host."""
    effect = "nothing was sent or measured"
    return UsageError(message, code="BX134", details=details, effect=effect, fix=fix)


def unpack(bundle: Bundle, root: Path) -> None:
    """Make the files below a folder equal to those of a bundle.

    Unchanged files keep their times, so cargo compiles what changed only. Nothing is written outside
    of the folder, and nothing through a symbolic link.

    Raises `MachineError`: BX264, the bundle is damaged; BX235, writing failed.
    """
    entries = _checked(bundle)
    contents = bundle.contents or {}
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
        for folder, names, others in os.walk(root, topdown=False):
            for path in (Path(folder, name) for name in (*names, *others)):
                entry = entries.get(path.relative_to(root).as_posix())
                if path.is_symlink() or not path.is_dir():
                    if entry is None or not _is_same(path, entry):
                        path.unlink()
                else:
                    with contextlib.suppress(OSError):  # it has files of the bundle
                        path.rmdir()
        for name in bundle.folders:
            (root / name).mkdir(parents=True, exist_ok=True)
        for name, entry in entries.items():
            path = root / name
            if path.is_symlink() or path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if entry.link:
                path.symlink_to(entry.link)
                continue
            with path.open("xb") as file:
                file.write(contents[entry.sha256])
            if entry.executable:
                path.chmod(EXECUTABLE)


def _is_same(path: Path, entry: Entry) -> bool:
    if path.is_symlink() or entry.link:
        return path.is_symlink() and str(path.readlink()) == entry.link
    if not path.is_file() or bool(path.stat().st_mode & stat.S_IXUSR) != entry.executable:
        return False
    return sha256_of(path) == entry.sha256


def _checked(bundle: Bundle) -> dict[str, Entry]:
    """Return the entries of a bundle by path. Raises `MachineError` (BX264): it is damaged."""
    contents = bundle.contents or {}
    entries = {entry.path: entry for entry in bundle.entries}
    names = (*entries, *bundle.folders)
    if len(entries) != len(bundle.entries) or len(names) > MOST_FILES:
        raise damaged("two of its files have one path, or there are too many")
    if sum(map(len, contents.values())) > MOST_BYTES:
        raise damaged(f"its files have more than {format_size(MOST_BYTES)}")
    for name in names:
        if not is_inside(name):
            raise damaged(f"{name!r} is not a path in it")
    for name in names:
        parents = name.split("/")[:-1]
        above = {"/".join(parents[:end]) for end in range(1, len(parents) + 1)}
        if not above.isdisjoint(entries) or (name in entries and name in bundle.folders):
            raise damaged(f"{name!r} is in a file")
    for digest, content in contents.items():
        if hashlib.sha256(content).hexdigest() != digest:
            raise damaged(f"the content {digest[:12]} has another digest")
    for entry in bundle.entries:
        if entry.link and not _stays(entry.path, entry.link):
            raise damaged(f"the symbolic link {entry.path!r} leaves it")
        if not entry.link and entry.sha256 not in contents:
            raise damaged(f"{entry.path!r} has no content")
    return entries


def is_inside(path: str) -> bool:
    """Return whether a path is relative, without ``.`` and ``..``, and so in the folder it starts at."""
    return {"", ".", ".."}.isdisjoint(path.split("/")) and "\0" not in path


def _stays(path: str, link: str) -> bool:
    """Return whether a link at `path` stays in the bundle, also if it leads through other links.

    ``..`` is accepted at the start only: after a name, which may be a link, it can lead anywhere.
    """
    parts = link.split("/")
    up = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    below = up == len(parts) or is_inside("/".join(parts[up:]))
    return below and up <= path.count("/") and link != ""


def damaged(cause: str, what: str = "what the client sent") -> MachineError:
    """Return the error BX264: something arrived damaged."""
    return MachineError(
        f"{what} arrived damaged: {cause}",
        code="BX264",
        effect="nothing was stored",
        fix="use the same version of benchctl on all hosts, and run the command again",
    )
