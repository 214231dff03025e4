"""Variants that are one program (`docs/method.md#one-program-under-two-names`)."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bench_framework.model.facts import Claim, OneProgram
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.plan.planned_comparisons import baseline_pairs
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.record.run import Build
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Verdict

Pairs = frozenset[frozenset[str]]
"""Pairs of cell ids."""


@dataclass(frozen=True, slots=True)
class SameProgram:
    """Two variants with different build settings, equal code and equal commands.

    Attributes:
        first: variant id, the earlier one in the plan.
        fact: the settings that have no effect on the program.
        cells: pairs of cell ids, one for each input on which both are measured.
    """

    first: str
    second: str
    fact: OneProgram
    cells: Pairs


def same_programs(plan: Plan, builds: Mapping[str, Build]) -> tuple[SameProgram, ...]:
    """Return every pair of variants that is the same program, in plan order.

    Code is equal if the bytes are equal, or equal except for the names of symbols. A pair is left
    out if its commands, environments, processors or caches differ on any input.
    """
    pairs = [
        pair
        for a, b in itertools.combinations(plan.variants, 2)
        if (pair := _same_program(plan, a.id, b.id, builds)) is not None
    ]
    known = {frozenset((pair.first, pair.second)) for pair in pairs}

    def values(pair: SameProgram) -> tuple[str, ...]:
        """Return the values of both variants if a third value of their axes differs."""
        first, second = (dict(plan.variant(v).values) for v in (pair.first, pair.second))
        third = [
            v.id
            for v in plan.variants
            if v.id != pair.first
            and all(dict(v.values).get(n) == x for n, x in first.items() if n not in pair.fact.axes)
        ]
        if first == second or all(frozenset((pair.first, v)) in known for v in third):
            return ()
        return tuple(" ".join(f"{n}={side[n]}" for n in pair.fact.axes) for side in (first, second))

    return tuple(replace(p, fact=replace(p.fact, values=values(p))) for p in pairs)


def same_cells(plan: Plan, builds: Mapping[str, Build]) -> Pairs:
    """Return all pairs of cells that run the same program."""
    whole = frozenset(pair for same in same_programs(plan, builds) for pair in same.cells)
    if plan.benches is None or len(plan.benches.targets) == 1:
        return whole
    return whole | frozenset(_same_targets(plan, builds))


def _same_targets(plan: Plan, builds: Mapping[str, Build]) -> Iterator[frozenset[str]]:
    """Yield the pairs of a candidate and its baseline whose bench targets have equal code."""
    for cell, baseline in (p for item in plan.inputs for p in baseline_pairs(plan, item.id)):
        # A self-test of a gate compares one build with itself, in order to measure it.
        if work(cell) != work(baseline) or plan.build_id(cell) == plan.build_id(baseline):
            continue
        if _equal_cells(plan, cell, baseline, builds):
            yield frozenset((cell.id, baseline.id))


def _same_program(
    plan: Plan, one: str, other: str, builds: Mapping[str, Build]
) -> SameProgram | None:
    a, b = plan.variant(one), plan.variant(other)
    if a.build is None or b.build is None or a.build.id == b.build.id:
        return None
    ours, theirs = (
        {c.input_id: c for c in plan.cells if c.variant_id == v and c.role is not Role.CONTROL}
        for v in (one, other)
    )
    shared = ours.keys() & theirs.keys()
    if not shared or any(work(ours[i]) != work(theirs[i]) for i in shared):
        return None
    if not all(_equal_cells(plan, ours[i], theirs[i], builds) for i in shared):
        return None
    yours = dict(b.values)
    differing = tuple(name for name, value in a.values if value != yours.get(name))
    tried = (e.change for e in plan.experiments if e.variant_id in (one, other))
    changed = dict.fromkeys(key for key, _ in itertools.chain.from_iterable(tried))
    varying = {axis.name for axis in plan.axes if len(axis.values) > 1}
    where = " ".join(f"{n}={v}" for n, v in a.values if n in varying and n not in differing)
    cells = frozenset(frozenset((ours[i].id, theirs[i].id)) for i in shared)
    built = not (a.build.installed and b.build.installed)
    fact = OneProgram(axes=differing or tuple(changed), where=where, built=built)
    return SameProgram(one, other, fact, cells)


def _equal_cells(plan: Plan, one: Cell, other: Cell, builds: Mapping[str, Build]) -> bool:
    """Return whether two cells run builds of equal code."""
    first, second = (builds.get(plan.build_id(cell)) for cell in (one, other))
    return bool(first and second and first.ok and second.ok and equal_code(first, second))


def equal_code(first: Build, second: Build) -> bool:
    """Return whether builds are equal except for names of symbols, with the same preload."""
    ours, theirs = first.preload, second.preload
    if (ours and ours.sha256) != (theirs and theirs.sha256):
        return False
    if first.files_sha256 or second.files_sha256:  # the file may be the same interpreter
        return first.files_sha256 == second.files_sha256
    if first.sha256 is not None and first.sha256 == second.sha256:
        return True
    return first.code_sha256 is not None and first.code_sha256 == second.code_sha256


def work(cell: Cell) -> object:
    """Return everything that determines a run of a cell except its code and its input."""
    program = (cell.command, cell.shell, cell.prepare, cell.cleanup, cell.server)
    return (program, cell.env, cell.cwd, cell.stdin, cell.cpus, cell.cache)


def without_verdict(comparison: Comparison, same: Pairs) -> Comparison:
    """Return a comparison without a verdict if both sides run the same program."""
    if frozenset((comparison.cell_id, comparison.ref_cell_id)) not in same:
        return comparison
    if comparison.verdict.decided:
        return replace(comparison, verdict=Verdict.INCONCLUSIVE, reason=ONE_PROGRAM)
    if comparison.verdict in (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE):
        return replace(comparison, reason=ONE_PROGRAM)
    return comparison


def claims(plan: Plan, builds: Mapping[str, Build]) -> Iterator[Claim]:
    """Yield one claim for every pair of variants that is the same program."""
    for same in same_programs(plan, builds):
        first, second = plan.variant(same.first).label, plan.variant(same.second).label
        cells = tuple(sorted(cell for pair in same.cells for cell in pair))
        yield Claim(second, first, cells=cells, fact=same.fact)
