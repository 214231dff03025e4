"""The claims of a judgement in the order of the report, with their sentences."""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from bench_framework.claims.factory import FactWriter, Names, figures
from bench_framework.compare.causes import two_differences
from bench_framework.features.author_texts import author_claims
from bench_framework.features.axes.claims import StructureClaims
from bench_framework.features.causes.claims import cause_claims
from bench_framework.features.experiments.compute import hypothesis_claims
from bench_framework.features.functions.claims import function_claims
from bench_framework.features.published.compute import published_claims
from bench_framework.features.race.compute import race_claims
from bench_framework.features.references.compute import gap_claims
from bench_framework.features.summary.claims import summary_claims
from bench_framework.features.summary.parts import part_claims
from bench_framework.features.summary.view import SummaryView
from bench_framework.model.facts import Claim, SignChange
from bench_framework.model.plan.plan import Input, Plan
from bench_framework.model.record.run import Build, PreparedInput
from bench_framework.model.result.judgement import MAIN_FAMILIES, Comparison, Judgement
from bench_framework.text import write


def sign_changes(
    names: Names, comparisons: Sequence[Comparison], sizes: Mapping[str, int | None]
) -> Iterator[Claim]:
    """Yield a claim per variant, reference and metric: better on one input, worse on another."""
    plan = names.plan
    references = (plan.baseline_id, *plan.further_baselines)
    groups = defaultdict[tuple[str, str, str], list[Comparison]](list)
    for c in comparisons:
        if c.family in MAIN_FAMILIES:
            variant_id, ref_id = (names.cells[i].variant_id for i in (c.cell_id, c.ref_cell_id))
            groups[variant_id, ref_id, c.metric].append(c)
    for variant, ref, metric in itertools.product(plan.variants, references, plan.judge.metrics):
        group = groups[variant.id, ref, metric]
        if any(c.verdict.better for c in group) and any(c.verdict.worse for c in group):
            yield _sign_change(names, variant.label, group, sizes)


def _sign_change(
    names: Names, label: str, comparisons: Sequence[Comparison], sizes: Mapping[str, int | None]
) -> Claim:
    def item(c: Comparison) -> Input:
        return names.plan.input(names.cells[c.cell_id].input_id)

    def size(c: Comparison) -> int | None:
        data = item(c).dataset
        return sizes.get(item(c).id) or (data.size_bytes if data else None)

    decided = [c for c in comparisons if c.verdict.decided and c.shown is not None]
    ordered = sorted(decided, key=lambda c: size(c) or 0)
    first = comparisons[0]
    turns = [
        (item(a).label, item(b).label)
        for group in _families(names.plan, [(item(c), c) for c in ordered if size(c)])
        for a, b in itertools.pairwise(group)
        if a.verdict.better != b.verdict.better
    ]
    return Claim(
        label,
        names.label(first.ref_cell_id),
        first.metric,
        cells=tuple(c.cell_id for c in ordered),
        margin=first.thresholds.margin,
        fact=SignChange(
            cases=tuple((item(c).label, figures(c)) for c in ordered),
            turns=tuple(turns),
            reference_id=names.cells[first.ref_cell_id].variant_id,
        ),
    )


def _families(plan: Plan, compared: Sequence[tuple[Input, Comparison]]) -> list[list[Comparison]]:
    """Group comparisons on inputs that differ only in size; a sign change is within a group."""
    sizes = {a.name for a in plan.axes if a.kind == "input" and all(v.size_bytes for v in a.values)}
    groups = defaultdict[object, list[Comparison]](list)
    for item, comparison in compared:
        rest = tuple((name, value) for name, value in item.values if name not in sizes)
        kind = (item.dataset.family, item.dataset.seed) if item.dataset else None
        groups[rest, kind].append(comparison)
    return list(groups.values())


def claims_of(
    plan: Plan,
    judgement: Judgement,
    builds: Mapping[str, Build],
    inputs: Sequence[PreparedInput],
    *,
    outputs_differ: bool = False,
) -> tuple[Claim, ...]:
    """Return every sentence that the record supports, with its evidence, in the report's order."""
    view = SummaryView(plan, judgement, builds, inputs, outputs_differ=outputs_differ)
    return write.numbered(_write(view, inputs))


def _write(view: SummaryView, inputs: Sequence[PreparedInput]) -> Iterator[Claim]:
    plan, judgement, builds = view.plan, view.judgement, view.builds
    facts = FactWriter(plan, judgement, builds, inputs)
    summary = [*summary_claims(view)]
    yield from summary
    yield from part_claims(view, summary)
    yield from sign_changes(view, judgement.comparisons, view.sizes)
    for comparison in judgement.comparisons:
        if comparison.family != "contrast":
            yield view.comparison(comparison)
    yield from map(facts.noise_floor, judgement.floors)
    yield from facts.write()
    yield from StructureClaims(plan, judgement, view.costs).write()
    yield from gap_claims(view, judgement.gaps, view.costs)
    yield from hypothesis_claims(view, judgement.hypotheses, view.costs)
    yield from cause_claims(view, judgement.causes)
    yield from function_claims(view, judgement.functions)
    yield from race_claims(view, judgement)
    second = partial(two_differences, judgement)
    yield from published_claims(plan, judgement, builds, second)
    yield from author_claims(plan, judgement, builds)
