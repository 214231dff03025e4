"""What callgrind wrote, read: instructions of each function itself. Pure.

The format is valgrind's "Callgrind Format Specification": names are compressed to numbers within a file, a line
``calls=`` makes the cost line after it that of the callee, which is counted where the callee itself stands.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from bench_framework.execution.symbol_names import plain_name
from bench_framework.model.profile import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench_framework.execution.perf_script import Samples

EVENT: Final = "Ir"
UNKNOWN: Final = "[unknown]"
_NAMED: Final = re.compile(r"(?P<key>ob|fn|cob|cfn|fl|fi|fe|cfi|cfl)=\s*(?P<name>.*)")
_NUMBERED: Final = re.compile(r"\((?P<number>\d+)\)(?:\s+(?P<name>.*))?")
_COST: Final = re.compile(r"(?:[+-]?\d+|\*|0x[0-9a-fA-F]+)(?:\s+(?P<costs>\d[\d\s]*))?\s*")
_ADDRESS: Final = re.compile(r"0x[0-9a-f]+")
"""What a function without a symbol is called."""
_RECURSION: Final = re.compile(r"'\d+$")
"""Callgrind numbers the levels of a recursion; they are one function."""


def read_costs(lines: Iterable[str], samples: Samples) -> None:
    """Add the own cost of each function of one file; callers are not known, so that each is a stack of its own."""
    names: dict[tuple[str, str], str] = {}
    now = {"ob": "", "fn": ""}
    column, of_callee = 0, False
    for raw in lines:
        line = raw.strip()
        if line.startswith("events:"):
            column = line.removeprefix("events:").split().index(EVENT)
        elif named := _NAMED.fullmatch(line):
            key = named["key"]
            name = _resolved(names, key, named["name"])
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


def _resolved(names: dict[tuple[str, str], str], key: str, text: str) -> str:
    """A name, or the one that a number stands for; files, objects and functions are numbered apart."""
    kind = {"cob": "ob", "cfn": "fn"}.get(key, key if key in {"ob", "fn"} else "fl")
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return text
    if match["name"] is not None:
        names[kind, match["number"]] = match["name"]
    return names.get((kind, match["number"]), UNKNOWN)
