"""Readers of ``perf script`` and of callgrind's output: samples of functions with their stacks.

In ``perf script``, a sample is a paragraph: a header line (command, process, time, event), then one line per frame,
innermost first. A frame is an address, a symbol, an optional offset, and the file in parentheses.
Versions of perf differ in the header and in spacing.

The format of callgrind is valgrind's "Callgrind Format Specification". Names are compressed to numbers
within a file. The cost line after ``calls=`` belongs to the callee and is counted in the callee's entry.

perf and callgrind demangle C++ and the older Rust mangling themselves; newer Rust symbols and hashes
remain, and `plain_name` demangles them.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from bench_framework import _native
from bench_framework.model.profile import Frame

UNKNOWN: Final = "[unknown]"
_FRAME: Final = re.compile(r"\s*(?P<ip>[0-9a-f]+)\s+(?P<rest>.*\S)\s*")
_EVENT: Final = re.compile(r"(?P<event>\S+):\s*$")
_OFFSET: Final = re.compile(r"\+0x[0-9a-f]+$")
_LOST: Final = re.compile(r"PERF_RECORD_LOST(?:_SAMPLES)?\b.*?lost (?P<count>\d+)")
_NOT_KERNEL: Final = frozenset({"[unknown]", "[vdso]", "[vsyscall]", "[heap]", "[stack]", "[anon]"})
_INLINED: Final = "inlined"
EVENT: Final = "Ir"
_NAME_LINE: Final = re.compile(r"(?P<key>ob|fn|cob|cfn|fl|fi|fe|cfi|cfl)=\s*(?P<name>.*)")
_NUMBERED: Final = re.compile(r"\((?P<number>\d+)\)(?:\s+(?P<name>.*))?")
_COST: Final = re.compile(r"(?:[+-]?\d+|\*|0x[0-9a-fA-F]+)(?:\s+(?P<costs>\d[\d\s]*))?\s*")
_ADDRESS: Final = re.compile(r"0x[0-9a-f]+")
"""Name of a function without a symbol."""
_RECURSION: Final = re.compile(r"'\d+$")
"""Suffix of a recursion level; all levels are one function."""


@dataclass(slots=True)
class Samples:
    """The samples of one recording, outermost frames first. The kernel dropped `lost` ones."""

    stacks: Counter[tuple[Frame, ...]] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    lost: int = 0

    @property
    def total(self) -> int:
        """Return the number of samples in `stacks`."""
        return self.stacks.total()


def read_samples(lines: Iterable[str]) -> Samples:
    """Read the samples of ``perf script``; an empty or truncated stack counts as unknown."""
    samples = Samples()
    names: dict[str, Frame] = {}
    head: str | None = None
    frames: list[Frame] = []
    for line in lines:
        if line.startswith("#"):
            continue
        if lost := _LOST.search(line):
            samples.lost += int(lost["count"])
        elif not line.strip():
            _close(samples, head, frames)
            head, frames = None, []
        elif head is None:
            head = line
        else:
            frames.append(_frame(line.rstrip("\n"), names))
    _close(samples, head, frames)
    return samples


def _close(samples: Samples, head: str | None, frames: list[Frame]) -> None:
    if head is None:
        return
    event = _EVENT.search(head.rstrip())
    if event is None:  # a line of a record that is not a sample
        return
    samples.events[event["event"]] += 1
    samples.stacks[tuple(reversed(_resolve_inlined(frames))) or (Frame(UNKNOWN),)] += 1


def _resolve_inlined(frames: list[Frame]) -> list[Frame]:
    """Give each inlined function the module of the function that contains it, which follows it."""
    module, kernel = "", False
    resolved: list[Frame] = []
    for frame in reversed(frames):
        if frame.module != _INLINED:
            module, kernel = frame.module, frame.kernel
            resolved.append(frame)
        else:
            resolved.append(Frame(frame.name, module, kernel))
    return resolved[::-1]


def _frame(line: str, names: dict[str, Frame]) -> Frame:
    """Parse one frame; equal texts share one object."""
    match = _FRAME.fullmatch(line)
    rest = match["rest"] if match else line.strip()
    if rest not in names:
        names[rest] = _parse_frame(rest)
    return names[rest]


def _parse_frame(rest: str) -> Frame:
    symbol, file = _split_symbol(rest)
    kernel = file.startswith("[") and file not in _NOT_KERNEL and not file.startswith("[anon")
    module = file if file.startswith(("[", "//")) else PurePosixPath(file).name
    module = module.removesuffix(" (deleted)")
    name = plain_name(_OFFSET.sub("", symbol)) if symbol else UNKNOWN
    return Frame(name or UNKNOWN, "" if module == UNKNOWN else module, kernel)


def _split_symbol(rest: str) -> tuple[str, str]:
    """Split symbol and file, which may contain spaces. A file begins with ``/`` or ``[``."""
    if not rest.endswith(")"):
        return rest, ""
    known = [start for start in [rest.find(mark) for mark in (" (/", " ([", " (//")] if start >= 0]
    cut = min(known) if known else rest.rfind(" (")
    if cut < 0:
        return ("", rest[1:-1]) if rest.startswith("(") else (rest, "")
    return rest[:cut].strip(), rest[cut + 2 : -1]


_HASH: Final = re.compile(r"::h[0-9a-f]{16}(?=$|\.|\[|<)")
_SUFFIX: Final = re.compile(r"\.llvm\.[0-9A-F@]+$")
_MANGLED: Final = re.compile(r"__?R|_{0,2}ZN.*17h[0-9a-f]{16}E")
"""The older mangling is that of C++ too; only Rust ends a name with a hash."""


def plain_name(symbol: str) -> str:
    """Return the demangled name of a symbol without hash; other text is returned as it is."""
    name = _SUFFIX.sub("", symbol.strip())
    demangled = _native.demangle(name) if _MANGLED.match(name) else None
    return _HASH.sub("", demangled or name)


def read_costs(lines: Iterable[str], samples: Samples) -> None:
    """Add the exclusive cost of each function of one file, as a stack of one frame."""
    names: dict[tuple[str, str], str] = {}
    now = {"ob": "", "fn": ""}
    column, of_callee = 0, False
    for raw in lines:
        line = raw.strip()
        if line.startswith("events:"):
            column = line.removeprefix("events:").split().index(EVENT)
        elif entry := _NAME_LINE.fullmatch(line):
            key = entry["key"]
            name = _resolve(names, key, entry["name"])
            if key in now:
                now[key] = name
        elif line.startswith("calls="):
            of_callee = True
        elif cost := _COST.fullmatch(line):
            if not of_callee and now["fn"]:
                _add(samples, now, (cost["costs"] or "").split(), column)
            of_callee = False


def _add(samples: Samples, now: dict[str, str], costs: list[str], column: int) -> None:
    count = int(costs[column]) if column < len(costs) else 0
    if count:
        name = plain_name(_RECURSION.sub("", now["fn"]))
        name = UNKNOWN if not name or _ADDRESS.fullmatch(name) else name
        samples.stacks[Frame(name, PurePosixPath(now["ob"]).name),] += count
        samples.events[EVENT] += count


def _resolve(names: dict[tuple[str, str], str], key: str, text: str) -> str:
    """Resolve a compressed name; files, objects and functions are numbered separately."""
    kind = {"cob": "ob", "cfn": "fn"}.get(key, key if key in {"ob", "fn"} else "fl")
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return text
    if match["name"] is not None:
        names[kind, match["number"]] = match["name"]
    return names.get((kind, match["number"]), UNKNOWN)
