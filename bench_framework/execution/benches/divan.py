"""divan 0.1: it prints a table with four significant digits.

The value is the median of the samples' times per iteration. A sample takes some microseconds, so that
interruptions of the process reach few of them.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench_framework.execution.benches.harness import Harness, NoTime
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.units import DURATION_UNITS

_LISTED: Final = re.compile(r"(.+): benchmark")
_NODE: Final = re.compile(r"((?:│  |   )*)[├╰]─ (.*)")
_INDENT: Final = 3
_THREADS: Final = re.compile(r"t=\d+")
_IGNORED: Final = "(ignored)"
_SECONDS: Final = {**DURATION_UNITS, "ps": 1e-12}
_TIME: Final = rf"(\d+(?:\.\d+)?) ({'|'.join(_SECONDS)})"
_ROW: Final = re.compile(
    rf"[│ ]*[├╰]─ .*?\s{_TIME}\s+│ {_TIME}\s+│ {_TIME}\s+│ {_TIME}\s+│ (\d+)\s+│ (\d+)\s*"
)
"""A benchmark with its fastest, slowest, median and mean time, its samples and its iterations."""
_MEDIAN: Final = 5


def _ids(text: str) -> tuple[str, ...]:
    """Return the ids of a list, or of a tree whose leaves are benchmarks."""
    listed = tuple(m[1] for line in text.splitlines() if (m := _LISTED.fullmatch(line)))
    return listed or tuple(_leaves(text))


def _leaves(text: str) -> Iterator[str]:
    path: list[str] = []
    nodes: list[tuple[str, ...]] = []
    for line in text.splitlines():
        if match := _NODE.fullmatch(line):
            depth, name = len(match[1]) // _INDENT + 1, match[2].rstrip()
        elif line and line.split()[0] == line:
            depth, name = 0, line
        else:
            continue
        if _THREADS.fullmatch(name) or name.endswith(_IGNORED):
            continue
        path = [*path[:depth], name]
        nodes.append(tuple(path))
    parents = {node[:-1] for node in nodes}
    yield from dict.fromkeys(
        "::".join(node) for node in nodes if len(node) > 1 and node not in parents
    )


def _read(_: Path, printed: str, bench: str) -> float:
    rows = [match for line in printed.splitlines() if (match := _ROW.fullmatch(line))]
    if len(rows) != 1:
        what = Phrase(FaultCode.SEVERAL_THREADS if rows else FaultCode.NOTHING_MEASURED)
        raise NoTime(FaultCode.DIVAN_RESULTS, len(rows), bench, what)
    number, unit = rows[0][_MEDIAN], rows[0][_MEDIAN + 1]
    value = float(number) * _SECONDS[unit]
    if value <= 0:
        raise NoTime(FaultCode.DIVAN_ZERO)
    return value


HARNESS: Final = Harness(
    name="divan",
    marker=b"DIVAN_SAMPLE_COUNT",
    # Before 0.1.19, only a test of all benchmarks names those with arguments. The last list, without
    # these, is for a benchmark that panics in the test.
    listings=(("--bench", "--list", "--format", "terse"), ("--test",), ("--list",)),
    parse_list=_ids,
    options=(("--min-time", "0.1", "--max-time", "0.5", "--color", "never"),),
    seconds=(0.15,),
    selection=lambda bench: ("--exact", bench),
    # With this variable, divan accepts `--format terse`, which prints whole ids.
    env={"NEXTEST": "1"},
    read=_read,
)
