"""The tables of a record: ``runs.csv`` and other CSV files, and ``columns.json``."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench_framework.masking import home_as_tilde
from bench_framework.model.facts import Claim
from bench_framework.model.metrics import (
    COUNTED,
    CPU,
    INSTRUCTIONS,
    METRICS,
    PEAK_RSS,
    SYSTEM_COUNTERS,
    UNTIMED,
    WALL,
)
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.record.run import Block
from bench_framework.model.result.judgement import Comparison, Summary
from bench_framework.store import columns, layout
from bench_framework.store.columns import CsvColumn, listed, metric_column
from bench_framework.store.run_table import run_columns, run_rows
from bench_framework.store.source import Configuration, Source, declared_columns
from bench_framework.text.reasons import phrase, phrase_of

Row = dict[str, Any]
MIB: Final = 1 << 20


def cell_rows(source: Source) -> Iterator[Row]:
    """Yield one row per cell, in plan order. It requires the judgement."""
    assert source.judgement is not None
    summaries: dict[str, dict[str, Summary]] = {key: {} for key in source.cells}
    for summary in source.judgement.summaries:
        summaries[summary.cell_id][summary.metric] = summary
    blocks: dict[str, list[Block]] = {key: [] for key in source.cells}
    for block in source.contents.blocks:
        blocks[block.cell_id].append(block)
    for key, at in source.cells.items():
        yield _cell(at, summaries[key], blocks[key])


def _cell(at: Configuration, summaries: dict[str, Summary], blocks: Sequence[Block]) -> Row:
    """Return the row of a cell with its summaries by metric, and its blocks with warm-ups."""
    wall, cpu, peak = main = [summaries.get(metric) for metric in (WALL, CPU, PEAK_RSS)]
    wall_s = wall.median if wall else 0.0
    size = (at.prepared and at.prepared.size_bytes) or 0
    measured = [block for block in blocks if not block.warmup]
    runs = sum(len(block.wall_s) for block in measured if block.status == "ok")
    failed = sum(block.void for block in measured)
    answers = [block.status != "other-output" for block in blocks if block.answer]
    counted = summaries.get(INSTRUCTIONS)
    counters = (summaries[metric].n_runs for metric in SYSTEM_COUNTERS if metric in summaries)
    return {
        "source": at.source,
        "at": at,
        "summaries": summaries,
        "wall": wall,
        "cpu": cpu,
        "peak": peak,
        "state": at.state.state if at.state else "not-started",
        "rounds": at.state.rounds if at.state else 0,
        "runs": at.counts.runs if at.counts else runs,
        "runs_failed": at.counts.failed if at.counts else failed,
        "cores_used": cpu.median / wall_s if cpu and wall_s > 0 else None,
        "throughput": size / MIB / wall_s if size and wall_s > 0 else None,
        "rss_pct": 100 * peak.median / size if peak and size else None,
        "output_ok": all(answers) if answers else None,
        "flags": ";".join(
            sorted({phrase(w) for summary in main if summary for w in summary.warnings})
        ),
        "counted_runs": max(counters, default=None),
        "instructions_spread": 100 * (counted.max / counted.min - 1)
        if counted and counted.min > 0
        else None,
    }


def cell_columns(source: Source) -> tuple[CsvColumn, ...]:
    """Return all columns of a record."""
    return (
        *listed("identity", "cell"),
        *source.axis_columns,
        *source.effective_columns("at", "state", "effective"),
        *listed("cells"),
        *(
            metric_column(
                m,
                "number",
                phrase_of(PhraseCode.MEDIAN_OF, METRICS[m].about),
                ("summaries", m, "median"),
            )
            for m in (*SYSTEM_COUNTERS, *COUNTED, *UNTIMED)
        ),
        *listed("cells-tail"),
        *declared_columns(source.plan.metrics, median=True),
    )


def comparison_rows(source: Source) -> Iterator[Row]:
    """Yield one row per comparison, then one per pair of the best groups."""
    judgement = source.judgement
    assert judgement is not None
    claims = {
        kind: {(c.cells, c.metric): c for c in reversed(judgement.claims) if c.kind == kind}
        for kind in ("comparison", "reference", "contrast")
    }
    floors = {(floor.input_id, floor.metric): floor for floor in judgement.floors}
    headline = (c.cell_id for c in judgement.comparisons if c.family == "headline")
    of_inputs = Counter(source.cells[key].input.id for key in headline)
    pairs = (pair for group in judgement.best for pair in group.comparisons)
    for comparison in (*judgement.comparisons, *pairs):
        at, reference = source.cells[comparison.cell_id], source.cells[comparison.ref_cell_id]
        family = judgement.looks.family
        yield {
            "source": source,
            "at": at,
            "reference": reference,
            "comparison": comparison,
            "claim": _claim_of(claims.get(comparison.family, claims["comparison"]), comparison),
            # Without rounds, each input is a separate family.
            "family_size": of_inputs[at.input.id] if source.contents.figures else family,
            "floor": floors.get((at.input.id, comparison.metric)),
            "scope": None,
            "adjust": "holm",
        }


def _claim_of(claims: Mapping[tuple[Any, ...], Claim], comparison: Comparison) -> Claim | None:
    both = (comparison.cell_id, comparison.ref_cell_id)
    for cells in (both, both[::-1], both[:1]):
        if (claim := claims.get((cells, comparison.metric))) is not None:
            return claim
    return None


def derived_rows(source: Source) -> Iterator[Row]:
    """Yield one row per named cell and formula, grouped by input."""
    assert source.judgement is not None
    claims = iter([claim for claim in source.judgement.claims if claim.kind == "derived"])
    for figure in source.judgement.derived:
        yield {
            "figure": figure,
            "input": source.plan.input(figure.input_id).label,
            "claim": next(claims) if figure.value is not None else None,
        }


def effect_rows(source: Source) -> Iterator[Row]:
    """Yield one row per effect, followed by the rows of its cells."""
    assert source.judgement is not None
    effects = source.judgement.structure.effects
    for effect, claim in _with_claims(effects, source, "effect", "interaction"):
        first, *others = effect.changes
        kind = "interaction" if others else "main"
        row = {
            "table": effect,
            "input": source.plan.input(effect.input_id).label,
            "first": first,
            "second": others[-1] if others else None,
        }
        yield row | {
            "kind": kind,
            "contrast": effect.mean,
            "claim": claim,
            "cell": None,
            "mean": effect,
            "cells": len(effect.cells),
        }
        for cell in effect.cells:
            yield row | {
                "kind": f"{kind}-cell",
                "contrast": cell.contrast,
                "claim": None,
                "cell": cell,
                "mean": None,
                "cells": None,
            }


def contribution_rows(source: Source) -> Iterator[Row]:
    """Yield one row per step, then the remainder if there is one, and the total."""
    assert source.judgement is not None
    contributions = source.judgement.structure.contributions
    for table, claim in _with_claims(contributions, source, "contributions"):
        end, rest = table.end_cell_id, table.unexplained
        shared = {
            "table": table,
            "input": source.plan.input(table.input_id).label,
            "start": source.cells[table.start_cell_id].variant.label,
            "end": source.cells[end].variant.label if end else None,
            "cell_id": None,
            "change": "",
            "claim": None,
        }
        numbered = ((str(n), step) for n, step in enumerate(table.steps, 1))
        steps: list[Row] = [
            {
                "step": number,
                "contrast": step.contrast,
                "share": step.share,
                "cell_id": step.cell_id,
                "change": ", ".join(change.text for change in step.changes),
            }
            for number, step in (*numbered, *(("beyond", step) for step in table.beyond))
        ]
        whole = 1.0 if rest is not None else None
        total = {"contrast": table.total, "share": whole, "cell_id": end, "claim": claim}
        steps.append({"step": "interaction", "contrast": table.remainder, "share": rest})
        steps.append({"step": "total", **total})
        yield from (shared | step for step in steps if step["contrast"] is not None)


def _with_claims(
    items: Sequence[Any], source: Source, *kinds: str
) -> Iterator[tuple[Any, Claim | None]]:
    """Return the items with their claims. Both are in the order of the judgement."""
    assert source.judgement is not None
    claims = [c for c in source.judgement.claims if c.kind in kinds]
    return zip(items, claims if len(claims) == len(items) else [None] * len(items), strict=True)


class CsvTable(NamedTuple):
    """The columns and the rows of a table."""

    columns: tuple[CsvColumn, ...]
    rows: Iterable[object]

    @property
    def lines(self) -> Iterator[str]:
        """The lines of its text. Equal sources give equal lines."""
        return columns.csv_lines(columns.fields_of(*self))


def record_tables(source: Source) -> dict[str, CsvTable]:
    """Return the tables of a record by name. Without a judgement: runs, builds and events."""
    contents, judgement = source.contents, source.judgement
    events = (
        replace(event, details=tuple((label, home_as_tilde(text)) for label, text in event.details))
        for event in (*contents.events, *(judgement.events if judgement else ()))
    )
    if contents.figures:
        of_figures = (
            {"source": source, "at": source.cells[run.cell_id], **run._asdict()}
            for run in contents.figures.runs()
        )
        runs = CsvTable(listed("identity", "cell", "runs-of-figures"), of_figures)
    else:
        runs = CsvTable(run_columns(source), run_rows(source))
    commands = any(spec.by_commands for spec in source.plan.builds)
    of_builds = ("identity", "builds", *["builds-by-commands"] * commands)
    tables = {
        "runs": runs,
        "builds": CsvTable(listed(*of_builds), source.builds),
        "events": CsvTable(listed("events"), events),
    }
    if judgement is not None:
        tables["cells"] = CsvTable(cell_columns(source), cell_rows(source))
        tables["comparisons"] = CsvTable(listed("comparisons"), comparison_rows(source))
        if judgement.derived:
            tables["derived"] = CsvTable(listed("derived"), derived_rows(source))
        if judgement.structure.effects:
            tables["effects"] = CsvTable(listed("place", "effects", "verdict"), effect_rows(source))
        if judgement.structure.contributions:
            steps = contribution_rows(source)
            tables["contributions"] = CsvTable(listed("place", "contributions", "verdict"), steps)
    return tables


def write_tables(folder: Path, source: Source) -> list[str]:
    """Write every available table and ``columns.json``. Return their names."""
    files = {f"{name}.csv": table.lines for name, table in record_tables(source).items()}
    for name, content in files.items():
        layout.write_whole(folder / name, content)
    layout.write_whole(folder / layout.COLUMNS, dictionary(source))
    return [*files, layout.COLUMNS]


def table_texts(source: Source) -> dict[str, str]:
    """Return the text of every table by name. Equal sources give equal texts."""
    return {name: columns.to_csv(*table) for name, table in record_tables(source).items()}


def dictionary(source: Source) -> str:
    """Return ``columns.json``, a Frictionless package with one Table Schema per table."""
    resources = [
        {
            "name": name,
            "path": f"{name}.csv",
            "schema": {"fields": [column.schema for column in table.columns]},
        }
        for name, table in record_tables(source).items()
    ]
    return json.dumps({"resources": resources}, indent=1, ensure_ascii=False) + "\n"
