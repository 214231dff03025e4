"""The claim about a comparison, with its cost and the noise floor of its input."""

from typing import Final

from bench_framework.claims import metric_nouns
from bench_framework.claims.costs import Costs
from bench_framework.claims.factory import Names
from bench_framework.model.judgement import Claim, Comparison, Judgement
from bench_framework.model.plan import Plan

_KINDS: Final = ("control", "memory", "reference")
"""Families that are also kinds of claims. Claims about all others are of the kind `comparison`."""


class ComparisonClaims(Names):
    """Writer of claims about comparisons, without their text."""

    def __init__(self, plan: Plan, judgement: Judgement) -> None:
        super().__init__(plan, judgement.states)
        self.judgement = judgement
        self.costs = Costs(judgement.comparisons)
        self.floors = {(f.input_id, f.metric): f for f in judgement.floors}

    def comparison(self, c: Comparison, kind: str | None = None) -> Claim:
        """Return the claim about a comparison.

        Its figures are those of the adjusted interval. If the comparison has a typical ratio with
        an unadjusted 95 % interval, `values` contains it, and sentences print it.
        """
        input_id = self.cells[c.cell_id].input_id
        floor = self.floors.get((input_id, c.metric))
        values: dict[str, float | int | str] = {}
        if c.reason:
            values["reason"] = c.reason
        if c.mde is not None:
            values["mde"] = c.mde
            if c.rounds_needed is not None:
                values["rounds_needed"] = c.rounds_needed
        cost = self.costs.phrase(c.verdict, c.cell_id, c.ref_cell_id, c.metric)
        if cost and c.family == "headline":
            values["cost"] = cost
        values |= metric_nouns.details(c) | metric_nouns.typical(c)
        return Claim(
            id="",
            kind=kind or (c.family if c.family in _KINDS else "comparison"),
            subject=self.label(c.cell_id),
            reference=self.label(c.ref_cell_id),
            metric=c.metric,
            scope=self.scope(input_id),
            verdict=c.verdict,
            adjust=self._adjust(c),
            rounds=c.rounds,
            runs=c.runs,
            margin=c.margin,
            noise_floor=floor.fraction if floor else None,
            cells=(c.cell_id, c.ref_cell_id),
            values=values,
        ).with_interval(c.shown)

    def _adjust(self, c: Comparison) -> str | None:
        looks = self.judgement.looks
        if c.family in ("headline", "reference", "contrast"):
            return f"Holm over {looks.family} comparisons, {looks.count} looks"
        if c.family == "control":
            return f"as the first of {looks.family} comparisons, {looks.count} looks"
        return "Bonferroni" if c.family == "memory" else None
