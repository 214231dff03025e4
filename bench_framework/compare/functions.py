"""Functions whose counted costs differ between two configurations (docs/method.md#functions-that-differ)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from bench_framework.compare import exact_metrics, medians
from bench_framework.model.facts.functions import (
    LEAST_CHANGE,
    CountChange,
    FunctionChange,
    FunctionChanges,
    FunctionsOfPair,
)
from bench_framework.model.record.functions import (
    ALLOCATOR,
    ALLOCATOR_METRICS,
    FunctionCost,
    FunctionCounts,
    Key,
    allocator_metric,
    is_of_allocator,
    is_of_program,
)
from bench_framework.model.record.run import Observation
from bench_framework.model.result.judgement import Comparison

LEAST_COUNT: Final = 10
"""Smallest difference of a count that matters."""
LEAST_COUNT_SHARE: Final = 0.01
"""The same as a share of the count of the reference."""
MOST_LEFT: Final = 0.1
"""Largest sum of two differences that cancel, as a share of the larger one, and of all these sums together, as a share
of the difference of all instructions. The other functions then explain at least 90 % of it."""
MOST_ON_ONE_SIDE: Final = 0.01
"""Largest cost of a function on the side that almost does not have it, as a share of its cost on the other side."""
MOST_STEPS: Final = 12
"""Most steps from a library's function to the function of the program that calls it."""


@dataclass(frozen=True, slots=True)
class _Side:
    """The counted functions of a configuration, by name and module."""

    first: FunctionCounts
    costs: Mapping[Key, FunctionCost]
    later: tuple[Mapping[Key, FunctionCost], ...]
    observations: tuple[Observation, ...]

    @property
    def total(self) -> int:
        return sum(cost.instructions for cost in self.first.functions) + self.first.left_out

    def cost(self, key: Key) -> FunctionCost:
        return self.costs.get(key, FunctionCost(*key, 0, 0))

    def uncertainty(self, *keys: Key) -> int:
        """Return how far the instructions of some functions together may be from those of another run."""
        runs = (self.costs, *self.later)
        counts = [sum(run.get(key, self.cost(key)).instructions for key in keys) for run in runs]
        return (max(counts) - min(counts)) * medians.ranges_of(len(counts))

    def counts(self, metric: str) -> list[float]:
        return [o.values[metric] for o in self.observations if metric in o.values]


def pairs_of(
    comparisons: Iterable[Comparison],
    functions: Sequence[FunctionCounts],
    observations: Sequence[Observation],
    *,
    iteration: bool = False,
) -> tuple[FunctionsOfPair, ...]:
    """Return the counted differences of the compared pairs that were counted on both sides.

    With `iteration`, the counts are those of one iteration of benchmarks.
    """
    counted = {counts.cell_id for counts in functions}
    pairs = {
        (c.cell_id, c.ref_cell_id): None
        for c in comparisons
        if c.family in ("headline", "exact", "contrast") and {c.cell_id, c.ref_cell_id} <= counted
    }
    pairs_with_changes = (
        (pair, changes_between(*pair, functions, observations, iteration=iteration))
        for pair in pairs
    )
    return tuple(
        FunctionsOfPair(*pair, changes)
        for pair, changes in pairs_with_changes
        if changes is not None
    )


def changes_between(
    cell_id: str,
    ref_cell_id: str,
    functions: Sequence[FunctionCounts],
    observations: Sequence[Observation],
    *,
    iteration: bool = False,
) -> FunctionChanges | None:
    """Return the counted differences between two configurations; `None` if one was not counted."""
    sides = [_side(key, functions, observations) for key in (cell_id, ref_cell_id)]
    new, old = sides
    if new is None or old is None or not old.total:
        return None
    keys = (new.costs.keys() | old.costs.keys()) - _renamed(new, old)
    total, former = new.total - old.total, _former(keys, new, old)
    groups = defaultdict[str | Key, list[Key]](list)
    for key in keys - {*former.values()}:
        groups[ALLOCATOR if is_of_allocator(key) else key].append(key)
    for key, before in former.items():
        groups[key].append(before)
    changes = [
        change
        for group in groups.values()
        if abs((change := _change(group, new, old)).difference) >= LEAST_CHANGE * old.total
        and abs(change.difference) > new.uncertainty(*group) + old.uncertainty(*group)
    ]
    counterparts = _counterparts(
        changes, total, {*_edges(new, by_calls=True), *_edges(old, by_calls=True)}
    )
    # Of an iteration, the functions of libraries are known only together, and may have changed the other way.
    shared = not iteration and abs(total) >= LEAST_CHANGE * old.total
    ranked = sorted(
        (replace(c, counterpart=counterparts.get((c.name, c.module), "")) for c in changes),
        key=lambda c: (-abs(c.difference), c.name),
    )
    return FunctionChanges(
        instructions=new.total,
        reference=old.total,
        functions=tuple(replace(c, share=c.difference / total) if shared else c for c in ranked),
        counts=tuple(_counts(new, old)),
        rest=total - sum(c.difference for c in changes),
        runs=min(1 + len(side.later) for side in (new, old)),
        iteration=iteration,
    )


def same_instructions(
    pair: tuple[str, str],
    functions: Sequence[FunctionCounts],
    observations: Sequence[Observation],
) -> int | None:
    """Return the instructions of both sides; `None` if they differ or were not counted.

    No function may differ by more than its counts vary between runs: a difference too small to be stated
    could still be an instruction that takes long, such as a division.
    """
    sides = [_side(key, functions, observations) for key in pair]
    new, old = sides
    if new is None or old is None or not old.total:
        return None
    keys = (new.costs.keys() | old.costs.keys()) - _renamed(new, old)
    varying = sum(side.uncertainty(key) for side in (new, old) for key in side.costs)
    if abs(new.total - old.total) > varying:
        return None
    same = all(
        new.cost(key).calls == old.cost(key).calls
        and abs(new.cost(key).instructions - old.cost(key).instructions)
        <= new.uncertainty(key) + old.uncertainty(key)
        for key in keys
    )
    return old.total if same else None


def _side(
    cell_id: str, functions: Sequence[FunctionCounts], observations: Sequence[Observation]
) -> _Side | None:
    runs = sorted((c for c in functions if c.cell_id == cell_id), key=lambda c: c.run)
    if not runs or runs[0].run != 1:
        return None
    by_key = [{cost[:2]: cost for cost in run.functions} for run in runs]
    mine = (o for o in observations if (o.cell_id, o.kind) == (cell_id, exact_metrics.COUNTING_RUN))
    return _Side(runs[0], by_key[0], tuple(by_key[1:]), tuple(mine))


def _change(keys: Sequence[Key], new: _Side, old: _Side) -> FunctionChange:
    """Return the difference of a function, or of all functions of the allocator together."""
    instructions, reference = (sum(x.cost(key).instructions for key in keys) for x in (new, old))
    (name, module) = keys[0]
    calls, reference_calls = (sum(side.cost(key).calls for key in keys) for side in (new, old))
    if is_of_allocator(keys[0]):
        name, module = ALLOCATOR, ", ".join(sorted({file for _, file in keys if file}))
        # Without the calls from one function of an allocator to the next.
        calls, reference_calls = (
            round(
                sum(side.counts(metric)[0] for metric in ALLOCATOR_METRICS if side.counts(metric))
            )
            for side in (new, old)
        )
    grown = instructions > reference and (name == ALLOCATOR or not is_of_program(keys[0]))
    return FunctionChange(
        name=name,
        module=module,
        instructions=instructions,
        reference=reference,
        calls=calls,
        reference_calls=reference_calls,
        caller=_caller(keys, new, old, by_calls=False) if grown else "",
        former="" if name == ALLOCATOR or len(keys) == 1 else keys[1][0],
    )


def _former(keys: Collection[Key], new: _Side, old: _Side) -> dict[Key, Key]:
    """Return functions of the program that only the new side has, each with the one whose place it has.

    Only the old side has that one, and the same functions call it as often. No other pair has these calls.
    """

    def by_calls(side: _Side, other: _Side) -> dict[object, list[Key]]:
        callers = defaultdict[Key, set[tuple[Key, int]]](set)
        for (caller, callee), number in _edges(side, by_calls=True).items():
            callers[callee].add((caller, number))
        alone: dict[object, list[Key]] = {}
        for key in sorted((side.costs.keys() - other.costs.keys()) & {*keys} & callers.keys()):
            if is_of_program(key) and not is_of_allocator(key):
                alone.setdefault(frozenset(callers[key]), []).append(key)
        return alone

    gone = by_calls(old, new)
    return {
        added[0]: gone[calls][0]
        for calls, added in by_calls(new, old).items()
        if len(added) == len(gone.get(calls, ())) == 1
    }


def _counterparts(
    changes: Iterable[FunctionChange], total: int, calls: Collection[tuple[Key, Key]]
) -> dict[Key, str]:
    """Return the functions that cancel in pairs, each with the name of the other one.

    Both are on one side only, or one is and the other one calls it: one was renamed, inlined or split off.
    """
    alone = {
        (c.name, c.module)
        for c in changes
        if min(c.instructions, c.reference) <= MOST_ON_ONE_SIDE * max(c.instructions, c.reference)
    }
    differences = {(c.name, c.module): c.difference for c in changes if c.name != ALLOCATOR}
    less = [key for key, difference in differences.items() if difference < 0]
    more = [key for key, difference in differences.items() if difference > 0]
    pairs = sorted(
        (abs(differences[one] + differences[other]), one, other)
        for one, other in product(less, more)
        if {one, other} <= alone
        or (one in alone and (other, one) in calls)
        or (other in alone and (one, other) in calls)
    )
    left, counterparts = MOST_LEFT * abs(total), dict[Key, str]()
    for net, one, other in pairs:
        most = MOST_LEFT * max(-differences[one], differences[other])
        if net <= min(most, left) and not counterparts.keys() & {one, other}:
            left -= net
            counterparts |= {one: other[0], other: one[0]}
    return counterparts


def _renamed(new: _Side, old: _Side) -> set[Key]:
    """Return functions that only one side has, and that cost as much as one that only the other has."""
    renamed: set[Key] = set()
    gone: dict[tuple[int, int], list[Key]] = {}
    for key in sorted(old.costs.keys() - new.costs.keys()):
        cost = old.costs[key]
        gone.setdefault((cost.instructions, cost.calls), []).append(key)
    for key in sorted(new.costs.keys() - old.costs.keys()):
        cost = new.costs[key]
        if others := gone.get((cost.instructions, cost.calls)):
            renamed |= {key, others.pop()}
    return renamed


def _counts(new: _Side, old: _Side) -> Iterable[CountChange]:
    for metric in (*ALLOCATOR_METRICS, "system_calls"):
        mine, others = new.counts(metric), old.counts(metric)
        if not mine or not others:
            continue
        difference = mine[0] - others[0]
        spread = sum((max(v) - min(v)) * medians.ranges_of(len(v)) for v in (mine, others))
        if abs(difference) <= max(spread, LEAST_COUNT, LEAST_COUNT_SHARE * others[0]):
            continue
        keys = new.costs.keys() | old.costs.keys()
        if metric == "system_calls":
            called = {key: new.cost(key).system_calls - old.cost(key).system_calls for key in keys}
        else:
            called = {
                key: new.cost(key).calls - old.cost(key).calls
                for key in keys
                if allocator_metric(key[0]) == metric
            }
        most = max(sorted(called), key=lambda key: called[key], default=("", ""))
        more = difference > 0 and called.get(most, 0) > 0
        starts = [most] if metric == "system_calls" else [*called]
        yield CountChange(
            metric=metric,
            value=int(mine[0]),
            reference=int(others[0]),
            function=most[0] if metric == "system_calls" and more else "",
            caller=_caller(starts, new, old, by_calls=True) if more else "",
        )


def _caller(callees: Collection[Key], new: _Side, old: _Side, *, by_calls: bool) -> str:
    """Return the function of the program that causes most of the growth of functions of libraries.

    Each step goes to the caller with the largest growth of its calls, or of the instructions of these calls.
    """
    growth = _edges(new, by_calls=by_calls)
    growth.subtract(_edges(old, by_calls=by_calls))
    visited, level = set(callees), set(callees)
    for _ in range(MOST_STEPS):
        callers: Counter[Key] = Counter()
        for (caller, callee), number in growth.items():
            if callee in level and caller not in visited:
                callers[caller] += number
        key = max(sorted(callers), key=lambda caller: callers[caller], default=None)
        if key is None or callers[key] <= 0:
            return ""
        if is_of_program(key):
            return key[0]
        visited, level = {*visited, key}, {key}
    return ""


def _edges(side: _Side, *, by_calls: bool) -> Counter[tuple[Key, Key]]:
    names = [cost[:2] for cost in side.first.functions]
    return Counter(
        {
            (names[c.caller], names[c.callee]): c.calls if by_calls else c.instructions
            for c in side.first.calls
        }
    )
