"""The combinations of the axes: measured ones, and holes with the reason."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bench_framework.model.plan import Hole, Values
from bench_framework.scenario import bundled
from bench_framework.scenario.axes import AxisView, axes_of, baseline_values
from bench_framework.scenario.definition import Scenario


@dataclass(frozen=True, slots=True)
class Matrix:
    """Every combination of the axes, which is either measured or a hole."""

    axes: tuple[AxisView, ...]
    measured: tuple[Values, ...]
    holes: tuple[Hole, ...]
    matches: tuple[int, ...] = field(default=())
    """Number of combinations of the full product that each `exclude` rule matches."""

    @property
    def variant_axes(self) -> frozenset[str]:
        """Names of the build and run axes."""
        return frozenset(axis.name for axis in self.axes if axis.kind != "input")

    def variant_part(self, values: Values) -> Values:
        """Return the build and run values of a combination."""
        return tuple(pair for pair in values if pair[0] in self.variant_axes)


def combine(scenario: Scenario) -> Matrix:
    """Return the matrix. The caller has checked names, values and the number of combinations."""
    axes = axes_of(scenario)
    given = scenario.spec.baseline[0] if scenario.spec.baseline else {}
    rules = _Rules(scenario, axes, baseline_values(axes, given))
    measured: list[Values] = []
    holes: list[Hole] = []
    matches = [0] * len(scenario.spec.exclude)
    for picked in itertools.product(*(axis.values for axis in axes)):
        values = tuple(zip((axis.name for axis in axes), picked, strict=True))
        for index in rules.excluding(dict(values)):
            matches[index] += 1
        hole = rules.hole(values)
        if hole is None:
            measured.append(values)
        else:
            holes.append(hole)
    return Matrix(axes, tuple(measured), tuple(holes), tuple(matches))


class _Rules:
    """The rules that exclude combinations, in the order in which they apply."""

    def __init__(
        self, scenario: Scenario, axes: tuple[AxisView, ...], baseline: dict[str, str] | None
    ) -> None:
        self.scenario = scenario
        self.axes = {axis.name: axis for axis in axes}
        self.baseline = baseline or {}
        self.pairs = scenario.spec.pairs
        self.ladder = self._ladder_steps() if scenario.spec.design == "ladder" else set()
        self.unavailable = bundled.unavailable_values(scenario, axes)

    def hole(self, values: Values) -> Hole | None:
        """Return the hole with its first reason, or `None` for a measured combination."""
        chosen = dict(values)
        for reason, rule in itertools.chain(
            self._unpaired(chosen),
            self._off_design(chosen),
            self._not_exclusive(chosen),
            ((self._rule_text(i), ("exclude", i)) for i in self.excluding(chosen)),
        ):
            return Hole(values, reason, self.scenario.rule(*rule))
        for name, value in values:
            if (name, value) in self.unavailable:
                file, at = self.scenario.value_at(name, value)
                return Hole(values, self.unavailable[name, value], f"{file}:{at.line}")
        return None

    def excluding(self, chosen: Mapping[str, str]) -> Iterator[int]:
        """Yield the indexes of the `exclude` rules that match a combination."""
        for index, rule in enumerate(self.scenario.spec.exclude):
            if all(chosen.get(axis) in excluded for axis, excluded in rule.items()):
                yield index

    def _rule_text(self, index: int) -> str:
        """Return a rule of `exclude` as the reason for a hole."""
        parts = (
            f"{axis} {' or '.join(excluded)}"
            for axis, excluded in self.scenario.spec.exclude[index].items()
        )
        return f"the scenario excludes {' with '.join(parts)}"

    def _unpaired(self, chosen: Mapping[str, str]) -> Iterator[tuple[str, tuple[str | int, ...]]]:
        for index, group in enumerate(self.pairs):
            if len({self.axes[name].values.index(chosen[name]) for name in group}) > 1:
                yield f"{' and '.join(group)} advance together", self.scenario.row("pairs", index)

    def _departures(self, chosen: Mapping[str, str]) -> set[str]:
        """Return the axes that differ from the baseline. Paired axes count as one."""
        first = {name: group[0] for group in reversed(self.pairs) for name in group}
        return {
            first.get(name, name) for name, value in self.baseline.items() if chosen[name] != value
        }

    def _off_design(self, chosen: Mapping[str, str]) -> Iterator[tuple[str, tuple[str | int, ...]]]:
        design = self.scenario.spec.design
        if design == "one-at-a-time" and len(self._departures(chosen)) > 1:
            yield "more than one axis differs from the baseline", ("design",)
        if design == "ladder" and tuple(chosen[name] for name in self.baseline) not in self.ladder:
            yield "not a step of the ladder", ("design",)

    def _ladder_steps(self) -> set[tuple[str, ...]]:
        """Return the steps: the baseline, then one more change in each, in axis order."""
        now = dict(self.baseline)
        steps = {tuple(now.values())}
        for name, start in self.baseline.items():
            for value in self.axes[name].values:
                if value != start:
                    now[name] = value
                    steps.add(tuple(now.values()))
        return steps

    def _not_exclusive(
        self, chosen: Mapping[str, str]
    ) -> Iterator[tuple[str, tuple[str | int, ...]]]:
        for index, group in enumerate(self.scenario.spec.exclusive):
            if sum(chosen[name] != self.baseline.get(name, chosen[name]) for name in group) > 1:
                yield (
                    f"{' and '.join(group)} exclude each other",
                    self.scenario.row("exclusive", index),
                )
