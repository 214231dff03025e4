"""The rows of each table, derived from plan, journal and judgement."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bench_framework.model import contention
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.store import columns, metric_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bench_framework.model.judgement import CellState, Judgement, Summary
    from bench_framework.model.plan import BuildSpec, Cell, Input, Plan, Values, Variant
    from bench_framework.model.run import Block, Build, Event, PreparedInput, Receipt
    from bench_framework.store.journal import Contents

Row = dict[str, Any]
USER_HZ: Final = 100
"""Ticks per second of /proc/stat, which are 100 on every supported platform."""
MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """The data from which the tables are derived."""

    plan: Plan
    contents: Contents
    judgement: Judgement | None = None

    def identity(self) -> Row:
        """Return the first columns of most tables."""
        header = self.contents.header
        return {
            "schema_version": header.schema_version,
            "record_id": header.record_id,
            "scenario": header.scenario,
        }

    def build_of(self, variant: Variant) -> Build | None:
        """Return the build of a variant, successful or failed."""
        wanted = variant.build.id if variant.build else "program"
        return next((build for build in self.contents.builds if build.id == wanted), None)

    def states(self) -> dict[str, CellState]:
        """Return the state of each cell by id, empty without a judgement."""
        return {state.cell_id: state for state in self.judgement.states} if self.judgement else {}

    def effective(self) -> list[str]:
        """Return the names with an effective column: axes in order, then others of workers."""
        axes = [axis.name for axis in self.plan.axes]
        told = {
            name
            for block in self.contents.blocks
            for receipt in block.receipts
            for name in receipt.effective
        }
        return axes + sorted(told.difference(axes))

    def phases(self) -> list[str]:
        """Return the sorted names of the phases that workers reported."""
        return sorted(
            {
                name
                for block in self.contents.blocks
                for receipt in block.receipts
                for name in receipt.phases_s
            }
        )


def run_rows(source: Source) -> Iterator[Row]:
    """Yield one row per run in the order of execution. An interrupted block has one row."""
    fixed = {cell.id: _cell_part(source, cell) for cell in source.plan.cells}
    states = source.states()
    seq = 0
    for block in source.contents.blocks:
        cell_part = fixed[block.cell_id]
        block_part = _block_part(source, block, states.get(block.cell_id))
        count = max(1, len(block.wall_s))
        for index in range(count):
            yield {
                **cell_part,
                **block_part,
                **_run_part(source, block, index),
                "run": 0 if block.warmup else index + 1,
                "seq": seq,
                "block_runs": count,
            }
            seq += 1
    done, observed = len(source.contents.blocks), source.contents.observations
    yield from metric_columns.observed_rows(observed, fixed, done, seq)


def _cell_part(source: Source, cell: Cell) -> Row:
    plan, contents = source.plan, source.contents
    variant, item = plan.variant(cell.variant_id), plan.input(cell.input_id)
    host = contents.host
    return {
        **source.identity(),
        "scenario_sha256": contents.header.scenario_sha256,
        **_cell_identity(plan, cell, variant, item),
        **_build_part(variant.build, source.build_of(variant)),
        **_input_part(next((p for p in contents.inputs if p.input_id == item.id), None)),
        "env_set": ";".join(sorted(f"{key}={value}" for key, value in cell.env)),
        "cpus": cell.cpus,
        "harness": host.hyperfine if host else "",
        "host_id": host.host_id if host else "",
        "boot_id": host.boot_id if host else "",
        "role": cell.role.value,
    }


def _cell_identity(plan: Plan, cell: Cell, variant: Variant, item: Input) -> Row:
    return {
        "cell_id": cell.id,
        "variant_id": variant.id,
        "input_id": item.id,
        "variant": cell.label if cell.role.value == "control" else variant.label,
        "input": item.label,
        **axis_values(plan, (*variant.values, *item.values)),
    }


def axis_values(plan: Plan, values: Values) -> Row:
    """Return the ``axis_`` columns of a combination."""
    chosen = dict(values)
    row: Row = {}
    sizes = {column.name for column in columns.axis_columns(plan) if column.type == "integer"}
    for axis in plan.axes:
        name = chosen.get(axis.name)
        key = f"axis_{axis.name}"
        if key in sizes:
            row[key] = next((value.size_bytes for value in axis.values if value.name == name), None)
            row[f"{key}_label"] = name
        else:
            row[key] = name
    return row


def _build_part(spec: BuildSpec | None, build: Build | None) -> Row:
    flags = spec.rustflags if spec else ()
    return {
        "git_rev": build.revision if build else None,
        "git_dirty": build.dirty if build else None,
        "features": ";".join(spec.features) if spec else "",
        "profile": _profile(spec),
        "rustflags": ";".join(flags),
        "rustc": build.rustc if build else None,
        "target_cpu": next((f.split("target-cpu=")[1] for f in flags if "target-cpu=" in f), None),
        "binary_sha256": build.sha256 if build else None,
        "binary_bytes": build.size_bytes if build else None,
        "build_s": build.build_s if build else None,
    }


def _profile(spec: BuildSpec | None) -> str:
    if spec is None:
        return ""
    return ";".join((spec.profile, *(f"{key}={value}" for key, value in spec.profile_keys)))


def _input_part(prepared: PreparedInput | None) -> Row:
    return {
        "input_bytes": prepared.size_bytes if prepared else None,
        "input_family": prepared.family if prepared else None,
        "input_seed": prepared.seed if prepared else None,
        "input_sha256": prepared.sha256 if prepared else None,
    }


def _block_part(source: Source, block: Block, state: CellState | None) -> Row:
    reason = _incomparable(block, state)
    return {
        "round": block.round,
        "block": block.seq,
        "warmup": block.warmup,
        "started_at": block.started_at,
        "user_s": block.user_s,
        "sys_s": block.sys_s,
        "signal": block.signal,
        "timed_out": block.timed_out,
        "status": block.status,
        "comparable": reason is None,
        "incomparable_reason": reason,
        "output_sha256": block.answer.digest if block.answer else None,
        "output_ok": block.status != "other-output" if block.answer else None,
        "steal_pct": _steal_pct(source, block),
        **_machine_part(block),
        "stderr_log": block.stderr_log,
        "message": block.message,
    }


def _machine_part(block: Block) -> Row:
    """Return the columns of the page cache and of the system counters."""
    cache = block.page_cache
    return {
        "cache_state": cache.state if cache else "unknown",
        "resident_before_share": cache.resident_before if cache else None,
        "resident_after_share": cache.resident_after if cache else None,
        **{column: getattr(block.sensors, field) for column, field in columns.SENSORS.items()},
        "contended": ";".join(contention.flags(block)) or None,
    }


def _incomparable(block: Block, state: CellState | None) -> str | None:
    if block.status != "ok":
        return block.message or block.status
    if state is not None and state.state not in {"measured", "not-started"}:
        return state.reason or state.state
    return "warm-up" if block.warmup else None


def _steal_pct(source: Source, block: Block) -> float | None:
    host, ticks, wall = source.contents.host, block.sensors.steal_ticks, math.fsum(block.wall_s)
    if host is None or ticks is None or wall <= 0:
        return None
    return 100 * ticks / (wall * host.cores * USER_HZ)


def _run_part(source: Source, block: Block, index: int) -> Row:
    receipt = block.receipts[index] if index < len(block.receipts) else None
    counts = receipt.counts if receipt else {}
    row: Row = {
        "wall_s": block.wall_s[index] if index < len(block.wall_s) else None,
        "exit_code": block.exit_codes[index] if index < len(block.exit_codes) else None,
        "peak_rss_bytes": counts.get(PEAK_RSS, block.peak_rss_bytes),
        "threads": receipt.threads if receipt else None,
        **{name: counts.get(name) for name in columns.COUNTED},
        "peak_rss_source": block.peak_rss_source,
    }
    if receipt is not None:
        row.update(_receipt_part(source, block.cell_id, receipt))
    row.update(metric_columns.declared_part(source.plan.metrics, block, index))
    build = source.build_of(source.plan.variant(source.plan.cell(block.cell_id).variant_id))
    return {
        **row,
        "kind": "timed",
        **metric_columns.block_part(block, index, build, source.plan.metrics),
    }


def _receipt_part(source: Source, cell_id: str, receipt: Receipt) -> Row:
    row: Row = {f"w_{name}_s": value for name, value in receipt.phases_s.items()}
    row.update({f"effective_{name}": value for name, value in receipt.effective.items()})
    build = source.build_of(source.plan.variant(source.plan.cell(cell_id).variant_id))
    for metric in columns.metrics_of(build) if build else ():
        declared = any(own.name == metric["name"] for own in source.plan.metrics)
        if metric["name"] in receipt.metrics and not declared:
            row[columns.worker_column(metric)] = receipt.metrics[metric["name"]]
    return row


def build_rows(source: Source) -> Iterator[Row]:
    """Yield one row per build."""
    specs = {spec.id: spec for spec in source.plan.builds}
    for build in source.contents.builds:
        spec = specs.get(build.id)
        said: Mapping[str, Any] = build.describe or {}
        yield {
            **source.identity(),
            **{
                key: value for key, value in _build_part(spec, build).items() if key != "target_cpu"
            },
            "build_id": build.id,
            "variants": ";".join(
                variant.label
                for variant in source.plan.variants
                if (variant.build.id if variant.build else "program") == build.id
            ),
            "crate": (spec.git or spec.crate) if spec else None,
            "bin": spec.bin if spec else None,
            "default_features": spec.default_features if spec else None,
            "toolchain": spec.toolchain if spec else None,
            "ok": build.ok,
            "stripped_bytes": build.stripped_bytes,
            "code_sha256": build.code_sha256,
            "cached": build.cached,
            "lockfile_sha256": build.lockfile_sha256,
            "dependencies": build.dependencies,
            "worker": _name_version(said),
            "allocator": _name_version(said.get("allocator")),
            "message": build.message,
        }


def _name_version(said: Any) -> str | None:
    if not isinstance(said, dict) or "name" not in said:
        return None
    return f"{said['name']} {said['version']}" if said.get("version") else str(said["name"])


def cell_rows(source: Source) -> Iterator[Row]:
    """Yield one row per cell, in plan order. It requires the judgement."""
    assert source.judgement is not None
    plan, states = source.plan, source.states()
    summaries = {
        (summary.cell_id, summary.metric): summary for summary in source.judgement.summaries
    }
    by_cell: defaultdict[str, list[Block]] = defaultdict(list)
    for block in source.contents.blocks:
        by_cell[block.cell_id].append(block)
    for cell in plan.cells:
        variant, item = plan.variant(cell.variant_id), plan.input(cell.input_id)
        state = states.get(cell.id)
        blocks = [b for b in by_cell[cell.id] if not b.warmup]
        prepared = next((p for p in source.contents.inputs if p.input_id == item.id), None)
        build = source.build_of(variant)
        yield {
            **source.identity(),
            **_cell_identity(plan, cell, variant, item),
            **{
                f"effective_{name}": value
                for name, value in (state.effective if state else {}).items()
            },
            "role": cell.role.value,
            "state": state.state if state else "not-started",
            "reason": (state.reason or None) if state else None,
            "rounds": state.rounds if state else 0,
            "runs": sum(len(block.wall_s) for block in blocks if block.status == "ok"),
            "runs_failed": sum(block.status in {"failed", "timeout"} for block in blocks),
            **_summary_part(cell.id, summaries, prepared.size_bytes if prepared else None),
            **metric_columns.cell_part(cell.id, summaries, plan.metrics),
            "binary_bytes": build.size_bytes if build else None,
            "output_ok": _outputs_ok(by_cell[cell.id]),
        }


def _summary_part(
    cell_id: str, summaries: Mapping[tuple[str, str], Summary], size: int | None
) -> Row:
    wall, cpu = summaries.get((cell_id, WALL)), summaries.get((cell_id, CPU))
    peak = summaries.get((cell_id, PEAK_RSS))
    row: Row = {"flags": ";".join(sorted({w for s in (wall, cpu, peak) if s for w in s.warnings}))}
    if wall is not None:
        for name in ("median", "mean", "sd", "min", "p95", "lo", "hi"):
            row[f"wall_{name}_s"] = getattr(wall, name)
        row["throughput_mib_s"] = size / MIB / wall.median if size and wall.median > 0 else None
    if cpu is not None:
        row["cpu_s"] = cpu.median
        row["cores_used"] = cpu.median / wall.median if wall and wall.median > 0 else None
    if peak is not None:
        row["max_rss_bytes"] = int(peak.max)
        row["rss_pct_of_input_pct"] = 100 * peak.max / size if size else None
    return row


def _outputs_ok(blocks: Iterable[Block]) -> bool | None:
    found = [b.status != "other-output" for b in blocks if b.answer]
    return all(found) if found else None


def event_rows(source: Source) -> Iterator[Row]:
    """Yield one row per event of the journal, then one per event of the judgement."""
    found: tuple[Event, ...] = (
        *source.contents.events,
        *(source.judgement.events if source.judgement else ()),
    )
    for event in found:
        details = json.dumps(event.details, ensure_ascii=False) if event.details else None
        yield columns.row_of(columns.EVENTS, event, details=details)
