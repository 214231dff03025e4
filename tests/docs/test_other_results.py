"""Tests that `other-results` of a scenario agrees with the example of the scenario that it names."""

import csv
from pathlib import Path

import pytest

from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.published import OtherResult
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.text.numbers import show_change
from bench_framework.units import THIN_SPACE

ROOT = Path(__file__).parents[2]


def plan_of(name: str) -> Plan:
    return expand(load(ROOT / "scenarios" / f"{name}.yaml"))


def other_results() -> list[tuple[str, OtherResult]]:
    """Return each result of another scenario with the name of the scenario that names it."""
    results = []
    for path in sorted((ROOT / "scenarios").glob("*.yaml")):
        published = load(path).spec.published
        for claim in published.claims if published is not None else ():
            results += [(path.stem, other) for other in claim.other_results]
    return results


def pair_of(plan: Plan, comparison: str) -> tuple[str, str]:
    """Return the ids of both variants of a contrast or an experiment."""
    for contrast in plan.contrasts:
        if contrast.name == comparison:
            return contrast.variant_id, contrast.reference_id
    experiment = next(e for e in plan.experiments if e.name == comparison)
    return experiment.variant_id, plan.baseline_id


@pytest.mark.parametrize(("scenario", "other"), other_results())
def test_a_result_of_another_scenario_agrees_with_its_example(
    scenario: str, other: OtherResult
) -> None:
    """The stated figures are those of the example."""
    plan = plan_of(other.scenario)
    cells = {c.variant_id: c.id for c in plan.cells if c.role is not Role.CONTROL}
    variant, reference = pair_of(plan, other.comparison)
    pair = (cells[variant], cells[reference])
    folder = ROOT / "results" / "examples" / other.scenario
    with (folder / "comparisons.csv").open(encoding="utf-8") as file:
        rows = {
            (r["cell_id"], r["ref_cell_id"]): r
            for r in csv.DictReader(file)
            if r["metric"] == "wall"
        }
    row, inverse = rows.get(pair), rows.get(pair[::-1])
    assert row or inverse, f"{scenario}: the example of {other.scenario} has no {other.comparison}"
    example = row or inverse or {}
    ratio, lo, hi = (float(example[name]) for name in ("ratio", "lo", "hi"))
    if inverse and not row:
        ratio, lo, hi = 1 / ratio, 1 / hi, 1 / lo
    expected = show_change(ratio, lo, hi, plan.judge.margin)
    assert other.result == str(expected).replace(THIN_SPACE, " ")


def test_scenarios_that_test_one_claim_name_each_other() -> None:
    pairs = {(scenario, other.scenario) for scenario, other in other_results()}
    assert pairs == {(b, a) for a, b in pairs}
    assert pairs
