"""Contribution of each change to a difference: ladder, single changes, Shapley values.

All figures are computed per round on the log scale, so the contributions multiply. The steps of a
ladder and the Shapley values (Shapley 1953: the mean over all orders of the changes) multiply to
the total in every round. Changes that were measured alone need not multiply to the total. Their
interaction is the rest. See docs/method.md#contributions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bench_framework.compare.contrasts import (
    FEWEST_ROUNDS,
    Floats,
    Measured,
    judge_contrasts,
    simultaneous,
    summed_weights,
    weighted_sum,
    with_reported_verdict,
)
from bench_framework.model.plan import Cell, Role
from bench_framework.model.structure import Change, Contrast, Contribution, Design, Step
from bench_framework.stats.intervals import Bounds
from bench_framework.stats.portable_math import log

FEWEST_STEPS: Final = 2
"""The smallest number of steps. A single step is the total, which is one of the comparisons."""
MOST_PLAYERS: Final = 6
"""The largest number of changes for Shapley values: six changes have 64 combinations."""

Values = dict[str, str]


@dataclass(frozen=True, slots=True)
class _Move:
    """A step before it is judged."""

    changes: tuple[Change, ...]
    cell_id: str | None
    ref_cell_id: str | None
    values: Floats
    weights: Mapping[str, float]
    """Cell id → factor of its logarithm."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A table before it is judged. Steps after the first `count` do not belong to the total."""

    input_id: str
    design: Design
    start: str
    end: str | None
    moves: tuple[_Move, ...]
    count: int
    total: Floats | None

    @property
    def contrasts(self) -> list[tuple[Floats, Mapping[str, float]]]:
        """Return values by round and weights by cell id of the steps, the total and a remainder."""
        contrasts = [(m.values, m.weights) for m in self.moves]
        if self.total is not None:
            whole = {self.end or "": 1.0, self.start: -1.0}
            contrasts.append((self.total, whole))
            if self.design == "alone":
                values = weighted_sum([(1.0, self.total), *((-1.0, m.values) for m in self.moves)])
                weights = summed_weights([(1.0, whole), *((-1.0, m.weights) for m in self.moves)])
                contrasts.append((values, weights))
        return contrasts


def contributions(at: Measured) -> tuple[tuple[Contribution, ...], int]:
    """Return the tables of contributions of all inputs, and the size of their Holm family."""
    drafts = [draft for item in at.plan.inputs for draft in _Input(at, item.id).drafts()]
    drafted = [(d, *contrast) for d in drafts for contrast in d.contrasts]
    judged = judge_contrasts(
        [values for _, values, _ in drafted],
        at,
        tripped=[d.input_id in at.tripped for d, _, _ in drafted],
        weights=[weights for _, _, weights in drafted],
    )
    results = iter(judged)
    tables = [
        _judged(d, list(itertools.islice(results, len(d.contrasts))), at, len(judged))
        for d in drafts
    ]
    return tuple(tables), len(judged)


class _Input:
    """The cells of one input, by the values of their variants."""

    def __init__(self, at: Measured, input_id: str) -> None:
        self._at, self._plan, self._input_id = at, at.plan, input_id
        self._usable = [
            c
            for c in at.plan.cells_of(input_id)
            if c.id in at.usable and c.role in (Role.BASELINE, Role.CANDIDATE)
        ]
        self._by_values = {
            self._plan.variant(c.variant_id).values: c
            for c in reversed(self._usable)
            if not self._is_knob(c)
        }
        self._by_variant = {c.variant_id: c for c in self._usable}
        baseline = at.plan.baseline_cell(input_id)
        self._base_id = baseline.id if baseline is not None else ""

    def _is_knob(self, cell: Cell) -> bool:
        """Return whether a cell is an experiment with the axis values of the baseline."""
        variant = self._plan.variant(cell.variant_id)
        baseline = self._plan.variant(self._plan.baseline_id)
        return variant.experiment is not None and variant.values == baseline.values

    def drafts(self) -> Iterator[_Draft]:
        """Yield the tables that the cells of this input allow."""
        if self._plan.design == "ladder":
            yield from self._ladder()
        # In a full factorial, Shapley values say more than single changes. The interactions are
        # listed with the effects.
        shares = list(self._shapley()) if self._plan.design == "full" else []
        yield from shares
        if not any(d.start == self._base_id for d in shares):
            yield from self._alone()

    def _adopted(self) -> list[tuple[str, str]]:
        """Return the adopted experiments that change an axis, as pairs of axis and value."""
        axes = {a.name for a in self._plan.axes if a.kind != "input"}
        return [
            i.change[0]
            for i in self._plan.experiments
            if i.decision == "adopted" and i.change[0][0] in axes
        ]

    def _cell(self, values: Mapping[str, str]) -> Cell | None:
        return self._by_values.get(tuple(values.items()))

    # -- ladder --------------------------------------------------------------------------------

    def _ladder(self) -> Iterator[_Draft]:
        """Yield the ladder of changes in axis order, without steps that have no figures."""
        baseline = dict(self._plan.variant(self._plan.baseline_id).values)
        rungs = [(dict(baseline), self._cell(baseline))]
        now = dict(baseline)
        for axis in self._plan.axes:
            for value in axis.values if axis.kind != "input" else ():
                if value.name != baseline[axis.name]:
                    now[axis.name] = value.name
                    if (cell := self._cell(now)) is not None:
                        rungs.append((dict(now), cell))
        cells = [cell for _, cell in rungs if cell is not None]
        if len(cells) != len(rungs) or len(cells) <= FEWEST_STEPS:
            return
        rounds, logs = self._at.logs([c.id for c in cells], self._input_id)
        if len(rounds) < FEWEST_ROUNDS:
            return
        moves = tuple(
            _move(_changes(rungs[n][0], rungs[n + 1][0]), cells, logs, (n + 1, n))
            for n in range(len(cells) - 1)
        )
        adopted = set(self._adopted())
        adopted_places = [
            n for n, m in enumerate(moves, 1) if {(c.axis, c.after) for c in m.changes} & adopted
        ]
        count = adopted_places[-1] if adopted_places else len(moves)
        total = logs[:, count] - logs[:, 0]
        yield _Draft(self._input_id, "ladder", cells[0].id, cells[count].id, moves, count, total)

    # -- each alone ----------------------------------------------------------------------------

    def _alone(self) -> Iterator[_Draft]:
        """Yield the single changes; the total is their combination, if a cell has all of them."""
        baseline = self._plan.variant(self._plan.baseline_id)
        base = self._by_variant.get(baseline.id)
        singles = self._single_changes()
        if base is None or len(singles) < FEWEST_STEPS:
            return
        together = dict(baseline.values)
        for change, _ in singles:
            together[change.axis] = change.after
        whole = self._cell(together) if len({c.axis for c, _ in singles}) == len(singles) else None
        cells = [base, *(cell for _, cell in singles), *([whole] if whole else [])]
        rounds, logs = self._at.logs([c.id for c in cells], self._input_id)
        if len(rounds) < FEWEST_ROUNDS:
            return
        moves = tuple(
            _move((change,), cells, logs, (n, 0)) for n, (change, _) in enumerate(singles, 1)
        )
        end, total = (whole.id, logs[:, -1] - logs[:, 0]) if whole else (None, None)
        yield _Draft(self._input_id, "alone", base.id, end, moves, len(moves), total)

    def _single_changes(self) -> list[tuple[Change, Cell]]:
        """Return single changes with their cells: one-at-a-time values, or adopted experiments."""
        baseline = dict(self._plan.variant(self._plan.baseline_id).values)
        pairs = self._adopted()
        if self._plan.design == "one-at-a-time":
            pairs = [
                (a.name, v.name)
                for a in self._plan.axes
                if a.kind != "input"
                for v in a.values
                if v.name != baseline[a.name]
            ]
        singles = []
        for axis, value in pairs:
            cell = self._cell({**baseline, axis: value})
            if cell is not None and baseline[axis] != value:
                singles.append((Change(axis, baseline[axis], value), cell))
        return singles

    # -- Shapley -------------------------------------------------------------------------------

    def _shapley(self) -> Iterator[_Draft]:
        """Yield Shapley values from each baseline to the target variant.

        The target has all adopted changes. Without adopted changes, it has the other level of every
        axis.
        """
        for start_id in (self._plan.baseline_id, *self._plan.further_baselines):
            start = dict(self._plan.variant(start_id).values)
            players = _changes(start, self._target(start))
            if FEWEST_STEPS <= len(players) <= MOST_PLAYERS:
                yield from self._shares(start, players)

    def _target(self, start: Values) -> Values:
        adopted = self._adopted()
        if len(dict(adopted)) != len(adopted):
            return start  # one variant cannot have two values of one axis
        if adopted:
            return {**start, **dict(adopted)}
        others = {
            a.name: [v.name for v in a.values if v.name != start[a.name]]
            for a in self._plan.axes
            if a.kind != "input" and len(a.values) > 1
        }
        if any(len(values) > 1 for values in others.values()):
            return start  # the figures cannot choose one of several values
        return {**start, **{name: values[0] for name, values in others.items()}}

    def _shares(self, start: Values, players: Sequence[Change]) -> Iterator[_Draft]:
        count, cells = len(players), dict[frozenset[int], Cell]()
        for subset in subsets(count):
            cell = self._cell({**start, **{players[n].axis: players[n].after for n in subset}})
            if cell is None:
                return
            cells[subset] = cell
        rounds, logs = self._at.logs([c.id for c in cells.values()], self._input_id)
        if len(rounds) < FEWEST_ROUNDS:
            return
        worth = dict(zip(cells, logs.T, strict=True))
        ids = {subset: cell.id for subset, cell in cells.items()}
        moves = tuple(
            _Move((c,), None, None, shapley_value(n, count, worth), shapley_weights(n, count, ids))
            for n, c in enumerate(players)
        )
        none, all_ = frozenset[int](), frozenset(range(count))
        ends, total = (ids[none], ids[all_]), worth[all_] - worth[none]
        yield _Draft(self._input_id, "shapley", *ends, moves, len(moves), total)


def _move(
    changes: tuple[Change, ...], cells: Sequence[Cell], logs: Floats, places: tuple[int, int]
) -> _Move:
    """Return the step between two cells."""
    end, start = places
    weights = {cells[end].id: 1.0, cells[start].id: -1.0}
    return _Move(changes, cells[end].id, cells[start].id, logs[:, end] - logs[:, start], weights)


def _changes(before: Values, after: Values) -> tuple[Change, ...]:
    return tuple(
        Change(axis, old, after[axis]) for axis, old in before.items() if after[axis] != old
    )


def _judged(draft: _Draft, judged: Sequence[Contrast], at: Measured, family: int) -> Contribution:
    places = len(draft.moves)
    ends = (draft.end or "", draft.start)
    total = with_reported_verdict(judged[places], ends, at) if draft.total is not None else None
    remainder = judged[places + 1] if draft.design == "alone" and total is not None else None
    whole = log(total.shown.ratio) if total and total.shown and total.verdict.decided else None
    steps = [
        Step(m.changes, m.cell_id, m.ref_cell_id, c, _share(c, whole) if n < draft.count else None)
        for n, (m, contrast) in enumerate(zip(draft.moves, judged[:places], strict=True))
        for c in (with_reported_verdict(contrast, (m.cell_id or "", m.ref_cell_id or ""), at),)
    ]
    total_steps = tuple(steps[: draft.count])
    left = None if whole is None else 1 - math.fsum(s.share or 0.0 for s in total_steps)
    bounds = [simultaneous(m.values, at, family) for m in draft.moves[: draft.count]]
    largest = _largest(total_steps, bounds, total) if whole is not None else None
    return Contribution(
        draft.input_id,
        at.metric,
        draft.design,
        draft.start,
        draft.end,
        total_steps,
        total,
        remainder,
        left,
        largest,
        tuple(steps[draft.count :]),
    )


def _share(contrast: Contrast, whole: float | None) -> float | None:
    if whole is None or contrast.shown is None:
        return None
    return log(contrast.shown.ratio) / whole


def _largest(steps: Sequence[Step], bounds: Sequence[Bounds], total: Contrast | None) -> int | None:
    """Return the step whose interval exceeds all others, in the direction of the total."""
    if total is None:
        return None
    sign = -1 if total.verdict.better else 1
    ends = [sorted((sign * b.lo, sign * b.hi)) for b in bounds]
    first = max(range(len(ends)), key=lambda n: ends[n][0])
    if not steps[first].contrast.verdict.decided or ends[first][0] <= 0:
        return None
    highest = all(ends[n][1] < ends[first][0] for n in range(len(ends)) if n != first)
    return first if highest else None


def subsets(count: int) -> Iterator[frozenset[int]]:
    """Yield every set of `count` changes, smaller sets first."""
    for size in range(count + 1):
        yield from map(frozenset, itertools.combinations(range(count), size))


def shapley_value(player: int, count: int, worth: Mapping[frozenset[int], Floats]) -> Floats:
    """Return Σ |S|!(m − |S| − 1)!/m! · (v(S ∪ {player}) − v(S)) over all S without the player.

    The sum is computed for each round. m is `count`, and v is `worth`.
    """
    total = np.zeros_like(worth[frozenset()])
    for subset, alone in worth.items():
        if player not in subset:
            total = total + _chance(len(subset), count) * (worth[subset | {player}] - alone)
    return total


def shapley_weights(
    player: int, count: int, cells: Mapping[frozenset[int], str]
) -> dict[str, float]:
    """Return the factor of each cell's logarithm in a Shapley value."""
    alone = [
        (_chance(len(subset), count), {cells[subset | {player}]: 1.0, cell: -1.0})
        for subset, cell in cells.items()
        if player not in subset
    ]
    return summed_weights(alone)


def _chance(size: int, count: int) -> float:
    """Return the share of all orders that have a given set directly before a change."""
    return math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count)
