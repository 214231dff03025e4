"""Gaps to further references, and the share of a gap that a candidate closes; claims, sentences.

The headline and the further references are one Holm family, so the level of the report applies to
all of its tables. M includes both before the start.
"""

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bench_framework.claims.factory import Costs, Names
from bench_framework.compare.medians import LEVEL, median_rank
from bench_framework.compare.samples import Sample
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.planned_comparisons import reference_pairs
from bench_framework.model.plan.policies import Metric
from bench_framework.model.result.judgement import Comparison, Gap
from bench_framework.model.verdict import Verdict

TIMES: Final = (WALL, CPU)
"""The metrics in seconds. For other metrics, a gap has no name."""


def gaps(
    plan: Plan, comparisons: Sequence[Comparison], samples: Mapping[str, Sample]
) -> tuple[Gap, ...]:
    """Return every gap whose three comparisons are significant, in plan order.

    A candidate without a significant difference from the baseline has not closed a gap.
    """
    metric = plan.judge.headline
    if metric not in TIMES:
        return ()
    verdicts = {(c.cell_id, c.ref_cell_id): c.verdict for c in comparisons if c.metric == metric}
    return tuple(
        gap
        for item in plan.inputs
        for ids in _ends(plan, item.id, verdicts)
        if (gap := _gap(item.id, metric, ids, samples)) is not None
    )


def _ends(
    plan: Plan, input_id: str, verdicts: Mapping[tuple[str, str], Verdict]
) -> Iterator[tuple[str, str, str]]:
    """Yield candidate, baseline and reference of each gap with significant comparisons."""
    baseline = plan.baseline_cell(input_id)
    if baseline is None:
        return
    for cell, reference in reference_pairs(plan, input_id):
        start = verdicts.get((reference.id, baseline.id))
        end = verdicts.get((cell.id, reference.id))
        way = verdicts.get((cell.id, baseline.id))
        if start and start.better and end and end.decided and way and way.decided:
            yield cell.id, baseline.id, reference.id


def _gap(
    input_id: str, metric: Metric, ids: tuple[str, str, str], samples: Mapping[str, Sample]
) -> Gap | None:
    cell, baseline, reference = (samples[i].values(metric) for i in ids)
    rounds = sorted(cell.keys() & baseline.keys() & reference.keys())
    before = [baseline[r] - reference[r] for r in rounds]
    after = [cell[r] - reference[r] for r in rounds]
    if not rounds or statistics.median(before) <= 0:
        # A gap that the median does not show has no size.
        return None
    closed, bounds = share_closed(before, after)
    return Gap(
        input_id,
        metric,
        *ids,
        rounds=len(rounds),
        before=statistics.median(before),
        after=statistics.median(after),
        closed=closed,
        closed_lo=bounds[0] if bounds else None,
        closed_hi=bounds[1] if bounds else None,
    )


def share_closed(
    before: Sequence[float], after: Sequence[float]
) -> tuple[float, tuple[float, float] | None]:
    """Return the share s of a gap that is closed, with its 95 % interval, from paired distances.

    The interval contains each share s for which the sign test does not reject that (1 − s)·before −
    after has the median 0. If every distance before is positive, it is the order-statistic interval
    of the shares of the rounds. A round with a negative distance before counts on the opposite
    side. It may make the interval unbounded (Fieller's case). Then there is no interval, and no
    share is reported.

    The distances are baseline minus reference, with a positive median, and candidate minus
    reference.
    """
    estimate = 1 - statistics.median(after) / statistics.median(before)
    least = median_rank(len(before), LEVEL)
    roots = sorted({1 - b / a for a, b in zip(before, after, strict=True) if a})
    if not least or not roots:
        return estimate, None

    import numpy as np  # noqa: PLC0415 -- sentences do not load numpy

    gap, left = np.asarray(before), np.asarray(after)

    def is_inside(share: float) -> bool:
        signs = (1 - share) * gap - left
        return bool(min(np.count_nonzero(signs >= 0), np.count_nonzero(signs <= 0)) >= least)

    span = roots[-1] - roots[0] + 1
    if is_inside(roots[0] - span) or is_inside(roots[-1] + span):
        return estimate, None
    between = [(a + b) / 2 for a, b in itertools.pairwise(roots)]
    inside = [share for share in (*roots, *between) if is_inside(share)]
    if not inside or not min(inside) <= estimate <= max(inside):
        return estimate, None
    return estimate, (min(inside), max(inside))


def gap_claims(names: Names, gaps: Sequence[Gap], costs: Costs) -> Iterator[Claim]:
    """Yield one claim per gap with significant ends. A smaller gap is stated with its cost."""
    for gap in gaps:
        smaller = Verdict.BETTER if gap.closed_lo is not None and gap.closed_lo > 0 else None
        yield Claim(
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
            fact=facts.GapClosed(
                before=gap.before,
                after=gap.after,
                baseline=names.label(gap.baseline_cell_id),
                costs=costs.of_gain(smaller, gap.cell_id, gap.baseline_cell_id, gap.metric),
            ),
        )
