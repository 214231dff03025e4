"""Claims about comparisons, with their costs, and about facts such as scaling and coverage."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from bench_framework.compare import cell_state, same_programs
from bench_framework.model import facts
from bench_framework.model.documents.plan import fields_of
from bench_framework.model.facts import Claim, Fact
from bench_framework.model.facts.evidence import Adjustment, Evidence, Scope
from bench_framework.model.facts.summary import Counts
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Reason
from bench_framework.model.record.run import Build, PreparedInput
from bench_framework.model.result.judgement import (
    CellState,
    Comparison,
    Derived,
    Judgement,
    NoiseFloor,
    Summary,
)
from bench_framework.model.result.mapped_files import resource_differences
from bench_framework.model.verdict import Verdict
from bench_framework.text.figures import in_times

LEAST_SIZES: Final = 3
"""The smallest number of input sizes for which the scaling is reported."""


class Names:
    """The names of cells and inputs in sentences."""

    def __init__(self, plan: Plan, states: Sequence[CellState] = ()) -> None:
        self.plan = plan
        self.cells = {c.id: c for c in plan.cells}
        self._cold = cell_state.cold_inputs(plan, states)

    def scope(self, input_id: str) -> Scope:
        """Return the input if there are several, and the cache if every run started cold.

        An input that is named, and has a value with the name of the state, needs no cache.
        """
        item = self.plan.input(input_id)
        place = (("input", item.label),) if len(self.plan.inputs) > 1 else ()
        if input_id not in self._cold or (place and "cold" in dict(item.values).values()):
            return place
        return (*place, ("cache", "cold"))

    def label(self, cell_id: str) -> str:
        """Return the name of a cell: the label of its variant."""
        cell = self.cells[cell_id]
        label = self.plan.variant(cell.variant_id).label
        return f"{label} (control)" if cell.role is Role.CONTROL else label


class Costs:
    """The metrics that are significantly worse, by pair of cells."""

    def __init__(self, comparisons: Iterable[Comparison]) -> None:
        self._worse = defaultdict[tuple[str, str], list[Evidence]](list)
        for c in comparisons:
            if c.metric != WALL and c.shown is not None and c.verdict is Verdict.WORSE:
                self._worse[c.cell_id, c.ref_cell_id].append(figures(c))

    def between(self, cell_id: str, ref_cell_id: str) -> tuple[Evidence, ...]:
        """Return the costs of a cell against another one."""
        return tuple(self._worse[cell_id, ref_cell_id])

    def of_gain(
        self, verdict: Verdict | None, cell_id: str, ref_cell_id: str, metric: Metric
    ) -> tuple[Evidence, ...]:
        """Return the costs if the verdict is a gain in time."""
        gain = verdict and verdict.better and metric == WALL
        return self.between(cell_id, ref_cell_id) if gain else ()


def counts(comparisons: Iterable[Comparison]) -> tuple[Counts, ...]:
    """Return how many comparisons in each metric are significantly worse or better."""
    by_metric = defaultdict[str, list[Comparison]](list)
    for c in comparisons:
        by_metric[c.metric].append(c)
    of_metrics = (
        Counts(
            metric=metric,
            worse=sum(c.verdict.worse for c in group),
            better=sum(c.verdict.better for c in group),
            total=len(group),
        )
        for metric, group in by_metric.items()
    )
    return tuple(c for c in of_metrics if c.worse or c.better)


def figures(c: Comparison) -> Evidence:
    """Return the figures of a comparison, without names and amounts of data."""
    return Evidence(
        metric=c.metric, verdict=c.verdict, margin=c.thresholds.margin, direction=c.direction
    ).with_interval(c.shown)


def is_counted(c: Comparison) -> bool:
    """Return whether a deterministic metric was counted, and not sampled."""
    return c.family == "exact" and bool(c.runs) and c.shown is not None


class ComparisonSource(Protocol):
    """Comparisons with what their claims state in addition, such as a judgement."""

    @property
    def looks(self) -> Looks:
        """Return the schedule of interim analyses."""

    @property
    def states(self) -> tuple[CellState, ...]:
        """Return the states of all cells."""

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Return the comparisons, from which costs follow."""

    @property
    def floors(self) -> tuple[NoiseFloor, ...]:
        """Return the noise floors."""


class ComparisonClaims(Names):
    """Writer of claims about comparisons, without their text.

    By `summaries`, more memory that is pages of mapped files is no cost.
    """

    def __init__(
        self, plan: Plan, compared: ComparisonSource, summaries: Iterable[Summary] = ()
    ) -> None:
        super().__init__(plan, compared.states)
        self._looks = compared.looks
        self.costs = Costs(resource_differences(compared.comparisons, summaries))
        self.floors = {(f.input_id, f.metric): f for f in compared.floors}
        self._in_times = in_times(plan, compared.comparisons)

    def comparison(self, c: Comparison) -> Claim:
        """Return the claim about a comparison."""
        kind = c.family if c.family in ("control", "memory", "reference") else "comparison"
        return self.claim(
            c, facts.Compared(kind=kind, costs=self.headline_costs(c), counted=is_counted(c))
        )

    def headline_costs(self, c: Comparison) -> tuple[Evidence, ...]:
        """Return the costs of a gain in time over the first baseline."""
        if c.family != "headline":
            return ()
        return self.costs.of_gain(c.verdict, c.cell_id, c.ref_cell_id, c.metric)

    def claim(self, c: Comparison, fact: Fact) -> Claim:
        """Return a claim whose evidence is a comparison."""
        return Claim(**fields_of(self.evidence(c)), fact=fact)

    def evidence(self, c: Comparison) -> Evidence:
        """Return the figures of a comparison."""
        input_id = self.cells[c.cell_id].input_id
        floor = self.floors.get((input_id, c.metric))
        return replace(
            figures(c),
            subject=self.label(c.cell_id),
            reference=self.label(c.ref_cell_id),
            scope=self.scope(input_id),
            adjust=self._adjust(c),
            rounds=c.rounds,
            runs=c.runs,
            runs_ref=c.runs_ref,
            phases=c.phases,
            mde=c.mde,
            rounds_needed=c.rounds_needed,
            noise_floor=floor.fraction if floor else None,
            cells=(c.cell_id, c.ref_cell_id),
            reason=c.reason,
            in_times=self._in_times and c.metric == self.plan.judge.headline,
        )

    def _adjust(self, c: Comparison) -> Adjustment | None:
        looks = self._looks
        if c.family in ("headline", "reference", "contrast"):
            return Adjustment("holm", looks.family, looks.count)
        if c.family == "control":
            return Adjustment("first-step", looks.family, looks.count)
        size = sum(cell.role is Role.CANDIDATE for cell in self.plan.cells)
        return Adjustment("bonferroni", size) if c.family == "memory" else None


class FactWriter(Names):
    """Writer of the claims that are not comparisons."""

    def __init__(
        self,
        plan: Plan,
        judgement: Judgement,
        builds: Mapping[str, Build],
        inputs: Sequence[PreparedInput],
    ) -> None:
        super().__init__(plan, judgement.states)
        self._judgement, self._builds = judgement, builds
        self._sizes = {i.input_id: i.size_bytes for i in inputs}
        self._medians = {(s.cell_id, s.metric): s for s in judgement.summaries}

    def write(self) -> Iterator[Claim]:
        """Yield the claims in the order of the report."""
        yield from self._scaling()
        yield from self._memory_shares()
        yield from map(self._derived, (d for d in self._judgement.derived if d.value is not None))
        yield from same_programs.claims(self.plan, self._builds)
        yield self.coverage()
        yield from self._not_measured()

    def noise_floor(self, f: NoiseFloor) -> Claim:
        """Return the claim about a noise floor."""
        control = self.plan.control_cell(f.input_id)
        return Claim(
            "control",
            metric=f.metric,
            scope=self.scope(f.input_id),
            estimate=f.fraction,
            noise_floor=f.fraction,
            cells=(control.id,) if control else (),
            fact=facts.NoiseFloorFact(control_differs=f.tripped),
        )

    def _scaling(self) -> Iterator[Claim]:
        segments = Counter((s.variant_id, s.metric) for s in self._judgement.scaling)
        for s in self._judgement.scaling:
            if segments[s.variant_id, s.metric] < LEAST_SIZES - 1:
                continue
            ends = (s.from_input_id, s.to_input_id)
            start, end = (self.plan.input(i).label for i in ends)
            cells = [c for c in self.plan.cells if c.role is not Role.CONTROL]
            yield Claim(
                self.plan.variant(s.variant_id).label,
                metric=s.metric,
                estimate=s.exponent,
                lo=s.lo,
                hi=s.hi,
                level=s.level,
                cells=tuple(
                    c.id for c in cells if c.variant_id == s.variant_id and c.input_id in ends
                ),
                fact=facts.ScalingFact(smaller=start, larger=end, word=s.word),
            )

    def _memory_shares(self) -> Iterator[Claim]:
        for cell in self.plan.cells:
            peak = self._medians.get((cell.id, PEAK_RSS))
            if peak is None or cell.role is Role.CONTROL:
                continue
            size = self._sizes.get(cell.input_id)
            yield Claim(
                self.label(cell.id),
                metric=PEAK_RSS,
                scope=self.scope(cell.input_id),
                estimate=peak.median,
                lo=peak.lo,
                hi=peak.hi,
                level=0.95 if peak.lo is not None else None,
                rounds=peak.n_rounds,
                runs=peak.n_runs,
                cells=(cell.id,),
                fact=facts.MemoryShare(
                    family=self.plan.unit_family, share=peak.median / size if size else None
                ),
            )

    def _derived(self, row: Derived) -> Claim:
        kind = (row.input_id, "bytes/s", "")
        rows = (d for d in self._judgement.derived if (d.input_id, d.unit, d.assuming) == kind)
        rates = [d.value for d in rows if d.value is not None]
        return Claim(
            row.name.replace("_", " "),
            scope=self.scope(row.input_id),
            estimate=row.value,
            lo=row.lo,
            hi=row.hi,
            level=row.level if row.lo is not None else None,
            rounds=row.rounds,
            margin=self.plan.judge.margin_of(WALL) if row.judged else None,
            cells=row.cell_ids,
            fact=facts.DerivedFact(
                formula=row.formula,
                unit=row.unit,
                family=self.plan.unit_family,
                assuming=row.assuming,
                # The smallest rate of an input sets the unit of all of its rates.
                smallest=min(rates) if row.unit == "bytes/s" and not row.assuming else None,
            ),
        )

    def coverage(self) -> Claim:
        """Return the number of planned cells by state."""
        return Claim(fact=cell_state.coverage(self.plan, self._judgement.states))

    def _not_measured(self) -> Iterator[Claim]:
        """Yield the excluded combinations, grouped by rule, and the cells without measurements."""
        axes = {name for item in self.plan.inputs for name, _ in item.values}
        holes = defaultdict[tuple[str, Reason], list[str]](list)
        for hole in self.plan.holes:
            where = " ".join(f"{name}={value}" for name, value in hole.values if name not in axes)
            place = " ".join(f"{name}={value}" for name, value in hole.values if name in axes)
            holes[where or place, hole.reason].append(place if where else "")
        for (where, reason), places in holes.items():
            at = ", ".join(dict.fromkeys(p for p in places if p))
            subject = f"{where}, {at}" if at else where
            yield Claim(subject, reason=reason, fact=facts.NotMeasured())
        for state in self._judgement.states:
            if state.state in ("failed", "not-started"):
                yield Claim(
                    self.cells[state.cell_id].label,
                    verdict=Verdict.FAILED if state.state == "failed" else None,
                    cells=(state.cell_id,),
                    reason=state.reason,
                    fact=facts.NotMeasured(),
                )
