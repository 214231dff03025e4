"""The claims of a judgement, in the order of the report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench_framework.claims.factory import Facts
from bench_framework.features import axis_dependence, sentences
from bench_framework.features.axes.claims import StructureClaims
from bench_framework.features.experiments.hypotheses import hypothesis_claims
from bench_framework.features.published.claims import published_claims
from bench_framework.features.race.claims import race_claims
from bench_framework.features.references.claims import gap_claims
from bench_framework.features.summary.claims import summary_claims
from bench_framework.features.summary.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench_framework.model.judgement import Claim, Judgement
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Build, PreparedInput


def claims_of(
    plan: Plan,
    judgement: Judgement,
    builds: Mapping[str, Build],
    inputs: Sequence[PreparedInput],
) -> tuple[Claim, ...]:
    """Return every sentence that the record supports, with its evidence, in the report's order."""
    written = enumerate(_write(plan, judgement, builds, inputs), 1)
    numbered = (replace(claim, id=f"c{i}") for i, claim in written)
    return tuple(replace(claim, text=sentences.say(claim)) for claim in numbered)


def _write(
    plan: Plan,
    judgement: Judgement,
    builds: Mapping[str, Build],
    inputs: Sequence[PreparedInput],
) -> Iterator[Claim]:
    at = Evidence(plan, judgement, builds, inputs)
    facts = Facts(plan, judgement, builds, inputs)
    yield from summary_claims(at)
    yield from axis_dependence.sign_changes(at, judgement.comparisons, at.sizes)
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
