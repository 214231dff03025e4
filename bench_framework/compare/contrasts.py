"""Contrasts: weighted sums of log values within rounds, for effects, contributions and crossovers.

A contrast is a weighted sum of the log values of cells of one round, so that whatever slows all
cells of a round equally cancels. Its estimate is that of Hodges and Lehmann, its interval comes
from the Walsh averages, and its p-value is that of the exact signed-rank test. Holm's procedure
runs over the family, and J interim analyses are adjusted for as in all comparisons. See
`docs/method.md#contrasts`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Final

import numpy as np

from bench_framework.compare.decide import RatioTest, decide, equivalence_level
from bench_framework.compare.stage import Runs
from bench_framework.compare.verdict import PLAIN_LEVEL
from bench_framework.model.plan.looks import Looks, rounds_needed
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import CONTROL_DIFFERS, ONE_PROGRAM, Reason, ReasonCode
from bench_framework.model.record.run import Look, PreparedInput
from bench_framework.model.result.judgement import Comparison, NoiseFloor
from bench_framework.model.result.structure import ContrastResult
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.stats import intervals, signed_rank
from bench_framework.stats.holm_family import adjust_for_looks, holm
from bench_framework.stats.portable_math import log
from bench_framework.stats.signed_rank import Floats

FEWEST_ROUNDS: Final = 6
"""With fewer rounds there is no 95 % interval, and nothing is reported."""
TOO_FEW: Final = Reason(ReasonCode.TOO_FEW_FOR_CONTRASTS)
NO_WEIGHT: Final = 1e-9
"""A smaller sum of weights counts as zero, because sums of fractions have rounding errors."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """A contrast before it is judged: a weighted sum of the log values of an input's cells.

    Attributes:
        values: the sum by round, shape (rounds,).
        weights: cell id → factor of its logarithm, up to a common factor.
    """

    input_id: str
    values: Floats
    weights: Mapping[str, float]


@dataclass(frozen=True)
class ContrastData:
    """The data of a record from which contrasts are computed. It has no slots, because it caches `usable`.

    Attributes:
        looks: the schedule of interim analyses, with their number J.
        last: input id → round of the last interim analysis. Inputs without one are not judged.
        tripped: ids of inputs whose A/A control differs significantly in the metric.
        reported: (candidate id, reference id) → comparison that the report shows for the pair.
    """

    plan: Plan
    runs: Runs
    looks: Looks
    last: Mapping[str, int]
    tripped: frozenset[str]
    inputs: tuple[PreparedInput, ...] = ()
    reported: Mapping[tuple[str, ...], Comparison] = field(default_factory=dict)

    @property
    def metric(self) -> Metric:
        """The main metric."""
        return self.plan.judge.headline

    @property
    def higher(self) -> bool:
        """True if larger values of it are better; the sign of its logarithms is then changed."""
        return self.metric in self.runs.higher

    @cached_property
    def usable(self) -> frozenset[str]:
        """Ids of the cells that were measured as planned and have the metric in enough rounds."""
        return self.runs.usable_for(self.metric)

    def logs(
        self, cell_ids: Sequence[str], input_id: str
    ) -> tuple[tuple[int, ...], dict[str, Weighted]]:
        """Return the rounds in which every cell has a positive value, and the logarithms by cell.

        Rounds after the last interim analysis of the input are left out.
        """
        series = {cell: self.runs.samples[cell].values(self.metric) for cell in cell_ids}
        last, sign = self.last.get(input_id, 0), -1.0 if self.higher else 1.0
        rounds = tuple(
            r
            for r in sorted(series[cell_ids[0]])
            if r <= last and all(s.get(r, 0.0) > 0 for s in series.values())
        )
        return rounds, {
            cell: Weighted(input_id, np.array([sign * log(s[r]) for r in rounds]), {cell: 1.0})
            for cell, s in series.items()
        }

    def one_program(self, weights: Mapping[str, float]) -> bool:
        """Return whether a contrast compares programs only with themselves (an A/A test)."""
        sums: defaultdict[str, float] = defaultdict(float)
        for cell, weight in weights.items():
            program = min(c for c in weights if c == cell or frozenset((cell, c)) in self.runs.same)
            sums[program] += weight
        return all(abs(total) < NO_WEIGHT for total in sums.values())


def weighted_sum(terms: Sequence[tuple[float, Weighted]]) -> Weighted:
    """Return Σ weight · contrast, for contrasts of one input.

    Terms are added one after the other, because a matrix product adds them in an order that depends
    on the processor.
    """
    values, sums = np.zeros_like(terms[0][1].values), defaultdict[str, float](float)
    for factor, term in terms:
        values += factor * term.values
        for cell, weight in term.weights.items():
            sums[cell] += factor * weight
    return Weighted(terms[0][1].input_id, values, sums)


def contrast_data(
    plan: Plan,
    runs: Runs,
    looks: Looks,
    taken: Sequence[Look],
    floors: Sequence[NoiseFloor] = (),
    inputs: Sequence[PreparedInput] = (),
) -> ContrastData:
    """Collect the data of a record from which contrasts are computed."""
    metric = plan.judge.headline
    return ContrastData(
        plan,
        runs,
        looks,
        {look.input_id: look.round for look in sorted(taken, key=lambda look: look.round)},
        frozenset(f.input_id for f in floors if f.tripped and f.metric == metric),
        tuple(inputs),
    )


def judge_contrasts(family: Sequence[Weighted], at: ContrastData) -> tuple[ContrastResult, ...]:
    """Judge the contrasts of one family, each with at least one round.

    A contrast is inconclusive if the A/A control of its input differs, or if it compares a program
    only with itself. A contrast of two cells has the verdict that the report has for the pair
    (`docs/method.md#one-verdict-per-pair`).
    """
    policy, looks, size = at.plan.judge, max(1, at.looks.count), max(1, len(family))
    p_values = [signed_rank.p_value(c.values) for c in family]
    adjusted = holm([adjust_for_looks(p, looks) for p in p_values], size=size, level=policy.level)
    contrasts = []
    for c, p, holm_result in zip(family, p_values, adjusted, strict=True):
        level = 1 - policy.level / (looks * holm_result.divisor)
        at_level = intervals.typical_with_batches(c.values, level).ratio
        equivalence = partial(_equivalence, c.values, equivalence_level(looks))
        decision = decide(
            RatioTest(holm_result.rejected, at_level, "typical", equivalence),
            policy.thresholds_of(at.metric),
        )
        verdict, interval, reason = decision.verdict, decision.interval, decision.reason
        rounds = len(c.values)
        if verdict is Verdict.INCONCLUSIVE and rounds < rounds_needed(looks, size, policy.level):
            reason = reason or TOO_FEW
        if c.input_id in at.tripped:
            verdict, interval, reason = Verdict.INCONCLUSIVE, at_level, CONTROL_DIFFERS
        if at.one_program(c.weights):
            verdict, interval, reason = Verdict.INCONCLUSIVE, at_level, ONE_PROGRAM
        pair = at.reported.get(tuple(c.weights))
        if pair is not None and pair.shown is not None:
            verdict, interval = pair.verdict, pair.shown
            reason = pair.reason
        contrasts.append(ContrastResult(verdict, interval, rounds, p, holm_result.p, reason))
    return tuple(contrasts)


def _equivalence(values: Floats, level: float) -> Interval | None:
    bounds, plain = (intervals.typical_with_batches(values, x) for x in (level, PLAIN_LEVEL))
    return bounds.containing(plain).ratio if bounds.level >= level else None


def simultaneous(values: Floats, at: ContrastData, size: int) -> intervals.Bounds:
    """Return the interval of a contrast at level 1 − α/(J·size), valid for the whole family."""
    return intervals.typical_with_batches(
        values, 1 - at.plan.judge.level / (max(1, at.looks.count) * max(1, size))
    )
