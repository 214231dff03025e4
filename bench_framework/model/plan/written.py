"""How the fields of a plan are written in a scenario.

A part of a scenario that a plan contains as it is written is a dataclass of this package. The types of
its fields select the readers of their values; `scenario.schema.types` has them.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum, auto
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias


class Written(Enum):
    """A written form of a value that its Python type does not imply."""

    DURATION = auto()
    HOST_LABELS = auto()
    NATURAL = auto()
    NON_EMPTY = auto()
    ONE_CHANGE = auto()
    PERCENT = auto()
    POSITIVE = auto()
    SELECTION = auto()
    SELECTIONS = auto()
    SHARE = auto()
    SOME = auto()


Seconds: TypeAlias = Annotated[float, Written.DURATION]
"""A time in seconds, written with its unit: ``15m``."""
NonEmpty: TypeAlias = Annotated[str, Written.NON_EMPTY]
"""A text that is not empty."""
OneChange: TypeAlias = Annotated[tuple[tuple[str, str], ...], Written.ONE_CHANGE]
"""A key and its value, written as a mapping."""
Positive: TypeAlias = Annotated[int, Written.POSITIVE]
"""A whole number of at least 1."""
Natural: TypeAlias = Annotated[int, Written.NATURAL]
"""A whole number of at least 0."""
Fraction: TypeAlias = Annotated[float, Written.PERCENT]
"""A fraction, written as a percentage: ``2%``."""
Share: TypeAlias = Annotated[float, Written.SHARE]
"""A fraction between 0 and 1, written as a percentage."""
HostLabels: TypeAlias = Annotated[tuple[str, ...], Written.HOST_LABELS]
"""Labels of hosts: a list, or one string that is split at spaces."""
Selection: TypeAlias = Annotated[dict[str, str], Written.SELECTION]
"""Axis values, at least one."""
Selections: TypeAlias = Annotated[tuple[dict[str, str], ...], Written.SELECTIONS]
"""A list of axis values, at least one."""
AxisKind: TypeAlias = Literal["build", "run", "input"]
"""The part of a measurement that an axis acts on."""
CountingTool: TypeAlias = Literal["valgrind", "perf"]
Design: TypeAlias = Literal["full", "one-at-a-time", "ladder"]
"""How the axes are combined."""
Expectation: TypeAlias = Literal["better", "worse"]
OnDifference: TypeAlias = Literal["refuse", "warn"]
"""Effect of another answer than the baseline's: no comparison, or a warning."""
StdoutTarget: TypeAlias = Literal["file", "pipe", "null"]
Strategy: TypeAlias = Literal["fixed", "race"]

NOT_WRITTEN: Final[Mapping[str, str]] = MappingProxyType({"key": ""})
"""Metadata of a field that has no key in a scenario."""


COMPLETED: Final[Mapping[str, object]] = MappingProxyType({"key": "", "completed": True})
"""Metadata of a field that has no key and that follows from the keys of its part."""


def written_as(key: str) -> Mapping[str, str]:
    """Return the metadata of a field whose key is not its name with `-` in place of `_`."""
    return MappingProxyType({"key": key})


def only_written(default: object = "", key: str | None = None, *, required: bool = False) -> Any:
    """Return a field that a plan needs only until it is expanded. Records do not contain it."""
    value: dict[str, Any] = {"default_factory": dict} if default == {} else {"default": default}
    metadata = {"exclude": True, "required": required} | ({} if key is None else {"key": key})
    return field(**value, kw_only=True, compare=False, repr=False, metadata=metadata)
