"""`causes` and `projections` of a scenario as a plan holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.suspicion import ProjectedRow, Suspicion
from bench_framework.scenario.matrix import named_values

if TYPE_CHECKING:
    from bench_framework.model.plan import Values
    from bench_framework.scenario.expansion import Expansion
    from bench_framework.scenario.loaded import Scenario
    from bench_framework.scenario.schema.parts import CausePart


def suspicions(scenario: Scenario, made: Expansion) -> tuple[Suspicion, ...]:
    """Every suspected cause with the two variants that differ in its change alone, where the plan has them."""
    return tuple(_suspicion(scenario, made, part) for part in scenario.spec.causes)


def _suspicion(scenario: Scenario, made: Expansion, part: CausePart) -> Suspicion:
    if not part.change:
        return Suspicion(part.suspected, expect=part.expect)
    ((key, value),) = part.change.items()
    start = named_values(made.axes, scenario.spec.baseline, part.at)
    end = tuple((axis, value if axis == key else old) for axis, old in start)
    before = scenario.spec.fixed.get(key) or dict(start).get(key, "")
    reference = made.made.get(start)
    return Suspicion(
        part.suspected,
        f"{key}: {before} → {value}",
        _changed(made, part, end),
        reference.variant.id if reference is not None else "",
        part.expect,
    )


def _changed(made: Expansion, part: CausePart, end: Values) -> str:
    """The variant with the change: of the matrix, or of an experiment; an empty text if there is neither."""
    ((key, value),) = part.change.items()
    if key in made.by_name and end in made.made:
        return made.made[end].variant.id
    experiments = (
        experiment.variant_id
        for experiment in made.experiments
        if experiment.change == ((key, value),) and not part.at
    )
    return next(experiments, "")


def projected_rows(scenario: Scenario) -> tuple[ProjectedRow, ...]:
    """The projections in the order of the scenario."""
    return tuple(
        ProjectedRow(name, part.formula, part.assuming, part.measured or "")
        for name, part in scenario.spec.projections.items()
    )
