"""Checks of references to axes and values: baseline, rules, experiments, profile."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bench_framework.errors import Problem
from bench_framework.scenario import bundled
from bench_framework.scenario.axes import AxisView, axes_of, baseline_values
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path
from bench_framework.scenario.scalars import compiled_regex, did_you_mean
from bench_framework.scenario.schema.parts import ExperimentPart


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of references to axes and values."""
    axes = {axis.name: axis for axis in axes_of(scenario)}
    yield from _baselines(scenario, axes)
    yield from _exclude(scenario, axes)
    yield from _groups(scenario, axes)
    yield from _experiments(scenario, axes)
    yield from _anchor(scenario, axes)
    yield from _profile(scenario, axes)
    for index, part in enumerate(scenario.spec.describe):
        yield from check_values(scenario, axes, ("describe", index, "variant"), part.variant)


def known_values(scenario: Scenario, axis: AxisView) -> list[str]:
    """Return the values of an axis that the worker knows, for use in messages."""
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
        advice = f"add a baseline, such as baseline: {{{example}}}"
        yield document.key_problem(("axes",), "BC201", "`baseline` is missing", advice)
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
            message = f"baseline selects several variants: it has no value for {names}"
            yield document.value_problem(path, "BC201", message, advice)
            continue
        values = baseline_values(tuple(axes.values()), given)
        if values in chosen:
            message = "this baseline is given twice"
            yield document.value_problem(path, "BC201", message, "remove one of the two")
        chosen.append(values)


def _baseline(
    scenario: Scenario, axes: Mapping[str, AxisView], path: Path, given: Mapping[str, str]
) -> Iterator[Problem]:
    for name, value in given.items():
        axis = axes.get(name)
        if {name, value} & scenario.lost:
            continue
        if axis is None:
            advice = did_you_mean(name, list(axes), "axes")
            yield scenario.key_problem(
                (*path, name), "BC201", f"there is no axis `{name}` for the baseline", advice
            )
        elif axis.kind == "input":
            message = f"`{name}` is an axis of the input; the baseline is measured on every input"
            yield scenario.key_problem((*path, name), "BC201", message, f"remove `{name}`")
        elif value not in axis.settings:
            values_text = ", ".join(f"{key}={text}" for key, text in given.items())
            label = f"axis `{name}` has no value `{value}`"
            fix = f"use one of: {', '.join(known_values(scenario, axis))}"
            yield scenario.value_problem(
                path, "BC201", f"baseline `{values_text}` selects no variant", label=label, fix=fix
            )


def _exclude(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    for index, rule in enumerate(scenario.spec.exclude):
        for name, excluded in rule.items():
            for row, value in enumerate(excluded):
                path = ("exclude", index, name, row)
                if name in axes and value in axes[name].settings:
                    continue
                message = "exclude rule matches no combination"
                for p in check_reference(scenario, axes, path, name, value):
                    yield replace(p, code="BC202", message=message, label=p.message)


def _groups(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    spec = scenario.spec
    for key, groups in (("pairs", spec.pairs), ("exclusive", spec.exclusive)):
        for index, group in enumerate(groups):
            wrong = [
                problem
                for row, name in enumerate(group)
                for problem in check_reference(
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
                yield scenario.value_problem(
                    scenario.row(key, index),
                    "BC206",
                    f"`{key}` lists an axis twice",
                    "remove one of the two",
                )
            lengths = {len(axes[name].settings) for name in group if name in axes}
            if key != "exclusive" and not wrong and len(lengths) > 1:
                counts = ", ".join(f"{name} has {len(axes[name].settings)}" for name in group)
                message = f"axes in `pairs` need the same number of values: {counts}"
                advice = "add or remove values"
                yield scenario.value_problem(scenario.row(key, index), "BC206", message, advice)


def _experiments(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    names: set[str] = set()
    tested: dict[tuple[object, ...], str] = {}
    for index, experiment in enumerate(scenario.spec.experiments):
        if experiment.name in names:
            message = f"two experiments have the name `{experiment.name}`"
            advice = "choose another name"
            yield scenario.value_problem(("experiments", index, "name"), "BC206", message, advice)
        names.add(experiment.name)
        test = (experiment.metric, *experiment.change.items(), *sorted(experiment.at.items()))
        if experiment.hypothesis and test in tested:
            yield scenario.value_problem(
                ("experiments", index, "hypothesis"),
                "BC108",
                f"the same change and metric already test `{tested[test]}`: one comparison cannot "
                "separate two causes",
                "use another metric or another change, or remove one of the two",
            )
        if experiment.hypothesis:
            tested[test] = experiment.hypothesis
        yield from _experiment(scenario, axes, ("experiments", index), experiment)


def _experiment(
    scenario: Scenario, axes: Mapping[str, AxisView], path: Path, part: ExperimentPart
) -> Iterator[Problem]:
    document, fixed = scenario.document, scenario.spec.fixed
    yield from check_values(scenario, axes, (*path, "at"), part.at)
    if part.metric is not None and part.metric not in scenario.spec.judge:
        advice = did_you_mean(part.metric, scenario.spec.judge, "judged here")
        message = f"metric `{part.metric}` is not in `judge`"
        yield document.value_problem((*path, "metric"), "BC206", message, advice)
    if part.hypothesis and part.metric is None and len(scenario.spec.judge) > 1:
        message = f"hypothesis `{part.hypothesis}` needs `metric`: it has one change and one metric"
        advice = "name the one metric that would show it: " + ", ".join(scenario.spec.judge)
        yield document.value_problem((*path, "hypothesis"), "BC107", message, advice)
    ((key, value),) = part.change.items()
    where = (*path, "change", key)
    if key in fixed and part.at:
        message = f"with `at`, the change must be of an axis; `{key}` is a key of `fixed`"
        yield document.key_problem(where, "BC108", message, "remove `at`, or make it an axis")
    elif key not in fixed:
        yield from check_reference(
            scenario, axes, where, key, value, variant_only=True, also=tuple(fixed)
        )
    first = scenario.spec.baseline[0] if scenario.spec.baseline else {}
    chosen = (baseline_values(tuple(axes.values()), first) or {}) | part.at | fixed
    if chosen.get(key) == value and (key in fixed or part.at or part.hypothesis):
        place = f"fixed.{key}" if key in fixed else key
        message = f"experiment `{part.name}` changes nothing: `{place}` is already {value}"
        yield document.value_problem(where, "BC204", message, "choose another value")


def _anchor(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    part = scenario.spec.anchor
    if part is None:
        return
    yield from check_values(scenario, axes, ("anchor", "variant"), part.variant or {})
    if part.rev is None:
        return
    if reason := scenario.spec.worker.without_revisions:
        advice = "use anchor: {variant: {…}} with a variant whose program does not change"
        yield scenario.value_problem(
            ("anchor", "rev"), "BC108", f"`anchor.rev` has no effect: {reason}", advice
        )


def _profile(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    """Yield the problems of axes, values and regular expressions under `profile`."""
    part = scenario.spec.profile
    if part is None:
        return
    for index, given in enumerate(part.variants) if not isinstance(part.variants, str) else ():
        if isinstance(given, dict):
            yield from check_values(scenario, axes, ("profile", "variants", index), given)
    for name, pattern in part.buckets.items():
        if isinstance(fault := compiled_regex(pattern), str):
            message = f"bucket `{name}` is not a regular expression: {fault}"
            advice = "write a backslash before literal special characters: `\\.`, `\\(`"
            yield scenario.value_problem(("profile", "buckets", name), "BC114", message, advice)


def check_values(
    scenario: Scenario, axes: Mapping[str, AxisView], path: Path, given: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield the problems of references to build and run axes and their values."""
    for axis, value in given.items():
        yield from check_reference(scenario, axes, (*path, axis), axis, value, variant_only=True)


def check_reference(
    scenario: Scenario,
    axes: Mapping[str, AxisView],
    path: Path,
    name: str,
    value: str | None,
    *,
    variant_only: bool = False,
    also: tuple[str, ...] | None = None,
) -> Iterator[Problem]:
    """Yield the problems of a reference to an axis, and to one of its values."""
    document = scenario.document
    if {name, value} & scenario.lost:
        return
    if name not in axes:
        listed = path[0] in {"pairs", "exclusive"}  # the name is a list item there
        point = document.value_problem if listed else document.key_problem
        place = path if listed else path[: path.index(name) + 1]
        advice = did_you_mean(name, [*axes, *(also or ())], "available" if also else "axes")
        yield point(
            place,
            "BC206",
            f"there is no axis {'or fixed key ' if also is not None else ''}`{name}`",
            advice,
        )
    elif variant_only and axes[name].kind == "input":
        message = f"`{name}` is an axis of the input, not of the variants"
        yield document.value_problem(path, "BC206", message, "name a build or run axis")
    elif value is not None and value not in axes[name].settings:
        advice = did_you_mean(value, known_values(scenario, axes[name]), "use one of")
        yield document.value_problem(path, "BC206", f"axis `{name}` has no value `{value}`", advice)
