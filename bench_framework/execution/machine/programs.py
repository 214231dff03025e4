"""Programs and libraries: their format (elf(5)), loader, and the preloading of libraries (ld.so(8))."""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple

from bench_framework.text.numbers import shortest

ELF: Final = b"\x7fELF"
ELF64: Final = ELF + b"\x02"
HEADER_BYTES: Final = 64
PROGRAM_HEADER: Final = struct.Struct("<IIQQQQ")
"""Start of a program header (elf(5)): type, flags, offset, virtual and physical address, size in the file."""
LOADED: Final = 1
"""PT_LOAD of elf(5): a segment that is mapped into memory."""
DYNAMIC: Final = 2
"""PT_DYNAMIC of elf(5): the segment with the names of shared libraries."""
INTERPRETER: Final = 3
"""PT_INTERP of elf(5): the segment with the path of the loader."""
TAGS: Final = {1: "needed", 5: "strings", 15: "folders", 29: "folders"}
"""DT_NEEDED, DT_STRTAB, DT_RPATH and DT_RUNPATH of elf(5)."""
PRELOAD: Final = "LD_PRELOAD"
"""Variable with libraries that the loader links before all others."""
LIBRARY: Final = "lib{}.so"
"""Name of the file of a library."""
Source = Literal["allocations.c", "faster_clock.c"]
_PRELOADING: Final = (
    'LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" BENCHCTL_FASTER_CLOCK="$1"; '
    'export LD_PRELOAD BENCHCTL_FASTER_CLOCK; shift; exec "$@"'
)
"""Commands of a shell that run a program with a library, without it being preloaded into hyperfine."""


def may_be_copied(head: bytes) -> bool:
    """Return True if a file may be run from another path: an ELF program or a script."""
    return head.startswith((ELF, b"#!"))


def loader_of(path: Path) -> str | None:
    """Return the path of an ELF program's loader, empty if it is statically linked.

    It is `None` for a file that is not a 64-bit ELF program, such as a script.
    """
    with path.open("rb") as file:
        head = file.read(HEADER_BYTES)
        if not head.startswith(ELF64) or len(head) < HEADER_BYTES:
            return None
        for part in _segments(file):
            if part.kind == INTERPRETER:
                return _bytes_of(file, part).rstrip(b"\0").decode(errors="replace")
    return ""


def libraries_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each folder of an ELF program's own list, with each shared library that it needs.

    The folder is that of DT_RUNPATH or DT_RPATH, with ``$ORIGIN`` replaced. A library with a slash has an
    empty folder.
    """
    values: dict[str, list[int]] = {"needed": [], "strings": [], "folders": []}
    with path.open("rb") as file:
        if not file.read(HEADER_BYTES).startswith(ELF64):
            return
        parts = list(_segments(file))
        for part in parts:
            table = _bytes_of(file, part) if part.kind == DYNAMIC else b""
            for tag, value in struct.iter_unpack("<QQ", table[: len(table) // 16 * 16]):
                values.get(TAGS.get(tag, ""), []).append(value)
        loaded = [part for part in parts if part.kind == LOADED]

        def text(place: int) -> str:
            address = values["strings"][0] + place
            part = next(p for p in loaded if p.address <= address < p.address + p.size)
            file.seek(part.offset + address - part.address)
            return file.read(4096).partition(b"\0")[0].decode(errors="replace")

        try:
            needed = [text(place) for place in values["needed"]]
            folders = [f for place in values["folders"] for f in text(place).split(":")]
        except (IndexError, StopIteration):
            return  # a damaged table; the loader would refuse the program
    for name in needed:
        for folder in [""] if "/" in name else folders:
            origin = str(path.parent)
            yield folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin), name


class _Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


def _segments(file: BinaryIO) -> Iterator[_Segment]:
    file.seek(0)
    head = file.read(HEADER_BYTES)
    if len(head) < HEADER_BYTES:
        return
    (offset,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    file.seek(offset)
    table = file.read(size * count)
    if size < PROGRAM_HEADER.size:
        return
    for start in range(0, len(table) - size + 1, size):
        kind, _, place, address, _, length = PROGRAM_HEADER.unpack_from(table, start)
        yield _Segment(kind, place, address, length)


def _bytes_of(file: BinaryIO, part: _Segment) -> bytes:
    file.seek(part.offset)
    return file.read(part.size)


def preloaded(library: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment that preloads a library before those that it preloads already."""
    return {**env, PRELOAD: ":".join(filter(None, (library, env.get(PRELOAD))))}


def allocator_source(crate: str, prefix: str) -> str:
    """Return the Rust source of a library that forwards ``malloc`` to the functions of a crate."""
    source = Path(__file__).with_name("preload.rs").read_text(encoding="utf-8")
    source = source.replace("CRATE as", f"{crate.replace('-', '_')} as")
    return source.replace("PREFIX_", f"{prefix}_")


def compile_library(source: Source, output: str) -> list[str]:
    """Return the command that compiles a library for `LD_PRELOAD` from a source of this folder."""
    path = Path(__file__).with_name(source)
    return ["cc", "-shared", "-fPIC", "-O2", "-o", output, str(path), "-ldl"]


def with_faster_clock(library: str, share: float) -> tuple[str, ...]:
    """Return the words before a command that let its clocks run faster. `library` is made from `faster_clock.c`."""
    return ("/bin/sh", "-c", _PRELOADING, library, shortest(share))
