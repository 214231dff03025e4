"""Axes to combinations: which are measured, which are not, and by which rule."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from bench_framework.model.plan import Axis, AxisValue, Hole, Values
from bench_framework.scenario import bundled, template
from bench_framework.scenario.schema.worker import Setting, settings_of
from bench_framework.units import is_size, parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench_framework.scenario.definition import Scenario

BUILD_KEYS = ("features", "no_default_features", "profile", "rustflags", "toolchain", "revision")
RUN_KEYS = ("args", "env", "cpus", "cache")
Kind = Literal["build", "run", "input"]


@dataclass(frozen=True, slots=True)
class AxisView:
    """An axis in one form, whichever it was written in."""

    name: str
    kind: Kind
    settings: Mapping[str, Setting]
    label: str
    note: str

    @property
    def values(self) -> tuple[str, ...]:
        """Names of the values, in the order of the scenario."""
        return tuple(self.settings)

    @property
    def is_size(self) -> bool:
        """Whether every value is a size."""
        return all(is_size(value) for value in self.settings)

    def changes(self, keys: tuple[str, ...]) -> bool:
        """Whether any value sets one of these keys."""
        return any(
            key in setting.model_fields_set for setting in self.settings.values() for key in keys
        )

    def plan_axis(self) -> Axis:
        """The axis as a plan carries it."""
        values = tuple(
            AxisValue(
                name,
                setting.label or name,
                setting.about,
                parse_size(name) if self.is_size else None,
            )
            for name, setting in self.settings.items()
        )
        return Axis(self.name, self.kind, values, self.label or self.name, self.note)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Every combination of the axes, once: measured, or a hole."""

    axes: tuple[AxisView, ...]
    kept: tuple[Values, ...]
    holes: tuple[Hole, ...]
    matches: tuple[int, ...] = field(default=())
    """Per `exclude` rule: how many combinations of the full product it is about."""

    @property
    def variant_axes(self) -> frozenset[str]:
        """Names of the build and run axes."""
        return frozenset(axis.name for axis in self.axes if axis.kind != "input")

    def variant_part(self, values: Values) -> Values:
        """The build and run values of a combination."""
        return tuple(pair for pair in values if pair[0] in self.variant_axes)

    def input_part(self, values: Values) -> Values:
        """The input values of a combination."""
        return tuple(pair for pair in values if pair[0] not in self.variant_axes)


def axes_of(scenario: Scenario) -> tuple[AxisView, ...]:
    """The axes in the order of the scenario. What a value changes decides what the axis acts on."""
    return tuple(_view(scenario, name) for name in scenario.spec.axes)


def _view(scenario: Scenario, name: str) -> AxisView:
    settings, label, note = settings_of(scenario.spec.axes[name])
    view = AxisView(name, "run", settings, label, note)
    if name in input_names(scenario):
        return AxisView(name, "input", settings, label, note)
    if view.changes(BUILD_KEYS):
        return AxisView(name, "build", settings, label, note)
    return view


def input_names(scenario: Scenario) -> set[str]:
    """The names that ``input:`` asks for."""
    part = scenario.spec.input
    if part is None:
        return set()
    return set().union(
        *(template.names(text) for text in (part.dataset, part.size, part.seed, part.file) if text)
    )


def product_size(axes: tuple[AxisView, ...]) -> int:
    """How many combinations the axes have."""
    size = 1
    for axis in axes:
        size *= len(axis.settings)
    return size


def baseline_values(axes: tuple[AxisView, ...], given: Mapping[str, str]) -> dict[str, str] | None:
    """One value for each build and run axis: the given one, or the only one; `None` if that is not enough."""
    chosen: dict[str, str] = {}
    for axis in axes:
        if axis.kind == "input":
            continue
        value = given.get(axis.name, axis.values[0] if len(axis.values) == 1 else None)
        if value is None or value not in axis.settings:
            return None
        chosen[axis.name] = value
    return chosen


def named_values(
    axes: tuple[AxisView, ...], baselines: Sequence[Mapping[str, str]], given: Mapping[str, str]
) -> Values:
    """The variant that a part of its values names: what is left out is as in the (first) baseline."""
    return tuple(
        (baseline_values(axes, {**(baselines[0] if baselines else {}), **given}) or {}).items()
    )


def combine(scenario: Scenario) -> Matrix:
    """Try every combination against every rule. The caller has checked names, values and `product_size`."""
    axes = axes_of(scenario)
    given = scenario.spec.baseline[0] if scenario.spec.baseline else {}
    rules = _Rules(scenario, axes, baseline_values(axes, given))
    kept: list[Values] = []
    holes: list[Hole] = []
    matches = [0] * len(scenario.spec.exclude)
    for picked in itertools.product(*(axis.values for axis in axes)):
        values = tuple(zip((axis.name for axis in axes), picked, strict=True))
        for index in rules.excluding(dict(values)):
            matches[index] += 1
        hole = rules.hole(values)
        if hole is None:
            kept.append(values)
        else:
            holes.append(hole)
    return Matrix(axes, tuple(kept), tuple(holes), tuple(matches))


class _Rules:
    """What keeps a combination from being measured, in the order in which the reasons are given."""

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
        """The first reason, or `None` for a combination that is measured."""
        chosen = dict(values)
        for reason, rule in itertools.chain(
            self._unpaired(chosen),
            self._off_design(chosen),
            self._not_exclusive(chosen),
            ((f"excluded by rule {i + 1}", ("exclude", i)) for i in self.excluding(chosen)),
        ):
            return Hole(values, reason, self.scenario.rule(*rule))
        for name, value in values:
            if (name, value) in self.unavailable:
                file, at = self.scenario.value_at(name, value)
                return Hole(values, self.unavailable[name, value], f"{file}:{at.line}")
        return None

    def excluding(self, chosen: Mapping[str, str]) -> Iterator[int]:
        """Indexes of the `exclude` rules that are about a combination."""
        for index, rule in enumerate(self.scenario.spec.exclude):
            if all(chosen.get(axis) in wanted for axis, wanted in rule.items()):
                yield index

    def _unpaired(self, chosen: Mapping[str, str]) -> Iterator[tuple[str, tuple[str | int, ...]]]:
        for index, group in enumerate(self.pairs):
            steps = {self.axes[name].values.index(chosen[name]) for name in group}
            if len(steps) > 1:
                yield f"{' and '.join(group)} advance together", self.scenario.row("pairs", index)

    def _departures(self, chosen: Mapping[str, str]) -> set[str]:
        """Axes that leave the baseline; paired ones count once, under the first name of their group."""
        first = {name: group[0] for group in reversed(self.pairs) for name in group}
        return {
            first.get(name, name) for name, value in self.baseline.items() if chosen[name] != value
        }

    def _off_design(self, chosen: Mapping[str, str]) -> Iterator[tuple[str, tuple[str | int, ...]]]:
        design = self.scenario.spec.design
        if design == "one-at-a-time" and len(self._departures(chosen)) > 1:
            yield "more than one axis departs from the baseline", ("design",)
        if design == "ladder" and tuple(chosen[name] for name in self.baseline) not in self.ladder:
            yield "no step of the ladder", ("design",)

    def _ladder_steps(self) -> set[tuple[str, ...]]:
        """The baseline, then one change more in each step: axis by axis, each through all of its values."""
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
