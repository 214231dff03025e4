"""divan 0.1: it prints a table with four significant digits.

The value is the median of the samples' times per iteration. A sample takes some microseconds, so that
interruptions of the process reach few of them.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bench_framework.execution.benches.harness import Harness, NoTime
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.units import DURATION_UNITS

_LISTED: Final = re.compile(r"(.+): benchmark")
_NODE: Final = re.compile(r"((?:│  |   )*)[├╰]─ (.*)")
_INDENT: Final = 3
_THREADS: Final = re.compile(r"t=(\d+)")
_PART: Final = re.compile(r"(.+) t=(\d+)")
"""An id with one of several numbers of threads, which is no id of divan."""
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
    if listed:
        return listed
    nodes = [node for node in _nodes(text) if not _THREADS.fullmatch(node[-1])]
    parents = {node[:-1] for node in nodes}
    leaves = (node for node in nodes if len(node) > 1 and node not in parents)
    return tuple(dict.fromkeys("::".join(node) for node in leaves))


def _split(ids: Sequence[str], tested: str) -> tuple[str, ...]:
    """Return the ids; one with several numbers of threads is one id for each: ``lock t=1``, ``lock t=2``."""
    numbers: dict[str, list[str]] = {}
    for node in _nodes(tested):
        if match := _THREADS.fullmatch(node[-1]):
            numbers.setdefault("::".join(node[:-1]), []).append(match[1])
    parts = ([f"{name} t={n}" for n in numbers.get(name, ())] or [name] for name in ids)
    return tuple(itertools.chain.from_iterable(parts))


def _selection(bench: str) -> tuple[str, ...]:
    part = _PART.fullmatch(bench)
    return ("--exact", part[1], "--threads", part[2]) if part else ("--exact", bench)


def _nodes(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the names from the root to each node of a tree."""
    path: list[str] = []
    for line in text.splitlines():
        if match := _NODE.fullmatch(line):
            depth, name = len(match[1]) // _INDENT + 1, match[2].rstrip()
        elif line and line.split()[0] == line:
            depth, name = 0, line
        else:
            continue
        if name.endswith(_IGNORED):
            continue
        path = [*path[:depth], name]
        yield tuple(path)


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
    trial=("--test",),
    split=_split,
    options=(("--min-time", "0.1", "--max-time", "0.5", "--color", "never"),),
    seconds=(0.15,),
    selection=_selection,
    # With this variable, divan accepts `--format terse`, which prints whole ids.
    env={"NEXTEST": "1"},
    read=_read,
    once=("--test",),
    crate="divan",
    iterates=re.compile("divan::(?:benchmark::|thread_pool::TaskShared)"),
)
