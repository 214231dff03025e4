"""A plan at two revisions: every variant is built twice and compared with itself, on every input.

Each (variant, input) of the scenario becomes an input of its own, with two arms and a control: base
and head of one cell run within the same rounds, and no variant is compared with another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from bench_framework.model.declarations import Note
from bench_framework.model.plan import (
    CONTROL_LABEL,
    Axis,
    AxisValue,
    BuildSpec,
    Cell,
    Hole,
    Input,
    Plan,
    Role,
    Variant,
    stable_id,
)
from bench_framework.model.policies import GatePolicy
from bench_framework.model.revisions import Revisions

BASE, HEAD = "base", "head"
AXIS_NAMES: Final = ("rev", "revision", "built-at", "benchctl-rev")
_LEFT_OUT: Final = {
    Role.BOUND: "bounds are not compared",
    Role.ANCHOR: "an anchor is for the comparison of records, not of revisions",
}
_EXPERIMENT: Final = "experiments are not compared between revisions"


def at_revisions(plan: Plan, revisions: Revisions) -> Plan:
    """Return the plan that measures each cell of a scenario at two revisions.

    The crate is built, with one revision for all variants. `revisions` has full ids of commits.

    Returns:
        The plan, with the new axis ``rev`` (or another name if the scenario has such an axis). Every
        axis of the scenario is an axis of the input. Experiments, bounds and anchors become holes.
    """
    taken = {axis.name for axis in plan.axes}
    name = next(name for name in AXIS_NAMES if name not in taken)
    pairs = _Pairs(plan, revisions, name)
    measured = [cell for cell in plan.cells if pairs.takes(cell)]
    heads = {cell.id: pairs.cell_id(cell, HEAD) for cell in measured}
    variants = tuple(
        dict.fromkeys(
            pairs.variant(cell.variant_id, side) for cell in measured for side in (BASE, HEAD)
        )
    )
    base_name, head_name = revisions.names
    return replace(
        plan,
        question=f"Has anything become slower from {base_name} to {head_name}?",
        axes=(pairs.axis, *(replace(axis, kind="input") for axis in plan.axes)),
        builds=tuple(dict.fromkeys(v.build for v in variants if v.build is not None)),
        variants=variants,
        inputs=tuple(pairs.input(cell) for cell in measured),
        cells=tuple(side for cell in measured for side in pairs.cells(cell)),
        training=tuple(
            replace(run, build=replace(run.build, revision=commit))
            for commit in pairs.commits.values()
            for run in plan.training
        ),
        holes=(*plan.holes, *pairs.holes()),
        baseline_id=variants[0].id,
        further_baselines=(),
        choose_from=(),
        anchor_id="",
        experiments=(),
        named=(),
        derived=(),
        hypotheses=(),
        design="full",
        profile=None,
        revisions=revisions,
        measure=replace(plan.measure, strategy="fixed"),
        judge=replace(plan.judge, gate=_gate(plan.judge.gate, heads)),
        notes=(Note("The scenario's question", plan.question), *plan.notes),
        asked=(*plan.asked, *revisions.words),
    )


def _gate(policy: GatePolicy, heads: dict[str, str]) -> GatePolicy:
    """Return the policy with the head's cells instead of the scenario's."""
    chosen = None if policy.chosen is None else tuple(heads[i] for i in policy.chosen if i in heads)
    budgets = tuple(
        replace(budget, cell_ids=tuple(heads[i] for i in budget.cell_ids if i in heads))
        for budget in policy.budgets
    )
    return replace(policy, chosen=chosen, budgets=budgets)


class _Pairs:
    """The parts of the plan at two revisions."""

    def __init__(self, plan: Plan, revisions: Revisions, name: str) -> None:
        self.plan = plan
        self.names = dict(zip((BASE, HEAD), revisions.names, strict=True))
        self.commits = {BASE: revisions.base, HEAD: revisions.head}
        values = tuple(
            AxisValue(
                side,
                self.names[side],
                f"commit {commit}" if commit else "the files in the work tree",
            )
            for side, commit in self.commits.items()
        )
        self.axis = Axis(name, "build", values, "Revision")
        self.several = len({cell.variant_id for cell in plan.cells if self.takes(cell)}) > 1

    def takes(self, cell: Cell) -> bool:
        """Return whether a cell of the scenario is measured at both revisions."""
        return (
            cell.role in (Role.BASELINE, Role.CANDIDATE)
            and self.plan.variant(cell.variant_id).experiment is None
        )

    def holes(self) -> Iterator[Hole]:
        """Yield a hole for each cell of the scenario that this plan does not measure."""
        for cell in self.plan.cells:
            if cell.role is not Role.CONTROL and not self.takes(cell):
                variant, given = self.plan.variant(cell.variant_id), self.plan.input(cell.input_id)
                yield Hole((*variant.values, *given.values), _LEFT_OUT.get(cell.role, _EXPERIMENT))

    def variant(self, variant_id: str, side: str) -> Variant:
        """Return a variant of the scenario at one of the revisions."""
        variant = self.plan.variant(variant_id)
        assert variant.build is not None
        revision = self.names[side]
        label = revision if revision.count(" ") else f"{side} {revision}"
        if self.several:
            label = f"{variant.label} @ {revision}"
        return replace(
            variant,
            label=label,
            values=((self.axis.name, side), *variant.values),
            build=self._build(variant.build, side),
        )

    def _build(self, spec: BuildSpec, side: str) -> BuildSpec:
        return replace(spec, revision=self.commits[side])

    def input(self, cell: Cell) -> Input:
        """Return a cell of the scenario as an input, on which two revisions run."""
        variant, given = self.plan.variant(cell.variant_id), self.plan.input(cell.input_id)
        label = given.label
        if self.several:
            suffix = f", {label}" if label and (given.dataset or given.values) else ""
            label = f"{variant.label}{suffix}"
        return Input(label, (*variant.values, *given.values), given.dataset)

    def cell_id(self, cell: Cell, side: str, role: str = "") -> str:
        """Return the id of a cell, which does not depend on the revisions."""
        return stable_id("cell", cell.id, side, role)

    def cells(self, cell: Cell) -> Iterator[Cell]:
        """Yield the base, the head and the control of one input."""
        input_id = self.input(cell).id
        base, head = (self.variant(cell.variant_id, side) for side in (BASE, HEAD))
        base_cell = replace(
            cell,
            id=self.cell_id(cell, BASE),
            variant_id=base.id,
            input_id=input_id,
            label=base.label,
            role=Role.BASELINE,
        )
        yield base_cell
        yield replace(
            base_cell,
            id=self.cell_id(cell, HEAD),
            variant_id=head.id,
            label=head.label,
            role=Role.CANDIDATE,
        )
        if self.plan.measure.control:
            control = self.cell_id(cell, BASE, CONTROL_LABEL)
            yield replace(base_cell, id=control, label=CONTROL_LABEL, role=Role.CONTROL)
