"""Claims about the axes, in the order of their sections, and their sentences.

Effects, interactions, contributions, crossovers, before-and-after pairs and Pareto fronts. As in
`features.claim_writer`, a sentence depends only on the fields of its claim.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.claims import metric_nouns
from bench_framework.claims.factory import Costs, Names, known
from bench_framework.claims.metric_nouns import HIGHER
from bench_framework.claims.phrases import (
    change,
    cost,
    effect,
    noun,
    one_program,
    reason,
)
from bench_framework.model import structure, words
from bench_framework.model.facts import Claim
from bench_framework.model.judgement import Judgement
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Plan
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import plain
from bench_framework.text.figures import Factor, printed_product
from bench_framework.text.names import scope_of
from bench_framework.text.numbers import TIMES_FROM, significant, size_unit
from bench_framework.units import MINUS, THIN_SPACE, counted

PAIR: Final = 2


class StructureClaims(Names):
    """Writer of the claims about the axes, without their text."""

    def __init__(self, plan: Plan, judgement: Judgement, costs: Costs) -> None:
        super().__init__(plan, judgement.states)
        self._costs = costs
        self._structure, self._looks = judgement.structure, judgement.looks
        self._higher = judgement.structure.direction == HIGHER
        self._direction = HIGHER if self._higher else ""

    def write(self) -> Iterator[Claim]:
        """Yield the claims in the order of the report."""
        yield from map(self._replacement, self._structure.replacements)
        yield from map(self._crossing, self._structure.crossings)
        yield from map(self._effect, self._structure.effects)
        yield from map(self._contribution, self._structure.contributions)
        yield from map(self._front, self._structure.fronts)

    def _replacement(self, pair: structure.Replacement) -> Claim:
        after, before = pair.after_cell_id, pair.before_cell_id
        return Claim(
            "",
            "before-after",
            self.label(after),
            self.label(before),
            pair.metric,
            self.scope(pair.input_id),
            pair.verdict,
            rounds=pair.rounds,
            margin=self.plan.judge.margin_of(pair.metric),
            cells=(after, before),
            reason=pair.reason,
            values=known(
                changes=", ".join(c.text for c in pair.changes),
                cost=self._costs.phrase(pair.verdict, after, before, pair.metric),
                direction=self._direction,
            ),
        ).with_interval(pair.shown)

    def _effect(self, judged: structure.Effect) -> Claim:
        single = len(judged.changes) == 1
        first, last = judged.changes[0], judged.changes[-1]
        effects = [e for e in self._structure.effects if e.input_id == judged.input_id]
        blank = Claim(
            "",
            "effect" if single else "interaction",
            f"{first.axis} {first.after}",
            first.before if single else f"{last.axis} {last.after}",
            judged.metric,
            self.scope(judged.input_id),
            judged.mean.verdict,
            cells=tuple(dict.fromkeys(i for cell in judged.cells for i in cell.cell_ids)),
            reason=judged.mean.reason if judged.pooled else None,
            values=known(
                cells=len(judged.cells),
                less=judged.better,
                more=judged.worse,
                significant_in=judged.significant_in,
                pooled=int(judged.pooled),
                direction=self._direction,
                depends=_interacting_axes(judged, effects) if single else "",
                cost=self._effect_cost(judged) if single else "",
                scale="percent" if _in_percent(e.mean for e in effects) else "",
            ),
        )
        return self._judged(blank, judged.mean, self._structure.effect_family, "effects")

    def _effect_cost(self, judged: structure.Effect) -> str:
        """Return the cost of a gain, judged in the combinations that contain the baseline."""
        if not judged.pooled or not judged.mean.verdict.better or judged.metric != WALL:
            return ""
        pairs = [cell.cell_ids for cell in judged.cells if len(cell.cell_ids) == PAIR]
        return next(filter(None, (self._costs.amounts(*pair) for pair in pairs)), "")

    def _judged(
        self, blank: Claim, contrast: structure.Contrast | None, family: int, kind: str
    ) -> Claim:
        """Return the claim with the figures of a contrast if its interval can be printed."""
        claim = blank.with_interval(contrast.shown if contrast else None)
        adjust = f"Holm over {family} {kind}, {self._looks.count} looks"
        return replace(
            claim,
            adjust=adjust if claim.estimate is not None else None,
            rounds=contrast.rounds if contrast else None,
            margin=self.plan.judge.margin_of(claim.metric or WALL),
        )

    def _contribution(self, table: structure.Contribution) -> Claim:
        contrasts = [*(s.contrast for s in table.steps), table.remainder]
        total, remainder, product, rest, largest = table.total, table.remainder, "", "", ""
        percent = _in_percent([*contrasts, total])
        if any(c is not None and _has_result(c) for c in contrasts):
            # A product of inconclusive figures adds no information to the total.
            product = self._product(table)
            if remainder is not None and remainder.shown is not None:
                rest = self._change(remainder, table.metric, percent=percent)
        if table.largest is not None:
            step = table.steps[table.largest]
            ratio = self._change(step.contrast, table.metric, percent=percent)
            largest = f"{_changes_text(step)} ({ratio})"
        start, end = table.start_cell_id, table.end_cell_id
        blank = Claim(
            "",
            "contributions",
            self.label(end or start),
            self.label(start),
            table.metric,
            self.scope(table.input_id),
            total.verdict if total else None,
            cells=tuple(
                dict.fromkeys(i for i in (start, *(s.cell_id for s in table.steps), end) if i)
            ),
            reason=total.reason if total else None,
            values=known(
                design=table.design,
                parts=self._parts(table, percent=percent),
                direction=self._direction,
                scale="percent" if percent else "",
                multiply=product,
                remainder=rest,
                largest=largest,
            ),
        )
        return self._judged(blank, total, self._structure.contribution_family, "contributions")

    def _product(self, table: structure.Contribution) -> str:
        """Return the product of the steps, such as ``"0.92 × 0.94 = 0.86"``, exact as printed.

        The medians of the steps need not multiply to the median of the total, even if the steps do
        so in every round. The rest is a factor, so that the result is the total of the table.
        """
        contrasts = (*(s.contrast for s in table.steps), table.total)
        intervals = [c.shown for c in contrasts if c is not None and c.shown is not None]
        if len(intervals) < len(contrasts):
            return ""
        # The ratios are those of the values, regardless of which direction is better.
        *ends, total = ((i.inverse if self._higher else i).figures for i in intervals)
        factors = [Factor(figures[0], plain(*figures, most=3).decimals) for figures in ends]
        product = printed_product(factors, None if table.remainder is not None else total[0])
        return f"{product} of the {words.noun(table.metric)}"

    def _parts(self, table: structure.Contribution, *, percent: bool) -> str:
        """Return the conclusive steps and the number of inconclusive ones."""
        # If steps have opposite effects, a share may be below 0 % or above 100 %. The table shows
        # all shares together, but a single one of them in a sentence would mislead.
        shares = all(s.share is None or 0 <= s.share <= 1 for s in table.steps)
        parts = []
        for step in table.steps:
            if not _has_result(step.contrast):
                continue
            part = f"{_changes_text(step)}: "
            part += self._change(step.contrast, table.metric, percent=percent)
            if shares and step.share is not None and step.contrast.verdict.settled:
                share = significant(100 * step.share, 2).replace("-", MINUS)
                part += f" ({share}{THIN_SPACE}% of the total)"
            phrase = self._costs.phrase(
                step.contrast.verdict, step.cell_id or "", step.ref_cell_id or "", table.metric
            )
            parts.append(f"{part}, {phrase}" if phrase else part)
        open_ = len(table.steps) - len(parts)
        if not parts:
            return f"all {open_} inconclusive" if open_ > 1 else "inconclusive"
        return "; ".join([*parts, f"{open_} inconclusive"] if open_ else parts)

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
        below, above = (
            self.plan.input(i).label for i in (crossing.below_input_id, crossing.above_input_id)
        )
        values = {"below": below, "above": above}
        size, lo, hi = crossing.size_bytes, crossing.lo_bytes, crossing.hi_bytes
        if size is not None and lo is not None and hi is not None:
            unit, scale = size_unit(size, self.plan.unit_family)
            figures = plain(size * scale, lo * scale, hi * scale, most=2)
            values["size"] = f"{figures.estimate}{THIN_SPACE}{unit}"
            values |= {"lo": str(figures.lo), "hi": str(figures.hi)}
        return Claim(
            "",
            "crossover",
            self.plan.variant(crossing.variant_id).label,
            self.plan.variant(crossing.ref_variant_id).label,
            crossing.metric,
            (("input", f"{below} to {above}"),),
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
        best = (f"{words.least(m)}: {self.names(ids)}" for m, ids in least.items() if ids)
        costs = [words.noun(m) for m in front.metrics if m in structure.MEASURED_COSTS]
        return Claim(
            "",
            "front",
            self.plan.question,
            scope=self.scope(front.input_id),
            cells=tuple(s.cell_id for s in front.standings),
            values={
                "metrics": ", ".join(map(words.noun, front.metrics)),
                "least": "; ".join(best),
                **known(behind=self.names(behind), clear=" and ".join(costs) if behind else ""),
            },
        )


def _interacting_axes(judged: structure.Effect, effects: Sequence[structure.Effect]) -> str:
    """Return the axes with which a main effect has a significant or unpooled interaction."""
    (level,) = judged.changes
    axes = dict.fromkeys(
        other.axis
        for e in effects
        if level in e.changes and (e.mean.verdict.decided or not e.pooled)
        for other in e.changes
        if other != level
    )
    return " and ".join(axes) if judged.mean.verdict.decided else ""


def _in_percent(contrasts: Iterable[structure.Contrast | None]) -> bool:
    """Return whether a list of these contrasts must be in percent to have one scale."""
    ratios = [
        c.shown.ratio
        for c in contrasts
        if c is not None and c.shown is not None and c.verdict.decided
    ]
    large = [r >= TIMES_FROM or r <= 1 / TIMES_FROM for r in ratios]
    return any(large) and not all(large)


def _has_result(contrast: structure.Contrast) -> bool:
    return contrast.verdict.settled or contrast.reason == ONE_PROGRAM


def _changes_text(step: structure.Step) -> str:
    return ", ".join(c.text for c in step.changes)


def _figure(claim: Claim) -> str:
    return effect(claim, math.inf if claim.values.get("scale") == "percent" else TIMES_FROM)


def _effect(claim: Claim) -> str:
    """Return a main effect: its mean, or a note that its sign depends on the other axes."""
    cells, less, more = (int(claim.values[k]) for k in ("cells", "less", "more"))
    head = f"{scope_of(claim)}{claim.subject} vs {claim.reference}"
    if claim.values.get("pooled") == 0:
        frame = metric_nouns.frame(claim.metric)
        ways = (frame.less, frame.more)
        first, second = ways[::-1] if claim.values.get("direction") == HIGHER else ways
        return (
            f"{head} depends on the other axes: {first} {noun(claim.metric)} in {less} of "
            f"{counted(cells, 'combination')}, {second} in {more}; no mean is reported"
        )
    if claim.reason == ONE_PROGRAM:
        return one_program(claim, head)
    detail = f"geometric mean over {counted(cells, 'combination')}"
    if claim.verdict is not None and claim.verdict.decided:
        detail += f", significant in {claim.values['significant_in']}"
    text = f"{head}: {_figure(claim)} ({detail})"
    if "cost" in claim.values:
        text += f"; alone, it costs {claim.values['cost']}"
    if "depends" in claim.values:
        text += f"; the size of the effect depends on {claim.values['depends']}"
    return text + reason(claim)


def _interaction(claim: Claim) -> str:
    """Return the interaction: both changes together vs the product of their single effects."""
    head = f"{scope_of(claim)}interaction of {claim.subject} and {claim.reference}"
    if claim.values.get("pooled") == 0:
        return f"{head}: its sign depends on the other axes"
    if claim.reason == ONE_PROGRAM:
        return one_program(claim, head)
    if claim.verdict is None or not claim.verdict.settled:
        return f"{head}: {_figure(claim)}{reason(claim)}"
    than = "to" if claim.verdict is Verdict.EQUIVALENT else "than"
    return f"{head}: {_figure(claim)} {than} the product of the single effects"


_BY: Final = {
    "ladder": "contribution of each step",
    "alone": "each change alone",
    "shapley": "contribution of each change (Shapley value: mean over all orders of the changes)",
}


def _contributions(claim: Claim) -> str:
    parts = f"{_BY[str(claim.values['design'])]}: {claim.values['parts']}"
    if claim.estimate is None:
        return f"{scope_of(claim)}no total (no variant has every change); {parts}"
    head = f"{scope_of(claim)}{claim.subject} vs {claim.reference}"
    text = f"{head}: {_figure(claim)}{reason(claim)}; {parts}"
    for key, title in (
        ("multiply", "product"),
        ("remainder", "interaction (total ÷ product)"),
        ("largest", "largest contribution"),
    ):
        if key in claim.values:
            text += f"; {title}: {claim.values[key]}"
    return text


def _before_after(claim: Claim) -> str:
    head = f"{scope_of(claim)}{claim.reference} → {claim.subject} ({claim.values['changes']})"
    if claim.reason == ONE_PROGRAM and claim.estimate is not None:
        return one_program(claim, head)
    if claim.estimate is None or claim.verdict is None:
        return f"{head}: {words.word(claim.verdict or Verdict.INCONCLUSIVE, WALL)}{reason(claim)}"
    return f"{head}: {_figure(claim)}{cost(claim)}{reason(claim)}"


def _crossover(claim: Claim) -> str:
    sizes = f"between {claim.values['below']} and {claim.values['above']}"
    head = f"{claim.subject} and {claim.reference} cross over {sizes}"
    if "size" not in claim.values:
        return f"{head}; the crossover size cannot be estimated from the typical ratios"
    bounds = f"[{claim.values['lo']}, {claim.values['hi']}]"
    return f"{head}, at about {claim.values['size']} {bounds} (interpolated)"


def _front(claim: Claim) -> str:
    text = f"{scope_of(claim)}{claim.values['least']}"
    if "behind" in claim.values:
        clear = claim.values.get("clear", claim.values["metrics"])
        worse = f"another variant is better in {clear} and worse in nothing"
        text += f"; dominated ({worse}): {claim.values['behind']}"
    return text


STRUCTURE_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "effect": _effect,
    "interaction": _interaction,
    "contributions": _contributions,
    "before-after": _before_after,
    "crossover": _crossover,
    "front": _front,
}
"""Kind of claim → the function that returns its sentence."""
