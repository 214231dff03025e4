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
"""How a difference is judged: by paired rounds, by two medians, as a figure of the program alone,
or not at all."""


WALL: Final = "wall"
CPU: Final = "cpu"
PEAK_RSS: Final = "peak_rss"
INSTRUCTIONS: Final = "instructions"


@dataclass(frozen=True, slots=True)
class MetricKind:
    """One metric: its name in sentences, what it counts, and where it comes from.

    Attributes:
        name: the same in scenarios, tables and records.
        noun: its name in sentences, such as `CPU time`.
        unit: unit of every stored value.
        direction: which way is better.
        judged: how it is judged if `judge` names it; peak memory is always judged by medians.
        source: the program or file that supplies the values.
        about: one line for the reference, the columns of the tables and the report's legend.
        countable: sentences say "fewer" and "many" of it, not "less" and "much".
        title: heading of its column in the report; empty for the noun.
        gated: the gate of a scenario takes a tolerated growth for it.
        receipt_key: its key in the answer line of a worker that follows the protocol.
        kernel_key: its name in getrusage(2) or /proc/PID/io, by which the kernel counts it for any
            program.
        formula: numerator and denominator, both metrics of a round, for a metric that is derived.
    """

    name: str
    noun: str
    unit: Unit
    direction: Direction
    judged: Judged
    source: str
    about: str
    countable: bool = False
    title: str = ""
    gated: bool = False
    receipt_key: str = ""
    kernel_key: str = ""
    formula: tuple[str, str] | None = None

    @property
    def heading(self) -> str:
        """Title of its column in the report, without the unit."""
        return self.title or self.noun[:1].upper() + self.noun[1:]


def _time(name: str, noun: str, about: str, title: str = "") -> MetricKind:
    return MetricKind(
        name, noun, "s", "lower", "rounds", "hyperfine", about, title=title, gated=True
    )


def _rate(
    name: str,
    noun: str,
    unit: Unit,
    direction: Direction,
    about: str,
    formula: tuple[str, str] | None = None,
) -> MetricKind:
    countable = unit != "bytes/s"
    return MetricKind(
        name, noun, unit, direction, "shown", DERIVED, about, countable, formula=formula
    )


def _memory(name: str, noun: str, about: str) -> MetricKind:
    return MetricKind(name, noun, "bytes", "lower", "shown", "the worker", about, receipt_key=name)


def _system_counter(
    name: str, noun: str, about: str, kernel_key: str, unit: Unit = "count", title: str = ""
) -> MetricKind:
    """A counter of the kernel: in the answer line of a worker, else counted in one run outside timing."""
    source = "the worker, else one run outside timing"
    return MetricKind(
        name,
        noun,
        unit,
        "lower",
        "rounds",
        source,
        about,
        countable=True,
        title=title,
        receipt_key=name,
        kernel_key=kernel_key,
    )


def _of_build(
    name: str, noun: str, about: str, unit: Unit = "bytes", *, gated: bool = False
) -> MetricKind:
    judged: Judged = "shown" if unit == "s" else "exact"
    return MetricKind(name, noun, unit, "lower", judged, BUILD, about, unit == "count", gated=gated)


DERIVED: Final = "derived"
BUILD: Final = "the build"

METRICS: Final[dict[str, MetricKind]] = {
    kind.name: kind
    for kind in (
        _time(WALL, "time", "elapsed time of a run"),
        _time(
            CPU, "CPU time", "processor time of a run and of what it waited for: user plus system"
        ),
        _time("user", "user CPU time", "processor time in the program", "User"),
        _time("sys", "system CPU time", "processor time in the kernel", "System"),
        _rate(
            "cores_used",
            "cores used",
            "ratio",
            "none",
            "CPU time divided by elapsed time, of the two medians",
        ),
        _rate(
            "throughput",
            "throughput",
            "bytes/s",
            "higher",
            "size of the input, or bytes that the worker reports, divided by the median time; judged as `wall`",
        ),
        MetricKind(
            PEAK_RSS,
            "memory",
            "bytes",
            "lower",
            "medians",
            "the worker (VmHWM), else hyperfine",
            "largest resident set, mapped file pages included",
            gated=True,
            receipt_key="peak_rss_bytes",
        ),
        _memory(
            "anon_bytes",
            "anonymous memory",
            "resident anonymous pages at the end of a run (RssAnon)",
        ),
        _memory(
            "file_bytes", "mapped file memory", "resident file pages at the end of a run (RssFile)"
        ),
        _system_counter(
            "minor_faults",
            "minor page faults",
            "pages that the kernel mapped without reading",
            "ru_minflt",
        ),
        _system_counter(
            "major_faults", "major page faults", "pages that had to be read first", "ru_majflt"
        ),
        _rate(
            "major_faults_per_s",
            "major page faults per second",
            "1/s",
            "none",
            "major page faults divided by elapsed time",
            ("major_faults", WALL),
        ),
        _system_counter(
            "ctx_vol",
            "voluntary context switches",
            "times that the program waited and gave up its core",
            "ru_nvcsw",
        ),
        _system_counter(
            "ctx_invol",
            "involuntary context switches",
            "times that the kernel took its core away",
            "ru_nivcsw",
        ),
        _system_counter(
            "read_bytes",
            "bytes read from storage",
            "bytes that came from storage, not from the page cache",
            "read_bytes",
            "bytes",
            "Read from storage",
        ),
        _system_counter(
            "write_bytes",
            "bytes written to storage",
            "bytes that were sent towards storage",
            "write_bytes",
            "bytes",
            "Written to storage",
        ),
        MetricKind(
            INSTRUCTIONS,
            "instructions",
            "count",
            "lower",
            "exact",
            "valgrind or perf, outside timing",
            "instructions of the program in user code; excludes I/O, locks and waiting",
            countable=True,
            gated=True,
        ),
        _of_build("binary_size", "binary size", "size of the binary's file", gated=True),
        _of_build("stripped_size", "size without symbols", "size of the binary without symbols"),
        _of_build(
            "dependencies",
            "dependencies",
            "packages compiled for the binary with its features, build scripts' among them, its own not counted",
            "count",
        ),
        _of_build(
            "build_time",
            "build time",
            "elapsed time of cargo; none where the binary was there already, and never of two builds alike",
            "s",
            gated=True,
        ),
    )
}
"""Every built-in metric by name, in the order of the reference. A new metric is one entry here; one
that a worker counts is also one line in `native/crates/worker/src/usage.rs`."""

GATED: Final = tuple(kind for kind in METRICS.values() if kind.gated)
"""Metrics for which `gate` takes a tolerated growth."""
OF_A_BLOCK: Final = tuple(
    kind.name
    for kind in METRICS.values()
    if kind.judged in {"rounds", "medians"} or kind.receipt_key or kind.formula
)
"""Metrics that a block of timed runs may have."""
RECEIPT_KEYS: Final = {kind.name: kind.receipt_key for kind in METRICS.values() if kind.receipt_key}
"""Metric to its key in the answer line, of what a worker with the contract counts in every run."""
KERNEL_KEYS: Final = {kind.name: kind.kernel_key for kind in METRICS.values() if kind.kernel_key}
"""Metric to its name in the kernel, of what is counted of a program without the contract, outside
timing."""
SYSTEM_COUNTERS: Final = tuple(
    kind.name for kind in METRICS.values() if kind.kernel_key or kind.formula
)
"""Counters of the kernel and what is derived from them, as the report shows them."""

UNITS: Final[dict[str, tuple[Unit, float]]] = {
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "us": ("s", 1e-6),
    "µs": ("s", 1e-6),
    "ns": ("s", 1e-9),
    "bytes": ("bytes", 1.0),
    "kB": ("bytes", 1e3),
    "MB": ("bytes", 1e6),
    "GB": ("bytes", 1e9),
    "KiB": ("bytes", 2.0**10),
    "MiB": ("bytes", 2.0**20),
    "GiB": ("bytes", 2.0**30),
    "count": ("count", 1.0),
    "ratio": ("ratio", 1.0),
    "%": ("ratio", 0.01),
    "1/s": ("1/s", 1.0),
    "bytes/s": ("bytes/s", 1.0),
    "kB/s": ("bytes/s", 1e3),
    "MB/s": ("bytes/s", 1e6),
    "GB/s": ("bytes/s", 1e9),
    "KiB/s": ("bytes/s", 2.0**10),
    "MiB/s": ("bytes/s", 2.0**20),
    "GiB/s": ("bytes/s", 2.0**30),
}
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
        path: keys and indexes into JSON; empty where `regex` is used, or for a worker's metric of
            this name.
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
        optional: only the gate asks for them: where nothing can count, everything else is measured
            all the same.
    """

    runs: int = 3
    timeout_s: float = 600.0
    tool: Literal["valgrind", "perf"] = "valgrind"
    optional: bool = False


def is_exact(metric: str) -> bool:
    """Return whether a metric is exact: a property of the program, equal in all rounds."""
    kind = METRICS.get(metric)
    return kind is not None and kind.judged == "exact"


def sampled(metrics: Iterable[str]) -> tuple[str, ...]:
    """Those that are judged by rounds."""
    return tuple(metric for metric in metrics if not is_exact(metric))


def column_of(name: str, unit: str) -> str:
    """``w_records`` for a count, ``w_parse_s`` for a time: the unit is a suffix, once, unless it is none."""
    suffix = {"s": "s", "bytes": "bytes", "1/s": "per_s", "bytes/s": "bytes_per_s"}.get(unit, "")
    return f"w_{name}" if not suffix or name.endswith(f"_{suffix}") else f"w_{name}_{suffix}"
