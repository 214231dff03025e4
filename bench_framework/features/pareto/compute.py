"""The Pareto front of an input: variants that no other variant dominates.

If the record compares the time or memory of two variants, the verdict counts. Otherwise a measured
metric counts as less only if the two 95 % intervals of the medians do not overlap, and an exact one
(binary size, dependencies) if its value is not larger. See docs/method.md#pareto-front.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bench_framework.compare import cell_state
from bench_framework.compare.same_programs import Pairs
from bench_framework.model.metrics import LEAST_BYTES, PEAK_RSS, WALL
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.plan.policies import Metric
from bench_framework.model.record.run import Build
from bench_framework.model.result.judgement import Comparison, Summary
from bench_framework.model.result.structure import MEASURED_COSTS, Front, Standing
from bench_framework.model.verdict import Verdict

EXACT: Final = ("binary_size", "dependencies")
FEWEST: Final = 2
"""The smallest number of variants, and of metrics, for a trade-off."""
Ends = tuple[float, float]
Decided = Mapping[tuple[str, str, str], Verdict]
"""(metric, first cell, second cell) → verdict on the first."""


@dataclass(frozen=True, slots=True)
class VariantCosts:
    """The costs of a variant: interval bounds of measured metrics, values of exact ones."""

    cell_id: str
    measured: Mapping[Metric, Ends]
    exact: Mapping[Metric, float]
    decided: Decided = field(default_factory=dict)

    def surely_less(self, other: "VariantCosts", metric: Metric) -> bool:
        """Return whether this variant needs less than the other one.

        The comparison of the two decides. Without one, measured metrics need separate intervals,
        of memory with `LEAST_BYTES` between them, and exact metrics are compared by value.
        """
        judged = self.decided.get((metric, self.cell_id, other.cell_id))
        if judged is not None:
            return judged.better
        if metric in self.exact:
            return self.exact[metric] < other.exact[metric]
        least = LEAST_BYTES if metric == PEAK_RSS else 0
        return self.measured[metric][1] + least < other.measured[metric][0]

    def no_more(self, other: "VariantCosts", metric: Metric) -> bool:
        """Return whether this variant is shown to need no more than the other one.

        It needs less, both are equivalent, or it needs at most `LEAST_BYTES` more memory.
        """
        judged = self.decided.get((metric, self.cell_id, other.cell_id))
        if judged is not None and judged.worse:
            return False
        if judged is Verdict.EQUIVALENT or self.surely_less(other, metric):
            return True
        return (
            metric == PEAK_RSS
            and self.measured[metric][1] - LEAST_BYTES <= other.measured[metric][0]
        )

    def beats(self, other: "VariantCosts") -> bool:
        """Return whether it needs less of a measured metric, and no more of any other one or exact one."""
        return (
            any(self.surely_less(other, m) for m in self.measured)
            and all(self.no_more(other, m) for m in self.measured)
            and all(value <= other.exact[m] for m, value in self.exact.items())
        )


def fronts(
    plan: Plan,
    summaries: Sequence[Summary],
    builds: Mapping[str, Build],
    usable: frozenset[str],
    same: Pairs = frozenset(),
    comparisons: Iterable[Comparison] = (),
) -> tuple[Front, ...]:
    """Return the front of each input; a variant never dominates one that runs the same program."""
    decided = decisions(comparisons)
    by_cell = {(s.cell_id, s.metric): s for s in summaries}
    results = []
    for item in plan.inputs:
        arms = plan.compared_cells(item.id)
        every = [_costs(plan, c, by_cell, builds) for c in arms if c.id in usable]
        costs = [replace(c, decided=decided) for c in _comparable(every)]
        metrics = (*costs[0].measured, *costs[0].exact) if costs else ()
        if len(costs) >= FEWEST and len(metrics) >= FEWEST:
            results.append(Front(item.id, metrics, tuple(standings(costs, same))))
    return tuple(results)


def decisions(comparisons: Iterable[Comparison]) -> Decided:
    """Return the verdicts on time and memory in both orders; one with a baseline has precedence."""
    verdicts: dict[tuple[str, str, str], Verdict] = {}
    for c in sorted(comparisons, key=lambda c: c.family != "best"):
        if c.metric in MEASURED_COSTS and c.family != "control":
            verdicts[c.metric, c.cell_id, c.ref_cell_id] = c.verdict
            verdicts[c.metric, c.ref_cell_id, c.cell_id] = c.verdict.opposite
    return verdicts


def standings(costs: Sequence[VariantCosts], same: Pairs = frozenset()) -> Iterator[Standing]:
    """Yield standings of variants with the same metrics; cells of one program are not compared."""
    for cost in costs:
        pairs = ((c, frozenset((c.cell_id, cost.cell_id))) for c in costs if c is not cost)
        others = [c for c, pair in pairs if pair not in same]
        beaten_by = tuple(c.cell_id for c in others if c.beats(cost))
        metrics = (*cost.measured, *cost.exact)
        least = tuple(m for m in metrics if not any(c.surely_less(cost, m) for c in others))
        yield Standing(cost.cell_id, not beaten_by, least, beaten_by)


def _costs(
    plan: Plan,
    cell: Cell,
    summaries: Mapping[tuple[str, Metric], Summary],
    builds: Mapping[str, Build],
) -> VariantCosts:
    measured = {
        m: (s.lo, s.hi)
        for m in MEASURED_COSTS
        if (s := summaries.get((cell.id, m))) is not None and s.lo is not None and s.hi is not None
    }
    build = builds.get(plan.build_id(cell))
    exact = {m: cell_state.exact_value(build, m) for m in EXACT}
    return VariantCosts(cell.id, measured, {m: v for m, v in exact.items() if v is not None})


def _comparable(costs: Sequence[VariantCosts]) -> list[VariantCosts]:
    """Return variants whose time has an interval, with their common metrics that differ."""
    timed = [c for c in costs if WALL in c.measured]
    measured = [m for m in MEASURED_COSTS if all(m in c.measured for c in timed)]
    known = [m for m in EXACT if all(m in c.exact for c in timed)]
    exact = [m for m in known if len({c.exact[m] for c in timed}) > 1]
    return [
        VariantCosts(
            c.cell_id, {m: c.measured[m] for m in measured}, {m: c.exact[m] for m in exact}
        )
        for c in timed
    ]
