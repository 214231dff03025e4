"""A plan at several revisions: every variant is built at each and compared with itself.

Each (variant, input) of the scenario becomes an input of its own, with one arm for each revision and
a control: base and head of one cell run within the same rounds, and no variant is compared with
another one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from bench_framework.model.declarations import Axis, AxisValue, Note
from bench_framework.model.plan import (
    CONTROL_LABEL,
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
from bench_framework.model.revisions import Revisions, short_name

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
    base_name, head_name = revisions.names
    question = f"Has anything become slower from {base_name} to {head_name}?"
    at = at_commits(plan, {BASE: revisions.base, HEAD: revisions.head}, question)
    return replace(at, revisions=revisions, asked=(*plan.asked, *revisions.words))


def at_commits(plan: Plan, commits: Mapping[str, str | None], question: str) -> Plan:
    """Return the plan that measures each cell of a scenario at several commits.

    `commits` has the name of each side and its full commit id, `None` for the working tree. The first
    side is the baseline, and the gate is about the last one.
    """
    taken = {axis.name for axis in plan.axes}
    name = next(name for name in AXIS_NAMES if name not in taken)
    pairs = _Pairs(plan, commits, name)
    measured = [cell for cell in plan.cells if pairs.takes(cell)]
    heads = {cell.id: cell_id(cell, [*commits][-1]) for cell in measured}
    variants = tuple(
        dict.fromkeys(pairs.variant(cell.variant_id, side) for cell in measured for side in commits)
    )
    return replace(
        plan,
        question=question,
        axes=(pairs.axis, *(replace(axis, kind="input") for axis in plan.axes)),
        builds=tuple(dict.fromkeys(v.build for v in variants if v.build is not None)),
        variants=variants,
        inputs=tuple(pairs.input(cell) for cell in measured),
        cells=tuple(side for cell in measured for side in pairs.cells(cell)),
        training=tuple(
            replace(run, build=replace(run.build, revision=commit))
            for commit in commits.values()
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
        measure=replace(plan.measure, strategy="fixed"),
        judge=replace(plan.judge, gate=_gate(plan.judge.gate, heads)),
        notes=(Note("The scenario's question", plan.question), *plan.notes),
    )


def at_revision(plan: Plan, commit: str) -> Plan:
    """Return the plan whose builds without a revision are built at a commit."""

    def moved(spec: BuildSpec) -> BuildSpec:
        return spec if spec.revision or spec.installed else replace(spec, revision=commit)

    return replace(
        plan,
        builds=tuple(moved(spec) for spec in plan.builds),
        variants=tuple(replace(v, build=v.build and moved(v.build)) for v in plan.variants),
        training=tuple(replace(run, build=moved(run.build)) for run in plan.training),
    )


def cell_id(cell: Cell, side: str, role: str = "") -> str:
    """Return the id of a cell of the scenario at a side, which does not depend on the commits."""
    return stable_id("cell", cell.id, side, role)


def _gate(policy: GatePolicy, heads: dict[str, str]) -> GatePolicy:
    """Return the policy with the head's cells instead of the scenario's."""
    chosen = None if policy.chosen is None else tuple(heads[i] for i in policy.chosen if i in heads)
    budgets = tuple(
        replace(budget, cell_ids=tuple(heads[i] for i in budget.cell_ids if i in heads))
        for budget in policy.budgets
    )
    return replace(policy, chosen=chosen, budgets=budgets)


class _Pairs:
    """The parts of the plan at several commits."""

    def __init__(self, plan: Plan, commits: Mapping[str, str | None], name: str) -> None:
        self.plan = plan
        self.names = {side: short_name(commit) for side, commit in commits.items()}
        self.commits = commits
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
        return cell.role.compared and self.plan.variant(cell.variant_id).experiment is None

    def holes(self) -> Iterator[Hole]:
        """Yield a hole for each cell of the scenario that this plan does not measure."""
        for cell in self.plan.cells:
            if cell.role is not Role.CONTROL and not self.takes(cell):
                variant, given = self.plan.variant(cell.variant_id), self.plan.input(cell.input_id)
                yield Hole((*variant.values, *given.values), _LEFT_OUT.get(cell.role, _EXPERIMENT))

    def variant(self, variant_id: str, side: str) -> Variant:
        """Return a variant of the scenario at one of the commits."""
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
            build=replace(variant.build, revision=self.commits[side]),
        )

    def input(self, cell: Cell) -> Input:
        """Return a cell of the scenario as an input, on which two revisions run."""
        variant, given = self.plan.variant(cell.variant_id), self.plan.input(cell.input_id)
        label = given.label
        if self.several:
            suffix = f", {label}" if label and (given.dataset or given.values) else ""
            label = f"{variant.label}{suffix}"
        return Input(label, (*variant.values, *given.values), given.dataset)

    def cells(self, cell: Cell) -> Iterator[Cell]:
        """Yield the cells of one input: the baseline, the other sides and the control."""
        input_id, (first, *_) = self.input(cell).id, self.commits
        sides = {side: self.variant(cell.variant_id, side) for side in self.commits}
        at = {
            side: replace(
                cell,
                id=cell_id(cell, side),
                variant_id=variant.id,
                input_id=input_id,
                label=variant.label,
                role=Role.BASELINE if side == first else Role.CANDIDATE,
            )
            for side, variant in sides.items()
        }
        yield from at.values()
        if self.plan.measure.control:
            control = cell_id(cell, first, CONTROL_LABEL)
            yield replace(at[first], id=control, label=CONTROL_LABEL, role=Role.CONTROL)
