"""The machine's lock lies where everybody may write: nothing that lies there in its place does harm."""

from __future__ import annotations

import errno
import fcntl
import os
from typing import TYPE_CHECKING

import pytest

from bench_framework.errors import MachineError
from bench_framework.execution.lock import MachineLock
from bench_framework.execution.progress import SilentObserver

if TYPE_CHECKING:
    from pathlib import Path


def take(path: Path) -> None:
    with MachineLock("test", SilentObserver(), path=path):
        pass


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder"])
def test_what_is_no_plain_file_is_refused_and_left_alone(tmp_path: Path, kind: str) -> None:
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


def test_a_stale_lock_file_of_any_content_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "benchctl.lock"
    path.write_bytes(b"\xff\x00 (process 1, since 1970)")
    take(path)
    assert path.read_bytes() == b""


def test_another_users_file_that_may_only_be_read_is_a_lock_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "benchctl.lock"
    path.write_text("theirs")
    real = os.open

    def as_a_stranger(name: Path, flags: int, *mode: int) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, "Permission denied", str(name))
        return real(name, flags, *mode)

    monkeypatch.setattr(os, "open", as_a_stranger)
    with MachineLock("one", SilentObserver(), path=path):
        other = real(path, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    assert path.read_text() == "theirs"
