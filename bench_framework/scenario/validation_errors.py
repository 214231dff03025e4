"""Problems of a scenario: from pydantic's validation errors, and as text with the source line."""

import operator
import unicodedata
from collections.abc import Sequence
from functools import reduce
from typing import Any, Final

from rich.cells import cell_len, set_cell_size

from bench_framework.errors import Position, Problem, ScenarioError
from bench_framework.model import json_path
from bench_framework.scenario import scalars
from bench_framework.scenario.document import Path, YamlFile, split_lines, suggest
from bench_framework.scenario.schema import ScenarioFile
from bench_framework.scenario.schema.docstrings import docstrings
from bench_framework.scenario.schema.types import keys, parts_in
from bench_framework.scenario.schema.worker import AxisTable
from bench_framework.text.errors import ErrorText, error_text
from bench_framework.units import counted

MAX_SHOWN: Final = 20
"""Largest number of problems that are printed. Later ones often follow from earlier ones."""
_LINE_WIDTH: Final = 110
"""Number of columns of a source line that are printed."""
_CARET_MAX: Final = 60
_TAB: Final = "    "
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def problem_of(error: Any, document: YamlFile) -> tuple[Problem, Path]:
    """Return the problem and the path of the invalid part, which is removed to check the rest.

    `error` is one of pydantic's ``ValidationError.errors()``.
    """
    loc: tuple[str | int, ...] = error["loc"]
    path = known_path(document.data, loc)
    kind, context = error["type"], error.get("ctx", {})
    if kind in {"extra_forbidden", "unexpected_keyword_argument"}:
        return _unknown_key(document, loc, path), path
    if kind == "missing":
        name = str(loc[-1])
        key, place = "BC107.missing-key", spell(path) if path else ""
        description = _description(loc)
        return document.key_problem(
            path, key, name=name, place=place, description=description
        ), path
    if kind.startswith("BC"):
        return _refusal(document, loc, path, kind, context)
    return _shape_problem(document, path, error), path


def _shape_problem(document: YamlFile, path: Path, error: Any) -> Problem:
    """Return the problem of an error that pydantic itself raised, such as a wrong type."""
    kind, context = error["type"], error.get("ctx", {})
    value = document_value(document.data, path)
    name, given = spell(path), scalars.describe(value)
    match kind:
        case "list_type" | "tuple_type":
            word = value if isinstance(value, str) else ""
            key = "BC102.not-a-list"
            return document.value_problem(path, key, path=name, value=given, word=word)
        case "dict_type" | "model_type" | "dataclass_type":
            return document.value_problem(path, "BC102.no-mapping", path=name, value=given)
        case "too_short":
            least, count = context["min_length"], context["actual_length"]
            entries = "1 entry" if least == 1 else f"{least} entries"
            key = "BC102.too-few-entries"
            return document.value_problem(path, key, path=name, entries=entries, count=count)
    return document.value_problem(path, "BC102.not-readable", path=name, error=error["msg"])


def known_path(data: Any, loc: Sequence[Any]) -> Path:
    """Return `loc` without the parts that are not in the document, such as tags of unions."""
    path: list[str | int] = []
    for part in loc:
        inside = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if inside or (isinstance(data, dict) and part in data):
            data = data[part]
            path.append(part)
    return tuple(path)


def document_value(data: Any, path: Path) -> Any:
    """Return the value at a path that exists in the document."""
    return reduce(operator.getitem, path, data)


def spell(path: Path) -> str:
    """Return a path as a user writes it: ``measure.rounds.min``, ``axes.io[2]``."""
    return json_path.show(path) or "the scenario"


def _refusal(
    document: YamlFile, loc: Sequence[str | int], path: Path, code: str, context: dict[str, Any]
) -> tuple[Problem, Path]:
    """Return the problem of a `Refused` from `scalars` or from `Part.refuse`."""
    message, label, fix = context["message"], context["label"], context["fix"]
    of_key = code in {"BC107", "BC108"} and isinstance(document_value(document.data, path), dict)
    if context["at"]:
        of_key, path = True, (*path, *context["at"])
    elif message.startswith(("must ", "cannot ")):
        message = f"`{spell(path)}` {message}"
    if loc and loc[-1] == "[key]":
        of_key = True
        if code == "BC102":  # not in a closed set
            values = {"key": path[-1], "place": spell(path[:-1])}
            key = "BC101" if context["allowed"] else "BC101.not-a-key"
            values |= {name: context[name] for name in ("near", "allowed")} | {"label": label}
            text = error_text(key, values)
            return document.text_problem(path, text, of_key=True), known_path(document.data, path)
    text = ErrorText(code, message, None, fix or None, label, None)
    return document.text_problem(path, text, of_key=of_key), known_path(document.data, path)


def _unknown_key(document: YamlFile, loc: Sequence[str | int], path: Path) -> Problem:
    key = str(loc[-1])
    place = spell(path[:-1]) if path[:-1] else ""
    if path[:-1] == ("worker",) and key in {"image", "container"}:
        return document.key_problem(path, "BC101.container", key=key, place=place)
    known = sorted(keys(part_at(loc[:-1])))
    near, allowed = suggest(key, known), scalars.list_names(known)
    return document.key_problem(path, "BC101", key=key, place=place, near=near, allowed=allowed)


def part_at(loc: Sequence[str | int]) -> type[Any]:
    """Return the type of the mapping at `loc`, a pydantic location with union tags."""
    kinds: list[type[Any]] = [ScenarioFile]
    for step in loc:
        if step in {"<list>", "<mapping>", "<scalar>"}:
            kinds = [kind for kind in kinds if kind is not AxisTable] or kinds
        elif isinstance(step, str) and step.startswith("<"):
            kinds = [kind for kind in kinds if kind.__name__ == step[1:-1]] or kinds
        elif isinstance(step, str):
            kinds = _below(kinds, step) or kinds
    return kinds[0]


def _below(kinds: list[type[Any]], key: str) -> list[type[Any]]:
    return [part for kind in kinds if key in keys(kind) for part in parts_in(keys(kind)[key].type)]


def _description(loc: Sequence[str | int]) -> str:
    """Return the description of a missing key; empty if it has none."""
    part, key = part_at(loc[:-1]), str(loc[-1])
    text = docstrings(part).get(key, "")
    return f"{text[:1].lower()}{text[1:]}".rstrip(".").replace("\n", " ")


def render(error: ScenarioError) -> str:
    """Return at most 20 problems of a scenario and a closing line, without a final newline."""
    parts = [_problem(problem, error.sources) for problem in error.problems[:MAX_SHOWN]]
    count = len(error.problems)
    if count > MAX_SHOWN:
        parts.append(f"and {count - MAX_SHOWN} more")
    files = counted(len({p.file for p in error.problems if p.file is not None}) or 1, "file")
    parts.append(f"{counted(count, 'error')} in {files}. Nothing was built or run.")
    return "\n\n".join(parts)


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
    if problem.fix:
        if marks and source is not None:
            lines.append(f"{' ' * width} |")
        lines.append(f"{' ' * width} = fix: {visible(problem.fix)}")
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
    parts = (line[:start], line[start:end], line[end:])
    before, marked, after = (visible(part.replace("\t", _TAB)) for part in parts)
    length = max(1, cell_len(marked))
    if cell_len(before) + length + cell_len(after) <= _LINE_WIDTH:
        return (before + marked + after).rstrip(), cell_len(before), length
    room = _LINE_WIDTH - min(length, _CARET_MAX)
    marked = marked if length <= _CARET_MAX else set_cell_size(marked, _CARET_MAX - 1) + "…"
    if cell_len(before) > room // 2:
        before = "…" + set_cell_size(before[::-1], room // 2 - 1)[::-1]
    rest = _LINE_WIDTH - cell_len(before) - cell_len(marked)
    if cell_len(after) > rest:
        after = set_cell_size(after, max(0, rest - 1)) + "…"
    return (before + marked + after).rstrip(), cell_len(before), max(1, cell_len(marked))


def visible(text: str) -> str:
    """Return the text with invisible and control characters escaped."""
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if unicodedata.category(char) in _INVISIBLE
        else char
        for char in text
    )
