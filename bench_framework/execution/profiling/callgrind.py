"""Reader of callgrind's output: exclusive instructions of each function. Pure.

The format is valgrind's "Callgrind Format Specification". Names are compressed to numbers within a
file. The cost line after ``calls=`` belongs to the callee and is counted in the callee's own entry.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from bench_framework.execution.profiling.symbol_names import plain_name
from bench_framework.model.profile import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench_framework.execution.profiling.perf_script import Samples

EVENT: Final = "Ir"
UNKNOWN: Final = "[unknown]"
_NAME_LINE: Final = re.compile(r"(?P<key>ob|fn|cob|cfn|fl|fi|fe|cfi|cfl)=\s*(?P<name>.*)")
_NUMBERED: Final = re.compile(r"\((?P<number>\d+)\)(?:\s+(?P<name>.*))?")
_COST: Final = re.compile(r"(?:[+-]?\d+|\*|0x[0-9a-fA-F]+)(?:\s+(?P<costs>\d[\d\s]*))?\s*")
_ADDRESS: Final = re.compile(r"0x[0-9a-f]+")
"""Name of a function without a symbol."""
_RECURSION: Final = re.compile(r"'\d+$")
"""Suffix of a recursion level; all levels are one function."""


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
