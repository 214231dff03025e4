"""Text by the columns that it takes on a terminal, wide characters and combining marks counted right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterable


def width_of(text: str) -> int:
    """Columns of a text."""
    return cell_len(text)


def pad(text: str, width: int, *, left: bool = True) -> str:
    """Text filled with spaces to a width; longer text is left as it is."""
    space = " " * max(0, width - width_of(text))
    return text + space if left else space + text


def cut_middle(text: str, width: int, mark: str = "…", *, head_width: int | None = None) -> str:
    """A name that fits: its beginning and its end, as names differ at either.

    Only names are cut, never numbers; whoever prints one gives the full name nearby. The beginning takes
    `head_width` columns, else half of the room.
    """
    if width_of(text) <= width:
        return text
    room = max(2, width - width_of(mark))
    head = _first(text, (room + 1) // 2 if head_width is None else head_width)
    tail = _first(text[::-1], room - width_of(head))[::-1]
    return head + mark + tail


def cut_apart(names: Iterable[str], width: int, mark: str = "…") -> dict[str, str]:
    """Each name as it fits; all are cut where two different ones do not become the same, if there is such a place.

    Of several such places it is the one where most ends begin with a whole word, then the one nearest to the middle.
    """
    found = list(dict.fromkeys(names))
    room = max(2, width - width_of(mark))
    half = (room + 1) // 2
    plain = {name: cut_middle(name, width, mark) for name in found}
    if len(set(plain.values())) == len(found):
        return plain
    best, most = plain, -1
    for head in (*range(half, 2, -1), *range(half + 1, room - 2)):
        cut = {name: cut_middle(name, width, mark, head_width=head) for name in found}
        whole = sum(_ends_whole(name, short, mark) for name, short in cut.items())
        if len(set(cut.values())) == len(found) and whole > most:
            best, most = cut, whole
    return best


def _ends_whole(name: str, short: str, mark: str) -> bool:
    """Whether the end of a cut name begins where a word of the whole name does."""
    end = short.rpartition(mark)[2]
    before = name[: -len(end)][-1:] if end and short != name else ""
    return bool(before) and not before.isalnum()


def _first(text: str, width: int) -> str:
    taken = ""
    for character in text:
        if width_of(taken + character) > width:
            break
        taken += character
    return taken


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns, broken at spaces; a longer word stands alone, whole."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        candidate = f"{line} {word}" if line else word
        if line and width_of(candidate) > width:
            lines.append(line.rstrip())
            line = word
        else:
            line = candidate
    if line.strip():
        lines.append(line.rstrip())
    return lines
