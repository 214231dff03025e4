"""Built-in metrics, as in `docs/reference/metrics.md`, and those that a scenario declares."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from bench_framework.registry import registry
from bench_framework.units import Unit

MetricDirection = Literal["lower", "higher", "none"]
"""Better direction of a metric. ``none``: the metric is reported and not judged."""
Judged = Literal["rounds", "medians", "exact", "shown"]
"""How a difference is judged: by paired rounds, by two medians, as an exact property of the
program, or not at all (``shown``)."""

WALL: Final = "wall"
CPU: Final = "cpu"
WORK_TIMES: Final = {"synced_s": "work time with syncs", "elapsed_s": "work time"}
"""Times that a worker reports for its work, by preference, with their nouns; `outside` is the rest of a run."""
PEAK_RSS: Final = "peak_rss"
LEAST_BYTES: Final = 1 << 20
"""A smaller difference in bytes makes no practical difference, whatever its ratio: a program that starts reads
files of this size."""
INSTRUCTIONS: Final = "instructions"
ITERATION: Final = "iteration"
"""Time per iteration of a benchmark, in place of the time of its process."""


@dataclass(frozen=True, slots=True)
class MetricKind:
    """A metric: its names, unit, direction and source."""

    name: str
    """Identifier in scenarios, tables and records."""
    noun: str
    """Name in sentences, such as `CPU time`."""
    about: str
    """One-line description for the reference, the columns of tables and the legend of the report."""
    unit: Unit
    """Unit of every stored value."""
    direction: MetricDirection
    judged: Judged
    """How differences are judged if `judge` names the metric. Peak memory is always judged by medians."""
    source: str
    """The program or file that supplies the values."""
    countable: bool = False
    """True if sentences use "fewer" and "many" instead of "less" and "much"."""
    title: str = ""
    """Column heading in the report. If it is empty, the noun is used."""
    gated: bool = False
    """True if the gate of a scenario accepts a tolerated growth for it."""
    kernel_key: str = ""
    """Name in getrusage(2) or /proc/PID/io, where the kernel counts it for every program."""
    formula: tuple[str, str] | None = None
    """Numerator and denominator of a derived metric, both metrics of a round."""
    counted: bool = False
    """True if untimed runs count it exactly. `simulated`: they need a simulation of the caches for it."""
    simulated: bool = False

    @property
    def heading(self) -> str:
        """Title of its column in the report, without the unit."""
        return self.title or self.noun[:1].upper() + self.noun[1:]

    @property
    def elapsed(self) -> bool:
        """True for an elapsed time, false for processor time: a program takes the one and uses the other."""
        return self.unit == "s" and self.name not in (CPU, "user", "sys")


DERIVED: Final = "derived"
BUILD: Final = "the build"
COUNTING: Final = "valgrind"
"""The tool of untimed runs that count exactly."""
_time = partial(
    MetricKind, unit="s", direction="lower", judged="rounds", source="hyperfine", gated=True
)
_rate = partial(MetricKind, judged="shown", source=DERIVED)
_memory = partial(
    MetricKind, unit="bytes", direction="lower", judged="shown", source="a run outside timing"
)
_wait = partial(
    MetricKind, unit="s", direction="none", judged="shown", source="one run outside timing"
)
_IDLE: Final = "time in which no thread could run and"
_WAITS: Final = (
    (
        "total",
        "waiting",
        "elapsed time minus processor time; too small if more than one core was used at times",
    ),
    ("disk", "waiting for a disk", f"{_IDLE} one waited for a block device, also for a page"),
    ("io_uring", "waiting for completions", f"{_IDLE} one waited for io_uring or AIO"),
    ("sleep", "sleeping", f"{_IDLE} one slept for a given time"),
    ("lock", "waiting for a lock", f"{_IDLE} all waited for a lock, or for another thread"),
    ("core", "waiting for a core", "time in which threads could run and had no core, and none ran"),
)
_counter = partial(
    MetricKind,
    unit="count",
    direction="lower",
    judged="rounds",
    source="the worker, else one run outside timing",
    countable=True,
)
_counted = partial(
    MetricKind,
    unit="count",
    direction="lower",
    judged="exact",
    source=f"{COUNTING}, outside timing",
    countable=True,
    gated=True,
    counted=True,
)
_simulated = partial(
    _counted, source=f"{COUNTING} with a simulation of the caches, outside timing", simulated=True
)
_of_build = partial(MetricKind, unit="bytes", direction="lower", judged="exact", source=BUILD)

METRICS: Final[dict[str, MetricKind]] = {
    kind.name: kind
    for kind in (
        _time(WALL, "time", "elapsed time of a run"),
        _time(
            CPU, "CPU time", "processor time of a run and of what it waited for: user plus system"
        ),
        _time("user", "user CPU time", "processor time in the program", title="User"),
        _time("sys", "system CPU time", "processor time in the kernel", title="System"),
        _time(
            ITERATION,
            "time per iteration",
            "elapsed time of one iteration of a benchmark, as its harness reports it",
            source="the harness of the benchmark",
        ),
        MetricKind(
            "outside",
            "time outside the work",
            "elapsed time of a run minus the time that the worker reports for its work "
            "(`synced_s`, else `elapsed_s`): start and end of the program",
            unit="s",
            direction="lower",
            judged="rounds",
            source="hyperfine and the worker",
        ),
        _rate(
            "cores_used",
            "cores used",
            "CPU time divided by elapsed time, of the two medians",
            unit="ratio",
            direction="none",
            countable=True,
        ),
        _rate(
            "throughput",
            "throughput",
            "size of the input, or bytes that the worker reports, divided by the median time; "
            "judged as `wall`",
            unit="bytes/s",
            direction="higher",
        ),
        MetricKind(
            PEAK_RSS,
            "memory",
            "largest resident set, mapped file pages included",
            unit="bytes",
            direction="lower",
            judged="medians",
            source="the worker (VmHWM), else hyperfine",
            gated=True,
        ),
        _memory(
            "anon_bytes",
            "anonymous memory",
            "heap, stacks and shared memory (RssAnon, RssShmem) at the peak of the resident set",
        ),
        _memory(
            "file_bytes",
            "mapped file memory",
            "pages of mapped files (RssFile) at the peak of the resident set",
        ),
        *(_wait(f"wait_{part}", noun, about) for part, noun, about in _WAITS),
        _wait("fault_cost", "cost of a minor page fault", "processor time for a new small page"),
        _counter(
            "minor_faults",
            "minor page faults",
            "pages that the kernel mapped without reading",
            kernel_key="ru_minflt",
        ),
        _counter(
            "major_faults",
            "major page faults",
            "pages that had to be read first",
            kernel_key="ru_majflt",
        ),
        _rate(
            "major_faults_per_s",
            "major page faults per second",
            "major page faults divided by elapsed time",
            unit="1/s",
            direction="none",
            countable=True,
            formula=("major_faults", WALL),
        ),
        _counter(
            "ctx_vol",
            "voluntary context switches",
            "times that the program gave up its core to wait",
            kernel_key="ru_nvcsw",
        ),
        _counter(
            "ctx_invol",
            "involuntary context switches",
            "times that the kernel gave its core to another thread",
            kernel_key="ru_nivcsw",
        ),
        _counter(
            "read_bytes",
            "bytes read from storage",
            "bytes that came from storage, not from the page cache",
            unit="bytes",
            title="Read from storage",
            kernel_key="read_bytes",
        ),
        _counter(
            "write_bytes",
            "bytes written to storage",
            "bytes that were sent towards storage",
            unit="bytes",
            title="Written to storage",
            kernel_key="write_bytes",
        ),
        _counted(
            INSTRUCTIONS,
            "instructions",
            "instructions of the program in user code; excludes I/O, locks and waiting",
            source=f"{COUNTING} or perf, outside timing",
        ),
        _counted(
            "allocations",
            "allocations",
            "calls for memory by the program and its libraries, such as malloc and calloc, without those of libc; "
            "unknown if no function of an allocator is visible",
        ),
        _counted(
            "reallocations",
            "reallocations",
            "calls that change the size of allocated memory, such as realloc; known if `allocations` are",
        ),
        _counted(
            "deallocations",
            "deallocations",
            "calls that free memory, such as free; known if `allocations` are",
        ),
        _counted("system_calls", "system calls", "system calls of a run, with those of its start"),
        _simulated(
            "d1_misses", "D1 cache misses", "data accesses that miss the simulated first cache"
        ),
        _simulated("ll_misses", "LL cache misses", "accesses that miss the simulated last cache"),
        _simulated(
            "estimated_cycles",
            "estimated cycles",
            "instructions + 10 × misses of the first caches + 100 × LL misses; a weight, not a time",
        ),
        _of_build("binary_size", "binary size", "size of the binary's file", gated=True),
        _of_build("stripped_size", "size without symbols", "size of the binary without symbols"),
        _of_build(
            "dependencies",
            "dependencies",
            "packages compiled for the binary with its features, including those of build scripts, "
            "without its own",
            unit="count",
            countable=True,
        ),
        _of_build(
            "build_time",
            "build time",
            "elapsed time of one cargo build without packages that an earlier one compiled; missing if "
            "the binary existed already",
            unit="s",
            judged="shown",
            gated=True,
        ),
    )
}
"""The built-in metrics by name, in the order of the reference, then those of extensions.

A metric that a worker counts also needs a line in `native/crates/worker/src/usage.rs`."""

for _target in registry().additions("metric", METRICS):
    with registry().loading(_target):
        if not METRICS.keys() >= {*_target.options["formula"]}:
            raise ValueError(f"the formula of the metric {_target.name} names an unknown one")
        METRICS[_target.name] = _rate(_target.name, direction="none", **_target.options)

ANONYMOUS: Final = "anon_bytes"
MEMORY_PARTS: Final = (ANONYMOUS, "file_bytes")
"""Parts of the memory at the peak, from runs outside timing."""
GATED: Final = tuple(kind for kind in METRICS.values() if kind.gated)
"""Metrics for which `gate` accepts a tolerated growth."""
COUNTED: Final = tuple(kind.name for kind in METRICS.values() if kind.counted)
"""Exact metrics that are counted together in untimed runs."""
SIMULATED: Final = tuple(kind.name for kind in METRICS.values() if kind.simulated)
"""Those of them that need a simulation of the caches."""
OF_A_BLOCK: Final = tuple(
    kind.name for kind in METRICS.values() if kind.judged in {"rounds", "medians"} or kind.formula
)
"""Metrics that a block of timed runs may have."""
RECEIPT_KEYS: Final = {
    PEAK_RSS: "peak_rss_bytes",
    **{kind.name: kind.name for kind in METRICS.values() if kind.kernel_key},
}
"""Key in the answer line of each metric that a worker with the contract counts in every run."""
KERNEL_KEYS: Final = {kind.name: kind.kernel_key for kind in METRICS.values() if kind.kernel_key}
"""Kernel name of each metric that is counted outside timing for a program without the contract."""
WAITING: Final = "wait_total"
WAITS: Final = tuple(f"wait_{part}" for part, *_ in _WAITS[1:])
"""Parts of `WAITING`. Parts that the machine does not report are missing."""
FAULT_COST: Final = "fault_cost"
UNTIMED: Final = (WAITING, *WAITS, FAULT_COST)
"""Times of one run outside timing, and of the machine."""
SYSTEM_COUNTERS: Final = tuple(
    kind.name for kind in METRICS.values() if kind.kernel_key or kind.formula
)
"""Kernel counters and the metrics derived from them, in the order of the report."""


def is_exact(metric: str) -> bool:
    """Return whether a metric is exact: a property of the program, equal in all rounds."""
    kind = METRICS.get(metric)
    return kind is not None and kind.judged == "exact"


def sampled(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return the metrics that are judged by rounds, which are all but the exact ones."""
    return tuple(metric for metric in metrics if not is_exact(metric))


def column_of(name: str, unit: str) -> str:
    """Return the column of a metric: ``w_records`` for a count, ``w_parse_s`` for a time.

    The unit is a suffix, which is not repeated if the name has it. Counts and ratios have none.
    """
    suffix = {"s": "s", "bytes": "bytes", "1/s": "per_s", "bytes/s": "bytes_per_s"}.get(unit, "")
    return f"w_{name}" if not suffix or name.endswith(f"_{suffix}") else f"w_{name}_{suffix}"
