"""The table of an exported record, one row per configuration and metric, and the formats for it."""

import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean, median, stdev
from typing import Any, Final

from bench_framework.compare import cell_state
from bench_framework.errors import UsageError
from bench_framework.model.metrics import METRICS, WALL
from bench_framework.model.record.description import announced_metrics
from bench_framework.model.record.machine import fingerprint
from bench_framework.model.record.run import Host
from bench_framework.model.result.judgement import (
    Judgement,
    Summary,
    baseline_comparisons,
)
from bench_framework.model.verdict import Verdict
from bench_framework.store.columns import CsvColumn, from_field, listed, to_csv
from bench_framework.store.run_table import run_rows
from bench_framework.store.source import Source
from bench_framework.text.numbers import fixed, format_duration, format_size, shortest
from bench_framework.text.words import noun, word
from bench_framework.units import THIN_SPACE, counted

Row = dict[str, Any]
_NANO: Final = 1e9
_TEX: Final = str.maketrans(
    {c: f"\\{c}" for c in "{}$&#_%"}
    | {c: f"{{{c}}}" for c in "[*"}  # which would be arguments of the end of a row
    | {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    | {THIN_SPACE: r"\,", "µ": r"\textmu{}"}
)


@dataclass(frozen=True, slots=True)
class ExportTable:
    """The rows of an export, with the columns that describe them."""

    columns: tuple[CsvColumn, ...]
    """Columns whose value is the entry of a row with their name."""
    rows: Sequence[dict[str, Any]]
    source: Source | None = None
    """Data of the record, for formats that contain its runs."""


def export_table(source: Source, host: Host) -> ExportTable:
    """Return the table of a record with its judgement, in plan order. `host` is its machine."""
    assert source.judgement is not None
    columns = (*listed("identity", "cell"), *source.axis_columns, *listed("export"))
    machine = fingerprint(host).digest if source.contents.figures is None else None
    rows = []
    for row in _rows(source, source.judgement):
        values = {column.name: column.get(row | {"machine": machine}) for column in columns}
        raw = {name: from_field(v) for name, v in values.items() if isinstance(v, str)}
        rows.append(values | raw)
    return ExportTable(tuple(replace(c, value=(c.name,)) for c in columns), rows, source)


def _rows(source: Source, judgement: Judgement) -> Iterator[dict[str, Any]]:
    comparisons = baseline_comparisons(source.plan, judgement.comparisons)
    summaries: dict[str, list[Summary]] = {key: [] for key in source.cells}
    for summary in judgement.summaries:
        summaries[summary.cell_id].append(summary)
    units = {
        str(metric["name"]): (str(metric.get("unit", "")), str(metric.get("direction", "none")))
        for build in source.contents.builds
        for metric in announced_metrics(build)
    }
    units |= {metric.name: (metric.unit, metric.direction) for metric in source.plan.metrics}
    units |= {kind.name: (kind.unit, kind.direction) for kind in METRICS.values()}
    for key, at in source.cells.items():
        build = at.binary["build"]
        exact = {kind.name: cell_state.exact_value(build, kind.name) for kind in METRICS.values()}
        of_build = [
            Summary(key, name, 0, 0, 0, value, None, None, value, None, value, value, None)
            for name, value in exact.items()
            if value is not None
        ]
        for summary in (*summaries[key], *of_build):
            comparison = comparisons.get((key, summary.metric))
            unit, better = units.get(summary.metric, ("", "none"))
            yield {
                "source": source,
                "at": at,
                "summary": summary,
                "unit": unit,
                "better": better,
                "comparison": comparison,
                "reference": comparison and source.cells[comparison.ref_cell_id],
            }


def _name(row: Row) -> str:
    return f"{row['scenario']}: {row['variant']}, {row['input']}"


def _tex(text: str) -> str:
    """Return a text for a cell of a table. Line breaks and control characters become spaces."""
    return "".join(c if c.isprintable() else " " for c in text).translate(_TEX)


def _configurations(table: ExportTable) -> Iterator[Row]:
    """Yield the rows without those of the A/A control, which is the baseline again."""
    return (row for row in table.rows if row["role"] != "control")


def _dump(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def jsonl(table: ExportTable) -> str:
    """Return one JSON object per row."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table.rows)


def csv_long(table: ExportTable) -> str:
    """Return CSV with the texts of the other tables of a record."""
    return to_csv(table.columns, table.rows)


def parquet(table: ExportTable) -> bytes:
    """Return a Parquet file with types, units and descriptions. Raises `UsageError` (BX131)."""
    try:
        import pyarrow as pa  # noqa: PLC0415 -- an optional package
        from pyarrow import parquet as files  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("BX131.no-package") from error
    types = {"integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}
    fields = [
        pa.field(
            c.name,
            types.get(c.type, pa.string()),
            metadata={"description": c.about, "unit": c.unit},
        )
        for c in table.columns
    ]
    file = io.BytesIO()
    files.write_table(pa.Table.from_pylist(list(table.rows), pa.schema(fields)), file)
    return file.getvalue()


def bmf(table: ExportTable) -> str:
    """Return Bencher Metric Format: the time is its measure `latency`, in nanoseconds."""
    document: dict[str, dict[str, dict[str, float]]] = {}
    for row in _configurations(table):
        scale, measure = (_NANO, "latency") if row["metric"] == WALL else (1, row["metric"])
        values = (("value", row["median"]), ("lower_value", row["lo"]), ("upper_value", row["hi"]))
        figures = {name: value * scale for name, value in values if value is not None}
        document.setdefault(_name(row), {})[measure] = figures
    return _dump(document)


def github_action_benchmark(table: ExportTable) -> str:
    """Return entries of the tool `customSmallerIsBetter`, without metrics that should be larger."""
    entries = []
    for row in _configurations(table):
        if row["better"] != "lower":
            continue
        entry = {
            "name": f"{_name(row)}: {row['metric']}",
            "unit": row["unit"],
            "value": row["median"],
        }
        if row["lo"] is not None:
            entry["range"] = f"± {shortest((row['hi'] - row['lo']) / 2, 3)}"
        rounds = row["rounds"]
        what = f"median of {counted(rounds, 'round')}" if rounds else "property of the binary"
        entry["extra"] = f"{what}, record {row['record_id']}"
        entries.append(entry)
    return _dump(entries)


def _runs(table: ExportTable) -> list[list[dict[str, Any]]]:
    """Return the runs of each configuration in order.

    Raises `UsageError` (BX131): the record has no runs, because it was imported.
    """
    runs: dict[str, list[dict[str, Any]]] = {row["cell_id"]: [] for row in _configurations(table)}
    for run in run_rows(table.source) if table.source else ():
        if run["kind"] == "timed" and run["comparable"] and run["at"].cell.id in runs:
            runs[run["at"].cell.id].append(run)
    if not any(runs.values()):
        raise UsageError("BX131.no-runs")
    return [members for members in runs.values() if members]


def hyperfine(table: ExportTable) -> str:
    """Return JSON of hyperfine 1.x: one result per configuration, with its runs in order."""
    return _dump({"results": [_result(runs) for runs in _runs(table)]})


def benchstat(table: ExportTable) -> str:
    """Return text in Go's benchmark format: one line per run, which counts as one operation.

    Axes are not keys, because benchstat would then compare no two variants.

    Source: https://go.dev/design/14313-benchmark-format, and https://go.dev/issue/43744 for units.
    """
    lines = [f"Unit {unit} better=lower" for unit in ("sec/op", "cpu-sec/op", "peak-bytes")]
    for runs in _runs(table):
        name = _go_name(runs[0]["at"])
        lines += [f"{name} 1 {_go_values(run)}" for run in runs]
    return "\n".join(lines) + "\n"


def _go_name(at: Any) -> str:
    parts = [f"variant={at.label}"]
    if len(at.source.plan.inputs) > 1:
        parts.append(f"input={at.input.label}")
    scenario, *others = ("_".join(re.split(r"[\s/]+", t)) for t in (at.source.plan.name, *parts))
    name = "/".join((f"Benchmark{scenario[:1].upper()}{scenario[1:]}", *others))
    return re.sub(r"-(\d+)$", r"_\1", name)  # a number at the end would be that of the processors


def _go_values(run: dict[str, Any]) -> str:
    block = run["block"]
    cpu = None if block.user_s is None else block.user_s + (block.sys_s or 0.0)
    values = {"sec/op": run["wall_s"], "cpu-sec/op": cpu, "peak-bytes": run["peak_rss"]}
    return " ".join(f"{v!r} {unit}" for unit, v in values.items() if v is not None)


def _result(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the runs of a configuration as hyperfine 1.20 exports those of a command."""
    at = runs[0]["at"]
    times, peaks = [run["wall_s"] for run in runs], [run["peak_rss"] for run in runs]
    cpu = [(run["block"].user_s, run["block"].sys_s) for run in runs]
    # The axis of `ab` is the command itself.
    axes = {name: value for name, value in at.values.items() if name != "command"}
    return {
        "command": f"{at.label}, {at.input.label}" if len(at.source.plan.inputs) > 1 else at.label,
        "mean": fmean(times),
        "stddev": stdev(times) if len(times) > 1 else None,
        "median": median(times),
        "user": fmean(user or 0.0 for user, _ in cpu),
        "system": fmean(system or 0.0 for _, system in cpu),
        "min": min(times),
        "max": max(times),
        "times": times,
        **({} if None in peaks else {"memory_usage_byte": peaks}),
        "exit_codes": [run["exit_code"] for run in runs],
        **({"parameters": axes} if axes else {}),
    }


def openmetrics(table: ExportTable) -> str:
    """Return OpenMetrics 1.0: a gauge per metric, with its median and the ends of its interval."""
    lines = []
    rows = sorted(table.rows, key=lambda row: row["metric"])
    for metric, rows_of in groupby(rows, key=lambda row: row["metric"]):
        group = list(rows_of)
        unit = {"s": "seconds", "bytes": "bytes"}.get(group[0]["unit"], "")
        end = unit and f"_{unit}"
        family = f"benchctl_{re.sub('[^A-Za-z0-9_]', '_', metric).removesuffix(end)}{end}"
        about = METRICS[metric].about if metric in METRICS else f"metric {metric}"
        lines += [f"# TYPE {family} gauge", *([f"# UNIT {family} {unit}"] if unit else [])]
        lines.append(f"# HELP {family} {_escaped(about)}")
        for row in group:
            names = ("scenario", "variant", "input")
            labels = ",".join(f'{name}="{_escaped(row[name])}"' for name in names)
            for key, label in (("median", "median"), ("lo", "lower"), ("hi", "upper")):
                if row[key] is not None:
                    lines.append(f'{family}{{{labels},statistic="{label}"}} {row[key]!r}')
    return "\n".join((*lines, "# EOF\n"))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def latex(table: ExportTable) -> str:
    """Return a table for the package `booktabs`."""
    heads = ("Variant", "Input", "Metric", "Median", r"95\,\% CI", "Ratio", "CI", "Verdict")
    lines = [r"\begin{tabular}{lllrrrrl}", r"\toprule", " & ".join(heads) + r" \\", r"\midrule"]
    lines += [" & ".join(_cells(row)) + r" \\" for row in table.rows]
    return "\n".join((*lines, r"\bottomrule", "\\end{tabular}\n"))


def _cells(row: Row) -> Iterator[str]:
    def interval(low: str, high: str) -> str:
        return f"[{low}, {high}]" if low and high else "--"

    def figure(value: float | None) -> str:
        if value is None:
            return ""
        if row["unit"] == "bytes":
            return format_size(value, digits=4).translate(_TEX)
        text = format_duration(value, digits=4) if row["unit"] == "s" else shortest(value, 4)
        return text.translate(_TEX)

    def ratio(name: str) -> str:
        return "" if row[name] is None else fixed(row[name], 3)

    yield from (_tex(text) for text in (row["variant"], row["input"], noun(row["metric"])))
    yield figure(row["median"])
    yield interval(figure(row["lo"]), figure(row["hi"]))
    yield ratio("ratio") or "--"
    yield interval(ratio("ratio_lo"), ratio("ratio_hi"))
    yield (word(Verdict(row["verdict"]), row["metric"]) if row["verdict"] else "--").translate(_TEX)
