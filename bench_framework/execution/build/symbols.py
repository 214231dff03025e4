"""Evidence of what reached a binary: symbols, loader, linker, and features without a symbol."""

import json
import re
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from bench_framework.errors import BuildError, MachineError
from bench_framework.execution.process import Command, Launcher, scratch_folder
from bench_framework.foreign import text_of
from bench_framework.model.plan import BuildSpec
from bench_framework.store.layout import write_whole

ELF64: Final = b"\x7fELF\x02"
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
NM_TIMEOUT_S: Final = 60.0
REQUEST: Final = re.compile(r"-fuse-ld=(\w+)$")
TRACES: Final = (
    re.compile(r"(mold [\d.]+)"),
    re.compile(r"Linker: (LLD [\d.]+)"),
    re.compile(r"Version: (gold [\d.]+)"),
)
"""Names of linkers in ``.comment`` or in the notes of a program. GNU ld leaves none."""
GNU: Final = "GNU ld"
LINKER_NAMES: Final[Mapping[str, str]] = {"lld": "LLD", "bfd": GNU}
"""Names in a binary where they differ from those that the compiler takes."""
MOST_NAMES: Final = 3
"""Packages that a remark on an unused feature names."""


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
        text = text_of(out)
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


def require_linkers(specs: Iterable[BuildSpec], env: Mapping[str, str]) -> None:
    """Check that the linkers of all builds are installed. rustc brings its own lld.

    Raises `MachineError` (BX228): one is missing.
    """
    for name in dict.fromkeys(requested(spec.rustflags) for spec in specs):
        if name in {"", "lld"} or shutil.which(f"ld.{name}", path=env.get("PATH")):
            continue
        raise MachineError("BX228", name=name)


def requested(rustflags: Sequence[str]) -> str:
    """Return the linker that the flags request, as the compiler names it; empty for the default."""
    names = [match[1] for flag in rustflags if (match := REQUEST.search(flag))]
    return names[-1] if names else ""


def linker_of(
    binary: Path, rustflags: Sequence[str], launcher: Launcher, env: Mapping[str, str]
) -> str | None:
    """Return the linker that a program names; `None` if it was stripped or readelf is missing.

    Raises `BuildError` (BX229): it is not the one that the flags request.
    """
    argv = ["readelf", "--wide", "--string-dump=.comment", "--notes", str(binary)]
    try:
        text = launcher.capture(argv, {**env, "LC_ALL": "C"}).stdout
    except MachineError:
        return None
    if "String dump of section '.comment'" not in text:
        return None
    traces = (match[1] for trace in TRACES if (match := trace.search(text)))
    name, request = next(traces, GNU), requested(rustflags)
    if request and not name.startswith(LINKER_NAMES.get(request, request)):
        raise BuildError("BX229", request=request, name=name)
    return name


def unused_features(
    spec: BuildSpec,
    linked: Callable[[BuildSpec], frozenset[str]],
    binary: Path,
    libraries: Mapping[str, Sequence[str]],
    launcher: Launcher,
    env: Mapping[str, str],
    note: Path,
) -> tuple[str, ...]:
    """Return a sentence for each feature that brings packages without a symbol in the binary.

    `linked` returns the packages of a build. `libraries` maps a package to its files. A feature is
    left out if the binary or all its libraries have no symbols, for example after ``strip = true``
    or for macros. The answer is kept in the file `note`; its key is the path of the binary, which
    contains the binary's digest.
    """
    if not spec.features:
        return ()
    if note.is_file():
        known = json.loads(note.read_text(encoding="utf-8"))
        if known["binary"] == str(binary):
            return tuple(known["remarks"])
    names, remarks = defined(binary, launcher, env), []
    everything = linked(spec) if names else frozenset[str]()
    for feature in spec.features if names else ():
        without = replace(spec, features=tuple(f for f in spec.features if f != feature))
        brought: dict[str, set[str]] = {}
        for package in sorted(everything - linked(without)):
            files = [Path(file) for file in libraries.get(package, ()) if file.endswith(".rlib")]
            if symbols := set().union(*(defined(file, launcher, env) for file in files)):
                brought[package] = symbols
        listed = list(brought)
        if listed and not any(
            _is_used(package, symbols, names) for package, symbols in brought.items()
        ):
            more = f" and {len(listed) - MOST_NAMES} more" if len(listed) > MOST_NAMES else ""
            one = "its" if len(listed) == 1 else "their"
            remarks.append(
                f"feature {feature} brings {', '.join(listed[:MOST_NAMES])}{more}; "
                f"none of {one} symbols is in the binary"
            )
    write_whole(note, json.dumps({"binary": str(binary), "remarks": remarks}) + "\n")
    return tuple(remarks)


def _is_used(package: str, defined: set[str], names: frozenset[str]) -> bool:
    # A generic function is compiled in the crate that uses it; its mangled name has the crate.
    mangled = f"{len(package)}{package.replace('-', '_')}"
    return bool(defined & names) or any(mangled in name for name in names)
