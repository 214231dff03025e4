"""Finished records with given medians: only the files that a history reads."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench_framework.model.metrics import WALL
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Build, Host, PreparedInput
from bench_framework.model.result.judgement import CellState, Comparison, Judgement, Summary
from bench_framework.store import columns, journal, layout, lines, tables, wire
from bench_framework.store.records import plan_sha256
from bench_framework.store.source import Source

BEGIN = datetime(2026, 3, 2, 17, 4, tzinfo=UTC)
ROUNDS = 20
HALF = 0.002
"""Half of the interval of a median, as a fraction."""


def write_record(
    results: Path,
    plan: Plan,
    hour: int,
    builds: Sequence[Build],
    medians: Mapping[str, float],
    *,
    host: Host,
    inputs: Sequence[PreparedInput] = (),
    comparisons: Sequence[Comparison] = (),
) -> Path:
    """Write a record that began some hours after `BEGIN`. `medians` has seconds by cell id."""
    at = (BEGIN + timedelta(hours=hour)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    folder = results / plan.name / layout.record_id(at)
    folder.mkdir(parents=True)
    header = lines.Header(
        wire.SCHEMA_VERSION, folder.name, plan.name, "9" * 64, plan_sha256(plan), at, "0.1.0"
    )
    prepared = lines.Prepared(at, host, tuple(builds), tuple(inputs))
    text = wire.dump_line(header) + wire.dump_line(prepared)
    (folder / layout.JOURNAL).write_bytes(text)
    (folder / layout.PLAN).write_text(wire.dump_plan(plan), encoding="utf-8")
    contents = journal.Contents(header, host, tuple(builds), tuple(inputs))
    source = Source(plan, contents, _judgement(plan, medians, comparisons))
    of_record = tables.record_tables(source)
    for name in (layout.CELLS, layout.COMPARISONS):
        table = columns.to_csv(*of_record[Path(name).stem])
        (folder / name).write_text(table, encoding="utf-8")
    (folder / layout.MANIFEST).write_text("{}", encoding="utf-8")
    return folder


def _judgement(
    plan: Plan, medians: Mapping[str, float], comparisons: Sequence[Comparison]
) -> Judgement:
    summaries = tuple(
        Summary(
            *(cell_id, WALL, ROUNDS, ROUNDS, 0, value, value * (1 - HALF), value * (1 + HALF)),
            *(value, value / 100, value, value, value),
        )
        for cell_id, value in medians.items()
    )
    states = tuple(
        CellState(cell.id, "measured" if cell.id in medians else "failed", ROUNDS, 0)
        for cell in plan.cells
    )
    looks, results = looks_of(plan), (states, summaries, tuple(comparisons))
    return Judgement(looks, *results, (), (), (), "conclusive")
