"""Reader of ``runs.csv``: the blocks, and the observations of runs outside timing.

Plan, builds and host are read from the other files of the record. Every figure is from the table.
"""

import csv
import io
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from bench_framework.errors import RecordError
from bench_framework.model.metrics import PEAK_RSS
from bench_framework.model.plan import Plan
from bench_framework.model.run import Block, Build, Observation
from bench_framework.store import layout, source, wire
from bench_framework.store.columns import Column, from_csv, from_field
from bench_framework.store.run_rows import COLUMNS

T = TypeVar("T")
Fields = dict[str, str]
Rows = list[tuple[int, Fields]]
"""Rows with their numbers, from 2."""
_REQUIRED: Final = (
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


def read(text: str, plan: Plan, builds: Iterable[Build]) -> RunTable:
    """Return the blocks and observations of the text of a ``runs.csv``.

    Raises `RecordError` (BX411): the text is not such a table, a row is invalid, or an earlier
    version wrote it without the required columns.
    """
    try:
        return _read(text, plan, builds)
    except (csv.Error, ValueError, TypeError, KeyError, AttributeError) as error:
        # A row can be too short, or the name of a column damaged.
        raise _damaged(f"{type(error).__name__}: {error}") from error


def _read(text: str, plan: Plan, builds: Iterable[Build]) -> RunTable:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    reader.fieldnames = header = [from_field(name) for name in reader.fieldnames or ()]
    rows = list(enumerate(reader, 2))
    missing = [name for name in (*_REQUIRED, "kind", "cell_id") if name not in header]
    if missing:
        raise _damaged(f"it lacks the columns {', '.join(missing)}")
    columns = _columns_by_cell(header, plan, builds)
    for line, row in rows:
        if row["cell_id"] not in columns:
            raise _damaged(f"row {line}: {row['cell_id']!r} is no cell of the plan")
    timed = [entry for entry in rows if entry[1]["kind"] == "timed"]
    blocks = (
        _guarded(group[0][0], partial(_block, [row for _, row in group], columns))
        for group in _by_block(timed)
    )
    others = ((line, row) for line, row in rows if row["kind"] != "timed")
    observations = (_guarded(line, partial(_observation, row)) for line, row in others)
    return RunTable(tuple(blocks), tuple(observations))


def is_whole(text: str) -> bool:
    """Return whether a table has all columns that are required to read blocks."""
    return set(_REQUIRED) <= set(next(csv.reader(io.StringIO(text, newline="")), []))


def _damaged(what: str) -> RecordError:
    message = f"{layout.RUNS} cannot be read: {what}"
    return RecordError(message, code="BX411", fix="run `benchctl verify` to list the changed files")


def _columns_by_cell(
    header: list[str], plan: Plan, builds: Iterable[Build]
) -> dict[str, list[Column]]:
    """Return the columns of single runs, by cell id. Those of metrics depend on the build."""
    by_id = {build.id: build for build in builds}
    effective = [n.removeprefix("effective_") for n in header if n.startswith("effective_")]
    general = (
        *_columns("run", "receipt", "counts", "further"),
        *source.effective_columns(effective, "receipt", "effective"),
        *source.phase_columns([n[2:-2] for n in header if n.startswith("w_") and n.endswith("_s")]),
    )
    declared = source.declared_columns(plan.metrics)
    columns: dict[str, list[Column]] = {}
    for cell in plan.cells:
        announced = source.announced_columns(
            by_id.get(plan.variant(cell.variant_id).build_id), plan.metrics
        )
        # A phase and a metric may have the same column, which then contains the metric.
        known = {column.name: column for column in (*general, *announced, *declared)}
        columns[cell.id] = list(known.values())
    return columns


def _columns(*roots: str) -> list[Column]:
    return [column for column in COLUMNS if column.field and column.field[0] in roots]


def _by_block(rows: Rows) -> Iterator[Rows]:
    """Yield the rows of each block. Raises `RecordError`: blocks out of order or mixed."""
    last = -1
    for number, members in itertools.groupby(rows, key=lambda entry: entry[1]["block"]):
        group = list(members)
        line, first = group[0]
        if not number.isdecimal() or int(number) <= last:
            raise _damaged(f"row {line}: block {number!r} follows block {last}")
        last = int(number)
        if {row["block_runs"] for _, row in group} != {str(len(group))}:
            raise _damaged(
                f"row {line}: block {number} has {len(group)} rows and says {first['block_runs']}"
            )
        yield group


def _guarded(line: int, read_rows: Callable[[], T]) -> T:
    try:
        return read_rows()
    except (ValueError, TypeError, KeyError) as error:
        raise _damaged(f"row {line}: {error}") from error


_OF_BLOCK: Final = _columns("block")
_OF_OBSERVATION: Final = _columns("block", "observation", "counts")


def _block(rows: list[Fields], columns: dict[str, list[Column]]) -> Block:
    block = from_csv(_OF_BLOCK, rows[0])["block"]
    if block.get("page_cache") == {"state": "unknown"}:
        del block["page_cache"]
    if "answer" in block:
        block["answer"].setdefault("digest", "")
    runs = [from_csv(columns[row["cell_id"]], row) for row in rows]
    of_runs = [run.get("run", {}) for run in runs]
    codes = [run.get("exit_code") for run in of_runs]
    block |= {
        "wall_s": [run["wall_s"] for run in of_runs if "wall_s" in run],
        "exit_codes": codes if any(code is not None for code in codes) else [],
        "metrics": runs[-1].get("printed", {}),
        "receipts": [
            _receipt(run, worker=block.get("peak_rss_source") == "worker")
            for run in runs
            if run.get("run", {}).get("reported")
        ],
    }
    if not of_runs[0].get("reported"):
        block["metrics"] |= runs[0].get("further", {})
    return wire.read(Block, block)


def _receipt(run: dict[str, Any], *, worker: bool) -> dict[str, Any]:
    receipt: dict[str, Any] = run.get("receipt", {})
    counts = run.get("counts", {})
    if not worker:
        counts.pop(PEAK_RSS, None)
    metrics = receipt.get("metrics", {}) | run.get("further", {})
    return receipt | {"counts": counts, "metrics": metrics}


def _observation(row: Fields) -> Observation:
    values = from_csv(_OF_OBSERVATION, row)
    shared = {
        name: values["block"].get(name) for name in ("cell_id", "status", "started_at", "message")
    }
    return wire.read(
        Observation, shared | values["observation"] | {"values": values.get("counts", {})}
    )
