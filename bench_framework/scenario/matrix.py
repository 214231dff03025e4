"""The combinations of the axes: measured ones, and holes with the reason."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench_framework.model.plan.plan import Hole, Values
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path
from bench_framework.scenario.schema.parts import BECAUSE


@dataclass(frozen=True, slots=True)
class Matrix:
    """Every combination of the axes, which is either measured or a hole."""

    measured: tuple[Values, ...]
    holes: tuple[Hole, ...]
    unused: frozenset[int]
    """Indexes of the `exclude` rules that match no combination of the full product."""


def combine(scenario: Scenario) -> Matrix:
    """Return the matrix. The caller has checked names, values and the number of combinations."""
    rules = _Rules(scenario)
    measured: list[Values] = []
    holes: list[Hole] = []
    unused = set(range(len(scenario.spec.exclude)))
    for picked in itertools.product(*(axis.values for axis in scenario.axes.values())):
        values = tuple(zip(scenario.axes, picked, strict=True))
        unused.difference_update(rules.excluding(dict(values)))
        hole = rules.hole(values)
        if hole is None:
            measured.append(values)
        else:
            holes.append(hole)
    return Matrix(tuple(measured), tuple(holes), frozenset(unused))


class _Rules:
    """The rules that exclude combinations, in the order in which they apply."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.baseline = scenario.baseline
        self.ladder = self._ladder_steps() if scenario.spec.design == "ladder" else set()
        self.included = [{**self.baseline, **given} for given in scenario.spec.include]

    def hole(self, values: Values) -> Hole | None:
        """Return the hole with its first reason, or `None` for a measured combination."""
        for reason, path in self._reasons(dict(values)):
            place = self.scenario.document.place.at(path)
            return Hole(values, reason, f"{place.file}:{place.value.line}")
        return None

    def excluding(self, chosen: Mapping[str, str]) -> Iterator[int]:
        """Yield the indexes of the `exclude` rules that match a combination."""
        for index, rule in enumerate(self.scenario.spec.exclude):
            if all(chosen.get(axis) in values for axis, values in excluded_values(rule).items()):
                yield index

    def _reasons(self, chosen: Mapping[str, str]) -> Iterator[tuple[Reason, Path]]:
        """Yield why a combination is not measured, with the path of the rule."""
        spec, axes = self.scenario.spec, self.scenario.axes
        for index, group in enumerate(spec.pairs):
            if len({axes[name].values.index(chosen[name]) for name in group}) > 1:
                reason = Reason(ReasonCode.PAIRED_AXES, tuple(group))
                yield reason, self.scenario.row("pairs", index)
        included = any(given.items() <= chosen.items() for given in self.included)
        departing = {name for name, value in self.baseline.items() if chosen[name] != value}
        # Paired axes count as one.
        first = {name: group[0] for group in reversed(spec.pairs) for name in group}
        several = len({first.get(n, n) for n in departing}) > 1
        if spec.design == "one-at-a-time" and several and not included:
            yield Reason(ReasonCode.SEVERAL_AXES), ("design",)
        if (
            spec.design == "ladder"
            and not included
            and tuple(chosen[name] for name in self.baseline) not in self.ladder
        ):
            yield Reason(ReasonCode.NO_STEP), ("design",)
        for index in self.excluding(chosen):
            yield _exclusion(spec.exclude[index]), ("exclude", index)

    def _ladder_steps(self) -> set[tuple[str, ...]]:
        """Return the steps: the baseline, then one more change in each, in axis order."""
        now = dict(self.baseline)
        steps = {tuple(now.values())}
        for name, start in self.baseline.items():
            for value in self.scenario.axes[name].values:
                if value != start:
                    now[name] = value
                    steps.add(tuple(now.values()))
        return steps


def excluded_values(rule: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return the values of each axis that an `exclude` rule names."""
    return {axis: values for axis, values in rule.items() if axis != BECAUSE}


def _exclusion(rule: Mapping[str, Sequence[str]]) -> Reason:
    """Return the reason that a rule gives; without one, its values."""
    if BECAUSE in rule:
        return Reason(ReasonCode.MEANINGLESS, tuple(rule[BECAUSE]))
    values = excluded_values(rule).items()
    parts = (Reason(ReasonCode.EXCLUDED_VALUES, tuple(names), axis) for axis, names in values)
    return Reason(ReasonCode.EXCLUDED, tuple(parts))
