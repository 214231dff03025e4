"""The data dictionary: every column of every table, used for ``columns.json`` and the readers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from bench_framework.model.metrics import METRICS, PEAK_RSS, RECEIPT_KEYS, column_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bench_framework.model.metrics import DeclaredMetric
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Build

Type = Literal["string", "integer", "number", "boolean", "datetime"]
"""Types of Frictionless Table Schema."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column. Durations are in seconds, sizes in bytes. An empty field is a missing value."""

    name: str
    type: Type
    description: str
    nullable: bool = False
    unit: str | None = None


def row_of(columns: Iterable[Column], item: object, **values: Any) -> dict[str, Any]:
    """Return the row of an item: values from `values`, or from the attribute of the same name."""
    return {c.name: values[c.name] if c.name in values else getattr(item, c.name) for c in columns}


def _text(name: str, description: str, *, nullable: bool = False) -> Column:
    return Column(name, "string", description, nullable)


def _int(name: str, description: str, *, nullable: bool = False, unit: str | None = None) -> Column:
    return Column(
        name,
        "integer",
        description,
        nullable,
        unit or ("bytes" if name.endswith("_bytes") else None),
    )


def _number(name: str, description: str, unit: str | None = None) -> Column:
    return Column(name, "number", description, nullable=True, unit=unit)


def _bool(name: str, description: str, *, nullable: bool = False) -> Column:
    return Column(name, "boolean", description, nullable)


IDENTITY: Final = (
    _int("schema_version", "version of these tables"),
    _text("record_id", "name of the record's folder"),
    _text("scenario", "name of the scenario"),
)
CELL: Final = (
    _text("cell_id", "twelve hex digits of variant and input; equal between records"),
    _text("variant_id", "twelve hex digits of the variant's axis values"),
    _text("input_id", "twelve hex digits of the input's axis values and dataset"),
    _text("variant", "label of the variant"),
    _text("input", "label of the input"),
)

RUNS_HEAD: Final = (
    *IDENTITY,
    _text("scenario_sha256", "digest of the normalised scenario"),
    _int("round", "round of the input, from 1; warm-up rounds are counted separately"),
    _int("block", "order of the block within the record, from 0"),
    _int("run", "run within the block, from 1; 0 in a warm-up"),
    _int("seq", "order of execution of the runs within the record, from 0"),
    _bool("warmup", "true in a warm-up round, which is not analysed"),
    *CELL,
)
RUNS_BUILD: Final = (
    _text("git_rev", "revision of the crate that was built", nullable=True),
    _bool("git_dirty", "whether the crate had uncommitted changes", nullable=True),
    _text("features", "cargo features, sorted, joined by semicolons"),
    _text("profile", "cargo profile, with the keys that were set"),
    _text("rustflags", "flags for rustc, joined by semicolons"),
    _text("env_set", "environment variables that the scenario sets, sorted, joined by semicolons"),
    _text("rustc", "version line of the compiler", nullable=True),
    _text("target_cpu", "-C target-cpu of the rustflags", nullable=True),
    _text("binary_sha256", "digest of the program", nullable=True),
    _int("binary_bytes", "size of the program", nullable=True),
    _number("build_s", "wall time of the build; empty if it was reused", "s"),
    _int("input_bytes", "size of the input on disk", nullable=True),
    _text("input_family", "generator of the input, or the name of a file", nullable=True),
    _int("input_seed", "seed of the generator", nullable=True),
    _text("input_sha256", "digest of the input", nullable=True),
    _text(
        "cache_state", "observed state of the input's pages before the block: cold, warm, unknown"
    ),
    Column("started_at", "datetime", "start of the block, UTC"),
)
COUNTED: Final = tuple(name for name in RECEIPT_KEYS if name != PEAK_RSS)
"""Metrics of a receipt that have a column of their own name in ``runs.csv``."""


def _counted(name: str) -> str:
    kind = METRICS[name]
    return f"{kind.noun}: {kind.about}, as the worker reports"


RUNS_MEASURED: Final = (
    _number("wall_s", "wall time", "s"),
    _number(
        "user_s", "user CPU time including waited-for children; mean over the block's runs", "s"
    ),
    _number(
        "sys_s", "system CPU time including waited-for children; mean over the block's runs", "s"
    ),
    _int("block_runs", "runs in the block (K)"),
    _int("peak_rss_bytes", "largest resident set; includes mapped file pages", nullable=True),
    _text("peak_rss_source", "worker (VmHWM) or hyperfine (one command per call)", nullable=True),
    *(
        Column(name, "integer", _counted(name), nullable=True, unit=METRICS[name].unit)
        for name in COUNTED
    ),
    _int("exit_code", "exit status; 128 + n for signal n", nullable=True),
    _text("signal", "name of the signal that ended it", nullable=True),
    _bool("timed_out", "killed at the timeout"),
    _text("status", "ok, failed, timeout, other-output, skipped"),
    _bool("comparable", "whether the run may be used in a comparison"),
    _text("incomparable_reason", "reason if it may not", nullable=True),
    _text("output_sha256", "digest of the answer", nullable=True),
    _bool("output_ok", "whether the answer equals the baseline's", nullable=True),
)
RUNS_TAIL: Final = (
    _number("cpu_mhz_mean", "clock of the first CPU just after the block", "mhz"),
    _number("steal_pct", "CPU time that the hypervisor took during the block", "pct"),
    _number("load1", "load average just before the block"),
    _int("mem_available_bytes", "available memory just before the block", nullable=True),
    _text("cpus", "CPUs that the run was pinned to", nullable=True),
    _text("harness", "name and version of the tool that timed it"),
    _text("host_id", "twelve hex digits of the machine"),
    _text("boot_id", "boot id of the machine"),
    _text("stderr_log", "stderr of a failed run, from a second run; relative path", nullable=True),
    _text("role", "candidate, baseline, control, bound or anchor"),
    _int("threads", "threads that did work, as reported by the worker", nullable=True),
    _int("psi_cpu_us", "growth of CPU pressure during the block, microseconds", nullable=True),
    _int("psi_io_us", "growth of I/O pressure during the block, microseconds", nullable=True),
    _number(
        "resident_before_share",
        "share of the input's pages in memory just before the block, 0 to 1",
    ),
    _number(
        "resident_after_share",
        "share of the input's pages in memory just after the block, 0 to 1; cold runs only",
    ),
    _int(
        "device_read_bytes",
        "read from storage by the block's processes, hyperfine's included",
        nullable=True,
    ),
    _int(
        "psi_memory_us", "growth of memory pressure during the block, microseconds", nullable=True
    ),
    _int("swap_in_pages", "pages read from swap during the block, by any process", nullable=True),
    _int("swap_out_pages", "pages written to swap during the block, by any process", nullable=True),
    _int(
        "throttle_events",
        "thermal throttling events of the CPUs during the block",
        nullable=True,
    ),
    _text(
        "contended",
        "disturbance by other load: cpu, steal, memory, swap, throttled; the run is still used",
        nullable=True,
    ),
    _text("message", "reason for the failure, in one line", nullable=True),
)

SENSORS: Final = {
    "cpu_mhz_mean": "cpu_mhz",
    "steal_ticks": "steal_ticks",
    "load1": "load1",
    "mem_available_bytes": "mem_available_bytes",
    "psi_cpu_us": "psi_cpu_us",
    "psi_io_us": "psi_io_us",
    "psi_memory_us": "psi_memory_us",
    "device_read_bytes": "device_bytes",
    "swap_in_pages": "swap_in_pages",
    "swap_out_pages": "swap_out_pages",
    "throttle_events": "throttle_events",
}
"""Map from columns of ``runs.csv`` to fields of `Sensors`, for writing and reading."""

BUILDS: Final = (
    *IDENTITY,
    _text("build_id", "twelve hex digits of the build's settings; `program` if nothing was built"),
    _text("variants", "labels of the variants that run it, joined by semicolons"),
    _text("crate", "builtin, the path of the crate, or the git URL", nullable=True),
    _text("bin", "name of the binary target", nullable=True),
    _text("features", "cargo features, sorted, joined by semicolons"),
    _bool("default_features", "whether the crate's default features are on", nullable=True),
    _text("profile", "cargo profile, with the keys that were set", nullable=True),
    _text("rustflags", "flags for rustc, joined by semicolons"),
    _text("toolchain", "requested toolchain", nullable=True),
    _text("git_rev", "revision that was built", nullable=True),
    _bool("git_dirty", "whether there were uncommitted changes", nullable=True),
    _bool("ok", "whether there is a binary"),
    _text("binary_sha256", "digest of the binary", nullable=True),
    _int("binary_bytes", "size of the binary", nullable=True),
    _int("stripped_bytes", "size without symbols", nullable=True),
    _text(
        "code_sha256", "digest without symbols and build id: equal for the same code", nullable=True
    ),
    _number("build_s", "wall time of the build; empty if it was reused", "s"),
    _bool("cached", "whether an existing binary was reused"),
    _text("rustc", "version line of the compiler", nullable=True),
    _text("lockfile_sha256", "digest of Cargo.lock", nullable=True),
    _int("dependencies", "packages that were compiled in, without the crate itself", nullable=True),
    _text("worker", "name and version from the binary's `describe`", nullable=True),
    _text("allocator", "name and version from the binary's `describe`", nullable=True),
    _text("message", "reason if there is no binary", nullable=True),
)

CELLS_TAIL: Final = (
    _text("role", "candidate, baseline, control, bound or anchor"),
    _text("state", "measured, failed, other-output, not-comparable, not-started"),
    _text("reason", "reason if it is not measured or not comparable", nullable=True),
    _int("rounds", "whole measured rounds with this cell"),
    _int("runs", "measured runs"),
    _int("runs_failed", "rounds in which the cell failed"),
    _number("wall_median_s", "median of the block values", "s"),
    _number("wall_mean_s", "mean of the block values", "s"),
    _number("wall_sd_s", "standard deviation of the block values", "s"),
    _number("wall_min_s", "smallest block value", "s"),
    _number("wall_p95_s", "95th percentile of the block values", "s"),
    _number("wall_lo_s", "lower end of the median's 95 % interval", "s"),
    _number("wall_hi_s", "upper end of the median's 95 % interval", "s"),
    _number("cpu_s", "median of user plus system time", "s"),
    _number("cores_used", "CPU time ÷ wall time"),
    _number("throughput_mib_s", "input size ÷ median wall time", "mib_s"),
    _int("max_rss_bytes", "largest peak of all runs", nullable=True),
    _number("rss_pct_of_input_pct", "largest peak as a share of the input's size", "pct"),
    _int("binary_bytes", "size of the program", nullable=True),
    _bool("output_ok", "whether its answers equal the baseline's", nullable=True),
    _text("flags", "warnings about this sample, joined by semicolons"),
)

DERIVED: Final = (
    _text("input_id", "twelve hex digits of the input"),
    _text("input", "label of the input"),
    _text("name", "name of the cell or of the formula"),
    _text("formula", "formula that is computed in each round"),
    _text("unit", "of value, lo and hi: bytes/s, s or ratio"),
    _int("rounds", "rounds in which all cells of the formula were measured"),
    _number("value", "median over the rounds"),
    _number("lo", "lower end of the 95 % confidence interval, from order statistics"),
    _number("hi", "upper end of the interval"),
    _text("claim_id", "id of the claim that reports the row", nullable=True),
    _text("text", "sentence of the claim", nullable=True),
)
COMPARISONS: Final = (
    _text("claim_id", "id of the claim that reports the row", nullable=True),
    _text("kind", "headline, reference (a further baseline), control, best, memory or exact"),
    _text("metric", "metric that is compared"),
    _text(
        "direction",
        "better direction: lower or higher; if higher, ratios are inverted, so below 1 is better",
    ),
    _text("cell_id", "candidate"),
    _text("ref_cell_id", "baseline, or further reference"),
    _text("variant", "label of the candidate"),
    _text("ref_variant", "label of the baseline"),
    _text("input", "label of the input"),
    _text("scope", "further conditions", nullable=True),
    _text("statistic", "typical, floor, median or exact", nullable=True),
    _number("ratio", "candidate ÷ baseline by the deciding statistic"),
    _number("lo", "lower end of its displayed interval"),
    _number("hi", "upper end of its displayed interval"),
    _number("level", "level of the displayed interval"),
    _number("typical_ratio", "Hodges-Lehmann ratio"),
    _number("typical_lo", "lower end of its interval"),
    _number("typical_hi", "upper end of its interval"),
    _number("floor_ratio", "ratio of the fastest thirds"),
    _number("floor_lo", "lower end of its interval"),
    _number("floor_hi", "upper end of its interval"),
    _number("p", "smallest min-P p-value over the interim analyses"),
    _number("p_adjusted", "p-value adjusted for interim analyses and by Holm"),
    _text("adjust", "how p is adjusted"),
    _int("family_size", "comparisons that share the level (M)"),
    _int("look", "index of the last interim analysis, from 0"),
    _int("looks", "planned interim analyses (J)"),
    _number("epsilon", "minimum effect size, as a fraction"),
    _number("margin", "change that is too small to matter, as a fraction"),
    _number("noise_floor", "noise floor of the input, as a fraction"),
    _number("mde", "minimum detectable effect, as a fraction"),
    _int("rounds_needed", "rounds for which the mde would equal the margin", nullable=True),
    _int("rounds", "rounds that both cells have"),
    _int("runs", "runs of the candidate"),
    _int("runs_ref", "runs of the baseline"),
    _text("verdict", "code of the verdict"),
    _text("reason", "reason for a refusal", nullable=True),
    _text("text", "the claim's sentence", nullable=True),
)

EVENTS: Final = (
    _text("code", "see docs/reference/codes.md"),
    _text("severity", "note, warning or error"),
    _text("message", "what happened"),
    _text("cell_id", "cell of the event", nullable=True),
    _int("round", "round of the event", nullable=True),
    _text("effect", "effect on the results", nullable=True),
    _text("help", "what to do", nullable=True),
    _text("details", "labelled lines as JSON", nullable=True),
)


def axis_columns(plan: Plan) -> tuple[Column, ...]:
    """Return ``axis_NAME`` columns. Sizes are in bytes, with the text in ``axis_NAME_label``."""
    found: list[Column] = []
    for axis in plan.axes:
        if axis.values and all(value.size_bytes is not None for value in axis.values):
            found.append(
                _int(
                    f"axis_{axis.name}", f"axis {axis.name}, in bytes", nullable=True, unit="bytes"
                )
            )
            found.append(
                _text(f"axis_{axis.name}_label", f"axis {axis.name}, as written", nullable=True)
            )
        else:
            found.append(_text(f"axis_{axis.name}", f"axis {axis.name}", nullable=True))
    return tuple(found)


def effective_columns(names: Iterable[str]) -> tuple[Column, ...]:
    """Return ``effective_NAME`` columns, the actual values that the worker reported."""
    return tuple(
        _text(f"effective_{name}", f"value of {name} that really ran", nullable=True)
        for name in names
    )


def worker_columns(
    builds: Iterable[Build], phases: Iterable[str], declared: Iterable[DeclaredMetric] = ()
) -> tuple[Column, ...]:
    """Return ``w_PHASE_s`` and ``w_METRIC_UNIT`` for the undeclared metrics of the workers."""
    names = {metric.name for metric in declared}
    found = {f"w_{name}_s": _number(f"w_{name}_s", f"phase {name}", "s") for name in phases}
    for build in builds:
        for metric in metrics_of(build):
            if metric["name"] in names:
                continue
            column = worker_column(metric)
            found.setdefault(
                column,
                _number(
                    column,
                    str(metric.get("about") or f"metric {metric['name']}"),
                    str(metric.get("unit", "")),
                ),
            )
    return tuple(found.values())


def worker_column(metric: Mapping[str, Any]) -> str:
    """Return the column of a worker's metric: ``w_records`` of a count, ``w_parse_s`` of a time."""
    return column_of(str(metric["name"]), str(metric.get("unit")))


def metrics_of(build: Build) -> list[Mapping[str, Any]]:
    """Return the metrics that a worker announced."""
    said = (build.describe or {}).get("metrics")
    return (
        [item for item in said if isinstance(item, dict) and "name" in item]
        if isinstance(said, list)
        else []
    )


def dictionary(tables: Mapping[str, Iterable[Column]]) -> str:
    """Return ``columns.json``, a Frictionless package with one Table Schema per table."""
    resources = [
        {
            "name": name,
            "path": f"{name}.csv",
            "schema": {"fields": [_field(column) for column in columns]},
        }
        for name, columns in tables.items()
    ]
    return json.dumps({"resources": resources}, indent=1, ensure_ascii=False) + "\n"


def _field(column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "description": column.description,
    }
    if column.unit:
        field["unit"] = column.unit
    if not column.nullable:
        field["constraints"] = {"required": True}
    return field
