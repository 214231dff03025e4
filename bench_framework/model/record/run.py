"""Measured data: builds, blocks and the reports of workers. Immutable, no I/O."""

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from bench_framework.model.metrics import CPU, METRICS, PEAK_RSS, RECEIPT_KEYS, WALL, WORK_TIMES
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.sensors import PageCache, Sensors

SIGNAL_BASE: Final = 128
"""A program that was killed by signal n has the exit code 128 + n."""
Status = Literal["ok", "failed", "timeout", "other-output", "skipped"]
"""Status of a block. ``skipped``: measured in a round that was interrupted, and not used."""
CountStatus = Literal["ok", "failed", "timeout"]
Severity = Literal["note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a run. Equal digests mean equal results."""

    digest: str
    count: int | None = None
    distinct: int | None = None
    source: Literal["worker", "stdout", "file", "check", "none"] = "worker"
    differing: float | None = None
    """Share of lines that differ from the baseline's and are tolerated; 0 if only numbers differ
    within the tolerance. Its digest is then the baseline's. `None`: the texts are equal."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The report of a worker about its run (docs/reference/worker-protocol.md)."""

    effective: Mapping[str, str] = field(default_factory=dict)
    threads: int | None = None
    phases_s: Mapping[str, float] = field(default_factory=dict)
    bytes: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    """Value of each built-in metric that the worker reported, by the metric's name."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """The consecutive runs of one cell in one round: one hyperfine call.

    All times in seconds, sizes in bytes. `user_s` and `sys_s` are means over the runs; of a cell with a
    server, they are its CPU time, and `peak_rss_bytes` is its memory.
    """

    seq: int
    """Order of execution within the record, from 0, counting every block."""
    round: int
    """Round of the input, from 1. Warm-up rounds have `warmup` set."""
    position: int
    """Position within the round, from 0."""
    cell_id: str
    warmup: bool
    status: Status
    started_at: str
    """Start time, UTC, ISO 8601 with milliseconds."""
    wall_s: tuple[float, ...] = ()
    user_s: float | None = None
    sys_s: float | None = None
    peak_rss_bytes: int | None = None
    peak_rss_source: Literal["worker", "hyperfine", "server"] | None = None
    exit_codes: tuple[int | None, ...] = ()
    signal: str | None = None
    answer: Answer | None = None
    receipts: tuple[Receipt, ...] = ()
    """Receipt of each run for a worker with the contract, else empty."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Declared metrics that the last run printed, in stored units. The metrics of a worker are in
    its receipts."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Reason for each declared metric that could not be read."""
    sensors: Sensors = field(default_factory=Sensors)
    page_cache: PageCache | None = None
    """State of the page cache, `None` without an input."""
    message: str | None = None
    """Reason for a failure, in one line."""
    left: int = 0
    """Number of processes that the runs left behind. They were ended after the block."""
    stderr_log: str | None = None
    """Path within the record of the stderr of a failed run, which was repeated to capture it."""

    @property
    def void(self) -> bool:
        """True if a run failed or exceeded its time limit, so that the block has no result."""
        return self.status in {"failed", "timeout"}

    @property
    def wall(self) -> float | None:
        """Wall time of the block in seconds: the median of its runs."""
        return statistics.median(self.wall_s) if self.wall_s else None

    @property
    def cpu(self) -> float | None:
        """User plus system seconds: the mean over runs, whose errors in ticks cancel."""
        return None if self.user_s is None or self.sys_s is None else self.user_s + self.sys_s

    @property
    def timed_out(self) -> bool:
        """True if a run was killed after its time limit."""
        return self.status == "timeout"

    @property
    def failure(self) -> Reason:
        """Return how a run failed, for a block with a failed run."""
        code = ReasonCode.TIMED_OUT if self.timed_out else ReasonCode.RUN_FAILED
        return Reason(code, self.message or "")

    @property
    def output_reason(self) -> Reason:
        """Return how the output differs from the expected one, for a block whose output does."""
        return Reason(ReasonCode.OTHER_OUTPUT, self.message or "")

    def metric(self, name: str) -> float | None:
        """Return the block's value of a metric, or `None` if it was not measured."""
        if (value := _OF_BLOCK.get(name)) is not None:
            return value(self)
        if (kind := METRICS.get(name)) is not None and kind.formula is not None:
            above, below = (self.metric(part) for part in kind.formula)
            return above / below if above is not None and below else None
        if name in RECEIPT_KEYS:
            counts = [r.counts[name] for r in self.receipts if name in r.counts]
            return float(statistics.median(counts)) if counts else None
        values = [r.metrics[name] for r in self.receipts if name in r.metrics]
        return statistics.median(values) if values else self.metrics.get(name)


def _outside(block: Block) -> float | None:
    """Return the time of a run outside the work that the worker timed; it is never negative."""
    clocks = (block.metric(name) for name in WORK_TIMES)
    work = next((value for value in clocks if value is not None), None)
    return None if block.wall is None or work is None else max(0.0, block.wall - work)


_OF_BLOCK: Final[Mapping[str, Callable[[Block], float | None]]] = {
    WALL: lambda block: block.wall,
    CPU: lambda block: block.cpu,
    "outside": _outside,
    "user": lambda block: block.user_s,
    "sys": lambda block: block.sys_s,
    PEAK_RSS: lambda block: None if block.peak_rss_bytes is None else float(block.peak_rss_bytes),
}


@dataclass(frozen=True, slots=True)
class Preload:
    """An allocator in a shared library that is injected into a program with LD_PRELOAD."""

    name: str
    path: str
    sha256: str
    source: str = ""
    """Crate and version that the library was built from, empty for a library of the user."""
    allocations: int = 0
    """Calls of `malloc` and `calloc` by the program that reached the library in a run outside timing,
    without those of libc. After 1000, they are not counted."""
    least_peak_bytes: int = 0
    """Smallest peak memory that is known to be the program's and not that of hyperfine."""

    def __str__(self) -> str:
        return f"{self.name} ({self.source})" if self.source else self.name


@dataclass(frozen=True, slots=True)
class Training:
    """The profile of a build with profile-guided optimisation, and where it is from."""

    commands: tuple[str, ...]
    """Command lines of the training runs."""
    path: str
    """File of the profile in the cache."""
    sha256: str
    functions: int
    """Functions whose executions the profile counts."""
    largest: int
    """Largest number of executions of one function."""
    tool: str
    """Version of llvm-profdata, such as ``LLVM 19.1.7``."""
    mismatches: int = 0
    """Functions of local packages for which the compiler warned that the profile does not fit."""
    missing: int | None = None
    """Functions of local packages for which the compiler found no profile, `None` if it did not say."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Command line and failure of each training run that failed. The profile does not contain it."""


@dataclass(frozen=True, slots=True)
class BenchTarget:
    """A built bench target, as its harness describes it."""

    harness: str
    """Name in `execution/benches`."""
    ids: tuple[str, ...]
    """Ids of its benchmarks, in its order."""
    folder: str
    """Absolute folder of the package, in which cargo runs benchmarks."""
    options: tuple[str, ...] = ()
    """Options for a short measurement that this version of the harness accepts."""
    seconds: float = 0.0
    """Usual duration of a process with these options."""


@dataclass(frozen=True, slots=True)
class Build:
    """A binary, or the reason for its failed build."""

    id: str
    """`BuildSpec.id`, or ``"program"`` for a program that benchctl does not build."""
    ok: bool
    sha256: str | None = None
    path: str | None = None
    """Absolute path in the binary store, or of the program."""
    control_path: str | None = None
    """Absolute path of the copy that the A/A control runs."""
    size_bytes: int | None = None
    stripped_bytes: int | None = None
    code_sha256: str | None = None
    """Digest of the binary without symbols and build id. It is equal for builds of the same code
    with different features, whose symbol names differ."""
    build_s: float | None = None
    """Duration of the build in seconds, `None` if the binary existed already."""
    cached: bool = False
    rustc: str | None = None
    wrapper: str | None = None
    """Program that cargo called in place of rustc, such as ``sccache 0.10.0``, if any."""
    lockfile_sha256: str | None = None
    revision: str | None = None
    """Commit id, or version of a released crate."""
    dirty: bool | None = None
    source: str | None = None
    """Registry of a released crate."""
    source_sha256: str | None = None
    """Checksum of the archive of a released crate."""
    describe: Mapping[str, object] | None = None
    """Output of ``WORKER describe``, `None` without the contract."""
    dependencies: int | None = None
    direct_dependencies: tuple[tuple[str, str], ...] = ()
    """Name and version of the packages that the crate, or a crate in a folder that it uses, names
    as dependencies and links."""
    packages: tuple[tuple[str, str], ...] = ()
    """Name and versions of the packages from a registry or repository that cargo compiles for the binary."""
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of the profile and of the compiler in manifest and configuration, by cargo's keys."""
    sections: tuple[tuple[str, int], ...] = ()
    """Bytes of the sections of the file that are loaded, by name."""
    crates: tuple[tuple[str, int], ...] = ()
    """Bytes of the functions of each crate, by name; empty if the file has no symbols."""
    message: str | None = None
    log: str | None = None
    preload: Preload | None = None
    training: Training | None = None
    """Profile of profile-guided optimisation; `None` without it."""
    linker: str | None = None
    """Linker that the binary names, such as ``LLD 21.1.8``; `None` if it is not known."""
    versions: tuple[tuple[str, str], ...] = ()
    """Locked versions of the packages that `BuildSpec.dependencies` names."""
    patches_sha256: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """Settings of the build that did not reach the binary, one sentence each."""
    bench: BenchTarget | None = None
    """The contents of a bench target; `None` for any other program."""
    tree: str | None = None
    """Id of git's tree of the sources that commands built, with uncommitted changes and patches."""
    tools: tuple[tuple[str, str], ...] = ()
    """Name and version line of the compilers and other tools that the commands could find."""
    files_sha256: str | None = None
    """Digest of the program and of the files that it uses at run time (`CommandBuild.runtime`), in
    which the path of their folder is replaced. Such a program runs where it was built."""

    @property
    def failure(self) -> Reason:
        """The reason why there is no binary."""
        return Reason(ReasonCode.BUILD_FAILED, self.message or "")

    @property
    def program_sha256(self) -> str | None:
        """The digest that decides whether two builds are one program."""
        return self.files_sha256 or self.sha256


@dataclass(frozen=True, slots=True)
class PreparedInput:
    """An input on disk, whose digest is checked before and after the measurement."""

    input_id: str
    path: str | None
    """Absolute path of the file or folder; of several `files`, their common folder."""
    size_bytes: int | None
    sha256: str | None
    family: str | None
    seed: int | None
    made_s: float | None = None
    """Duration of the generation in seconds, `None` if the file existed already."""
    filesystem: str | None = None
    files: tuple[str, ...] = ()
    """Absolute paths of several files, in the order of the arguments; empty for any other input."""
    file_count: int | None = None
    """Number of files of a folder or of `files`, `None` for one file."""


@dataclass(frozen=True, slots=True)
class Event:
    """A note, warning or error in the record. docs/reference/codes.md lists the codes."""

    code: str
    message: str
    severity: Severity = "warning"
    cell_id: str | None = None
    round: int | None = None
    effect: str | None = None
    help: str | None = None
    details: tuple[tuple[str, str], ...] = ()


OTHER_OUTPUT: Final = "BX210"
OTHER_OUTPUT_COMPARED: Final = "BX334"


def outputs_differ(events: Iterable[Event]) -> bool:
    """Return whether configurations with other outputs than the baseline's are compared, or it varies."""
    return any(event.code == OTHER_OUTPUT_COMPARED for event in events)


@dataclass(frozen=True, slots=True)
class Observation:
    """Kernel counters (``observed``) or instructions of one run outside timing."""

    cell_id: str
    kind: Literal["observed", "instructions"]
    run: int
    """Number of the run, from 1 for each cell and kind."""
    started_at: str
    """Start time, UTC, ISO 8601 with milliseconds."""
    tool: str
    """System call or program that counted, such as ``wait4`` or ``valgrind-3.19.0``."""
    status: CountStatus = "ok"
    values: Mapping[str, float] = field(default_factory=dict)
    """Value of each metric, by name. It is empty if the run failed."""
    message: str | None = None
    """Reason for missing values, in one line."""

    @property
    def failure(self) -> Reason:
        """The reason for missing values."""
        return Reason(ReasonCode.NOT_COUNTED, self.message or "")


@dataclass(frozen=True, slots=True)
class Host:
    """The machine and the tools, stored in env.json."""

    host_id: str
    """Twelve hex digits over CPU model, cores, RAM and machine id."""
    boot_id: str
    cpu: str
    cores: int
    ram_bytes: int
    kernel: str
    os: str
    governor: str | None
    virtualised: str | None
    results_filesystem: str | None
    data_filesystem: str | None
    hyperfine: str
    rustc: str | None
    cargo: str | None
    python: str
    benchctl: str
    load1: float | None = None
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables that change the behaviour of programs, sorted by name."""


@dataclass(frozen=True, slots=True)
class Look:
    """An interim analysis of one input: its index in the schedule and its round."""

    input_id: str
    index: int
    """Index from 0. The last look has index J - 1 even if the time budget ended earlier."""
    round: int
    stopped: bool
    reason: Reason | None = None
    """Reason why the measurement stopped here or goes on."""
    trailing: tuple[str, ...] = ()
    """Cells of this input that are significantly worse than another one, in a race."""
    idle: tuple[str, ...] = ()
    """Cells of this input that have no open comparison; in a race, those that are not worse."""
    dropped: tuple[str, ...] = ()
    """Cells of any input that leave here. They are stored with the look, so that an
    interruption cannot separate the two."""
