"""Folders that cannot be written: read-only mounts, and a user who owns nothing."""

import ctypes
import os
import random
import shutil
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path

from harness import GATED, RUN, Attack, Box, require
from kills import IMPORTED

OTHER_USER = 65_534
PR_SET_SECUREBITS, SECBIT_NOROOT, CAPABILITY_VERSION = 28, 3, 0x20080522
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE, MS_REMOUNT, MS_RDONLY = (
    0x20000,
    4096,
    1 << 14,
    1 << 18,
    32,
    1,
)
COMMANDS: dict[tuple[str, ...], set[int]] = {
    (*RUN, "--fresh"): {0, 3},
    ("report", "@last"): {0, 3},
    ("gate", "@last", "--no-confirm"): {4, 3},
    ("gate", "@last"): {1, 3},
    ("profile", "@last"): {0, 3},
    ("import", "imp.json", "--name", "imp"): {0, 3},
    ("clean", "--yes", "records", "binaries", "scratch"): {0, 3},
    ("verify", "@last"): {0},
    ("compare", "@prev", "@last"): {0, 3},
    ("plan", "attacked.yaml"): {0},
}
FOLDERS = ("results", "results/attacked", "cache", "tmp", ".")


def read_only(folder: Path) -> None:
    """Mount a folder read-only, in a namespace of mounts of this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    path = os.fsencode(folder)
    calls: tuple[Callable[[], int], ...] = (
        lambda: libc.unshare(CLONE_NEWNS),
        lambda: libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None),
        lambda: libc.mount(path, path, None, MS_BIND, None),
        lambda: libc.mount(b"none", path, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None),
    )
    for call in calls:
        if call():
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))


def give_away(folder: Path) -> None:
    """Give a folder to another user, and give up root's right to write into it.

    The process cannot become the other user, who may have no access to this Python.
    """
    for path in (folder, *folder.rglob("*")):
        os.chown(path, OTHER_USER, OTHER_USER, follow_symlinks=False)
    libc = ctypes.CDLL(None, use_errno=True)
    header, none = struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24)
    if libc.prctl(PR_SET_SECUREBITS, SECBIT_NOROOT, 0, 0, 0) or libc.capset(header, none):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@cache
def prepared(folder: Path) -> Box:
    """Return a folder with two records."""
    box = Box.make(folder / "rights", GATED)
    shutil.copy(IMPORTED, box.path / "imp.json")
    for _ in range(2):
        box.expect(*RUN)
    return box


def attack(folder: Path, what: str, limits: list[Callable[[Box], None]], quick: bool) -> Attack:
    box = prepared(folder)
    tries = [(words, limit) for limit in limits for words in COMMANDS][:: 7 if quick else 1]

    def case(path: Path, number: int, _: random.Random) -> str:
        words, limit = tries[number]
        attacked = box.copy(path)
        before = {p: p.read_bytes() for p in attacked.results.rglob("*.jsonl")}
        code = attacked(*words, before=lambda: limit(attacked))
        outcome = f"`{' '.join(words)}` ended with {code}: {attacked.output()[-900:]}"
        require(code in COMMANDS[words], outcome)
        if words[0] != "clean":
            unchanged = all(path.read_bytes() == text for path, text in before.items())
            require(unchanged, f"{outcome}: a measured file was changed")
        elif code == 0:
            require(not attacked.records, f"{outcome}, and records remain")
        attacked.check({})
        return "done" if code in {0, 1, 4} else "refused"

    return Attack(what, case, len(tries))


def attacks(folder: Path, *, quick: bool) -> list[Attack]:
    def limits(limit: Callable[[Path], None]) -> list[Callable[[Box], None]]:
        return [lambda box, name=name: limit(box.path / name) for name in FOLDERS]  # type: ignore[misc]

    return [
        attack(folder, "read-only mounts", limits(read_only), quick),
        attack(folder, "folders of another user", limits(give_away), quick),
    ]
