"""The claims of a judgement, in the order in which a report reads them. Plain Python."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.analysis import states, wording
from bench_framework.model.judgement import Claim, Verdict
from bench_framework.model.plan import Role
from bench_framework.units import format_percent, format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench_framework.model.judgement import (
        BestGroup,
        CellState,
        Comparison,
        Judgement,
        NoiseFloor,
        Scope,
    )
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Build, Event, PreparedInput

_BETTER: Final = (Verdict.BETTER, Verdict.BETTER_SIZE_OPEN)
_WORSE: Final = (Verdict.WORSE, Verdict.WORSE_SIZE_OPEN)
MOST_NAMED: Final = 4
LEAST_SIZES: Final = 3
"""Sizes below which nothing is said about growth (R7)."""
_KIND_OF_FAMILY: Final[Mapping[str, str]] = {"control": "control", "memory": "memory"}


def claims_of(
    plan: Plan,
    judgement: Judgement,
    builds: Mapping[str, Build],
    inputs: Sequence[PreparedInput],
    noted: Sequence[Event] = (),
) -> tuple[Claim, ...]:
    """Every sentence that the record supports, with its evidence; ids in the order of reading.

    `noted` are the events of execution, which the trust line counts beside those of the judgement.
    """
    author = _Author(plan, judgement, builds, inputs, noted)
    numbered = (replace(claim, id=f"c{i}") for i, claim in enumerate(author.write(), 1))
    return tuple(replace(claim, text=wording.say(claim)) for claim in numbered)


class _Author:
    """Turns the parts of a judgement into claims without text."""

    def __init__(
        self,
        plan: Plan,
        judgement: Judgement,
        builds: Mapping[str, Build],
        inputs: Sequence[PreparedInput],
        noted: Sequence[Event],
    ) -> None:
        self._noted = noted
        self._plan, self._judgement, self._builds = plan, judgement, builds
        self._sizes = {i.input_id: i.size_bytes for i in inputs}
        self._cells = {c.id: c for c in plan.cells}
        self._by_pair = {(c.cell_id, c.metric): c for c in judgement.comparisons}
        self._floors = {(f.input_id, f.metric): f for f in judgement.floors}
        self._medians = {(s.cell_id, s.metric): s for s in judgement.summaries}

    def write(self) -> Iterator[Claim]:
        for group in self._judgement.best:
            yield self._main(group)
        yield from self._costs()
        yield from self._sign_changes()
        yield from self._ideas()
        yield self._trust()
        for group in self._judgement.best:
            yield from self._recommendation(group)
        for comparison in self._judgement.comparisons:
            yield self._comparison(comparison)
        yield from map(self._noise_floor, self._judgement.floors)
        yield from self._scaling()
        yield from self._memory_shares()
        yield from self._one_programs()
        yield self._coverage()
        yield from self._not_measured()

    def _scope(self, input_id: str) -> Scope:
        return (("input", self._plan.input(input_id).label),) if len(self._plan.inputs) > 1 else ()

    def _label(self, cell_id: str) -> str:
        cell = self._cells[cell_id]
        label = self._plan.variant(cell.variant_id).label
        return f"{label} (control)" if cell.role is Role.CONTROL else label

    def _named(self, cell_ids: Sequence[str]) -> str:
        """Variants by name, the first four of many: the table has them all."""
        labels = [self._label(cell) for cell in cell_ids]
        if len(labels) <= MOST_NAMED + 1:
            return ", ".join(labels)
        return f"{', '.join(labels[:MOST_NAMED])} and {len(labels) - MOST_NAMED} more"

    def _comparison(self, c: Comparison, kind: str | None = None) -> Claim:
        input_id = self._cells[c.cell_id].input_id
        floor = self._floors.get((input_id, c.metric))
        values: dict[str, float | int | str] = {}
        if c.reason:
            values["reason"] = c.reason
        if c.mde is not None:
            values["mde"] = c.mde
            if c.rounds_needed is not None:
                values["rounds_needed"] = c.rounds_needed
        shown = c.shown if c.shown and c.shown.lo > 0 and math.isfinite(c.shown.hi) else None
        return Claim(
            id="", kind=kind or _KIND_OF_FAMILY.get(c.family, "comparison"),
            subject=self._label(c.cell_id), reference=self._label(c.ref_cell_id), metric=c.metric,
            scope=self._scope(input_id), verdict=c.verdict,
            estimate=shown.ratio if shown else None,
            lo=shown.lo if shown else None, hi=shown.hi if shown else None,
            level=shown.level if shown else None, adjust=self._adjust(c),
            rounds=c.rounds, runs=c.runs, margin=c.margin, noise_floor=floor.fraction if floor else None,
            cells=(c.cell_id, c.ref_cell_id), values=values,
        )  # fmt: skip

    def _adjust(self, c: Comparison) -> str | None:
        looks = self._judgement.looks
        if c.family == "headline":
            return f"Holm over {looks.family} comparisons, {looks.count} looks"
        if c.family == "control":
            return f"as the first of {looks.family} comparisons, {looks.count} looks"
        return "Bonferroni" if c.family == "memory" else None

    def _main(self, group: BestGroup) -> Claim:
        scope, baseline = self._scope(group.input_id), self._plan.baseline_cell(group.input_id)
        blank = Claim(
            "", "nothing", self._plan.question, None, group.metric, scope, None, cells=group.cell_ids
        )
        decided = [c for c in group.comparisons if c.verdict.settled]
        if not decided or baseline is None or not group.cell_ids:
            return replace(blank, values={"reason": self._why_nothing(group)})
        members = self._named(group.cell_ids)
        chosen = self._leading(group, baseline.id)
        if chosen is None:
            return replace(
                blank, kind="main", subject=self._label(baseline.id),
                values={"members": members, "count": len(group.cell_ids)},
            )  # fmt: skip
        claim = self._comparison(chosen, "main")
        values = {**claim.values, "members": members, "count": len(group.cell_ids)}
        if cost := self._cost_words(chosen):
            values["cost"] = cost
        cells = (*claim.cells, *(c for c in group.cell_ids if c not in claim.cells))
        return replace(claim, values=values, cells=cells)

    def _leading(self, group: BestGroup, baseline_id: str) -> Comparison | None:
        """The first member, in plan order, that is decidedly better than the baseline.

        Without one: what the baseline, as the best, was compared with first and found decided.
        Taken from the headline family, whose intervals hold together.
        """
        own = [self._by_pair.get((c, group.metric)) for c in group.cell_ids]
        better = [c for c in own if c is not None and c.verdict in _BETTER]
        if better:
            return better[0]
        others = [
            c for c in self._judgement.comparisons
            if c.ref_cell_id == baseline_id and c.metric == group.metric and c.family == "headline"
        ]  # fmt: skip
        return next((c for c in others if c.verdict.settled), None)

    def _why_nothing(self, group: BestGroup) -> str:
        floor = self._floors.get((group.input_id, group.metric))
        if floor is not None and floor.tripped:
            return "control tripped"
        own = [
            c for c in self._judgement.comparisons
            if c.metric == group.metric and c.family == "headline"
            and self._cells[c.cell_id].input_id == group.input_id
        ]  # fmt: skip
        if not own:
            return "there is nothing to compare"
        reasons = dict.fromkeys(c.reason for c in own if c.reason)
        if reasons:
            return "; ".join(reasons)
        if not self._judgement.looks.decidable:
            return f"{own[0].rounds} rounds cannot reach the level; {self._judgement.looks.needed} can"
        mde = max((c.mde for c in own if c.mde is not None), default=None)
        if mde is None:
            return "no comparison reached the level"
        return (
            f"only differences of {format_percent(math.ceil(mde * 100) / 100)} or more would have been found"
        )

    def _cost_words(self, gain: Comparison) -> str:
        """R21: ``"for 25 % more CPU time"``, where a gain in time costs CPU time or memory."""
        if gain.verdict not in _BETTER or gain.metric != "wall":
            return ""
        costs = [self._by_pair.get((gain.cell_id, m)) for m in ("cpu", "peak_rss")]
        told = [
            f"{format_percent(c.shown.ratio - 1, decimals=0 if c.shown.ratio > 1.1 else 1)} more "  # noqa: PLR2004
            f"{wording.noun(c.metric)}"
            for c in costs if c is not None and c.shown is not None and c.verdict is Verdict.WORSE
        ]  # fmt: skip
        return f"for {' and '.join(told)}" if told else ""

    def _costs(self) -> Iterator[Claim]:
        """CPU time and memory that are worse where wall time is better (R21)."""
        for c in self._judgement.comparisons:
            gain = self._by_pair.get((c.cell_id, "wall"))
            pays = c.metric != "wall" and c.family in ("headline", "memory") and c.verdict is Verdict.WORSE
            if pays and gain is not None and gain.verdict in _BETTER:
                yield self._comparison(c, "cost")

    def _sign_changes(self) -> Iterator[Claim]:
        """R5: variants that are better on one input and worse on another."""
        for variant in self._plan.variants:
            for metric in self._plan.judge.metrics:
                own = [
                    c for c in self._judgement.comparisons
                    if c.family == "headline" and c.metric == metric
                    and self._cells[c.cell_id].variant_id == variant.id
                ]  # fmt: skip
                ways = {v for c in own for v in (_direction(c),) if v}
                if len(ways) > 1:
                    yield self._sign_change(variant.label, metric, own)

    def _sign_change(self, label: str, metric: str, own: Sequence[Comparison]) -> Claim:
        decided = [c for c in own if _direction(c) and c.shown is not None]
        ordered = sorted(decided, key=lambda c: self._size(c) or 0)
        cases = "; ".join(
            f"{self._plan.input(self._cells[c.cell_id].input_id).label}: {_change(c)} {wording.noun(metric)}"
            for c in ordered
        )
        turns = [
            (a, b) for a, b in itertools.pairwise(ordered)
            if _direction(a) != _direction(b) and self._size(a) and self._size(b)
        ]  # fmt: skip
        values: dict[str, float | int | str] = {"cases": cases}
        if turns:
            a, b = (self._plan.input(self._cells[c.cell_id].input_id).label for c in turns[0])
            values["turn"] = f"; it turns between {a} and {b}"
        return Claim(
            "", "sign-change", label, self._label(own[0].ref_cell_id), metric, (), None,
            cells=tuple(c.cell_id for c in ordered), margin=own[0].margin, values=values,
        )  # fmt: skip

    def _size(self, c: Comparison) -> int | None:
        item = self._plan.input(self._cells[c.cell_id].input_id)
        return self._sizes.get(item.id) or (item.dataset.size_bytes if item.dataset else None)

    def _ideas(self) -> Iterator[Claim]:
        """Counts of what was tried and not adopted, by verdict: the reason is never the author's."""
        rejected = [i for i in self._plan.ideas if i.decision == "rejected"]
        if not rejected:
            return
        words = [
            wording.word(c.verdict, c.metric) if c else "not measured"
            for i in rejected for c in (self._idea(i.variant_id),)
        ]  # fmt: skip
        counts = ", ".join(f"{n} {word}" for word, n in Counter(words).items())
        count = f"{len(rejected)} idea{'s' if len(rejected) != 1 else ''}"
        yield Claim(
            "", "ideas", "ideas", None, None, (), None, values={"count": count, "outcomes": counts},
            cells=tuple(c.id for c in self._plan.cells if c.variant_id in {i.variant_id for i in rejected}),
        )  # fmt: skip

    def _idea(self, variant_id: str) -> Comparison | None:
        own = (c for c in self._judgement.comparisons if self._cells[c.cell_id].variant_id == variant_id)
        return next((c for c in own if c.family == "headline"), None)

    def _trust(self) -> Claim:
        rounds = [c.rounds for c in self._judgement.comparisons if c.family == "headline" and c.rounds]
        told = "no rounds" if not rounds else f"{max(rounds)} rounds"
        if rounds and min(rounds) != max(rounds):
            told = f"{min(rounds)} to {max(rounds)} rounds"
        fractions = [f.fraction for f in self._judgement.floors if f.fraction is not None]
        floor = "no noise floor"
        if fractions:
            floor = f"noise floor {format_percent(math.ceil(max(fractions) * 1000) / 1000, decimals=1)}"
        events = dict.fromkeys((*self._noted, *self._judgement.events))
        count = sum(1 for e in events if e.severity != "note")
        values = {
            "rounds": told, "floors": floor,
            "warnings": f"{count or 'no'} warning{'s' if count != 1 else ''}",
        }  # fmt: skip
        return Claim(
            "", "trust", "this record", None, None, (), None, rounds=max(rounds, default=0),
            noise_floor=max(fractions, default=None), values=values,
        )  # fmt: skip

    def _recommendation(self, group: BestGroup) -> Iterator[Claim]:
        """Only where something was told apart, and only for what was measured (R4)."""
        if not group.cell_ids or not any(c.verdict.decided for c in group.comparisons):
            return
        yield Claim(
            "", "recommendation", self._label(group.cell_ids[0]), None, group.metric,
            self._scope(group.input_id), None, cells=group.cell_ids,
            values={"members": self._named(group.cell_ids), "count": len(group.cell_ids)},
        )  # fmt: skip

    def _noise_floor(self, f: NoiseFloor) -> Claim:
        values: dict[str, float | int | str] = {"tripped": 1} if f.tripped else {}
        control = self._plan.control_cell(f.input_id)
        return Claim(
            "", "noise-floor", "control", None, f.metric, self._scope(f.input_id), None,
            estimate=f.fraction, noise_floor=f.fraction,
            cells=(control.id,) if control else (), values=values,
        )  # fmt: skip

    def _scaling(self) -> Iterator[Claim]:
        segments = Counter(s.variant_id for s in self._judgement.scaling)
        for s in self._judgement.scaling:
            if segments[s.variant_id] < LEAST_SIZES - 1:
                continue
            start, end = self._plan.input(s.from_input_id).label, self._plan.input(s.to_input_id).label
            yield Claim(
                "", "scaling", self._plan.variant(s.variant_id).label, None, s.metric,
                (("input", f"{start} to {end}"),), None,
                estimate=s.exponent, lo=s.lo, hi=s.hi, level=s.level,
                cells=tuple(
                    c.id for c in self._plan.cells
                    if c.variant_id == s.variant_id and c.input_id in (s.from_input_id, s.to_input_id)
                    and c.role is not Role.CONTROL
                ),
                values={"from": start, "to": end, "word": s.word},
            )  # fmt: skip

    def _memory_shares(self) -> Iterator[Claim]:
        for cell in self._plan.cells:
            peak = self._medians.get((cell.id, "peak_rss"))
            if peak is None or cell.role is Role.CONTROL:
                continue
            size = self._sizes.get(cell.input_id)
            values: dict[str, float | int | str] = {"size": format_size(peak.median)}
            if size:
                values["share"] = peak.median / size
            yield Claim(
                "", "memory-share", self._label(cell.id), None, "peak_rss", self._scope(cell.input_id), None,
                estimate=peak.median, lo=peak.lo, hi=peak.hi, level=0.95 if peak.lo is not None else None,
                rounds=peak.n_rounds, runs=peak.n_runs, cells=(cell.id,), values=values,
            )  # fmt: skip

    def _one_programs(self) -> Iterator[Claim]:
        for a, b in states.identical_binaries(self._plan, self._builds):
            first, second = self._plan.variant(a).label, self._plan.variant(b).label
            yield Claim("", "one-program", second, first, None, (), None)

    def _coverage(self) -> Claim:
        words = {
            "other-output": "other output",
            "not-comparable": "not comparable",
            "not-started": "not started",
        }
        own = [s for s in self._judgement.states if self._cells[s.cell_id].role is not Role.CONTROL]
        counts = Counter(words.get(s.state, s.state) for s in own)
        values: dict[str, float | int | str] = {"planned": len(own), "measured": 0, **counts}
        values["excluded"] = len(self._plan.holes)
        return Claim("", "coverage", "this record", None, None, (), None, values=values)

    def _not_measured(self) -> Iterator[Claim]:
        """Holes of the plan and cells without figures (S25)."""
        for hole in self._plan.holes:
            where = " ".join(f"{name}={value}" for name, value in hole.values)
            yield Claim("", "not-measured", where, None, None, (), None, values={"reason": hole.reason})
        for state in self._judgement.states:
            if state.state in ("failed", "not-started"):
                yield self._missing(state)

    def _missing(self, state: CellState) -> Claim:
        label = self._cells[state.cell_id].label
        verdict = Verdict.FAILED if state.state == "failed" else None
        values = {"reason": state.reason or state.state}
        return Claim(
            "", "not-measured", label, None, None, (), verdict, cells=(state.cell_id,), values=values
        )


def _direction(c: Comparison) -> int:
    return -1 if c.verdict in _BETTER else int(c.verdict in _WORSE)


def _change(c: Comparison) -> str:
    """Change with its interval, for the list of a sign change: ``"+7.8 % [+7.2, +8.4]"``."""
    assert c.shown is not None
    return wording.percent_change(c.shown.ratio, c.shown.lo, c.shown.hi, c.margin)
