"""``runs.csv``: its rows and columns, and its reader.

The reader returns the blocks, and the observations of runs outside timing. It needs the plan and the builds
from the other files of the record. Every figure is from the table.
"""

import csv
import io
import itertools
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from bench_framework.errors import RecordError
from bench_framework.model.faults import FaultCode
from bench_framework.model.metrics import (
    COUNTED,
    MEMORY_PARTS,
    METRICS,
    PEAK_RSS,
    RECEIPT_KEYS,
    UNTIMED,
)
from bench_framework.model.phrases import AnyCode, Phrase, PhraseCode
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import ReasonCode
from bench_framework.model.record import contention
from bench_framework.model.record.description import announced_metrics
from bench_framework.model.record.run import Block, Build, Observation, Receipt
from bench_framework.store import wire
from bench_framework.store.columns import (
    CsvColumn,
    from_csv,
    from_field,
    listed,
    metric_column,
    to_field,
)
from bench_framework.store.source import (
    Configuration,
    Source,
    announced_columns,
    declared_columns,
    effective_columns,
    phase_columns,
)
from bench_framework.text.reasons import phrase, phrase_of

T = TypeVar("T")
Fields = dict[str, str]
Rows = Iterator[tuple[int, Fields]]
"""Rows with their numbers, from 2."""
USER_HZ: Final = 100
"""Ticks per second of /proc/stat, which are 100 on every supported platform."""


def _run(at: Configuration, block: Block, seq: int, index: int = 0) -> dict[str, Any]:
    """Return the row of run `seq` of the record, which is run `index` of its block, both from 0."""
    receipt = _item(block.receipts, index)
    count = max(1, len(block.wall_s))  # a block that was interrupted has one row
    counts = dict(receipt.counts) if receipt else {}
    reason = _incomparable_reason(at, block)
    required = block.answer and at.source.plan.answer.differs == "refuse"
    return {
        "source": at.source,
        "at": at,
        "block": block,
        "seq": seq,
        "observation": None,
        "kind": "timed",
        "run": 0 if block.warmup else index + 1,
        "position": block.position,
        "block_runs": count,
        "wall_s": _item(block.wall_s, index),
        "exit_code": _item(block.exit_codes, index),
        "receipt": receipt,
        "reported": receipt is not None,
        "counts": counts,
        "peak_rss": counts.get(PEAK_RSS, block.peak_rss_bytes),
        "worker": _worker_values(at, receipt) if receipt else {},
        # The program printed these metrics in the last run of the block.
        "printed": dict(block.metrics) if index == count - 1 else {},
        "further": _further(at, block.metrics if index == 0 else {}, receipt),
        "cache_state": block.page_cache.state if block.page_cache else "unknown",
        "comparable": reason is None,
        "incomparable_reason": reason,
        "output_ok": block.status != "other-output" if required else None,
        "contended": ";".join(contention.flags(block)),
        "steal_pct": _steal_pct(at.source, block),
    }


def _worker_values(at: Configuration, receipt: Receipt) -> dict[str, float]:
    """Return phases and announced metrics of the worker, by column."""
    values = {f"w_{name}_s": value for name, value in receipt.phases_s.items()}
    for column in at.announced:
        if (name := column.field[-1]) in receipt.metrics:
            values[column.name] = receipt.metrics[name]
    return values


def _further(
    at: Configuration, printed: Mapping[str, float], receipt: Receipt | None
) -> dict[str, float]:
    """Return the metrics that were neither declared nor announced."""
    known = {metric.name for metric in at.source.plan.metrics}
    known |= {str(metric["name"]) for metric in announced_metrics(at.binary["build"])}
    reported = receipt.metrics if receipt else {}
    return {name: v for name, v in {**reported, **printed}.items() if name not in known}


def _incomparable_reason(at: Configuration, block: Block) -> str | None:
    """Return the reason why a run may not be used in a comparison, or `None`."""
    if block.status != "ok":
        return block.message or block.status
    if at.state is not None and at.state.state not in {"measured", "not-started"}:
        return phrase(at.state.reason) or at.state.state
    return "warm-up" if block.warmup else None


def _steal_pct(source: Source, block: Block) -> float | None:
    """Return the CPU time that the hypervisor took, in percent of all cores."""
    host, ticks = source.contents.host, block.sensors.steal_ticks
    if host is None or ticks is None:
        return None
    all_ticks = math.fsum(block.wall_s) * host.cores * USER_HZ
    return 100 * ticks / all_ticks if all_ticks > 0 else None


def _item(values: Sequence[T], index: int) -> T | None:
    return values[index] if index < len(values) else None


def run_rows(source: Source, *, by_cell: bool = False) -> Iterator[dict[str, Any]]:
    """Yield one row per run in the order of execution, then one per run outside timing.

    With `by_cell`, the rows are sorted by configuration.
    """
    items: list[Block | Observation] = [*source.contents.blocks, *source.contents.observations]
    # A block that was interrupted has one row.
    counts = (max(1, len(i.wall_s)) if isinstance(i, Block) else 1 for i in items)
    starts = array("Q", itertools.accumulate(counts, initial=0))
    order: Sequence[int] = range(len(items))
    if by_cell:
        order = sorted(order, key=lambda place: to_field(items[place].cell_id))
    for place in order:
        item, seq = items[place], starts[place]
        at = source.cells[item.cell_id]
        if isinstance(item, Block):
            for index in range(starts[place + 1] - seq):
                yield _run(at, item, seq + index, index)
        else:
            yield _outside_timing(at, item, place, seq)


def _outside_timing(at: Configuration, o: Observation, place: int, seq: int) -> dict[str, Any]:
    # The block of a run outside timing has only its start, status and message.
    block = Block(
        seq=place,
        round=0,
        position=0,
        cell_id=o.cell_id,
        warmup=False,
        status=o.status,
        started_at=o.started_at,
        message=o.message,
    )
    counts = {m: v if m in UNTIMED else int(v) for m, v in o.values.items()}
    return _run(at, block, seq) | {
        "observation": o,
        "kind": o.kind,
        "run": o.run,
        "position": None,
        "reported": None,
        "counts": counts,
        "peak_rss": counts.get(PEAK_RSS),
        "cache_state": None,
        "comparable": False,
        "incomparable_reason": phrase_of(PhraseCode.OUTSIDE_TIMING),
    }


_BEFORE: Final = listed("identity", "runs-head", "cell")
_BLOCK: Final = (
    *listed("runs-block"),
    *(
        metric_column(
            m.name,
            "integer",
            phrase_of(PhraseCode.FROM_SOURCE, m.noun, m.about, m.source),
            ("counts", m.name),
        )
        for m in map(METRICS.__getitem__, (*RECEIPT_KEYS, *MEMORY_PARTS))
        if m.name != PEAK_RSS
    ),
    *listed("runs-outcome"),
)
_AFTER: Final = (
    *listed("runs-tail"),
    *(metric_column(m, "number", METRICS[m].about, ("counts", m)) for m in (*COUNTED, *UNTIMED)),
)
COLUMNS: Final = (*_BEFORE, *_BLOCK, *_AFTER)
"""Columns of every record."""


def run_columns(source: Source) -> tuple[CsvColumn, ...]:
    """Return all columns of a record."""
    declared = source.plan.metrics
    phases = sorted({name for receipt in source.receipts for name in receipt.phases_s})
    workers = {column.name: column for column in phase_columns(phases)}
    for build in source.contents.builds:
        for column in announced_columns(build, declared):
            workers.setdefault(column.name, column)
    return (
        *_BEFORE,
        *source.axis_columns,
        *source.effective_columns("receipt", "effective"),
        *_BLOCK,
        *workers.values(),
        *declared_columns(declared),
        *_AFTER,
    )


def read(text: str, plan: Plan, builds: Iterable[Build]) -> tuple[list[Block], list[Observation]]:
    """Return the blocks and observations of the text of a ``runs.csv``.

    Raises `RecordError` (BX411): the text is not such a table, or a row is invalid.
    """
    try:
        return _read(text, plan, builds)
    except (csv.Error, KeyError, ValueError, TypeError, AttributeError) as error:
        # A row can be too short, or the name of a column damaged.
        raise _damaged(f"{type(error).__name__}: {error}") from error


def _read(text: str, plan: Plan, builds: Iterable[Build]) -> tuple[list[Block], list[Observation]]:
    # `io.StringIO` would need four bytes for each character.
    file = io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8", newline="")
    reader = csv.DictReader(file)
    reader.fieldnames = header = [from_field(name) for name in reader.fieldnames or ()]
    if missing := [name for name in ("kind", "cell_id", "block") if name not in header]:
        raise _damaged(Phrase(FaultCode.LACKS_COLUMNS, tuple(missing)))
    columns = _columns_by_cell(header, plan, builds)
    observations: list[Observation] = []

    def timed() -> Rows:
        for line, row in enumerate(reader, 2):
            if row["cell_id"] not in columns:
                raise _in_row(line, FaultCode.NO_CELL, repr(row["cell_id"]))
            if row["kind"] == "timed":
                yield line, row
            else:
                observations.append(_guarded(line, partial(_observation, row)))

    blocks = [
        _guarded(group[0][0], partial(_block, [row for _, row in group], columns))
        for group in _by_block(timed())
    ]
    return blocks, observations


def _damaged(what: str | Phrase) -> RecordError:
    return RecordError("BX411.runs-not-readable", what=what)


def _in_row(line: int, code: AnyCode, *details: str | int) -> RecordError:
    return _damaged(Phrase(FaultCode.IN_ROW, (line, Phrase(code, details))))


def _columns_by_cell(
    header: list[str], plan: Plan, builds: Iterable[Build]
) -> dict[str, list[CsvColumn]]:
    """Return the columns of single runs, by cell id. Those of metrics depend on the build."""
    by_id = {build.id: build for build in builds}
    effective = [n.removeprefix("effective_") for n in header if n.startswith("effective_")]
    general = (
        *_columns("run", "receipt", "counts", "further"),
        *effective_columns(effective, "receipt", "effective"),
        *phase_columns([n[2:-2] for n in header if n.startswith("w_") and n.endswith("_s")]),
    )
    declared = declared_columns(plan.metrics)
    columns: dict[str, list[CsvColumn]] = {}
    for cell in plan.cells:
        announced = announced_columns(by_id.get(plan.build_id(cell)), plan.metrics)
        # A phase and a metric may have the same column, which then contains the metric.
        known = {column.name: column for column in (*general, *announced, *declared)}
        columns[cell.id] = list(known.values())
    return columns


def _columns(*roots: str) -> list[CsvColumn]:
    return [column for column in COLUMNS if column.field and column.field[0] in roots]


def _by_block(rows: Rows) -> Iterator[list[tuple[int, Fields]]]:
    """Yield the rows of each block. Raises `RecordError`: blocks out of order or mixed."""
    last = -1
    for number, members in itertools.groupby(rows, key=lambda entry: entry[1]["block"]):
        group = list(members)
        line, first = group[0]
        if not number.isdecimal() or int(number) <= last:
            raise _in_row(line, FaultCode.BLOCK_FOLLOWS, repr(number), last)
        last = int(number)
        if {row["block_runs"] for _, row in group} != {str(len(group))}:
            runs = first["block_runs"]
            raise _in_row(line, FaultCode.ROWS_OF_BLOCK, number, len(group), runs)
        yield group


def _guarded(line: int, read_rows: Callable[[], T]) -> T:
    try:
        return read_rows()
    except (ValueError, TypeError, KeyError) as error:
        raise _in_row(line, ReasonCode.MESSAGE, str(error)) from error


_OF_BLOCK: Final = _columns("block")
_OF_OBSERVATION: Final = _columns("block", "observation", "counts")


def _block(rows: list[Fields], columns: dict[str, list[CsvColumn]]) -> Block:
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
