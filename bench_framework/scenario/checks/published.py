"""Checks of `published` and of the references in the author's texts: every name must exist."""

from collections.abc import Iterator, Mapping

from bench_framework.errors import Problem
from bench_framework.model.faults import FaultCode
from bench_framework.model.formula import FormulaError, FormulaUnit, parse
from bench_framework.model.metrics import METRICS, PEAK_RSS
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.plan.published import (
    CONDITION,
    INTENDED,
    REFERENCE,
    PublishedClaim,
    PublishedFigure,
    parse_figure,
)
from bench_framework.scenario.checks.contrasts import check_inputs, check_side
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path
from bench_framework.scenario.expansion import Expansion

CLAIMS: Path = ("published", "claims")


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of names in published claims, takeaways and next steps."""
    spec = scenario.spec
    for index, part in enumerate(spec.published.claims if spec.published is not None else ()):
        yield from _claim(scenario, (*CLAIMS, index), part)
    for place, text in _texts(scenario):
        for intended in INTENDED.finditer(text):
            yield from _written(scenario, place, intended[0])
    for index, takeaway in enumerate(spec.takeaways):
        if takeaway.condition:
            yield from _condition(scenario, ("takeaways", index, "if"), takeaway.condition)
    if spec.headline is not None:
        yield from _reference(
            scenario, ("headline", "contrast"), "contrast", spec.headline.contrast
        )


def _texts(scenario: Scenario) -> Iterator[tuple[Path, str]]:
    """Yield the author's texts that can quote results."""
    for index, takeaway in enumerate(scenario.spec.takeaways):
        yield ("takeaways", index), takeaway.text
    for index, text in enumerate(scenario.spec.next_steps):
        yield ("next-steps", index), text


def _condition(scenario: Scenario, place: Path, text: str) -> Iterator[Problem]:
    """Yield the problems of the condition of a takeaway."""
    match = CONDITION.fullmatch(text)
    if match is None:
        yield scenario.value_problem(place, "BC102.not-a-condition", text=text)
        return
    spec = scenario.spec
    known = [*(c.name for c in spec.contrasts), *(e.name for e in spec.experiments if not e.at)]
    what, name = Phrase(FaultCode.CONTRAST_OR_EXPERIMENT), match["name"]
    yield from scenario.unknown(place, "BC206.no-result", name, known, what=what, name=name)


def _written(scenario: Scenario, place: Path, text: str) -> Iterator[Problem]:
    """Yield the problems of a reference in an author's text."""
    match = REFERENCE.fullmatch(text)
    if match is None or not match["name"].strip():
        yield scenario.value_problem(place, "BC102.not-a-reference", text=text)
        return
    yield from _reference(scenario, place, match["kind"], match["name"].strip())
    if match["metric"] and match["kind"] != "experiment":
        yield scenario.value_problem(place, "BC108.metric-without-effect", match=match["kind"])
    else:
        yield from _metric(scenario, place, match["metric"])


def _claim(scenario: Scenario, path: Path, part: PublishedClaim) -> Iterator[Problem]:
    if part.test in {"contrast", "derived"}:
        yield from _reference(scenario, (*path, part.test), part.test, part.name)
    for key, given in (("variant", part.variant), ("scaling", part.scaling)):
        yield from check_side(scenario, (*path, key), _measured(scenario, given or {}))
    yield from check_inputs(scenario, (*path, "input"), _measured(scenario, part.input))
    if part.test == "not-testable":
        return
    place: Path = (*path, "figure")
    try:
        figure = parse_figure(part.figure)
    except ValueError:
        yield scenario.value_problem(place, "BC102.not-a-figure", figure=part.figure)
        return
    if part.variant is not None and figure.kind == "value":
        yield from _value(scenario, path, part, figure)
    else:
        yield from _metric(scenario, (*path, "metric"), part.metric)
    linear = figure.kind == "linear"
    if linear is not (part.test == "scaling") or (part.contrast and figure.kind == "value"):
        key = "BC108.cannot-test-linear" if linear else "BC108.cannot-test-figure"
        yield scenario.value_problem(place, key, test=part.test, figure=part.figure)
    elif part.derived is not None:
        yield from _unit(scenario, place, part.derived, figure)


def _is_replaced(scenario: Scenario, axis: str) -> bool:
    """Return whether the command line replaces the values of an axis."""
    return scenario.document.place.at(("axes", axis)).file != scenario.document.place.file


def _measured(scenario: Scenario, given: Mapping[str, str]) -> dict[str, str]:
    """Return axis values without those that ``-S`` replaced, about which no claim is measured."""
    axes = scenario.axes
    return {
        axis: value
        for axis, value in given.items()
        if axis not in axes or value in axes[axis].settings or not _is_replaced(scenario, axis)
    }


def _reference(scenario: Scenario, place: Path, kind: str, name: str) -> Iterator[Problem]:
    """Yield a problem if there is no contrast, experiment or derived value of this name."""
    spec = scenario.spec
    known = {
        "contrast": [c.name for c in spec.contrasts],
        "experiment": [e.name for e in spec.experiments if not e.at],
        "derived": [*spec.derived, *spec.cells],
    }[kind]
    what = Phrase(FaultCode.DERIVED_VALUE) if kind == "derived" else kind
    yield from scenario.unknown(place, "BC206.no-result", name, known, what=what, name=name)


def _metric(scenario: Scenario, place: Path, metric: str | None) -> Iterator[Problem]:
    if metric:
        known = [*dict.fromkeys((*scenario.spec.judge, PEAK_RSS))]
        yield from scenario.unknown(
            place, "BC206.metric-not-compared", metric, known, metric=metric
        )


def _value(
    scenario: Scenario, path: Path, part: PublishedClaim, figure: PublishedFigure
) -> Iterator[Problem]:
    """Yield a problem if the metric of a value does not exist or has another unit."""
    metric = part.metric or JudgePolicy(tuple(scenario.spec.judge)).headline
    known = [*METRICS, *scenario.spec.metrics]
    yield from scenario.unknown((*path, "metric"), "BC206.no-metric", metric, known, metric=metric)
    if metric in METRICS and (unit := METRICS[metric].unit) != (figure.base or "count"):
        place, key = (*path, "figure"), "BC108.figure-in-other-unit"
        yield scenario.value_problem(place, key, figure=part.figure, metric=metric, unit=unit)


def _unit(scenario: Scenario, place: Path, name: str, figure: PublishedFigure) -> Iterator[Problem]:
    """Yield a problem if the figure of a derived value has another unit than its formula."""
    units: dict[str, FormulaUnit] = {}
    for row, part in scenario.spec.derived.items():
        try:
            units[row] = parse(part.formula, units).unit
        except FormulaError:
            return
    units |= dict.fromkeys(scenario.spec.cells, "bytes/s")
    given = figure.base if figure.base in {"s", "bytes", "bytes/s"} else "ratio"
    if units.get(name, given) != given:
        yield scenario.value_problem(
            place, "BC108.figure-of-derived-in-other-unit", name=name, units=units[name]
        )


def check_cells(scenario: Scenario) -> Iterator[Problem]:
    """Yield a problem for each claim that no measured configuration can test.

    The same is checked of the inputs that the author's texts name. The names and values of the
    scenario must be valid. If the command line replaces an axis, claims about its former values are
    not measured, which is no error.
    """
    if any(_is_replaced(scenario, axis) for axis in scenario.spec.axes):
        return
    expansion = Expansion(scenario)
    inputs = {c.name: expansion.input_ids(c.input) for c in scenario.spec.contrasts}
    labels = {item.id: item.label for item, _ in expansion.inputs.values()}
    for where, text in _texts(scenario):
        for match in REFERENCE.finditer(text):
            if name := (match["input"] or "").strip():
                ids = (
                    inputs.get(match["name"].strip(), ()) if match["kind"] == "contrast" else labels
                )
                known = [labels[input_id] for input_id in ids]
                yield from scenario.unknown(where, "BC206.no-input", name, known, name=name)
    if scenario.spec.published is None:
        return
    measured = {variant for variant, _ in expansion.pairs()}
    for index, part in enumerate(scenario.spec.published.claims):
        place: Path = (*CLAIMS, index, part.test)
        given = part.selection
        if part.contrast is not None:
            common = {*expansion.input_ids(part.input)} & {*inputs[part.contrast]}
            if not common:
                key = "BC206.claim-without-contrast"
                yield scenario.value_problem(place, key, contrast=part.contrast)
        elif given is not None:
            variant = expansion.selected(given)
            changed = part.variant is not None and parse_figure(part.figure).kind != "value"
            if variant not in measured:
                yield scenario.value_problem(place, "BC206.claim-not-measured")
            elif changed and variant == expansion.baseline:
                yield scenario.value_problem(place, "BC206.claim-of-baseline")
