"""The one comparison that a report shows for a pair of configurations."""

from collections.abc import Sequence
from typing import Final

from bench_framework.model.judgement import Comparison
from bench_framework.model.policies import Metric

_PREFERRED: Final = ("headline", "reference", "contrast", "exact", "best")


def judged_pairs(
    comparisons: Sequence[Comparison], metric: Metric
) -> dict[tuple[str, str], Comparison]:
    """Return (cell id, cell id) → comparison in both orders, preferably one with a baseline."""
    by_pair: dict[tuple[str, str], Comparison] = {}
    for family in reversed(_PREFERRED):
        family_members = [c for c in comparisons if c.family == family and c.metric == metric]
        by_pair |= {
            (c.cell_id, c.ref_cell_id): c for one in family_members for c in (one.mirrored(), one)
        }
    return by_pair
