"""Waiting for the lock of the machine or of a folder, and until the machine is idle."""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from bench_framework.errors import MachineError
from bench_framework.execution.machine.host import WAIT, seconds, utc_now, wait_limit_s
from bench_framework.execution.machine.processes import exists
from bench_framework.execution.progress import Observer, Waiting
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import PhraseCode
from bench_framework.text.numbers import fixed, format_clock, shortest
from bench_framework.text.reasons import phrase_of

if TYPE_CHECKING:
    from bench_framework.execution.stop import Stop

FOLDERS: Final = (Path("/run/lock"), Path("/tmp"))  # noqa: S108 -- shared by all users
NAME: Final = "benchctl.lock"
FOR_ALL: Final = 0o666
RETRY_S: Final = 0.2
_OWNER_LENGTH: Final = 400
_PROCESS: Final = re.compile(r"\(process (\d+), since ")


@dataclass
class MachineLock:
    """The lock during builds or a measurement; a context manager.

    Several processes may build at the same time, and none does while another one measures. The
    kernel frees the lock when its process dies.

    Every user of the machine must be able to take it, so the file is writable for all. It is never
    removed: otherwise a third benchctl could lock a new file while the old one is locked.

    `what` describes the work to waiting processes. `observer` receives the current owners every
    0.2 s. With `shared`, other processes can take the lock shared at the same time.

    Raises `MachineError` (BX248): other processes had it for longer than `host.wait_limit_s`.
    """

    what: str
    observer: Observer
    stop: Stop | None = None
    path: Path | None = None
    shared: bool = field(default=False, kw_only=True)
    _fd: int = field(default=-1, init=False)

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opened:
            path = self.path or lock_path()
            self._fd = _open(path)
            opened.callback(os.close, self._fd)
            # Who waits has the turn. Otherwise builds that overlap could keep out a measurement.
            turn = _open(path.with_suffix(".turn"))
            opened.callback(os.close, turn)
            start = seconds()
            _wait(turn, fcntl.LOCK_EX, start, self._check)
            mode = fcntl.LOCK_SH if self.shared else fcntl.LOCK_EX
            _wait(self._fd, mode, start, self._check)
            opened.pop_all()
        os.close(turn)
        self._write_owners(f"{self.what} (process {os.getpid()}, since {utc_now()})")
        return self

    def __exit__(self, *_: object) -> None:
        self._write_owners()
        os.close(self._fd)

    def _check(self, elapsed_s: float, limit_s: float) -> str:
        if self.stop is not None:
            self.stop.check()
        owners = ", ".join(self._owners()) or phrase_of(PhraseCode.ANOTHER_BENCHCTL)
        if elapsed_s < limit_s:
            self.observer.notify(Waiting(owners, elapsed_s, limit_s))
        return owners

    def _write_owners(self, *more: str) -> None:
        """Replace the line of this process; those of living owners of a shared lock are kept."""
        # The text is only for messages, so a full disk, missing rights or a line that is lost
        # because another process writes at the same time do not matter.
        with contextlib.suppress(OSError):
            mine = f"(process {os.getpid()}, since "
            others = self._owners() if self.shared else []
            lines = [*more, *(line for line in others if mine not in line)]
            text = "\n".join(lines).encode()[:_OWNER_LENGTH]
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, text, 0)

    def _owners(self) -> list[str]:
        lines = os.pread(self._fd, _OWNER_LENGTH, 0).decode(errors="replace").splitlines()
        owners = ((line, _PROCESS.search(line)) for line in lines)
        # A process may have ended without removing its line, for example by a kill.
        return [line for line, owner in owners if owner and exists(int(owner[1]))]


@contextlib.contextmanager
def locked(folder: Path, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Keep other processes that lock the same folder out of their block. A missing folder is created.

    `waiting` is called once if another process has the lock. The kernel frees that of a process that was killed.

    Raises `MachineError` (BX248): another process had it for longer than `host.wait_limit_s`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    reports = iter((waiting,))

    def check(*_: float) -> str:
        for report in reports:
            report()
        return phrase_of(PhraseCode.ANOTHER_IN_FOLDER, str(folder))

    try:
        _wait(fd, fcntl.LOCK_EX, seconds(), check)
        yield
    finally:
        os.close(fd)


def _wait(fd: int, mode: int, start: float, check: Callable[[float, float], str]) -> None:
    """Wait for a lock. `check` gets the elapsed seconds and the limit, and returns the owners."""
    limit_s = wait_limit_s()
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(fd, mode | fcntl.LOCK_NB)
            return
        elapsed = seconds() - start
        owners = check(elapsed, limit_s)
        if elapsed >= limit_s:
            raise MachineError("BX248", limit=format_clock(limit_s), owners=owners, name=WAIT)
        time.sleep(RETRY_S)


def lock_path() -> Path:
    """Return the lock file that all users of this machine share."""
    shared = (folder for folder in FOLDERS if _all_may_write(folder))
    return next(shared, FOLDERS[-1]) / NAME


def _all_may_write(folder: Path) -> bool:
    """Return whether a folder is writable for every user: root alone would take another lock than others."""
    return (
        folder.is_dir()
        and bool(folder.stat().st_mode & stat.S_IWOTH)
        and os.access(folder, os.W_OK)  # false if the file system is read-only
    )


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
        raise _unfit(path, phrase_of(FaultCode.NOT_REGULAR))
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
    return MachineError("BC409", details=(("cause", cause),), path=path)


PATIENCE_S: Final = 600.0
"""Time after which the waiting ends with an error."""


def wait_until_idle(below: float | None, observer: Observer, stop: Stop) -> float:
    """Wait until the load average of the last minute is below a value, if given, and return it.

    benchctl's own builds raise the load too, so this is the last step before the first round.

    `observer` receives the current load every 0.2 s.

    Raises:
        MachineError: BX241, the load was not below the limit for ten minutes.
        Interrupted: the user stopped it.
    """
    start, most = seconds(), math.inf if below is None else below
    while (now := os.getloadavg()[0]) >= most:
        stop.check()
        elapsed, limit, load = seconds() - start, shortest(most), fixed(now, 2)
        if elapsed >= PATIENCE_S:
            details = (("load", phrase_of(PhraseCode.LOAD_OF_MINUTE, load)),)
            clock = format_clock(PATIENCE_S)
            raise MachineError("BX241", details=details, limit=limit, clock=clock)
        observer.notify(Waiting(phrase_of(PhraseCode.LOAD_AVERAGE, limit, load), elapsed))
        time.sleep(RETRY_S)
    return now
