"""Loading of a scenario: a valid `Scenario`, or all of its problems at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bench_framework.errors import Problem, ScenarioError
from bench_framework.scenario import document as documents
from bench_framework.scenario import syntax
from bench_framework.scenario.checks import check, check_version
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Document, Place, Scalar, Unreadable
from bench_framework.scenario.overrides import apply
from bench_framework.scenario.schema import ScenarioFile
from bench_framework.scenario.snippet import render
from bench_framework.scenario.validation_errors import document_value, problem_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Scenario", "load", "render"]

_PASSES = 4
"""Passes of validating and removing invalid parts. Each may show further problems."""
_STAND_INS: dict[str, Any] = {
    "version": "1",
    "name": "unnamed",
    "question": "?",
    "worker": {"command": ["true"]},
}
"""Replacements for missing required keys, so that the rest can be checked."""
_ENCODINGS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"\xef\xbb\xbf": "UTF-8 with a byte order mark",
}


def load(path: Path, *, overrides: Sequence[str] = (), text: str | None = None) -> Scenario:
    """Read, override, validate and check a scenario.

    Args:
        path: path of the file. Relative paths in it start at its folder.
        overrides: overrides such as ``measure.rounds.max=5``. The value is YAML.
        text: contents to use instead of those of the file.

    Raises:
        ScenarioError: all problems, in file order. `render` formats them.
    """
    file = str(path)
    try:
        content = _read(path) if text is None else text
        document = documents.parse(_without_mark(content, file), file)
    except Unreadable as unreadable:
        sources = {} if unreadable.problem.at is None else {file: content}
        raise ScenarioError((unreadable.problem,), sources) from None
    apply(document, overrides)
    if not isinstance(document.data, dict):
        problem = document.value_problem(
            (), "BC102", "a scenario must be a mapping of keys", label="expected a mapping"
        )
        raise ScenarioError((problem,), document.sources)
    outdated = check_version(document)
    if outdated is not None:
        raise ScenarioError((outdated,), document.sources)
    spec, valid_part, problems, lost = _validate(document)
    if spec is not None:
        scenario = Scenario(spec, valid_part, file, path.absolute().parent, content, lost)
        problems += check(scenario, damaged=bool(problems))
        if not problems:
            return scenario
    raise ScenarioError(_in_order(problems, document), document.sources)


def _read(path: Path) -> str:
    file = str(path)
    try:
        raw = path.read_bytes() if path.is_file() or not path.exists() else _refuse_special(path)
    except FileNotFoundError:
        advice = "give the path of a scenario, or write one with `benchctl init`"
        raise Unreadable(
            Problem("BC003", f"there is no file `{file}`", file=file, help=advice)
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Unreadable(
            Problem("BC003", f"`{file}` cannot be read: {reason}", file=file)
        ) from None
    if len(raw) > documents.MAX_BYTES:
        raise Unreadable(syntax.too_large(file, documents.MAX_BYTES))
    for mark, name in _ENCODINGS.items():
        if raw.startswith(mark):
            raise Unreadable(
                Problem(
                    "BC004",
                    f"the file is {name}",
                    file=file,
                    help="save it as UTF-8 without a byte order mark",
                )
            )
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"the file is not UTF-8: byte 0x{raw[error.start]:02x} in line {line}"
        raise Unreadable(Problem("BC004", message, file=file, help="save it as UTF-8")) from None


def _refuse_special(path: Path) -> bytes:
    what = "is a folder" if path.is_dir() else "is not a regular file"
    advice = "give the path of a file in it" if path.is_dir() else None
    raise Unreadable(Problem("BC003", f"`{path}` {what}", file=str(path), help=advice))


def _without_mark(text: str, file: str) -> str:
    if text.startswith("\ufeff"):
        advice = "save it as UTF-8 without a byte order mark"
        raise Unreadable(
            Problem("BC004", "the text starts with a byte order mark", file=file, help=advice)
        )
    return text


def _validate(
    document: Document,
) -> tuple[ScenarioFile | None, Document, list[Problem], frozenset[str]]:
    """Return the model of the valid part, that part, the problems, and the removed names."""
    problems = list(document.problems)
    lost: set[str] = set()
    gone: set[documents.Path] = set()
    for _ in range(_PASSES):
        try:
            return ScenarioFile.model_validate(document.data), document, problems, frozenset(lost)
        except ValidationError as invalid:
            errors = invalid.errors(include_url=False, include_input=False)
        faults = [problem_of(error, document) for error in errors]
        for error, (problem, path) in zip(errors, faults, strict=True):
            if problem not in problems and not _follows(error, path, gone):
                problems.append(problem)
        doomed = {path for _, path in faults if path}
        gone |= doomed
        lost |= {_name(document, path) for path in doomed}
        document = _without(document, doomed)
        for error in errors:
            if error["type"] == "missing" and len(error["loc"]) == 1:
                document.data[error["loc"][0]] = _plain(_STAND_INS[str(error["loc"][0])])
    return None, document, problems, frozenset(lost)


def _follows(error: Any, path: documents.Path, gone: set[documents.Path]) -> bool:
    """Return whether something is missing only because it was invalid and removed."""
    if error["type"] == "missing":
        return (*path, str(error["loc"][-1])) in gone
    return error["type"] == "too_short" and any(left_out[:-1] == path for left_out in gone)


def _name(document: Document, path: documents.Path) -> str:
    """Return the name that is removed at a path: the key, or the item of a list."""
    return path[-1] if isinstance(path[-1], str) else str(document_value(document.data, path))


def _without(document: Document, doomed: set[documents.Path]) -> Document:
    data, place = _prune(document.data, document.place, (), doomed)
    for key, value in _STAND_INS.items():
        if (key,) in doomed:
            data[key] = _plain(value)
    return Document(data, place, document.sources)


def _plain(value: Any) -> Any:
    return Scalar(value, plain=True) if isinstance(value, str) else value


def _prune(
    data: Any, place: Place, path: documents.Path, doomed: set[documents.Path]
) -> tuple[Any, Place]:
    """Return data and places without the values at the doomed paths. List indexes shift."""
    if isinstance(data, dict):
        remaining = [key for key in data if (*path, key) not in doomed]
        pairs = {
            key: _prune(data[key], place.children[key], (*path, key), doomed)
            for key in remaining
            if key in place.children
        }
        pruned = {key: pairs[key][0] if key in pairs else data[key] for key in remaining}
        return pruned, Place(
            place.file, place.value, place.key, {key: pair[1] for key, pair in pairs.items()}
        )
    if isinstance(data, list):
        items = [
            _prune(item, place.children[index], (*path, index), doomed)
            for index, item in enumerate(data)
            if (*path, index) not in doomed
        ]
        children: dict[str | int, Place] = {index: item[1] for index, item in enumerate(items)}
        return [item[0] for item in items], Place(place.file, place.value, place.key, children)
    return data, place


def _in_order(problems: list[Problem], document: Document) -> tuple[Problem, ...]:
    files = list(document.sources)

    def place(problem: Problem) -> tuple[int, int, int]:
        at = problem.at
        return (
            files.index(problem.file) if problem.file in files else len(files),
            at.line if at else 0,
            at.column if at else 0,
        )

    return tuple(sorted(problems, key=place))
