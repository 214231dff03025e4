"""Checks that need every combination: size, empty rules, two variants that are one program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.model.plan import Role
from bench_framework.scenario.axes import axes_of, product_size
from bench_framework.scenario.expansion import Expansion
from bench_framework.scenario.matrix import combine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_framework.errors import Problem
    from bench_framework.model.plan import Input, Variant
    from bench_framework.scenario.definition import Scenario

MAX_PRODUCT: Final = 20_000
"""Combinations, holes included, that are looked at one by one."""


def check(scenario: Scenario) -> Iterator[Problem]:
    """Problems of the matrix as a whole. Names and values have been checked."""
    axes = axes_of(scenario)
    limit = scenario.spec.limits.max_cells
    size = product_size(axes)
    sum_text = " × ".join(str(len(axis.settings)) for axis in axes)
    if size > MAX_PRODUCT:
        yield _too_many(
            scenario, f"{sum_text} = {_grouped(size)} combinations, limit {_grouped(MAX_PRODUCT)}"
        )
        return
    matrix = combine(scenario)
    for index, count in enumerate(matrix.matches):
        if count == 0:
            message = "exclude rule matches no combination"
            yield scenario.document.value_problem(
                ("exclude", index), "BC202", message, help="remove it"
            )
    if len(matrix.kept) > limit:
        equation = f"{sum_text} = {_grouped(size)}" + (
            f", {_grouped(len(matrix.kept))} kept:" if matrix.holes else ""
        )
        text = (
            f"{equation} cells, limit {limit}"
            if not matrix.holes
            else f"{equation} more than the limit of {limit} cells"
        )
        yield _too_many(scenario, text)
        return
    if not matrix.kept:
        note = "every combination is excluded by a rule or unavailable"
        yield scenario.document.key_problem(
            ("axes",), "BC208", "no cell is left to measure", note=note
        )
        return
    made = Expansion(scenario, matrix)
    pairs = made.pairs()
    if not any(variant == made.baseline for variant, _ in pairs):
        message = "the baseline is excluded on every input"
        yield scenario.document.key_problem(
            ("baseline",), "BC201", message, help="change the rule, or the baseline"
        )
    yield from _same_program(scenario, made, pairs)


def _too_many(scenario: Scenario, message: str) -> Problem:
    names = list(scenario.spec.axes)
    pair = f"`pairs: [{names[-2]}, {names[-1]}]`, " if len(names) > 1 else ""
    advice = f"add `exclude`, {pair}`design: one-at-a-time`, or raise `limits.max-cells`"
    return scenario.document.key_problem(("axes",), "BC203", message, help=advice)


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _same_program(
    scenario: Scenario, made: Expansion, pairs: list[tuple[Variant, Input]]
) -> Iterator[Problem]:
    """Two variants that run the same thing on the same input: their difference would be noise with a name."""
    seen: dict[object, tuple[Variant, Input]] = {}
    told: set[tuple[str, str]] = set()
    for variant, given in pairs:
        first, on = seen.setdefault(_doing(made, variant, given), (variant, given))
        if first != variant:
            pair, message = (
                (first.id, variant.id),
                f"two variants are the same program: {first.label}, {variant.label}",
            )
            note = "same build, arguments, environment and input"
        elif on != given:
            pair, message = (on.id, given.id), f"two inputs are the same: {on.label}, {given.label}"
            note = "same data set and the same command"
        else:
            continue
        if pair not in told:
            told.add(pair)
            place = ("experiments",) if variant.experiment is not None else ("axes",)
            yield scenario.document.key_problem(place, "BC204", message, note=note)


def _doing(made: Expansion, variant: Variant, given: Input) -> object:
    """All that a cell does, without what it is called."""
    cell = made.cell(variant, given, Role.CANDIDATE, "")
    around = (cell.env, cell.cwd, cell.stdin, cell.cpus, cell.cache, cell.prepare)
    return (variant.build, given.dataset, cell.command, around)
