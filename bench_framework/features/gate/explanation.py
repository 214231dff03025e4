"""Why a candidate is worse: functions and counts that differ in counted runs of both sides."""

import math
import statistics
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.compare import causes, functions
from bench_framework.compare.build_changes import changes_between
from bench_framework.compare.exact_metrics import COUNTING_RUN
from bench_framework.compare.samples import collect
from bench_framework.features.gate import outcome
from bench_framework.model.facts.builds import BuildChanges
from bench_framework.model.facts.causes import CauseEvidence
from bench_framework.model.metrics import COUNTED, ITERATION, PEAK_RSS, WALL, is_exact
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Build
from bench_framework.model.result.gate import Explanation, GatedPair, Gating
from bench_framework.store.journal import Contents

MOST_SLOWER: Final = 1.5
"""Largest ratio of times of the same instructions that can pass, by choice (docs/benches.md#same-instructions)."""
MOST_S_EACH: Final = 1e-9
"""Longest time per instruction of a benchmark that does not mostly wait for memory or a device, by choice."""


def explained(plan: Plan, gating: Gating, records: Sequence[Contents]) -> Gating:
    """Return the result with what differs in each candidate that is worse in a time or in a count.

    A benchmark that executes the same instructions is no longer worse if the scenario says so.
    `records` are those of the passes, the last one first. The first one that counted a candidate explains it.
    """
    if not plan.judge.gate.explain:
        return gating
    worse = dict.fromkeys(
        pair.cell_id
        for pair in gating.in_state("worse")
        if pair.metric in COUNTED or not (is_exact(pair.metric) or pair.metric == PEAK_RSS)
    )
    slower = {pair.cell_id for pair in gating.in_state("worse") if pair.metric == WALL}
    gating = replace(gating, explanations=tuple(_explanations(plan, worse, slower, records)))
    if plan.judge.gate.on_same_instructions == "fail":
        return gating
    reasons = (Reason(ReasonCode.SAME_INSTRUCTIONS),)
    pairs = tuple(
        replace(p, state="same-instructions", reasons=reasons)
        if p.state == "worse" and _has_same_instructions(p, records)
        else p
        for p in gating.pairs
    )
    same = pairs != gating.pairs
    return outcome.conclude(replace(gating, pairs=pairs), plan.judge.gate) if same else gating


def _has_same_instructions(pair: GatedPair, records: Sequence[Contents]) -> bool:
    """Return whether a benchmark executes the same instructions, which explain most of its time.

    One that waits, or whose code the counts do not contain, takes longer than `MOST_S_EACH` for each of them.
    """
    ratios = [c.shown.ratio for c in (pair.comparison, pair.again) if c and c.shown]
    if pair.metric != ITERATION or max(ratios, default=math.inf) > MOST_SLOWER:
        return False
    ids = pair.comparison.cell_id, pair.comparison.ref_cell_id
    for c in records:
        number = functions.same_instructions(ids, [*c.functions.values()], c.observations)
        times = [
            b.metric(ITERATION) for b in c.blocks if b.cell_id == pair.cell_id and not b.warmup
        ]
        known = [time for time in times if time is not None]
        if number is not None and known:
            return statistics.median(known) <= MOST_S_EACH * number
    return False


def _explanations(
    plan: Plan, cell_ids: Iterable[str], slower: Collection[str], records: Sequence[Contents]
) -> Iterator[Explanation]:
    for cell_id in cell_ids:
        baseline = plan.baseline_cell(plan.cell(cell_id).input_id)
        if baseline is None:
            continue
        pair = cell_id, baseline.id
        counted = (
            functions.changes_between(
                *pair, [*c.functions.values()], c.observations, iteration=plan.benches is not None
            )
            for c in records
        )
        changes = next((difference for difference in counted if difference is not None), None)
        failed = (
            o.failure
            for contents in records
            for o in contents.observations
            if o.kind == COUNTING_RUN and o.cell_id in pair and o.status != "ok"
        )
        reason = None if changes is not None else next(failed, None)
        build = _build_changes(plan, pair, records[0].builds)
        places = [_place(c, pair) for c in records] if cell_id in slower else [None]
        place = _known(places)
        if changes is not None and not changes.same and not _is_split(place):
            place = None  # the counts say more
        if changes is not None or reason is not None or build is not None or place is not None:
            yield Explanation(cell_id, changes, reason, build, place)


def _place(contents: Contents, pair: tuple[str, str]) -> CauseEvidence | None:
    """Return where the difference of the time is, if most of it is waiting or system time."""
    samples = collect(b for b in contents.blocks if b.cell_id in pair)
    if not {*pair} <= samples.keys():
        return None
    untimed = causes.untimed_values(contents.observations)
    candidate, reference = (samples[cell_id] for cell_id in pair)
    evidence = causes.evidence_of(candidate, reference, untimed=untimed)
    if evidence is None or not evidence.parts:
        return None
    part = evidence.parts[0]
    mostly = evidence.share(part) > causes.MOST
    return evidence if mostly and part.kind in {"waiting", "sys"} else None


def _known(places: Sequence[CauseEvidence | None]) -> CauseEvidence | None:
    """Return the place of the first pass. If that waits for something unknown, another one that knows it."""
    first = places[0]
    if first is None or first.parts[0].kind != "waiting":
        return first
    return next(filter(_is_split, places), first)


def _is_split(place: CauseEvidence | None) -> bool:
    """Return whether most of the difference is waiting, and it is known for what."""
    if place is None or place.parts[0].kind != "waiting":
        return False
    return any(item.part == "waiting" for item in place.explained)


def _build_changes(
    plan: Plan, pair: tuple[str, str], builds: Iterable[Build]
) -> BuildChanges | None:
    """Return what differs between the builds of two cells, if a setting or a package does."""
    built, specs = {b.id: b for b in builds}, {spec.id: spec for spec in plan.builds}
    new, old = (plan.build_id(plan.cell(cell_id)) for cell_id in pair)
    if not {new, old} <= built.keys():
        return None
    changes = changes_between(built[new], specs.get(new), built[old], specs.get(old))
    return changes if changes is not None and (changes.settings or changes.packages) else None
