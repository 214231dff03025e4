"""The cost of a race and the winner over each dropped cell, with their claims and sentences."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bench_framework.claims.factory import ComparisonClaims, is_counted
from bench_framework.compare.samples import Sample
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Look
from bench_framework.model.result.judgement import BestGroup, Comparison, Judgement
from bench_framework.model.result.race import Lost, Race


def race_of(
    plan: Plan,
    samples: Mapping[str, Sample],
    looks: Sequence[Look],
    best: Sequence[BestGroup],
    headline: Sequence[Comparison],
) -> Race | None:
    """Return the race of a record, or `None` if its strategy is not a race."""
    if plan.measure.strategy != "race":
        return None
    left = {cell_id for look in looks for cell_id in look.dropped}
    beaten = {cell_id for look in looks for cell_id in look.trailing}
    comparisons = [c for c in (*best_pairs(best), *headline) if c.verdict.worse]
    groups = {cell_id for group in best for cell_id in group.cell_ids}
    order = [cell.id for cell in plan.cells]
    lost = []
    for cell_id in (c for c in order if c in left and c in samples):
        winners = {c.ref_cell_id for c in comparisons if c.cell_id == cell_id and cell_id in beaten}
        winner = min(winners, key=lambda c: (c not in groups, order.index(c)), default=None)
        lost.append(Lost(cell_id, samples[cell_id].rounds, cell_id in beaten, winner))
    most = plan.measure.rounds_max
    if plan.measure.budget_s is not None:  # the budget may not have allowed so many
        most = max((sample.rounds for sample in samples.values()), default=0)
    per_block = [list(samples[cell.id].runs.values()) for cell in plan.cells if cell.id in samples]
    # The runs in each block of a cell are fixed after the warm-up.
    fixed = sum(most * round(statistics.median(runs or [1])) for runs in per_block)
    runs = sum(map(sum, per_block))
    return Race(runs, fixed, most, tuple(lost))


def best_pairs(best: Sequence[BestGroup]) -> tuple[Comparison, ...]:
    """Return every pair of the best groups' families, in both orders."""
    return tuple(c for group in best for pair in group.comparisons for c in (pair, pair.mirrored()))


def race_claims(at: ComparisonClaims, judgement: Judgement) -> Iterator[Claim]:
    """Yield the cost of the race, then one claim for every cell that it dropped."""
    race = judgement.race
    if race is None:
        return
    yield Claim(
        cells=tuple(lost.cell_id for lost in race.lost),
        fact=facts.RaceCost(
            runs=race.runs,
            fixed=race.fixed,
            rounds=race.rounds,
            dropped=sum(lost.beaten for lost in race.lost),
            idle=sum(not lost.beaten for lost in race.lost),
        ),
    )
    raced = next((group.metric for group in judgement.best), None)
    pairs = {
        (c.cell_id, c.ref_cell_id): c
        for c in (*best_pairs(judgement.best), *judgement.comparisons)
        if c.verdict.decided and (c.family == "best" or c.metric == raced)
    }
    sizes = {group.input_id: len(group.comparisons) for group in judgement.best}
    for lost in race.lost:
        pair = pairs.get((lost.cell_id, lost.to_cell_id or ""))
        input_id = at.cells[lost.cell_id].input_id
        fact = facts.RaceDropped(after=lost.round)
        if pair is None:
            yield Claim(
                at.label(lost.cell_id),
                scope=at.scope(input_id),
                rounds=lost.round,
                cells=(lost.cell_id,),
                fact=fact if lost.beaten else facts.RaceIdle(after=lost.round),
            )
            continue
        costs, counted = at.headline_costs(pair), is_counted(pair)
        claim = at.claim(pair, replace(fact, costs=costs, counted=counted))
        if pair.family == "best":
            adjust = facts.Adjustment("holm", sizes[input_id], judgement.looks.count)
            claim = replace(claim, adjust=adjust)
        yield claim
