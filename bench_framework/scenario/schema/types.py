"""The types of keys, and the base class of every mapping in a scenario."""

import ast
import inspect
import itertools
import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    Tag,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError

from bench_framework.model.plan import CacheState
from bench_framework.scenario import scalars
from bench_framework.scenario.scalars import Refused

PROFILE_KEYS: Final = (
    *("opt-level", "lto", "codegen-units", "panic", "debug", "debug-assertions"),
    *("overflow-checks", "strip", "incremental", "split-debuginfo", "rpath"),
)


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

    def extend(schema: dict[str, Any]) -> None:
        whole = dict(schema)
        schema.clear()
        schema.update(anyOf=[form, whole], description=whole.pop("description"))

    return ConfigDict(json_schema_extra=extend)


def shape(value: Any) -> str:
    """Return the tag of a union's branch: list, mapping or scalar."""
    if isinstance(value, list):
        return "<list>"
    return "<mapping>" if isinstance(value, (dict, BaseModel)) else "<scalar>"


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
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,63}$"}),
]
Symbol: TypeAlias = Annotated[
    str,
    read_by(scalars.symbol),
    WithJsonSchema({"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"}),
]
Variable: TypeAlias = Annotated[
    str, read_by(scalars.variable_name), WithJsonSchema({"type": "string"})
]
ValueName: TypeAlias = Annotated[str, read_by(scalars.value_name), WithJsonSchema(SCALAR)]
Natural: TypeAlias = Annotated[int, read_by(scalars.whole(0)), Field(ge=0)]
ExitCode: TypeAlias = Annotated[int, read_by(scalars.whole(0, most=255)), Field(ge=0, le=255)]
MAX_ROUNDS: Final = 100_000
"""Largest number of rounds. Times of that many rounds need more memory than most machines have."""
RoundCount: TypeAlias = Annotated[
    int, read_by(scalars.whole(1, most=MAX_ROUNDS)), Field(ge=1, le=MAX_ROUNDS)
]
WarmupCount: TypeAlias = Annotated[
    int, read_by(scalars.whole(0, most=MAX_ROUNDS)), Field(ge=0, le=MAX_ROUNDS)
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
            "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(us|µs|ms|s|m|min|h|d)\s*$",
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
Profile: TypeAlias = Annotated[
    Annotated[Text, Tag("<scalar>")]
    | Annotated[
        dict[Annotated[str, read_by(scalars.choice(*PROFILE_KEYS))], Text], Tag("<mapping>")
    ]
    | Annotated[NotText, Tag("<list>")],
    Discriminator(shape),
]
"""Name of a Cargo profile, or profile keys that are set on top of it."""


class Part(BaseModel):
    """A mapping in a scenario. An unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def by_key(cls) -> dict[str, str]:
        """Return the name of the field of each key."""
        return {field.alias or name: name for name, field in cls.model_fields.items()}

    def need(self, given: object, key: str, /, **values: object) -> None:
        """Report a missing key (BC107) unless it is `given`."""
        if not given:
            raise refusal(Refused(key, **values))

    def refuse(self, wrong: object, key: str, /, *at: str, **values: object) -> None:
        """Report keys that contradict each other or have no effect, at the key `at`."""
        if wrong:
            raise refusal(Refused(key, **values), at)

    def refuse_unused(self, unused: object, key: str, text: str) -> None:
        """Report a key that has no effect. `text` follows its name in the message."""
        self.refuse(unused, "BC108.unused-key", key, key=key, text=text)


def parts_in(annotation: Any) -> list[type[Part]]:
    """Return the parts that occur in a key's type, in order."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return [annotation]
    return [part for inner in get_args(annotation) for part in parts_in(inner)]


@cache
def docstrings(part: type[BaseModel]) -> dict[str, str]:
    """Return the docstring of each field that has one, read from the source code.

    pydantic's `use_attribute_docstrings` reads the docstrings of every model at import. Only the
    JSON Schema and the message about a missing key need them.

    Raises `OSError`: the package was installed without its sources.
    """
    kind = next(
        node
        for node in _source(part.__module__).body
        if isinstance(node, ast.ClassDef) and node.name == part.__name__
    )
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in itertools.pairwise(kind.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and field.target.id in part.model_fields
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


@cache
def _source(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))


PerMetric: TypeAlias = Annotated[
    Annotated[Percent, Tag("<scalar>")]
    | Annotated[dict[Text, Percent], Tag("<mapping>")]
    | Annotated[NotPercent, Tag("<list>")],
    Discriminator(shape),
]
"""One percentage, or one per metric."""
