"""Model types to JSON and back: the only place where their shape on disk is known.

Dataclasses are validated by pydantic as they are; unknown keys are ignored, so a record that a
later version wrote with more fields (same schema version: columns are only appended) still reads.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from bench_framework.errors import RecordError, UsageError
from bench_framework.model.imported import Imported
from bench_framework.model.judgement import Judgement  # noqa: TC001 -- pydantic reads the annotation
from bench_framework.model.plan import Plan
from bench_framework.model.profile import Profile
from bench_framework.model.run import Host
from bench_framework.store.lines import Line
from bench_framework.version import __version__

T = TypeVar("T")


_adapters: dict[Any, TypeAdapter[Any]] = {}


def adapter(kind: Any) -> TypeAdapter[Any]:
    """The reader and writer of a type; built once, as that takes tens of milliseconds."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def dump_line(line: Line) -> bytes:
    """One journal line with its newline."""
    return _bytes(type(line), line) + b"\n"


def load_line(text: bytes) -> Line:
    """Read one journal line.

    Raises:
        ValueError: it is torn, or of a kind that this version does not know.
    """
    found: Line = adapter(_TAGGED).validate_json(text)
    return found


def dump_plan(plan: Plan) -> str:
    """``plan.json``: the plan, indented; equal plans are equal bytes."""
    return _dump(Plan, plan)


def load_plan(text: str | bytes) -> Plan:
    """Read ``plan.json``. Raises `RecordError`, BX411."""
    return _load(Plan, text, "plan.json")


def dump_host(host: Host) -> str:
    """``env.json``."""
    return _dump(Host, host)


def load_host(text: str | bytes) -> Host:
    """Read ``env.json``. Raises `RecordError`, BX411."""
    return _load(Host, text, "env.json")


def dump_imported(imported: Imported) -> str:
    """``imported.json``: the figures of an imported set, every run of them."""
    return _dump(Imported, imported)


def load_imported(text: str | bytes) -> Imported:
    """Read ``imported.json``. Raises `RecordError`, BX411."""
    return _load(Imported, text, "imported.json")


def dump_profile(profile: Profile) -> str:
    """``profile.json``, on one line: a stack is a long list of small numbers."""
    return _bytes(Profile, profile).decode() + "\n"


def load_profile(text: str | bytes) -> Profile:
    """Read ``profile.json``. Raises `RecordError`, BX411."""
    return _load(Profile, text, "profile.json")


@dataclass(frozen=True, slots=True)
class Judged:
    """``claims.json``: whose judgement it is, and all of it; the claims are ``judgement.claims``."""

    schema_version: int
    record_id: str
    scenario: str
    judgement: Judgement
    benchctl: str = ""
    """The version that judged; empty in records of before it was kept."""


def dump_judged(judged: Judged) -> str:
    """``claims.json``."""
    return _dump(Judged, judged)


def load_judged(text: str | bytes) -> Judged:
    """Read ``claims.json``. Raises `RecordError`: BX411, or BX412 where another version made what cannot be read."""
    try:
        return _load(Judged, text, "claims.json")
    except RecordError as error:
        version = _version_of(text)
        if version in {None, __version__}:
            raise
        raise RecordError(
            f"claims.json was written by benchctl {version}, and this is {__version__}: it cannot be "
            "read here",
            code="BX412",
            details=error.details,
            help=f"use benchctl {version}; journal.jsonl and runs.csv hold what was measured",
        ) from error


def _version_of(text: str | bytes) -> str | None:
    """The version that a judgement says it was made by, where nothing else of it can be read."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    version = said.get("benchctl") if isinstance(said, dict) else None
    return version if isinstance(version, str) and version else None


def plain(value: Any) -> dict[str, Any]:
    """A model dataclass as a dictionary of JSON values, for tables."""
    return asdict(value)


def indented(value: object) -> str:
    """JSON of plain values in the form that the files of a record have."""
    return _bytes(Any, value, indent=1).decode() + "\n"


def _dump(kind: type[T], value: T) -> str:
    return _bytes(kind, value, indent=1).decode() + "\n"


def _bytes(kind: Any, value: Any, indent: int | None = None) -> bytes:
    try:
        return adapter(kind).dump_json(value, indent=indent)
    except PydanticSerializationError as error:
        # The only text that JSON cannot hold is a path that is not UTF-8, with lone surrogates in
        # its place.
        raise UsageError(
            "a path of this scenario is not UTF-8, and no record could name it",
            details=(("cause", str(error).rpartition("UnicodeEncodeError: ")[2]),),
            effect="nothing was measured",
            help="rename the folder or file",
        ) from error


def _load(kind: type[T], text: str | bytes, name: str) -> T:
    try:
        found: T = adapter(kind).validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise RecordError(
            f"{name} cannot be read",
            code="BX411",
            details=(("where", where), ("cause", first["msg"])),
            help="run `benchctl verify` to list the changed files",
        ) from error
    return found


_TAGGED = Annotated[Line, Field(discriminator="kind")]
