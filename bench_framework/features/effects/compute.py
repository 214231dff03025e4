"""Main effects and two-way interactions of a full factorial (docs/method.md#effects).

Both are computed per round on the log scale. A main effect is the mean, over all combinations of
the other axes, of the difference between a level and the baseline's level. An interaction is the
same mean of the difference of such differences. In a balanced design both are orthogonal contrasts
(Box, Hunter & Hunter 2005, chapter 5): a factor that multiplies all times of a round cancels.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from bench_framework.compare.contrasts import (
    FEWEST_ROUNDS,
    TOO_FEW,
    Measured,
    Weighted,
    judge_contrasts,
    weighted_sum,
)
from bench_framework.compare.decide import equivalence_level
from bench_framework.model.judgement import ONE_PROGRAM
from bench_framework.model.looks import rounds_needed
from bench_framework.model.plan import Variant
from bench_framework.model.structure import Change, Contrast, Effect, EffectCell, Factorial
from bench_framework.model.verdict import Verdict
from bench_framework.stats import intervals
from bench_framework.stats.portable_math import log, log1p

FEWEST: Final = 2
"""The smallest number of crossed axes, and of levels of each."""
MOST_SEARCHED: Final = 1 << 14
"""The largest number of level sets that the search for the largest full product tries."""

Levels = tuple[str, ...]
Key = tuple[str, ...]
"""One level per axis of a layout."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Axes with their levels, the baseline's level first, and the cell id of every combination.

    Axes that advance together are one.
    """

    names: tuple[str, ...]
    levels: tuple[Levels, ...]
    cells: Mapping[Key, str]

    def change(self, axis: int, level: str) -> Change:
        """Return the change from the baseline's level of an axis to another level."""
        return Change(self.names[axis], self.levels[axis][0], level)


def layout_of(at: Measured, input_id: str) -> tuple[Factorial, Layout | None]:
    """Return the layout of an input, the largest full product with the baseline, or `None`."""
    plan = at.plan
    without = partial(Factorial, input_id, ())
    arms = plan.compared_cells(input_id)
    variants = {c.id: v for c in arms if (v := plan.variant(c.variant_id)).experiment is None}
    baseline = plan.variant(plan.baseline_id)
    names, keys = _merged(list(variants.values()), baseline)
    if len(names) < FEWEST:
        return without(reason="fewer than two axes of variants have several values"), None
    if plan.design != "full":
        return without(reason=f"the design is {plan.design}: axes are not crossed"), None
    key_of = dict(zip(variants, keys, strict=True))
    cells = {key: cell_id for cell_id, key in key_of.items() if cell_id in at.usable}
    first = next((key for i, key in key_of.items() if variants[i].id == baseline.id), None)
    if first is None or first not in cells:
        return without(reason="the baseline has no figures"), None
    planned = tuple(tuple(dict.fromkeys(column)) for column in zip(first, *keys, strict=True))
    levels = _largest(planned, frozenset(cells))
    if levels is None:
        return without(reason="too many levels to search for a full product"), None
    crossed_axes = [n for n, own_levels in enumerate(levels) if len(own_levels) >= FEWEST]
    left_out = tuple(
        f"{name}: {level}"
        for name, all_levels, present in zip(names, planned, levels, strict=True)
        for level in all_levels
        if level not in present
    )
    if len(crossed_axes) < FEWEST:
        reason = "too many combinations are missing: no two axes are fully crossed"
        return without(left_out, reason), None
    layout = Layout(
        tuple(names[n] for n in crossed_axes),
        tuple(levels[n] for n in crossed_axes),
        {tuple(key[n] for n in crossed_axes): cells[key] for key in itertools.product(*levels)},
    )
    axes = tuple(zip(layout.names, layout.levels, strict=True))
    return Factorial(input_id, axes, left_out), layout


def _merged(variants: Sequence[Variant], baseline: Variant) -> tuple[tuple[str, ...], list[Key]]:
    """Return the axes that vary, merged if they advance together, and each variant's levels."""
    columns: dict[tuple[int, ...], list[str]] = {}
    for name, _ in baseline.values:
        values = [dict(v.values)[name] for v in variants]
        order = list(dict.fromkeys(values))
        if len(order) >= FEWEST:
            columns.setdefault(tuple(order.index(v) for v in values), []).append(name)
    keys = [
        tuple(" / ".join(dict(v.values)[n] for n in names) for names in columns.values())
        for v in variants
    ]
    return tuple(" and ".join(names) for names in columns.values()), keys


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
    best: tuple[tuple[int, int], tuple[Levels, ...]] = ((0, 0), ())
    for chosen in itertools.product(*searched):
        others = [levels for n, levels in enumerate(chosen) if n != widest]
        widest_levels = tuple(
            level
            for level in planned[widest]
            if all(
                (*rest[:widest], level, *rest[widest:]) in present
                for rest in itertools.product(*others)
            )
        )
        if not widest_levels or widest_levels[0] != planned[widest][0]:
            continue
        product = tuple(widest_levels if n == widest else levels for n, levels in enumerate(chosen))
        crossed = sum(len(levels) >= FEWEST for levels in product)
        size = (math.prod(map(len, product)), crossed)
        if size > best[0]:
            best = (size, product)
    return best[1]


def _subsets(levels: Levels) -> list[Levels]:
    """Return every set of levels that contains the first one, largest sets first."""
    first, rest = levels[0], levels[1:]
    return [
        (first, *some)
        for size in range(len(rest), -1, -1)
        for some in itertools.combinations(rest, size)
    ]


NOT_POOLED: Final = "its sign changes between cells, so no mean is reported"


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


def effects(at: Measured) -> tuple[tuple[Factorial, ...], tuple[Effect, ...], int]:
    """Return the factorial of every input, its effects, and the size of their Holm family.

    The effects and interactions of all inputs are one Holm family. The combinations of each effect
    are a separate family, which is used only to test whether the effect has one sign.
    """
    factorials, drafts = _factorials(at)
    means = judge_contrasts([d.mean for d in drafts], at)
    judged = tuple(_effect(d, mean, at) for d, mean in zip(drafts, means, strict=True))
    return tuple(factorials), judged, len(drafts)


def cells_of_open_effects(at: Measured, input_id: str) -> frozenset[str]:
    """Return the cells of an input's effects if further rounds may decide a main effect.

    An effect needs rounds with all cells of the product, so either none of them may leave or all
    may. Interactions need most rounds and do not count. See
    `docs/method.md#finished-configurations`.
    """
    _, layout = layout_of(at, input_id)
    if layout is None:
        return frozenset()
    cells = frozenset(layout.cells.values())
    rounds, _ = at.logs(list(cells), input_id)
    if not rounds or rounds[-1] < at.last[input_id]:  # a cell left or failed
        return frozenset()
    _, drafts = _factorials(at)
    family = [d.mean for d in drafts]
    needed = rounds_needed(at.looks.count, len(drafts), at.plan.judge.level)
    open_ = needed <= at.looks.rounds[-1] and any(
        mean.input_id == input_id and len(draft.changes) == 1 and _is_open(mean, judged, at)
        for draft, mean, judged in zip(drafts, family, judge_contrasts(family, at), strict=True)
    )
    return cells if open_ else frozenset()


def _is_open(mean: Weighted, judged: Contrast, at: Measured) -> bool:
    """Return whether an effect is inconclusive and not futile, by the rule of a race.

    The adjusted interval takes the place of the MDE. Intervals shrink with the root of the number
    of rounds.
    """
    if judged.verdict.settled or judged.reason == ONE_PROGRAM:
        return False
    if judged.reason == TOO_FEW or judged.shown is None:
        return True
    shrink = math.sqrt(judged.rounds / at.looks.rounds[-1])
    bounds = intervals.typical(mean.values, equivalence_level(at.looks.count))
    half = (log(judged.shown.hi) - log(judged.shown.lo)) / 2
    margin = log1p(at.plan.judge.margin_of(at.metric))
    return half * shrink <= abs(bounds.estimate) or bounds.half_width * shrink < margin


def _factorials(at: Measured) -> tuple[list[Factorial], list[_Draft]]:
    """Return the factorial of every input, and all effects before they are judged."""
    factorials: list[Factorial] = []
    drafts: list[_Draft] = []
    for item in at.plan.inputs:
        factorial, layout = layout_of(at, item.id)
        if layout is not None:
            rounds, logs = at.logs(list(layout.cells.values()), item.id)
            factorial = replace(factorial, rounds=len(rounds))
            if len(rounds) >= FEWEST_ROUNDS:
                drafts += _drafts(layout, logs)
            else:
                few = f"only {len(rounds)} rounds have all of its cells"
                reason = few if rounds else "before the first look"
                factorial = replace(factorial, axes=(), reason=reason)
        factorials.append(factorial)
    return factorials, drafts


def _drafts(layout: Layout, logs: Mapping[str, Weighted]) -> Iterator[_Draft]:
    """Yield the main effects by axis, then the interactions by pair of axes."""
    axes = range(len(layout.names))
    for a in axes:
        for level in layout.levels[a][1:]:
            corners = [{a: level}, {a: layout.levels[a][0]}]
            yield _Draft((layout.change(a, level),), _contrasts(layout, corners, logs))
    for a, b in itertools.combinations(axes, 2):
        for one, two in itertools.product(layout.levels[a][1:], layout.levels[b][1:]):
            first, second = layout.levels[a][0], layout.levels[b][0]
            # The signs alternate: both changes, the first alone, neither, the second alone.
            levels = ((one, two), (one, second), (first, second), (first, two))
            corners = [{a: level, b: other} for level, other in levels]
            changes = (layout.change(a, one), layout.change(b, two))
            yield _Draft(changes, _contrasts(layout, corners, logs))


def _contrasts(
    layout: Layout, corners: Sequence[dict[int, str]], logs: Mapping[str, Weighted]
) -> tuple[tuple[str, Weighted], ...]:
    """Return the alternating sum of the log values in each combination of the other axes.

    `corners` has the levels by number of the axis.
    """
    axes = range(len(layout.names))
    others = [n for n in axes if n not in corners[0]]
    contrasts = []
    for rest in itertools.product(*(layout.levels[n] for n in others)):
        levels = dict(zip(others, rest, strict=True))
        keys = (tuple((levels | corner)[n] for n in axes) for corner in corners)
        terms = zip(itertools.cycle((1.0, -1.0)), (logs[layout.cells[key]] for key in keys))
        contrasts.append((", ".join(rest), weighted_sum(list(terms))))
    return tuple(contrasts)


def _effect(draft: _Draft, mean: Contrast, at: Measured) -> Effect:
    judged = judge_contrasts([c for _, c in draft.cells], at)
    pooled = len({c.verdict.better for c in judged if c.verdict.decided}) <= 1
    if not pooled:
        mean = replace(mean, verdict=Verdict.INCONCLUSIVE, shown=None, reason=NOT_POOLED)
    cells = tuple(
        EffectCell(where, tuple(drafted.weights), contrast)
        for (where, drafted), contrast in zip(draft.cells, judged, strict=True)
    )
    return Effect(draft.cells[0][1].input_id, at.metric, draft.changes, pooled, mean, cells)
