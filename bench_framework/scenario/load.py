"""Loading of a scenario, with overrides (``-S measure.rounds.max=5``), or all of its problems."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from bench_framework.errors import Position, Problem, ScenarioError
from bench_framework.foreign import ABSENT, MAX_SCENARIO_BYTES, fault_of, scenario_files
from bench_framework.masking import mask_document
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.scenario import document as documents
from bench_framework.scenario.checks import check, check_version
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Place, Scalar, Unreadable, YamlFile, parse, suggest
from bench_framework.scenario.schema import ScenarioFile
from bench_framework.scenario.validation_errors import document_value, problem_of, render
from bench_framework.text.reasons import phrase_of

__all__ = ["Scenario", "load", "render"]

_PASSES = 4
"""Passes of validating and removing invalid parts. Each may show further problems."""
_STAND_INS: dict[str, Any] = {
    "version": Scalar("1", plain=True),
    "name": Scalar("unnamed"),
    "question": Scalar("?"),
    "worker": {"command": ["true"]},
}
"""Replacements for missing required keys, so that the rest can be checked."""
_ENCODINGS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"\xef\xbb\xbf": Phrase(PhraseCode.BYTE_ORDER_MARK),
}
_NUMBER: Final = re.compile(r"[0-9]{1,18}")


def load(path: Path, *, overrides: Sequence[str] = (), text: str | None = None) -> Scenario:
    """Read, override, validate and check a scenario.

    Relative paths start at the folder of the file. The value of an override such as
    ``measure.rounds.max=5`` is YAML. `text` replaces the contents of the file.

    Raises `ScenarioError`: all problems, in file order. `render` formats them.
    """
    file = str(path)
    try:
        content = _read(path) if text is None else text
        if content.startswith("\ufeff"):
            raise Unreadable("BC004.byte-order-mark", file)  # noqa: TRY301 -- as `parse` does
        document = parse(content, file)
    except Unreadable as unreadable:
        sources = {} if unreadable.problem.at is None else {file: content}
        raise ScenarioError((unreadable.problem,), sources) from None
    # A secret that an override replaces is in the stored text.
    document.data = mask_document(document.data)
    apply(document, overrides)
    if not isinstance(document.data, dict):
        problem = document.value_problem((), "BC102.scenario-not-a-mapping")
        raise ScenarioError((problem,), document.sources)
    outdated = check_version(document)
    if outdated is not None:
        raise ScenarioError((outdated,), document.sources)
    document.data = mask_document(document.data)
    spec, valid_part, problems, lost = _validate(document)
    if spec is not None:
        scenario = Scenario(spec, valid_part, file, path.absolute().parent, content, lost)
        problems += check(scenario, damaged=bool(problems))
        if not problems:
            return scenario
    raise ScenarioError(_in_order(problems, document), document.sources)


def _read(path: Path) -> str:
    file, raw = str(path), b""
    if not (fault := fault_of(path)):
        try:
            with path.open("rb") as stream:
                raw = stream.read(MAX_SCENARIO_BYTES + 1)
        except OSError as error:
            fault = phrase_of(FaultCode.FILE_UNREADABLE, str(error.strerror))
    if fault == ABSENT:
        near = suggest(path.name, [p.name for p in path.parent.glob("*.y*ml")])
        files = scenario_files()
        near = str(path.with_name(near)) if near else files.get(suggest(path.stem, files) or "")
        raise Unreadable("BC003.no-file", file, file=file, near=near)
    if fault:
        key = "BC003.folder" if path.is_dir() else "BC003.not-readable"
        raise Unreadable(key, file, file=file, fault=fault)
    if len(raw) > MAX_SCENARIO_BYTES:
        raise documents.too_large(file)
    for mark, name in _ENCODINGS.items():
        if raw.startswith(mark):
            raise Unreadable("BC004.other-encoding", file, name=name)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise Unreadable("BC004.not-utf-8", file, raw=raw[error.start], line=line) from None


def _validate(
    document: YamlFile,
) -> tuple[ScenarioFile | None, YamlFile, list[Problem], frozenset[str]]:
    """Return the model of the valid part, that part, the problems, and the removed names."""
    problems = list(document.problems)
    lost: set[str] = set()
    gone: set[documents.Path] = set()
    for _ in range(_PASSES):
        try:
            return ScenarioFile.model_validate(document.data), document, problems, frozenset(lost)
        except ValidationError as invalid:
            errors = invalid.errors(include_url=False, include_input=False)
        # pydantic counts the valid items of a tuple, which is then too short because of the others.
        bad = {error["loc"][:-1] for error in errors}
        errors = [e for e in errors if e["type"] != "too_short" or e["loc"] not in bad]
        faults = [problem_of(error, document) for error in errors]
        for error, (problem, path) in zip(errors, faults, strict=True):
            if problem not in problems and not _follows(error, path, gone):
                problems.append(problem)
        doomed = {path for _, path in faults if path}
        gone |= doomed
        lost |= {_name(document, path) for path in doomed}
        data, place = _prune(document.data, document.place, (), doomed)
        document = YamlFile(_STAND_INS | data, place, document.sources)
    return None, document, problems, frozenset(lost)


def _follows(error: Any, path: documents.Path, gone: set[documents.Path]) -> bool:
    """Return whether something is missing only because it was invalid and removed."""
    if error["type"] == "missing":
        return (*path, str(error["loc"][-1])) in gone
    return error["type"] in {"too_short", "BC107"} and any(
        left_out[:-1] == path for left_out in gone
    )


def _name(document: YamlFile, path: documents.Path) -> str:
    """Return the name that is removed at a path: the key, or the item of a list."""
    return path[-1] if isinstance(path[-1], str) else str(document_value(document.data, path))


def _prune(
    data: Any, place: Place, path: documents.Path, doomed: set[documents.Path]
) -> tuple[Any, Place]:
    """Return data and places without the values at the doomed paths. List indexes shift."""
    if not isinstance(data, (dict, list)):
        return data, place
    parts = {
        key: _prune(value, place.at((key,)), (*path, key), doomed)
        for key, value in (data.items() if isinstance(data, dict) else enumerate(data))
        if (*path, key) not in doomed
    }
    if isinstance(data, list):
        parts = dict(enumerate(parts.values()))
        data = [value for value, _ in parts.values()]
    else:
        data = {key: value for key, (value, _) in parts.items()}
    return data, replace(place, children={key: inner for key, (_, inner) in parts.items()})


def _in_order(problems: list[Problem], document: YamlFile) -> tuple[Problem, ...]:
    files = list(document.sources)

    def place(problem: Problem) -> tuple[int, int, int]:
        at = problem.at or Position(0, 0)
        number = files.index(problem.file) if problem.file in files else len(files)
        return number, at.line, at.column

    return tuple(sorted(problems, key=place))


def apply(document: YamlFile, overrides: Sequence[str]) -> None:
    """Change the document in place. Invalid overrides are added to the document's problems."""
    given: set[str] = set()
    for override in overrides:
        file = f"-S {override}"
        document.sources[file] = override
        name, equals, text = override.partition("=")
        path = name.strip().split(".")
        if not equals or not all(path) or not isinstance(document.data, dict):
            at = Position(1, 1, max(1, len(override)))
            document.problems.append(Problem.create("BC112", file, at))
            continue
        try:
            nothing = YamlFile(Scalar("", plain=True), Place(file, Position(1, len(name) + 1)), {})
            value = parse(text, file, len(name) + 1) if text.strip() else nothing
        except Unreadable as unreadable:
            document.problems.append(unreadable.problem)
            continue
        document.problems += value.problems
        value.place.key = Position(1, 1, max(1, len(name)))
        if name.strip().startswith("measure.rounds."):
            _write_both_ends(document)
        if problem := _set(document, path, value):
            document.problems.append(problem)
            continue
        given.add(name.strip())
    _keep_rounds_ordered(document, given)


def _set(document: YamlFile, path: list[str], value: YamlFile) -> Problem | None:
    """Set the value at its path and create missing mappings. Return why it has no place there, if so."""
    data, place, at = document.data, document.place, value.place.key
    for number, part in enumerate(path, 1):
        key = _key(data, part)
        if key is None:
            file, where = value.place.file, ".".join(path[: number - 1])
            if not isinstance(data, list):
                return Problem.create("BC112.inside-a-value", file, at, where=where, part=part)
            most = len(data)
            return Problem.create(
                "BC112.inside-a-list", file, at, where=where, part=part, most=most
            )
        if number == len(path):
            _put(data, key, value.data)
            place.children[key] = value.place
        elif at and (key not in place.children or documents.is_null(data[key])):
            _put(data, key, {})
            place.children[key] = Place(value.place.file, at, at)
        data, place = data[key], place.children[key]
    return None


def _key(data: Any, part: str) -> str | int | None:
    """Return a key, or an index of a list or of its end; `None` if `data` cannot contain the part."""
    if isinstance(data, dict):
        return part
    number = int(part) if _NUMBER.fullmatch(part) else None
    return number if isinstance(data, list) and number in range(len(data) + 1) else None


def _put(data: Any, key: str | int, value: Any) -> None:
    if isinstance(data, list) and key == len(data):
        data.append(value)
    else:
        data[key] = value


def _write_both_ends(document: YamlFile) -> None:
    """Replace an exact number of rounds by its two ends."""
    match document.data:
        case {"measure": {"rounds": str(number)} as measure} if _NUMBER.fullmatch(number):
            place = document.place.at(["measure", "rounds"])
            measure["rounds"] = {}
            for end in ("min", "max"):
                measure["rounds"][end] = number
                place.children[end] = Place(place.file, place.value, place.key)


def _keep_rounds_ordered(document: YamlFile, given: set[str]) -> None:
    """Move the end of `measure.rounds` in the file if the other end is overridden past it."""
    match document.data:
        case {"measure": {"rounds": {"min": str(least), "max": str(most)} as rounds}}:
            ends = [end for end in ("min", "max") if f"measure.rounds.{end}" in given]
            numbers = _NUMBER.fullmatch(least) and _NUMBER.fullmatch(most)
            if len(ends) == 1 and numbers and int(least) > int(most):
                rounds["min"] = rounds["max"] = rounds[ends[0]]
