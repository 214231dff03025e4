"""The variants and inputs that named contrasts and published claims select."""

from collections.abc import Iterator, Mapping
from typing import cast

from bench_framework.model.declarations import NamedContrast
from bench_framework.model.plan import Variant
from bench_framework.model.policies import JudgePolicy
from bench_framework.model.published import Published, PublishedClaim, TestKind
from bench_framework.scenario.axes import named_values
from bench_framework.scenario.expansion import Expansion
from bench_framework.scenario.schema.published import PublishedClaimPart

EXPERIMENT = "experiment"
"""The key that selects the variant of an experiment in place of axis values."""


def selected(expansion: Expansion, given: Mapping[str, str]) -> Variant | None:
    """Return the variant that one side of a contrast selects, or `None` if it does not exist."""
    variants = [
        p.variant for p in (*expansion.parts.values(), *expansion.experiment_parts.values())
    ]
    if EXPERIMENT in given:
        ids = {e.name: e.variant_id for e in expansion.experiments}
        return next((v for v in variants if v.id == ids.get(given[EXPERIMENT])), None)
    values = named_values(expansion.axes, expansion.scenario.spec.baseline, given)
    return next((v for v in variants if v.values == values and v.experiment is None), None)


def input_ids(expansion: Expansion, selection: Mapping[str, str]) -> tuple[str, ...]:
    """Return the ids of the inputs that have these values of input axes."""
    return tuple(
        given.id
        for values, (given, _) in expansion.inputs.items()
        if selection.items() <= dict(values).items()
    )


def named_contrasts(expansion: Expansion) -> Iterator[NamedContrast]:
    """Yield the contrasts of a valid scenario."""
    spec = expansion.scenario.spec
    for part in spec.contrasts:
        candidate = selected(expansion, part.candidate)
        reference = selected(expansion, part.reference)
        assert candidate is not None
        assert reference is not None
        metric = part.metric or JudgePolicy(tuple(spec.judge)).headline
        ids = input_ids(expansion, part.input)
        yield NamedContrast(part.name, candidate.id, reference.id, ids, metric, part.group or "")


def published_of(expansion: Expansion) -> Published | None:
    """Return the published report of a valid scenario, `None` if it names none."""
    part = expansion.scenario.spec.published
    if part is None:
        return None
    claims = tuple(_claim(expansion, claim) for claim in part.claims)
    return Published(part.title, part.url, part.date, claims, part.decisions)


def _claim(expansion: Expansion, part: PublishedClaimPart) -> PublishedClaim:
    given = part.variant if part.variant is not None else part.scaling
    variant = selected(expansion, given) if given is not None else None
    return PublishedClaim(
        part.claim,
        part.figure or "",
        cast("TestKind", part.test),
        part.contrast or part.derived or part.not_testable or "",
        variant.id if variant is not None else "",
        input_ids(expansion, part.input),
        part.metric or JudgePolicy(tuple(expansion.scenario.spec.judge)).headline,
    )
