"""Arguments of commands, with slots in place of paths that are known later."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Slot:
    """A placeholder of an argument, not a string: a literal argument ``bin`` differs from it."""

    slot: Literal["bin", "input", "tuning", "output", "port"]


BIN: Final = Slot("bin")
INPUT: Final = Slot("input")
TUNING: Final = Slot("tuning")
"""Slot for the file with the output of `Plan.tuning`."""
OUTPUT: Final = Slot("output")
"""Slot for the file that `Dataset.command` writes."""
PORT: Final = Slot("port")
"""Slot for the free port at which a `Server` is started."""
Word = tuple[str | Slot, ...]
"""One argument: literal parts and slots, joined without separators."""


def filled(word: Word, values: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return an argument with the given values in its slots; others stay, such as ``{input}``."""
    return "".join(p if isinstance(p, str) else values.get(p.slot, f"{{{p.slot}}}") for p in word)
