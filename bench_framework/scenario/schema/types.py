"""The types of keys, and the base class of every mapping in a scenario."""

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import reduce
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    Tag,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan import written
from bench_framework.model.plan.plan import CacheState
from bench_framework.scenario import scalars
from bench_framework.scenario.document import Scalar
from bench_framework.scenario.scalars import Refused
from bench_framework.units import DURATION_UNITS


def refusal(refused: Refused, at: tuple[str, ...] = ()) -> PydanticCustomError:
    """Return the pydantic error that `validation_errors` turns into a problem."""
    text = refused.text
    context: dict[str, Any] = {name: refused.values.get(name) for name in ("near", "allowed")}
    context |= {"message": text.message, "label": text.label, "fix": text.fix or "", "at": at}
    return PydanticCustomError(text.code, "{message}", context)


def read_by(reader: Callable[[Any], Any]) -> BeforeValidator:
    """Return a validator that reads a scalar with `reader`, which may raise `Refused`."""

    def run(value: Any) -> Any:
        try:
            return reader(value)
        except Refused as refused:
            raise refusal(refused) from None

    return BeforeValidator(run)


class _OneOf:
    """A validator that accepts the values of the `Literal` that it annotates."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        parts = [get_args(part) or (part,) for part in get_args(source)]
        allowed = [value for values in parts for value in values if isinstance(value, str)]
        validator = read_by(scalars.choice(*allowed))
        return validator.__get_pydantic_core_schema__(source, handler)


ONE_OF: Final = _OneOf()


def also_as(**form: Any) -> ConfigDict:
    """Return the configuration of a part that may also be written in another form, for its schema."""
    return ConfigDict(json_schema_extra=lambda schema: _extend(schema, form))


def _extend(schema: dict[str, Any], form: Mapping[str, Any]) -> None:
    """Change the schema of a part to that of the part or of another form."""
    whole = dict(schema)
    schema.clear()
    schema.update(anyOf=[form, whole], description=whole.pop("description"))


_TAGS: Final = ("<scalar>", "<list>", "<mapping>")


def shape(value: Any) -> str:
    """Return the tag of a union's branch: list, mapping or scalar."""
    if isinstance(value, (list, tuple)):
        return "<list>"
    mapping = isinstance(value, (dict, BaseModel)) or is_dataclass(value)
    return "<mapping>" if mapping else "<scalar>"


SCALAR: Final = {"type": ["string", "number", "boolean"]}
SCALARS: Final = {"anyOf": [SCALAR, {"type": "array", "items": SCALAR}]}
NEVER: Final[dict[str, Any]] = {"not": {}}
_PERCENT: Final = {
    "type": "string",
    "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*%\s*$",
    "examples": ["2%"],
}

Text: TypeAlias = Annotated[str, read_by(scalars.text), WithJsonSchema(SCALAR)]
Name: TypeAlias = Annotated[
    str,
    read_by(scalars.axis_name),
    WithJsonSchema({"type": "string", "pattern": f"^{scalars.AXIS_NAME}$"}),
]
Symbol: TypeAlias = Annotated[
    str,
    read_by(scalars.symbol),
    WithJsonSchema({"type": "string", "pattern": f"^{scalars.SYMBOL}$"}),
]
SystemCall: TypeAlias = Annotated[
    str,
    read_by(scalars.system_call),
    WithJsonSchema({"type": "string", "pattern": f"^{scalars.SYMBOL}$"}),
]
Variable: TypeAlias = Annotated[
    str, read_by(scalars.variable_name), WithJsonSchema({"type": "string"})
]
ValueName: TypeAlias = Annotated[str, read_by(scalars.value_name), WithJsonSchema(SCALAR)]
Natural: TypeAlias = Annotated[int, read_by(scalars.whole(0)), Field(ge=0)]
ExitCode: TypeAlias = Annotated[int, read_by(scalars.whole(0, most=255)), Field(ge=0, le=255)]
MAX_ROUNDS: Final = 100_000
"""Largest number of rounds. Times of that many rounds need more memory than most machines have."""
MAX_SESSIONS: Final = 100
RoundCount: TypeAlias = Annotated[
    int, read_by(scalars.whole(1, most=MAX_ROUNDS)), Field(ge=1, le=MAX_ROUNDS)
]
WarmupCount: TypeAlias = Annotated[
    int, read_by(scalars.whole(0, most=MAX_ROUNDS)), Field(ge=0, le=MAX_ROUNDS)
]
SessionCount: TypeAlias = Annotated[
    int, read_by(scalars.whole(1, most=MAX_SESSIONS)), Field(ge=1, le=MAX_SESSIONS)
]
Positive: TypeAlias = Annotated[int, read_by(scalars.whole(1)), Field(ge=1)]
Flag: TypeAlias = Annotated[bool, read_by(scalars.flag)]
Percent: TypeAlias = Annotated[float, read_by(scalars.percent), WithJsonSchema(_PERCENT)]
Level: TypeAlias = Annotated[float, read_by(scalars.fraction_of_all), WithJsonSchema(_PERCENT)]
Duration: TypeAlias = Annotated[
    float,
    read_by(scalars.duration),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": rf"^\s*[0-9]+(\.[0-9]+)?\s*({'|'.join(DURATION_UNITS)})\s*$",
            "examples": ["15m", "120s"],
        }
    ),
]
CpuList: TypeAlias = Annotated[str, read_by(scalars.cpu_list), WithJsonSchema(SCALAR)]
CacheName: TypeAlias = Annotated[CacheState, ONE_OF]
Linker: TypeAlias = Annotated[Literal["mold", "lld", "gold", "bfd"], ONE_OF]
Version: TypeAlias = Annotated[str, read_by(scalars.version), WithJsonSchema(SCALAR)]
Words: TypeAlias = Annotated[list[Text], read_by(scalars.words), WithJsonSchema(SCALARS)]
"""A list of strings, or one string that is split at spaces."""
Arguments: TypeAlias = Annotated[list[Text], Field(min_length=1)]
"""Program and arguments of a command."""
Values: TypeAlias = Annotated[dict[Text, Text], Field(min_length=1)]
"""Axis values, at least one."""
NotText: TypeAlias = Annotated[Text, WithJsonSchema(NEVER)]
"""Branch of a union that accepts every other shape, so that the message can name the right one."""
NotPercent: TypeAlias = Annotated[Percent, WithJsonSchema(NEVER)]
NotList: TypeAlias = Annotated[list[Text], WithJsonSchema(NEVER)]
Several: TypeAlias = Annotated[
    list[ValueName],
    BeforeValidator(lambda value: value if isinstance(value, list) else [value]),
    WithJsonSchema(SCALARS),
]
"""One text, or a list of texts."""


@dataclass(frozen=True, slots=True)
class ByShape:
    """A union of forms with different shapes: a scalar, a list or a mapping."""

    otherwise: Any = NotText
    """The type that names the right form in the message about each other shape."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        forms = {_tag(form): form for form in get_args(source)}
        forms |= {tag: self.otherwise for tag in _TAGS if tag not in forms}
        branches = (Annotated[form, Tag(tag)] for tag, form in forms.items())
        union = reduce(operator.or_, branches)
        return handler.generate_schema(Annotated[union, Discriminator(shape)])


def _tag(form: Any) -> str:
    """Return the tag of a form of a value, see `shape`."""
    kind = get_args(form)[0] if get_origin(form) is Annotated else form
    kind = get_origin(kind) or kind
    if kind in (list, tuple):
        return "<list>"
    return "<mapping>" if kind is dict or is_part(kind) else "<scalar>"


def alone(key: str) -> BeforeValidator:
    """Return a validator that reads a scalar in place of a mapping as the value of `key`."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, Scalar) else value)


class Part(BaseModel):
    """A mapping in a scenario whose form in the plan differs. An unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


@dataclass(frozen=True, slots=True)
class PlanPart:
    """The reader of a mapping in a scenario that is a dataclass of the plan.

    The keys are the names of the fields with `-` in place of `_`, unless their metadata name another
    key (`model.plan.written`). The type of a field selects the reader of its value.
    """

    check: Callable[[Any], None] | None = None
    """A function that gets the part, and reports contradictions by `need` and `refuse`."""
    also: Mapping[str, Any] | None = field(default=None, hash=False)
    """JSON Schema of another form of the part."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        name_of = {key.field: text for text, key in keys(source).items()}
        arguments = []
        for item in fields(source):
            text = name_of.get(item.name)
            kind = keys(source)[text].type if text is not None else Any
            schema = handler.generate_schema(kind)
            default: dict[str, Any] = {}
            if item.default_factory is not MISSING:
                default = {"default_factory": item.default_factory}
            elif item.default is not MISSING or text is None:
                default = {"default": None if item.default is MISSING else item.default}
            if default and not item.metadata.get("required"):
                schema = core_schema.with_default_schema(schema, **default)
            arguments.append(
                core_schema.dataclass_field(
                    item.name,
                    schema,
                    init=text is not None,
                    validation_alias=text,
                    serialization_alias=text,
                    serialization_exclude=item.metadata.get("completed"),
                )
            )
        name = source.__name__
        whole = core_schema.dataclass_schema(
            source,
            core_schema.dataclass_args_schema(name, arguments),
            [item.name for item in fields(source)],
            config=core_schema.CoreConfig(extra_fields_behavior="forbid"),
            slots=True,
            frozen=True,
            ref=name,
        )
        return core_schema.no_info_wrap_validator_function(self._checked, whole)

    def _checked(self, value: Any, read: Callable[[Any], Any]) -> Any:
        part = read(value)
        if self.check is not None:
            self.check(part)
        complete = CHECKS.get(type(part))
        return complete(part, value) if complete and isinstance(value, dict) else part

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        json_schema = handler(schema)
        if self.also is not None:
            _extend(handler.resolve_ref_schema(json_schema), self.also)
        return json_schema


CHECKS: Final[dict[type[Any], Callable[[Any, Collection[str]], Any]]] = {}
"""Checks of parts with the keys that are written. They return the part with what follows from it."""


def need(given: object, key: str, /, **values: object) -> None:
    """Report a missing key (BC107) unless it is `given`."""
    if not given:
        raise refusal(Refused(key, **values))


def refuse(wrong: object, key: str, /, *at: str, **values: object) -> None:
    """Report keys that contradict each other or have no effect, at the key `at`."""
    if wrong:
        raise refusal(Refused(key, **values), at)


def refuse_unused(unused: object, key: str, code: FaultCode, *details: str) -> None:
    """Report a key that has no effect. The phrase of the reason follows its name in the message."""
    refuse(unused, "BC108.unused-key", key, key=key, text=Phrase(code, details))


class Key(NamedTuple):
    """A key of a part: the name of its field, and its type for pydantic."""

    field: str
    type: Any


def keys(part: type[Any]) -> dict[str, Key]:
    """Return the keys of a part by their names in a scenario."""
    if issubclass(part, BaseModel):
        kinds = part.model_fields.items()
        return {field.alias or name: Key(name, field.annotation) for name, field in kinds}
    hints = get_type_hints(part, include_extras=True)
    names = {f.name: f.metadata.get("key", f.name.replace("_", "-")) for f in fields(part)}
    return {key: Key(name, written_type(hints[name])) for name, key in names.items() if key}


def written_type(kind: Any) -> Any:
    """Return the type, for pydantic, of a key whose value has a type in the plan."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _READERS:
        return _READERS[kind]
    if origin is Annotated:
        assert inner[1] == written.SOME
        return Annotated[written_type(inner[0]), Field(min_length=1)]
    if origin is Literal:
        return Annotated[kind, ONE_OF]
    if is_part(kind):
        return Annotated[kind, PlanPart()]
    if origin in (Union, UnionType):
        forms = [written_type(form) for form in inner if form is not NoneType]
        union = forms[0] if len(forms) == 1 else Annotated[reduce(operator.or_, forms), ByShape()]
        return union | None if NoneType in inner else union
    if origin in (tuple, dict):
        return origin[tuple(map(written_type, inner))]
    return kind


def is_part(kind: Any) -> bool:
    """Return whether a type is a mapping with known keys."""
    return isinstance(kind, type) and (issubclass(kind, BaseModel) or is_dataclass(kind))


def parts_in(annotation: Any) -> list[type[Any]]:
    """Return the parts that occur in a key's type, in order."""
    if is_part(annotation):
        return [annotation]
    return [part for inner in get_args(annotation) for part in parts_in(inner)]


_READERS: Final[dict[Any, Any]] = {
    str: Text,
    bool: Flag,
    written.Seconds: Duration,
    written.HostLabels: Annotated[
        tuple[str, ...], read_by(scalars.host_labels), WithJsonSchema(SCALARS)
    ],
    written.Natural: Natural,
    written.NonEmpty: ValueName,
    written.OneChange: Annotated[
        dict[Text, Text],
        Field(min_length=1, json_schema_extra={"maxProperties": 1}),
        AfterValidator(lambda change: tuple(change.items())),
        PlainSerializer(dict),
    ],
    written.Fraction: Percent,
    written.Positive: Positive,
    written.Selection: Values,
    written.Selections: Annotated[tuple[Values, ...], Field(min_length=1)],
    written.Share: Level,
}
"""The type, for pydantic, of the values of each type of the plan."""
PerMetric: TypeAlias = Annotated[Percent | dict[Text, Percent], ByShape(NotPercent)]
"""One percentage, or one per metric."""
