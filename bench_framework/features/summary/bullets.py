"""The lines below the answer: its cost, where it differs, what was not adopted, how sure it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from bench_framework.claims.phrases import change, effect, noun, one_scale
from bench_framework.compare.derived_values import shares
from bench_framework.features.summary.answers import growth
from bench_framework.features.summary.evidence import CLOSE, Evidence, listed, statement, unsettled
from bench_framework.model.facts import Claim
from bench_framework.model.judgement import Comparison
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.plan import GATE, Input
from bench_framework.model.reasons import CONTROL_DIFFERS, ONE_PROGRAM
from bench_framework.model.structure import Effect
from bench_framework.model.verdict import Verdict
from bench_framework.model.words import word
from bench_framework.text.answers import how_compared
from bench_framework.text.numbers import derived_figure, percent_up, rate
from bench_framework.units import THIN_SPACE, counted, every

MOST_EFFECTS: Final = 3
MOST_NAMED: Final = 3
"""Most inconclusive comparisons that are named one by one."""
LARGE: Final = 2.0
"""Ratio of memory above which the variant with the most is named."""
LEAST_ORDERED: Final = 2
"""The number of variants for which the one that is fastest determines the order."""
EFFECTS: Final = "Effect of each axis, averaged over the other axes"


def lines(at: Evidence, item: Input) -> Iterator[Claim]:
    """Yield the lines of the summary that follow from an input, before those about the record."""
    if at.plan.revisions is None:
        yield from _cost(at, item)
        yield from _overlap(at, item)
        yield from _inputs(at)
        yield from _effects(at, item)
    else:
        yield from _changes(at)
    if GATE in at.plan.asked and not at.plan.confirms:
        text = "Its result is written to summary.md and gate.json in the folder of the record"
        yield statement("summary", "", text, lead="Gate")


def _changes(at: Evidence) -> Iterator[Claim]:
    """Yield the significant changes of memory and CPU time between two revisions, the largest first."""
    changes = [
        c
        for c in at.judgement.comparisons
        if c.family in ("memory", "headline")
        and c.metric in (PEAK_RSS, CPU)
        and c.metric != at.metric
        and c.verdict.decided
    ]
    changes.sort(key=lambda c: -(c.shown.ratio if c.shown else 0.0))
    sentences = []
    for c in changes[:MOST_NAMED]:
        amounts = f" ({at.amount(c.ref_cell_id)} → {at.amount(c.cell_id)})"
        sentences.append(at.sentence(c) + ("" if c.metric == CPU else amounts))
    if more := len(changes) - len(sentences):
        sentences.append(f"{more} further comparisons are significant")
    if sentences:
        first = at.label(changes[0].cell_id)
        yield statement("summary", first, ". ".join(sentences), lead="Memory and CPU time")


def _cost(at: Evidence, item: Input) -> Iterator[Claim]:
    """Yield memory and CPU time of the best variant, and the tied variant with least memory.

    Memory is compared with the baseline. If the baseline is best, it is compared with the other
    variant if there is only one.
    """
    group, baseline = at.groups.get(item.id), at.plan.baseline_cell(item.id)
    if group is None or not group.cell_ids or baseline is None or not at.is_conclusive(group):
        return
    leader, *tied = at.leaders(group)
    cell = leader if leader != baseline.id else next(iter(tied), baseline.id)
    members: tuple[str, ...] = group.cell_ids
    for table in at.judgement.structure.contributions:
        if table.design == "ladder" and table.input_id == item.id and table.end_cell_id:
            cell, members = table.end_cell_id, (table.end_cell_id,)
    others = [c.id for c in at.compared(item.id) if c.id != baseline.id]
    other = baseline.id if cell != baseline.id else others[0] if len(others) == 1 else cell
    label, base = at.label(cell), at.label(other)
    mine, theirs = at.amount(cell), at.amount(other)
    memory = {c.id: m for c in at.compared(item.id) if (m := at.medians.get((c.id, PEAK_RSS)))}
    sentences = []
    if mine and theirs and cell != other:
        pair = at.pair(cell, other, PEAK_RSS)
        text = f"{label} uses {mine} of memory, {base} uses {theirs}"
        if mine == theirs:
            text = f"{label} and {base} both use {mine} of memory"
        elif pair is not None and pair.verdict is Verdict.EQUIVALENT:
            text = f"{label} and {base} use about the same memory: {mine} and {theirs}"
        sentences.append(text)
    elif mine:
        most = max(memory, key=memory.__getitem__, default=cell)
        more = memory.get(most, 0.0) > LARGE * at.medians[cell, PEAK_RSS]
        largest = f"; {at.label(most)} uses the most, {at.amount(most)}" if more else ""
        sentences.append(f"{label} uses {mine} of memory{largest}")
    known = [c for c in members if (c, PEAK_RSS) in at.medians]
    least = min(known, key=lambda c: at.medians[c, PEAK_RSS], default=cell)
    smaller = at.medians.get((least, PEAK_RSS), 0.0) * CLOSE < at.medians.get((cell, PEAK_RSS), 0.0)
    if smaller and least != baseline.id:
        sentences.append(
            f"Of the {at.best} variants, {at.label(least)} uses the least ({at.amount(least)})"
        )
    cpu = at.pair(cell, baseline.id, CPU) if at.metric != CPU and cell != baseline.id else None
    lead = "Memory"
    if cpu is not None and cpu.verdict.decided:
        lead = "Memory and CPU time" if sentences else "CPU time"
        sentences.append(f"{label} {at.predicate(cpu)}")
    if sentences:
        place = f"On {item.label}, " if len(at.plan.inputs) > 1 else ""
        yield statement("summary", label, place + ". ".join(sentences), lead=lead)


def _overlap(at: Evidence, item: Input) -> Iterator[Claim]:
    """Yield the rates of variants relative to their stages, one after the other."""
    derived, family = at.judgement.derived, at.plan.unit_family
    by_stages: dict[str, list[str]] = {}
    for gain in sorted(shares(derived, item.id, "harmonic("), key=lambda s: -(s.share.value or 0)):
        row, cells = gain.share, gain.limit.cell_ids
        stages = listed(
            f"{at.label(d.cell_ids[0])} ({rate(d.value, family)})"
            for d in derived
            if d.measured and d.value is not None and d.cell_ids[0] in cells
        )
        figure = derived_figure(row.value or 0.0, row.lo, row.hi, "ratio", family)
        figure = figure.replace(" ", "× the rate ", 1)
        text = f"{at.label(gain.rate.cell_ids[0])} has {figure}"
        by_stages.setdefault(stages, []).append(text)
    sentences = [
        f"Compared with {stages} one after the other, {listed(figures)}"
        for stages, figures in by_stages.items()
    ]
    if sentences:
        yield statement("summary", "", ". ".join(sentences), lead="Gain from overlap")


def _inputs(at: Evidence) -> Iterator[Claim]:
    """Yield the best variants of other inputs if they differ, and how time grows with size."""
    if sentences := [*_best_by_input(at)]:
        starts = (v.label for v in at.plan.variants if sentences[0].startswith(v.label))
        yield statement("summary", next(starts, ""), ". ".join(sentences), lead="Inputs")
    item = at.leading_input()
    group = at.groups.get(item.id) if item else None
    if group is None or not group.cell_ids or len(at.judgement.scaling) <= 1:
        return
    best = at.cells[at.leaders(group)[0]].variant_id
    if text := growth(at, *dict.fromkeys((best, at.plan.baseline_id))):
        yield statement("summary", at.plan.variant(best).label, text, lead="Scaling")


def _best_by_input(at: Evidence) -> Iterator[str]:
    groups = [g for g in at.judgement.best if at.is_conclusive(g)]
    if len(at.plan.inputs) == 1 or not groups:
        return
    leaders = {at.plan.input(g.input_id).label: at.leaders(g) for g in groups}
    variants = [[at.cells[c].variant_id for c in cells] for cells in leaders.values()]
    count, first = len(at.plan.inputs), {v[0] for v in variants}
    best = "fastest" if at.metric == WALL else f"best in {noun(at.metric)}"
    if len(groups) == count and len(first) == 1:
        variant = at.plan.variant(first.pop())
        places: dict[str, list[str]] = {}
        for where, (_, *others) in leaders.items():
            if others:
                places.setdefault(listed(map(at.label, others)), []).append(where)
        tied = "; ".join(
            names if len(where) == count else f"{names} on {listed(where)}"
            for names, where in places.items()
        )
        ties = f", with no significant difference from {tied}" if tied else ""
        yield f"{variant.label} is {best} on {every(count, 'input')}{ties}"
        yield from _gains(at, variant.id)
        yield from _order(at)
        return
    each = (f"{at.label(cells[0])} on {where}" for where, cells in leaders.items())
    yield f"The {best} by the estimate: {listed(each, 6)}"
    shared = set.intersection(*map(set, variants))
    if len(groups) < count:
        yield f"Nothing is conclusive on {count - len(groups)} of {count} inputs"
    elif shared:
        names = listed(v.label for v in at.plan.variants if v.id in shared)
        are = "are" if len(shared) > 1 else "is"
        yield f"{names} {are} {best}, or not significantly worse, on every input"


def _gains(at: Evidence, variant_id: str) -> Iterator[str]:
    """Yield the effect of a variant against the baseline on each input, if all are significant."""
    pairs = []
    for item in at.plan.inputs:
        cells = {c.variant_id: c.id for c in at.compared(item.id)}
        pair = at.pair(cells.get(variant_id, ""), cells.get(at.plan.baseline_id, ""))
        if pair is None or not pair.verdict.decided:
            return
        pairs.append((at.comparison(pair), item.label))
    scale = one_scale(claim for claim, _ in pairs)
    parts = (f"{effect(claim, scale)} on {label}" for claim, label in pairs)
    yield f"Compared with {at.plan.variant(at.plan.baseline_id).label}: {listed(parts)}"


def _order(at: Evidence) -> Iterator[str]:
    """Yield whether the variants have the same order on every input.

    Two variants are in order if their comparison is significant, or if their intervals relative to
    the baseline do not overlap. Nothing is yielded for an input on which no two variants are.
    """
    orders = [{c.variant_id: c.id for c in at.compared(item.id)} for item in at.plan.inputs]
    shared = [v for v in orders[0] if all(v in cells for cells in orders)]
    swapped = [
        f"{at.plan.variant(a).label} and {at.plan.variant(b).label}"
        for a, b in combinations(shared, 2)
        if {-1, 1} <= {at.order(cells[a], cells[b]) for cells in orders}
    ]
    if swapped:
        best = "faster" if at.metric == WALL else "better"
        yield f"In these pairs, the {best} one depends on the input: {'; '.join(swapped)}"
    elif len(shared) > LEAST_ORDERED and all(
        any(at.order(cells[a], cells[b]) for a, b in combinations(shared, 2)) for cells in orders
    ):
        same = all([v for v in cells if v in shared] == shared for cells in orders)
        if same:
            yield f"The order of the variants is the same on {every(len(orders), 'input')}"
        else:
            yield "No two variants change their order significantly between the inputs"


def _effects(at: Evidence, item: Input) -> Iterator[Claim]:
    """Yield the mean effect of each axis of a full product, over the other axes."""
    single = (e for e in at.judgement.structure.effects if len(e.changes) == 1)
    effects = [e for e in single if e.input_id == item.id]
    if not effects or at.plan.design != "full":
        return
    pooled = [e for e in effects if e.pooled]
    decided = [e for e in pooled if e.mean.verdict.decided]
    decided.sort(key=lambda e: -abs((e.mean.shown.ratio if e.mean.shown else 1.0) - 1))
    sentences = [_effect(e, at) for e in decided[:MOST_EFFECTS]]
    if none := [_level(e) for e in pooled if e not in decided]:
        sentences.append(f"No significant mean effect: {listed(none)}")
    mixed = [
        f"{_level(e)} (better in {e.better}, worse in {e.worse} of {len(e.cells)})"
        for e in effects
        if not e.pooled
    ]
    if mixed:
        sentences.append(f"The sign depends on the other axes: {listed(mixed, MOST_EFFECTS)}")
    subject = _level(decided[0]) if decided else ""
    claim = statement("summary", subject, ". ".join(sentences), lead=EFFECTS)
    yield replace(claim, values={**claim.values, "general": 1})


def _effect(effect: Effect, at: Evidence) -> str:
    first, interval = effect.changes[0], effect.mean.typical or effect.mean.shown
    assert interval is not None
    margin = at.plan.judge.margin_of(effect.metric)
    text = change(effect.mean.verdict, *interval.figures, margin, effect.metric, higher=at.higher)
    return f"{_level(effect)} instead of {first.before}: {text}"


def _level(effect: Effect) -> str:
    """Return axis and value, because a value such as ``2`` or ``yes`` does not name its axis."""
    return f"{effect.changes[0].axis} {effect.changes[0].after}"


def not_adopted(at: Evidence, item: Input | None) -> Iterator[Claim]:
    """Yield the measured effect of the experiments that the author rejected, by verdict."""
    rejected = [e for e in at.plan.experiments if e.decision == "rejected"]
    baseline = at.plan.baseline_cell(item.id) if item else None
    if not rejected or item is None or baseline is None:
        return
    cells = {c.variant_id: c.id for c in at.plan.cells_of(item.id)}
    pairs = [(e.name, at.pair(cells.get(e.variant_id, ""), baseline.id)) for e in rejected]
    pairs.sort(key=lambda pair: not (pair[1] is not None and pair[1].verdict.better))
    by_outcome: dict[str, list[str]] = {}
    for name, pair in pairs:
        how, text = _outcome(pair), name
        if pair is not None and pair.verdict.decided:
            cost = at.costs.phrase(pair.verdict, pair.cell_id, pair.ref_cell_id, pair.metric)
            figures = (at.effect(pair).replace(f" {how}", ""), cost)
            text = f"{name} ({', '.join(filter(None, figures))})"
        by_outcome.setdefault(how, []).append(text)
    best = pairs[0][1]
    than = f" than {at.label(baseline.id)}" if best and best.verdict.decided else ""
    sentences = []
    for how, names in by_outcome.items():
        sentences.append(f"{how[0].upper()}{how[1:]}{than}: {listed(names)}")
        than = ""
    text = ". ".join(sentences)
    if len(at.plan.inputs) > 1:
        text = f"On {item.label}, {text[0].lower()}{text[1:]}"
    original = at.plan.published is not None and at.plan.published.decisions
    lead = f"Rejected by the {'original report' if original else 'author'}"
    ids = tuple(cells[e.variant_id] for e in rejected if e.variant_id in cells)
    claim = statement("experiments", rejected[0].name, text, lead=lead)
    yield replace(claim, metric=at.metric, cells=ids)


def _outcome(c: Comparison | None) -> str:
    if c is None:
        return "not measured"
    if c.reason == ONE_PROGRAM:
        return "without effect on the binary"
    # The table states that the size is uncertain.
    if c.verdict.decided:
        return word(Verdict.BETTER if c.verdict.better else Verdict.WORSE, c.metric)
    return word(c.verdict, c.metric)


def _no_verdict(c: Comparison) -> str:
    """Return why a comparison has no verdict, if its minimum detectable effect is not known."""
    if c.reason == CONTROL_DIFFERS:
        return f"the A/A check of {noun(c.metric)} failed"
    return word(c.verdict, c.metric) if c.verdict is not Verdict.INCONCLUSIVE else "too few rounds"


def _conclusive(at: Evidence, compared: Sequence[Comparison]) -> list[str]:
    """Return how many comparisons are conclusive, and what the others could have detected."""
    settled = sum(c.verdict.settled for c in compared)
    what = "time" if at.metric == WALL else noun(at.metric)
    verb = "is" if 1 in (settled, len(compared)) else "are"
    total = counted(len(compared), f"{what} comparison")
    first = f"{settled} of {total} {verb} conclusive" if compared else "nothing was compared"
    contrasts = sum(c.family == "contrast" for c in compared)
    if 0 < contrasts < len(compared):
        counts, inputs, each = [len(compared) - contrasts, contrasts], len(at.plan.inputs), ""
        if inputs > 1 and not any(count % inputs for count in counts):
            counts, each = [count // inputs for count in counts], "on each input, "
        first += f" ({each}{counts[0]} with the baseline, {counts[1]} named in the scenario)"
    open_ = [(c, c.mde) for c in compared if unsettled(c) and c.mde is not None]
    if not open_:
        return [first]
    if len(open_) < len(compared) and len(open_) <= MOST_NAMED:
        several = len(at.plan.inputs) > 1
        places = (at.plan.input(at.cells[c.cell_id].input_id).label for c, _ in open_)
        sentences = [
            f"{at.label(c.cell_id)} vs {at.label(c.ref_cell_id)}{f' on {place}' if several else ''} "
            f"is inconclusive: it could only detect differences of {percent_up(mde)} or more"
            for (c, mde), place in zip(open_, places, strict=True)
        ]
        return [first, *sentences]
    limits = sorted(mde for _, mde in open_)
    ends = dict.fromkeys(percent_up(limit) for limit in (limits[0], limits[-1]))
    smallest = f"differences of {' to '.join(ends)} or more"
    if len(ends) > 1:
        smallest += ", depending on the comparison"
    if len(open_) > 1:
        others = "" if len(open_) == len(compared) else f"{len(open_)} others are inconclusive: "
        return [first, f"{others}{'t' if others else 'T'}hey could only detect {smallest}"]
    return [f"The {what} comparison is inconclusive: it could only detect {smallest}"]


def confidence(at: Evidence) -> Claim:
    """Return how many comparisons are conclusive, what can be detected, the A/A check, and the scope."""
    compared = at.main_comparisons()
    sentences = _conclusive(at, compared)
    left = [c for c in compared if not c.verdict.settled and (not unsettled(c) or c.mde is None)]
    if left:
        counts = Counter(map(_no_verdict, left))
        reasons = listed(f"{n} {reason}" for reason, n in counts.items())
        reasons = next(iter(counts)) if len(counts) == 1 else reasons
        sentences.append(f"{len(left)} {'has' if len(left) == 1 else 'have'} no verdict: {reasons}")
    floors = [f for f in at.judgement.floors if f.metric == at.metric]
    most = max((f.fraction for f in floors if f.fraction is not None), default=None)
    if any(f.tripped for f in floors):
        sentences.append("The A/A check failed")
    elif most is not None:
        sentences.append(
            "The A/A check passed: the baseline and its copy differ by at most "
            f"{percent_up(most)} (noise floor, 95{THIN_SPACE}% CI)"
        )
    elif floors:
        sentences.append("The A/A control has too few rounds for a noise floor")
    else:
        sentences.append("There was no A/A control")
    stated = {at.metric, *(c.metric for c in left if c.reason == CONTROL_DIFFERS)}
    failed = dict.fromkeys(
        noun(f.metric) for f in at.judgement.floors if f.tripped and f.metric not in stated
    )
    if failed:
        sentences.append(f"No comparison of {' and '.join(failed)} is valid: the A/A check failed")
    if at.plan.answer.compare == "none":
        sentences.append("Outputs were not compared")
    elif at.plan.answer.check:
        how = how_compared(at.plan.answer)
        sentences.append(f"Outputs were {how}, and not compared with each other")
    untested = ["other machines"]
    if any(item.dataset for item in at.plan.inputs):
        untested.append("other inputs")
    if not any(cell.cache == "cold" for cell in at.plan.cells):
        untested.append("a cold page cache")
    sentences.append(f"Not measured: {listed(untested)}")
    sentences.append("Verdicts are corrected for multiple comparisons")
    claim = statement("trust", "this record", ". ".join(sentences), lead="Confidence")
    return replace(claim, noise_floor=most)
