"""Waiting before a measurement: for the lock of the machine, and until the machine is idle."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from bench_framework.errors import MachineError
from bench_framework.execution.machine.host import seconds, utc_now
from bench_framework.execution.progress import Observer, Waiting
from bench_framework.units import format_clock

if TYPE_CHECKING:
    from bench_framework.execution.stop import Stop

FOLDERS: Final = (Path("/run/lock"), Path("/tmp"))  # noqa: S108 -- shared by all users
NAME: Final = "benchctl.lock"
FOR_ALL: Final = 0o666
RETRY_S: Final = 0.2
_OWNER_LENGTH: Final = 400


class MachineLock:
    """The lock during a measurement; a context manager. The kernel frees it when its process dies.

    Every user of the machine must be able to take it, so the file is writable for all. It is never
    removed: otherwise a third benchctl could lock a new file while the old one is locked.
    """

    def __init__(
        self, what: str, observer: Observer, stop: Stop | None = None, path: Path | None = None
    ) -> None:
        """Prepare to take the lock.

        `what` describes the measurement to waiting processes. `observer` receives the current owner
        every 0.2 s.
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
                self._observer.notify(Waiting(self._owner(), seconds() - start))
                time.sleep(RETRY_S)
        except BaseException:
            os.close(self._fd)
            raise
        self._write_owner(f"{self._what} (process {os.getpid()}, since {utc_now()})")
        return self

    def __exit__(self, *_: object) -> None:
        self._write_owner("")
        os.close(self._fd)
        self._fd = -1

    def _write_owner(self, text: str) -> None:
        # The text is only for messages, so a full disk or missing rights do not matter.
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, text.encode()[:_OWNER_LENGTH], 0)

    def _try(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _owner(self) -> str:
        return os.pread(self._fd, _OWNER_LENGTH, 0).decode(errors="replace") or "another benchctl"


def lock_path() -> Path:
    """Return the lock file that all users of this machine share."""
    folder = next(
        (folder for folder in FOLDERS if folder.is_dir() and os.access(folder, os.W_OK)),
        FOLDERS[-1],
    )
    return folder / NAME


def _open(path: Path) -> int:
    # All users may write to these folders. A link of another user must not make benchctl truncate
    # one of its files, and a pipe must not block it.
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        fd = _open_or_create(path, flags)
    except OSError as error:
        raise _unfit(path, str(error.strerror)) from error
    state = os.fstat(fd)
    if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
        os.close(fd)
        raise _unfit(path, "it is not a regular file")
    return fd


def _open_or_create(path: Path, flags: int) -> int:
    try:
        # Without O_CREAT first: in a sticky folder the kernel may refuse it for another user's file
        # (fs.protected_regular).
        return os.open(path, flags | os.O_RDWR)
    except FileNotFoundError:
        fd = os.open(path, flags | os.O_RDWR | os.O_CREAT, FOR_ALL)
        with contextlib.suppress(OSError):
            os.fchmod(fd, FOR_ALL)  # the umask removed write access for other users
        return fd
    except PermissionError:
        return os.open(path, flags | os.O_RDONLY)  # flock(2) needs no write access


def _unfit(path: Path, cause: str) -> MachineError:
    message = f"the lock file {path} cannot be opened"
    effect = "nothing was measured, because simultaneous measurements would disturb each other"
    fix = f"remove {path}, or make it a regular file that all users may read and write"
    return MachineError(message, code="BC409", details=(("cause", cause),), effect=effect, fix=fix)


PATIENCE_S: Final = 600.0
"""Time after which the waiting ends with an error."""


def wait_until_idle(
    below: float,
    observer: Observer,
    stop: Stop,
    *,
    load: Callable[[], float] = lambda: os.getloadavg()[0],
    clock: Callable[[], float] = seconds,
    sleep: Callable[[float], None] = time.sleep,
) -> float:
    """Wait until the load average of the last minute is below a value, and return it.

    benchctl's own builds raise the load too, so this is the last step before the first round.

    `observer` receives the current load every 0.2 s. `load` returns the load average of the last
    minute.

    Raises:
        MachineError: BX241, the load was not below the limit for ten minutes.
        Interrupted: the user stopped it.
    """
    start = clock()
    while (now := load()) >= below:
        stop.check()
        elapsed = clock() - start
        if elapsed >= PATIENCE_S:
            raise MachineError(
                f"the machine is not idle: its load average was not below {below:g} for "
                f"{format_clock(PATIENCE_S)}",
                code="BX241",
                details=(("load", f"{now:.2f} (last minute)"),),
                effect="nothing was measured",
                fix="stop other programs, or use a larger --idle, or none",
            )
        observer.notify(Waiting(f"a load average below {below:g}, now {now:.2f}", elapsed))
        sleep(RETRY_S)
    return now
