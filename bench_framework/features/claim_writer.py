"""The claims of a judgement, in the order of the report."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bench_framework.claims import metric_nouns, phrases
from bench_framework.claims.factory import Facts, Names
from bench_framework.features import sentences
from bench_framework.features.axes.claims import StructureClaims
from bench_framework.features.experiments.compute import hypothesis_claims
from bench_framework.features.published.compute import published_claims
from bench_framework.features.race.compute import race_claims
from bench_framework.features.references.compute import gap_claims
from bench_framework.features.summary.claims import summary_claims
from bench_framework.features.summary.evidence import Evidence
from bench_framework.model.judgement import Claim, Comparison, Judgement
from bench_framework.model.plan import Input, Plan
from bench_framework.model.run import Build, PreparedInput


def sign_changes(
    names: Names, comparisons: Sequence[Comparison], sizes: Mapping[str, int | None]
) -> Iterator[Claim]:
    """Yield a claim per variant, reference and metric: better on one input, worse on another."""
    plan = names.plan
    references = (plan.baseline_id, *plan.further_baselines)
    groups: dict[tuple[str, str, str], list[Comparison]] = {}
    for c in comparisons:
        if c.family in ("headline", "reference", "exact"):
            variant_id, ref_id = (names.cells[i].variant_id for i in (c.cell_id, c.ref_cell_id))
            groups.setdefault((variant_id, ref_id, c.metric), []).append(c)
    for variant, ref, metric in itertools.product(plan.variants, references, plan.judge.metrics):
        group = groups.get((variant.id, ref, metric), [])
        if any(c.verdict.better for c in group) and any(c.verdict.worse for c in group):
            yield _sign_change(names, variant.label, metric, group, sizes)


def _sign_change(
    names: Names,
    label: str,
    metric: str,
    comparisons: Sequence[Comparison],
    sizes: Mapping[str, int | None],
) -> Claim:
    def item(c: Comparison) -> Input:
        return names.plan.input(names.cells[c.cell_id].input_id)

    decided = [c for c in comparisons if c.verdict.decided and c.shown is not None]
    ordered = sorted(decided, key=lambda c: _size(item(c), sizes) or 0)
    values: dict[str, float | int | str] = {
        "cases": "; ".join(f"{item(c).label}: {_change(c)}" for c in ordered)
    }
    turns = [
        f"between {item(a).label} and {item(b).label}"
        for group in _families(names.plan, [(item(c), c) for c in ordered if _size(item(c), sizes)])
        for a, b in itertools.pairwise(group)
        if a.verdict.better != b.verdict.better
    ]
    if turns:
        values["turn"] = f"; the sign changes {' and '.join(turns)}"
    return Claim(
        "",
        "sign-change",
        label,
        names.label(comparisons[0].ref_cell_id),
        metric,
        cells=tuple(c.cell_id for c in ordered),
        margin=comparisons[0].margin,
        values=values,
    )


def _families(plan: Plan, compared: Sequence[tuple[Input, Comparison]]) -> list[list[Comparison]]:
    """Group comparisons on inputs that differ only in size; a sign change is within a group."""
    sizes = {a.name for a in plan.axes if a.kind == "input" and all(v.size_bytes for v in a.values)}
    groups: dict[object, list[Comparison]] = {}
    for item, comparison in compared:
        rest = tuple((name, value) for name, value in item.values if name not in sizes)
        kind = (item.dataset.family, item.dataset.seed) if item.dataset else None
        groups.setdefault((rest, kind), []).append(comparison)
    return list(groups.values())


def _size(item: Input, sizes: Mapping[str, int | None]) -> int | None:
    return sizes.get(item.id) or (item.dataset.size_bytes if item.dataset else None)


def _change(c: Comparison) -> str:
    """Return a change for the list of a sign change: ``"+7.8 % [+7.2, +8.4] time"``."""
    assert c.shown is not None
    change = phrases.percent_change(*metric_nouns.natural_ratio(c), c.margin)
    return f"{change} {phrases.noun(c.metric)}"


def claims_of(
    plan: Plan, judgement: Judgement, builds: Mapping[str, Build], inputs: Sequence[PreparedInput]
) -> tuple[Claim, ...]:
    """Return every sentence that the record supports, with its evidence, in the report's order."""
    return numbered(_write(plan, judgement, builds, inputs))


def numbered(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Return claims with their numbers and sentences."""
    with_ids = (replace(claim, id=f"c{i}") for i, claim in enumerate(claims, 1))
    return tuple(replace(claim, text=sentences.say(claim)) for claim in with_ids)


def _write(
    plan: Plan, judgement: Judgement, builds: Mapping[str, Build], inputs: Sequence[PreparedInput]
) -> Iterator[Claim]:
    at = Evidence(plan, judgement, builds, inputs)
    facts = Facts(plan, judgement, builds, inputs)
    yield from summary_claims(at)
    yield from sign_changes(at, judgement.comparisons, at.sizes)
    for comparison in judgement.comparisons:
        if comparison.family != "contrast":
            yield at.comparison(comparison)
    yield from map(facts.noise_floor, judgement.floors)
    yield from facts.write()
    yield from StructureClaims(plan, judgement, at.costs).write()
    yield from gap_claims(at, judgement.gaps, at.costs)
    yield from hypothesis_claims(at, judgement.hypotheses, at.costs)
    yield from race_claims(at, judgement, at.comparison)
    yield from published_claims(plan, judgement, builds)
