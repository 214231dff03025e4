"""Contribution of each change to a difference: ladder, single changes, Shapley values.

All figures are computed per round on the log scale, so the contributions multiply. The steps of a
ladder and the Shapley values (Shapley 1953: the mean over all orders of the changes) multiply to
the total in every round. Changes that were measured alone need not multiply to the total. Their
interaction is the rest. See docs/method.md#contributions.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from bench_framework.compare.contrasts import (
    FEWEST_ROUNDS,
    ContrastData,
    Weighted,
    judge_contrasts,
    simultaneous,
    weighted_sum,
)
from bench_framework.model.plan.plan import Cell
from bench_framework.model.result.structure import (
    AblationDesign,
    Change,
    ContrastResult,
    Contribution,
    Step,
)
from bench_framework.stats.intervals import Bounds
from bench_framework.stats.portable_math import log

FEWEST_STEPS: Final = 2
"""The smallest number of steps. A single step is the total, which is one of the comparisons."""
MOST_PLAYERS: Final = 6
"""The largest number of changes for Shapley values: six changes have 64 combinations."""

Values = dict[str, str]


_Move = tuple[partial[Step], Weighted]
"""A step that lacks only its result and share, and its contrast."""


@dataclass(frozen=True, slots=True)
class _TableDraft:
    """A table before it is judged. Steps after the first `count` do not belong to the total."""

    input_id: str
    design: AblationDesign
    start: str
    end: str | None
    moves: tuple[_Move, ...]
    count: int
    total: Weighted | None

    @property
    def contrasts(self) -> list[Weighted]:
        """Return the contrasts of the steps, of the total and of a remainder."""
        steps = [contrast for _, contrast in self.moves]
        if self.total is None:
            return steps
        terms = [(1.0, self.total), *((-1.0, step) for step in steps)]
        rest = [weighted_sum(terms)] if self.design == "alone" else []
        return [*steps, self.total, *rest]


def contributions(at: ContrastData) -> tuple[tuple[Contribution, ...], int]:
    """Return the tables of contributions of all inputs, and the size of their Holm family."""
    drafts = [draft for item in at.plan.inputs for draft in _Input(at, item.id).drafts()]
    groups = [draft.contrasts for draft in drafts]
    judged = judge_contrasts(list(itertools.chain.from_iterable(groups)), at)
    results = iter(judged)
    tables = tuple(
        _judged(draft, list(itertools.islice(results, len(group))), at, len(judged))
        for draft, group in zip(drafts, groups, strict=True)
    )
    return tables, len(judged)


class _Input:
    """The cells of one input, by the values of their variants."""

    def __init__(self, at: ContrastData, input_id: str) -> None:
        self._at, self._plan, self._input_id = at, at.plan, input_id
        baseline = self._plan.baseline
        self._baseline = dict(baseline.values)
        self._by_values: dict[tuple[tuple[str, str], ...], Cell] = {}
        for cell in reversed(at.plan.compared_cells(input_id)):
            variant = self._plan.variant(cell.variant_id)
            # An experiment with the axis values of the baseline changes something else.
            if cell.id in at.usable and not (
                variant.experiment is not None and variant.values == baseline.values
            ):
                self._by_values[variant.values] = cell

    def drafts(self) -> Iterator[_TableDraft]:
        """Yield the tables that the cells of this input allow."""
        base = self._cell(self._baseline)
        if self._plan.design == "ladder" and base is not None:
            yield from self._ladder(base)
        # In a full factorial, Shapley values say more than single changes. The interactions are
        # listed with the effects.
        shares = list(self._shapley()) if self._plan.design == "full" else []
        yield from shares
        if base is not None and not any(d.start == base.id for d in shares):
            yield from self._alone(base)

    def _adopted(self) -> list[tuple[str, str]]:
        """Return the adopted experiments that change an axis, as pairs of axis and value."""
        axes = {a.name for a in self._plan.axes if a.kind != "input"}
        experiments = (e for e in self._plan.experiments if e.decision == "adopted")
        return [e.change[0] for e in experiments if e.change[0][0] in axes]

    def _cell(self, values: Mapping[str, str]) -> Cell | None:
        return self._by_values.get(tuple(values.items()))

    def _other_values(self, start: Values) -> dict[str, list[str]]:
        """Return the values of each axis of variants that are not those of `start`."""
        return {
            a.name: [v.name for v in a.values if v.name != start[a.name]]
            for a in self._plan.axes
            if a.kind != "input"
        }

    def _logs(self, cells: Iterable[Cell]) -> dict[str, Weighted] | None:
        """Return the logarithms by cell, or `None` if the cells have too few common rounds."""
        rounds, logs = self._at.logs([c.id for c in cells], self._input_id)
        return logs if len(rounds) >= FEWEST_ROUNDS else None

    def _ladder(self, base: Cell) -> Iterator[_TableDraft]:
        """Yield the ladder of changes in axis order, without steps that have no figures."""
        now = self._baseline
        rungs = [(now, base)]
        for axis, values in self._other_values(self._baseline).items():
            for value in values:
                now = {**now, axis: value}
                if (cell := self._cell(now)) is not None:
                    rungs.append((now, cell))
        cells = [cell for _, cell in rungs]
        logs = self._logs(cells) if len(cells) > FEWEST_STEPS else None
        if logs is None:
            return
        moves = tuple(
            _move(_changes(before, after), end, start, logs)
            for (before, start), (after, end) in itertools.pairwise(rungs)
        )
        adopted = set(self._adopted())
        adopted_places = [
            n
            for n, ((before, _), (after, _)) in enumerate(itertools.pairwise(rungs), 1)
            if any(before[axis] != value == after[axis] for axis, value in adopted)
        ]
        count = adopted_places[-1] if adopted_places else len(moves)
        total = _difference(logs[cells[count].id], logs[base.id])
        yield _TableDraft(self._input_id, "ladder", base.id, cells[count].id, moves, count, total)

    def _alone(self, base: Cell) -> Iterator[_TableDraft]:
        """Yield the single changes; the total is their combination, if a cell has all of them."""
        singles = self._single_changes()
        if len(singles) < FEWEST_STEPS:
            return
        together = self._baseline | {change.axis: change.after for change, _ in singles}
        whole = self._cell(together) if len({c.axis for c, _ in singles}) == len(singles) else None
        logs = self._logs([base, *(cell for _, cell in singles), *([whole] if whole else [])])
        if logs is None:
            return
        moves = tuple(_move((change,), cell, base, logs) for change, cell in singles)
        end = whole.id if whole else None
        total = _difference(logs[end], logs[base.id]) if end else None
        yield _TableDraft(self._input_id, "alone", base.id, end, moves, len(moves), total)

    def _single_changes(self) -> list[tuple[Change, Cell]]:
        """Return single changes with their cells: one-at-a-time values, or adopted experiments."""
        pairs = self._adopted()
        if self._plan.design == "one-at-a-time":
            others = self._other_values(self._baseline)
            pairs = [(axis, value) for axis, values in others.items() for value in values]
        return [
            (Change(axis, self._baseline[axis], value), cell)
            for axis, value in pairs
            if self._baseline[axis] != value
            and (cell := self._cell({**self._baseline, axis: value})) is not None
        ]

    def _shapley(self) -> Iterator[_TableDraft]:
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
        others = {axis: values for axis, values in self._other_values(start).items() if values}
        if any(len(values) > 1 for values in others.values()):
            return start  # the figures cannot choose one of several values
        return {**start, **{axis: values[0] for axis, values in others.items()}}

    def _shares(self, start: Values, players: Sequence[Change]) -> Iterator[_TableDraft]:
        count, cells = len(players), dict[frozenset[int], Cell]()
        for subset in subsets(count):
            cell = self._cell({**start, **{players[n].axis: players[n].after for n in subset}})
            if cell is None:
                return
            cells[subset] = cell
        if (logs := self._logs(cells.values())) is None:
            return
        worth = {subset: logs[cell.id] for subset, cell in cells.items()}
        moves = tuple(
            (partial(Step, (c,), None, None), shapley_value(n, count, worth))
            for n, c in enumerate(players)
        )
        none, all_ = frozenset[int](), frozenset(range(count))
        ends, total = (cells[none].id, cells[all_].id), _difference(worth[all_], worth[none])
        yield _TableDraft(self._input_id, "shapley", *ends, moves, len(moves), total)


def _move(
    changes: tuple[Change, ...], end: Cell, start: Cell, logs: Mapping[str, Weighted]
) -> _Move:
    contrast = _difference(logs[end.id], logs[start.id])
    return partial(Step, changes, end.id, start.id), contrast


def _difference(end: Weighted, start: Weighted) -> Weighted:
    return weighted_sum([(1.0, end), (-1.0, start)])


def _changes(before: Values, after: Values) -> tuple[Change, ...]:
    return tuple(
        Change(axis, old, after[axis]) for axis, old in before.items() if after[axis] != old
    )


def _judged(
    draft: _TableDraft, judged: Sequence[ContrastResult], at: ContrastData, family: int
) -> Contribution:
    places = len(draft.moves)
    total = judged[places] if draft.total is not None else None
    remainder = judged[places + 1] if draft.design == "alone" and total is not None else None
    whole = log(total.shown.ratio) if total and total.shown and total.verdict.decided else None
    steps = [
        step(c, _share(c, whole) if n < draft.count else None)
        for n, ((step, _), c) in enumerate(zip(draft.moves, judged[:places], strict=True))
    ]
    total_steps = tuple(steps[: draft.count])
    left = largest = None
    if total is not None and whole is not None:
        left = 1 - math.fsum(s.share or 0.0 for s in total_steps)
        bounds = [simultaneous(c.values, at, family) for _, c in draft.moves[: draft.count]]
        largest = _largest(total_steps, bounds, -1 if total.verdict.better else 1)
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


def _share(contrast: ContrastResult, whole: float | None) -> float | None:
    if whole is None or contrast.shown is None:
        return None
    return log(contrast.shown.ratio) / whole


def _largest(steps: Sequence[Step], bounds: Sequence[Bounds], sign: int) -> int | None:
    """Return the step whose interval exceeds all others, in the direction of the total."""
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


def shapley_value(player: int, count: int, worth: Mapping[frozenset[int], Weighted]) -> Weighted:
    """Return Σ |S|!(m − |S| − 1)!/m! · (v(S ∪ {player}) − v(S)) over all S without the player.

    m is `count`, and v is `worth`.
    """
    return weighted_sum(
        [
            (
                math.factorial(len(subset))
                * math.factorial(count - len(subset) - 1)
                / math.factorial(count),
                _difference(worth[subset | {player}], alone),
            )
            for subset, alone in worth.items()
            if player not in subset
        ]
    )
