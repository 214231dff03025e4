"""Comparison of one implementation before and after a change.

The comparison is one of those that were judged, against a baseline or in the best group. See
docs/method.md#before-and-after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from bench_framework.compare.judged_pairs import judged_pairs
from bench_framework.model.plan import BuildSpec, Plan, Role, Variant
from bench_framework.model.structure import Change, Replacement

if TYPE_CHECKING:
    from bench_framework.compare.contrasts import Measured
    from bench_framework.model.judgement import Comparison

SOURCE_FIELDS: Final = frozenset({"features", "default_features", "revision"})
"""The fields of a build that determine its source.

Two builds that differ only in these fields are a before-and-after pair.
"""
PAIR: Final = 2


def replacements(at: Measured, comparisons: Sequence[Comparison]) -> tuple[Replacement, ...]:
    """Return every before-and-after pair, input by input.

    A pair is the two values of an axis that only chooses features, or the revisions of an axis of
    revisions. Each baseline without and with all adopted experiments is also a pair, if there are
    two or more of these experiments.
    """
    by_pair = judged_pairs(comparisons, at.metric)
    results = []
    for item in at.plan.inputs:
        cells = {
            c.variant_id: c.id
            for c in at.plan.cells_of(item.id)
            if c.role in (Role.BASELINE, Role.CANDIDATE)
        }
        for before, after in pairs(at.plan):
            if before.id in cells and after.id in cells:
                ids = (cells[after.id], cells[before.id])
                replacement = _replacement(at, item.id, (before, after), ids, by_pair)
                if replacement is not None:
                    results.append(replacement)
    return tuple(results)


def pairs(plan: Plan) -> tuple[tuple[Variant, Variant], ...]:
    """Return the pairs (before, after) in plan order, without duplicates."""
    return tuple(dict.fromkeys((*_of_axes(plan), *_of_experiments(plan))))


def _of_axes(plan: Plan) -> Iterator[tuple[Variant, Variant]]:
    baseline = dict(plan.variant(plan.baseline_id).values)
    variants = [v for v in plan.variants if v.experiment is None and v.build is not None]
    by_values = {v.values: v for v in variants}
    for axis in plan.axes:
        if axis.name not in baseline:
            continue
        start = baseline[axis.name]
        ends = [v.name for v in axis.values if v.name != start]
        fields: set[str] = set()
        variant_pairs = []
        for variant in variants:
            if dict(variant.values)[axis.name] != start:
                continue
            for end in ends:
                after = by_values.get(_with(variant, {axis.name: end}))
                if after is not None and variant.build is not None and after.build is not None:
                    fields |= differing(variant.build, after.build)
                    variant_pairs.append((variant, after))
        revisions = fields == {"revision"}
        if fields and fields <= SOURCE_FIELDS and (revisions or len(ends) == PAIR - 1):
            yield from variant_pairs


def _of_experiments(plan: Plan) -> Iterator[tuple[Variant, Variant]]:
    axes = {a.name for a in plan.axes if a.kind != "input"}
    adopted = [
        i.change[0]
        for i in plan.experiments
        if i.decision == "adopted" and len(i.change) == 1 and i.change[0][0] in axes
    ]
    if len(adopted) < PAIR or len(dict(adopted)) != len(adopted):
        return
    by_values = {v.values: v for v in plan.variants if v.experiment is None}
    for start in (plan.baseline_id, *plan.further_baselines):
        before = plan.variant(start)
        after = by_values.get(_with(before, dict(adopted)))
        if after is not None and after != before:
            yield before, after


def differing(one: BuildSpec, other: BuildSpec) -> set[str]:
    """Return the names of the fields in which two builds differ."""
    return {name for name in one.__dataclass_fields__ if getattr(one, name) != getattr(other, name)}


def _with(variant: Variant, changes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((axis, changes.get(axis, value)) for axis, value in variant.values)


def _replacement(
    at: Measured,
    input_id: str,
    variants: tuple[Variant, Variant],
    ids: tuple[str, str],
    by_pair: Mapping[tuple[str, str], Comparison],
) -> Replacement | None:
    comparison = by_pair.get(ids)
    if comparison is None:
        return None
    before, after = (dict(v.values) for v in variants)
    changes = tuple(Change(a, old, after[a]) for a, old in before.items() if after[a] != old)
    varying = {a.name for a in at.plan.axes if len(a.values) > 1}
    rest = [v for a, v in before.items() if after[a] == v and a in varying]
    return Replacement(
        input_id,
        at.metric,
        ", ".join(rest),
        ids[1],
        ids[0],
        changes,
        comparison.verdict,
        comparison.shown,
        comparison.statistic,
        comparison.rounds,
        comparison.reason,
    )
