"""Conversion of model types to JSON and back. No other module depends on their format on disk.

pydantic validates the dataclasses directly. Unknown keys are ignored, so that records of a later
version with the same format and more fields can be read.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, Union

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError

from bench_framework.errors import RecordError, UsageError
from bench_framework.foreign import parse_json
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.profile import Profile
from bench_framework.model.record.run import Host
from bench_framework.store.lines import Line
from bench_framework.text.reasons import phrase_of

SCHEMA_VERSION: Final = 3
"""The format of records. A record of another format is refused."""
T = TypeVar("T")
_LONG_NUMBER: Final = re.compile(rb"[0-9]{20}")
_LARGEST: Final = 2**64 - 1
_adapters: dict[Any, TypeAdapter[Any]] = {}


def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the adapter of a type, which is cached because creating it takes tens of ms."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


class _Written(GenerateJsonSchema):
    """Schemas of written objects, which have every field. Inherited fields keep their descriptions."""

    def field_is_required(self, *_: Any, **_more: Any) -> bool:
        return True

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        written = super().dataclass_schema(schema)
        if schema.get("config", {}).get("ser_json_inf_nan") == "strings":
            for field in written["properties"].values():
                field["type"] = [field["type"], "string"]
        bases: list[Any] = [*filter(is_dataclass, schema["cls"].__mro__[1:])]
        for base in bases:
            inherited = json_schema([base])["$defs"][base.__name__]["properties"]
            for name, field in inherited.items():
                if "description" in field:
                    written["properties"][name].setdefault("description", field["description"])
        return written


def json_schema(kinds: Sequence[type]) -> dict[str, Any]:
    """Return a schema with a reference to each dataclass in ``prefixItems``.

    A field has the docstring below it as its description.
    """
    together: Any = tuple[*kinds]  # type: ignore[valid-type]
    described = TypeAdapter[Any](together, config={"use_attribute_docstrings": True})
    return described.json_schema(mode="serialization", schema_generator=_Written)


def dump_line(line: Line) -> bytes:
    """Return one journal line with its newline."""
    return _bytes(type(line), line) + b"\n"


def load_line(text: bytes) -> Line:
    """Read one journal line. Raises `ValueError`: it is damaged, incomplete or of an unknown kind."""
    line: Line = adapter(_TAGGED).validate_json(text)
    if _LONG_NUMBER.search(text):  # rare, so that the line is seldom parsed twice
        parse_json(text, whole=_counter)
    return line


def _counter(digits: str) -> int:
    """Parse an integer. Raises `ValueError` for one of more than 64 bits, as a float may not hold it."""
    if abs(number := int(digits)) > _LARGEST:
        raise ValueError(phrase_of(FaultCode.ABOVE_64_BITS, Phrase(PhraseCode.A_NUMBER)))
    return number


def require_version(what: Path | Phrase, version: int) -> None:
    """Refuse data of another format. Raises `RecordError` (BX412)."""
    if version != SCHEMA_VERSION:
        raise RecordError(
            "BX412.other-format", what=what, version=version, schema_version=SCHEMA_VERSION
        )


def read(kind: type[T], values: Mapping[str, Any]) -> T:
    """Return a model object of nested dictionaries. Raises `ValueError` with one line."""
    try:
        model: T = adapter(kind).validate_python(values)
    except ValidationError as error:
        raise ValueError(": ".join(_first(error))) from error
    return model


def dump(kind: Any, value: object, indent: int | None = 1) -> str:
    """Return the JSON text of a file with an object of a type."""
    return _bytes(kind, value, indent).decode() + "\n"


def _bytes(kind: Any, value: Any, indent: int | None = None) -> bytes:
    try:
        return adapter(kind).dump_json(value, indent=indent)
    except PydanticSerializationError as error:
        # JSON cannot represent a path that is not UTF-8, which Python stores with lone surrogates.
        raise UsageError(
            "BX100.path-not-utf-8",
            details=(("cause", str(error).rpartition("UnicodeEncodeError: ")[2]),),
        ) from error


def load(kind: type[T], name: str, text: str | bytes, *, key: str = "BX411.data-not-readable") -> T:
    """Read the text of the file `name`. Raises `RecordError` (BX411): it is not an object of the type."""
    try:
        model: T = adapter(kind).validate_json(text)
    except ValidationError as error:
        where, cause = _first(error)
        raise RecordError(key, details=(("where", where), ("cause", cause)), name=name) from error
    return model


def _first(error: ValidationError) -> tuple[str, str]:
    """Return the place and the message of the first error."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return place or phrase_of(FaultCode.WHOLE_FILE), first["msg"]


indented = partial(dump, Any)
dump_plan = partial(dump, Plan)
dump_host = partial(dump, Host)
dump_profile = partial(dump, Profile, indent=None)
"""Functions that return the text of a file. Profiles are on one line, as stacks are long lists."""
load_plan = partial(load, Plan, "plan.json")
load_host = partial(load, Host, "env.json")
load_profile = partial(load, Profile, "profile.json")
"""Functions that read the text of a file. They raise `RecordError` (BX411)."""
_KINDS: Final[Any] = Union[tuple(Line.__subclasses__())]  # noqa: UP007 -- as many as there are
_TAGGED: Final = Annotated[_KINDS, Field(discriminator="kind")]
