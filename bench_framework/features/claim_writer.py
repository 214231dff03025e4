"""The claims of a judgement, in the order of the report."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.claims import metric_nouns, phrases
from bench_framework.claims.costs import Costs, other_metrics
from bench_framework.claims.factory import Facts, Names
from bench_framework.features import axis_dependence, sentences
from bench_framework.features.axes.claims import StructureClaims
from bench_framework.features.contrasts.claims import contrast_claims
from bench_framework.features.experiments.before_after import judged_pairs
from bench_framework.features.experiments.hypotheses import hypothesis_claims
from bench_framework.features.published.claims import published_claims
from bench_framework.features.race.claims import race_claims
from bench_framework.features.references.claims import gap_claims
from bench_framework.model.judgement import ONE_PROGRAM, Claim
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.verdict import Verdict
from bench_framework.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench_framework.model.judgement import BestGroup, Comparison, Judgement
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Build, Event, PreparedInput

LEAST_INPUTS: Final = 2
_KIND_OF_FAMILY: Final[Mapping[str, str]] = {
    "control": "control",
    "memory": "memory",
    "reference": "reference",
}
_REFUSED: Final = (Verdict.FAILED, Verdict.OTHER_OUTPUT, Verdict.NOT_COMPARABLE)
MOST_REASONS: Final = 3
"""The largest number of reasons in a sentence. The table has all of them."""


def claims_of(
    plan: Plan,
    judgement: Judgement,
    builds: Mapping[str, Build],
    inputs: Sequence[PreparedInput],
    noted: Sequence[Event] = (),
) -> tuple[Claim, ...]:
    """Return every sentence that the record supports, with its evidence, in the report's order.

    `noted` are the events of the execution. The trust line counts them together with the events of
    the judgement.
    """
    author = _Author(plan, judgement, builds, inputs, noted)
    numbered = (replace(claim, id=f"c{i}") for i, claim in enumerate(author.write(), 1))
    return tuple(replace(claim, text=sentences.say(claim)) for claim in numbered)


class _Author(Names):
    """Writer of the parts of a judgement as claims without text."""

    def __init__(
        self,
        plan: Plan,
        judgement: Judgement,
        builds: Mapping[str, Build],
        inputs: Sequence[PreparedInput],
        noted: Sequence[Event],
    ) -> None:
        super().__init__(plan, judgement.states)
        self._noted = noted
        self._judgement, self._builds = judgement, builds
        self._facts = Facts(plan, judgement, builds, inputs)
        self._sizes = {i.input_id: i.size_bytes for i in inputs}
        bases = {
            base.id for item in plan.inputs if (base := plan.baseline_cell(item.id)) is not None
        }
        first = [c for c in judgement.comparisons if c.ref_cell_id in bases]
        self._by_pair = {(c.cell_id, c.metric): c for c in first}
        """The comparison of each cell with the first baseline."""
        self._costs_of = Costs(judgement.comparisons)
        self._floors = {(f.input_id, f.metric): f for f in judgement.floors}

    def write(self) -> Iterator[Claim]:
        for group in self._judgement.best:
            yield self._main(group)
        yield from self._by_input()
        yield from self._costs()
        yield from axis_dependence.sign_changes(self, self._judgement.comparisons, self._sizes)
        yield from axis_dependence.rejected_experiments(
            self, self._judgement.comparisons, self._costs_of
        )
        yield self._facts.trust(self._noted)
        for group in self._judgement.best:
            yield from self._recommendation(group)
        yield from contrast_claims(self.plan, self._pairs_of, self._comparison)
        for comparison in self._judgement.comparisons:
            if comparison.family != "contrast":
                yield self._comparison(comparison)
        yield from map(self._facts.noise_floor, self._judgement.floors)
        yield from self._facts.write()
        yield from StructureClaims(self.plan, self._judgement, self._costs_of).write()
        yield from gap_claims(self, self._judgement.gaps, self._costs_of)
        yield from hypothesis_claims(self, self._judgement.hypotheses, self._costs_of)
        yield from race_claims(self, self._judgement, self._comparison)
        yield from published_claims(self.plan, self._judgement, self._builds)

    def _pairs_of(self, metric: str) -> dict[tuple[str, str], Comparison]:
        best = (c for group in self._judgement.best for c in group.comparisons)
        return judged_pairs((*self._judgement.comparisons, *best), metric)

    def _comparison(self, c: Comparison, kind: str | None = None) -> Claim:
        input_id = self.cells[c.cell_id].input_id
        floor = self._floors.get((input_id, c.metric))
        values: dict[str, float | int | str] = {}
        if c.reason:
            values["reason"] = c.reason
        if c.mde is not None:
            values["mde"] = c.mde
            if c.rounds_needed is not None:
                values["rounds_needed"] = c.rounds_needed
        cost = self._costs_of.phrase(c.verdict, c.cell_id, c.ref_cell_id, c.metric)
        if cost and c.family == "headline":
            values["cost"] = cost
        values |= metric_nouns.details(c)
        return Claim(
            id="",
            kind=kind or _KIND_OF_FAMILY.get(c.family, "comparison"),
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
        looks = self._judgement.looks
        if c.family in ("headline", "reference", "contrast"):
            return f"Holm over {looks.family} comparisons, {looks.count} looks"
        if c.family == "control":
            return f"as the first of {looks.family} comparisons, {looks.count} looks"
        return "Bonferroni" if c.family == "memory" else None

    def _main(self, group: BestGroup) -> Claim:
        scope, baseline = self.scope(group.input_id), self.plan.baseline_cell(group.input_id)
        blank = Claim(
            "",
            "nothing",
            self.plan.question,
            metric=group.metric,
            scope=scope,
            cells=group.cell_ids,
        )
        decided = [c for c in group.comparisons if c.verdict.settled]
        if not decided or baseline is None or not group.cell_ids:
            return replace(
                blank, values={"reason": self._inconclusive(group), **self._other_metrics(group)}
            )
        members = self.names(group.cell_ids)
        chosen = self._leading(group, baseline.id)
        if chosen is None:
            return replace(
                blank,
                kind="main",
                subject=self.label(baseline.id),
                values={"members": members, "count": len(group.cell_ids)},
            )
        claim = self._comparison(chosen, "main")
        compared = self._against(baseline.id, group.metric)
        counts = None
        if baseline.id in group.cell_ids and chosen in compared:
            counts = phrases.verdict_counts(compared)
        if counts is not None:
            return replace(
                claim,
                subject=self.label(baseline.id),
                reference=None,
                verdict=None,
                estimate=None,
                lo=None,
                hi=None,
                level=None,
                rounds=max(c.rounds for c in compared),
                runs=max(c.runs for c in compared),
                cells=tuple(
                    dict.fromkeys((baseline.id, *group.cell_ids, *(c.cell_id for c in compared)))
                ),
                values={
                    "members": members,
                    "count": len(group.cell_ids),
                    "counts": counts,
                    "compared": len(compared),
                },
            )
        values = {**claim.values, "members": members, "count": len(group.cell_ids)}
        cells = (*claim.cells, *(c for c in group.cell_ids if c not in claim.cells))
        return replace(claim, values=values, cells=cells)

    def _leading(self, group: BestGroup, baseline_id: str) -> Comparison | None:
        """Return the comparison that the main claim states, or `None` if none is conclusive.

        It is that of the first member, in plan order, that is significantly better than the
        baseline, if possible by more than the margin. The verdicts of a family are valid together,
        so a choice by verdict needs no further correction. A choice by estimate would need one. If
        no member is better, it is the first win over the baseline, or over any other variant, in
        the family of the best group. If the baseline is in the best group, it is the baseline's
        first conclusive comparison.
        """
        members = [self._by_pair.get((c, group.metric)) for c in group.cell_ids]
        better = [c for c in members if c is not None and c.verdict.better]
        if better:
            return next((c for c in better if c.verdict is Verdict.BETTER), better[0])
        if baseline_id not in group.cell_ids:
            won = [
                c
                for c in group.comparisons
                if c.verdict.decided
                and (c.cell_id in group.cell_ids) != (c.ref_cell_id in group.cell_ids)
            ]
            if won:
                over = (c for c in won if baseline_id in (c.cell_id, c.ref_cell_id))
                return next(over, won[0])
        return next(
            (c for c in self._against(baseline_id, group.metric) if c.verdict.settled), None
        )

    def _against(self, baseline_id: str, metric: str) -> list[Comparison]:
        """Return the comparisons with a baseline on the main metric, in plan order."""
        return [
            c
            for c in self._judgement.comparisons
            if c.ref_cell_id == baseline_id and c.metric == metric and c.family == "headline"
        ]

    def _by_input(self) -> Iterator[Claim]:
        """Yield one line with the best variants of every input, if there are several inputs."""
        groups = self._judgement.best
        conclusive = [g for g in groups if self._is_conclusive(g)]
        if len(groups) < LEAST_INPUTS or not conclusive:
            return
        members = {
            g.input_id: self.names(g.cell_ids) if self._is_conclusive(g) else self._nothing(g)
            for g in groups
        }
        each = "; ".join(
            f"{self.plan.input(g.input_id).label}: {members[g.input_id]}" for g in groups
        )
        several = any(len(g.cell_ids) > 1 for g in conclusive)
        text = f"best {'group ' if several else ''}by input: {each}"
        if len(set(members.values())) == 1:
            which = "best" if len(conclusive[0].cell_ids) == 1 else "best group"
            text = f"{which} on each of the {len(groups)} inputs: {members[groups[0].input_id]}"
        cells = tuple(cell for g in conclusive for cell in g.cell_ids)
        yield Claim(
            "",
            "best-by-input",
            self.plan.question,
            metric=conclusive[0].metric,
            cells=cells,
            values={"text": text},
        )

    @staticmethod
    def _is_conclusive(group: BestGroup) -> bool:
        return bool(group.cell_ids) and any(c.verdict.settled for c in group.comparisons)

    def _nothing(self, group: BestGroup) -> str:
        aspect = f" in {phrases.noun(group.metric)}" if self._other_metrics(group) else ""
        return f"nothing conclusive{aspect}"

    def _other_metrics(self, group: BestGroup) -> dict[str, str]:
        """Return the significant differences in CPU time or memory of an input."""
        text = other_metrics(
            c
            for (cell, metric), c in self._by_pair.items()
            if metric != group.metric
            and self.cells[cell].input_id == group.input_id
            and c.family != "control"
        )
        return {"elsewhere": text} if text else {}

    def _inconclusive(self, group: BestGroup) -> str:
        """Return why an input has no conclusive comparison."""
        floor = self._floors.get((group.input_id, group.metric))
        if floor is not None and floor.tripped:
            return "the A/A check failed: the control differs from the identical baseline"
        compared = [
            c
            for c in self._judgement.comparisons
            if c.metric == group.metric
            and c.family == "headline"
            and self.cells[c.cell_id].input_id == group.input_id
        ]
        compared = [c for c in compared if c.reason != ONE_PROGRAM] or compared
        if not compared:
            return "there is nothing to compare"
        if (
            compared[0].reason
            and len({c.reason for c in compared}) == 1
            and not any(c.verdict in _REFUSED for c in compared)
        ):
            return compared[0].reason
        reasons = [f"{self.label(c.cell_id)}: {c.reason}" for c in compared if c.reason]
        if reasons:
            more = (
                [f"and {len(reasons) - MOST_REASONS} more"] if len(reasons) > MOST_REASONS else []
            )
            return "; ".join([*reasons[:MOST_REASONS], *more])
        if not self._judgement.looks.decidable:
            rounds, needed = compared[0].rounds, self._judgement.looks.needed
            return f"{rounds} rounds are too few for a significant result; {needed} are needed"
        mde = max((c.mde for c in compared if c.mde is not None), default=None)
        if mde is None:
            return "no difference is significant"
        return phrases.detectable(format_percent(math.ceil(mde * 100) / 100))

    def _costs(self) -> Iterator[Claim]:
        """Yield the metrics that are worse for a variant with a better elapsed time."""
        families = ("headline", "memory", "exact")
        for c in self._by_pair.values():
            gain = self._by_pair.get((c.cell_id, WALL))
            pays = c.metric != WALL and c.family in families and c.verdict is Verdict.WORSE
            if pays and gain is not None and gain.verdict.better:
                yield self._comparison(c, "cost")

    def _recommendation(self, group: BestGroup) -> Iterator[Claim]:
        """Yield a recommendation with its costs, if a difference is significant."""
        if not group.cell_ids or not any(c.verdict.decided for c in group.comparisons):
            return
        if self.plan.revisions is not None:
            return  # Two revisions of one program are not a choice between variants.
        baseline = self.plan.baseline_cell(group.input_id)
        cells = group.cell_ids
        base_id = baseline.id if baseline is not None else ""
        percent = len(cells) > 1 and not self._costs_of.one_scale(cells, base_id)
        costs = {cell: self._costs_of.amounts(cell, base_id, percent=percent) for cell in cells}
        values: dict[str, float | int | str] = {
            "members": self.names(cells, costs),
            "count": len(cells),
        }
        if self._are_same(group):
            values["same"] = 1
        if baseline is not None:
            values |= self._tail(cells, costs, baseline.id)
        yield Claim(
            "",
            "recommendation",
            self.label(cells[0]),
            metric=group.metric,
            scope=self.scope(group.input_id),
            cells=cells,
            values=values,
        )

    def _are_same(self, group: BestGroup) -> bool:
        """Return whether every pair of the group was compared and no comparison is significant."""
        pairs = [
            c
            for c in (*group.comparisons, *self._judgement.comparisons)
            if c.metric == group.metric
            and c.cell_id in group.cell_ids
            and c.ref_cell_id in group.cell_ids
        ]
        without_difference = (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)
        return group.complete and all(c.verdict in without_difference for c in pairs)

    def _tail(
        self, cells: Sequence[str], costs: Mapping[str, str], baseline: str
    ) -> dict[str, str]:
        """Return what a recommendation states about the baseline."""
        if len(cells) > 1:
            if baseline in cells:
                return {"tail": f"{self.label(baseline)} is the baseline"}
            return (
                {"tail": f"costs are relative to {self.label(baseline)}"}
                if any(costs.values())
                else {}
            )
        if cells[0] == baseline:
            return {"tail": "it is the baseline, so no change is needed"}
        open_ = [
            phrases.noun(c.metric)
            for m in (CPU, PEAK_RSS)
            if (c := self._by_pair.get((cells[0], m))) is not None
            and c.verdict is Verdict.INCONCLUSIVE
        ]
        parts = [f"it costs {costs[cells[0]]} vs {self.label(baseline)}"] if costs[cells[0]] else []
        if open_:
            parts.append(f"inconclusive whether it costs {' or '.join(open_)}")
        return {"tail": "; ".join(parts)} if parts else {}
