"""Costs of functions, and calls between them, in the files of callgrind.

The format is valgrind's "Callgrind Format Specification". Names are compressed to numbers within a file. The
cost line after ``calls=`` belongs to the callee and is counted in the callee's entry.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final

from bench_framework.execution.symbols import MOST_NAMES, crate_of, grouped_name, plain_name
from bench_framework.model.record.functions import (
    ALLOCATOR_METRICS,
    UNKNOWN,
    CallCount,
    FunctionCost,
    FunctionCounts,
    allocator_metric,
    is_inside_allocator,
    is_of_program,
)

INSTRUCTIONS_EVENT: Final = "Ir"
SYSTEM_CALLS_EVENT: Final = "sysCount"
DATA_MISSES: Final = ("D1mr", "D1mw")
FIRST_MISSES: Final = ("I1mr", *DATA_MISSES)
LAST_MISSES: Final = ("ILmr", "DLmr", "DLmw")
FIRST_MISS_CYCLES: Final = 10
LAST_MISS_CYCLES: Final = 100
"""Weights of misses in ``CEst`` of KCachegrind: Ir + 10 Bm + 10 L1m + 20 Ge + 100 L2m + 100 LLm
(``knownFormula`` in its `globalconfig.cpp`). callgrind counts the other events only with further options."""
_NAME_LINE: Final = re.compile(r"(?P<key>ob|fn|cob|cfn|fl|fi|fe|cfi|cfl)=\s*(?P<name>.*)")
_NUMBERED: Final = re.compile(r"\((?P<number>\d+)\)(?:\s+(?P<name>.*))?")
_COST: Final = re.compile(r"(?:[+-]?\d+|\*|0x[0-9a-fA-F]+)(?:\s+(?P<costs>\d[\d\s]*))?\s*")
_ADDRESS: Final = re.compile(r"0x[0-9a-f]+")
"""Name of a function without a symbol."""
_RECURSION: Final = re.compile(r"'\d+$")
"""Suffix of a recursion level; all levels are one function."""

Function = tuple[str, str]
"""Name and module of a function."""
LEAST_SHARE: Final = 1e-5
"""Functions with a smaller share of the instructions are left out, unless they are called often."""
LEAST_CALLS: Final = 100
MUCH: Final = 1e-3
"""Calls with a larger share of the instructions are kept, however few they are."""
MOST_FUNCTIONS: Final = 1000
MOST_CALLS: Final = 2000
_SYSTEM_LIBRARY: Final = re.compile(
    r"\?{3}|(?:libc|ld|ld-linux[\w-]*|ld-musl[\w-]*|libc\.musl[\w-]*)(?:-[\d.]+)?\.so.*"
)
"""Files of libc and of the loader, parts of which callgrind assigns to no file.

A program with an allocator of its own causes some calls there, too.
"""


@dataclass(slots=True)
class FunctionCosts:
    """The costs of the functions of a run, summed over its processes."""

    instructions: Counter[Function] = field(default_factory=Counter)
    system_calls: Counter[Function] = field(default_factory=Counter)
    calls: Counter[tuple[Function, Function]] = field(default_factory=Counter)
    """Caller and callee → number of calls."""
    inclusive: Counter[tuple[Function, Function]] = field(default_factory=Counter)
    """Caller and callee → instructions during these calls."""
    events: Counter[str] = field(default_factory=Counter)
    """Name of each event → its number in the run."""

    def read(self, lines: Iterable[str]) -> None:
        """Add the exclusive costs of each function of one file, and the calls between functions."""
        names: dict[tuple[str, str], str] = {}
        now = {"ob": "", "fn": "", "cob": "", "cfn": ""}
        events: list[str] = []
        edge: tuple[Function, Function] | None = None  # of the cost line that follows
        for raw in lines:
            line = raw.strip()
            if line.startswith("events:"):
                events = line.removeprefix("events:").split()
            elif line.startswith("summary:"):
                # Zeros at the end of a line are omitted.
                costs = _costs(events, line.removeprefix("summary:"))
                self.events.update(dict.fromkeys(events, 0) | costs)
            elif entry := _NAME_LINE.fullmatch(line):
                key = entry["key"]
                name = _resolve(names, key, entry["name"])
                if key in now:
                    now[key] = name
            elif line.startswith("calls="):
                number = int(line.removeprefix("calls=").split()[0])
                callee = _function(now["cfn"], now["cob"] or now["ob"])
                edge, now["cob"] = (_function(now["fn"], now["ob"]), callee), ""
                self.calls[edge] += number
            elif cost := _COST.fullmatch(line):
                costs = _costs(events, cost["costs"] or "")
                if edge is not None:
                    self.inclusive[edge] += costs.get(INSTRUCTIONS_EVENT, 0)
                elif now["fn"]:
                    function = _function(now["fn"], now["ob"])
                    if instructions := costs.get(INSTRUCTIONS_EVENT):
                        self.instructions[function] += instructions
                    if system_calls := costs.get(SYSTEM_CALLS_EVENT):
                        self.system_calls[function] += system_calls
                edge = None

    def counters(self) -> dict[str, float]:
        """Return the metrics that follow from the calls. Those that cannot be known are missing.

        Calls within an allocator, and those of libc and of the loader, do not count. If only these are
        visible, the program has another allocator, whose functions have no names or are inlined.
        """
        counts: Counter[str] = Counter()
        for (caller, callee), number in self.calls.items():
            metric = allocator_metric(callee[0])
            outside = not is_inside_allocator(caller[0])
            if metric and outside and not _SYSTEM_LIBRARY.fullmatch(caller[1]):
                counts[metric] += number
        known = {name: float(counts[name]) for name in ALLOCATOR_METRICS} if counts else {}
        if SYSTEM_CALLS_EVENT in self.events:
            known["system_calls"] = float(self.events[SYSTEM_CALLS_EVENT])
        if self.events.keys() >= {*FIRST_MISSES, *LAST_MISSES}:
            data, first, last = (
                float(sum(self.events[event] for event in events))
                for events in (DATA_MISSES, FIRST_MISSES, LAST_MISSES)
            )
            cycles = FIRST_MISS_CYCLES * first + LAST_MISS_CYCLES * last
            cycles += self.events[INSTRUCTIONS_EVENT]
            known |= {"d1_misses": data, "ll_misses": last, "estimated_cycles": cycles}
        return known

    def counted(self, cell_id: str, run: int, program: str) -> FunctionCounts:
        """Return the functions that matter, by their grouped names. Those of the file `program` have no module."""
        instructions, system_calls = _grouped(self.instructions), _grouped(self.system_calls)
        calls: Counter[tuple[Function, Function]] = Counter()
        inclusive: Counter[tuple[Function, Function]] = Counter()
        called: Counter[Function] = Counter()
        for (caller, callee), number in self.calls.items():
            pair = _group_of(caller), _group_of(callee)
            calls[pair] += number
            inclusive[pair] += self.inclusive[caller, callee]
            called[pair[1]] += number
        least = LEAST_SHARE * instructions.total()
        functions = [
            function
            for function in sorted(instructions.keys() | called.keys())
            if instructions[function] >= least
            or called[function] >= LEAST_CALLS
            or system_calls[function]
        ]
        functions = sorted(functions, key=lambda f: (-instructions[f], -called[f], f))[
            :MOST_FUNCTIONS
        ]
        places = {function: place for place, function in enumerate(functions)}
        pairs = [
            CallCount(places[caller], places[callee], number, inclusive[caller, callee])
            for (caller, callee), number in calls.items()
            if caller in places
            and callee in places
            and (number >= LEAST_CALLS or inclusive[caller, callee] >= MUCH * instructions.total())
        ]
        counts = (instructions, called, system_calls)
        costs = (
            FunctionCost(f[0], "" if f[1] == program else f[1], *(count[f] for count in counts))
            for f in functions
        )
        return FunctionCounts(
            cell_id,
            run,
            tuple(costs),
            tuple(sorted(pairs, key=lambda pair: (-pair.calls, pair))[:MOST_CALLS]),
            instructions.total() - sum(instructions[f] for f in functions),
        )

    def of_iteration(
        self, cell_id: str, run: int, program: str, iterates: re.Pattern[str], crate: str
    ) -> FunctionCounts | None:
        """Return the functions of a program that run in the iteration of a benchmark; `None` if none is known.

        They are the functions `iterates` of the harness `crate`, and those that these call, directly or not. Harness
        and program share libraries. Those that are called through them only are of the bench target, or of a
        crate that is called without them. `left_out` has the instructions of libraries that do not call back.
        """
        instructions = _grouped(self.instructions)
        called: Counter[Function] = Counter()
        inclusive: Counter[tuple[Function, Function]] = Counter()
        for (caller, callee), number in self.calls.items():
            pair = _group_of(caller), _group_of(callee)
            called[pair[1]] += number
            inclusive[pair] += self.inclusive[caller, callee]
        callees: dict[Function, set[Function]] = {}
        for source, sink in inclusive:
            callees.setdefault(source, set()).add(sink)
        mine = {f for f in callees.keys() | called.keys() if f[1] == program}
        first = {f for f in mine if iterates.match(f[0])}
        harness = {f for f in mine if crate_of(f[0]) == crate}
        others = {f for f in mine - harness if is_of_program((f[0], ""))}
        below = _reached(first, callees) & others
        starts = first | {f for f in below if crate_of(f[0]) == program.replace("-", "_")}
        direct = _reached(starts, {f: to & (first | others) for f, to in callees.items()})
        crates = {crate_of(f[0]) for f in direct - first} - {""}
        reached = direct | {f for f in below if crate_of(f[0]) in crates}
        left_out = sum(
            number
            for (source, sink), number in inclusive.items()
            if source in reached
            and sink not in reached
            and _reached({sink}, callees).isdisjoint(reached | harness)
        )
        costs = (
            FunctionCost(f[0], "", instructions[f], called[f])
            for f in sorted(reached, key=lambda f: (-instructions[f], f))
        )
        return FunctionCounts(cell_id, run, tuple(costs), (), left_out) if first else None


def _reached(
    starts: Iterable[Function], callees: Mapping[Function, Collection[Function]]
) -> set[Function]:
    """Return functions and what they call, directly or not."""
    reached = {*starts}
    pending = [*reached]
    while pending:
        more = {*callees.get(pending.pop(), ())} - reached
        reached |= more
        pending += more
    return reached


def read_functions(files: Iterable[Path]) -> FunctionCosts:
    """Return the costs of the functions in the files of a run, of which there is one for each process."""
    costs = FunctionCosts()
    for path in sorted(files):
        with path.open(encoding="utf-8", errors="replace") as lines:
            costs.read(lines)
    return costs


def differing(counts: FunctionCounts, first: FunctionCounts) -> FunctionCounts:
    """Return the functions of a later run whose costs differ from those of the first run."""
    known = {cost[:2]: cost for cost in first.functions}
    mine = {cost[:2]: cost for cost in counts.functions}
    rest = (FunctionCost(*name, 0, 0) for name in known if name not in mine)
    changed = [cost for cost in (*counts.functions, *rest) if cost != known.get(cost[:2])]
    return FunctionCounts(counts.cell_id, counts.run, tuple(changed), left_out=counts.left_out)


def _costs(events: Sequence[str], text: str) -> dict[str, int]:
    return dict(zip(events, map(int, text.split()), strict=False))


def _group_of(function: Function) -> Function:
    return grouped_name(function[0]), function[1]


def _grouped(counts: Counter[Function]) -> Counter[Function]:
    grouped: Counter[Function] = Counter()
    for function, number in counts.items():
        grouped[_group_of(function)] += number
    return grouped


@lru_cache(maxsize=MOST_NAMES)
def _function(text: str, module: str) -> Function:
    name = plain_name(_RECURSION.sub("", text))
    name = UNKNOWN if not name or _ADDRESS.fullmatch(name) else name
    return name, PurePosixPath(module).name


def _resolve(names: dict[tuple[str, str], str], key: str, text: str) -> str:
    """Resolve a compressed name; files, objects and functions are numbered separately."""
    kind = {"cob": "ob", "cfn": "fn"}.get(key, key if key in {"ob", "fn"} else "fl")
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return text
    if match["name"] is not None:
        names[kind, match["number"]] = match["name"]
    return names.get((kind, match["number"]), UNKNOWN)
