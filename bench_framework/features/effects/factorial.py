"""The full product of levels from which effects are computed. Plain Python.

If combinations are missing, effects are computed from the largest full product that contains the
baseline. If this product has fewer than two axes, there are no effects, and the reason is stated.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench_framework.model.plan import Role
from bench_framework.model.structure import Change, Factorial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench_framework.compare.contrasts import Measured
    from bench_framework.model.plan import Variant

FEWEST_AXES: Final = 2
FEWEST_LEVELS: Final = 2
MOST_SEARCHED: Final = 1 << 14
"""The largest number of level sets that the search for the largest full product tries."""

Levels = tuple[str, ...]
Key = tuple[str, ...]
"""One level per axis of a layout."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Axes with their levels, the baseline's level first, and the cell of every combination.

    Attributes:
        names: names of the axes. Axes that advance together are one.
        levels: levels of each axis.
        cells: combination → cell id, for the whole product.
    """

    names: tuple[str, ...]
    levels: tuple[Levels, ...]
    cells: Mapping[Key, str]

    def change(self, axis: int, level: str) -> Change:
        """Return the change from the baseline's level of an axis to another level."""
        return Change(self.names[axis], self.levels[axis][0], level)

    def others(self, *axes: int) -> Iterator[tuple[int | None, ...]]:
        """Yield every combination of the levels of all other axes, as indexes.

        The places of `axes` are `None`.
        """
        ranges: list[Sequence[int | None]] = [
            (None,) if n in axes else range(len(levels)) for n, levels in enumerate(self.levels)
        ]
        return itertools.product(*ranges)

    def where(self, rest: Sequence[int | None]) -> str:
        """Return the levels of a combination of other axes, such as ``"rayon, jemalloc"``."""
        return ", ".join(self.levels[n][i] for n, i in enumerate(rest) if i is not None)

    def cell(self, rest: Sequence[int | None], fixed: Mapping[int, str]) -> str:
        """Return the id of the cell at a combination of the other axes.

        `fixed` has the levels of the axes that are `None` in the combination.
        """
        return self.cells[
            tuple(fixed[n] if i is None else self.levels[n][i] for n, i in enumerate(rest))
        ]


def layout_of(at: Measured, input_id: str) -> tuple[Factorial, Layout | None]:
    """Return the factorial of an input and its layout, or `None` if it has no layout."""
    plan = at.plan
    variant_cells = [
        (plan.variant(c.variant_id), c.id)
        for c in plan.cells_of(input_id)
        if c.role in (Role.BASELINE, Role.CANDIDATE)
        and plan.variant(c.variant_id).experiment is None
    ]
    baseline = plan.variant(plan.baseline_id)
    names, keys = _merged([v for v, _ in variant_cells], baseline)
    if len(names) < FEWEST_AXES:
        return Factorial(
            input_id, (), reason="fewer than two axes of variants have several values"
        ), None
    if plan.design != "full":
        return Factorial(
            input_id, (), reason=f"the design is {plan.design}: axes are not crossed"
        ), None
    cells = {
        key: cell for key, (_, cell) in zip(keys, variant_cells, strict=True) if cell in at.usable
    }
    first = dict(zip([v.id for v, _ in variant_cells], keys, strict=True)).get(baseline.id)
    if first is None or first not in cells:
        return Factorial(input_id, (), reason="the baseline has no figures"), None
    planned = tuple(
        (first[n], *dict.fromkeys(k[n] for k in keys if k[n] != first[n]))
        for n in range(len(names))
    )
    levels = _largest(planned, frozenset(cells))
    if levels is None:
        return Factorial(input_id, (), reason="too many levels to search for a full product"), None
    crossed_axes = [n for n, own_levels in enumerate(levels) if len(own_levels) >= FEWEST_LEVELS]
    left_out = tuple(
        f"{names[n]}: {level}"
        for n in range(len(names))
        for level in planned[n]
        if level not in levels[n]
    )
    if len(crossed_axes) < FEWEST_AXES:
        reason = "too many combinations are missing: no two axes are fully crossed"
        return Factorial(input_id, (), left_out, reason), None
    layout = Layout(
        tuple(names[n] for n in crossed_axes),
        tuple(levels[n] for n in crossed_axes),
        {tuple(key[n] for n in crossed_axes): cells[key] for key in itertools.product(*levels)},
    )
    return Factorial(
        input_id, tuple(zip(layout.names, layout.levels, strict=True)), left_out
    ), layout


def _merged(variants: Sequence[Variant], baseline: Variant) -> tuple[tuple[str, ...], list[Key]]:
    """Return the names of the axes that vary, and the levels of each variant.

    Axes that advance together are merged into one.
    """
    columns: dict[tuple[int, ...], list[str]] = {}
    for name, _ in baseline.values:
        values = [dict(v.values)[name] for v in variants]
        order = list(dict.fromkeys(values))
        if len(order) >= FEWEST_LEVELS:
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
    if _product(len(s) for s in searched) > MOST_SEARCHED:
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
        size = (
            _product(map(len, product)),
            sum(len(levels) >= FEWEST_LEVELS for levels in product),
        )
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


def _product(numbers: Iterator[int] | map[int]) -> int:
    size = 1
    for number in numbers:
        size *= number
    return size
