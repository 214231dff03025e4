"""What a variant is called where the scenario gives it no name of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.model.plan import CONTROL_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bench_framework.model.plan import Values
    from bench_framework.scenario.matrix import AxisView
    from bench_framework.scenario.schema import ScenarioFile
    from bench_framework.scenario.schema.parts import DescribePart

_UNLABELLED: Final = "default"


def is_about(part: DescribePart, values: Values) -> bool:
    """Whether a `describe` entry speaks of the variant with these values."""
    return all(dict(values).get(axis) == value for axis, value in part.variant.items())


def labels_of(
    parts: Iterable[Values],
    axes: Iterable[AxisView],
    spec: ScenarioFile,
    baseline: Mapping[str, str],
) -> dict[Values, str]:
    """A label per variant, all different: the scenario's own, else the values of the axes that vary.

    Where the design is what departs from the baseline, the label is what departs: of eight values that are all
    the baseline's but one, nobody finds the one.
    """
    varying = {axis.name: axis for axis in axes if axis.kind != "input" and len(axis.settings) > 1}
    labels: dict[Values, str] = {}
    taken = {CONTROL_LABEL}
    for values in parts:
        shown = [(name, value) for name, value in values if name in varying]
        own = next(
            (part.label for part in spec.describe if part.label and is_about(part, values)), None
        )
        departing = [(name, value) for name, value in shown if baseline.get(name) != value]
        told = departing if departing and spec.design != "full" else shown
        named = told is departing and spec.design == "one-at-a-time"
        texts = [_value_label(varying[name], value, named=named) for name, value in told]
        label = own or " + ".join(texts) or _UNLABELLED
        if label in taken:  # hostile or careless labels: spell the values out
            label = " ".join(f"{name}={value}" for name, value in shown) or _UNLABELLED
        base, count = label, 1
        while label in taken:
            count += 1
            label = f"{base} ({count})"
        taken.add(label)
        labels[values] = label
    return labels


def _value_label(axis: AxisView, value: str, *, named: bool) -> str:
    """A value's own label, or the value; with the axis, as ``-k`` takes it, where it would stand there alone."""
    return axis.settings[value].label or (f"{axis.name}={value}" if named else value)
