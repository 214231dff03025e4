"""What ``perf script`` prints, read: samples with their stacks. Pure.

A sample is a paragraph: a line about it (command, process, time, event), then one line per frame, the innermost
first. Versions of perf differ in the first line and in the blanks; a frame is an address, a symbol, perhaps an
offset, and the file in parentheses.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from bench_framework.execution.symbol_names import plain_name
from bench_framework.model.profile import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN: Final = "[unknown]"
_FRAME: Final = re.compile(r"\s*(?P<ip>[0-9a-f]+)\s+(?P<rest>.*\S)\s*")
_EVENT: Final = re.compile(r"(?P<event>\S+):\s*$")
_OFFSET: Final = re.compile(r"\+0x[0-9a-f]+$")
_LOST: Final = re.compile(r"PERF_RECORD_LOST(?:_SAMPLES)?\b.*?lost (?P<count>\d+)")
_NOT_KERNEL: Final = frozenset({"[unknown]", "[vdso]", "[vsyscall]", "[heap]", "[stack]", "[anon]"})
_INLINED: Final = "inlined"


@dataclass(slots=True)
class Samples:
    """The samples of one recording.

    Attributes:
        stacks: stack, the outermost frame first, to how many samples had it.
        events: name of an event to its samples.
        lost: samples that the kernel had to drop.
    """

    stacks: Counter[tuple[Frame, ...]] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    lost: int = 0

    @property
    def total(self) -> int:
        """Samples that were kept."""
        return self.stacks.total()


def read_samples(lines: Iterable[str]) -> Samples:
    """The samples that ``perf script`` printed; a stack that was cut off, or is empty, counts as unknown."""
    found = Samples()
    names: dict[str, Frame] = {}
    head: str | None = None
    frames: list[Frame] = []
    for line in lines:
        if line.startswith("#"):
            continue
        if lost := _LOST.search(line):
            found.lost += int(lost["count"])
        elif not line.strip():
            _close(found, head, frames)
            head, frames = None, []
        elif head is None:
            head = line
        else:
            frames.append(_frame(line.rstrip("\n"), names))
    _close(found, head, frames)
    return found


def _close(found: Samples, head: str | None, frames: list[Frame]) -> None:
    if head is None:
        return
    event = _EVENT.search(head.rstrip())
    if event is None:  # a line of another record: nothing was sampled in it
        return
    found.events[event["event"]] += 1
    found.stacks[tuple(reversed(_whole(frames))) or (Frame(UNKNOWN),)] += 1


def _whole(frames: list[Frame]) -> list[Frame]:
    """Frames with the module of an inlined function: that of the function it was inlined into, which follows it."""
    module, kernel = "", False
    found: list[Frame] = []
    for frame in reversed(frames):
        if frame.module != _INLINED:
            module, kernel = frame.module, frame.kernel
            found.append(frame)
        else:
            found.append(Frame(frame.name, module, kernel))
    return found[::-1]


def _frame(line: str, names: dict[str, Frame]) -> Frame:
    """One frame; equal texts are one object."""
    match = _FRAME.fullmatch(line)
    rest = match["rest"] if match else line.strip()
    if rest not in names:
        names[rest] = _named(rest)
    return names[rest]


def _named(rest: str) -> Frame:
    symbol, file = _parted(rest)
    kernel = file.startswith("[") and file not in _NOT_KERNEL and not file.startswith("[anon")
    module = file if file.startswith(("[", "//")) else PurePosixPath(file).name
    module = module.removesuffix(" (deleted)")
    name = plain_name(_OFFSET.sub("", symbol)) if symbol else UNKNOWN
    return Frame(name or UNKNOWN, "" if module == UNKNOWN else module, kernel)


def _parted(rest: str) -> tuple[str, str]:
    """Symbol and file. Either may hold blanks and parentheses; a file begins with ``/`` or ``[``, or has none."""
    if not rest.endswith(")"):
        return rest, ""
    starts = [rest.find(mark) for mark in (" (/", " ([", " (//")]
    known = [start for start in starts if start >= 0]
    cut = min(known) if known else rest.rfind(" (")
    if cut < 0:
        return ("", rest[1:-1]) if rest.startswith("(") else (rest, "")
    return rest[:cut].strip(), rest[cut + 2 : -1]
