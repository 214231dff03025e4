"""The benchmarks of a plan, which are known after its bench targets are built."""

import fnmatch
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench_framework.errors import BuildError, UsageError
from bench_framework.execution.benches import HARNESSES
from bench_framework.execution.progress import Message, Observer
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.benches import AXES, Bench, BenchPolicy
from bench_framework.model.plan.build_spec import stable_id
from bench_framework.model.plan.declarations import Axis, AxisValue
from bench_framework.model.plan.plan import Cell, Hole, Input, Plan, Role, Values
from bench_framework.model.plan.planned_comparisons import lone_benches
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import BenchTarget, Build
from bench_framework.scenario.document import suggest
from bench_framework.scenario.gate_policy import with_selected_benches
from bench_framework.scenario.selection import meets_selection
from bench_framework.text.names import first_items
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.setup.build_failures import require_builds

ROUNDS_FOR_ALL = 20
"""Rounds of all benchmarks for which a calculated budget is enough."""
MOST_BUDGET_S = 1800.0
"""Largest calculated budget. With more benchmarks, some are not judged."""
MOST_NAMED = 12
"""Ids that a message names."""
EXCLUDED = "!"
"""Begin of a pattern of ids that are not measured."""
NO_TARGET = "no bench target named"
"""Words of cargo about a bench target that a revision does not have."""
Benches = Mapping[str, BenchTarget]
"""The bench targets that were built, by the id of their build."""


def with_benches(
    plan: Plan, builds: Sequence[Build], observer: Observer
) -> tuple[Plan, tuple[Build, ...]]:
    """Return the plan with an input for each benchmark, and its builds.

    A benchmark or a bench target that one side does not have becomes a hole. Builds of bench targets
    that do not exist are left out.

    Raises:
        UsageError: BX270, a pattern of `only`, or the selection of ``-k``, matches no benchmark.
        BuildError: BX270, no benchmark can be measured on two sides; BX220, because one was not built.
    """
    policy = plan.benches
    if policy is None or policy.expanded:
        return plan, tuple(builds)
    absent = {b.id for b in builds if not b.ok and NO_TARGET in (b.message or "")}
    targets = {b.id: b.bench for b in builds if b.bench is not None}
    _require_known(policy, targets)
    parts = _Parts()
    for item in plan.inputs:
        for target in policy.targets:
            _add_target(parts, plan, targets, item, target)
    if not parts.inputs and not parts.lone and parts.unselected:
        known = first_items([*parts.unselected], MOST_NAMED, ", ")
        raise UsageError("BX270.unselected", selection=policy.selection, known=known)
    if not parts.inputs:
        # A build without a log succeeded, or its program has no benchmarks.
        by_cargo = (build for build in builds if build.ok or build.log)
        require_builds(plan, [build for build in by_cargo if build.id not in absent])
        failed = next((b for b in builds if not b.ok and b.id not in absent), None)
        text = failed.message if failed is not None else ""
        details = (("cargo", text),) if text else ()
        lone = Reason(ReasonCode.LIST, tuple(lone_benches(parts.holes)))
        raise BuildError("BX270.nothing-to-measure", lone=lone, details=details)
    expanded = with_selected_benches(_budgeted(_expanded(plan, parts), parts))
    specs = tuple(spec for spec in plan.builds if spec.id not in absent)
    observer.notify(Message(_summary(expanded, parts)))
    return replace(expanded, builds=specs), tuple(b for b in builds if b.id not in absent)


def _require_known(policy: BenchPolicy, targets: Benches) -> None:
    """Check that each pattern of `only` selects a benchmark. Raises `UsageError` (BX270)."""
    ids = list(dict.fromkeys(name for target in targets.values() for name in target.ids))
    for pattern in (p.removeprefix(EXCLUDED) for p in policy.only if ids):
        if not any(_matches(pattern, name) for name in ids):
            near = suggest(pattern, ids)
            known = first_items(ids, MOST_NAMED, ", ")
            raise UsageError("BX270.unknown-id", pattern=pattern, near=near, known=known)


@dataclass(slots=True)
class _Parts:
    """Inputs, cells and holes of the benchmarks of a plan."""

    inputs: list[Input] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    lone: list[str] = field(default_factory=list)
    """Ids that only one side has."""
    unselected: dict[str, None] = field(default_factory=dict)
    """Ids that the selection of ``-k`` does not match."""
    round_s: float = 0.0
    """Usual duration of a round of all benchmarks."""
    replacements: dict[str, list[str]] = field(default_factory=dict)
    """The ids of the new cells and inputs, by the id of the one that they replace."""


def _add_target(parts: _Parts, plan: Plan, targets: Benches, item: Input, target: str) -> None:
    """Add the benchmarks of one bench target to the parts of a plan, in place of an input."""
    policy = plan.benches
    assert policy is not None
    cells = plan.compared_cells(item.id)
    built: dict[str, BenchTarget | None] = {}
    for cell in cells:
        spec = plan.variant(cell.variant_id).build
        assert spec is not None
        built[cell.id] = targets.get(replace(spec, bin=target).id)
    known = [(one.harness, name) for one in built.values() if one is not None for name in one.ids]
    for harness, name in dict.fromkeys(known):
        if not _selected(policy, name):
            continue
        label = f"{target}: {name}" if len(policy.targets) > 1 else name
        plain = item.dataset is None and not item.values
        label = label if plain else f"{item.label}, {label}"
        bench = Bench(target, harness, name)
        if not meets_selection(policy.selection, bench, label):
            parts.unselected[name] = None
            continue
        values = (*item.values, *_values(policy, target, name))
        having = {
            id_ for id_, one in built.items() if one and one.harness == harness and name in one.ids
        }
        sides = [cell for cell in cells if cell.id in having]
        has_baseline = any(cell.role is Role.BASELINE for cell in sides)
        if not has_baseline or (len(sides) == 1 < len(cells)):
            missing = [cell for cell in cells if cell not in sides]
            text = ", ".join(dict.fromkeys(cell.label for cell in missing))
            labels = Reason(ReasonCode.BENCH_ON_ONE_SIDE, text)
            parts.holes.append(Hole((*plan.variant(sides[0].variant_id).values, *values), labels))
            parts.lone.append(name)
            continue
        given = Input(label, values, None, bench)
        parts.inputs.append(given)
        parts.replacements.setdefault(item.id, []).append(given.id)
        for cell in plan.cells_of(item.id):
            side = plan.baseline_cell(item.id) if cell.role is Role.CONTROL else cell
            if side is None or (side not in sides and side.role.compared):
                parts.holes.append(
                    Hole(
                        (*plan.variant(cell.variant_id).values, *values),
                        Reason(ReasonCode.BENCH_ON_ONE_SIDE, cell.label),
                    )
                )
                continue
            one = built[side.id]
            assert one is not None
            arguments = HARNESSES[harness].command(one, name)
            after_program = cell.command.index((BIN,)) + 1  # a self-test has a wrapper before it
            added = replace(
                cell,
                id=bench_cell_id(cell.id, bench),
                input_id=given.id,
                command=(
                    *cell.command[:after_program],
                    *((word,) for word in arguments),
                    *cell.command[after_program:],
                ),
            )
            parts.cells.append(added)
            parts.round_s += one.seconds
            parts.replacements.setdefault(cell.id, []).append(added.id)


def bench_cell_id(cell_id: str, bench: Bench) -> str:
    """Return the id of the cell of a benchmark, from that of the cell that it replaces."""
    return stable_id("cell", cell_id, bench.target, bench.id)


def _selected(policy: BenchPolicy, name: str) -> bool:
    """Return whether a benchmark is to be measured."""
    patterns = [p for p in policy.only if not p.startswith(EXCLUDED)]
    others = (p.removeprefix(EXCLUDED) for p in policy.only if p.startswith(EXCLUDED))
    chosen = not patterns or any(_matches(p, name) for p in patterns)
    return chosen and not any(_matches(p, name) for p in others)


def _matches(pattern: str, name: str) -> bool:
    """Return whether a pattern selects an id, which may contain the signs of a pattern."""
    return pattern == name or fnmatch.fnmatchcase(name, pattern)


def _values(policy: BenchPolicy, target: str, name: str) -> Values:
    id_axis, target_axis = AXES
    of_target = ((target_axis, target),) if len(policy.targets) > 1 else ()
    return (*of_target, (id_axis, name))


def _expanded(plan: Plan, parts: _Parts) -> Plan:
    """Return the plan with the parts in place of its inputs and cells."""
    policy = plan.benches
    assert policy is not None

    def new(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(id_ for old in ids for id_ in parts.replacements.get(old, ()))

    benches = [item.bench for item in parts.inputs if item.bench is not None]
    id_axis, target_axis = AXES
    axes = [Axis(id_axis, "input", _axis_values(b.id for b in benches), "Benchmark")]
    if len(policy.targets) > 1:
        axes.insert(
            0, Axis(target_axis, "input", _axis_values(b.target for b in benches), "Target")
        )
    return replace(
        plan,
        axes=(*plan.axes, *axes),
        inputs=tuple(parts.inputs),
        cells=tuple(parts.cells),
        holes=(*plan.holes, *parts.holes),
        contrasts=tuple(replace(c, input_ids=new(c.input_ids)) for c in plan.contrasts),
        judge=replace(plan.judge, gate=plan.judge.gate.with_cells(parts.replacements)),
        benches=replace(policy, expanded=True),
    )


def _axis_values(names: Iterable[str]) -> tuple[AxisValue, ...]:
    return tuple(AxisValue(name, name) for name in dict.fromkeys(names))


def _budgeted(plan: Plan, parts: _Parts) -> Plan:
    """Return the plan with a budget for its number of benchmarks, if the scenario gives no limit."""
    measure, policy = plan.measure, plan.benches
    if policy is None or not policy.calculated or measure.budget_s is None:
        return plan
    rounds = measure.warmup_rounds + ROUNDS_FOR_ALL
    budget = min(MOST_BUDGET_S, max(measure.budget_s, rounds * parts.round_s))
    return replace(plan, measure=replace(measure, budget_s=float(math.ceil(budget))))


def with_time_limit(plan: Plan, budget_s: float) -> Plan:
    """Return the plan with a time limit that is given, and not calculated from the number of benchmarks."""
    benches = plan.benches and replace(plan.benches, calculated=False)
    return replace(plan, measure=replace(plan.measure, budget_s=budget_s), benches=benches)


def _summary(plan: Plan, parts: _Parts) -> str:
    """Return what is measured and how long it takes, in one line."""
    benches = [item.bench for item in plan.inputs if item.bench is not None]
    harnesses = ", ".join(dict.fromkeys(bench.harness for bench in benches))
    text = phrase_of(PhraseCode.BENCHMARKS, len(benches), harnesses, parts.round_s)
    if plan.measure.budget_s is not None:
        text = phrase_of(PhraseCode.AT_MOST_BUDGET, text, plan.measure.budget_s)
    if parts.lone:
        names = first_items(list(dict.fromkeys(parts.lone)), MOST_NAMED, ", ")
        text = phrase_of(PhraseCode.WITHOUT_COUNTERPART, text, len(parts.lone), names)
    return text
