"""Safe reading of what other programs wrote: files that may never end, JSON without a bottom."""

import errno
import glob
import hashlib
import itertools
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

IRREGULAR = "not a regular file"
ABSENT = "does not exist"
FIRST_LINES, LONGEST_LINE = 5, 200
SHORT_STDERR = 2


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read it.

    Opening or reading a FIFO or a device may never end, and no signal handler of Python would run.

    Raises `OSError`: it cannot be opened, or is a folder, FIFO, socket or device.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(file).st_mode):
        return os.fdopen(file, "rb")
    os.close(file)
    raise OSError(errno.EINVAL, IRREGULAR, str(path))


def _parts(path: Path, most: int | None) -> Iterator[bytes]:
    with open_regular(path) as file:
        size = 0
        # Files below /proc give no bytes, and no end, while nothing is there.
        while part := file.read(1 << 20):
            yield part
            size += len(part)
            if most is not None and size > most:
                raise OSError(errno.EFBIG, f"more than {most} bytes", str(path))


def read_regular(path: Path, most: int | None = None) -> bytes:
    """Return the bytes of a file that `open_regular` opens.

    Raises `OSError`: see `open_regular`; or it has more than `most` bytes (EFBIG).
    """
    return b"".join(_parts(path, most))


def sha256_of(
    path: Path, most: int | None = None, check: Callable[[], object] = lambda: None
) -> str:
    """Return the SHA-256 of a file in hex. Raises the errors of `read_regular`.

    `check` is called before each MiB: it may raise an error, because a large file takes minutes.
    """
    digest = hashlib.sha256()
    for part in _parts(path, most):
        check()
        digest.update(part)
    return digest.hexdigest()


def text_of(path: Path) -> str:
    """Return the text of a file that another program wrote; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def last_lines(lines: Sequence[str], most: int) -> Sequence[str]:
    """Return the last lines of an stderr, or from the first panic of Rust on if it is before them."""
    panics = (number for number, line in enumerate(lines) if "panicked at" in line)
    start = min(next(panics, len(lines)), max(0, len(lines) - most))
    return lines[start : start + most]


def first_lines(text: str) -> list[str]:
    """Return the first lines of an stdout that are not empty, at most five, each cut after 200 characters."""
    lines = itertools.islice(
        (line.rstrip() for line in text.splitlines() if line.strip()), FIRST_LINES
    )
    return [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines]


def is_short(lines: Sequence[str]) -> bool:
    """Return whether an stderr may not explain a failure, because it has at most two lines with text."""
    return sum(bool(line.strip()) for line in lines) <= SHORT_STDERR


def in_one_line(text: str) -> str:
    """Return the last three lines of an stderr as `last_lines` selects them, separated by slashes."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(line for line in last_lines(lines, 3) if line != "stack backtrace:")


def read_input(path: Path, most: int) -> bytes:
    """Return a user's file.

    Raises `ValueError`: it cannot be an input as in `fault_of`, is empty or has over `most` bytes.
    """
    if fault := fault_of(path):
        raise ValueError(fault)
    try:
        content = read_regular(path, most)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from error
    if not content.strip():
        raise ValueError("is empty")
    return content


def fault_of(path: Path) -> str:
    """Return why a file cannot be an input, such as ``is a folder``; empty for a regular file."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return ABSENT
    except (OSError, ValueError) as error:
        return f"cannot be read: {getattr(error, 'strerror', error)}"
    if stat.S_ISDIR(mode):
        return "is a folder"
    return "" if stat.S_ISREG(mode) else f"is {IRREGULAR}"


def is_below(name: str) -> bool:
    """Return whether a path with slashes names an entry below the folder from which it starts."""
    return {"", ".", ".."}.isdisjoint(name.split("/"))


def expanded_home(path: str | Path) -> Path:
    """Return a path with the home folder for ``~`` or ``~USER`` at its start.

    Without such a user, this is a name like any other, as in a shell.
    """
    return Path(os.path.expanduser(path))  # noqa: PTH111 -- pathlib raises without such a user


def matching_files(folder: Path, pattern: str) -> list[str]:
    """Return the file that a path names, or the regular files that a pattern matches, sorted.

    Paths are absolute. ``**`` matches any number of folders, and wildcards match no hidden names.
    """
    pattern = str(expanded_home(pattern))
    if os.path.lexists(folder / pattern):  # a name may contain characters of patterns
        return [] if fault_of(folder / pattern) else [str(folder / pattern)]
    names = glob.glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207 -- pathlib matches hidden names
    return [str(folder / name) for name in sorted(names) if not fault_of(folder / name)]


MAX_SCENARIO_BYTES: Final = 1 << 20
"""Largest size of a scenario. Files written by hand are smaller."""
_SCENARIO: Final = re.compile(rb"^(worker|axes)\s*:", re.MULTILINE)


def scenario_files() -> dict[str, str]:
    """Return the YAML files with a worker or axes in the current folder and those below it, by name without suffix."""
    below, here = (matching_files(Path(), pattern) for pattern in ("*/*.y*ml", "*.y*ml"))
    return {Path(file).stem: file for file in (*below, *here) if _is_scenario(Path(file))}


def _is_scenario(path: Path) -> bool:
    try:
        return _SCENARIO.search(read_regular(path, MAX_SCENARIO_BYTES)) is not None
    except OSError:
        return False


LARGEST_NUMBER: Final = 1e18
"""Numbers above this and below 1 ÷ this are no measured values, but signs such as `DBL_MAX` for none."""


def in_range(value: float) -> bool:
    """Return whether a number is 0, or from 1e-18 to 1e18 with either sign."""
    return value == 0 or 1 / LARGEST_NUMBER <= abs(value) <= LARGEST_NUMBER


def parse_json(
    text: str | bytes,
    *,
    members: Callable[[list[tuple[str, Any]]], Any] | None = None,
    whole: Callable[[str], Any] | None = None,
) -> Any:
    """Parse JSON of another program.

    `members` makes an object of its pairs of names and values, and `whole` a number of its digits.

    Raises `ValueError`: it is not JSON, or it is nested more deeply than Python's parser goes.
    """
    try:
        return json.loads(text, object_pairs_hook=members, parse_int=whole)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


ACTIVE: Final = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
)
"""Characters that act on what prints a text, for the brackets of a regular expression: C0 and C1
controls without tab and line ends, zero-width characters and direction marks."""


def escaped(match: re.Match[str]) -> str:
    r"""Return the escape of a character, such as ``\x1b`` or ``\u202e``."""
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004 -- two hex digits
