"""Checks of references to axes and values: baseline, rules, experiments, profile."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bench_framework.errors import Problem
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.declarations import Experiment
from bench_framework.scenario import bundled
from bench_framework.scenario.definition import AxisView, Scenario
from bench_framework.scenario.document import Path
from bench_framework.scenario.matrix import excluded_values
from bench_framework.scenario.scalars import compiled_regex, similar
from bench_framework.text.errors import error_text
from bench_framework.text.names import listed
from bench_framework.text.reasons import phrase_of
from bench_framework.units import is_size


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of references to axes and values."""
    yield from _baselines(scenario)
    yield from _exclude(scenario)
    for index, given in enumerate(scenario.spec.include):
        yield from check_values(scenario, scenario.row("include", index), given)
    yield from _groups(scenario)
    yield from _experiments(scenario)
    yield from _profile(scenario)
    for index, part in enumerate(scenario.spec.describe):
        yield from check_values(scenario, ("describe", index, "variant"), part.variant)


def known_values(scenario: Scenario, axis: AxisView) -> list[str]:
    """Return the values of an axis that the worker knows, for use in messages."""
    theirs = bundled.axis_links(scenario, bundled.command_of(scenario)).get(axis.name)
    known = bundled.description(scenario)["axes"][theirs] if theirs is not None else []
    return [value for value in axis.values if value in known] or list(axis.values)


def _baselines(scenario: Scenario) -> Iterator[Problem]:
    open_axes = [axis for axis in scenario.variant_axes if len(axis.settings) > 1]
    if not scenario.spec.baseline and open_axes and "baseline" not in scenario.lost:
        example = ", ".join(f"{axis.name}: {axis.values[0]}" for axis in open_axes)
        yield scenario.key_problem(("axes",), "BC201.missing", example=example)
    chosen = []
    for index, given in enumerate(scenario.spec.baseline):
        path: Path = ("baseline", index)
        wrong = list(_baseline(scenario, path, given))
        yield from wrong
        missing = [axis for axis in open_axes if axis.name not in given]
        if wrong:
            continue
        if missing:
            names = listed((f"`{axis.name}`" for axis in missing), len(missing))
            additions = (
                f"{a.name}: {phrase_of(PhraseCode.ONE_OF_VALUES, *known_values(scenario, a)[:8])}"
                for a in missing
            )
            open_values = phrase_of(PhraseCode.ADDITIONS, *additions)
            size = next((axis.name for axis in missing if _may_be_size(scenario, axis)), "")
            key = "BC201.several-variants"
            yield scenario.value_problem(path, key, names=names, values=open_values, size=size)
            continue
        values = scenario.variant_values(given)
        if values in chosen:
            yield scenario.value_problem(path, "BC201.twice")
        chosen.append(values)


def _may_be_size(scenario: Scenario, axis: AxisView) -> bool:
    """Return whether the values of an axis are numbers in arguments of a scenario that has no input."""
    numbers = all(value.isdecimal() or is_size(value) for value in axis.values)
    return scenario.spec.input is None and axis.kind == "run" and numbers


def _baseline(scenario: Scenario, path: Path, given: Mapping[str, str]) -> Iterator[Problem]:
    for name, value in given.items():
        axis = scenario.axes.get(name)
        if {name, value} & scenario.lost:
            continue
        if axis is None:
            yield scenario.key_problem(
                (*path, name), "BC201.no-axis", name=name, **similar(name, scenario.axes)
            )
        elif axis.kind == "input":
            yield scenario.key_problem((*path, name), "BC201.axis-of-input", name=name)
        elif value not in axis.settings:
            values_text = ", ".join(f"{key}={text}" for key, text in given.items())
            yield scenario.value_problem(
                path,
                "BC201.no-variant",
                values_text=values_text,
                scenario=", ".join(known_values(scenario, axis)),
                name=name,
                value=value,
            )


def _exclude(scenario: Scenario) -> Iterator[Problem]:
    for index, rule in enumerate(scenario.spec.exclude):
        values = excluded_values(rule)
        if not values:
            yield scenario.value_problem(("exclude", index), "BC202")
        for name, excluded in values.items():
            for row, value in enumerate(excluded):
                path = ("exclude", index, name, row)
                for p in check_reference(scenario, path, name, value):
                    text = error_text("BC202.no-combination", {})
                    yield replace(p, code=text.code, message=text.message, label=p.message)


def _groups(scenario: Scenario) -> Iterator[Problem]:
    axes = scenario.axes
    for index, group in enumerate(scenario.spec.pairs):
        row = scenario.row("pairs", index)
        wrong = [
            problem
            for column, name in enumerate(group)
            for problem in check_reference(scenario, (*row, column), name, None)
        ]
        yield from wrong
        if wrong:
            continue
        if len(set(group)) < len(group):
            yield scenario.value_problem(row, "BC206.axis-twice")
        sizes = {name: len(axes[name].settings) for name in group if name in axes}
        if len(set(sizes.values())) > 1:
            counts = ", ".join(phrase_of(PhraseCode.HAS_SETTINGS, *item) for item in sizes.items())
            yield scenario.value_problem(row, "BC206.pairs-of-different-length", counts=counts)


def _experiments(scenario: Scenario) -> Iterator[Problem]:
    names: set[str] = set()
    tested: dict[tuple[object, ...], str] = {}
    for index, experiment in enumerate(scenario.spec.experiments):
        path: Path = ("experiments", index)
        if experiment.name in names:
            yield scenario.value_problem(
                (*path, "name"), "BC206.experiment-twice", name=experiment.name
            )
        names.add(experiment.name)
        if experiment.hypothesis:
            test = (experiment.metric, *experiment.change, *sorted(experiment.at.items()))
            if test in tested:
                yield scenario.value_problem(
                    (*path, "hypothesis"), "BC108.same-hypothesis", tested=tested[test]
                )
            tested[test] = experiment.hypothesis
        yield from _experiment(scenario, path, experiment)


def _experiment(scenario: Scenario, path: Path, part: Experiment) -> Iterator[Problem]:
    fixed, judge = scenario.spec.fixed, scenario.spec.judge
    yield from check_values(scenario, (*path, "at"), part.at)
    yield from check_judged(scenario, path, part.metric)
    if part.hypothesis and not part.metric and len(judge) > 1:
        metrics, code = ", ".join(judge), "BC107.hypothesis-without-metric"
        yield scenario.value_problem(
            (*path, "hypothesis"), code, hypothesis=part.hypothesis, metrics=metrics
        )
    ((key, value),) = part.change
    where = (*path, "change", key)
    if key in fixed and part.at:
        yield scenario.key_problem(where, "BC108.at-with-fixed-key", key=key)
    elif key not in fixed:
        yield from check_reference(
            scenario, where, key, value, variant_only=True, also=tuple(fixed)
        )
    chosen = scenario.baseline | part.at | fixed
    if chosen.get(key) == value and (key in fixed or part.at or part.hypothesis):
        place = f"fixed.{key}" if key in fixed else key
        yield scenario.value_problem(
            where, "BC204.experiment-changes-nothing", name=part.name, place=place, value=value
        )


def _profile(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of axes, values and regular expressions under `profile`."""
    part = scenario.spec.profile
    if part is None:
        return
    selections = () if isinstance(part.variants, str) else part.variants
    for index, given in enumerate(selections):
        yield from check_values(scenario, ("profile", "variants", index), given)
    for name, pattern in part.buckets.items():
        if isinstance(fault := compiled_regex(pattern), str):
            yield scenario.value_problem(
                ("profile", "buckets", name), "BC114", name=name, fault=fault
            )


def check_judged(scenario: Scenario, path: Path, metric: str) -> Iterator[Problem]:
    """Yield a problem if the `metric` of a part is not judged."""
    if metric:
        judge = scenario.spec.judge
        yield from scenario.unknown(
            (*path, "metric"), "BC206.metric-not-judged", metric, judge, metric=metric
        )


def check_values(scenario: Scenario, path: Path, given: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the problems of references to build and run axes and their values."""
    for axis, value in given.items():
        yield from check_reference(scenario, (*path, axis), axis, value, variant_only=True)


def check_reference(
    scenario: Scenario,
    path: Path,
    name: str,
    value: str | None,
    *,
    variant_only: bool = False,
    also: tuple[str, ...] | None = None,
) -> Iterator[Problem]:
    """Yield the problems of a reference to an axis, and to one of its values.

    `also` has further names that may be used in place of an axis.
    """
    axis = scenario.axes.get(name)
    if {name, value} & scenario.lost:
        return
    if axis is None:
        in_list = path[0] == "pairs"  # the name is a list item there
        point = scenario.value_problem if in_list else scenario.key_problem
        place = path if in_list else path[: path.index(name) + 1]
        key = "BC206.no-axis"
        if also is not None:
            key = "BC206.no-axis-or-key" if also else "BC206.no-axis-and-no-keys"
        yield point(place, key, name=name, **similar(name, [*scenario.axes, *(also or ())]))
    elif variant_only and axis.kind == "input":
        key = "BC206.axis-of-page-cache" if axis.is_page_cache else "BC206.axis-of-input"
        yield scenario.value_problem(path, key, name=name)
    elif value is not None and value not in axis.settings:
        yield from scenario.unknown(
            path, "BC206.no-axis-value", value, known_values(scenario, axis), name=name, value=value
        )
