"""The results that a summary states: judged pairs, medians, and the leading input."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Final, Literal

from bench_framework.claims.factory import ComparisonClaims
from bench_framework.model.facts import Claim, Fact
from bench_framework.model.facts.evidence import Quantity
from bench_framework.model.metrics import ANONYMOUS, PEAK_RSS
from bench_framework.model.plan.declarations import NamedContrast
from bench_framework.model.plan.plan import Cell, Input, Plan, Role, Values
from bench_framework.model.plan.planned_comparisons import contrast_cells
from bench_framework.model.reasons import ONE_PROGRAM, UNSTABLE
from bench_framework.model.record.run import Build, PreparedInput
from bench_framework.model.result.judgement import (
    MAIN_FAMILIES,
    BestGroup,
    Comparison,
    Judgement,
    judged_pairs,
)
from bench_framework.model.result.mapped_files import maps_files
from bench_framework.model.verdict import Verdict

CLOSE: Final = 1.02
"""Two medians of memory or CPU time whose quotient is at most this count as equal."""


class SummaryView(ComparisonClaims):
    """The results of a record, by pair and by configuration."""

    def __init__(
        self,
        plan: Plan,
        judgement: Judgement,
        builds: Mapping[str, Build],
        inputs: Sequence[PreparedInput],
        *,
        outputs_differ: bool = False,
    ) -> None:
        super().__init__(plan, judgement, judgement.summaries)
        self.judgement = judgement
        self.builds = builds
        self.outputs_differ = outputs_differ
        self.metric = plan.judge.headline
        self.medians = {(s.cell_id, s.metric): s.median for s in judgement.summaries}
        self.groups = {g.input_id: g for g in judgement.best}
        sizes = {i.id: i.dataset.size_bytes for i in plan.inputs if i.dataset}
        self.sizes = sizes | {i.input_id: i.size_bytes for i in inputs if i.size_bytes}
        self._pairs = judged_pairs(judgement.every)
        self.higher = judgement.higher(self.metric)

    def pair(self, cell_id: str, ref_cell_id: str, metric: str = "") -> Comparison | None:
        """Return the comparison of two cells, by default on the main metric."""
        return self._pairs[metric or self.metric].get((cell_id, ref_cell_id))

    def choices(self, input_id: str) -> list[Cell]:
        """Return the planned cells of an input that the answer may choose."""
        roles = (Role.BASELINE, Role.CANDIDATE)
        cells = [c for c in self.plan.cells_of(input_id) if c.role in roles]
        return [c for c in cells if self.plan.is_choice(c)]

    def compared(self, input_id: str) -> list[Cell]:
        """Return the measured cells of an input that the answer may choose, fastest first."""
        cells = self.choices(input_id)
        measured = (c for c in cells if (c.id, self.metric) in self.medians)
        return sorted(measured, key=lambda c: self._place(c.id))

    def _place(self, cell_id: str) -> float:
        """Return the ratio by which the table orders its rows, smaller is better."""
        baseline = self.plan.baseline_cell(self.cells[cell_id].input_id)
        if baseline is None or cell_id == baseline.id:
            return 1.0
        pair = self.pair(cell_id, baseline.id)
        if pair is not None and pair.shown is not None:
            return pair.shown.ratio
        mine, theirs = (self.medians.get((i, self.metric), 0.0) for i in (cell_id, baseline.id))
        if mine <= 0 or theirs <= 0:
            return math.inf
        return theirs / mine if self.higher else mine / theirs

    def alike(self, cell_id: str, other_id: str) -> bool:
        """Return whether the estimates of two cells of one input differ by at most the margin."""
        first, second = sorted((self._place(cell_id), self._place(other_id)))
        return second <= first * (1 + self.plan.judge.margin_of(self.metric))

    def order(self, cell_id: str, other_id: str) -> int:
        """Return -1 if a cell is significantly better than another on one input, 1 if worse.

        Without a comparison of the two, their intervals relative to the baseline decide. The result
        is 0 if the order is not significant.
        """
        pair = self.pair(cell_id, other_id)
        if pair is not None:
            return (pair.verdict.worse - pair.verdict.better) if pair.verdict.decided else 0
        baseline = self.plan.baseline_cell(self.cells[cell_id].input_id)
        pairs = [self.pair(c, baseline.id) if baseline else None for c in (cell_id, other_id)]
        first, second = (p.shown if p is not None else None for p in pairs)
        if first is None or second is None:
            return 0
        # Below 1 is better, also if larger values are.
        return (first.lo > second.hi) - (first.hi < second.lo)

    def is_duplicate(self, cell_id: str) -> bool:
        """Return whether a cell runs the program of its baseline under another name."""
        baseline = self.plan.baseline_cell(self.cells[cell_id].input_id)
        pair = self.pair(cell_id, baseline.id) if baseline is not None else None
        return pair is not None and pair.reason == ONE_PROGRAM

    def leaders(self, group: BestGroup) -> list[str]:
        """Return the members of a best group, the first row of the table first.

        A duplicate of the baseline is left out, unless it is the only member.
        """
        members = [c for c in group.cell_ids if not self.is_duplicate(c)] or group.cell_ids
        return sorted(members, key=self._place)

    def answer_contrast(self, input_id: str) -> tuple[NamedContrast, Cell, Cell] | None:
        """Return the contrast that answers the question, with its candidate and its reference, or `None`."""
        headline = self.plan.headline
        name = headline.contrast if headline else None
        return next((c for c in contrast_cells(self.plan, input_id) if c[0].name == name), None)

    def unstable_controls(self) -> list[Comparison]:
        """Return the A/A controls whose ratio changed during the record, in the main metric."""
        return [
            c
            for c in self.judgement.comparisons
            if c.family == "control" and c.metric == self.metric and c.reason == UNSTABLE
        ]

    def statement(self, c: Comparison, fact: Fact) -> Claim:
        """Return a claim of the summary whose figures are those of a comparison."""
        return replace(self.claim(c, fact), scope=())

    def input_label(self, c: Comparison) -> str:
        """Return the label of the input of a comparison."""
        return self.plan.input(self.cells[c.cell_id].input_id).label

    def labels(self, cell_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the names of cells."""
        return tuple(map(self.label, cell_ids))

    def amount(self, cell_id: str, metric: str = PEAK_RSS) -> Quantity | None:
        """Return the median of a cell if it is in bytes or seconds, or `None`."""
        value = self.medians.get((cell_id, metric))
        unit = self.plan.unit_of(metric)
        if value is None or unit not in ("bytes", "s"):
            return None
        known_unit: Literal["bytes", "s"] = "s" if unit == "s" else "bytes"
        return Quantity(value=value, unit=known_unit, family=self.plan.unit_family)

    def unmapped(self, cell_id: str) -> Quantity | None:
        """Return the memory of a cell without mapped pages, if it has many and this is known."""
        state = next((s for s in self.judgement.states if s.cell_id == cell_id), None)
        parts = [self.medians.get((cell_id, metric)) for metric in (PEAK_RSS, ANONYMOUS)]
        if state is None or not maps_files(state, dict(self.values(cell_id)), *parts):
            return None
        return self.amount(cell_id, ANONYMOUS)

    def values(self, cell_id: str) -> Values:
        """Return the values of the variant of a cell."""
        return self.plan.variant(self.cells[cell_id].variant_id).values

    def value_name(self, axis: str, value: str) -> str:
        """Return the label of a value, or the value with its axis if it has none, such as ``io=read``."""
        label = self.plan.value_labels.get((axis, value), value)
        return label if label != value else f"{axis}={value}"

    def choice(self) -> tuple[str, ...]:
        """Return the values to which the scenario restricts the choice, empty without them."""
        choices = self.plan.choose_from
        return tuple(" ".join(starmap(self.value_name, values)) for values in choices)

    def main_comparisons(self) -> list[Comparison]:
        """Return the comparisons that the status counts: of the main metric, and named contrasts."""
        return [
            c
            for c in self.judgement.comparisons
            if c.family in MAIN_FAMILIES
            and (c.metric == self.metric or c.family == "contrast")
            and c.reason != ONE_PROGRAM
        ]

    def regressions(self) -> list[Comparison]:
        """Return the comparisons of two revisions that became worse, the largest change first."""
        worse = [c for c in self.main_comparisons() if c.verdict.worse and c.shown is not None]
        return sorted(worse, key=lambda c: -(c.shown.ratio if c.shown else 0.0))

    def leading_input(self) -> Input | None:
        """Return the input that the summary is about: the largest one with a conclusive result.

        Fixed costs matter least there. Without sizes it is the last input of the scenario, with the
        first page cache of several. Of two revisions it is the input with the largest regression.
        """
        if self.plan.revisions is not None and (worse := self.regressions()):
            return self.plan.input(self.cells[worse[0].cell_id].input_id)
        compared = [i for i in self.plan.inputs if (g := self.groups.get(i.id)) and g.comparisons]
        conclusive = [i for i in compared if self.is_conclusive(self.groups[i.id])]
        candidates = conclusive or compared or self.plan.inputs
        baselines = {i.id: self.plan.baseline_cell(i.id) for i in self.plan.inputs}
        caches = {i: cell.cache if cell is not None else None for i, cell in baselines.items()}
        states = [*dict.fromkeys(caches.values())]

        def size_and_cache(item: Input) -> tuple[int, int]:
            return self.sizes.get(item.id) or 0, -states.index(caches[item.id])

        return max(reversed(candidates), key=size_and_cache, default=None)

    @staticmethod
    def is_conclusive(group: BestGroup) -> bool:
        """Return whether any pair of variants has a verdict."""
        compared = (c for c in group.comparisons if c.reason != ONE_PROGRAM)
        return bool(group.cell_ids) and any(c.verdict.settled for c in compared)


def unsettled(c: Comparison) -> bool:
    """Return whether a comparison could have had a verdict and has none."""
    return c.verdict is Verdict.INCONCLUSIVE and c.reason != ONE_PROGRAM
