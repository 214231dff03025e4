"""The full product of levels that effects can be taken from. Plain Python.

Where combinations are missing, effects are taken from the largest full product that holds the baseline; where that
has fewer than two axes, there are none, and the reason is said.
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
"""Sets of levels that are tried in search of the largest full product."""

Levels = tuple[str, ...]
Key = tuple[str, ...]
"""One level per axis of a layout."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Axes with their levels, the baseline's first, and the cell of every combination.

    Attributes:
        names: of the axes; axes that advance together are one.
        levels: per axis.
        cells: combination → cell id; every one of the product.
    """

    names: tuple[str, ...]
    levels: tuple[Levels, ...]
    cells: Mapping[Key, str]

    def change(self, axis: int, level: str) -> Change:
        """From the baseline's level of an axis to another one."""
        return Change(self.names[axis], self.levels[axis][0], level)

    def others(self, *axes: int) -> Iterator[tuple[int | None, ...]]:
        """Every combination of the levels of all other axes, as indexes; `None` in the place of `axes`."""
        ranges: list[Sequence[int | None]] = [
            (None,) if n in axes else range(len(levels)) for n, levels in enumerate(self.levels)
        ]
        return itertools.product(*ranges)

    def where(self, rest: Sequence[int | None]) -> str:
        """The levels of a combination of other axes, such as ``"rayon, jemalloc"``."""
        return ", ".join(self.levels[n][i] for n, i in enumerate(rest) if i is not None)

    def cell(self, rest: Sequence[int | None], fixed: Mapping[int, str]) -> str:
        """The cell of a combination of other axes with these levels of the rest."""
        return self.cells[
            tuple(fixed[n] if i is None else self.levels[n][i] for n, i in enumerate(rest))
        ]


def layout_of(at: Measured, input_id: str) -> tuple[Factorial, Layout | None]:
    """The factorial of an input, and `None` in place of its layout where it has none."""
    plan = at.plan
    own = [
        (plan.variant(c.variant_id), c.id)
        for c in plan.cells_of(input_id)
        if c.role in (Role.BASELINE, Role.CANDIDATE)
        and plan.variant(c.variant_id).experiment is None
    ]
    baseline = plan.variant(plan.baseline_id)
    names, keys = _merged([v for v, _ in own], baseline)
    if len(names) < FEWEST_AXES:
        return Factorial(
            input_id, (), reason="fewer than two axes of variants have several values"
        ), None
    if plan.design != "full":
        return Factorial(
            input_id, (), reason=f"the design is {plan.design}: axes are not crossed"
        ), None
    cells = {key: cell for key, (_, cell) in zip(keys, own, strict=True) if cell in at.usable}
    first = dict(zip([v.id for v, _ in own], keys, strict=True)).get(baseline.id)
    if first is None or first not in cells:
        return Factorial(input_id, (), reason="the baseline has no figures"), None
    planned = tuple(
        (first[n], *dict.fromkeys(k[n] for k in keys if k[n] != first[n]))
        for n in range(len(names))
    )
    levels = _largest(planned, frozenset(cells))
    if levels is None:
        return Factorial(input_id, (), reason="too many levels to search for a full product"), None
    kept = [n for n, own_levels in enumerate(levels) if len(own_levels) >= FEWEST_LEVELS]
    left_out = tuple(
        f"{names[n]}: {level}"
        for n in range(len(names))
        for level in planned[n]
        if level not in levels[n]
    )
    if len(kept) < FEWEST_AXES:
        reason = "too many combinations are missing: no two axes are fully crossed"
        return Factorial(input_id, (), left_out, reason), None
    layout = Layout(
        tuple(names[n] for n in kept),
        tuple(levels[n] for n in kept),
        {tuple(key[n] for n in kept): cells[key] for key in itertools.product(*levels)},
    )
    return Factorial(
        input_id, tuple(zip(layout.names, layout.levels, strict=True)), left_out
    ), layout


def _merged(variants: Sequence[Variant], baseline: Variant) -> tuple[tuple[str, ...], list[Key]]:
    """Names of the axes that vary, those that advance together as one, and each variant's levels of them."""
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
    """The largest full product that holds every axis's first level; the earliest of equals in plan order.

    The levels of the widest axis follow from those of the others: exactly those that are present with all of them.
    Of equals, the one with more crossed axes is taken. `None` where there is too much to try.
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
        kept = tuple(
            level
            for level in planned[widest]
            if all(
                (*rest[:widest], level, *rest[widest:]) in present
                for rest in itertools.product(*others)
            )
        )
        if not kept or kept[0] != planned[widest][0]:
            continue
        found = tuple(kept if n == widest else levels for n, levels in enumerate(chosen))
        size = (_product(map(len, found)), sum(len(levels) >= FEWEST_LEVELS for levels in found))
        if size > best[0]:
            best = (size, found)
    return best[1]


def _subsets(levels: Levels) -> list[Levels]:
    """Every set of levels with the first one, the largest sets first."""
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
