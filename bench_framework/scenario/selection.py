"""The words behind ``-k``: which cells are measured, such as ``io=mmap size<=50MiB``.

A selection is terms, all of which must hold, parted by blanks or commas. A term is a name, an operator
and a value. ``=`` and ``!=`` compare names and sizes and take alternatives (``io=read|mmap``); ``<``, ``<=``,
``>`` and ``>=`` compare sizes and numbers; ``~`` and ``!~`` search with a regular expression. A value with
blanks stands in single or double quotes. Names are the axes, ``variant``, ``input`` and ``experiment``.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bench_framework.errors import Position, Problem, ScenarioError
from bench_framework.scenario.document import suggest
from bench_framework.units import is_size, parse_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OPTION: Final = "-k"
_TERM: Final = re.compile(
    r"""[\s,]*(?P<name>[A-Za-z][A-Za-z0-9_-]*)\s*(?P<op>!=|<=|>=|!~|=|<|>|~)\s*
        (?P<value>'[^']*'|"[^"]*"|[^\s,]*)""",
    re.VERBOSE,
)
_ORDER: Final = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True, slots=True)
class Term:
    """One condition, and where it stands in the selection."""

    name: str
    op: str
    value: str
    quoted: bool
    start: int
    value_start: int
    end: int

    @property
    def alternatives(self) -> list[str]:
        """The values that ``=`` takes; quotes keep a bar literal."""
        return [self.value] if self.quoted else self.value.split("|")

    def holds(self, values: Mapping[str, str]) -> bool:
        """Whether a cell with these values meets the condition; one without the name does not."""
        actual = values.get(self.name)
        if actual is None:
            return self.op in {"!=", "!~"}
        if self.op in {"=", "!="}:
            return any(_same(actual, wanted) for wanted in self.alternatives) == (self.op == "=")
        if self.op in {"~", "!~"}:
            return (re.search(self.value, actual) is not None) == (self.op == "~")
        left, right = _number(actual), _number(self.value)
        return left is not None and right is not None and bool(_ORDER[self.op](left, right))


@dataclass(frozen=True, slots=True)
class Selection:
    """Terms that must all hold."""

    text: str
    terms: tuple[Term, ...]

    def takes(self, values: Mapping[str, str]) -> bool:
        """Whether a cell with these values is selected."""
        return all(term.holds(values) for term in self.terms)


def parse_selection(
    text: str,
    known: Mapping[str, Sequence[str]],
    *,
    open_names: Sequence[str],
    option: str = OPTION,
) -> Selection:
    """Read a selection.

    Args:
        text: the words behind ``-k``.
        known: axis name to its values.
        open_names: further names, whose values are not checked.
        option: the one that holds the words, for errors.

    Raises:
        ScenarioError: with every problem of the selection (BC113).
    """
    terms, problems = _split(text)
    for term in terms:
        problem = _check(term, known, open_names)
        if problem is not None:
            problems.append(problem)
    if problems:
        named = (replace(problem, file=option) for problem in problems)
        raise ScenarioError(tuple(named), {option: text})
    return Selection(text, tuple(terms))


def refusal(text: str, *problems: Problem) -> ScenarioError:
    """The error that reports problems of a selection."""
    return ScenarioError(problems, {OPTION: text})


def whole(text: str) -> Position:
    """The place of the whole selection."""
    return Position(1, 1, max(1, len(text)))


def _split(text: str) -> tuple[list[Term], list[Problem]]:
    terms: list[Term] = []
    done = 0
    rest = text.rstrip(" ,\t\n")
    while done < len(rest):
        match = _TERM.match(rest, done)
        if match is None or match.end() == match.start("value"):
            at = Position(1, (match.start("name") if match else done) + 1, max(1, len(rest) - done))
            advice = "write name=value, such as io=mmap, size<=50MiB or runtime!=rayon"
            return terms, [
                Problem("BC113", "this is no condition", file=OPTION, at=at, help=advice)
            ]
        value = match["value"]
        quoted = value[:1] in {"'", '"'} and len(value) > 1 and value[-1] == value[0]
        done = match.end()
        terms.append(
            Term(
                match["name"],
                match["op"],
                value[1:-1] if quoted else value,
                quoted,
                match.start("name"),
                match.start("value"),
                done,
            )
        )
    if not terms:
        return [], [Problem("BC113", "the selection is empty", file=OPTION, at=whole(text))]
    return terms, []


def _check(
    term: Term, known: Mapping[str, Sequence[str]], open_names: Sequence[str]
) -> Problem | None:
    names = [*known, *open_names]
    if term.name not in names:
        at = Position(1, term.start + 1, len(term.name))
        near = suggest(term.name, names)
        advice = (f"did you mean `{near}`?  " if near else "") + f"names: {', '.join(names)}"
        return Problem("BC113", f"there is no axis `{term.name}`", file=OPTION, at=at, help=advice)
    at = Position(1, term.value_start + 1, max(1, term.end - term.value_start))
    if term.op in {"~", "!~"}:
        try:
            re.compile(term.value)
        except (re.error, OverflowError, RecursionError) as error:
            return Problem("BC113", f"this is no regular expression: {error}", file=OPTION, at=at)
        return None
    if term.op in _ORDER:
        return _check_order(term, known.get(term.name, ()), at)
    if term.name in known:
        for wanted in term.alternatives:
            if not any(_same(value, wanted) for value in known[term.name]):
                near = suggest(wanted, known[term.name])
                advice = (
                    f"did you mean `{near}`?  " if near else ""
                ) + f"{term.name} takes: {', '.join(known[term.name])}"
                return Problem(
                    "BC113", f"{term.name} has no value `{wanted}`", file=OPTION, at=at, help=advice
                )
    return None


def _check_order(term: Term, values: Sequence[str], at: Position) -> Problem | None:
    if _number(term.value) is None:
        message = f"`{term.op}` compares sizes and numbers, and `{term.value}` is neither"
        return Problem("BC113", message, file=OPTION, at=at, help="sizes have a unit: 50MiB, 200MB")
    if any(_number(value) is None or is_size(value) != is_size(term.value) for value in values):
        message = f"the values of {term.name} cannot be compared with `{term.value}`"
        return Problem(
            "BC113", message, file=OPTION, at=at, help=f"{term.name} takes: {', '.join(values)}"
        )
    return None


def _same(actual: str, wanted: str) -> bool:
    return actual == wanted or (
        is_size(actual) and is_size(wanted) and parse_size(actual) == parse_size(wanted)
    )


def _number(text: str) -> float | None:
    if is_size(text):
        return float(parse_size(text))
    try:
        return float(text)
    except ValueError:
        return None
