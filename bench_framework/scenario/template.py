"""``{placeholders}`` in the texts of a scenario. Inserted values are not expanded again."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from bench_framework.model.plan.arguments import BIN, INPUT, OUTPUT, PORT, TUNING, Slot, Word

ARGS: Final = "{args}"
"""Argument of a command at which the arguments of axis values are inserted."""
SLOTS: Final[dict[str, Slot]] = {slot.slot: slot for slot in (BIN, INPUT, TUNING, OUTPUT, PORT)}
_TOKEN: Final = re.compile(r"(?P<escape>\{\{|\}\})|\{(?P<name>[^{}]*)\}|(?P<lone>[{}])")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A ``{name}`` at an offset of the text. `name` is `None` for an unmatched brace."""

    name: str | None
    start: int
    end: int


def placeholders(text: str) -> Iterator[Placeholder]:
    """Yield the placeholders of a text and its unmatched braces, in order."""
    for match in _TOKEN.finditer(text):
        if not match["escape"]:
            name = match["name"] if _NAME.fullmatch(match["name"] or "") else None
            yield Placeholder(name, *match.span())


def names(*texts: str) -> set[str]:
    """Return the names of the placeholders in texts."""
    every = (item.name for text in texts for item in placeholders(text))
    return {name for name in every if name is not None}


def sole_name(text: str) -> str:
    """Return the name of the placeholder that is the whole text; empty if it is not one."""
    name = text[1:-1]
    return name if _NAME.fullmatch(name) and text == f"{{{name}}}" else ""


def fill(text: str, values: Mapping[str, str], *, quote: Callable[[str], str] = str) -> Word:
    """Return one argument with values inserted. ``{bin}``, ``{input}`` and the like stay slots.

    Every name in the text is in `values` or a slot. `quote` is applied to each inserted value, for
    shell command lines.
    """
    pieces: list[str | Slot] = []
    done = 0
    for match in _TOKEN.finditer(text):
        pieces.append(text[done : match.start()])
        name, done = match["name"], match.end()
        if name in values:
            pieces.append(quote(values[name]))
        else:
            pieces.append(match[0][:1] if name is None else SLOTS.get(name, match[0]))
    word: list[str | Slot] = []
    for piece in (*pieces, text[done:]):
        # Literals are joined, so that equal arguments are equal tuples.
        if isinstance(piece, str) and word and isinstance(word[-1], str):
            word[-1] += piece
        elif piece:
            word.append(piece)
    return tuple(word)


def fill_words(words: Iterable[str], values: Mapping[str, str]) -> tuple[Word, ...]:
    """Return the arguments with values inserted, see `fill`."""
    return tuple(fill(word, values) for word in words)


def fill_text(text: str, values: Mapping[str, str]) -> str:
    """Return a text without slots with values inserted."""
    return "".join(piece for piece in fill(text, values) if isinstance(piece, str))
