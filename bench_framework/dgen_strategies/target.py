"""The file that is written: without its name until it is whole, as dgen's own writer does it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework import dgen
from bench_framework.dgen_strategies.fault import Fault, refused

if TYPE_CHECKING:
    from bench_framework.dgen_strategies.options import Options

PAGE: Final = 4096
_NO_UNNAMED: Final = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.ENOSYS, errno.EINVAL})
"""A kernel or file system that does not know `O_TMPFILE` sees an attempt to write a folder."""
_LONGEST_NAME: Final = 255
"""Bytes of the longest name that any of the common file systems takes."""
_ATTEMPTS: Final = 1000
"""Names to try: a writer that was killed leaves its partial file, and numbers of processes come again."""
_READABLE_BY_ALL: Final = 0o666
"""Less the umask, as any program creates files."""


@dataclass(slots=True)
class Target:
    """An open file without its name. `close` it, whatever happens."""

    fd: int
    path: Path
    partial: Path | None
    """The name that says that the file is partial, where there are no unnamed files."""
    alignment: int = 1
    """Bytes to whose multiples direct writes are aligned; 1 through the cache."""
    is_direct: bool = False
    """Of the descriptor: whether the page cache is really passed by."""
    is_dsync: bool = False
    """Of the descriptor."""
    notes: list[str] = field(default_factory=list)

    def close(self) -> None:
        """Give up what has no name yet: nothing is left of it."""
        if self.fd >= 0:
            fd, self.fd = self.fd, -1
            os.close(fd)
        if self.partial is not None:
            with contextlib.suppress(OSError):
                self.partial.unlink()
            self.partial = None

    def finish(self, *, durable: bool) -> int:
        """Give the file its name and close it; its size as its name tells it.

        Raises:
            Fault: the system refused; there is no file of that name then.
        """
        try:
            if self.partial is None:
                # A descriptor for a folder, even one that is not used, makes Python call linkat(2), which follows
                # the link in /proc; link(2) does not.
                os.link(f"/proc/self/fd/{self.fd}", self.path, src_dir_fd=self.fd)
            else:
                self.partial.rename(self.path)
                self.partial = None
        except OSError as error:
            raise refused("give the name to", error) from error
        doing = "close"
        try:
            fd, self.fd = self.fd, -1
            os.close(fd)
            if durable:
                doing = "sync the folder of"
                _sync_folder(self.path.parent)
            doing = "look at"
            return self.path.stat().st_size
        except OSError as error:
            # The data may not be there: a file that looks complete would be a lie.
            self.path.unlink(missing_ok=True)
            raise refused(doing, error) from error


def create(options: Options) -> Target:
    """Open a file that will stand under the path, and remove what stands there; dgen has followed the links.

    Raises:
        Fault: it cannot be had as it was asked for; what stands there stays.
    """
    target = _open(Path(options.path), options)
    try:
        target.path.unlink(missing_ok=True)
    except OSError as error:
        target.close()
        raise refused("replace", error) from error
    return target


def _open(path: Path, options: Options) -> Target:
    flags = os.O_DSYNC if options.durability == "dsync" else 0
    notes = []
    if options.direct != "off":
        try:
            return _open_direct(path, flags, options)
        except Fault as fault:
            if options.direct == "require":
                raise
            notes.append(f"written through the page cache: {fault}")
    try:
        target = _unnamed(path, flags)
    except OSError as error:
        raise refused("create", error) from error
    target.notes[:0] = notes
    return target


def _open_direct(path: Path, flags: int, options: Options) -> Target:
    try:
        target = _unnamed(path, flags | os.O_DIRECT)
    except OSError as error:
        raise refused("open with O_DIRECT", error) from error
    try:
        target.alignment = _alignment(target.fd, options.buffer)
    except Fault:
        target.close()
        raise
    target.is_direct = True
    return target


def _alignment(fd: int, buffer: int) -> int:
    """Bytes to whose multiples direct writes of such buffers are aligned; a fault where there are none."""
    try:
        memory, offset = dgen.direct_alignment(f"/proc/self/fd/{fd}")
    except OSError as error:
        raise Fault(str(error)) from error
    if not fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT:
        message = "O_DIRECT was accepted and is not set on the descriptor"
        raise Fault(message)
    if memory > PAGE:
        message = f"O_DIRECT wants buffers aligned to {memory} bytes here"
        raise Fault(message)
    if buffer % offset:
        message = (
            f"a buffer of {buffer} bytes is no multiple of {offset}, which O_DIRECT needs here"
        )
        raise Fault(message, is_usage=True)
    return offset


def _unnamed(path: Path, flags: int) -> Target:
    """A file without a name in the folder of `path`; else, with a note, one whose name says that it is partial."""
    flags |= os.O_RDWR | os.O_CLOEXEC
    notes = []
    try:
        fd, partial = os.open(path.parent, flags | os.O_TMPFILE, _READABLE_BY_ALL), None
    except OSError as error:
        if error.errno not in _NO_UNNAMED:
            raise
        fd, partial = _create_partial(path, flags)
        notes = [
            f"written under a partial name, no unnamed files here: {error.strerror} (os error {error.errno})"
        ]
    is_dsync = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DSYNC != 0
    return Target(fd, path, partial, is_dsync=is_dsync, notes=notes)


def _create_partial(path: Path, flags: int) -> tuple[int, Path]:
    """A file beside `path` whose name says that it is partial, and that nothing had before."""
    for attempt in range(_ATTEMPTS):
        suffix = f".{os.getpid()}{f'-{attempt}' if attempt else ''}.partial"
        name = os.fsencode(path.name)[: _LONGEST_NAME - len(suffix)]
        partial = path.with_name(os.fsdecode(name) + suffix)
        with contextlib.suppress(FileExistsError):
            return os.open(partial, flags | os.O_CREAT | os.O_EXCL, _READABLE_BY_ALL), partial
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
