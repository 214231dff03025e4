"""One benchctl measures at a time on a machine; a second one waits and says for whom."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from bench_framework.errors import MachineError
from bench_framework.execution.host import seconds, utc_now
from bench_framework.execution.progress import LockWaiting

if TYPE_CHECKING:
    from bench_framework.execution.progress import Observer
    from bench_framework.execution.stop import Stop

FOLDERS: Final = (Path("/run/lock"), Path("/tmp"))  # noqa: S108 -- the lock is for all users of the machine
NAME: Final = "benchctl.lock"
FOR_ALL: Final = 0o666
AGAIN_S: Final = 0.2
_HELD_LENGTH: Final = 400


class MachineLock:
    """Held while measuring; a context manager. The kernel frees it when its holder dies, however it dies.

    Every user of the machine must be able to take it, so the file is writable for all and is never removed
    (removing it would let a third benchctl lock a new file beside the old one).
    """

    def __init__(
        self, what: str, observer: Observer, stop: Stop | None = None, path: Path | None = None
    ) -> None:
        """Prepare to take the lock.

        Args:
            what: what is going to be measured; the others read it.
            observer: hears every 0.2 s for whom we wait.
            stop: ends the waiting.
            path: of the lock file; by default one that all users of the machine share.
        """
        self._what = what
        self._observer = observer
        self._stop = stop
        self._path = path or lock_path()
        self._fd = -1

    def __enter__(self) -> Self:
        self._fd = _open(self._path)
        start = seconds()
        try:
            while not self._try():
                if self._stop is not None:
                    self._stop.check()
                self._observer.notify(LockWaiting(self._holder(), seconds() - start))
                time.sleep(AGAIN_S)
        except BaseException:
            os.close(self._fd)
            raise
        self._tell(f"{self._what} (process {os.getpid()}, since {utc_now()})")
        return self

    def __exit__(self, *_: object) -> None:
        self._tell("")
        os.close(self._fd)
        self._fd = -1

    def _tell(self, text: str) -> None:
        # Only for the words of those who wait: a full disk or another user's file is no obstacle.
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, text.encode()[:_HELD_LENGTH], 0)

    def _try(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _holder(self) -> str:
        return os.pread(self._fd, _HELD_LENGTH, 0).decode(errors="replace") or "another benchctl"


def lock_path() -> Path:
    """The lock file that all users of this machine share."""
    folder = next(
        (folder for folder in FOLDERS if folder.is_dir() and os.access(folder, os.W_OK)),
        FOLDERS[-1],
    )
    return folder / NAME


def _open(path: Path) -> int:
    # Anybody may write to these folders: no link of another user may lead us to truncate a file of ours, and
    # no pipe may make us wait.
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        fd = _open_or_create(path, flags)
    except OSError as error:
        raise _unfit(path, str(error.strerror)) from error
    state = os.fstat(fd)
    if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
        os.close(fd)
        raise _unfit(path, "it is not a plain file")
    return fd


def _open_or_create(path: Path, flags: int) -> int:
    try:
        # Without O_CREAT first: in a sticky folder the kernel may refuse it for another user's file
        # (fs.protected_regular).
        return os.open(path, flags | os.O_RDWR)
    except FileNotFoundError:
        fd = os.open(path, flags | os.O_RDWR | os.O_CREAT, FOR_ALL)
        with contextlib.suppress(OSError):
            os.fchmod(fd, FOR_ALL)  # the umask took the others' right to write
        return fd
    except PermissionError:
        return os.open(path, flags | os.O_RDONLY)  # flock(2) asks for no right to write


def _unfit(path: Path, cause: str) -> MachineError:
    return MachineError(
        f"the machine's lock {path} cannot be opened",
        code="BC409",
        details=(("cause", cause),),
        effect="nothing was measured: two measurements at once would disturb each other",
        help=f"remove {path}, or make it a file that is readable and writable for all",
    )
