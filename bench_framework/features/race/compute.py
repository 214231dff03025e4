"""The cost of a race and the winner over each dropped cell, with their claims and sentences."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.claims.factory import Names
from bench_framework.claims.value_phrases import where
from bench_framework.compare.samples import Sample
from bench_framework.model.judgement import BestGroup, Claim, Comparison, Judgement
from bench_framework.model.plan import Plan
from bench_framework.model.race import Lost, Race
from bench_framework.model.run import Look
from bench_framework.units import format_percent

ClaimWriter = Callable[[Comparison], Claim]
"""A function that returns the claim of kind ``comparison`` for a comparison."""
DONE: Final = (
    "no result within the remaining rounds could drop it, and no comparison still needed it"
)


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
    comparisons = [*best_pairs(best), *headline]
    groups = {cell_id for group in best for cell_id in group.cell_ids}
    order = [cell.id for cell in plan.cells]
    lost = []
    for cell_id in (c for c in order if c in left and c in samples):
        winners = {c.ref_cell_id for c in comparisons if c.cell_id == cell_id and c.verdict.worse}
        ranked = sorted(winners, key=lambda c: (c not in groups, order.index(c)))
        beaten = any(cell_id in look.trailing for look in looks)
        lost.append(
            Lost(cell_id, samples[cell_id].rounds, beaten, ranked[0] if ranked and beaten else None)
        )
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


def race_claims(names: Names, judgement: Judgement, write_claim: ClaimWriter) -> Iterator[Claim]:
    """Yield the cost of the race, then one claim for every cell that it dropped."""
    race = judgement.race
    if race is None:
        return
    yield Claim(
        "",
        "race",
        "this race",
        cells=tuple(lost.cell_id for lost in race.lost),
        values={
            "runs": race.runs,
            "fixed": race.fixed,
            "rounds": race.rounds,
            "dropped": sum(lost.beaten for lost in race.lost),
            "idle": sum(not lost.beaten for lost in race.lost),
        },
    )
    raced = next((group.metric for group in judgement.best), None)
    pairs = {
        (c.cell_id, c.ref_cell_id): c
        for c in (*best_pairs(judgement.best), *judgement.comparisons)
        if c.verdict.decided and (c.family == "best" or c.metric == raced)
    }
    for lost in race.lost:
        pair = pairs.get((lost.cell_id, lost.to_cell_id or ""))
        yield _lost(names, lost, pair, judgement, write_claim)


def _lost(
    names: Names,
    lost: Lost,
    pair: Comparison | None,
    judgement: Judgement,
    write_claim: ClaimWriter,
) -> Claim:
    if pair is None:
        return Claim(
            "",
            "dropped" if lost.beaten else "idle",
            names.label(lost.cell_id),
            scope=names.scope(names.cells[lost.cell_id].input_id),
            rounds=lost.round,
            cells=(lost.cell_id,),
            values={"after": lost.round},
        )
    claim = write_claim(pair)
    values = {**claim.values, "after": lost.round}
    if pair.family == "best":
        input_id = names.cells[pair.cell_id].input_id
        size = next(len(g.comparisons) for g in judgement.best if g.input_id == input_id)
        claim = replace(claim, adjust=f"Holm over {size} pairs, {judgement.looks.count} looks")
    return replace(claim, kind="dropped", values=values)


def race(claim: Claim) -> str:
    """Return what the race cost.

    Example: ``"the race took 612 runs, 41 % of the 1500 runs of all configurations for 60 rounds:
    9 dropped"``.
    """
    runs, fixed = int(claim.values["runs"]), int(claim.values["fixed"])
    share = f"{format_percent(runs / fixed, decimals=0)} of" if fixed else "of"
    full = f"the {fixed} runs of all configurations for {claim.values['rounds']} rounds"
    ends = (("dropped", "dropped"), ("idle", "finished early"))
    counts = (f"{claim.values[name]} {words}" for name, words in ends if claim.values[name])
    outcome = ", ".join(counts) or "no configuration stopped early"
    return f"the race took {runs} runs, {share} {full}: {outcome}"


def after(claim: Claim) -> str:
    """Return when a configuration was dropped: ``"dropped after 18 rounds"``."""
    return f"dropped after {claim.values['after']} rounds"


def idle(claim: Claim) -> str:
    """Return when a configuration finished early without being dropped."""
    return f"{where(claim)}{claim.subject} finished after {claim.values['after']} rounds: {DONE}"
