"""A plan at several revisions: every variant is built at each and compared with itself.

Each (variant, input) of the scenario becomes an input of its own, with one arm for each revision and
a control: base and head of one cell run within the same rounds, and no variant is compared with
another one.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.build_spec import BuildSpec, stable_id
from bench_framework.model.plan.declarations import Axis, AxisValue, Note
from bench_framework.model.plan.plan import CONTROL_LABEL, Cell, Hole, Input, Plan, Role, Variant
from bench_framework.model.plan.revisions import Revisions, short_name
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.text.reasons import phrase_of

BASE, HEAD = "base", "head"
AXIS_NAMES: Final = ("rev", "revision", "built-at", "benchctl-rev")


def at_revisions(plan: Plan, revisions: Revisions) -> Plan:
    """Return the plan that measures each cell of a scenario at two revisions.

    The crate is built, with one revision for all variants. `revisions` has full ids of commits.

    Returns:
        The plan, with the new axis ``rev`` (or another name if the scenario has such an axis). Every
        axis of the scenario is an axis of the input. Experiments and bounds become holes.
    """
    question = phrase_of(PhraseCode.SLOWER_REVISION, *revisions.names)
    commits = {BASE: revisions.base, HEAD: revisions.head}
    at = at_commits(plan, commits, question, clean=revisions.clean)
    return replace(at, revisions=revisions)


def at_commits(
    plan: Plan, commits: Mapping[str, str | None], question: str, *, clean: str = ""
) -> Plan:
    """Return the plan that measures each cell of a scenario at several commits.

    `commits` has the name of each side and its full commit id, `None` for the working tree, which is named by
    the commit `clean` if it has no changes. The first side is the baseline, and the gate is about the last one.
    """
    taken = {axis.name for axis in plan.axes}
    axis = next(name for name in AXIS_NAMES if name not in taken)
    full_ids = {side: commit or clean or None for side, commit in commits.items()}
    names = {side: short_name(commit) for side, commit in full_ids.items()}
    first, *_, last = commits
    holes, measured = [*plan.holes], list[tuple[Cell, Variant, Input]]()
    for cell in plan.cells:
        variant, given = plan.variant(cell.variant_id), plan.input(cell.input_id)
        if cell.role.compared and variant.experiment is None:
            measured.append((cell, variant, given))
        elif cell.role is not Role.CONTROL:
            bound = cell.role is Role.BOUND
            code = ReasonCode.BOUND_OF_REVISIONS if bound else ReasonCode.EXPERIMENT_OF_REVISIONS
            holes.append(Hole((*variant.values, *given.values), Reason(code)))
    several = len({cell.variant_id for cell, _, _ in measured}) > 1
    variants, inputs, cells = list[Variant](), list[Input](), list[Cell]()
    for cell, variant, given in measured:
        assert variant.build is not None
        label = given.name or variant.label
        if several and given.name:
            label = f"{variant.label}, {given.name}"
        item = Input(label, (*variant.values, *given.values), given.dataset)
        inputs.append(item)
        for side, commit in commits.items():
            label = names[side] if names[side].count(" ") else f"{side} {names[side]}"
            at = replace(
                variant,
                label=f"{variant.label} @ {names[side]}" if several else label,
                values=((axis, side), *variant.values),
                build=replace(variant.build, revision=commit),
            )
            variants.append(at)
            cells.append(
                replace(
                    cell,
                    id=cell_id(cell, side),
                    variant_id=at.id,
                    input_id=item.id,
                    label=at.label,
                    role=Role.BASELINE if side == first else Role.CANDIDATE,
                )
            )
        if plan.measure.control:
            baseline = cells[-len(commits)]
            control = cell_id(cell, first, CONTROL_LABEL)
            cells.append(replace(baseline, id=control, label=CONTROL_LABEL, role=Role.CONTROL))
    values = tuple(
        AxisValue(
            side,
            names[side],
            phrase_of(PhraseCode.COMMIT, commit) if commit else phrase_of(PhraseCode.WORK_TREE),
        )
        for side, commit in full_ids.items()
    )
    heads = {cell.id: (cell_id(cell, last),) for cell, _, _ in measured}
    return replace(
        plan.pairs_only(),
        question=question,
        axes=(
            Axis(axis, "build", values, "Revision"),
            *(replace(a, kind="input") for a in plan.axes),
        ),
        builds=plan.programs_of(variants),
        variants=tuple(dict.fromkeys(variants)),
        inputs=tuple(inputs),
        cells=tuple(cells),
        training=tuple(
            replace(run, build=replace(run.build, revision=commit))
            for commit in commits.values()
            for run in plan.training
        ),
        holes=tuple(holes),
        baseline_id=variants[0].id,
        design="full",
        judge=replace(plan.judge, gate=plan.judge.gate.with_cells(heads)),
        notes=(Note(phrase_of(PhraseCode.SCENARIO_QUESTION), plan.question), *plan.notes),
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
