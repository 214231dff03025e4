"""Messages about text that is not YAML, and positions in a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from bench_framework.errors import Position, Problem

if TYPE_CHECKING:
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import ReaderError

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_PARTS: Final = {
    "sequence": "list",
    "mapping": "mapping",
    "scalar": "text",
    "collection": "block",
    "node": "value",
}
"""The YAML reader's terms for what it was reading, and the printed terms."""
_WORDS: Final = {
    "('<anchor>',)": "an anchor",
    "'<stream end>'": "the end of the file",
    "'<document start>'": "a new document",
    "<block end>": "the end of the block",
    "found unexpected end of stream": "the file ends within quotes",
    "mapping values are not allowed here": "unexpected `:`",
    "'": "`",
}
"""Replacements in the YAML reader's messages, applied in this order."""
_COLON_HELP: Final = "check the indentation of this line, and quote text that contains `: `"


class LineStarts:
    """Map from character offsets to lines and columns. Lines end with LF, CRLF or CR."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._lengths = [len(line) for line in split_lines(text)]

    def position(self, start: int, end: int) -> Position:
        """Return the position of `start` to `end` on the first line, at least one column wide."""
        row = bisect_right(self._starts, start) - 1
        column = min(start - self._starts[row], self._lengths[row])
        return Position(row + 1, column + 1, max(1, min(end - start, self._lengths[row] - column)))


def split_lines(text: str) -> list[str]:
    """Return the lines of a text without line ends, at least one line."""
    return _LINE_END.split(text)


def too_large(file: str, limit: int) -> Problem:
    """Return the problem of a file above the size limit."""
    message = f"the file is larger than {limit // 1024} KiB"
    return Problem("BC006", message, file=file, fix="move data out of the scenario")


def empty(file: str) -> Problem:
    """Return the problem of an empty file."""
    return Problem(
        "BC005", "the file is empty", file=file, fix="write a scenario with `benchctl init`"
    )


def too_deep(file: str) -> Problem:
    """Return the problem of a file that is nested too deeply."""
    return Problem("BC006", "the document is nested too deeply", file=file, fix="use fewer levels")


def bad_character(error: ReaderError, file: str, lines: LineStarts) -> Problem:
    """Return the problem of a control character or an unpaired surrogate."""
    code = (
        error.character
        if isinstance(error.character, int)
        else ord(str(error.character)[:1] or "?")
    )
    at = lines.position(error.position, error.position + 1)
    advice = "remove it, or write it as an escape in double quotes"
    return Problem(
        "BC001", f"the character U+{code:04X} is not allowed in YAML", file=file, at=at, fix=advice
    )


def broken(error: MarkedYAMLError, text: str, file: str, lines: LineStarts) -> Problem:
    """Return the problem of a syntax error, with the place where the broken part starts."""
    mark, context = error.problem_mark or error.context_mark, error.context_mark
    problem = error.problem or error.context or "this is not YAML"
    if mark is None:
        return Problem("BC001", _plain_words(problem), file=file)
    at = lines.position(mark.index, mark.index + 1)
    if text[mark.index : mark.index + 1] == "\t" and "cannot start any token" in problem:
        before = text[: mark.index].rsplit("\n", 1)[-1]
        message = (
            "a tab is used between values" if before.strip() else "a tab is used for indentation"
        )
        return Problem("BC002", message, file=file, at=at, fix="use spaces")
    if (error.context or "").startswith("expected a single document"):
        fix = "write one scenario per file"
        return Problem("BC007", "a second document starts here", file=file, at=at, fix=fix)
    also: tuple[tuple[Position, str], ...] = ()
    if context is not None and context.index != mark.index:
        also = ((lines.position(context.index, context.index + 1), _opened(error.context or "")),)
    advice = _COLON_HELP if problem.startswith("mapping values are not allowed") else None
    return Problem("BC001", _plain_words(problem), file=file, at=at, also=also, fix=advice)


def _opened(context: str) -> str:
    part = next((word for key, word in _PARTS.items() if key in context), "part")
    return f"the {part} starts here"


def _plain_words(problem: str) -> str:
    for theirs, ours in _WORDS.items():
        problem = problem.replace(theirs, ours)
    return problem
