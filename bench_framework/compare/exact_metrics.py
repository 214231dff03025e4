"""Deterministic metrics and counts of untimed runs (`docs/method.md#exact-metrics`)."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.compare import cell_state, medians
from bench_framework.compare.interim_analysis import best_of
from bench_framework.model.metrics import COUNTED, INSTRUCTIONS
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.plan.policies import JudgePolicy, Metric
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Build, Observation
from bench_framework.model.result.judgement import BestGroup, Comparison, Summary
from bench_framework.model.verdict import Thresholds, Verdict

COUNTING_RUN: Final = "instructions"
"""The kind of the observations with counted metrics."""


def summaries(observations: Iterable[Observation], known: Iterable[Summary]) -> tuple[Summary, ...]:
    """Summarise counts of untimed runs by cell and metric, except those that timed runs report."""
    timed = {(s.cell_id, s.metric) for s in known}
    values = defaultdict[tuple[str, str], list[float]](list)
    for observation in observations:
        for metric, value in observation.values.items():
            values[observation.cell_id, metric].append(value)
    return tuple(
        replace(medians.summary_of(cell_id, metric, counts), warnings=(Reason(ReasonCode.UNTIMED),))
        for (cell_id, metric), counts in values.items()
        if (cell_id, metric) not in timed
    )


def compare(
    plan: Plan,
    policy: JudgePolicy,
    cell: Cell,
    reference: Cell,
    metric: Metric,
    builds: Mapping[str, Build],
    observations: Sequence[Observation],
) -> Comparison:
    """Compare a deterministic metric of two cells, of their binaries or of untimed runs."""
    thresholds = Thresholds(policy.margin_of(metric), 0.0)
    draft = Comparison.unjudged(cell.id, reference.id, metric, "exact", thresholds)
    if metric not in COUNTED:
        pair = (builds.get(plan.build_id(c)) for c in (cell, reference))
        ours, theirs = (cell_state.exact_value(build, metric) for build in pair)
        if ours is None or theirs is None:
            return replace(draft, reason=Reason(ReasonCode.UNKNOWN_METRIC, metric))
        return medians.compare_exact(draft, ours, theirs)
    for verdict, side, name in (
        (Verdict.FAILED, cell, ""),
        (Verdict.NOT_COMPARABLE, reference, reference.label),
    ):
        for o in observations:
            if (o.cell_id, o.kind) == (side.id, COUNTING_RUN) and o.status != "ok":
                return replace(draft, verdict=verdict, reason=o.failure.at(name))
    counts = [counts_of(observations, side.id, metric) for side in (cell, reference)]
    if not all(counts):
        counted = all(counts_of(observations, side.id, INSTRUCTIONS) for side in (cell, reference))
        code = ReasonCode.NOT_VISIBLE if counted else ReasonCode.NOT_COUNTED
        return replace(draft, reason=Reason(code))
    return medians.compare_counts(draft, *counts)


def counts_of(observations: Iterable[Observation], cell_id: str, metric: Metric) -> list[float]:
    """Return the counts of a metric of a cell, one for each counted run."""
    runs = (o for o in observations if o.cell_id == cell_id and o.kind == COUNTING_RUN)
    return [o.values[metric] for o in runs if metric in o.values]


def best_group(
    plan: Plan,
    input_id: str,
    usable: frozenset[str],
    exact: Callable[[Cell, Cell, Metric], Comparison],
) -> BestGroup:
    """Return the best group by the first judged metric, if that metric is deterministic."""
    metric = plan.judge.headline
    cells = [c for c in plan.compared_cells(input_id) if c.id in usable]
    judged = [exact(b, a, metric) for a, b in itertools.combinations(cells, 2)]
    complete = bool(judged) and all(c.shown is not None for c in judged)
    choices = [c for c in cells if plan.is_choice(c)]
    return best_of(input_id, metric, choices, judged, complete=complete)
