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
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from bench_framework.errors import RecordError
from bench_framework.foreign import parse_json
from bench_framework.model.functions import FunctionCounts
from bench_framework.model.plan import Plan
from bench_framework.model.profile import Profile
from bench_framework.model.run import Build, Event, Host, Look, PreparedInput
from bench_framework.store import run_table, tables, wire
from bench_framework.store.journal import Contents
from bench_framework.store.lines import Header
from bench_framework.store.source import Source
from bench_framework.store.wire import require_version

MARK: Final = '<script type="application/x-bzip2" id="record-data">'
DOWNLOAD: Final = "data:application/x-bzip2;base64,"
_RECORD: Final = re.compile(re.escape(MARK) + r"(.*?)</script>", re.DOTALL)
_RUNS: Final = re.compile(
    r'download="runs-by-column\.csv\.bz2" href="' + re.escape(DOWNLOAD) + r'([^"]*)"'
)
_SCENARIO: Final = re.compile(
    r'<script type="application/json" id="scenario">(.*?)</script>', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class RecordFrame:
    """Everything in a record except its runs and its judgement."""

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


def runs_link(source: Source) -> str:
    """Return the compressed columns of ``runs.csv``, sorted by configuration, as a data URL for a download."""
    header, *rows = csv.reader(io.StringIO(tables.runs_text(source), newline=""))
    cell = header.index("cell_id")
    columns = zip(header, *sorted(rows, key=lambda row: row[cell]), strict=True)
    return DOWNLOAD + _packed(_csv(columns).encode())


def is_embedded(page: str) -> bool:
    """Return whether a page contains its runs."""
    return MARK in page


def read(page: str) -> Embedded:
    """Return a page's record. Raises `RecordError` (BX412): no runs (BX414), damaged (BX411)."""
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
    require_version("the page", version)
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
    return _csv([header, *sorted(rows, key=lambda row: int(row[seq]))])


def _csv(rows: Iterable[Iterable[str]]) -> str:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def _packed(data: bytes) -> str:
    return base64.b64encode(bz2.compress(data)).decode()


def _unpacked(text: str) -> str:
    return bz2.decompress(base64.b64decode(text, validate=True)).decode()
