"""Rows of the tables of results: comparisons, derived figures, effects and contributions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench_framework.model.judgement import Claim, Comparison, Derived, NoiseFloor
    from bench_framework.model.structure import Change, Contrast, Contribution, Effect, EffectCell
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


@dataclass(frozen=True, slots=True)
class EffectRow:
    """An effect, or its contrast in one of its cells."""

    source: Source
    table: Effect
    contrast: Contrast
    claim: Claim | None = None
    cell: EffectCell | None = None
    """Combination of the other axes, `None` for the mean over all of them."""

    @property
    def input(self) -> str:
        """Label of the input."""
        return self.source.plan.input(self.table.input_id).label

    @property
    def mean(self) -> Effect | None:
        """The effect, `None` in the row of a cell."""
        return None if self.cell else self.table

    @property
    def kind(self) -> str:
        """Text such as ``main`` or ``interaction-cell``."""
        kind = "main" if len(self.table.changes) == 1 else "interaction"
        return f"{kind}-cell" if self.cell else kind

    @property
    def cells(self) -> int | None:
        """Number of cells of the mean, `None` in the row of a cell."""
        return None if self.cell else len(self.table.cells)

    @property
    def first(self) -> Change:
        """Change of the first axis."""
        return self.table.changes[0]

    @property
    def second(self) -> Change | None:
        """Change of the second axis of an interaction."""
        return self.table.changes[-1] if len(self.table.changes) > 1 else None


def effect_rows(source: Source) -> Iterator[EffectRow]:
    """Yield one row per effect, followed by the rows of its cells."""
    assert source.judgement is not None
    effects = source.judgement.structure.effects
    for effect, claim in _with_claims(effects, source, "effect", "interaction"):
        yield EffectRow(source, effect, effect.mean, claim)
        for cell in effect.cells:
            yield EffectRow(source, effect, cell.contrast, cell=cell)


@dataclass(frozen=True, slots=True)
class ContributionRow:
    """A step of a table of contributions, its remainder, or its total."""

    source: Source
    table: Contribution
    step: str
    contrast: Contrast
    share: float | None
    cell_id: str | None = None
    change: str = ""
    claim: Claim | None = None

    @property
    def input(self) -> str:
        """Label of the input."""
        return self.source.plan.input(self.table.input_id).label

    @property
    def start(self) -> str:
        """Label of the variant without the changes."""
        return self.source.cells[self.table.start_cell_id].variant.label

    @property
    def end(self) -> str | None:
        """Label of the variant with all changes."""
        end = self.table.end_cell_id
        return self.source.cells[end].variant.label if end else None


def contribution_rows(source: Source) -> Iterator[ContributionRow]:
    """Yield one row per step, then the remainder if there is one, and the total."""
    assert source.judgement is not None
    contributions = source.judgement.structure.contributions
    for table, claim in _with_claims(contributions, source, "contributions"):
        numbered = [(str(n), step) for n, step in enumerate(table.steps, 1)]
        for name, step in (*numbered, *(("beyond", step) for step in table.beyond)):
            change = ", ".join(c.text for c in step.changes)
            yield ContributionRow(
                source, table, name, step.contrast, step.share, step.cell_id, change
            )
        if table.remainder is not None:
            yield ContributionRow(source, table, "interaction", table.remainder, table.unexplained)
        if table.total is not None:
            share = 1.0 if table.unexplained is not None else None
            end = table.end_cell_id
            yield ContributionRow(source, table, "total", table.total, share, end, claim=claim)


def _with_claims(
    items: Sequence[Any], source: Source, *kinds: str
) -> Iterator[tuple[Any, Claim | None]]:
    """Return the items with their claims. Both are in the order of the judgement."""
    assert source.judgement is not None
    claims = [c for c in source.judgement.claims if c.kind in kinds]
    return zip(items, claims if len(claims) == len(items) else [None] * len(items), strict=True)
