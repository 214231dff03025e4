"""How the fields of a plan are written in a scenario.

A part of a scenario that a plan contains as it is written is a dataclass of this package. The types of
its fields select the readers of their values; `scenario.schema.types` has them. The text in an annotated
type distinguishes written forms of one Python type.
"""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

Seconds: TypeAlias = Annotated[float, "seconds"]
"""A time in seconds, written with its unit: ``15m``."""
NonEmpty: TypeAlias = Annotated[str, "not-empty"]
"""A text that is not empty."""
OneChange: TypeAlias = Annotated[tuple[tuple[str, str], ...], "one-change"]
"""A key and its value, written as a mapping."""
Positive: TypeAlias = Annotated[int, "positive"]
"""A whole number of at least 1."""
Natural: TypeAlias = Annotated[int, "natural"]
"""A whole number of at least 0."""
Fraction: TypeAlias = Annotated[float, "percentage"]
"""A fraction, written as a percentage: ``2%``."""
Share: TypeAlias = Annotated[float, "share"]
"""A fraction between 0 and 1, written as a percentage."""
HostLabels: TypeAlias = Annotated[tuple[str, ...], "host-labels"]
"""Labels of hosts: a list, or one string that is split at spaces."""
Selection: TypeAlias = Annotated[dict[str, str], "selection"]
"""Axis values, at least one."""
Selections: TypeAlias = Annotated[tuple[dict[str, str], ...], "selections"]
"""A list of axis values, at least one."""
SOME: Final = "some"
"""Annotation of a tuple that has at least one item."""
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
