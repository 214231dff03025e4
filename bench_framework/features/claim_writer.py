"""The claims of a judgement, in the order in which a report reads them. Plain Python."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.claims import metric_nouns, phrases, value_phrases, verdict_counts
from bench_framework.claims.costs import BETTER, Costs, elsewhere
from bench_framework.claims.factory import Facts, Names
from bench_framework.features import axis_dependence, sentences
from bench_framework.features.axes.claims import StructureClaims
from bench_framework.features.experiments.hypotheses import hypothesis_claims
from bench_framework.features.race.claims import race_claims
from bench_framework.features.references.claims import gap_claims
from bench_framework.model.judgement import ONE_PROGRAM, Claim
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.verdict import Verdict
from bench_framework.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench_framework.model.judgement import (
        BestGroup,
        Comparison,
        Judgement,
        NoiseFloor,
    )
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Build, Event, PreparedInput

_WORSE: Final = (Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN)
LEAST_INPUTS: Final = 2
_KIND_OF_FAMILY: Final[Mapping[str, str]] = {
    "control": "control",
    "memory": "memory",
    "reference": "reference",
}
_OWN_FAULT: Final = (Verdict.FAILED, Verdict.OTHER_OUTPUT, Verdict.NOT_COMPARABLE)
MOST_REASONS: Final = 3
"""Told in a sentence; the table has the rest."""


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
    return tuple(replace(claim, text=sentences.say(claim)) for claim in numbered)


class _Author(Names):
    """Turns the parts of a judgement into claims without text."""

    def __init__(
        self,
        plan: Plan,
        judgement: Judgement,
        builds: Mapping[str, Build],
        inputs: Sequence[PreparedInput],
        noted: Sequence[Event],
    ) -> None:
        super().__init__(plan, judgement.states)
        self._noted = noted
        self._judgement = judgement
        self._facts = Facts(plan, judgement, builds, inputs)
        self._sizes = {i.input_id: i.size_bytes for i in inputs}
        bases = {
            base.id for item in plan.inputs if (base := plan.baseline_cell(item.id)) is not None
        }
        first = [c for c in judgement.comparisons if c.ref_cell_id in bases]
        self._by_pair = {(c.cell_id, c.metric): c for c in first}
        """Of each cell its comparison with the first baseline."""
        self._costs_of = Costs(judgement.comparisons)
        self._floors = {(f.input_id, f.metric): f for f in judgement.floors}

    def write(self) -> Iterator[Claim]:
        for group in self._judgement.best:
            yield self._main(group)
        yield from self._by_input()
        yield from self._costs()
        yield from axis_dependence.sign_changes(self, self._judgement.comparisons, self._sizes)
        yield from axis_dependence.rejected_experiments(
            self, self._judgement.comparisons, self._costs_of
        )
        yield self._trust()
        for group in self._judgement.best:
            yield from self._recommendation(group)
        for comparison in self._judgement.comparisons:
            yield self._comparison(comparison)
        yield from map(self._noise_floor, self._judgement.floors)
        yield from self._facts.write()
        yield from StructureClaims(self.plan, self._judgement, self._costs_of).write()
        yield from gap_claims(self, self._judgement.gaps, self._costs_of)
        yield from hypothesis_claims(self, self._judgement.hypotheses, self._costs_of)
        yield from race_claims(self, self._judgement, self._comparison)

    def _comparison(self, c: Comparison, kind: str | None = None) -> Claim:
        input_id = self.cells[c.cell_id].input_id
        floor = self._floors.get((input_id, c.metric))
        values: dict[str, float | int | str] = {}
        if c.reason:
            values["reason"] = c.reason
        if c.mde is not None:
            values["mde"] = c.mde
            if c.rounds_needed is not None:
                values["rounds_needed"] = c.rounds_needed
        cost = self._costs_of.paid(c.verdict, c.cell_id, c.ref_cell_id, c.metric)
        if cost and c.family == "headline":
            values["cost"] = cost
        values |= metric_nouns.details(c)
        if c.statistic == "floor" and c.verdict.decided:
            values["statistic"] = "floor"
            if c.typical is not None:
                values |= {
                    "typical": c.typical.ratio,
                    "typical_lo": c.typical.lo,
                    "typical_hi": c.typical.hi,
                }
        shown = c.shown if c.shown and c.shown.lo > 0 and math.isfinite(c.shown.hi) else None
        return Claim(
            id="",
            kind=kind or _KIND_OF_FAMILY.get(c.family, "comparison"),
            subject=self.label(c.cell_id),
            reference=self.label(c.ref_cell_id),
            metric=c.metric,
            scope=self.scope(input_id),
            verdict=c.verdict,
            estimate=shown.ratio if shown else None,
            lo=shown.lo if shown else None,
            hi=shown.hi if shown else None,
            level=shown.level if shown else None,
            adjust=self._adjust(c),
            rounds=c.rounds,
            runs=c.runs,
            margin=c.margin,
            noise_floor=floor.fraction if floor else None,
            cells=(c.cell_id, c.ref_cell_id),
            values=values,
        )

    def _adjust(self, c: Comparison) -> str | None:
        looks = self._judgement.looks
        if c.family in ("headline", "reference"):
            return f"Holm over {looks.family} comparisons, {looks.count} looks"
        if c.family == "control":
            return f"as the first of {looks.family} comparisons, {looks.count} looks"
        return "Bonferroni" if c.family == "memory" else None

    def _main(self, group: BestGroup) -> Claim:
        scope, baseline = self.scope(group.input_id), self.plan.baseline_cell(group.input_id)
        blank = Claim(
            "", "nothing", self.plan.question, None, group.metric, scope, None, cells=group.cell_ids
        )
        decided = [c for c in group.comparisons if c.verdict.settled]
        if not decided or baseline is None or not group.cell_ids:
            return replace(
                blank, values={"reason": self._why_nothing(group), **self._decided_elsewhere(group)}
            )
        members = self.named(group.cell_ids)
        chosen = self._leading(group, baseline.id)
        if chosen is None:
            return replace(
                blank,
                kind="main",
                subject=self.label(baseline.id),
                values={"members": members, "count": len(group.cell_ids)},
            )
        claim = self._comparison(chosen, "main")
        own = self._against(baseline.id, group.metric)
        told = (
            verdict_counts.counts(own) if baseline.id in group.cell_ids and chosen in own else None
        )
        if told is not None:
            return replace(
                claim,
                subject=self.label(baseline.id),
                reference=None,
                verdict=None,
                estimate=None,
                lo=None,
                hi=None,
                level=None,
                rounds=max(c.rounds for c in own),
                runs=max(c.runs for c in own),
                cells=tuple(
                    dict.fromkeys((baseline.id, *group.cell_ids, *(c.cell_id for c in own)))
                ),
                values={
                    "members": members,
                    "count": len(group.cell_ids),
                    "counts": told,
                    "compared": len(own),
                },
            )
        values = {**claim.values, "members": members, "count": len(group.cell_ids)}
        cells = (*claim.cells, *(c for c in group.cell_ids if c not in claim.cells))
        return replace(claim, values=values, cells=cells)

    def _leading(self, group: BestGroup, baseline_id: str) -> Comparison | None:
        """The first member, in plan order, that is decidedly better than the baseline, beyond the margin if one is.

        The verdicts of a family hold together, so that choosing by verdict costs nothing; choosing by estimate would.
        Without one: what beat the baseline, or any other variant, within the best group's own family. Where the
        baseline is itself among the best: what was compared with it first and found decided, of few; of many the
        verdicts are counted instead. Never the observed leader: a pick by the data needs an interval of its own.
        """
        own = [self._by_pair.get((c, group.metric)) for c in group.cell_ids]
        better = [c for c in own if c is not None and c.verdict in BETTER]
        if better:
            return next((c for c in better if c.verdict is Verdict.BETTER), better[0])
        if baseline_id not in group.cell_ids:
            won = [
                c
                for c in group.comparisons
                if c.verdict.decided
                and (c.cell_id in group.cell_ids) != (c.ref_cell_id in group.cell_ids)
            ]
            over = [c for c in won if baseline_id in (c.cell_id, c.ref_cell_id)]
            if won:
                return (over or won)[0]
        return next(
            (c for c in self._against(baseline_id, group.metric) if c.verdict.settled), None
        )

    def _against(self, baseline_id: str, metric: str) -> list[Comparison]:
        """The headline's comparisons with a baseline, in plan order."""
        return [
            c
            for c in self._judgement.comparisons
            if c.ref_cell_id == baseline_id and c.metric == metric and c.family == "headline"
        ]

    def _by_input(self) -> Iterator[Claim]:
        """The best of every input on one line, where there are several (R4, R5)."""
        groups = self._judgement.best
        told = [g for g in groups if self._tells(g)]
        if len(groups) < LEAST_INPUTS or not told:
            return
        named = {
            g.input_id: self.named(g.cell_ids) if self._tells(g) else self._nothing(g)
            for g in groups
        }
        each = "; ".join(
            f"{self.plan.input(g.input_id).label}: {named[g.input_id]}" for g in groups
        )
        several = any(len(g.cell_ids) > 1 for g in told)
        text = f"the best {'group ' if several else ''}by input: {each}"
        if len(set(named.values())) == 1:
            which = "best" if len(told[0].cell_ids) == 1 else "the best group"
            text = f"on all {len(groups)} inputs {which}: {named[groups[0].input_id]}"
        cells = tuple(cell for g in told for cell in g.cell_ids)
        yield Claim(
            "",
            "best-by-input",
            self.plan.question,
            None,
            told[0].metric,
            (),
            None,
            cells=cells,
            values={"told": text},
        )

    @staticmethod
    def _tells(group: BestGroup) -> bool:
        return bool(group.cell_ids) and any(c.verdict.settled for c in group.comparisons)

    def _nothing(self, group: BestGroup) -> str:
        return f"nothing decided{f' in {phrases.noun(group.metric)}' if self._decided_elsewhere(group) else ''}"

    def _decided_elsewhere(self, group: BestGroup) -> dict[str, str]:
        """A difference in CPU time or memory is one, though nobody is best by it."""
        told = elsewhere(
            c
            for (cell, metric), c in self._by_pair.items()
            if metric != group.metric
            and self.cells[cell].input_id == group.input_id
            and c.family != "control"
        )
        return {"elsewhere": told} if told else {}

    def _why_nothing(self, group: BestGroup) -> str:
        floor = self._floors.get((group.input_id, group.metric))
        if floor is not None and floor.tripped:
            return "the control arm was told from the baseline that it copies"
        own = [
            c
            for c in self._judgement.comparisons
            if c.metric == group.metric
            and c.family == "headline"
            and self.cells[c.cell_id].input_id == group.input_id
        ]
        own = [c for c in own if c.reason != ONE_PROGRAM] or own
        if not own:
            return "there is nothing to compare"
        if (
            own[0].reason
            and len({c.reason for c in own}) == 1
            and not any(c.verdict in _OWN_FAULT for c in own)
        ):
            return own[0].reason
        reasons = [f"{self.label(c.cell_id)}: {c.reason}" for c in own if c.reason]
        if reasons:
            more = (
                [f"and {len(reasons) - MOST_REASONS} more"] if len(reasons) > MOST_REASONS else []
            )
            return "; ".join([*reasons[:MOST_REASONS], *more])
        if not self._judgement.looks.decidable:
            return (
                f"{own[0].rounds} rounds cannot reach the level; {self._judgement.looks.needed} can"
            )
        mde = max((c.mde for c in own if c.mde is not None), default=None)
        if mde is None:
            return "no comparison reached the level"
        return f"only differences of {format_percent(math.ceil(mde * 100) / 100)} or more would have been found"

    def _costs(self) -> Iterator[Claim]:
        """What is worse where wall time is better: CPU time, memory, size of the binary (R21)."""
        families = ("headline", "memory", "exact")
        for c in self._by_pair.values():
            gain = self._by_pair.get((c.cell_id, WALL))
            pays = c.metric != WALL and c.family in families and c.verdict is Verdict.WORSE
            if pays and gain is not None and gain.verdict in BETTER:
                yield self._comparison(c, "cost")

    def _trust(self) -> Claim:
        rounds = [
            c.rounds for c in self._judgement.comparisons if c.family == "headline" and c.rounds
        ]
        told = "no rounds" if not rounds else f"{max(rounds)} rounds"
        if rounds and min(rounds) != max(rounds):
            told = f"{min(rounds)} to {max(rounds)} rounds"
        metric = self.plan.judge.headline
        floors = [f for f in self._judgement.floors if f.metric == metric]
        fractions = [f.fraction for f in floors if f.fraction is not None]
        floor = "no noise floor"
        if fractions:
            most = value_phrases.upward(max(fractions))
            aspect = "" if metric == WALL else f" of {phrases.noun(metric)}"
            floor = f"noise floor{aspect} {'up to ' if len(self.plan.inputs) > 1 else ''}{most}"
        events = dict.fromkeys((*self._noted, *self._judgement.events))
        count = sum(1 for e in events if e.severity != "note")
        values = {
            "rounds": told,
            "cells": value_phrases.coverage(self._facts.coverage()),
            "floors": floor,
            "warnings": f"{count or 'no'} warning{'s' if count != 1 else ''}",
        }
        return Claim(
            "",
            "trust",
            "this record",
            None,
            None,
            (),
            None,
            rounds=max(rounds, default=0),
            noise_floor=max(fractions, default=None),
            values=values,
        )

    def _recommendation(self, group: BestGroup) -> Iterator[Claim]:
        """Only where something was told apart, only for what was measured (R4), and with what it costs."""
        if not group.cell_ids or not any(c.verdict.decided for c in group.comparisons):
            return
        if self.plan.revisions is not None:
            return  # two revisions of one program are no choice between variants
        baseline = self.plan.baseline_cell(group.input_id)
        cells = group.cell_ids
        base_id = baseline.id if baseline is not None else ""
        percent = len(cells) > 1 and not self._costs_of.one_scale(cells, base_id)
        paid = {cell: self._costs_of.told(cell, base_id, percent=percent) for cell in cells}
        values: dict[str, float | int | str] = {
            "members": self.named(cells, paid),
            "count": len(cells),
        }
        if baseline is not None:
            values |= self._tail(cells, paid, baseline.id)
        yield Claim(
            "",
            "recommendation",
            self.label(cells[0]),
            None,
            group.metric,
            self.scope(group.input_id),
            None,
            cells=cells,
            values=values,
        )

    def _tail(self, cells: Sequence[str], paid: Mapping[str, str], baseline: str) -> dict[str, str]:
        """What a recommendation says of the baseline."""
        if len(cells) > 1:
            if baseline in cells:
                return {"tail": f"{self.label(baseline)} is the baseline"}
            return (
                {"tail": f"costs are against {self.label(baseline)}"} if any(paid.values()) else {}
            )
        if cells[0] == baseline:
            return {"tail": "it is the baseline: nothing is to be changed"}
        open_ = [
            phrases.noun(c.metric)
            for m in (CPU, PEAK_RSS)
            if (c := self._by_pair.get((cells[0], m))) is not None
            and c.verdict is Verdict.INCONCLUSIVE
        ]
        told = (
            [f"against {self.label(baseline)} it takes {paid[cells[0]]}"] if paid[cells[0]] else []
        )
        if open_:
            told.append(f"whether it costs {' or '.join(open_)} is not decided")
        return {"tail": "; ".join(told)} if told else {}

    def _noise_floor(self, f: NoiseFloor) -> Claim:
        values: dict[str, float | int | str] = {"tripped": 1} if f.tripped else {}
        control = self.plan.control_cell(f.input_id)
        return Claim(
            "",
            "noise-floor",
            "control",
            None,
            f.metric,
            self.scope(f.input_id),
            None,
            estimate=f.fraction,
            noise_floor=f.fraction,
            cells=(control.id,) if control else (),
            values=values,
        )
