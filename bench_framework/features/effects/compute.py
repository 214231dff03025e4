"""Main effects and two-way interactions of a full factorial (docs/method.md#effects).

Both are computed per round on the log scale. A main effect is the mean, over all combinations of
the other axes, of the difference between a level and the baseline's level. An interaction is the
same mean of the difference of such differences. In a balanced design both are orthogonal contrasts
(Box, Hunter & Hunter 2005, chapter 5): a factor that multiplies all times of a round cancels.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from bench_framework.compare.contrasts import (
    FEWEST_ROUNDS,
    TOO_FEW,
    ContrastData,
    Weighted,
    judge_contrasts,
    weighted_sum,
)
from bench_framework.compare.decide import equivalence_level
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.looks import rounds_needed
from bench_framework.model.plan.plan import Variant
from bench_framework.model.reasons import ONE_PROGRAM, Reason, ReasonCode
from bench_framework.model.result.structure import (
    Change,
    ContrastResult,
    Effect,
    EffectCell,
    Factorial,
)
from bench_framework.model.verdict import Verdict
from bench_framework.stats import intervals
from bench_framework.stats.holm_family import log_half_width
from bench_framework.stats.portable_math import log1p
from bench_framework.text.reasons import phrase_of

FEWEST: Final = 2
"""The smallest number of crossed axes, and of levels of each."""
NOT_CROSSED: Final = Reason(ReasonCode.NOT_CROSSED)
MOST_SEARCHED: Final = 1 << 14
"""The largest number of level sets that the search for the largest full product tries."""

Levels = tuple[str, ...]
Key = tuple[str, ...]
"""One level per axis. Axes that advance together are one."""
Cells = dict[Key, str]
"""Cell id of every combination of levels."""


def layout_of(at: ContrastData, input_id: str) -> tuple[Factorial, Cells]:
    """Return the largest full product with the baseline, and its cells; none without a product."""
    plan = at.plan
    without = partial(Factorial, input_id, ())
    arms = plan.compared_cells(input_id)
    variants = {c.id: v for c in arms if (v := plan.variant(c.variant_id)).experiment is None}
    names, keys = _merged(list(variants.values()), plan.baseline)
    if len(names) < FEWEST or plan.design != "full":
        return without(reason=NOT_CROSSED), {}
    key_of = dict(zip(variants, keys, strict=True))
    cells = {key: cell_id for cell_id, key in key_of.items() if cell_id in at.usable}
    baseline = plan.baseline_cell(input_id)
    first = key_of[baseline.id] if baseline is not None and baseline.id in at.usable else None
    if first is None:
        return without(reason=Reason(ReasonCode.BASELINE_WITHOUT_FIGURES)), {}
    planned = tuple(tuple(dict.fromkeys(column)) for column in zip(first, *keys, strict=True))
    levels = _largest(planned, frozenset(cells))
    if levels is None:
        return without(reason=Reason(ReasonCode.TOO_MANY_LEVELS)), {}
    crossed = [n for n, own_levels in enumerate(levels) if len(own_levels) >= FEWEST]
    left_out = tuple(
        (name, level)
        for name, all_levels, present in zip(names, planned, levels, strict=True)
        for level in all_levels
        if level not in present
    )
    if len(crossed) < FEWEST:
        return without(left_out, Reason(ReasonCode.TOO_MANY_MISSING)), {}
    axes = tuple((names[n], levels[n]) for n in crossed)
    every = itertools.product(*levels)
    return Factorial(input_id, axes, left_out), {
        tuple(key[n] for n in crossed): cells[key] for key in every
    }


def _merged(variants: Sequence[Variant], baseline: Variant) -> tuple[tuple[str, ...], list[Key]]:
    """Return the axes that vary, merged if they advance together, and each variant's levels."""
    columns = defaultdict[tuple[int, ...], list[str]](list)
    rows = [dict(v.values) for v in variants]
    for name, _ in baseline.values:
        order = list(dict.fromkeys(row[name] for row in rows))
        if len(order) >= FEWEST:
            columns[tuple(order.index(row[name]) for row in rows)].append(name)
    keys = [tuple(" / ".join(row[n] for n in names) for names in columns.values()) for row in rows]
    return tuple(phrase_of(PhraseCode.ALL_AXES, *names) for names in columns.values()), keys


def _largest(planned: Sequence[Levels], present: frozenset[Key]) -> tuple[Levels, ...] | None:
    """Return the largest full product that contains the first level of every axis.

    The levels of the widest axis follow from those of the others: they are the ones that are
    present with all of them. Among products of equal size, the one with more crossed axes is
    chosen, then the first in plan order. The result is `None` if there are too many products to
    try.
    """
    if all(key in present for key in itertools.product(*planned)):
        return tuple(planned)
    widest = max(range(len(planned)), key=lambda n: len(planned[n]))
    searched = [_subsets(levels) if n != widest else [levels] for n, levels in enumerate(planned)]
    if math.prod(map(len, searched)) > MOST_SEARCHED:
        return None

    def with_widest(chosen: tuple[Levels, ...]) -> tuple[Levels, ...]:
        before, after = chosen[:widest], chosen[widest + 1 :]
        others = list(itertools.product(*before, *after))
        complete = tuple(
            level
            for level in planned[widest]
            if all((*rest[:widest], level, *rest[widest:]) in present for rest in others)
        )
        return (*before, complete, *after)

    def size(product: tuple[Levels, ...]) -> tuple[int, int]:
        return math.prod(map(len, product)), sum(len(levels) >= FEWEST for levels in product)

    products = map(with_widest, itertools.product(*searched))
    return max((p for p in products if p[widest][:1] == planned[widest][:1]), key=size)


def _subsets(levels: Levels) -> list[Levels]:
    """Return every set of levels that contains the first one, largest sets first."""
    first, rest = levels[0], levels[1:]
    return [
        (first, *some)
        for size in range(len(rest), -1, -1)
        for some in itertools.combinations(rest, size)
    ]


NOT_POOLED: Final = Reason(ReasonCode.NOT_POOLED)


@dataclass(frozen=True, slots=True)
class _Draft:
    """An effect before it is judged. Cells of a contrast have the weights +1, −1, +1, −1."""

    changes: tuple[Change, ...]
    cells: tuple[tuple[str, Weighted], ...]
    """Each combination of the other axes, with its contrast."""

    @property
    def mean(self) -> Weighted:
        """Return the mean contrast over all combinations."""
        total = weighted_sum([(1.0, contrast) for _, contrast in self.cells])
        return replace(total, values=total.values / len(self.cells))


def effects(at: ContrastData) -> tuple[tuple[Factorial, ...], tuple[Effect, ...], int]:
    """Return the factorial of every input, its effects, and the size of their Holm family.

    The effects and interactions of all inputs are one Holm family. The combinations of each effect
    are a separate family, which is used only to test whether the effect has one sign.
    """
    factorials, drafts = _factorials(at)
    means = judge_contrasts([d.mean for d in drafts], at)
    judged = tuple(_effect(d, mean, at) for d, mean in zip(drafts, means, strict=True))
    return tuple(factorials), judged, len(drafts)


def cells_of_open_effects(at: ContrastData, input_id: str) -> frozenset[str]:
    """Return the cells of an input's effects if further rounds may decide a main effect.

    An effect needs rounds with all cells of the product, so either none of them may leave or all
    may. Interactions need most rounds and do not count. See
    `docs/method.md#finished-configurations`.
    """
    cells = list(layout_of(at, input_id)[1].values())
    rounds = at.logs(cells, input_id)[0] if cells else ()
    if not rounds or rounds[-1] < at.last[input_id]:  # a cell left or failed
        return frozenset()
    _, drafts = _factorials(at)
    family = [d.mean for d in drafts]
    needed = rounds_needed(at.looks.count, len(drafts), at.plan.judge.level)
    open_ = needed <= at.looks.rounds[-1] and any(
        mean.input_id == input_id and len(draft.changes) == 1 and _is_open(mean, judged, at)
        for draft, mean, judged in zip(drafts, family, judge_contrasts(family, at), strict=True)
    )
    return frozenset(cells) if open_ else frozenset()


def _is_open(mean: Weighted, judged: ContrastResult, at: ContrastData) -> bool:
    """Return whether an effect is inconclusive and not futile, by the rule of a race.

    The adjusted interval takes the place of the MDE. Intervals shrink with the root of the number
    of rounds.
    """
    if judged.verdict.settled or judged.reason == ONE_PROGRAM:
        return False
    if judged.reason == TOO_FEW or judged.shown is None:
        return True
    shrink = math.sqrt(judged.rounds / at.looks.rounds[-1])
    bounds = intervals.typical_with_batches(mean.values, equivalence_level(at.looks.count))
    half = log_half_width(judged.shown)
    margin = log1p(at.plan.judge.margin_of(at.metric))
    return half * shrink <= abs(bounds.estimate) or bounds.half_width * shrink < margin


def _factorials(at: ContrastData) -> tuple[list[Factorial], list[_Draft]]:
    """Return the factorial of every input, and all effects before they are judged."""
    factorials: list[Factorial] = []
    drafts: list[_Draft] = []
    for item in at.plan.inputs:
        factorial, cells = layout_of(at, item.id)
        if cells:
            rounds, logs = at.logs(list(cells.values()), item.id)
            factorial = replace(factorial, rounds=len(rounds))
            if len(rounds) >= FEWEST_ROUNDS:
                drafts += _drafts(factorial, cells, logs)
            else:
                few = Reason(ReasonCode.FEW_COMPLETE_ROUNDS, len(rounds))
                reason = few if rounds else Reason(ReasonCode.BEFORE_FIRST)
                factorial = replace(factorial, axes=(), reason=reason)
        factorials.append(factorial)
    return factorials, drafts


def _drafts(factorial: Factorial, cells: Cells, logs: Mapping[str, Weighted]) -> Iterator[_Draft]:
    """Yield the main effects by axis, then the interactions by pair of axes."""
    changes = [
        [Change(name, levels[0], level) for level in levels[1:]] for name, levels in factorial.axes
    ]
    contrasts = partial(_contrasts, factorial, cells, logs)
    for change in itertools.chain.from_iterable(changes):
        corners = [{change.axis: level} for level in (change.after, change.before)]
        yield _Draft((change,), contrasts(corners))
    for some, others in itertools.combinations(changes, 2):
        for a, b in itertools.product(some, others):
            # The signs alternate: both changes, the first alone, neither, the second alone.
            firsts = (a.after, a.after, a.before, a.before)
            seconds = (b.after, b.before, b.before, b.after)
            pairs = zip(firsts, seconds, strict=True)
            corners = [{a.axis: first, b.axis: second} for first, second in pairs]
            yield _Draft((a, b), contrasts(corners))


def _contrasts(
    factorial: Factorial,
    cells: Cells,
    logs: Mapping[str, Weighted],
    corners: Sequence[dict[str, str]],
) -> tuple[tuple[str, Weighted], ...]:
    """Return the alternating sum of the log values in each combination of the other axes.

    `corners` has the levels by axis.
    """
    others = {name: levels for name, levels in factorial.axes if name not in corners[0]}
    contrasts = []
    for rest in itertools.product(*others.values()):
        levels = dict(zip(others, rest, strict=True))
        keys = (tuple((levels | corner)[name] for name, _ in factorial.axes) for corner in corners)
        terms = zip(itertools.cycle((1.0, -1.0)), (logs[cells[key]] for key in keys))
        contrasts.append((", ".join(rest), weighted_sum(list(terms))))
    return tuple(contrasts)


def _effect(draft: _Draft, mean: ContrastResult, at: ContrastData) -> Effect:
    judged = judge_contrasts([c for _, c in draft.cells], at)
    pooled = len({c.verdict.better for c in judged if c.verdict.decided}) <= 1
    if not pooled:
        mean = replace(mean, verdict=Verdict.INCONCLUSIVE, shown=None, reason=NOT_POOLED)
    cells = tuple(
        EffectCell(where, tuple(drafted.weights), contrast)
        for (where, drafted), contrast in zip(draft.cells, judged, strict=True)
    )
    return Effect(draft.cells[0][1].input_id, at.metric, draft.changes, pooled, mean, cells)
