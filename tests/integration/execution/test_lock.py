"""The lock of the machine is in a folder that all users may write; other files there do no harm."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from bench_framework.errors import MachineError, UsageError
from bench_framework.execution.machine import lock
from bench_framework.execution.machine.lock import MachineLock, locked
from bench_framework.execution.progress import SilentObserver, Update, Waiting


class Waiter(Thread):
    """A thread that takes the lock once, and remembers what it waited for."""

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        super().__init__()
        self.reasons: list[str] = []
        self.waits, self.has_it, self.may_end = Event(), Event(), Event()
        self._lock = MachineLock("waiter", self, path=path, shared=shared)
        self.start()

    def notify(self, update: Update) -> None:
        assert isinstance(update, Waiting)
        self.reasons.append(update.reason)
        self.waits.set()

    def run(self) -> None:
        with self._lock:
            self.has_it.set()
            assert self.may_end.wait(30)


def take(path: Path) -> None:
    with MachineLock("test", SilentObserver(), path=path):
        pass


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder"])
def test_a_path_that_is_not_a_regular_file_is_refused(tmp_path: Path, kind: str) -> None:
    precious, path = tmp_path / "precious", tmp_path / "benchctl.lock"
    precious.write_text("keep me")
    match kind:
        case "link":
            path.symlink_to(precious)
        case "hard link":
            path.hardlink_to(precious)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.mkdir()
    with pytest.raises(MachineError) as caught:
        take(path)
    assert caught.value.code == "BC409"
    assert precious.read_text() == "keep me"


def test_the_lock_is_where_every_user_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, mode in (("of-root", 0o755), ("of-all", 0o1777), ("also", 0o777)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    folders = [tmp_path / name for name in ("missing", "of-root", "of-all", "also")]
    monkeypatch.setattr(lock, "FOLDERS", folders)
    assert lock.lock_path() == tmp_path / "of-all" / "benchctl.lock"


def test_waiting_ends_after_the_limit_and_names_the_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "benchctl.lock"
    monkeypatch.setenv("BENCHCTL_WAIT", "1s")
    with (
        MachineLock("one.yaml", SilentObserver(), path=path),
        pytest.raises(MachineError) as caught,
    ):
        take(path)
    assert caught.value.code == "BX248"
    assert f"waited 1 s for one.yaml (process {os.getpid()}, since 20" in caught.value.message
    take(path)


def test_waiting_for_a_folder_ends_after_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHCTL_WAIT", "1s")
    reports: list[str] = []
    with (
        locked(tmp_path),
        pytest.raises(MachineError) as caught,
        locked(tmp_path, lambda: reports.append("waiting")),
    ):
        raise AssertionError("two had the lock")
    assert caught.value.code == "BX248"
    assert caught.value.message == f"waited 1 s for another benchctl, which uses {tmp_path}"
    assert reports == ["waiting"]
    with locked(tmp_path):
        pass


def test_a_limit_that_is_no_duration_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHCTL_WAIT", "soon")
    with pytest.raises(UsageError, match="BENCHCTL_WAIT=soon is no duration"):
        take(tmp_path / "benchctl.lock")


def test_a_stale_lock_file_with_any_content_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "benchctl.lock"
    path.write_bytes(b"\xff\x00 (process 1, since 1970)")
    take(path)
    assert path.read_bytes() == b""


def test_a_read_only_file_of_another_user_works_as_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "benchctl.lock"
    path.write_text("theirs")
    real = os.open

    def open_as_other_user(name: Path, flags: int, *mode: int) -> int:
        if name == path and flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, "Permission denied", str(name))
        return real(name, flags, *mode)

    monkeypatch.setattr(os, "open", open_as_other_user)
    with MachineLock("one", SilentObserver(), path=path):
        other = real(path, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    assert path.read_text() == "theirs"


HOLDER = """
import sys, time
from pathlib import Path
from bench_framework.execution.machine.lock import MachineLock
from bench_framework.execution.progress import SilentObserver
with MachineLock(sys.argv[2], SilentObserver(), path=Path(sys.argv[1]), shared=True):
    print("has it", flush=True)
    time.sleep(60)
"""


def builder(path: Path, name: str) -> subprocess.Popen[bytes]:
    """Start a process that has the lock shared."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), name], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"has it\n"
    return process


def test_builds_run_together_and_a_measurement_waits_for_each_of_them(tmp_path: Path) -> None:
    path = tmp_path / "benchctl.lock"
    with builder(path, "builds of one") as one, builder(path, "builds of two") as two:
        measurement = Waiter(path)
        assert measurement.waits.wait(30)
        for name, process in (("one", one), ("two", two)):
            assert f"builds of {name} (process {process.pid}, since" in measurement.reasons[0]
        # A kill that leaves no time to clean up frees the lock, and the name disappears.
        one.send_signal(signal.SIGKILL)
        one.wait()
        for _ in range(2):  # the next one may have been read before the kill
            measurement.waits.clear()
            assert measurement.waits.wait(30)
        assert "builds of one" not in measurement.reasons[-1]
        assert "builds of two" in measurement.reasons[-1]
        # A build that starts later waits for the measurement that waits.
        later = Waiter(path, shared=True)
        assert later.waits.wait(30)
        assert not measurement.has_it.is_set()
        two.kill()
        assert measurement.has_it.wait(30)
        assert not later.has_it.is_set()
        measurement.may_end.set()
        assert later.has_it.wait(30)
        later.may_end.set()
        measurement.join()
        later.join()
    assert path.read_text() == ""
