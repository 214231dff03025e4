"""The comparisons of a record: by rounds, of deterministic values, and of memory."""

import statistics
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bench_framework.compare import (
    cell_state,
    data_quality,
    interim_analysis,
    medians,
    same_programs,
    samples as sampling,
)
from bench_framework.compare.pairs import judge_pairs, unjudged
from bench_framework.compare.stage import MetricPair, Stage
from bench_framework.model.metrics import LEAST_BYTES, PEAK_RSS, is_exact
from bench_framework.model.plan.plan import Cell, Role
from bench_framework.model.plan.planned_comparisons import baseline_pairs
from bench_framework.model.plan.policies import Metric
from bench_framework.model.result.judgement import Comparison, Family, NoiseFloor

Exact = Callable[[Cell, Cell, Metric], Comparison]
"""Compares a deterministic metric of two cells."""


@dataclass(frozen=True, slots=True)
class InputComparisons:
    """All comparisons of one input, except those of its best group.

    Attributes:
        further: comparisons with further baselines, then named contrasts.
        tripped: metrics in which the A/A control differs from the baseline.
    """

    headline: tuple[Comparison, ...]
    further: tuple[Comparison, ...]
    control: tuple[Comparison, ...]
    memory: tuple[Comparison, ...]
    floors: tuple[NoiseFloor, ...]
    tripped: frozenset[Metric]

    @property
    def planned(self) -> tuple[Comparison, ...]:
        """Return the comparisons with any baseline, and the named contrasts."""
        return (*self.headline, *self.further)

    @property
    def all(self) -> tuple[Comparison, ...]:
        """Return the comparisons in the order of a report."""
        return (*self.headline, *self.control, *self.memory, *self.further)


def compare_inputs(
    stages: Mapping[str, Stage],
    planned: Mapping[str, Mapping[Family, Sequence[MetricPair]]],
    exact: Exact,
    tripped: Collection[tuple[str, Metric]] = (),
) -> list[InputComparisons]:
    """Judge the planned pairs by input id, in the order of `stages`.

    The headline, the comparisons with further references and the named contrasts are one family
    over all inputs. Every other family belongs to one input. `tripped` has the (input id, metric)
    pairs whose A/A control differs although the plan does not contain it.
    """
    if not stages:
        return []
    first = next(iter(stages.values()))
    plan, runs = first.plan, first.runs
    cell_pairs = [
        pair
        for input_id, stage in stages.items()
        for pairs in planned[input_id].values()
        for pair in interim_analysis.pairs_of(stage, (p for p in pairs if not is_exact(p[2])))
    ]
    timed = judge_pairs(runs, cell_pairs, interim_analysis.rule_of(first, "headline", cell_pairs))
    by_pair = {(c.cell_id, c.ref_cell_id, c.metric): c for c in timed}
    state_of = {s.cell_id: s for s in runs.states}

    def refused(c: Comparison) -> Comparison:
        return cell_state.refuse_invalid(plan, c, state_of, runs.samples)

    inputs = []
    for input_id, stage in stages.items():
        controls = interim_analysis.control_pairs(stage)
        control = interim_analysis.judge_cells(stage, controls, "control")
        floors = data_quality.noise_floors(stage, control)
        here = frozenset(f.metric for f in floors if f.tripped or (input_id, f.metric) in tripped)
        judged: list[Comparison] = []
        for family, pairs in planned[input_id].items():
            for cell, ref, metric in pairs:
                c = by_pair.get((cell.id, ref.id, metric)) or exact(cell, ref, metric)
                judged.append(c if c.family == "exact" else replace(c, family=family))
        lowered = interim_analysis.make_inconclusive_where_control_differs(judged, here)
        # A configuration that was not started has this reason, whatever its control shows.
        judged = list(map(refused, lowered))
        count = len(planned[input_id].get("headline", ()))
        inputs.append(
            InputComparisons(
                headline=tuple(judged[:count]),
                further=tuple(judged[count:]),
                control=tuple(map(refused, control)),
                memory=tuple(map(refused, _memory(stage))),
                floors=floors,
                tripped=here,
            )
        )
    return inputs


def _memory(stage: Stage) -> Iterator[Comparison]:
    """Yield the comparisons of peak memory with the baseline, judged once, at the end.

    Margin and minimum effect size are at least `LEAST_BYTES`.
    """
    plan, samples = stage.plan, stage.runs.samples
    if PEAK_RSS in stage.policy.metrics:
        return
    size = sum(1 for c in plan.cells if c.role is Role.CANDIDATE)
    known = {cell_id for cell_id, sample in samples.items() if sample.values(PEAK_RSS)}
    for cell, baseline in baseline_pairs(plan, stage.input_id):
        if {cell.id, baseline.id} <= known:
            values = (samples[side.id].values(PEAK_RSS) for side in (cell, baseline))
            pair = sampling.pair(*values)
            cell_pairs = interim_analysis.pairs_of(stage, [(cell, baseline, PEAK_RSS)])
            pair = pair.until(cell_pairs[0].until)
            rule = interim_analysis.rule_of(stage, "memory", cell_pairs, size=size)
            c = unjudged(stage.runs, cell_pairs[0], rule, pair.rounds)
            if len(pair):
                least = LEAST_BYTES / min(map(statistics.median, (pair.candidate, pair.reference)))
                c = replace(c, thresholds=c.thresholds.at_least(least))
                c = medians.compare_medians(c, pair, level=rule.looks.level, size=rule.size)
            yield same_programs.without_verdict(c, stage.runs.same)
