"""Symbols and headers of programs and libraries, which show what reached a binary."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError
from bench_framework.execution.process import Command, Launcher, scratch_folder

ELF64: Final = b"\x7fELF\x02"
HEADER_BYTES: Final = 64
INTERPRETER: Final = 3
"""PT_INTERP of elf(5): the segment with the path of the loader."""
NM_TIMEOUT_S: Final = 60.0


def defined(path: Path, launcher: Launcher, env: Mapping[str, str]) -> frozenset[str]:
    """Return the names that a program, object or archive defines.

    The set is empty if it was stripped, or if ``nm`` is not installed.
    """
    with scratch_folder() as folder:
        out = Path(folder, "symbols")
        argv = ["nm", "--defined-only", "--portability", str(path)]
        try:
            launcher.run(Command(argv, env, stdout=str(out), timeout_s=NM_TIMEOUT_S))
        except MachineError:
            return frozenset()
        text = out.read_text(encoding="utf-8", errors="replace") if out.is_file() else ""
    # ``NAME TYPE ADDRESS SIZE``; the members of an archive have a headline without blanks.
    return frozenset(line.split(" ", 1)[0] for line in text.splitlines() if " " in line)


def loader_of(path: Path) -> str | None:
    """Return the path of an ELF program's loader, empty if it is statically linked.

    It is `None` for a file that is not a 64-bit ELF program, such as a script.
    """
    with path.open("rb") as file:
        head = file.read(HEADER_BYTES)
        if not head.startswith(ELF64) or len(head) < HEADER_BYTES:
            return None
        (offset,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        table = file.read(size * count)
        for start in range(0, len(table) - size + 1, size or 1):
            if struct.unpack_from("<I", table, start)[0] == INTERPRETER:
                (place,) = struct.unpack_from("<Q", table, start + 8)
                (length,) = struct.unpack_from("<Q", table, start + 32)
                file.seek(place)
                return file.read(length).rstrip(b"\0").decode(errors="replace")
    return ""
