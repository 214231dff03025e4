"""Variants that are one program: what differs between them is no change, and their difference an A/A test.

Plain Python.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench_framework.compare import cell_state
from bench_framework.model.judgement import ONE_PROGRAM, Claim, Comparison
from bench_framework.model.plan import Role
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench_framework.model.plan import Cell, Plan
    from bench_framework.model.run import Build

Pairs = frozenset[frozenset[str]]
"""Pairs of cell ids."""


@dataclass(frozen=True, slots=True)
class Same:
    """Two variants that asked for different builds, got the same code, and run it with the same words.

    Attributes:
        first: variant id, the earlier one in the plan.
        second: variant id.
        axes: names of what they differ in by name only.
        where: the other axes that vary, with their values: ``"engine=rayon"``; may be empty.
        cells: pairs of cell ids, one for each input that both are measured on.
    """

    first: str
    second: str
    axes: tuple[str, ...]
    where: str
    cells: Pairs


def same_programs(plan: Plan, builds: Mapping[str, Build]) -> tuple[Same, ...]:
    """Every such pair of variants, in plan order.

    Equal code is equal bytes, or equal but for the names of symbols. A pair whose commands, environments,
    processors or cache differ on any input does different things with the same code, and is not in the list.
    """
    return tuple(
        found
        for a, b in itertools.combinations(plan.variants, 2)
        if (found := _same(plan, a.id, b.id, builds)) is not None
    )


def same_cells(plan: Plan, builds: Mapping[str, Build]) -> Pairs:
    """All pairs of cells that run one program."""
    return frozenset(pair for found in same_programs(plan, builds) for pair in found.cells)


def _same(plan: Plan, one: str, other: str, builds: Mapping[str, Build]) -> Same | None:
    a, b = plan.variant(one), plan.variant(other)
    if a.build is None or b.build is None or a.build.id == b.build.id:
        return None
    first, second = cell_state.build_of(plan, one, builds), cell_state.build_of(plan, other, builds)
    if (
        first is None
        or second is None
        or not (first.ok and second.ok and equal_code(first, second))
    ):
        return None
    ours, theirs = (
        {c.input_id: c for c in plan.cells if c.variant_id == v and c.role is not Role.CONTROL}
        for v in (one, other)
    )
    shared = ours.keys() & theirs.keys()
    if not shared or any(work(ours[i]) != work(theirs[i]) for i in shared):
        return None
    mine, yours = dict(a.values), dict(b.values)
    differing = tuple(name for name in mine if mine[name] != yours.get(name))
    tried = tuple(
        key
        for experiment in plan.experiments
        if experiment.variant_id in (one, other)
        for key, _ in experiment.change
    )
    varying = {axis.name for axis in plan.axes if len(axis.values) > 1}
    where = " ".join(f"{n}={v}" for n, v in a.values if n in varying and n not in differing)
    cells = frozenset(frozenset((ours[i].id, theirs[i].id)) for i in shared)
    return Same(one, other, differing or tuple(dict.fromkeys(tried)), where, cells)


def equal_code(first: Build, second: Build) -> bool:
    """Whether two builds are one program: equal bytes, or equal but for the names of their symbols."""
    if first.sha256 is not None and first.sha256 == second.sha256:
        return True
    return first.code_sha256 is not None and first.code_sha256 == second.code_sha256


def work(cell: Cell) -> object:
    """All that a cell does beside the code that it runs and the input that it reads."""
    return (
        cell.command,
        cell.env,
        cell.cwd,
        cell.stdin,
        cell.prepare,
        cell.cleanup,
        cell.cpus,
        cell.cache,
        cell.shell,
    )


def told(comparison: Comparison, same: Pairs) -> Comparison:
    """A comparison of one program with itself: its figures stay, and it decides nothing."""
    if frozenset((comparison.cell_id, comparison.ref_cell_id)) not in same:
        return comparison
    if comparison.verdict.decided:
        return replace(comparison, verdict=Verdict.INCONCLUSIVE, reason=ONE_PROGRAM)
    if comparison.verdict in (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE):
        return replace(comparison, reason=ONE_PROGRAM)
    return comparison


def no_effect(found: Same) -> str:
    """``"parser has no effect on this program with engine=rayon"``."""
    what = " and ".join(found.axes) or "the change"
    verb = "have" if len(found.axes) > 1 else "has"
    return f"{what} {verb} no effect on this program" + (
        f" with {found.where}" if found.where else ""
    )


def claims(plan: Plan, builds: Mapping[str, Build]) -> Iterator[Claim]:
    """One claim per pair."""
    for found in same_programs(plan, builds):
        first, second = plan.variant(found.first).label, plan.variant(found.second).label
        yield Claim(
            "",
            "one-program",
            second,
            first,
            None,
            (),
            None,
            cells=tuple(sorted(cell for pair in found.cells for cell in pair)),
            values={"effect": no_effect(found)},
        )
