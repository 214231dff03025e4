"""Checks of everything that names axes and values: baseline, rules, experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.errors import Problem
from bench_framework.scenario import bundled
from bench_framework.scenario.axes import AxisView, axes_of, baseline_values
from bench_framework.scenario.scalars import did_you_mean
from bench_framework.scenario.schema.worker import BUILTIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench_framework.scenario.definition import Scenario
    from bench_framework.scenario.document import Path
    from bench_framework.scenario.schema.parts import ExperimentPart


def check(scenario: Scenario) -> Iterator[Problem]:
    """Problems of names."""
    axes = {axis.name: axis for axis in axes_of(scenario)}
    yield from _baselines(scenario, axes)
    yield from _exclude(scenario, axes)
    yield from _groups(scenario, axes)
    yield from _experiments(scenario, axes)
    yield from _anchor(scenario, axes)
    for index, part in enumerate(scenario.spec.describe):
        for axis, value in part.variant.items():
            yield from named(
                scenario, axes, ("describe", index, "variant", axis), axis, value, variant_only=True
            )


def known_values(scenario: Scenario, axis: AxisView) -> list[str]:
    """The values of an axis that its worker knows: a wrong one is no help in a message."""
    theirs = bundled.axis_links(scenario, bundled.command_of(scenario)).get(axis.name)
    if theirs is None:
        return list(axis.values)
    described = bundled.description(scenario)
    known = [*described["axes"][theirs], *described.get("unavailable", {}).get(theirs, {})]
    return [value for value in axis.values if value in known] or list(axis.values)


def _baselines(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    document = scenario.document
    open_axes = [axis for axis in axes.values() if axis.kind != "input" and len(axis.settings) > 1]
    if not scenario.spec.baseline and open_axes and "baseline" not in scenario.lost:
        example = ", ".join(f"{axis.name}: {axis.values[0]}" for axis in open_axes)
        advice = f"such as baseline: {{{example}}}"
        yield document.key_problem(
            ("axes",), "BC201", "there is no `baseline` to compare with", help=advice
        )
    chosen = []
    for index, given in enumerate(scenario.spec.baseline):
        path: Path = ("baseline", index)
        wrong = list(_baseline(scenario, axes, path, given))
        yield from wrong
        missing = [axis for axis in open_axes if axis.name not in given]
        if wrong:
            continue
        if missing:
            names = " and ".join(f"`{axis.name}`" for axis in missing)
            advice = "; ".join(
                f"add {axis.name}: {' or '.join(known_values(scenario, axis)[:8])}"
                for axis in missing
            )
            message = f"baseline selects several variants: it leaves {names} open"
            yield document.value_problem(path, "BC201", message, help=advice)
            continue
        values = baseline_values(tuple(axes.values()), given)
        if values in chosen:
            yield document.value_problem(path, "BC201", "this baseline is given twice")
        chosen.append(values)


def _baseline(
    scenario: Scenario, axes: Mapping[str, AxisView], path: Path, given: Mapping[str, str]
) -> Iterator[Problem]:
    for name, value in given.items():
        axis = axes.get(name)
        if {name, value} & scenario.lost:
            continue
        if axis is None:
            advice = did_you_mean(name, list(axes), "axes") or None
            yield scenario.document.key_problem(
                (*path, name), "BC201", f"baseline names no axis: `{name}`", help=advice
            )
        elif axis.kind == "input":
            message = f"baseline names `{name}`, an axis of the input; a baseline is measured on every input"
            yield scenario.document.key_problem(
                (*path, name), "BC201", message, help=f"leave `{name}` out"
            )
        elif value not in axis.settings:
            shown = ", ".join(f"{key}={text}" for key, text in given.items())
            yield scenario.document.value_problem(
                path,
                "BC201",
                f"baseline `{shown}` selects no cell",
                label=f"no cell of this matrix has {name}={value}",
                help=f"{name} takes: {', '.join(known_values(scenario, axis))}",
            )


def _exclude(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    for index, rule in enumerate(scenario.spec.exclude):
        for name, wanted in rule.items():
            for row, value in enumerate(wanted):
                path = ("exclude", index, name, row)
                if name in axes and value in axes[name].settings:
                    continue
                yield from (
                    Problem(
                        "BC202",
                        "exclude rule matches no combination",
                        file=p.file,
                        at=p.at,
                        label=p.message,
                        help=p.help,
                    )
                    for p in named(scenario, axes, path, name, value)
                )


def _groups(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    spec = scenario.spec
    for key, groups in (("pairs", spec.pairs), ("exclusive", spec.exclusive)):
        for index, group in enumerate(groups):
            wrong = [
                problem
                for row, name in enumerate(group)
                for problem in named(
                    scenario,
                    axes,
                    scenario.row(key, index, row),
                    name,
                    None,
                    variant_only=key == "exclusive",
                )
            ]
            yield from wrong
            if len(set(group)) < len(group) and not wrong:
                yield scenario.document.value_problem(
                    scenario.row(key, index), "BC206", f"`{key}` names an axis twice"
                )
            lengths = {len(axes[name].settings) for name in group if name in axes}
            if key != "exclusive" and not wrong and len(lengths) > 1:
                counts = ", ".join(f"{name} has {len(axes[name].settings)}" for name in group)
                message = f"axes that advance together need equally many values: {counts}"
                yield scenario.document.value_problem(scenario.row(key, index), "BC206", message)


def _experiments(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    names: set[str] = set()
    for index, experiment in enumerate(scenario.spec.experiments):
        if experiment.name in names:
            yield scenario.document.value_problem(
                ("experiments", index, "name"),
                "BC206",
                f"two experiments are called `{experiment.name}`",
            )
        names.add(experiment.name)
        yield from _experiment(scenario, axes, ("experiments", index), experiment)


def _experiment(
    scenario: Scenario, axes: Mapping[str, AxisView], path: Path, part: ExperimentPart
) -> Iterator[Problem]:
    document, fixed = scenario.document, scenario.spec.fixed
    for axis, value in part.at.items():
        yield from named(scenario, axes, (*path, "at", axis), axis, value, variant_only=True)
    if part.metric is not None and part.metric not in scenario.spec.judge:
        advice = did_you_mean(part.metric, scenario.spec.judge, "judged here") or None
        message = f"`{part.metric}` is not judged in this scenario"
        yield document.value_problem((*path, "metric"), "BC206", message, help=advice)
    ((key, value),) = part.change.items()
    where = (*path, "change", key)
    if key in fixed and part.at:
        message = f"with `at`, the change must be one of an axis; `{key}` is a key of `fixed`"
        yield document.key_problem(where, "BC108", message)
    elif key not in fixed:
        yield from named(scenario, axes, where, key, value, variant_only=True, also=tuple(fixed))
    first = scenario.spec.baseline[0] if scenario.spec.baseline else {}
    chosen = (baseline_values(tuple(axes.values()), first) or {}) | part.at | fixed
    if chosen.get(key) == value and (key in fixed or part.at or part.hypothesis):
        note = (
            f"`fixed.{key}` is {value} already" if key in fixed else f"`{key}` is {value} already"
        )
        message = f"experiment `{part.name}` changes nothing"
        yield document.value_problem(where, "BC204", message, note=note)


def _anchor(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    part, worker = scenario.spec.anchor, scenario.spec.worker
    if part is None:
        return
    for axis, value in (part.variant or {}).items():
        yield from named(
            scenario, axes, ("anchor", "variant", axis), axis, value, variant_only=True
        )
    if part.rev is None:
        return
    why = "a program that is not built has no revision" if worker.command is not None else None
    if worker.crate == BUILTIN:
        why = "the bundled workers have one revision: the one of this benchctl"
    if why is not None:
        advice = "anchor: {variant: {…}}, a variant whose program stays as it is"
        yield scenario.document.value_problem(
            ("anchor", "rev"), "BC108", f"`anchor.rev` has no effect here: {why}", help=advice
        )


def named(
    scenario: Scenario,
    axes: Mapping[str, AxisView],
    path: Path,
    name: str,
    value: str | None,
    *,
    variant_only: bool = False,
    also: tuple[str, ...] | None = None,
) -> Iterator[Problem]:
    """Problems of an axis name, and of a value of it."""
    document = scenario.document
    if {name, value} & scenario.lost:
        return
    if name not in axes:
        listed = path[0] in {"pairs", "exclusive"}  # the name is an item there, and a key elsewhere
        point = document.value_problem if listed else document.key_problem
        place = path if listed else path[: path.index(name) + 1]
        advice = (
            did_you_mean(name, [*axes, *(also or ())], "names here" if also else "axes") or None
        )
        yield point(
            place,
            "BC206",
            f"there is no axis {'or fixed key ' if also is not None else ''}`{name}`",
            help=advice,
        )
    elif variant_only and axes[name].kind == "input":
        yield document.value_problem(
            path, "BC206", f"`{name}` is an axis of the input, not of the variants"
        )
    elif value is not None and value not in axes[name].settings:
        known = known_values(scenario, axes[name])
        advice = did_you_mean(value, known, f"{name} takes") or None
        yield document.value_problem(
            path, "BC206", f"axis `{name}` has no value `{value}`", help=advice
        )
