"""The recommended variant of each input, with the tie-break that chose it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from bench_framework.claims.phrases import noun
from bench_framework.claims.value_phrases import where
from bench_framework.features.changed_settings import changed_settings
from bench_framework.features.summary.evidence import CLOSE, Evidence, listed, statement
from bench_framework.model.judgement import BestGroup, Claim
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.plan import Input
from bench_framework.units import every

LEAST: Final = "the least memory"


def recommendations(at: Evidence) -> Iterator[Claim]:
    """Yield the variant to use on each input, or on all inputs if it is the same."""
    if at.plan.revisions is not None:
        return  # Two revisions of one program are not a choice between variants.
    chosen = [
        (group, *_choice(at, group))
        for group in at.judgement.best
        if group.cell_ids and any(c.verdict.decided for c in group.comparisons)
    ]
    claims = [_claim(at, *choice) for choice in chosen]
    alike = {
        (c.subject, c.values.get("tied"), c.values["why"], "beats" in c.values) for c in claims
    }
    if len(alike) == 1 and len(claims) == len(at.plan.inputs) > 1:
        yield replace(claims[0], scope=(), values={**claims[0].values, "inputs": len(claims)})
        return
    for claim in claims:
        if claim.values["why"] == LEAST and (size := at.amount(claim.cells[0])):
            yield replace(claim, values={**claim.values, "size": size})
        else:
            yield claim


def used(at: Evidence, item: Input) -> Iterator[Claim]:
    """Yield how the recommended variant of an input is built and run, unlike the baseline.

    Nothing is yielded for another program than the baseline's, or if the label states the settings.
    """
    baseline = at.plan.baseline_cell(item.id)
    claim = next((c for c in recommendations(at) if c.scope in ((), at.scope(item.id))), None)
    if claim is None or baseline is None or claim.cells[0] == baseline.id:
        return
    cell = at.cells[claim.cells[0]]
    settings = changed_settings(at.plan, baseline, cell)
    if not settings or claim.subject in settings or cell.command[:1] != baseline.command[:1]:
        return  # A label such as ``lto=fat`` is the setting.
    text = f"{where(claim, ', ')}use {claim.subject}: {settings}"
    text += f". Other settings as in {at.label(baseline.id)}"
    first, chosen = (at.plan.variant(c.variant_id).values for c in (baseline, cell))
    if same := [f"{axis} {value}" for axis, value in chosen if (axis, value) in first]:
        text += f": {', '.join(same)}"
    reason = (
        f". Of the {at.best} variants, it has {claim.values['why']}" if claim.values["why"] else ""
    )
    yield statement("use", claim.subject, f"{text}{reason}", lead="Recommendation")


def _claim(at: Evidence, group: BestGroup, cell: str, reason: str) -> Claim:
    tied = [c for c in at.leaders(group) if c != cell]
    baseline = at.plan.baseline_cell(group.input_id)
    values: dict[str, float | int | str] = {"why": reason, **at.choice()}
    if tied:
        values["tied"] = listed(map(at.label, tied))
    if baseline is not None and baseline.id == cell:
        values["base"] = 1
    others = [c.id for c in at.compared(group.input_id) if c.id != cell]
    pairs = [at.pair(cell, other, group.metric) for other in others]
    if all(pair is not None and pair.verdict.better for pair in pairs):
        values["beats"] = 1
    return Claim(
        "",
        "recommendation",
        at.label(cell),
        metric=group.metric,
        scope=at.scope(group.input_id),
        cells=(cell, *tied),
        values=values,
    )


def _choice(at: Evidence, group: BestGroup) -> tuple[str, str]:
    """Return the recommended member of a best group, and the reason if it is not the only one.

    Members that do not differ significantly are compared by measured memory, then CPU time, then
    number of dependencies; the fastest one is chosen if all of these are equal.
    """
    left = at.leaders(group)
    if len(left) == 1:
        return left[0], ""
    for name, values in (
        (LEAST, {c: at.medians.get((c, PEAK_RSS)) for c in left}),
        ("the least CPU time", {c: at.medians.get((c, CPU)) for c in left}),
        ("the fewest dependencies", {c: _dependencies(at, c) for c in left}),
    ):
        known = {c: v for c in left if (v := values.get(c)) is not None}
        if len(known) < len(left):
            continue
        limit = min(known.values()) * CLOSE
        first = [c for c in left if known[c] <= limit]
        if len(first) < len(left):
            if len(first) == 1:
                return first[0], name
            left = first
    return left[0], "the best estimate"


def _dependencies(at: Evidence, cell_id: str) -> float | None:
    build = at.builds.get(at.plan.variant(at.cells[cell_id].variant_id).build_id)
    count = build.dependencies if build is not None else None
    return None if count is None else float(count) or math.ulp(0.0)


def recommendation(claim: Claim) -> str:
    """Return the recommendation: ``"use a: not significantly slower than b, and …"``."""
    place = where(claim, ", ")
    if "inputs" in claim.values:
        place = f"on {every(int(claim.values['inputs']), 'input')}, "
    keep = "keep" if "base" in claim.values else "use"
    base = ", the baseline" if "base" in claim.values else ""
    head = f"{place}{keep} {claim.subject}{base}"
    if "tied" not in claim.values:
        best = "faster" if claim.metric == WALL else f"better in {noun(claim.metric)}"
        other = "other variant"
        if "among" in claim.values:
            other += f" with {claim.values['among']}"
        if "beats" in claim.values:
            return f"{head}: it is significantly {best} than every {other}"
        return f"{head}: no {other} is significantly {best}"
    same = f"it is not significantly slower than {claim.values['tied']}"
    if claim.metric != WALL:
        same = f"it is not significantly worse in {noun(claim.metric)} than {claim.values['tied']}"
    size = f" ({claim.values['size']})" if "size" in claim.values else ""
    group = "these variants" if claim.cells[2:] else "the two"
    return f"{head}: {same}. Of {group}, it has {claim.values['why']}{size}"
