"""Claims about gaps to further references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.judgement import Claim
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench_framework.claims.costs import Costs
    from bench_framework.claims.factory import Names
    from bench_framework.model.judgement import Gap


def gap_claims(names: Names, gaps: Sequence[Gap], costs: Costs) -> Iterator[Claim]:
    """Yield one claim per gap with significant ends. A smaller gap is stated with its cost."""
    for gap in gaps:
        smaller = Verdict.BETTER if gap.closed_lo is not None and gap.closed_lo > 0 else None
        cost = costs.phrase(smaller, gap.cell_id, gap.baseline_cell_id, gap.metric)
        yield Claim(
            "",
            "gap",
            names.label(gap.cell_id),
            names.label(gap.ref_cell_id),
            gap.metric,
            names.scope(gap.input_id),
            estimate=gap.closed,
            lo=gap.closed_lo,
            hi=gap.closed_hi,
            level=0.95 if gap.closed_lo is not None else None,
            rounds=gap.rounds,
            cells=(gap.cell_id, gap.ref_cell_id, gap.baseline_cell_id),
            values={
                "before": gap.before,
                "after": gap.after,
                "baseline": names.label(gap.baseline_cell_id),
                **({"cost": cost} if cost else {}),
            },
        )
