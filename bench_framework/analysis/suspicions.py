"""What the runs say of suspected causes, and what follows from measured figures for others. Plain Python.

A cause is shown, refuted or left open by one comparison of two variants that differ in one thing (REPORTS R10); no
comparison is made for it: the verdict is that of the results.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.analysis.before_after import judged_pairs
from bench_framework.analysis.derived import derived_rows
from bench_framework.model.judgement import ONE_PROGRAM
from bench_framework.model.plan import DerivedRow, Role
from bench_framework.model.suspicion import UNTESTED, Cause, Projection
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench_framework.analysis.samples import Sample
    from bench_framework.model.judgement import Comparison
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import PreparedInput
    from bench_framework.model.suspicion import CauseStatus, Suspicion

_BETTER: Final = frozenset({Verdict.BETTER, Verdict.BETTER_SIZE_OPEN})
_WORSE: Final = frozenset({Verdict.WORSE, Verdict.WORSE_SIZE_OPEN})


def causes(plan: Plan, comparisons: Sequence[Comparison]) -> tuple[Cause, ...]:
    """Every suspicion on every input; one that nothing tests once.

    Args:
        plan: with the suspicions.
        comparisons: every one that was judged, those of the best groups too.
    """
    by_pair = judged_pairs(comparisons, plan.judge.headline)
    return tuple(found for suspicion in plan.causes for found in _found(plan, suspicion, by_pair))


def _found(
    plan: Plan, suspicion: Suspicion, by_pair: Mapping[tuple[str, str], Comparison]
) -> Iterator[Cause]:
    if not suspicion.change:
        yield Cause(suspicion.suspected, plan.inputs[0].id, "untested", reason=UNTESTED)
        return
    for item in plan.inputs:
        cells = {c.variant_id: c.id for c in plan.cells_of(item.id) if c.role is not Role.CONTROL}
        cell, reference = (cells.get(v, "") for v in (suspicion.variant_id, suspicion.ref_variant_id))
        blank = Cause(suspicion.suspected, item.id, "untested", suspicion.change, cell, reference)
        comparison = by_pair.get((cell, reference))
        if comparison is None:
            yield replace(blank, reason="this record does not compare the two")
            continue
        status = _status(comparison, suspicion)
        yield replace(
            blank,
            status=status,
            verdict=comparison.verdict,
            shown=comparison.shown if status != "untested" else None,
            statistic=comparison.statistic,
            direction=comparison.direction,
            rounds=comparison.rounds,
            reason=comparison.reason,
        )


def _status(comparison: Comparison, suspicion: Suspicion) -> CauseStatus:
    """R10: shown by a decided verdict the expected way, refuted by one the other way and by equivalence."""
    verdict = comparison.verdict
    expected, other = (_BETTER, _WORSE) if suspicion.expect == "better" else (_WORSE, _BETTER)
    if verdict in expected:
        return "shown"
    if verdict in other or verdict is Verdict.EQUIVALENT:
        return "refuted"
    tested = verdict is Verdict.UNDECIDED and comparison.reason != ONE_PROGRAM
    return "not shown" if tested else "untested"


def projections(
    plan: Plan, samples: Mapping[str, Sample], inputs: Sequence[PreparedInput], usable: frozenset[str]
) -> tuple[Projection, ...]:
    """Every projection on every input, worked out as derived rows are; arguments as `derived_rows`."""
    if not plan.projections:
        return ()
    wanted = {row.name: row for row in plan.projections}
    own = tuple(DerivedRow(row.name, row.formula) for row in plan.projections)
    rows = derived_rows(replace(plan, derived=(*plan.derived, *own)), samples, inputs, usable)
    measured = {(r.input_id, r.name): r for r in rows if r.measured and r.value is not None}
    found = []
    for row in rows:
        if row.measured or row.name not in wanted:
            continue
        asked = wanted[row.name]
        by = measured.get((row.input_id, asked.cell))
        made = Projection(
            row.input_id, row.name, row.formula, asked.assuming, row.unit, row.cell_ids, row.rounds,
            row.value, row.lo, row.hi,
        )  # fmt: skip
        if by is not None:
            made = replace(made, cell_ids=by.cell_ids, value=None, lo=None, hi=None, measured=asked.cell)
        found.append(made)
    return tuple(found)
