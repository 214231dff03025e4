"""The axes of a scenario in one form, and the labels of variants."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.declarations import Axis, AxisValue
from bench_framework.model.plan import CONTROL_LABEL, Values
from bench_framework.scenario import template
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.schema import ScenarioFile
from bench_framework.scenario.schema.parts import DescribePart
from bench_framework.scenario.schema.worker import Setting, settings_of
from bench_framework.units import is_size, parse_size

BUILD_KEYS = (
    "features",
    "no_default_features",
    "profile",
    "rustflags",
    "target_cpu",
    "linker",
    "pgo",
    "toolchain",
    "revision",
    "version",
    "dependencies",
    "patch",
)
PROGRAM_KEYS = (*BUILD_KEYS, "preload_allocator")
"""Keys that change the program, also those for programs that are not built."""
RUN_KEYS = ("command", "args", "env", "cpus", "cache")
Kind = Literal["build", "run", "input"]
_UNLABELLED: Final = "default"
_PLAIN: Final = re.compile(r"[-+]?[0-9.]+|true|false|yes|no|on|off", re.IGNORECASE)
"""Values that a label shows with their axis."""


@dataclass(frozen=True, slots=True)
class AxisView:
    """An axis, normalized from each of its forms in YAML."""

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
        """True if every value is a size."""
        return all(is_size(value) for value in self.settings)

    def changes(self, keys: tuple[str, ...]) -> bool:
        """Return whether any value sets one of these keys."""
        return any(
            key in setting.model_fields_set for setting in self.settings.values() for key in keys
        )

    def plan_axis(self) -> Axis:
        """Return the axis in the form of a plan."""
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


def axes_of(scenario: Scenario) -> tuple[AxisView, ...]:
    """Return the axes in the order of the scenario. Their settings decide their kind."""
    return tuple(_view(scenario, name) for name in scenario.spec.axes)


def _view(scenario: Scenario, name: str) -> AxisView:
    settings, label, note = settings_of(scenario.spec.axes[name])
    view = AxisView(name, "run", settings, label, note)
    if name in input_names(scenario):
        return AxisView(name, "input", settings, label, note)
    if view.changes(PROGRAM_KEYS):
        return AxisView(name, "build", settings, label, note)
    return view


def input_names(scenario: Scenario) -> set[str]:
    """Return the names of the placeholders in `input`."""
    part = scenario.spec.input
    if part is None:
        return set()
    return set().union(*(template.names(text) for _, text in part.texts()))


def baseline_values(axes: tuple[AxisView, ...], given: Mapping[str, str]) -> dict[str, str] | None:
    """Return one value for each build and run axis, or `None` if a value is missing or unknown."""
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
    """Return the values of a variant. Omitted axes have the value of the first baseline."""
    return tuple(
        (baseline_values(axes, {**(baselines[0] if baselines else {}), **given}) or {}).items()
    )


def is_about(part: DescribePart, values: Values) -> bool:
    """Return whether a `describe` entry applies to the variant with these values."""
    return all(dict(values).get(axis) == value for axis, value in part.variant.items())


def label_of(axis: AxisView, value: str, *, with_axis: bool = False) -> str:
    """Return the label of a value. A number or a yes or no is labelled with its axis."""
    bare = not with_axis and not _PLAIN.fullmatch(value)
    return axis.settings[value].label or (value if bare else f"{axis.name}={value}")


def labels_of(
    parts: Iterable[Values],
    axes: Iterable[AxisView],
    spec: ScenarioFile,
    baseline: Mapping[str, str],
) -> dict[Values, str]:
    """Return a unique label for each variant: the scenario's label, or the varying axis values.

    For the designs `one-at-a-time` and `ladder`, a label has only the values that differ from the
    baseline, because a list of eight values would hide the one that differs.
    """
    varying = {axis.name: axis for axis in axes if axis.kind != "input" and len(axis.settings) > 1}
    labels: dict[Values, str] = {}
    taken = {CONTROL_LABEL}
    for values in parts:
        varied = [(name, value) for name, value in values if name in varying]
        described = next(
            (part.label for part in spec.describe if part.label and is_about(part, values)), None
        )
        departing = [(name, value) for name, value in varied if baseline.get(name) != value]
        labelled = departing if departing and spec.design != "full" else varied
        with_axis = labelled is departing and spec.design == "one-at-a-time"
        texts = [label_of(varying[name], value, with_axis=with_axis) for name, value in labelled]
        label = described or " + ".join(texts) or _UNLABELLED
        if label in taken:  # labels of the scenario may be equal
            label = " ".join(f"{name}={value}" for name, value in varied) or _UNLABELLED
        base, count = label, 1
        while label in taken:
            count += 1
            label = f"{base} ({count})"
        taken.add(label)
        labels[values] = label
    return labels
