"""Problems of a scenario as text: source line, carets under the place, and the fix."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from bench_framework.scenario.syntax import split_lines

if TYPE_CHECKING:
    from bench_framework.errors import Position, Problem, ScenarioError

MAX_SHOWN: Final = 20
"""Largest number of problems that are printed. Later ones often follow from earlier ones."""
_LINE_WIDTH: Final = 110
"""Number of columns of a source line that are printed."""
_CARET_MAX: Final = 60
_TAB: Final = "    "
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def render(error: ScenarioError) -> str:
    """Return at most 20 problems of a scenario and a closing line, without a final newline."""
    parts = [_problem(problem, error.sources) for problem in error.problems[:MAX_SHOWN]]
    count = len(error.problems)
    if count > MAX_SHOWN:
        parts.append(f"and {count - MAX_SHOWN} more")
    files = len({problem.file for problem in error.problems if problem.file is not None}) or 1
    parts.append(f"{_count(count, 'error')} in {_count(files, 'file')}. Nothing was built or run.")
    return "\n\n".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _problem(problem: Problem, sources: dict[str, str]) -> str:
    lines = [f"error[{problem.code}]: {visible(problem.message)}"]
    marks: list[tuple[Position, str, str]] = [(at, label, "-") for at, label in problem.also]
    if problem.at is not None:
        marks.append((problem.at, problem.label, "^"))
    marks.sort(key=lambda mark: (mark[0].line, mark[0].column))
    width = len(str(max((at.line for at, _, _ in marks), default=0)))
    if problem.file is not None:
        where = f":{problem.at.line}:{problem.at.column}" if problem.at is not None else ""
        lines.append(f"{' ' * width}--> {visible(problem.file)}{where}")
    source = sources.get(problem.file or "")
    if marks and source is not None:
        lines += _source(marks, split_lines(source), width)
    if problem.help:
        if marks and source is not None:
            lines.append(f"{' ' * width} |")
        lines.append(f"{' ' * width} = fix: {visible(problem.help)}")
    if problem.note:
        lines.append(f"{' ' * width} = note: {visible(problem.note)}")
    return "\n".join(lines)


def _source(marks: list[tuple[Position, str, str]], source: list[str], width: int) -> list[str]:
    """Return the marked lines with line numbers. Dots replace omitted lines between them."""
    lines = [f"{' ' * width} |"]
    last_line = None
    for at, label, sign in marks:
        if at.line > len(source):
            continue
        text, offset, length = _window(source[at.line - 1], at)
        if last_line is not None and at.line > last_line + 1:
            lines.append(f"{'.' * width} |")
        if at.line != last_line:
            lines.append(f"{at.line:>{width}} | {text}")
        last_line = at.line
        lines.append(f"{' ' * width} | {' ' * offset}{sign * length} {visible(label)}".rstrip())
    return lines


def _window(line: str, at: Position) -> tuple[str, int, int]:
    """Return the printed line, the columns before the carets, and the number of carets."""
    start, end = at.column - 1, at.column - 1 + at.length
    before, marked, after = (
        _visible_line(line[:start]),
        _visible_line(line[start:end]),
        _visible_line(line[end:]),
    )
    length = max(1, columns(marked))
    if columns(before) + length + columns(after) <= _LINE_WIDTH:
        return (before + marked + after).rstrip(), columns(before), length
    room = _LINE_WIDTH - min(length, _CARET_MAX)
    marked = marked if length <= _CARET_MAX else _cut(marked, _CARET_MAX - 1) + "…"
    if columns(before) > room // 2:
        before = "…" + _cut(before[::-1], room // 2 - 1)[::-1]
    rest = _LINE_WIDTH - columns(before) - columns(marked)
    if columns(after) > rest:
        after = _cut(after, max(0, rest - 1)) + "…"
    return (before + marked + after).rstrip(), columns(before), max(1, columns(marked))


def _visible_line(text: str) -> str:
    return visible(text.replace("\t", _TAB))


def visible(text: str) -> str:
    """Return the text with invisible and control characters escaped."""
    return "".join(
        _escape(char) if unicodedata.category(char) in _INVISIBLE else char for char in text
    )


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def columns(text: str) -> int:
    """Return the terminal columns of a text: two for wide, none for combining characters."""
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def _cut(text: str, width: int) -> str:
    """Return the longest beginning that fits into `width` columns."""
    used = 0
    for index, char in enumerate(text):
        used += _columns(char)
        if used > width:
            return text[:index]
    return text
