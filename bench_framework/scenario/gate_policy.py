"""The gate policy of a plan: margins, selected cells and budgets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench_framework.model.budget import Budget
from bench_framework.model.metrics import METRICS
from bench_framework.model.plan import Role
from bench_framework.model.policies import GatePolicy
from bench_framework.scenario.scalars import Refused
from bench_framework.scenario.selection import parse_selection
from bench_framework.units import parse_duration, parse_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.model.plan import Cell, Plan
    from bench_framework.scenario.definition import Scenario
    from bench_framework.scenario.schema.measure import BudgetPart

OPEN_NAMES = ("variant", "input", "experiment")
"""Names that a selection may use in addition to the axes."""


def with_gate(scenario: Scenario, plan: Plan) -> Plan:
    """Return the plan with the scenario's gate policy."""
    spec = scenario.spec.gate
    policy = GatePolicy(
        spec.margins(),
        spec.detect,
        spec.on_inconclusive,
        tuple(spec.require),
        against=spec.against or "",
        cells=spec.cells or "",
        chosen=tuple(c.id for c in selected(plan, spec.cells)) if spec.cells else None,
        min_compared=spec.min_compared,
        budgets=tuple(
            Budget(
                part.cell,
                part.metric,
                budget_limit(scenario, part),
                part.max,
                tuple(c.id for c in selected(plan, part.cell)),
            )
            for part in spec.budgets
        ),
        accepted=scenario.resolve(spec.accepted) if spec.accepted else "",
    )
    return replace(plan, judge=replace(plan.judge, gate=policy))


def selected(plan: Plan, words: str) -> tuple[Cell, ...]:
    """Return the cells of a plan, including baselines, that a selection matches.

    Raises:
        ScenarioError: BC113, the selection is invalid or has an unknown name or value.
    """
    known = {axis.name: [value.name for value in axis.values] for axis in plan.axes}
    selection = parse_selection(words, known, open_names=OPEN_NAMES)
    compared = (Role.BASELINE, Role.CANDIDATE)
    return tuple(c for c in plan.cells if c.role in compared and selection.takes(words_of(plan, c)))


def words_of(plan: Plan, cell: Cell) -> Mapping[str, str]:
    """Return the values of a cell by the names that a selection may use."""
    variant, given = plan.variant(cell.variant_id), plan.input(cell.input_id)
    values = {
        "variant": variant.label,
        "input": given.label,
        **dict((*variant.values, *given.values)),
    }
    return values | ({"experiment": variant.experiment} if variant.experiment else {})


def unit_of(scenario: Scenario, metric: str) -> str | None:
    """Return the unit of a metric, such as s or bytes, or `None` if it cannot have a budget."""
    declared = scenario.spec.metrics.get(metric)
    if metric in METRICS:
        kind = METRICS[metric]
        return kind.unit if kind.judged in {"rounds", "medians", "exact"} else None
    if declared is None:
        return None
    from bench_framework.model.metrics import UNITS  # noqa: PLC0415 -- only for declared ones

    return UNITS[declared.unit][0]


def budget_limit(scenario: Scenario, part: BudgetPart) -> float:
    """Return the limit of a budget, in the unit of its metric's values.

    Raises:
        Refused: the limit is not in that unit, or not above zero.
    """
    unit, text = unit_of(scenario, part.metric), part.max
    try:
        if unit == "s":
            limit = parse_duration(text)
        elif unit == "bytes":
            limit = float(parse_size(text))
        else:
            limit = float(text.replace("_", ""))
    except ValueError:
        example = {"s": "1.2s", "bytes": "200MiB"}.get(unit or "", "12000000")
        raise Refused(
            "BC102",
            f"`{text}` is not a limit for metric `{part.metric}`",
            label="expected an amount",
            advice=f"write an amount such as {example}",
        ) from None
    if not 0 < limit < float("inf"):
        raise Refused("BC102", f"`max` must be above zero, got {text}", label="expected an amount")
    return limit
