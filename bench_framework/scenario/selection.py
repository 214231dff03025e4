"""The selection of cells with ``-k``, such as ``io=mmap size<=50MiB``.

A selection is a list of terms, separated by spaces or commas. A cell is selected if it meets all
terms. A term is a name, an operator and a value. ``=`` and ``!=`` compare names and sizes and take
alternatives (``io=read|mmap``). ``<``, ``<=``, ``>`` and ``>=`` compare sizes and numbers. ``~``
and ``!~`` search with a regular expression. A value with spaces is quoted with ' or ". Names are
the axes, ``variant``, ``input`` and ``experiment``.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bench_framework.errors import Position, Problem, ScenarioError
from bench_framework.model.plan.benches import AXES, Bench
from bench_framework.model.plan.plan import Cell, Input, Plan, Variant
from bench_framework.scenario.document import suggest
from bench_framework.scenario.scalars import compiled_regex
from bench_framework.units import is_size, parse_size

OPTION: Final = "-k"
OPEN_NAMES: Final = ("variant", "input", "experiment")
"""Names that a selection may use in addition to the axes."""
BENCH_NAMES: Final = (*AXES, "input")
"""Names of conditions about benchmarks, which are known after the builds."""
_TERM: Final = re.compile(
    r"""[\s,]*(?P<name>[A-Za-z][A-Za-z0-9_-]*)\s*(?P<op>!=|<=|>=|!~|=|<|>|~)\s*
        (?P<value>'[^']*'|"[^"]*"|[^\s,]*)""",
    re.VERBOSE,
)
_ORDER: Final = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True, slots=True)
class Term:
    """One condition and the positions of its name and value in the selection."""

    name: str
    op: str
    value: str
    quoted: bool
    at: Position
    value_at: Position

    @property
    def alternatives(self) -> list[str]:
        """Values separated by ``|``. In a quoted value, ``|`` is literal."""
        return [self.value] if self.quoted else self.value.split("|")

    def matches(self, values: Mapping[str, str]) -> bool:
        """Return whether a cell meets it. One without the name meets only ``!=`` and ``!~``."""
        actual = values.get(self.name)
        if actual is None:
            return self.op in {"!=", "!~"}
        if self.op in {"=", "!="}:
            return any(_same(actual, value) for value in self.alternatives) == (self.op == "=")
        if self.op in {"~", "!~"}:
            return (re.search(self.value, actual) is not None) == (self.op == "~")
        left, right = _number(actual), _number(self.value)
        return left is not None and right is not None and bool(_ORDER[self.op](left, right))


def parse_selection(
    text: str,
    known: Mapping[str, Sequence[str]],
    *,
    open_names: Sequence[str] = OPEN_NAMES,
    later: Sequence[str] = (),
    option: str = OPTION,
) -> Callable[[Mapping[str, str]], bool]:
    """Read a selection. Return the function that selects cells by their values.

    The values of `open_names` are not checked. Every cell meets the conditions about the names of
    `later`, whose values are not known yet. `option` contains the selection, for error messages.

    Raises `ScenarioError` (BC113): all problems of the selection.
    """
    terms, problems = _split(text)
    open_names = (*open_names, *(name for name in later if name not in open_names))
    for term in terms:
        problem = _check(term, known, open_names)
        problems += [problem] if problem is not None else []
    if problems:
        raise ScenarioError(tuple(replace(p, file=option) for p in problems), {option: text})
    applied = [term for term in terms if term.name not in later]
    return lambda values: all(term.matches(values) for term in applied)


def select_cells(
    plan: Plan, text: str, *, later: Sequence[str] = (), option: str = OPTION
) -> tuple[Cell, ...]:
    """Return the cells that a selection matches. Raises `ScenarioError` (BC113): it is invalid.

    Every cell meets the conditions about the names of `later`.
    """
    known = {axis.name: [value.name for value in axis.values] for axis in plan.axes}
    selects = parse_selection(text, known, later=later, option=option)
    return tuple(
        cell
        for cell in plan.cells
        if selects(words_of(plan.variant(cell.variant_id), plan.input(cell.input_id)))
    )


def meets_selection(text: str, bench: Bench, label: str) -> bool:
    """Return whether a benchmark meets the conditions about `BENCH_NAMES` of a valid selection."""
    words = dict(zip(BENCH_NAMES, (bench.id, bench.target, label), strict=True))
    return all(term.matches(words) for term in _split(text)[0] if term.name in BENCH_NAMES)


def condition(name: str, value: str) -> str:
    """Return the condition of ``-k`` that selects one value."""
    if re.fullmatch(r"[^\s,|'\"]+", value):
        return f"{name}={value}"
    for quote in "'\"":
        if quote not in value:
            return f"{name}={quote}{value}{quote}"
    pattern = re.escape(value).replace("'", r"\x27")
    return rf"{name}~'^{pattern}\Z'"


def words_of(variant: Variant, given: Input | None = None) -> dict[str, str]:
    """Return the values of a cell, or of a variant, by the names that a selection may use."""
    words = {"variant": variant.label, **dict(variant.values)}
    words |= {"input": given.label, **dict(given.values)} if given else {}
    return words | ({"experiment": variant.experiment} if variant.experiment else {})


def whole(text: str) -> Position:
    """Return the position of the whole selection."""
    return Position(1, 1, max(1, len(text)))


def _split(text: str) -> tuple[list[Term], list[Problem]]:
    terms: list[Term] = []
    done = 0
    rest = text.rstrip(" ,\t\n")
    while done < len(rest):
        match = _TERM.match(rest, done)
        if match is None or not match["value"]:
            at = Position(1, (match.start("name") if match else done) + 1, max(1, len(rest) - done))
            return terms, [Problem.create("BC113.not-a-condition", OPTION, at)]
        name, op, value = match.group("name", "op", "value")
        quoted = value[0] in {"'", '"'} and len(value) > 1 and value[-1] == value[0]
        at, value_at = (
            Position(1, match.start(part) + 1, len(match[part])) for part in ("name", "value")
        )
        terms.append(Term(name, op, value[1:-1] if quoted else value, quoted, at, value_at))
        done = match.end()
    return terms, [] if terms else [Problem.create("BC113.empty", OPTION, whole(text))]


def _check(
    term: Term, known: Mapping[str, Sequence[str]], open_names: Sequence[str]
) -> Problem | None:
    names = [*known, *open_names]
    if term.name not in names:
        near, known_names = suggest(term.name, names), ", ".join(names)
        key = "BC113.no-axis"
        return Problem.create(key, OPTION, term.at, name=term.name, near=near, known=known_names)
    if term.op in {"~", "!~"}:
        fault = compiled_regex(term.value)
        if not isinstance(fault, str):
            return None
        return Problem.create("BC113.not-a-regex", OPTION, term.value_at, fault=fault)
    if term.op in _ORDER:
        return _check_order(term, known.get(term.name, ()))
    values = known.get(term.name, ())
    for given in term.alternatives if term.name in known else ():
        if not any(_same(value, given) for value in values):
            return Problem.create(
                "BC113.no-value",
                OPTION,
                term.value_at,
                name=term.name,
                value=given,
                near=suggest(given, values),
                known=", ".join(values),
            )
    return None


def _check_order(term: Term, values: Sequence[str]) -> Problem | None:
    if _number(term.value) is None:
        key, op = "BC113.not-a-number", term.op
        return Problem.create(key, OPTION, term.value_at, op=op, value=term.value)
    if any(_number(value) is None or is_size(value) != is_size(term.value) for value in values):
        return Problem.create(
            "BC113.not-comparable",
            OPTION,
            term.value_at,
            name=term.name,
            value=term.value,
            known=", ".join(values),
        )
    return None


def _same(actual: str, given: str) -> bool:
    return actual == given or (
        is_size(actual) and is_size(given) and parse_size(actual) == parse_size(given)
    )


def _number(text: str) -> float | None:
    if is_size(text):
        return float(parse_size(text))
    try:
        return float(text)
    except ValueError:
        return None
