"""The pairs of an input, judged by the looks taken so far; and whether to go on measuring.

`judge` and the stopping rule share this module, so that what the live table shows is what the
report will say of the same rounds.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from bench_framework.compare import cache_states, cell_state, same_programs, stopping
from bench_framework.compare import samples as sampling
from bench_framework.compare.inverse import mirrored
from bench_framework.compare.paired_test import Levels, examine_looks
from bench_framework.compare.stage import Stage
from bench_framework.compare.verdict import Case, Rules, judge_family
from bench_framework.model.judgement import ONE_PROGRAM, BestGroup, Comparison, NoiseFloor
from bench_framework.model.looks import Looks, looks_of
from bench_framework.model.metrics import is_exact
from bench_framework.model.plan import Role
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bench_framework.compare.stage import Asked, Request
    from bench_framework.model.plan import Cell, Plan
    from bench_framework.model.run import Block, Build

CONTROL_TRIPPED: Final = "control tripped"
BEFORE_FIRST: Final = "before the first look"
Family = Literal["headline", "control", "best"]
_REFUSED: Final = frozenset({"failed", "other-output", "not-comparable"})


@dataclass(frozen=True, slots=True)
class LookOutcome:
    """What a look says while measuring.

    Attributes:
        stop: whether this input needs no more rounds.
        reason: why, in words; also set where it goes on.
        verdicts: headline comparisons of the input as they stand, in plan order.
        trailing: with ``strategy: race`` the cells that are worse than another one (`model.race` says what
            becomes of them).
        idle: likewise those that no other one beats, and that no open question waits for.
    """

    stop: bool
    reason: str
    verdicts: tuple[Comparison, ...]
    trailing: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()


def look(
    plan: Plan,
    blocks: Iterable[Block],
    input_id: str,
    index: int,
    round_: int,
    *,
    builds: Mapping[str, Build] | None = None,
) -> LookOutcome:
    """The verdicts of one input at a look, and whether its measuring may stop.

    Args:
        plan: what is measured.
        blocks: so far; those of other inputs are ignored.
        input_id: which input.
        index: of the look, from 0.
        round_: the round reached; earlier looks are taken where the plan has them.
        builds: what the workers say of their axes and metrics.
    """
    looks = looks_of(plan)
    cells = {cell.id for cell in plan.cells_of(input_id)}
    of_input = [block for block in blocks if block.cell_id in cells]
    samples = sampling.collect(of_input, cache_states.needed(plan))
    reached = (*(n for n in looks.rounds[:index] if n < round_), round_)
    found = cell_state.cell_states(plan, samples, builds or {}, sampling.warm_ups(of_input))
    usable = frozenset(s.cell_id for s in found if s.state == "measured")
    stage = Stage(
        plan,
        looks,
        samples,
        reached,
        index,
        usable,
        higher=cell_state.higher_is_better(plan, builds or {}),
        seed=plan.measure.seed,
        thorough=False,
        same=same_programs.same_cells(plan, builds or {}),
    )
    own = _by_rounds(headline_pairs(stage, input_id))
    judged = judge_pairs([*own, *_by_rounds(reference_pairs(stage, input_id))], "headline")
    refused = {s.cell_id for s in found if s.state in _REFUSED}
    comparable = [
        c for c in judged if not {c.cell_id, c.ref_cell_id} & refused and c.reason != ONE_PROGRAM
    ]
    behind: tuple[str, ...] = ()
    racing = plan.measure.strategy == "race" and not _tripped(stage, input_id)
    if racing:
        group = best_group(stage, input_id, headline=judged)
        behind = stopping.trailing(stage, group)
        comparable = stopping.contested(stage, comparable, group, behind)
    open_ = stopping.open_pairs(stage, comparable)
    stop, reason = stopping.decide(stage, comparable, open_, index)
    idle = stopping.idle(stage, input_id, open_, behind) if racing else ()
    return LookOutcome(stop, reason, judged[: len(own)], behind, idle)


def _tripped(stage: Stage, input_id: str) -> bool:
    """Whether the control arm has a verdict: then nobody leaves on the strength of such rounds."""
    return any(c.verdict.decided for c in judge_pairs(control_pairs(stage, input_id), "control"))


def _by_rounds(requests: Sequence[Request]) -> list[Request]:
    """Without deterministic metrics: no round adds anything to them."""
    return [request for request in requests if not is_exact(request[1][2])]


def reference_pairs(stage: Stage, input_id: str) -> list[Request]:
    """Candidate against each further reference, for every judged metric, in plan order."""
    return [
        (stage, (cell, reference, metric))
        for cell, reference in stage.plan.reference_pairs(input_id)
        for metric in stage.plan.judge.metrics
    ]


def headline_pairs(stage: Stage, input_id: str) -> list[Request]:
    """Candidate against baseline, for every judged metric, in plan order."""
    baseline = stage.plan.baseline_cell(input_id)
    if baseline is None:
        return []
    return [
        (stage, (cell, baseline, metric))
        for cell in stage.plan.cells_of(input_id)
        if cell.role is Role.CANDIDATE
        for metric in stage.plan.judge.metrics
    ]


def control_pairs(stage: Stage, input_id: str) -> list[Request]:
    """The control arm against the baseline."""
    baseline, control = stage.plan.baseline_cell(input_id), stage.plan.control_cell(input_id)
    if baseline is None or control is None:
        return []
    return [(stage, (control, baseline, metric)) for metric in stage.plan.judge.sampled]


def resolution(plan: Plan, looks: Looks, taken: int) -> Levels:
    """The range that swaps must resolve: equal for all families of a plan, so that a pair has one p."""
    judged = max(looks.count, taken, 1)
    widest = max(looks.family, 1, *(pairs_of(_best_cells(plan, item.id)) for item in plan.inputs))
    level = plan.judge.level
    return Levels(strict=level / (judged * widest), loose=level / judged)


def pairs_of(cells: Sequence[Cell]) -> int:
    """K(K − 1)/2."""
    return len(cells) * (len(cells) - 1) // 2


def judge_pairs(
    requests: Sequence[Request], family: Family, *, size: int | None = None
) -> tuple[Comparison, ...]:
    """Comparisons of the pairs of one family, in the order given.

    The control arm is judged by itself with the divisor M: as strictly as the first step of Holm
    judges a candidate, and outside the family.

    Args:
        requests: pairs, each with the stage of its input.
        family: what they are judged for.
        size: M of the family; the plan's by default.
    """
    stages = {id(stage): stage for stage, _ in requests}
    levels = {key: resolution(s.plan, s.looks, len(s.reached)) for key, s in stages.items()}
    cases = {
        i: case
        for i, (stage, asked) in enumerate(requests)
        if (case := _case(stage, asked, family, levels[id(stage)]))
    }
    found: dict[int, Comparison] = {}
    if cases:
        # Looks may differ between inputs, J does not: it was fixed before the start.
        rules = _rules(max((s for s, _ in requests), key=lambda s: len(s.reached)), family, size)
        groups = [[i] for i in cases] if family == "control" else [list(cases)]
        for group in groups:
            judged = judge_family([cases[i] for i in group], rules)
            found |= dict(zip(group, judged, strict=True))
    made = [found[i] if i in found else _empty(*requests[i], family) for i in range(len(requests))]
    made = [
        replace(c, direction="higher") if c.metric in stage.higher else c
        for c, (stage, _) in zip(made, requests, strict=True)
    ]
    if family == "control":
        return tuple(made)
    return tuple(
        same_programs.told(c, stage.same) for c, (stage, _) in zip(made, requests, strict=True)
    )


def _rules(stage: Stage, family: Family, size: int | None) -> Rules:
    return Rules(
        looks=max(stage.looks.count, len(stage.reached), 1),
        size=max(1, stage.looks.family if size is None else size),
        level=stage.plan.judge.level,
        seed=stage.seed,
        thorough=stage.thorough and family != "best",
    )


def _case(stage: Stage, asked: Asked, family: Family, levels: Levels) -> Case | None:
    """A pair with data at a look; `None` where there is nothing to judge."""
    cell, reference, metric = asked
    if not {cell.id, reference.id} <= stage.usable or not stage.reached:
        return None
    whole = sampling.pair(
        stage.samples[cell.id].of(metric),
        stage.samples[reference.id].of(metric),
        higher=metric in stage.higher,
    ).until(stage.reached[-1])
    if not len(whole):
        return None
    judge = stage.plan.judge
    return Case(
        cell_id=cell.id,
        ref_cell_id=reference.id,
        metric=metric,
        family=family,
        pair=whole,
        evidence=examine_looks(whole, stage.reached, levels, stage.seed),
        thresholds=judge.thresholds_of(metric),
        look=stage.last_look,
        runs=sampling.runs_within(stage.samples[cell.id], whole.rounds),
        runs_ref=sampling.runs_within(stage.samples[reference.id], whole.rounds),
    )


def _empty(stage: Stage, asked: Asked, family: Family) -> Comparison:
    cell, reference, metric = asked
    judge = stage.plan.judge
    reason = BEFORE_FIRST if not stage.reached else f"no round has {metric} of both"
    return Comparison(
        cell.id,
        reference.id,
        metric,
        family,
        Verdict.INCONCLUSIVE,
        reason,
        margin=judge.margin_of(metric),
        epsilon=judge.epsilon_of(metric),
    )


def noise_floor(
    stage: Stage, input_id: str, control: Sequence[Comparison]
) -> tuple[NoiseFloor, ...]:
    """What the control arm's displayed intervals say, one per judged metric (REPORTS 1.2)."""
    tripped = any(c.verdict.decided for c in control)
    by_metric = {c.metric: c for c in control}
    return tuple(
        NoiseFloor(input_id, metric, floor_fraction(by_metric.get(metric)), tripped)
        for metric in stage.plan.judge.sampled
    )


def floor_fraction(control: Comparison | None) -> float | None:
    """The larger distance of [L, U] from 1 on the scale of "more": max(U, 1/L) − 1."""
    shown = control.shown if control else None
    if shown is None or shown.lo <= 0 or not math.isfinite(shown.hi):
        return None
    return max(shown.hi, 1 / shown.lo) - 1


def trip(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Every comparison of an input whose control arm got a verdict: inconclusive; what no noise reaches stays."""
    return tuple(
        replace(c, verdict=Verdict.INCONCLUSIVE, reason=CONTROL_TRIPPED)
        if _has_verdict(c) and c.family != "exact"
        else c
        for c in comparisons
    )


def _has_verdict(comparison: Comparison) -> bool:
    return comparison.verdict.settled or comparison.verdict is Verdict.INCONCLUSIVE


def _best_cells(plan: Plan, input_id: str) -> list[Cell]:
    return [c for c in plan.cells_of(input_id) if c.role in (Role.BASELINE, Role.CANDIDATE)]


def best_group(
    stage: Stage, input_id: str, *, tripped: bool = False, headline: Sequence[Comparison] = ()
) -> BestGroup:
    """The variants of an input that are not worse than any other (METHOD 4).

    Own Holm family over all K(K − 1)/2 pairs of usable cells, at the same looks. A pair that the headline compares
    keeps the headline's verdict, whichever family is the larger one: a report that calls a variant slower than the
    baseline cannot count it among the best, and one that leaves it open cannot call the other one best.

    Args:
        stage: of the input.
        input_id: which input.
        tripped: the control arm got a verdict: nothing is decided.
        headline: the verdicts of this input against the baseline and further references.
    """
    metric = stage.plan.judge.headline
    planned = _best_cells(stage.plan, input_id)
    usable = [c for c in planned if c.id in stage.usable]
    pairs: list[Request] = [(stage, (b, a, metric)) for a, b in itertools.combinations(usable, 2)]
    if not pairs or not stage.reached:
        return BestGroup(input_id, metric, (), complete=False)
    judged = judge_pairs(pairs, "best", size=pairs_of(planned))
    if tripped:
        judged = trip(judged)
    told = {
        (c.cell_id, c.ref_cell_id): c
        for h in headline
        if h.metric == metric
        for c in (mirrored(h), h)
    }
    judged = tuple(replace(told.get((c.cell_id, c.ref_cell_id), c), family="best") for c in judged)
    beaten = {
        c.cell_id for c in judged if c.verdict in (Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN)
    }
    beaten |= {
        c.ref_cell_id
        for c in judged
        if c.verdict in (Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN)
    }
    return BestGroup(
        input_id,
        metric,
        tuple(c.id for c in usable if c.id not in beaten),
        complete=all(c.rounds > 0 for c in judged),
        comparisons=judged,
    )
