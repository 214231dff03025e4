"""What stops a text from being read as YAML, in the words of the person who wrote it."""

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
"""The reader's word for what it was reading, and ours."""
_WORDS: Final = {
    "('<anchor>',)": "an anchor",
    "'<stream end>'": "the end of the file",
    "'<document start>'": "a new document",
    "<block end>": "the end of the block",
    "found unexpected end of stream": "the file ends within quotes",
    "mapping values are not allowed here": "a `:` where no key can end",
    "'": "`",
}
"""The reader's words, and what is printed for them; applied in this order."""
_COLON_HELP: Final = "check the indentation of this line, and quote text that holds `: `"


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


def too_large(file: str, limit: int) -> Problem:
    """A text that no person wrote."""
    message = f"the file is larger than {limit // 1024} KiB"
    return Problem(
        "BC006", message, file=file, help="a scenario is a page of text; data belong elsewhere"
    )


def empty(file: str) -> Problem:
    """Nothing, or comments only."""
    return Problem(
        "BC005", "the file is empty", file=file, help="`benchctl init` writes a commented scenario"
    )


def too_deep(file: str) -> Problem:
    """More levels than the reader can follow."""
    return Problem("BC006", "the document is nested too deeply", file=file)


def bad_character(error: ReaderError, file: str, lines: LineStarts) -> Problem:
    """A control character, or half of a pair."""
    code = (
        error.character
        if isinstance(error.character, int)
        else ord(str(error.character)[:1] or "?")
    )
    at = lines.position(error.position, error.position + 1)
    advice = "remove it, or write it as an escape in double quotes"
    return Problem(
        "BC001", f"the character U+{code:04X} may not stand in YAML", file=file, at=at, help=advice
    )


def broken(error: MarkedYAMLError, text: str, file: str, lines: LineStarts) -> Problem:
    """A rule of YAML that the text breaks, with the place where the broken part began."""
    mark, context = error.problem_mark or error.context_mark, error.context_mark
    problem = error.problem or error.context or "this is not YAML"
    if mark is None:
        return Problem("BC001", _plain_words(problem), file=file)
    at = lines.position(mark.index, mark.index + 1)
    if text[mark.index : mark.index + 1] == "\t" and "cannot start any token" in problem:
        before = text[: mark.index].rsplit("\n", 1)[-1]
        message = "a tab stands between tokens" if before.strip() else "a tab starts this line"
        return Problem(
            "BC002", message, file=file, at=at, help="YAML allows spaces only for indentation"
        )
    if (error.context or "").startswith("expected a single document"):
        return Problem(
            "BC007", "a second document starts here", file=file, at=at, help="one scenario per file"
        )
    also: tuple[tuple[Position, str], ...] = ()
    if context is not None and context.index != mark.index:
        also = ((lines.position(context.index, context.index + 1), _opened(error.context or "")),)
    advice = _COLON_HELP if problem.startswith("mapping values are not allowed") else None
    return Problem("BC001", _plain_words(problem), file=file, at=at, also=also, help=advice)


def _opened(context: str) -> str:
    found = next((word for key, word in _PARTS.items() if key in context), "part")
    return f"the {found} starts here"


def _plain_words(problem: str) -> str:
    for theirs, ours in _WORDS.items():
        problem = problem.replace(theirs, ours)
    return problem
