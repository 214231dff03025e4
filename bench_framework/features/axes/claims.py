"""Claims about the axes, in the order of their sections."""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from bench_framework.claims import value_phrases
from bench_framework.claims.costs import Costs
from bench_framework.claims.factory import Names
from bench_framework.claims.metric_nouns import HIGHER
from bench_framework.claims.phrases import TIMES_FROM, Factor, change, printed_product
from bench_framework.model import structure, words
from bench_framework.model.judgement import ONE_PROGRAM, Claim, Judgement
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Plan
from bench_framework.rounding import plain
from bench_framework.units import THIN_SPACE, size_unit

Values = dict[str, float | int | str]
PAIR: Final = 2


class StructureClaims(Names):
    """Writer of the claims about the axes, without their text."""

    def __init__(self, plan: Plan, judgement: Judgement, costs: Costs) -> None:
        super().__init__(plan, judgement.states)
        self._costs = costs
        self._structure, self._looks = judgement.structure, judgement.looks
        self._higher = judgement.structure.direction == HIGHER
        self._way: Values = {"direction": HIGHER} if self._higher else {}

    def write(self) -> Iterator[Claim]:
        """Yield the claims in the order of the report."""
        yield from map(self._replacement, self._structure.replacements)
        yield from map(self._crossing, self._structure.crossings)
        yield from map(self._effect, self._structure.effects)
        yield from map(self._contribution, self._structure.contributions)
        yield from map(self._front, self._structure.fronts)

    def _adjust(self, family: int, kind: str) -> str:
        return f"Holm over {family} {kind}, {self._looks.count} looks"

    def _replacement(self, pair: structure.Replacement) -> Claim:
        values: Values = {"changes": ", ".join(c.text for c in pair.changes)}
        values |= {"reason": pair.reason} if pair.reason else {}
        cost = self._costs.phrase(
            pair.verdict, pair.after_cell_id, pair.before_cell_id, pair.metric
        )
        values |= {"cost": cost} if cost else {}
        values |= self._way
        return Claim(
            "",
            "before-after",
            self.label(pair.after_cell_id),
            self.label(pair.before_cell_id),
            pair.metric,
            self.scope(pair.input_id),
            pair.verdict,
            rounds=pair.rounds,
            margin=self.plan.judge.margin_of(pair.metric),
            cells=(pair.after_cell_id, pair.before_cell_id),
            values=values,
        ).with_interval(pair.shown)

    def _effect(self, effect: structure.Effect) -> Claim:
        values: Values = {
            "cells": len(effect.cells),
            "less": effect.better,
            "more": effect.worse,
            "significant_in": effect.significant_in,
            "pooled": int(effect.pooled),
            **self._way,
        }
        if effect.mean.reason and effect.pooled:
            values["reason"] = effect.mean.reason
        if len(effect.changes) == 1:
            values |= self._depends(effect) | self._effect_cost(effect)
        if self._percent(e.mean for e in self._structure.effects if e.input_id == effect.input_id):
            values["scale"] = "percent"
        first = effect.changes[0]
        subject, reference = f"{first.axis} {first.after}", first.before
        if len(effect.changes) > 1:
            second = effect.changes[1]
            reference = f"{second.axis} {second.after}"
        return self._judged(
            Claim(
                "",
                "effect" if len(effect.changes) == 1 else "interaction",
                subject,
                reference,
                effect.metric,
                self.scope(effect.input_id),
                effect.mean.verdict,
                cells=tuple(dict.fromkeys(i for cell in effect.cells for i in cell.cell_ids)),
                values=values,
                adjust=self._adjust(self._structure.effect_family, "effects"),
            ),
            effect.mean,
        )

    def _depends(self, effect: structure.Effect) -> Values:
        """Return the axes with which this effect has a significant or unpooled interaction."""
        level = (effect.changes[0].axis, effect.changes[0].after)
        with_it = [
            [c.axis for c in e.changes if (c.axis, c.after) != level]
            for e in self._structure.effects
            if e.input_id == effect.input_id
            and len(e.changes) > 1
            and level in [(c.axis, c.after) for c in e.changes]
            and (e.mean.verdict.decided or not e.pooled)
        ]
        axes = list(dict.fromkeys(itertools.chain.from_iterable(with_it)))
        return {"depends": " and ".join(axes)} if axes and effect.mean.verdict.decided else {}

    def _effect_cost(self, effect: structure.Effect) -> Values:
        """Return the cost of a gain, judged in the combinations that contain the baseline."""
        if not effect.pooled or not effect.mean.verdict.better or effect.metric != WALL:
            return {}
        pairs = [cell.cell_ids for cell in effect.cells]
        costs = [c for pair in pairs if len(pair) == PAIR and (c := self._costs.amounts(*pair))]
        return {"cost": costs[0]} if costs else {}

    def _percent(self, contrasts: Iterable[structure.Contrast | None]) -> bool:
        """Return whether a list of these contrasts must be in percent to have one scale."""
        ratios = [
            c.shown.ratio
            for c in contrasts
            if c is not None and c.shown is not None and c.verdict.decided
        ]
        large = [r >= TIMES_FROM or r <= 1 / TIMES_FROM for r in ratios]
        return any(large) and not all(large)

    def _judged(self, blank: Claim, contrast: structure.Contrast | None) -> Claim:
        """Return the claim with the figures of a contrast if its interval can be printed."""
        claim = blank.with_interval(contrast.shown if contrast else None)
        return replace(
            claim,
            adjust=claim.adjust if claim.estimate is not None else None,
            rounds=contrast.rounds if contrast else None,
            margin=self.plan.judge.margin_of(claim.metric or WALL),
        )

    def _contribution(self, table: structure.Contribution) -> Claim:
        contrasts = [*(s.contrast for s in table.steps), table.remainder]
        percent = self._percent([*contrasts, table.total])
        values: Values = {
            "design": table.design,
            "parts": self._parts(table, percent=percent),
            **self._way,
        }
        values |= {"scale": "percent"} if percent else {}
        total, remainder = table.total, table.remainder
        if any(c is not None and (c.verdict.settled or c.reason == ONE_PROGRAM) for c in contrasts):
            # A product of inconclusive figures adds no information to the total.
            if total is not None and total.shown is not None:
                values |= self._product(table)
            if remainder is not None and remainder.shown is not None:
                values["remainder"] = self._change(remainder, table.metric, percent=percent)
        if total is not None and total.reason:
            values["reason"] = total.reason
        if table.largest is not None:
            step = table.steps[table.largest]
            values["largest"] = (
                f"{_changes_text(step)} "
                f"({self._change(step.contrast, table.metric, percent=percent)})"
            )
        end = table.end_cell_id
        ids = [table.start_cell_id, *(s.cell_id for s in table.steps), end]
        return self._judged(
            Claim(
                "",
                "contributions",
                self.label(end) if end else self.label(table.start_cell_id),
                self.label(table.start_cell_id),
                table.metric,
                self.scope(table.input_id),
                total.verdict if total else None,
                cells=tuple(dict.fromkeys(i for i in ids if i)),
                values=values,
                adjust=self._adjust(self._structure.contribution_family, "contributions"),
            ),
            total,
        )

    def _product(self, table: structure.Contribution) -> Values:
        """Return the product of the steps, such as ``"0.92 × 0.94 = 0.86"``, exact as printed.

        The medians of the steps need not multiply to the median of the total, even if the steps do
        so in every round. The rest is a factor, so that the result is the total of the table.
        """
        intervals = [s.contrast.shown for s in table.steps]
        if table.total is None or table.total.shown is None or any(s is None for s in intervals):
            return {}
        printed = [*(s for s in intervals if s is not None), table.total.shown]
        # The ratios are those of the values, regardless of which direction is better.
        *ends, total = ((s.inverse if self._higher else s).figures for s in printed)
        factors = [Factor(figures[0], plain(*figures, most=3).decimals) for figures in ends]
        left = None if table.remainder is not None else total[0]
        product = printed_product(factors, left)
        what = "the time" if table.metric == WALL else f"the {words.noun(table.metric)}"
        return {"multiply": f"{product} of {what}"}

    def _parts(self, table: structure.Contribution, *, percent: bool) -> str:
        """Return the conclusive steps and the number of inconclusive ones."""
        # If steps have opposite effects, a share may be below 0 % or above 100 %. The table shows
        # all shares together, but a single one of them in a sentence would mislead.
        shares = all(s.share is None or 0 <= s.share <= 1 for s in table.steps)
        parts = [
            self._part(s, table, shares=shares, percent=percent)
            for s in table.steps
            if (s.contrast.verdict.settled or s.contrast.reason == ONE_PROGRAM)
        ]
        open_ = len(table.steps) - len(parts)
        if not parts:
            return f"all {open_} inconclusive" if open_ > 1 else "inconclusive"
        if open_:
            parts.append(f"{open_} inconclusive")
        return "; ".join(parts)

    def _part(
        self, step: structure.Step, table: structure.Contribution, *, shares: bool, percent: bool
    ) -> str:
        share = ""
        if shares and step.share is not None and step.contrast.verdict.settled:
            share = f" ({_percent(step.share)} of the total)"
        phrase = self._costs.phrase(
            step.contrast.verdict, step.cell_id or "", step.ref_cell_id or "", table.metric
        )
        cost = f", {phrase}" if phrase else ""
        change_ = self._change(step.contrast, table.metric, percent=percent)
        return f"{_changes_text(step)}: {change_}{share}{cost}"

    def _change(self, contrast: structure.Contrast, metric: str, *, percent: bool) -> str:
        interval = contrast.shown
        if contrast.reason == ONE_PROGRAM:
            return "the same program"
        if interval is None or not interval.bounded:
            return "inconclusive"
        return change(
            contrast.verdict,
            *interval.figures,
            self.plan.judge.margin_of(metric),
            metric,
            higher=self._higher,
            times_from=math.inf if percent else TIMES_FROM,
        )

    def _crossing(self, crossing: structure.Crossing) -> Claim:
        inputs = [
            self.plan.input(i).label for i in (crossing.below_input_id, crossing.above_input_id)
        ]
        values: Values = {"below": inputs[0], "above": inputs[1]}
        size, lo, hi = crossing.size_bytes, crossing.lo_bytes, crossing.hi_bytes
        if size is not None and lo is not None and hi is not None:
            unit, scale = size_unit(size, self.plan.unit_family)
            figures = plain(size * scale, lo * scale, hi * scale, most=2)
            values |= {
                "size": f"{figures.estimate}{THIN_SPACE}{unit}",
                "lo": str(figures.lo),
                "hi": str(figures.hi),
            }
        return Claim(
            "",
            "crossover",
            self.plan.variant(crossing.variant_id).label,
            self.plan.variant(crossing.ref_variant_id).label,
            crossing.metric,
            (("input", f"{inputs[0]} to {inputs[1]}"),),
            estimate=size,
            lo=lo,
            hi=hi,
            level=crossing.level if size is not None else None,
            rounds=crossing.rounds,
            cells=crossing.cell_ids,
            values=values,
        )

    def _front(self, front: structure.Front) -> Claim:
        behind = [s.cell_id for s in front.standings if not s.on_front]
        least = {m: [s.cell_id for s in front.standings if m in s.least] for m in front.metrics}
        values: Values = {
            "metrics": ", ".join(map(words.noun, front.metrics)),
            "least": "; ".join(
                f"{words.least(m)}: {self.names(ids)}" for m, ids in least.items() if ids
            ),
        }
        if behind:
            values["behind"] = self.names(behind)
            values["clear"] = " and ".join(
                words.noun(m) for m in front.metrics if m in structure.MEASURED_COSTS
            )
        return Claim(
            "",
            "front",
            self.plan.question,
            scope=self.scope(front.input_id),
            cells=tuple(s.cell_id for s in front.standings),
            values=values,
        )


def _changes_text(step: structure.Step) -> str:
    return ", ".join(c.text for c in step.changes)


def _percent(fraction: float) -> str:
    return f"{value_phrases.up_to_digits(100 * fraction, 2).replace('-', '−')}{THIN_SPACE}%"
