"""Every metric that benchctl knows by itself, and how a scenario declares one more. Pure data.

`docs/reference/metrics.md` is this list; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

Unit = Literal["s", "bytes", "count", "ratio", "1/s", "bytes/s"]
"""What values are stored in."""
Direction = Literal["lower", "higher", "none"]
"""Which way is better; ``none``: shown, and never judged."""
Judged = Literal["rounds", "medians", "exact", "shown"]
"""How a difference is judged: by paired rounds, by two medians, as a figure of the program alone, or not at all."""


@dataclass(frozen=True, slots=True)
class MetricKind:
    """One metric: what it is called in sentences, what it counts, and where it comes from.

    Attributes:
        name: the same in scenarios, tables and records.
        noun: in sentences, such as ``CPU time``.
        unit: of every stored value.
        direction: which way is better.
        judged: how, if it is named under `judge`; peak memory is judged by medians without being named.
        source: who measures it.
        about: one line for the reference.
        countable: it is "fewer" and "many" of it, not "less" and "much".
    """

    name: str
    noun: str
    unit: Unit
    direction: Direction
    judged: Judged
    source: str
    about: str
    countable: bool = False


_WORKER: Final = "the worker, else one run outside timing"
_CARGO: Final = "the build"

METRICS: Final[dict[str, MetricKind]] = {
    kind.name: kind
    for kind in (
        MetricKind("wall", "time", "s", "lower", "rounds", "hyperfine", "elapsed time of a run"),
        MetricKind(
            "cpu", "CPU time", "s", "lower", "rounds", "hyperfine",
            "processor time of a run and of what it waited for: user plus system",
        ),
        MetricKind("user", "user CPU time", "s", "lower", "rounds", "hyperfine", "processor time in the program"),
        MetricKind("sys", "system CPU time", "s", "lower", "rounds", "hyperfine", "processor time in the kernel"),
        MetricKind(
            "cores_used", "cores used", "ratio", "none", "shown", "derived",
            "CPU time divided by elapsed time, of the two medians", countable=True,
        ),
        MetricKind(
            "throughput", "throughput", "bytes/s", "higher", "shown", "derived",
            "size of the input, or bytes that the worker reports, divided by the median time; judged as `wall`",
        ),
        MetricKind(
            "peak_rss", "memory", "bytes", "lower", "medians", "the worker (VmHWM), else hyperfine",
            "largest resident set, mapped file pages included",
        ),
        MetricKind(
            "anon_bytes", "anonymous memory", "bytes", "lower", "shown", "the worker",
            "resident anonymous pages at the end of a run (RssAnon)",
        ),
        MetricKind(
            "file_bytes", "mapped file memory", "bytes", "lower", "shown", "the worker",
            "resident file pages at the end of a run (RssFile)",
        ),
        MetricKind(
            "minor_faults", "page faults without I/O", "count", "lower", "rounds", _WORKER,
            "pages that the kernel mapped without reading", countable=True,
        ),
        MetricKind(
            "major_faults", "page faults with I/O", "count", "lower", "rounds", _WORKER,
            "pages that had to be read first", countable=True,
        ),
        MetricKind(
            "ctx_vol", "voluntary context switches", "count", "lower", "rounds", _WORKER,
            "times that the program waited and gave up its core", countable=True,
        ),
        MetricKind(
            "ctx_invol", "involuntary context switches", "count", "lower", "rounds", _WORKER,
            "times that the kernel took its core away", countable=True,
        ),
        MetricKind(
            "read_bytes", "bytes read from storage", "bytes", "lower", "rounds", _WORKER,
            "bytes that came from storage, not from the page cache", countable=True,
        ),
        MetricKind(
            "write_bytes", "bytes written to storage", "bytes", "lower", "rounds", _WORKER,
            "bytes that were sent towards storage", countable=True,
        ),
        MetricKind(
            "instructions", "instructions", "count", "lower", "exact", "valgrind or perf, outside timing",
            "instructions of the program in user code; says nothing of I/O, locks and waiting", countable=True,
        ),
        MetricKind("binary_size", "binary size", "bytes", "lower", "exact", _CARGO, "size of the binary's file"),
        MetricKind(
            "stripped_size", "size without symbols", "bytes", "lower", "exact", _CARGO,
            "size of the binary without symbols",
        ),
        MetricKind(
            "dependencies", "dependencies", "count", "lower", "exact", _CARGO,
            "packages compiled for the binary with its features, build scripts' among them, its own not counted",
            countable=True,
        ),
        MetricKind(
            "build_time", "build time", "s", "lower", "shown", _CARGO,
            "elapsed time of cargo; none where the binary was there already, and never of two builds alike",
        ),
    )
}  # fmt: skip
"""By name, in the order of the reference."""

RECEIPT_COUNTS: Final = (
    "anon_bytes", "file_bytes", "minor_faults", "major_faults", "ctx_vol", "ctx_invol", "read_bytes", "write_bytes",
)  # fmt: skip
"""What a worker with the contract counts in every run."""
OBSERVED: Final = ("minor_faults", "major_faults", "ctx_vol", "ctx_invol", "read_bytes", "write_bytes")
"""What the kernel counts of a program without the contract, in one run outside timing."""

UNITS: Final[dict[str, tuple[Unit, float]]] = {
    "s": ("s", 1.0), "ms": ("s", 1e-3), "us": ("s", 1e-6), "µs": ("s", 1e-6), "ns": ("s", 1e-9),
    "bytes": ("bytes", 1.0), "kB": ("bytes", 1e3), "MB": ("bytes", 1e6), "GB": ("bytes", 1e9),
    "KiB": ("bytes", 2.0**10), "MiB": ("bytes", 2.0**20), "GiB": ("bytes", 2.0**30),
    "count": ("count", 1.0), "ratio": ("ratio", 1.0), "%": ("ratio", 0.01), "1/s": ("1/s", 1.0),
    "bytes/s": ("bytes/s", 1.0), "kB/s": ("bytes/s", 1e3), "MB/s": ("bytes/s", 1e6), "GB/s": ("bytes/s", 1e9),
    "KiB/s": ("bytes/s", 2.0**10), "MiB/s": ("bytes/s", 2.0**20), "GiB/s": ("bytes/s", 2.0**30),
}  # fmt: skip
"""Unit as a program prints it → the unit that is stored, and what a value is multiplied by."""


@dataclass(frozen=True, slots=True)
class DeclaredMetric:
    """A number that a program prints or reports, and a scenario gives a name.

    Attributes:
        name: small letters, digits and ``_``.
        source: stdout, the file that holds the answer, or the line of a worker with the contract.
        unit: of the stored values.
        scale: what a printed number is multiplied by to be in `unit`.
        direction: which way is better.
        path: keys and indexes into JSON; empty where `regex` is used, or for a worker's metric of this name.
        regex: with one group, which holds the number.
        about: the author's words.
    """

    name: str
    source: Literal["stdout", "answer", "worker"]
    unit: Unit = "count"
    scale: float = 1.0
    direction: Direction = "none"
    path: tuple[str | int, ...] = ()
    regex: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class InstructionPolicy:
    """How instructions are counted.

    Attributes:
        runs: repetitions of each cell.
        timeout_s: of one of them.
        tool: which counter.
        optional: only the gate asks for them: where nothing can count, everything else is measured all the same.
    """

    runs: int = 3
    timeout_s: float = 600.0
    tool: Literal["valgrind", "perf"] = "valgrind"
    optional: bool = False


def is_exact(metric: str) -> bool:
    """Whether a metric belongs to the program and not to its runs, so that rounds have nothing to say about it."""
    kind = METRICS.get(metric)
    return kind is not None and kind.judged == "exact"


def sampled(metrics: Iterable[str]) -> tuple[str, ...]:
    """Those that are judged by rounds."""
    return tuple(metric for metric in metrics if not is_exact(metric))


def column_of(name: str, unit: str) -> str:
    """``w_records`` for a count, ``w_parse_s`` for a time: the unit is a suffix, once, unless it is none."""
    suffix = {"s": "s", "bytes": "bytes", "1/s": "per_s", "bytes/s": "bytes_per_s"}.get(unit, "")
    return f"w_{name}" if not suffix or name.endswith(f"_{suffix}") else f"w_{name}_{suffix}"
