"""Comparison of a record with earlier ones of the same programs and inputs on this machine."""

import contextlib
import math
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench_framework.errors import RecordError
from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.record.run import Event
from bench_framework.model.result.judgement import Comparison, Judgement
from bench_framework.model.verdict import Interval
from bench_framework.stats.portable_math import expm1, log
from bench_framework.store import layout
from bench_framework.store.finding import find_records
from bench_framework.store.records import Record
from bench_framework.text.errors import new_event
from bench_framework.text.numbers import percent_up
from bench_framework.units import counted

MOST_RECORDS: Final = 10
"""Number of the newest earlier records that are read."""


def earlier_ratios(record: Record, judgement: Judgement, results: Path) -> Event | None:
    """Return the event BX347: how the ratios of the main metric differ from those of earlier records.

    Only comparisons with equal programs, inputs and commands count. `None`: no earlier record has any.
    """
    mine = dict(_ratios(record, judgement))
    folders = [f for f in find_records(results, record.plan.name)[::-1] if f.name != record.id]
    records, differences, outside = 0, list[float](), 0
    for folder in folders[:MOST_RECORDS]:
        with contextlib.suppress(RecordError, OSError, ValueError):
            earlier = Record.open(folder)
            judged = earlier.judgement()
            if judged is None or _conditions(record) != _conditions(earlier):
                continue
            theirs = dict(_ratios(earlier, judged))
            common = [(mine[key], theirs[key]) for key in mine.keys() & theirs.keys()]
            records += bool(common)
            differences += [abs(log(a.ratio / b.ratio)) for a, b in common]
            outside += sum(not _agree(a, b) for a, b in common)
    if not records:
        return None
    median, largest = (percent_up(expm1(f(differences))) for f in (statistics.median, max))
    return new_event(
        "BX347",
        "note",
        records=records,
        compared=counted(len(differences), "comparison"),
        agree=len(differences) - outside,
        median=median,
        largest=largest,
    )


def _conditions(record: Record) -> tuple[str, object]:
    """Return the machine, and what a tuning command chose, by which the same programs do other work.

    Raises `ValueError`: the machine is not known.
    """
    if record.contents.host is None:
        raise ValueError(record.id)
    tuning = parse_json(read_regular(record.path / layout.TUNING)) if record.plan.tuning else None
    choice = tuning.get("choice") if isinstance(tuning, dict) else tuning
    return record.contents.host.host_id, choice


Key = tuple[str, ...]
"""Cells, and digests of their programs and input."""


def _ratios(record: Record, judgement: Judgement) -> Iterator[tuple[Key, Interval]]:
    plan, contents = record.plan, record.contents
    programs = {build.id: build.program_sha256 or "" for build in contents.builds}
    inputs = {item.input_id: item.sha256 or "" for item in contents.inputs}

    def side(cell_id: str) -> Key:
        cell = plan.cell(cell_id)
        return cell_id, programs.get(plan.build_id(cell), "")

    for c in judgement.comparisons:
        if _counts(c, plan.judge.headline):
            assert c.shown is not None
            given = inputs.get(plan.cell(c.cell_id).input_id, "")
            yield (*side(c.cell_id), *side(c.ref_cell_id), given), c.shown


def _counts(c: Comparison, metric: str) -> bool:
    if c.shown is None or not c.shown.bounded:
        return False
    return c.family == "headline" and c.metric == metric


def _agree(one: Interval, other: Interval) -> bool:
    """Return whether two ratios differ by at most the quadrature of the half-widths of their intervals."""
    halves = [log(i.hi / i.lo) / 2 for i in (one, other)]
    return abs(log(one.ratio / other.ratio)) <= math.hypot(*halves)
