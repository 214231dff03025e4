"""Character offsets to lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from bench_framework.errors import Position

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class LineStarts:
    """Character offset to line and column. Lines end as editors see it: LF, CRLF or CR."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._lengths = [len(line) for line in split_lines(text)]

    def position(self, start: int, end: int) -> Position:
        """From `start` to `end`, cut off at the end of the first line; at least one column."""
        row = bisect_right(self._starts, start) - 1
        column = min(start - self._starts[row], self._lengths[row])
        return Position(row + 1, column + 1, max(1, min(end - start, self._lengths[row] - column)))


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends; at least one."""
    return _LINE_END.split(text)
