"""The claims of a judgement in the order of the report, and the sentence of each claim.

A kind of claim is one function and one line in `SENTENCES`.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.claims import metric_nouns, phrases
from bench_framework.claims.factory import Facts, Names
from bench_framework.features.axes.claims import STRUCTURE_SENTENCES, StructureClaims
from bench_framework.features.experiments.compute import HYPOTHESIS_SENTENCES, hypothesis_claims
from bench_framework.features.imported import sentences as imported_sentences
from bench_framework.features.profile.compute import PROFILE_SENTENCES
from bench_framework.features.published.compute import PUBLISHED_SENTENCES, published_claims
from bench_framework.features.race import compute as race
from bench_framework.features.references.compute import gap, gap_claims
from bench_framework.features.summary.claims import SUMMARY_SENTENCES, summary_claims
from bench_framework.features.summary.evidence import Evidence
from bench_framework.model.facts import Case, Claim, SignChange
from bench_framework.model.judgement import Comparison, Judgement
from bench_framework.model.plan import Input, Plan
from bench_framework.model.run import Build, PreparedInput
from bench_framework.text import write
from bench_framework.text.names import scope_of


def say(claim: Claim) -> str:
    """Return the sentence of a claim, without a full stop. Raises `KeyError`: unknown kind.

    It depends only on the fields of the claim, so anyone who has the claim can rebuild it.
    """
    if claim.fact is not None:
        return write.say(claim)
    if phrases.IN_SESSION not in claim.values:
        return SENTENCES[claim.kind](claim)
    return imported_sentences.in_session(claim, SENTENCES[claim.kind](replace(claim, scope=())))


SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "comparison": phrases.comparison,
    "control": phrases.comparison,
    "memory": lambda claim: f"{scope_of(claim)}{phrases.comparison(claim)}",
    "reference": lambda claim: f"{scope_of(claim)}{phrases.comparison(claim)}",
    "gap": gap,
    "race": race.race,
    "dropped": race.dropped,
    "idle": race.idle,
    "limits": imported_sentences.limits,
    "sessions": imported_sentences.sessions,
    **STRUCTURE_SENTENCES,
    **PROFILE_SENTENCES,
    **HYPOTHESIS_SENTENCES,
    **PUBLISHED_SENTENCES,
    **SUMMARY_SENTENCES,
}
"""Kind of claim → the function that returns its sentence."""


def sign_changes(
    names: Names, comparisons: Sequence[Comparison], sizes: Mapping[str, int | None]
) -> Iterator[Claim]:
    """Yield a claim per variant, reference and metric: better on one input, worse on another."""
    plan = names.plan
    references = (plan.baseline_id, *plan.further_baselines)
    groups = defaultdict[tuple[str, str, str], list[Comparison]](list)
    for c in comparisons:
        if c.family in ("headline", "reference", "exact"):
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

    def case(c: Comparison) -> Case:
        ratio, lo, hi = metric_nouns.natural_ratio(c)
        return Case(input=item(c).label, ratio=ratio, lo=lo, hi=hi)

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
        "",
        "sign-change",
        label,
        names.label(first.ref_cell_id),
        first.metric,
        cells=tuple(c.cell_id for c in ordered),
        margin=first.thresholds.margin,
        fact=SignChange(cases=tuple(map(case, ordered)), turns=tuple(turns)),
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
    plan: Plan, judgement: Judgement, builds: Mapping[str, Build], inputs: Sequence[PreparedInput]
) -> tuple[Claim, ...]:
    """Return every sentence that the record supports, with its evidence, in the report's order."""
    return numbered(_write(plan, judgement, builds, inputs))


def numbered(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Return claims with their numbers and sentences."""
    with_ids = (replace(claim, id=f"c{i}") for i, claim in enumerate(claims, 1))
    return tuple(replace(claim, text=say(claim)) for claim in with_ids)


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
    yield from race.race_claims(at, judgement)
    yield from published_claims(plan, judgement, builds)
