"""One contrast per round, judged by signed ranks: the engine of effects, contributions and crossings.

A contrast is a weighted sum of log values of cells of one round, so that whatever slows all cells of a round alike
cancels. Its estimate is Hodges-Lehmann, its interval that of Walsh averages, its p the exact signed-rank one; Holm
runs over the family, and the looks are paid for as in the headline (METHOD 2 and 3).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from bench_framework.compare.decide import Evidence, decide, equivalence_level
from bench_framework.model.judgement import ONE_PROGRAM
from bench_framework.model.looks import rounds_needed
from bench_framework.model.structure import TYPICAL_HERE, Contrast
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.stats import intervals, signed_rank
from bench_framework.stats.holm_family import holm, over_looks
from bench_framework.stats.portable_math import log

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.compare.same_programs import Pairs
    from bench_framework.compare.samples import Sample
    from bench_framework.model.judgement import Comparison, NoiseFloor
    from bench_framework.model.looks import Looks
    from bench_framework.model.plan import Plan
    from bench_framework.model.policies import Metric
    from bench_framework.model.run import Look, PreparedInput

Floats = npt.NDArray[np.float64]

FEWEST_ROUNDS: Final = 6
"""Below them there is no 95 % interval, and nothing is said."""
TOO_FEW: Final = "too few rounds for so many contrasts"
TRIPPED: Final = "control tripped"
NO_WEIGHT: Final = 1e-9
"""Weights are sums of simple fractions: what is below this is their rounding."""
FASTEST_ONLY: Final = (
    "decided in the fastest third of the rounds alone, as the comparison with the baseline says"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """All that this part of the judging needs of a record.

    Attributes:
        samples: cell id → sample.
        usable: ids of cells that did the work that was asked for.
        last: input id → round of the last look that was taken; inputs without one are not judged.
        tripped: ids of inputs whose control arm got a verdict.
        metric: the headline's.
        higher: whether it is better when larger; its logarithms are turned round.
        inputs: as prepared.
    """

    plan: Plan
    looks: Looks
    samples: Mapping[str, Sample]
    usable: frozenset[str]
    last: Mapping[str, int]
    tripped: frozenset[str]
    metric: Metric
    higher: bool
    inputs: tuple[PreparedInput, ...] = ()
    told: Mapping[tuple[str, str], Comparison] = field(default_factory=dict)
    """Two cells → what the report's tables of comparisons say of the first against the second."""
    same: Pairs = frozenset()
    """Pairs of cells that run one program."""

    def logs(self, cell_ids: Sequence[str], input_id: str) -> tuple[tuple[int, ...], Floats]:
        """Rounds in which every cell has a value above zero, and its logarithms, shape (rounds, cells)."""
        series = [self.samples[cell].of(self.metric) for cell in cell_ids]
        last = self.last.get(input_id, 0)
        rounds = tuple(
            r for r in sorted(series[0]) if r <= last and all(s.get(r, 0.0) > 0 for s in series)
        )
        table = np.array([[log(s[r]) for s in series] for r in rounds]).reshape(
            len(rounds), len(series)
        )
        return rounds, -table if self.higher else table

    def one_program(self, weights: Mapping[str, float]) -> bool:
        """Whether a contrast holds programs against themselves alone, so that it is an A/A test.

        Args:
            weights: cell id → what its logarithm is multiplied by; cells of one input.
        """
        sums: dict[str, float] = {}
        for cell, weight in weights.items():
            program = min(
                other for other in weights if other == cell or frozenset((cell, other)) in self.same
            )
            sums[program] = sums.get(program, 0.0) + weight
        return all(abs(total) < NO_WEIGHT for total in sums.values())


def weighted_sum(terms: Sequence[tuple[float, Floats]]) -> Floats:
    """Σ weight · series, one term after the other: in a matrix product the BLAS kernel chooses the order."""
    total = np.zeros_like(terms[0][1])
    for weight, series in terms:
        total += weight * series
    return total


def measured(
    plan: Plan,
    looks: Looks,
    samples: Mapping[str, Sample],
    usable: frozenset[str],
    taken: Sequence[Look],
    floors: Sequence[NoiseFloor],
    higher: frozenset[Metric],
    inputs: Sequence[PreparedInput],
    same: Pairs = frozenset(),
) -> Measured:
    """The record as the modules of this part see it."""
    metric = plan.judge.headline
    last: dict[str, int] = {}
    for look in taken:
        last[look.input_id] = max(look.round, last.get(look.input_id, 0))
    return Measured(
        plan,
        looks,
        samples,
        frozenset(c for c in usable if c in samples),
        last,
        frozenset(f.input_id for f in floors if f.tripped),
        metric,
        metric in higher,
        tuple(inputs),
        same=same,
    )


def judge_contrasts(
    series: Sequence[Floats],
    at: Measured,
    *,
    size: int | None = None,
    tripped: Sequence[bool] = (),
    weights: Sequence[Mapping[str, float]] = (),
) -> tuple[Contrast, ...]:
    """Contrasts of one family, in the order given.

    Args:
        series: per contrast its value in each round, on the log scale; at least one round each.
        at: for α, J, ε and δ.
        size: of the family; the number of series by default.
        tripped: per contrast, whether the control arm of its input got a verdict: then it is inconclusive.
        weights: per contrast, by cell; one that compares a program with itself is an A/A test, and decides nothing.
    """
    policy, looks = at.plan.judge, max(1, at.looks.count)
    size = max(1, len(series) if size is None else size)
    p_values = [signed_rank.p_value(s) for s in series]
    adjusted = holm([over_looks(p, looks) for p in p_values], size=size, level=policy.level)
    found = []
    for i, (values, p, own) in enumerate(zip(series, p_values, adjusted, strict=True)):
        level = 1 - policy.level / (looks * own.divisor)
        at_level = intervals.typical(values, level).ratio
        equivalence = partial(_equivalence, values, equivalence_level(looks))
        decision = decide(
            Evidence(own.rejected, at_level, "typical", equivalence),
            policy.thresholds_of(at.metric),
        )
        verdict, shown, reason = decision.verdict, decision.shown, decision.reason
        if verdict is Verdict.INCONCLUSIVE and len(values) < rounds_needed(
            looks, size, policy.level
        ):
            reason = reason or TOO_FEW
        if tripped and tripped[i]:
            verdict, shown, reason = Verdict.INCONCLUSIVE, at_level, TRIPPED
        if weights and at.one_program(weights[i]):
            verdict, shown, reason = Verdict.INCONCLUSIVE, at_level, ONE_PROGRAM
        found.append(Contrast(verdict, shown, len(values), p, own.p, reason))
    return tuple(found)


def as_told(contrast: Contrast, cell_ids: Sequence[str], at: Measured) -> Contrast:
    """A contrast of two cells that another table compares: as it has it, so that a pair has one verdict.

    Args:
        contrast: of the two cells, judged in a family of this part.
        cell_ids: candidate and reference; contrasts of more cells are returned as they are.
        at: with what the other tables say.
    """
    told = at.told.get((cell_ids[0], cell_ids[1])) if len(cell_ids) == 2 else None  # noqa: PLR2004 -- a pair
    if told is None or told.shown is None:
        return contrast
    if told.statistic == "floor":
        # Its figure is of another statistic than those that stand beside it here.
        if told.verdict is contrast.verdict:
            return replace(contrast, reason=TYPICAL_HERE)
        return replace(
            contrast,
            verdict=Verdict.INCONCLUSIVE,
            reason=FASTEST_ONLY if told.verdict.decided else told.reason,
        )
    return replace(contrast, verdict=told.verdict, shown=told.shown, reason=told.reason)


def _equivalence(values: Floats, level: float) -> Interval | None:
    bounds = intervals.typical(values, level)
    return bounds.ratio if bounds.level >= level else None


def simultaneous(values: Floats, at: Measured, size: int) -> intervals.Bounds:
    """An interval that holds together with those of the whole family, whichever is picked: 1 − α/(J·size)."""
    return intervals.typical(
        values, 1 - at.plan.judge.level / (max(1, at.looks.count) * max(1, size))
    )
