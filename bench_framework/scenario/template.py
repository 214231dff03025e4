"""``{placeholders}`` in the words of a scenario. What is filled in is never read again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench_framework.model.plan import BIN, INPUT, TUNING, Slot, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ARGS: Final = "{args}"
"""A word of its own in a command: the place of the arguments that axis values add."""
_SLOTS: Final[dict[str, Slot]] = {"bin": BIN, "input": INPUT, "tuning": TUNING}
_TOKEN: Final = re.compile(r"(?P<escape>\{\{|\}\})|\{(?P<name>[^{}]*)\}|(?P<lone>[{}])")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """``{name}`` at an offset of the text; `name` is `None` for a brace that closes or opens nothing."""

    name: str | None
    start: int
    end: int


def placeholders(text: str) -> Iterator[Placeholder]:
    """The placeholders of a text in order, and the braces that are none."""
    for match in _TOKEN.finditer(text):
        if match["escape"]:
            continue
        name = match["name"]
        yield Placeholder(
            name if name is not None and _NAME.fullmatch(name) else None, *match.span()
        )


def names(text: str) -> set[str]:
    """The names that a text asks for."""
    return {item.name for item in placeholders(text) if item.name is not None}


def fill(text: str, values: Mapping[str, str], *, quote: Callable[[str], str] = str) -> Word:
    """One word with values in the place of names; ``{bin}``, ``{input}`` and ``{tuning}`` stay slots.

    Args:
        text: checked before: every name is in `values` or a slot.
        values: filled in as they stand, whatever they hold.
        quote: applied to each value that is filled in, for a shell's command line.
    """
    pieces: list[str | Slot] = []
    done = 0
    for match in _TOKEN.finditer(text):
        _literal(pieces, text[done : match.start()])
        done = match.end()
        name = match["name"]
        if match["escape"] or match["lone"]:
            _literal(pieces, match[0][:1])
        elif name in values:
            _literal(pieces, quote(values[name]))
        elif name in _SLOTS:
            pieces.append(_SLOTS[name])
        else:
            _literal(pieces, match[0])
    _literal(pieces, text[done:])
    return tuple(pieces)


def fill_text(text: str, values: Mapping[str, str]) -> str:
    """As `fill`, for a text that holds no slots."""
    return "".join(piece for piece in fill(text, values) if isinstance(piece, str))


def _literal(pieces: list[str | Slot], text: str) -> None:
    """Add text, so that equal words are equal tuples: no empty pieces, no two literals side by side."""
    if text and pieces and isinstance(pieces[-1], str):
        pieces[-1] += text
    elif text:
        pieces.append(text)
