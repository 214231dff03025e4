"""How the fields of a plan are written in a scenario.

A part of a scenario that a plan contains as it is written is a dataclass of this package. The types of
its fields select the readers of their values; `scenario.schema.types` has them.
"""

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Annotated, Final, TypeAlias


class Written(Enum):
    """A written form of a value that its Python type does not imply."""

    DURATION = auto()
    HOST_LABELS = auto()
    NATURAL = auto()
    PERCENT = auto()
    POSITIVE = auto()
    SELECTION = auto()
    SELECTIONS = auto()
    SHARE = auto()


Seconds: TypeAlias = Annotated[float, Written.DURATION]
"""A time in seconds, written with its unit: ``15m``."""
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

NOT_WRITTEN: Final[Mapping[str, str]] = MappingProxyType({"key": ""})
"""Metadata of a field that has no key in a scenario."""


def written_as(key: str) -> Mapping[str, str]:
    """Return the metadata of a field whose key is not its name with `-` in place of `_`."""
    return MappingProxyType({"key": key})
