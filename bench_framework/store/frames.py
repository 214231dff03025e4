"""Tables of a record as DataFrames, for the notebook API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import pandas as pd  # noqa: TID251 -- store is the door to it

from bench_framework.errors import RecordError, UsageError
from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.plan.plan import Plan
from bench_framework.model.result.judgement import Judgement
from bench_framework.store import layout, wire
from bench_framework.store.columns import from_field, to_field
from bench_framework.store.finding import kind_of
from bench_framework.store.journal import read_header
from bench_framework.store.judged import load_judged
from bench_framework.store.records import Record, open_record

_DTYPES: Final = {"integer": "Int64", "boolean": "boolean", "string": "string", "number": "float64"}
_EXACT: Final[dict[str, Any]] = (
    {}
    if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
    else {"float_precision": "round_trip"}
)
"""Options of pandas for exact parsing of floats, which is the default from pandas 3.1 on."""


def _table(name: str, about: str) -> cached_property[pd.DataFrame]:
    """Return the property of a table, which is read on first access."""

    def read(frames: Frames) -> pd.DataFrame:
        return frames.table(name)

    read.__doc__ = about
    return cached_property(read)


@dataclass(frozen=True)
class Frames:
    """A record as DataFrames. Each is read on first access.

    Times are float64 seconds, sizes Int64 bytes, timestamps tz-aware UTC, flags nullable booleans.
    Axes are ordered categories in the scenario's order. `runs` includes failed and warm-up runs,
    which have flags. Units are in ``frame.attrs["units"]`` and in `units`.
    """

    path: Path
    opened: Record | None = None
    """The record if it is already in memory. Otherwise its journal is read on first use, because
    that takes longer than reading all tables."""

    def __repr__(self) -> str:
        """Return a text such as ``<record quickstart/20260302T1704Z: 26 cells, conclusive>``."""
        status = self.judgement.status if self.judgement else "not judged"
        return f"<record {self.plan.name}/{self.record_id}: {len(self.plan.cells)} cells, {status}>"

    @classmethod
    def load(cls, path: Path) -> Self:
        """Open a record's folder.

        Raises:
            RecordError: it is not a record or is damaged (BX411), or a newer benchctl wrote it
                (BX412).
        """
        if kind_of(path) is not None:
            return cls(path.absolute(), open_record(path))
        frames = cls(path.absolute())
        _ = frames.record_id, frames.plan
        return frames

    @cached_property
    def record(self) -> Record:
        """The record. Raises `RecordError` (BX411) if its journal is damaged."""
        return self.opened or Record.open(self.path)

    @cached_property
    def record_id(self) -> str:
        """Id such as ``20260302T1704Z``. Raises `RecordError`: BX411, no record; BX412, too new."""
        return self.opened.id if self.opened else read_header(self.path / layout.JOURNAL).record_id

    @cached_property
    def plan(self) -> Plan:
        """The plan of the record. Raises `RecordError` (BX411) if it is damaged."""
        return self.opened.plan if self.opened else wire.load_plan(self._bytes(layout.PLAN))

    @cached_property
    def judgement(self) -> Judgement | None:
        """The results of the analysis, `None` for an unfinished record."""
        if self.opened:
            return self.opened.judgement()
        path = self.path / layout.CLAIMS
        return load_judged(path.read_bytes()).judgement if path.is_file() else None

    runs = _table("runs", "DataFrame with one row per run.")
    builds = _table("builds", "DataFrame with one row per build.")
    cells = _table("cells", "DataFrame with one row per cell.")
    comparisons = _table("comparisons", "DataFrame with one row per comparison and metric.")
    derived = _table(
        "derived", "DataFrame with one row per named cell and formula, if there are any."
    )
    events = _table("events", "DataFrame of notes, warnings and errors in order of occurrence.")

    @cached_property
    def claims(self) -> pd.DataFrame:
        """DataFrame with one row per claim. `text` is its sentence."""
        claims = self.judgement.claims if self.judgement else ()
        return pd.DataFrame([{"kind": claim.kind, **asdict(claim)} for claim in claims])

    @cached_property
    def env(self) -> dict[str, Any]:
        """The machine and the tools."""
        return asdict(wire.load_host(self._bytes(layout.ENV)))

    @cached_property
    def units(self) -> dict[str, dict[str, str]]:
        """Unit of each column, by table and column."""
        return {
            name: {field["name"]: field["unit"] for field in fields if "unit" in field}
            for name, fields in self._dictionary.items()
        }

    @cached_property
    def _dictionary(self) -> dict[str, list[dict[str, Any]]]:
        resources = parse_json(self._bytes(layout.COLUMNS))["resources"]
        return {resource["name"]: resource["schema"]["fields"] for resource in resources}

    def _bytes(self, name: str) -> bytes:
        try:
            return read_regular(self.path / name)
        except OSError as error:
            raise RecordError("BX411.table-not-derived", path=self.path / name) from error

    def table(self, name: str) -> pd.DataFrame:
        """Read a table.

        Raises:
            UsageError: BX114, the record has no table of this name.
            RecordError: the table is damaged (BX411), or the record has no results yet (BX413).
        """
        fields = self._dictionary.get(name)
        if fields is None and "comparisons" in self._dictionary:
            raise UsageError(
                "BX114.no-table",
                record_id=self.record_id,
                name=name,
                dictionary=", ".join(self._dictionary),
            )
        if fields is None:
            raise RecordError("BX413.not-judged", record=self.path.name, name=name)
        try:
            return self._read(name, fields)
        except (OSError, ValueError, KeyError) as error:
            raise RecordError(
                "BX411.table-not-readable",
                details=(("cause", f"{type(error).__name__}: {error}"),),
                path=self.path / name,
            ) from error

    def _read(self, name: str, fields: list[dict[str, Any]]) -> pd.DataFrame:
        frame = read_typed(self.path / f"{name}.csv", fields)
        for axis in self.plan.axes:
            column = f"axis_{axis.name}"
            if column in frame and frame[column].dtype == "string":
                order = [value.name for value in axis.values]  # noqa: PD011 -- not a frame
                frame[column] = pd.Categorical(frame[column], categories=order, ordered=True)
        frame.attrs["units"] = self.units[name]
        frame.attrs["meta"] = {"record_id": self.record_id, "scenario": self.plan.name}
        return frame


def frame_of(
    rows: Sequence[Mapping[str, object]], *, instants: Sequence[str], types: Mapping[str, str]
) -> pd.DataFrame:
    """Return rows as a DataFrame, with columns of instants (ISO 8601) and types of pandas by column."""
    frame = pd.DataFrame(rows)
    for name in instants:
        frame[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601")
    return frame.astype(dict(types))


def read_typed(path: Path, fields: list[dict[str, Any]]) -> pd.DataFrame:
    """Return a table, read by its schema. Raises OSError, ValueError or KeyError: no match."""
    instants = [field["name"] for field in fields if field["type"] == "datetime"]
    frame: pd.DataFrame = pd.read_csv(
        path,
        dtype={to_field(f["name"]): _DTYPES[f["type"]] for f in fields if f["type"] in _DTYPES},
        keep_default_na=False,
        na_values=[""],
        true_values=["true"],
        false_values=["false"],
        **_EXACT,
    )
    frame.columns = frame.columns.map(from_field)
    for field in fields:
        if field["type"] == "string":
            texts = frame[field["name"]]
            frame[field["name"]] = texts.map(from_field, na_action="ignore").astype("string")
    for column in instants:
        frame[column] = pd.to_datetime(frame[column], utc=True, format="ISO8601")
    for field in fields:
        if field["type"] == "string" and field.get("constraints"):
            frame[field["name"]] = frame[field["name"]].fillna("")  # required text may be empty
    return frame


def concat(records: Mapping[str, Frames], table: str) -> pd.DataFrame:
    """Return a table of several records. The first column, `record`, is the name of the record.

    Raises the errors of `Frames.table`.
    """
    tables = {name: frames.table(table) for name, frames in records.items()}
    orders: dict[Any, dict[Any, None]] = {}
    units: dict[str, str] = {}
    for frame in tables.values():
        units |= frame.attrs["units"]
        for column in frame.select_dtypes("category"):
            orders.setdefault(column, {}).update(dict.fromkeys(frame[column].cat.categories))
    for name, frame in tables.items():
        for column in frame.select_dtypes("category"):
            # pandas makes objects of columns whose categories differ
            frame[column] = pd.Categorical(frame[column], list(orders[column]), ordered=True)
        frame.insert(0, "record", pd.Series(name, index=frame.index, dtype="string"))
        frame.attrs = {"units": units}
    return pd.concat(tables.values(), ignore_index=True)
