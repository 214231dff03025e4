"""The lock of the machine is in a folder that all users may write; other files there do no harm."""

from __future__ import annotations

import errno
import fcntl
import os
from typing import TYPE_CHECKING

import pytest

from bench_framework.errors import MachineError
from bench_framework.execution.machine.lock import MachineLock
from bench_framework.execution.progress import SilentObserver

if TYPE_CHECKING:
    from pathlib import Path


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
        if flags & os.O_RDWR:
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
