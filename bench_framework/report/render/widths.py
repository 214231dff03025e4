"""Text measured in terminal columns, with wide characters and combining marks."""

import re
from collections.abc import Iterable
from typing import Final

from rich.cells import cell_len

from bench_framework.foreign import ACTIVE, escaped

_NUMBER: Final = re.compile("(?:≈ )?[0-9]")
_LINE_BREAKS: Final = re.compile(r"[\r\n\u2028\u2029]+")
_ACTIVE: Final = re.compile(f"[{ACTIVE}\ufffe\uffff]")
"""Active characters, and what XML cannot contain."""

COMMAND: Final = re.compile(r"`((?:benchctl |--)[^`|\r\n]*[^`|\s])`")
"""A command or an option that a sentence quotes. A bar would end the cell of a Markdown table."""

QUOTED: Final = re.compile(r"`([^`\r\n]+)`")


def visible(text: str) -> str:
    """Return one line with an escape for each active character, such as U+202E."""
    return _ACTIVE.sub(escaped, _LINE_BREAKS.sub(" ", text).replace("\t", " "))


def visible_lines(text: str) -> str:
    """Apply `visible` to each line of a text."""
    return "\n".join(visible(line) for line in text.splitlines())


def is_number(text: str) -> bool:
    """Return whether a text of a cell is a number, perhaps an approximate one."""
    return _NUMBER.match(text) is not None


def decimal_width(text: str) -> int:
    """Return the number of characters of a number from the decimal point on."""
    return len(text) - text.index(".") if "." in text and is_number(text) else 0


def pad(text: str, width: int, *, left: bool = True) -> str:
    """Return text padded with spaces to a width. Longer text is unchanged."""
    space = " " * max(0, width - cell_len(text))
    return text + space if left else space + text


def cut_middle(text: str, width: int, mark: str = "…", *, head_width: int | None = None) -> str:
    """Return a name cut in the middle, because names differ at the beginning or at the end.

    Only names are cut, never numbers. The caller prints the full name nearby. The beginning takes
    `head_width` columns, by default half of the width.
    """
    if cell_len(text) <= width:
        return text
    room = max(2, width - cell_len(mark))
    head = _first(text, (room + 1) // 2 if head_width is None else head_width)
    return head + mark + _first(text[::-1], room - cell_len(head))[::-1]


def cut_distinct(names: Iterable[str], width: int, mark: str = "…") -> dict[str, str]:
    """Return the names cut at a place where different names remain different, if there is one.

    Of several such places it is the one where most ends begin with a whole word, then the one that
    is nearest to the middle.
    """
    distinct = list(dict.fromkeys(names))
    room = max(2, width - cell_len(mark))
    half = (room + 1) // 2
    plain = {name: cut_middle(name, width, mark) for name in distinct}
    if len(set(plain.values())) == len(distinct):
        return plain
    best, most = plain, -1
    for head in (*range(half, 2, -1), *range(half + 1, room - 2)):
        cut = {name: cut_middle(name, width, mark, head_width=head) for name in distinct}
        whole = sum(_ends_whole(name, short, mark) for name, short in cut.items())
        if len(set(cut.values())) == len(distinct) and whole > most:
            best, most = cut, whole
    return best


def _ends_whole(name: str, short: str, mark: str) -> bool:
    """Return whether the end of a cut name begins at the start of a word."""
    end = short.rpartition(mark)[2]
    before = name[: -len(end)][-1:] if end and short != name else ""
    return bool(before) and not before.isalnum()


def _first(text: str, width: int) -> str:
    """Return the beginning of a text that fits. A name of any length costs only `width` steps."""
    taken = ""
    for character in text:
        if cell_len(taken + character) > width:
            break
        taken += character
    return taken
