"""A record inside its page: ``runs.csv`` to download, and as JSON what the runs alone do not tell."""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass
from typing import Any, Final

from bench_framework.errors import RecordError
from bench_framework.model.plan import Plan  # noqa: TC001 -- wire reads the annotations
from bench_framework.model.profile import Profile  # noqa: TC001 -- likewise
from bench_framework.model.run import Build, Event, Host, Look, PreparedInput  # noqa: TC001 -- likewise
from bench_framework.store import rows, run_table, tables, wire
from bench_framework.store.journal import SCHEMA_VERSION, Contents
from bench_framework.store.lines import Header  # noqa: TC001 -- likewise

MARK: Final = '<script type="application/json" id="record">'
DOWNLOAD: Final = "data:text/csv;charset=utf-8;base64,"
_RECORD: Final = re.compile(re.escape(MARK) + r"(.*?)</script>", re.DOTALL)
_RUNS: Final = re.compile(r'download="runs\.csv" href="' + re.escape(DOWNLOAD) + r'([^"]*)"')
_SCENARIO: Final = re.compile(r'<script type="application/json" id="scenario">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Frame:
    """All of a record that is read from it but its runs and its judgement."""

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
    own_templates: bool = False
    """Whether the page was rendered with templates of a user's, which it does not carry."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a page with embedded runs carries."""

    frame: Frame
    contents: Contents
    """With the blocks and observations of the runs."""
    runs_csv: str
    scenario_text: str


def frame_json(frame: Frame) -> dict[str, Any]:
    """A frame as JSON values."""
    said: dict[str, Any] = wire.adapter(Frame).dump_python(frame, mode="json")
    return said


def runs_link(source: rows.Source) -> str:
    """``runs.csv`` as the address of a download: the very bytes of the file in the record."""
    text = tables.to_csv(tables.table_columns(source)["runs"], rows.run_rows(source))
    return DOWNLOAD + base64.b64encode(text.encode()).decode()


def is_embedded(page: str) -> bool:
    """Whether a page carries its runs."""
    return MARK in page


def read(page: str) -> Embedded:
    """The record in a page.

    Raises:
        RecordError: BX411, it carries none, or one that cannot be read; BX412, a newer benchctl wrote it.
    """
    record, runs, scenario = _RECORD.search(page), _RUNS.search(page), _SCENARIO.search(page)
    if record is None or runs is None:
        raise _unreadable(
            "the page carries no runs: `benchctl report RECORD --embed-runs` writes one that does"
        )
    try:
        said = json.loads(record[1])
        version = int(said["schema_version"])
        text = base64.b64decode(runs[1], validate=True).decode()
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise _unreadable(f"the record in the page: {error}") from error
    if version > SCHEMA_VERSION:
        raise RecordError(
            f"the page has schema version {version}; this benchctl reads up to {SCHEMA_VERSION}",
            code="BX412",
            help="use a newer benchctl",
        )
    try:
        frame: Frame = wire.adapter(Frame).validate_python(said)
    except ValueError as error:
        raise _unreadable(f"the record in the page: {error}") from error
    table = run_table.read(text, frame.plan, frame.builds)
    contents = Contents(
        frame.header,
        host=frame.host,
        builds=frame.builds,
        inputs=frame.inputs,
        blocks=list(table.blocks),
        looks=list(frame.looks),
        events=list(frame.events),
        observations=list(table.observations),
        at=frame.ended_at or frame.header.started_at,
        ended_at=frame.ended_at,
        sessions=1,
    )
    return Embedded(frame, contents, text, str(json.loads(scenario[1])) if scenario else "")


def _unreadable(what: str) -> RecordError:
    return RecordError(what, code="BX411", effect="nothing was recomputed from runs")
