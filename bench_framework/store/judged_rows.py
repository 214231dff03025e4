"""Rows of the tables of comparisons and derived figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench_framework.store import columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench_framework.model.judgement import Claim, Comparison
    from bench_framework.model.plan import Plan
    from bench_framework.store.rows import Row, Source


def comparison_rows(source: Source) -> Iterator[Row]:
    """Yield one row per comparison, then one per pair of the best groups."""
    judgement = source.judgement
    assert judgement is not None
    claims = {
        (claim.cells, claim.metric): claim
        for claim in reversed(judgement.claims)
        if claim.kind == "comparison"
    }
    further = {(c.cells, c.metric): c for c in judgement.claims if c.kind == "reference"}
    floors = {(floor.input_id, floor.metric): floor.fraction for floor in judgement.floors}
    pairs = (pair for group in judgement.best for pair in group.comparisons)
    for comparison in (*judgement.comparisons, *pairs):
        cell = source.plan.cell(comparison.cell_id)
        claim = _claim_of(further if comparison.family == "reference" else claims, comparison)
        yield columns.row_of(
            columns.COMPARISONS,
            comparison,
            **_places(source.plan, comparison),
            **_intervals(comparison),
            kind=comparison.family,
            adjust="holm",
            verdict=comparison.verdict.value,
            reason=comparison.reason or None,
            claim_id=claim.id if claim else None,
            text=claim.text if claim else None,
            family_size=judgement.looks.family,
            looks=judgement.looks.count,
            noise_floor=floors.get((cell.input_id, comparison.metric)),
        )


def derived_rows(source: Source) -> Iterator[Row]:
    """Yield one row per named cell and formula, grouped by input."""
    judgement = source.judgement
    assert judgement is not None
    claims = iter([claim for claim in judgement.claims if claim.kind == "derived"])
    for row in judgement.derived:
        claim = next(claims) if row.value is not None else None
        yield columns.row_of(
            columns.DERIVED,
            row,
            input=source.plan.input(row.input_id).label,
            claim_id=claim.id if claim else None,
            text=claim.text if claim else None,
        )


def _claim_of(claims: Mapping[tuple[Any, ...], Claim], comparison: Comparison) -> Claim | None:
    both = (comparison.cell_id, comparison.ref_cell_id)
    for cells in (both, both[::-1], both[:1]):
        if (claim := claims.get((cells, comparison.metric))) is not None:
            return claim
    return None


def _places(plan: Plan, comparison: Comparison) -> Row:
    cell, ref = plan.cell(comparison.cell_id), plan.cell(comparison.ref_cell_id)
    return {
        "variant": cell.label
        if cell.role.value == "control"
        else plan.variant(cell.variant_id).label,
        "ref_variant": plan.variant(ref.variant_id).label,
        "input": plan.input(cell.input_id).label,
        "scope": None,
    }


def _intervals(comparison: Comparison) -> Row:
    row: Row = {"level": comparison.shown.level if comparison.shown else None}
    for prefix, interval in (
        ("", comparison.shown),
        ("typical_", comparison.typical),
        ("floor_", comparison.floor),
    ):
        for name in ("ratio", "lo", "hi"):
            row[prefix + name] = getattr(interval, name) if interval else None
    return row
