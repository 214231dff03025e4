"""The machine's lock lies where everybody may write: nothing that lies there in its place does harm."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bench_framework.errors import MachineError
from bench_framework.execution.lock import MachineLock
from bench_framework.execution.progress import Unwatched

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = 65534


def take(path: Path) -> None:
    with MachineLock("test", Unwatched(), path=path):
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_another_users_file_that_may_only_be_read_is_a_lock_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "benchctl.lock"
    path.touch(0o644)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and "pytest" in folder.name:
            folder.chmod(0o755)
    os.seteuid(NOBODY)
    try:
        take(path)
    finally:
        os.seteuid(0)
