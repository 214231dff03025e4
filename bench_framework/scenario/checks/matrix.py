"""Checks of the whole matrix: size, rules without effect, identical variants."""

import math
from collections.abc import Iterator
from typing import Final

from bench_framework.errors import Problem
from bench_framework.model.plan.plan import Input, Role, Variant
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.expansion import Expansion
from bench_framework.scenario.matrix import combine
from bench_framework.text.numbers import grouped

MAX_PRODUCT: Final = 20_000
"""Largest product of the axes that is expanded."""
MAX_CELLS: Final = 1_000
"""Largest number of configurations (variant × input) in a plan."""
TOO_MANY: Final = "BC203"


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of the whole matrix. Names and values must be valid."""
    counts = [len(axis.settings) for axis in scenario.axes.values()]
    product = math.prod(counts)
    equation = f"{' × '.join(map(str, counts))} = " if len(counts) > 1 else ""
    size = grouped(product)
    if product > MAX_PRODUCT:
        limit, key = grouped(MAX_PRODUCT, " "), "BC203.combinations"
        yield _too_many(scenario, key, equation=equation, size=size, limit=limit)
        return
    matrix = combine(scenario)
    for index in sorted(matrix.unused):
        yield scenario.value_problem(("exclude", index), "BC202")
    if len(matrix.measured) > MAX_CELLS:
        measured = grouped(len(matrix.measured), " ") if matrix.holes else ""
        limit, key = grouped(MAX_CELLS, " "), "BC203.configurations"
        yield _too_many(scenario, key, equation=equation, size=size, measured=measured, limit=limit)
        return
    if not matrix.measured:
        yield scenario.key_problem(("axes",), "BC208")
        return
    expansion = Expansion(scenario, matrix)
    pairs = expansion.pairs()
    if not any(variant == expansion.baseline for variant, _ in pairs):
        yield scenario.key_problem(("baseline",), "BC201.excluded")
    yield from _same_program(scenario, expansion, pairs)


def _too_many(scenario: Scenario, key: str, /, **values: str) -> Problem:
    names = list(scenario.spec.axes)
    pair = f"`pairs: [{names[-2]}, {names[-1]}]`, " if len(names) > 1 else ""
    return scenario.key_problem(("axes",), key, pair=pair, **values)


def _same_program(
    scenario: Scenario, expansion: Expansion, pairs: list[tuple[Variant, Input]]
) -> Iterator[Problem]:
    """Yield a problem for each pair of variants, or inputs, that run the same command."""
    first_by_work: dict[object, tuple[Variant, Input]] = {}
    reported: set[tuple[str, str]] = set()
    for variant, given in pairs:
        first, on = first_by_work.setdefault(_work(expansion, variant, given), (variant, given))
        if first != variant:
            pair, labels = (first.id, variant.id), (first.label, variant.label)
        elif on != given:
            pair, labels = (on.id, given.id), (on.label, given.label)
        else:
            continue
        if pair not in reported:
            reported.add(pair)
            place = ("experiments",) if variant.experiment is not None else ("axes",)
            key = "BC204.same-variants" if first != variant else "BC204.same-inputs"
            yield scenario.key_problem(place, key, first=labels[0], other=labels[1])


def _work(expansion: Expansion, variant: Variant, given: Input) -> object:
    """Return everything that a cell executes, without its names."""
    cell = expansion.cell(variant, given, Role.CANDIDATE, "")
    around = (cell.env, cell.cwd, cell.stdin, cell.cpus, cell.cache, cell.prepare)
    return (variant.build, given.dataset, cell.command, cell.server, around)
