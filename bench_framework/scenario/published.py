"""The published claims of a scenario, with the variants and inputs that test them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from bench_framework.model.policies import JudgePolicy
from bench_framework.model.published import Published, PublishedClaim
from bench_framework.scenario.contrasts import input_ids, selected

if TYPE_CHECKING:
    from bench_framework.model.published import TestKind
    from bench_framework.scenario.expansion import Expansion
    from bench_framework.scenario.schema.published import PublishedClaimPart


def published_of(expansion: Expansion) -> Published | None:
    """Return the published report of a valid scenario, `None` if it names none."""
    part = expansion.scenario.spec.published
    if part is None:
        return None
    claims = tuple(_claim(expansion, claim) for claim in part.claims)
    return Published(part.title, part.url, part.date, claims)


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
