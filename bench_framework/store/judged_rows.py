"""Rows of ``comparisons.csv`` and ``derived.csv``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench_framework.model.judgement import Claim, Comparison, Derived, NoiseFloor
    from bench_framework.store.source import Configuration, Source


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A comparison with its cells and its claim."""

    source: Source
    at: Configuration
    reference: Configuration
    comparison: Comparison
    claim: Claim | None
    family_size: int
    floor: NoiseFloor | None
    scope: None = None
    adjust: str = "holm"


def comparison_rows(source: Source) -> Iterator[ComparisonRow]:
    """Yield one row per comparison, then one per pair of the best groups."""
    judgement = source.judgement
    assert judgement is not None
    claims = {
        kind: {(c.cells, c.metric): c for c in reversed(judgement.claims) if c.kind == kind}
        for kind in ("comparison", "reference", "contrast")
    }
    floors = {(floor.input_id, floor.metric): floor for floor in judgement.floors}
    headline = (c.cell_id for c in judgement.comparisons if c.family == "headline")
    sessions = Counter(source.cells[key].input.id for key in headline)
    pairs = (pair for group in judgement.best for pair in group.comparisons)
    for comparison in (*judgement.comparisons, *pairs):
        at, reference = source.cells[comparison.cell_id], source.cells[comparison.ref_cell_id]
        yield ComparisonRow(
            source,
            at,
            reference,
            comparison,
            _claim_of(claims.get(comparison.family, claims["comparison"]), comparison),
            # Each session of an imported set is a separate family.
            sessions[at.input.id] if source.contents.imported else judgement.looks.family,
            floors.get((at.input.id, comparison.metric)),
        )


def _claim_of(claims: Mapping[tuple[Any, ...], Claim], comparison: Comparison) -> Claim | None:
    both = (comparison.cell_id, comparison.ref_cell_id)
    for cells in (both, both[::-1], both[:1]):
        if (claim := claims.get((cells, comparison.metric))) is not None:
            return claim
    return None


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """A derived figure with its claim."""

    source: Source
    figure: Derived
    claim: Claim | None

    @property
    def input(self) -> str:
        """Label of the input."""
        return self.source.plan.input(self.figure.input_id).label


def derived_rows(source: Source) -> Iterator[DerivedRow]:
    """Yield one row per named cell and formula, grouped by input."""
    assert source.judgement is not None
    claims = iter([claim for claim in source.judgement.claims if claim.kind == "derived"])
    for figure in source.judgement.derived:
        yield DerivedRow(source, figure, next(claims) if figure.value is not None else None)
