"""The results to which published figures and the author's texts refer, each with its interval."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bench_framework.compare.cell_state import exact_value
from bench_framework.compare.decide import by_interval, within_margin
from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.formula import FormulaUnit
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import Metric
from bench_framework.model.plan.published import CONDITION
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Build
from bench_framework.model.result.judgement import Derived, Judgement, judged_pairs
from bench_framework.model.verdict import Interval, Phases, Verdict
from bench_framework.text.figures import in_times

NOT_MEASURED: Final = Reason(ReasonCode.NOT_MEASURED)
TOO_FEW: Final = Reason(ReasonCode.TOO_FEW_ROUNDS)
_LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class NamedResult:
    """A measured ratio or value on one input.

    `interval` is that of the ratio candidate ÷ reference or of the value, with its 95 % CI. A value has
    no verdict, and a derived one no metric. `higher` is true if larger values are better. `unit` is that
    of a derived value, and `published` the figure in whose unit a value is stated.
    """

    input_id: str
    interval: Interval | None = None
    verdict: Verdict | None = None
    higher: bool = False
    margin: float = 0.0
    reason: Reason | None = None
    metric: Metric = ""
    cells: tuple[str, ...] = ()
    phases: Phases | None = None
    """The ratios before and after a change of the ratio during the record."""
    unit: FormulaUnit | None = None
    in_times: bool = False
    """As `Evidence.in_times`."""


class Results:
    """The results of a judgement, by the names that a scenario gives them."""

    def __init__(self, plan: Plan, judgement: Judgement, builds: Mapping[str, Build]) -> None:
        self.plan, self.judgement, self._builds = plan, judgement, builds
        self._pairs = judged_pairs(judgement.every)
        self._states = {s.cell_id: s for s in judgement.states}
        self._in_times = in_times(plan, judgement.comparisons)

    def contrast(self, name: str, input_ids: Sequence[str] | None = None) -> Iterator[NamedResult]:
        """Yield the result of a named contrast on each of its inputs, or on some of them."""
        for contrast in self.plan.contrasts:
            ids = (contrast.variant_id, contrast.reference_id)
            for input_id in self._planned(contrast.input_ids) if contrast.name == name else ():
                if input_ids is None or input_id in input_ids:
                    yield self._pair(input_id, ids, contrast.metric)

    def against_baseline(
        self, variant_id: str, metric: Metric, input_ids: Sequence[str]
    ) -> Iterator[NamedResult]:
        """Yield the comparison of a variant with the baseline on each input."""
        for input_id in self._planned(input_ids):
            yield self._pair(input_id, (variant_id, self.plan.baseline_id), metric)

    def experiment(self, name: str, metric: Metric = "") -> Iterator[NamedResult]:
        """Yield the comparison of an experiment with the baseline on each input."""
        metric, inputs = metric or self.plan.judge.headline, [item.id for item in self.plan.inputs]
        for experiment in self.plan.experiments:
            if experiment.name == name:
                yield from self.against_baseline(experiment.variant_id, metric, inputs)

    def fulfils(self, condition: str) -> bool:
        """Return whether a condition such as ``worker pool is better`` is fulfilled on every input."""
        match = CONDITION.fullmatch(condition)
        if match is None:
            return not condition
        results = [*self.contrast(match["name"]), *self.experiment(match["name"])]
        return bool(results) and all(
            e.verdict is not None and e.reason is None and e.verdict.is_as(match["verdict"])
            for e in results
        )

    def derived(self, name: str, input_ids: Sequence[str] | None = None) -> Iterator[NamedResult]:
        """Yield a derived value on each input, or on some of them."""
        for row in self.derived_rows(name):
            if input_ids is None or row.input_id in input_ids:
                yield self._derived(row)

    def derived_rows(self, name: str) -> Iterator[Derived]:
        """Yield the rows of a derived value, one per input."""
        return (row for row in self.judgement.derived if row.name == name)

    def noise_floor(self, input_id: str, metric: Metric) -> float | None:
        """Return the noise floor of an input, `None` if it is not known."""
        floors = {(f.input_id, f.metric): f.fraction for f in self.judgement.floors}
        return floors.get((input_id, metric))

    def _planned(self, input_ids: Sequence[str]) -> Iterator[str]:
        """Yield the inputs that a selection of the command line did not leave out."""
        return (item.id for item in self.plan.inputs if item.id in input_ids)

    def values(
        self, variant_id: str, metric: Metric, input_ids: Sequence[str]
    ) -> Iterator[NamedResult]:
        """Yield the median of a metric of a variant on each input."""
        medians = {(s.cell_id, s.metric): s for s in self.judgement.summaries}
        margin = self.plan.judge.margin_of(metric)
        for input_id in self._planned(input_ids):
            cell_id = self.plan.cell_id(variant_id, input_id)
            summary, interval, reason = medians.get((cell_id, metric)), None, None
            build = self._builds.get(self.plan.variant(variant_id).build_id) if cell_id else None
            exact = exact_value(build, metric)
            if exact is not None:
                interval = Interval(exact, exact, exact, 1.0)
            elif summary is not None and summary.lo is not None and summary.hi is not None:
                interval = Interval(summary.median, summary.lo, summary.hi, _LEVEL)
            else:
                reason = self._missing(cell_id) or Reason(ReasonCode.NO_INTERVAL)
            cells = (cell_id,) if cell_id else ()
            yield NamedResult(
                input_id, interval, margin=margin, reason=reason, metric=metric, cells=cells
            )

    def _missing(self, cell_id: str) -> Reason | None:
        """Return why a configuration has no result, or `None`."""
        state = self._states.get(cell_id)
        if state is None or state.state == "not-started":
            return NOT_MEASURED
        return state.reason

    def _pair(self, input_id: str, variants: tuple[str, str], metric: Metric) -> NamedResult:
        candidate, reference = variants
        ids = (self.plan.cell_id(candidate, input_id), self.plan.cell_id(reference, input_id))
        c = self._pairs[metric].get(ids)
        interval = c.shown if c is not None else None
        known = tuple(i for i in ids if i)
        reason = next((r for i in ids if (r := self._missing(i))), None)
        if c is None or interval is None or not interval.bounded or reason:
            other = Reason(ReasonCode.NOT_COMPARED) if c is None else c.reason or TOO_FEW
            reason = reason or other
            return NamedResult(input_id, reason=reason, metric=metric, cells=known)
        higher = c.direction == "higher"
        natural = interval.of_values(higher=higher)
        margin = c.thresholds.margin
        phases = c.phases.inverse if c.phases is not None and higher else c.phases
        return NamedResult(
            input_id,
            natural,
            c.verdict,
            higher,
            margin,
            c.reason,
            metric,
            ids,
            phases,
            in_times=self._in_times and metric == self.plan.judge.headline,
        )

    def _derived(self, row: Derived) -> NamedResult:
        if row.value is None or row.lo is None or row.hi is None:
            known = row.value is not None
            missing = Reason(ReasonCode.NO_INTERVAL) if known else NOT_MEASURED
            return NamedResult(row.input_id, reason=missing, cells=row.cell_ids)
        margin = self.plan.judge.margin_of(WALL)
        interval = Interval(row.value, row.lo, row.hi, row.level or _LEVEL)
        if row.judged:
            variant, reference = (self.plan.cell(i).variant_id for i in row.cell_ids)
            return replace(self._pair(row.input_id, (variant, reference), WALL), unit=row.unit)
        if row.unit != "ratio" or not interval.bounded:
            return NamedResult(
                row.input_id, interval, margin=margin, cells=row.cell_ids, unit=row.unit
            )
        # A ratio of two times is better below 1, every other ratio above 1.
        higher = not row.formula.startswith("time(")
        oriented = interval.inverse if higher else interval
        verdict = by_interval(oriented, margin)
        if not verdict.decided and within_margin(interval, margin):
            verdict = Verdict.EQUIVALENT
        return NamedResult(
            row.input_id, interval, verdict, higher, margin, cells=row.cell_ids, unit=row.unit
        )

    def evidence(self, e: NamedResult) -> Evidence:
        """Return a result as evidence, with its input if the scenario has several."""
        several = len(self.plan.inputs) > 1
        evidence = Evidence(
            metric=e.metric or None,
            verdict=e.verdict,
            margin=e.margin,
            cells=e.cells,
            scope=(("input", self.plan.input(e.input_id).label),) if several else (),
            reason=e.reason,
            phases=e.phases,
            in_times=e.in_times,
        )
        # The figures of a share need not be positive, so this is not `with_interval`.
        if (i := e.interval) is not None:
            evidence = replace(evidence, estimate=i.ratio, lo=i.lo, hi=i.hi, level=i.level)
        return evidence
