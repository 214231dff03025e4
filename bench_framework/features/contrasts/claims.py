"""The claims about the contrasts of a scenario."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bench_framework.model.judgement import Claim, Comparison
    from bench_framework.model.plan import Plan


def contrast_claims(
    plan: Plan,
    pairs_of: Callable[[str], Mapping[tuple[str, str], Comparison]],
    comparison_claim: Callable[[Comparison, str], Claim],
) -> Iterator[Claim]:
    """Yield a claim for each contrast of the scenario on each of its inputs.

    Args:
        plan: the plan with the contrasts.
        pairs_of: returns all judged pairs on a metric, in both orders.
        comparison_claim: returns the claim of a comparison, of a kind.
    """
    for contrast in plan.contrasts:
        for item in plan.inputs:
            for declared, cell, reference in plan.contrast_cells(item.id):
                c = pairs_of(declared.metric).get((cell.id, reference.id))
                if declared == contrast and c is not None:
                    claim = comparison_claim(c, "contrast")
                    yield replace(claim, values={**claim.values, "name": declared.name})
