"""The small part of a record that a history needs, read without its journal of runs."""

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from bench_framework.errors import RecordError
from bench_framework.foreign import open_regular, read_regular
from bench_framework.model.metrics import COUNTED, CPU, ITERATION, PEAK_RSS, WALL
from bench_framework.model.result.judgement import BY_ROUND
from bench_framework.store import layout, lines, wire

MEDIANS: Final[Mapping[str, tuple[str, ...]]] = {
    WALL: ("wall_median_s", "wall_lo_s", "wall_hi_s"),
    CPU: ("cpu_s",),
    ITERATION: ("w_iteration_s",),
    PEAK_RSS: ("peak_rss_median_bytes",),
    **{name: (name,) for name in COUNTED},
}
"""Columns of ``cells.csv`` with a metric's median, and its interval if there is one."""
Figures = tuple[float, float | None, float | None]
"""A median with its interval."""
load_plan = lru_cache(maxsize=64)(wire.load_plan)
"""Function that reads ``plan.json``. Most records of a scenario have equal plans."""


@dataclass(frozen=True, slots=True)
class RecordSummary:
    """A finished record: its first lines, its plan as text, and the medians of its cells."""

    header: lines.Header
    prepared: lines.Prepared
    plan: bytes
    medians: Mapping[str, Figures]
    """Cell id → median of the metric, of each cell that was measured as planned.

    That of a candidate is the baseline's × their typical ratio, so that a history agrees with the verdict of
    its record: the medians of two configurations can contradict the ratios of their rounds.
    """
    final: frozenset[str]
    """Ids of the cells that were measured, or failed: measuring them again gives no more."""


def read_summary(folder: Path, metric: str) -> RecordSummary:
    """Read a record. `metric` is one of `MEDIANS`.

    Raises `RecordError`: it is not finished (BX413), or damaged (BX411).
    """
    if not (folder / layout.MANIFEST).is_file() or not (folder / layout.CELLS).is_file():
        raise RecordError("BX413.not-finished", folder=folder)
    try:
        with open_regular(folder / layout.JOURNAL) as file:
            header = wire.adapter(lines.Header).validate_json(file.readline())
            prepared = wire.adapter(lines.Prepared).validate_json(file.readline())
        plan = read_regular(folder / layout.PLAN)
        load_plan(plan)
        figures, final = _cells(read_regular(folder / layout.CELLS).decode(), MEDIANS[metric])
        if (folder / layout.COMPARISONS).is_file():
            text = read_regular(folder / layout.COMPARISONS).decode()
            figures = _by_ratio(text, metric, figures)
    except (OSError, ValueError, LookupError, RecordError) as error:
        cause = (("cause", f"{type(error).__name__}: {error}"),)
        raise RecordError("BX411.folder-damaged", details=cause, folder=folder) from error
    return RecordSummary(header, prepared, plan, figures, final)


def _cells(text: str, columns: tuple[str, ...]) -> tuple[dict[str, Figures], frozenset[str]]:
    """Return medians and ids in ``cells.csv``. Raises `ValueError` or `LookupError`: other content."""
    rows = csv.reader(io.StringIO(text, newline=""))
    names = next(rows, [])
    cell, state = names.index("cell_id"), names.index("state")
    places = [names.index(name) for name in columns if columns[0] in names]
    figures, final = {}, set[str]()
    for row in rows:
        if row[state] != "not-started":
            final.add(row[cell])
        if row[state] == "measured" and places and row[places[0]]:
            median, *bounds = [float(row[place]) if row[place] else None for place in places]
            if median is not None and 0 < median < math.inf:
                figures[row[cell]] = (median, *(bounds or (None, None)))
    return figures, frozenset(final)


def _by_ratio(text: str, metric: str, figures: Mapping[str, Figures]) -> dict[str, Figures]:
    """Return the figures, those of candidates by the ratios in ``comparisons.csv``.

    An interval keeps its relative width. Raises `ValueError` or `LookupError`: other content.
    """
    changed = dict(figures)
    for row in csv.DictReader(io.StringIO(text, newline="")):
        if (row["kind"], row["metric"]) != ("headline", metric) or row["statistic"] not in BY_ROUND:
            continue
        cell, other = row["cell_id"], row["ref_cell_id"]
        bounded = math.isfinite(float(row["hi"] or math.inf))
        if bounded and {cell, other} <= figures.keys():
            median, lo, hi = figures[cell]
            factor = figures[other][0] * float(row["ratio"]) / median
            changed[cell] = (median * factor, lo and lo * factor, hi and hi * factor)
    return changed
