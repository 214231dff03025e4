"""Reader of ``runs.csv``: the blocks, and the observations of runs outside timing.

Plan, builds and host are read from the other files of the record. Every figure is from the table.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from bench_framework.errors import RecordError
from bench_framework.model.metrics import INSTRUCTIONS, KERNEL_KEYS, PEAK_RSS, column_of
from bench_framework.model.observation import Observation
from bench_framework.model.run import Answer, Block, PageCache, Receipt, Sensors, Status
from bench_framework.store import columns, layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bench_framework.model.metrics import DeclaredMetric
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Build

Fields = dict[str, str]
TIMED: Final = "timed"
STATUSES: Final = frozenset(get_args(Status))
_OUTSIDE: Final = frozenset({"observed", "instructions"})
_CACHES: Final = frozenset({"cold", "warm", "unknown"})
_SOURCES: Final = frozenset({"worker", "stdout", "file", "none"})
_PEAKS: Final = frozenset({"worker", "hyperfine", ""})
_BEYOND_BLOCKS: Final = (
    "position",
    "reported",
    "handled_bytes",
    "block_peak_rss_bytes",
    "answer_source",
    "steal_ticks",
)
"""Columns that are required to read blocks. Tables of earlier versions lack them."""


@dataclass(frozen=True, slots=True)
class RunTable:
    """The blocks and observations of the rows, in their order."""

    blocks: tuple[Block, ...]
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class _Reader:
    """The context in which rows are read."""

    declared: Sequence[DeclaredMetric]
    announced: Mapping[str, Mapping[str, str]]
    """Announced metric of each worker column, by cell id and column."""
    header: Sequence[str]


def read(text: str, plan: Plan, builds: Iterable[Build]) -> RunTable:
    """Return the blocks and observations of the text of a ``runs.csv``.

    Raises:
        RecordError: the text is not such a table, a row is invalid, or an earlier version wrote it
            without the required columns (BX411).
    """
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    header = next(csv.reader(io.StringIO(text, newline="")), [])
    lacking = [name for name in (*_BEYOND_BLOCKS, "kind", "cell_id") if name not in header]
    if lacking:
        raise _damaged(f"it lacks the columns {', '.join(lacking)}")
    reader = _Reader(plan.metrics, _announced(plan, builds), header)
    known = {cell.id for cell in plan.cells}
    timed: list[tuple[int, Fields]] = []
    outside: list[tuple[int, Fields]] = []
    for line, row in enumerate(rows, 2):
        if row["cell_id"] not in known:
            raise _damaged(f"row {line}: {row['cell_id']!r} is no cell of the plan")
        (timed if row["kind"] == TIMED else outside).append((line, row))
    blocks = tuple(_guarded(own, reader) for own in _by_block(timed))
    return RunTable(blocks, tuple(_observation(line, row) for line, row in outside))


def is_whole(text: str) -> bool:
    """Return whether a table has all columns that are required to read blocks."""
    header = next(csv.reader(io.StringIO(text, newline="")), [])
    return set(_BEYOND_BLOCKS) <= set(header)


def _damaged(what: str) -> RecordError:
    return RecordError(
        f"{layout.RUNS} cannot be read: {what}",
        code="BX411",
        help="run `benchctl verify` to list the changed files",
    )


def _announced(plan: Plan, builds: Iterable[Build]) -> dict[str, dict[str, str]]:
    by_build = {
        build.id: {
            columns.worker_column(metric): str(metric["name"])
            for metric in columns.metrics_of(build)
        }
        for build in builds
    }
    declared = {metric.name for metric in plan.metrics}
    found: dict[str, dict[str, str]] = {}
    for cell in plan.cells:
        spec = plan.variant(cell.variant_id).build
        own = by_build.get(spec.id if spec else "program", {})
        found[cell.id] = {column: name for column, name in own.items() if name not in declared}
    return found


def _by_block(rows: list[tuple[int, Fields]]) -> Iterable[list[tuple[int, Fields]]]:
    """Return the rows of each block.

    Raises:
        RecordError: the blocks are not in the order of their numbers, or their rows are not
            together.
    """
    last = -1
    for number, group in itertools.groupby(rows, key=lambda entry: entry[1]["block"]):
        own = list(group)
        line = own[0][0]
        if not number.isdecimal() or int(number) <= last:
            raise _damaged(f"row {line}: block {number!r} follows block {last}")
        last = int(number)
        if {row["block_runs"] for _, row in own} != {str(len(own))}:
            raise _damaged(
                f"row {line}: block {number} has {len(own)} rows and says {own[0][1]['block_runs']}"
            )
        yield own


def _guarded(rows: list[tuple[int, Fields]], reader: _Reader) -> Block:
    line = rows[0][0]
    try:
        return _block([row for _, row in rows], reader)
    except (ValueError, TypeError, KeyError) as error:
        raise _damaged(f"row {line}: {error}") from error


def _block(rows: list[Fields], reader: _Reader) -> Block:
    first = rows[0]
    walls = tuple(value for row in rows if (value := _number(row, "wall_s")) is not None)
    codes = tuple(_whole(row, "exit_code") for row in rows)
    worker = first["peak_rss_source"] == "worker"
    receipts = [_receipt(row, reader, worker=worker) for row in rows if _flag(row, "reported")]
    return Block(
        seq=int(first["block"]),
        round=int(first["round"]),
        position=int(first["position"]),
        cell_id=first["cell_id"],
        warmup=bool(_flag(first, "warmup")),
        status=cast("Any", _one_of(first, "status", STATUSES)),
        started_at=first["started_at"],
        wall_s=walls,
        user_s=_number(first, "user_s"),
        sys_s=_number(first, "sys_s"),
        peak_rss_bytes=_whole(first, "block_peak_rss_bytes"),
        peak_rss_source=cast("Any", _one_of(first, "peak_rss_source", _PEAKS) or None),
        exit_codes=codes if any(code is not None for code in codes) else (),
        signal=first["signal"] or None,
        timed_out=bool(_flag(first, "timed_out")),
        answer=_answer(first),
        receipts=tuple(receipts),
        metrics=_printed(rows, reader),
        missing=_words(first, "missing"),
        sensors=_sensors(first),
        page_cache=_page_cache(first),
        message=first["message"] or None,
        stderr_log=first["stderr_log"] or None,
    )


def _receipt(row: Fields, reader: _Reader, *, worker: bool) -> Receipt:
    own = {column_of(m.name, m.unit): m.name for m in reader.declared if m.source == "worker"}
    own.update(reader.announced[row["cell_id"]])
    taken = own.keys() | {column_of(m.name, m.unit) for m in reader.declared}
    metrics = {
        name: value for column, name in own.items() if (value := _number(row, column)) is not None
    }
    phases = {
        column[2:-2]: value
        for column in reader.header
        if column.startswith("w_")
        and column.endswith("_s")
        and column not in taken
        and (value := _number(row, column)) is not None
    }
    effective = {
        column.removeprefix("effective_"): row[column]
        for column in reader.header
        if column.startswith("effective_") and row[column]
    }
    counted = {**dict.fromkeys(columns.COUNTED), **({PEAK_RSS: "peak_rss_bytes"} if worker else {})}
    counts = {
        name: value
        for name, column in counted.items()
        if (value := _whole(row, column or name)) is not None
    }
    return Receipt(
        effective=effective,
        phases_s=phases,
        bytes=_whole(row, "handled_bytes"),
        threads=_whole(row, "threads"),
        counts=counts,
        metrics=metrics | _numbers(row, "further_metrics"),
        notes=_notes(row),
    )


def _printed(rows: list[Fields], reader: _Reader) -> dict[str, float]:
    """Return the metrics that the program printed in the last run."""
    found = {
        metric.name: value
        for metric in reader.declared
        if metric.source != "worker"
        and (value := _number(rows[-1], column_of(metric.name, metric.unit))) is not None
    }
    if not _flag(rows[0], "reported"):
        found |= _numbers(rows[0], "further_metrics")
    return found


def _answer(row: Fields) -> Answer | None:
    if not row["answer_source"]:
        return None
    return Answer(
        row["output_sha256"],
        _whole(row, "answer_count"),
        _whole(row, "answer_distinct"),
        cast("Any", _one_of(row, "answer_source", _SOURCES)),
    )


def _sensors(row: Fields) -> Sensors:
    numbers = {"cpu_mhz", "load1"}
    values: dict[str, Any] = {
        field: _number(row, column) if field in numbers else _whole(row, column)
        for column, field in columns.SENSORS.items()
    }
    return Sensors(**values)


def _page_cache(row: Fields) -> PageCache | None:
    before, after = _number(row, "resident_before_share"), _number(row, "resident_after_share")
    why = row.get("cache_why") or ""
    if row["cache_state"] == "unknown" and before is None and after is None and not why:
        return None
    return PageCache(cast("Any", _one_of(row, "cache_state", _CACHES)), before, after, why)


def _observation(line: int, row: Fields) -> Observation:
    try:
        found = Observation(
            row["cell_id"],
            cast("Any", _one_of(row, "kind", _OUTSIDE)),
            int(row["run"]),
            row["started_at"],
            row["tool"],
            cast("Any", _one_of(row, "status", STATUSES)),
        )
        names = (*KERNEL_KEYS, INSTRUCTIONS)
        values = {name: value for name in names if (value := _number(row, name)) is not None}
    except ValueError as error:
        raise _damaged(f"row {line}: {error}") from error
    return replace(found, values=values, message=row["message"] or None)


def _number(row: Fields, name: str) -> float | None:
    text = row.get(name)
    return float(text) if text else None


def _one_of(row: Fields, name: str, known: frozenset[str]) -> str:
    if row[name] not in known:
        raise ValueError(f"{name} is {row[name]!r}")
    return row[name]


def _whole(row: Fields, name: str) -> int | None:
    text = row.get(name)
    return int(text) if text else None


def _flag(row: Fields, name: str) -> bool | None:
    text = row.get(name) or ""
    if text not in {"true", "false", ""}:
        raise ValueError(f"{name} is {text!r}")
    return text == "true" if text else None


def _numbers(row: Fields, name: str) -> dict[str, float]:
    found: dict[str, float] = _json(row, name, dict)
    if not all(isinstance(value, int | float) for value in found.values()):
        raise ValueError(f"{name} is {row[name]!r}")
    return found


def _words(row: Fields, name: str) -> dict[str, str]:
    found: dict[str, str] = _json(row, name, dict)
    if not all(isinstance(value, str) for value in found.values()):
        raise ValueError(f"{name} is {row[name]!r}")
    return found


def _notes(row: Fields) -> tuple[str, ...]:
    found = tuple(_json(row, "notes", list))
    if not all(isinstance(value, str) for value in found):
        raise ValueError(f"notes are {row['notes']!r}")
    return found


def _json(row: Fields, name: str, kind: type) -> Any:
    """Return the JSON value in a field, which must be of type `kind`, or an empty `kind`."""
    text = row.get(name)
    found = json.loads(text) if text else kind()
    if not isinstance(found, kind):
        raise TypeError(f"{name} is {text!r}")
    return found
