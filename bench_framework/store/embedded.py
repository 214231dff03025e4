"""A record that is embedded in its report: ``runs.csv`` as a download, and the rest as JSON.

The download has a line per column of ``runs.csv``, with the runs of a configuration next to each
other, because similar values compress better: it takes a fifth less.

Both are compressed by bzip2, whose output is the same with every version of the library, so that a
report which is rendered again elsewhere has the same bytes.
"""

import base64
import binascii
import bz2
import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bench_framework.errors import RecordError
from bench_framework.foreign import parse_json
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.functions import FunctionCounts
from bench_framework.model.record.profile import Profile
from bench_framework.model.record.run import Build, Event, Host, Look, PreparedInput
from bench_framework.store import run_table, wire
from bench_framework.store.columns import CsvColumn, csv_lines, fields_of
from bench_framework.store.journal import Contents
from bench_framework.store.lines import Header
from bench_framework.store.source import Source
from bench_framework.store.wire import require_version

MARK: Final = '<script type="application/x-bzip2" id="record-data">'
DOWNLOAD: Final = "data:application/x-bzip2;base64,"
MOST_FIELDS: Final = 2_000_000
"""Fields of ``runs.csv`` that are computed together, if they may be too many for a page."""
ROWS_AT_ONCE: Final = 1024
_RECORD: Final = re.compile(re.escape(MARK) + r"(.*?)</script>", re.DOTALL)
_RUNS: Final = re.compile(
    r'download="runs-by-column\.csv\.bz2" href="' + re.escape(DOWNLOAD) + r'([^"]*)"'
)
_SCENARIO: Final = re.compile(
    r'<script type="application/json" id="scenario">(.*?)</script>', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class RecordFrame:
    """The JSON in a page: everything in a record except its runs and its judgement.

    `read` returns it with the `Contents` that follow from it and from the runs.
    """

    schema_version: int
    plan: Plan
    header: Header
    host: Host
    builds: tuple[Build, ...]
    inputs: tuple[PreparedInput, ...]
    looks: tuple[Look, ...]
    events: tuple[Event, ...]
    ended_at: str | None
    record_dir: str
    tuning: dict[str, Any] | None = None
    profiles: tuple[Profile, ...] = ()
    functions: tuple[FunctionCounts, ...] = ()
    templates: dict[str, str] = field(default_factory=dict)
    """Custom templates that the page was rendered with: text by file name."""
    gate: str = ""
    wording: str = ""
    """Digest of the scenario with the words of the page; empty if the record was measured with them."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The record that a page contains."""

    frame: RecordFrame
    contents: Contents
    """Contents of the journal, with the blocks and observations from ``runs.csv``."""
    scenario_text: str


def packed_frame(frame: RecordFrame) -> str:
    """Return a frame as compressed JSON in base64."""
    return _packed(wire.adapter(RecordFrame).dump_json(frame))


def runs_link(source: Source, most: int | None = None) -> str | None:
    """Return the compressed columns of ``runs.csv``, sorted by configuration, as a data URL for a download.

    `None`: it has more than `most` bytes before base64 encoding.
    """
    columns = run_table.run_columns(source)
    supplying = {column.name: column for column in columns}
    runs = max(1, len(source.contents.blocks) + len(source.contents.observations))
    # If the first columns are too many bytes, the others need not be computed.
    step = len(columns) if most is None else max(1, MOST_FIELDS // runs)
    packer, packed = bz2.BZ2Compressor(), b""
    for some in (columns[start : start + step] for start in range(0, len(columns), step)):
        for line in _lines_by_column(source, [supplying[column.name] for column in some]):
            packed += packer.compress(line.encode())
            if most is not None and len(packed) > most:
                return None
    packed += packer.flush()
    if most is not None and len(packed) > most:
        return None
    return DOWNLOAD + base64.b64encode(packed).decode()


def _lines_by_column(source: Source, columns: Sequence[CsvColumn]) -> Iterator[str]:
    rows = fields_of(columns, run_table.run_rows(source, by_cell=True))
    parts: list[list[str]] = []
    while batch := [*itertools.islice(rows, ROWS_AT_ONCE)]:
        # An empty field before all but the first part of a line gives the comma between them.
        before = ("",) if parts else ()
        lines = ((*before, *fields) for fields in zip(*batch, strict=True))
        # With an empty line end, Python before 3.13 would not quote one in a field.
        parts.append([line.removesuffix("\n") for line in csv_lines(lines)])
    return ("".join(texts) + "\n" for texts in zip(*parts, strict=True))


def is_embedded(page: str) -> bool:
    """Return whether a page contains its runs."""
    return MARK in page


def read(page: str) -> Embedded:
    """Return a page's record. Raises `RecordError`: BX411, damaged; BX412, of another format; BX414, no runs."""
    if not is_embedded(page):
        raise RecordError("BX414")
    record, runs, scenario = _RECORD.search(page), _RUNS.search(page), _SCENARIO.search(page)
    if record is None or runs is None:
        raise RecordError("BX411.page-incomplete")
    try:
        content = parse_json(_unpacked(record[1]))
        version = int(content["schema_version"])
        text = _by_row(_unpacked(runs[1]))
        scenario_text = str(parse_json(scenario[1])) if scenario else ""
    except (ValueError, KeyError, TypeError, OSError, binascii.Error, csv.Error) as error:
        raise RecordError("BX411.page-damaged", error=error) from error
    require_version(Phrase(FaultCode.THE_PAGE), version)
    try:
        frame: RecordFrame = wire.adapter(RecordFrame).validate_python(content)
    except ValueError as error:
        raise RecordError("BX411.page-damaged", error=error) from error
    blocks, observations = run_table.read(text, frame.plan, frame.builds)
    contents = Contents(
        frame.header,
        host=frame.host,
        builds=frame.builds,
        inputs=frame.inputs,
        blocks=blocks,
        looks=list(frame.looks),
        events=list(frame.events),
        observations=observations,
        functions={(counts.cell_id, counts.run): counts for counts in frame.functions},
        at=frame.ended_at or frame.header.started_at,
        ended_at=frame.ended_at,
        starts=1,
    )
    return Embedded(frame, contents, scenario_text)


def _by_row(text: str) -> str:
    """Return ``runs.csv`` from its columns, with the runs in the order of execution."""
    header, *rows = zip(*csv.reader(io.StringIO(text, newline="")), strict=True)
    seq = header.index("seq")
    return "".join(csv_lines([header, *sorted(rows, key=lambda row: int(row[seq]))]))


def _packed(data: bytes) -> str:
    return base64.b64encode(bz2.compress(data)).decode()


def _unpacked(text: str) -> str:
    return bz2.decompress(base64.b64decode(text, validate=True)).decode()
