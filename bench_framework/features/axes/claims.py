"""Claims about the axes, in the order of their sections: effects, contributions, crossovers, fronts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.claims.factory import Costs, Names
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.axes import ContributionPart, Product
from bench_framework.model.facts.evidence import Adjustment, Evidence
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.result import structure
from bench_framework.model.result.judgement import Judgement, judged_pairs
from bench_framework.model.verdict import Direction
from bench_framework.text.numbers import is_factor

PAIR: Final = 2


class StructureClaims(Names):
    """Writer of the claims about the axes, without their text."""

    def __init__(self, plan: Plan, judgement: Judgement, costs: Costs) -> None:
        super().__init__(plan, judgement.states)
        self._costs = costs
        self._structure, self._looks = judgement.structure, judgement.looks
        self._direction: Direction = judgement.structure.direction
        self._pairs = judged_pairs(judgement.every)[plan.judge.headline]

    def write(self) -> Iterator[Claim]:
        """Yield the claims in the order of the report."""
        yield from map(self._replacement, self._structure.replacements)
        yield from map(self._crossing, self._structure.crossings)
        yield from map(self._effect, self._structure.effects)
        yield from map(self._contribution, self._structure.contributions)
        yield from map(self._front, self._structure.fronts)

    def _replacement(self, pair: structure.Replacement) -> Claim:
        (after, before), judged = pair.cells, self._pairs[pair.cells]
        return Claim(
            self.label(after),
            self.label(before),
            pair.metric,
            self.scope(pair.input_id),
            judged.verdict,
            rounds=judged.rounds,
            margin=self.plan.judge.margin_of(pair.metric),
            direction=self._direction,
            cells=(after, before),
            reason=judged.reason,
            fact=facts.BeforeAfter(
                changes=pair.changes,
                costs=self._costs.of_gain(judged.verdict, after, before, pair.metric),
            ),
        ).with_interval(judged.shown)

    def _effect(self, judged: structure.Effect) -> Claim:
        single = len(judged.changes) == 1
        first, last = judged.changes[0], judged.changes[-1]
        effects = [e for e in self._structure.effects if e.input_id == judged.input_id]
        in_percent = _in_percent(e.mean for e in effects)
        fact: facts.AxisEffect | facts.Interaction
        fact = facts.Interaction(pooled=judged.pooled, in_percent=in_percent)
        if single:
            fact = facts.AxisEffect(
                combinations=len(judged.cells),
                better=judged.better,
                worse=judged.worse,
                significant_in=judged.significant_in,
                pooled=judged.pooled,
                depends_on=_interacting_axes(judged, effects),
                costs=self._effect_costs(judged),
                in_percent=in_percent,
            )
        blank = Claim(
            f"{first.axis} {first.after}",
            first.before if single else f"{last.axis} {last.after}",
            judged.metric,
            self.scope(judged.input_id),
            judged.mean.verdict,
            cells=tuple(dict.fromkeys(i for cell in judged.cells for i in cell.cell_ids)),
            reason=judged.mean.reason if judged.pooled else None,
            fact=fact,
        )
        return self._judged(blank, judged.mean, self._structure.effect_family)

    def _effect_costs(self, judged: structure.Effect) -> tuple[Evidence, ...]:
        """Return the cost of a gain, judged in the combinations that contain the baseline."""
        if not judged.pooled or not judged.mean.verdict.better or judged.metric != WALL:
            return ()
        pairs = [cell.cell_ids for cell in judged.cells if len(cell.cell_ids) == PAIR]
        return next(filter(None, (self._costs.between(*pair) for pair in pairs)), ())

    def _judged(
        self, blank: Claim, contrast: structure.ContrastResult | None, family: int
    ) -> Claim:
        """Return the claim with the figures of a contrast if its interval can be printed."""
        claim = blank.with_interval(contrast.shown if contrast else None)
        adjust = Adjustment("holm", family, self._looks.count)
        return replace(
            claim,
            adjust=adjust if claim.estimate is not None else None,
            rounds=contrast.rounds if contrast else None,
            margin=self.plan.judge.margin_of(claim.metric or WALL),
            direction=self._direction,
        )

    def _contribution(self, table: structure.Contribution) -> Claim:
        contrasts = [*(s.contrast for s in table.steps), table.remainder]
        total, metric = table.total, table.metric
        product = remainder = None
        if any(c is not None and _has_result(c) for c in contrasts):
            # A product of inconclusive figures adds no information to the total.
            product = self._product(table)
            if table.remainder is not None and table.remainder.shown is not None:
                remainder = self._part("", table.remainder, metric)
        largest = None
        if table.largest is not None:
            step = table.steps[table.largest]
            largest = self._part(step.text, step.contrast, metric)
        parts = tuple(self._parts(table))
        start, end = table.start_cell_id, table.end_cell_id
        blank = Claim(
            self.label(end or start),
            self.label(start),
            metric,
            self.scope(table.input_id),
            total.verdict if total else None,
            cells=tuple(
                dict.fromkeys(i for i in (start, *(s.cell_id for s in table.steps), end) if i)
            ),
            reason=total.reason if total else None,
            fact=facts.Contributions(
                design=table.design,
                parts=parts,
                inconclusive=len(table.steps) - len(parts),
                in_percent=_in_percent([*contrasts, total]),
                product=product,
                remainder=remainder,
                largest=largest,
            ),
        )
        return self._judged(blank, total, self._structure.contribution_family)

    def _product(self, table: structure.Contribution) -> Product | None:
        """Return the product of the steps, `None` if one of them has no ratio.

        The medians of the steps need not multiply to the median of the total, even if the steps do
        so in every round. The rest is a factor, so that the result is the total of the table.
        """
        contrasts = (*(s.contrast for s in table.steps), table.total)
        intervals = [c.shown for c in contrasts if c is not None and c.shown is not None]
        if len(intervals) < len(contrasts):
            return None
        # The ratios are those of the values, regardless of which direction is better.
        higher = self._direction == "higher"
        *factors, total = (i.of_values(higher=higher) for i in intervals)
        left = None if table.remainder is not None else total.ratio
        return Product(factors=tuple(factors), total=left)

    def _parts(self, table: structure.Contribution) -> Iterator[ContributionPart]:
        """Yield the conclusive steps."""
        # If steps have opposite effects, a share may be below 0 % or above 100 %. The table shows
        # all shares together, but a single one of them in a sentence would mislead.
        shares = all(s.share is None or 0 <= s.share <= 1 for s in table.steps)
        for step in table.steps:
            if _has_result(step.contrast):
                stated = shares and step.contrast.verdict.settled
                pair = (step.cell_id or "", step.ref_cell_id or "")
                yield replace(
                    self._part(step.text, step.contrast, table.metric),
                    share=step.share if stated else None,
                    costs=self._costs.of_gain(step.contrast.verdict, *pair, table.metric),
                )

    def _part(
        self, change: str, contrast: structure.ContrastResult, metric: str
    ) -> ContributionPart:
        evidence = Evidence(
            change,
            metric=metric,
            verdict=contrast.verdict,
            margin=self.plan.judge.margin_of(metric),
            direction=self._direction,
            reason=contrast.reason,
        ).with_interval(contrast.shown)
        return ContributionPart(evidence=evidence)

    def _crossing(self, crossing: structure.Crossing) -> Claim:
        below, above = (
            self.plan.input(i).label for i in (crossing.below_input_id, crossing.above_input_id)
        )
        size = crossing.size_bytes
        return Claim(
            self.plan.variant(crossing.variant_id).label,
            self.plan.variant(crossing.ref_variant_id).label,
            crossing.metric,
            estimate=size,
            lo=crossing.lo_bytes,
            hi=crossing.hi_bytes,
            level=crossing.level if size is not None else None,
            rounds=crossing.rounds,
            cells=crossing.cell_ids,
            fact=facts.Crossover(below=below, above=above, family=self.plan.unit_family),
        )

    def _front(self, front: structure.Front) -> Claim:
        dominated = [s.cell_id for s in front.standings if not s.on_front]
        least = {m: [s.cell_id for s in front.standings if m in s.least] for m in front.metrics}
        costs = tuple(m for m in front.metrics if m in structure.MEASURED_COSTS)
        return Claim(
            self.plan.question,
            scope=self.scope(front.input_id),
            cells=tuple(s.cell_id for s in front.standings),
            fact=facts.ParetoFront(
                least=tuple((m, tuple(map(self.label, ids))) for m, ids in least.items() if ids),
                dominated=tuple(map(self.label, dominated)),
                better_in=costs or tuple(front.metrics),
            ),
        )


def _interacting_axes(
    judged: structure.Effect, effects: Sequence[structure.Effect]
) -> tuple[str, ...]:
    """Return the axes with which a main effect has a significant or unpooled interaction."""
    if not judged.mean.verdict.decided:
        return ()
    (level,) = judged.changes
    return tuple(
        dict.fromkeys(
            other.axis
            for e in effects
            if level in e.changes and (e.mean.verdict.decided or not e.pooled)
            for other in e.changes
            if other != level
        )
    )


def _in_percent(contrasts: Iterable[structure.ContrastResult | None]) -> bool:
    """Return whether a list of these contrasts must be in percent to have one scale."""
    ratios = [
        c.shown.ratio
        for c in contrasts
        if c is not None and c.shown is not None and c.verdict.decided
    ]
    large = [is_factor(ratio) for ratio in ratios]
    return any(large) and not all(large)


def _has_result(contrast: structure.ContrastResult) -> bool:
    return contrast.verdict.settled or contrast.reason == ONE_PROGRAM
