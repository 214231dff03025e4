"""The result of a gate in a line, and what explains its regressions."""

from collections.abc import Iterator, Sequence
from typing import Final

from bench_framework.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_NOT_JUDGED,
    EXIT_NOT_MEASURED,
    EXIT_WORSE,
)
from bench_framework.model.facts.functions import FunctionChange
from bench_framework.model.plan.plan import Plan
from bench_framework.model.result.decision import ChangeKind
from bench_framework.model.result.gate import Explanation, GatedPair, Gating, PairState
from bench_framework.text import words, write
from bench_framework.text.names import listed
from bench_framework.units import counted

RESULTS: Final = {
    EXIT_DONE: ("✓", "+", "passed"),
    EXIT_WORSE: ("▲", "^", "regressions found"),
    EXIT_NOT_MEASURED: ("✕", "x", "not everything could be measured"),
    EXIT_NOT_JUDGED: ("?", "?", "inconclusive"),
    EXIT_INTERRUPTED: ("·", "-", "interrupted"),
}
"""Glyph, its replacement in ASCII, and the words of each result, by exit code."""
OUTPUTS_DIFFER: Final = "outputs differ"
BUDGETS_EXCEEDED: Final = "budgets exceeded"
"""The result in place of regressions if no comparison is worse."""
MOST_NAMED: Final = 2
"""Largest number of comparisons that the heading names, and of functions that a sentence names."""
MOST_PLACES: Final = 10
"""Largest number of configurations that a line about a cause names."""
_HEADED: Final[dict[int, tuple[PairState, ...]]] = {
    EXIT_WORSE: ("worse",),
    EXIT_NOT_JUDGED: ("not-judged", "suspicious"),
}
_DESPITE: Final[dict[PairState, tuple[str, str]]] = {
    "accepted": ("accepted change", "for the worse"),
    "same-instructions": ("benchmark", "worse with the same instructions"),
}
"""Things that are worse and do not fail the gate, by the state of their pairs."""


def size_of(pair: GatedPair) -> float:
    """Return the estimated growth of a pair, that of the second measurement if there is one."""
    interval = (pair.again or pair.comparison).shown
    return interval.ratio - 1 if interval is not None else 0.0


def by_size(pairs: Sequence[GatedPair]) -> list[GatedPair]:
    """Return the pairs with the largest growth first; passed ones are last, in the order of the plan."""
    return sorted(
        pairs,
        key=lambda pair: (
            pair.state == "passed",
            0.0 if pair.state == "passed" else -size_of(pair),
        ),
    )


def place_of(plan: Plan, cell_id: str) -> str:
    """Return variant and input of a configuration, or its input if two revisions are compared."""
    cell = plan.cell(cell_id)
    where, name = plan.input(cell.input_id).name, plan.variant(cell.variant_id).label
    if plan.revisions is not None and where:
        return where
    return f"{name}, {where}" if where else name


def result_of(plan: Plan, gating: Gating, change: ChangeKind) -> str:
    """Return the result with what is worse or could not be judged: each of few, otherwise number and largest."""
    differ = gating.exit_code == EXIT_NOT_MEASURED and change is ChangeKind.WORSE
    result = OUTPUTS_DIFFER if differ else RESULTS[gating.exit_code][2]
    if gating.exit_code == EXIT_DONE:
        for state, (thing, how_worse) in _DESPITE.items():
            if number := len(gating.in_state(state)):
                result += f", with {counted(number, thing)} {how_worse}"
    worse = gating.exit_code == EXIT_WORSE
    pairs = by_size(gating.in_state(*_HEADED.get(gating.exit_code, ())))
    names = [_name(plan, pair, sized=worse) for pair in pairs]
    all_ = counted(len(gating.pairs), "comparison")
    if worse and not pairs:
        result = BUDGETS_EXCEEDED
        over = [budget for budget in gating.budgets if budget.state == "over"]
        names = [f"{words.noun(b.budget.metric)} of {place_of(plan, b.cell_id)}" for b in over]
        all_ = counted(len(gating.budgets), "budget")
    if not names:
        return result
    if len(names) <= MOST_NAMED:
        return f"{result}: {', '.join(names)}"
    largest = f", the largest: {names[0]}" if worse and pairs else ""
    return f"{result}: {len(names)} of {all_}{largest}"


def largest_of(plan: Plan, gating: Gating) -> str:
    """Return the largest regression with its size; empty if no comparison is worse."""
    pairs = by_size(gating.in_state("worse"))
    return _name(plan, pairs[0], sized=True) if pairs else ""


def _name(plan: Plan, pair: GatedPair, *, sized: bool) -> str:
    """Return metric and configuration of a pair, and the estimate of its growth if that is `sized`."""
    name = f"{words.noun(pair.metric)} of {place_of(plan, pair.cell_id)}"
    claim = pair.again_claim or pair.claim
    if not sized or claim is None or claim.figures is None:
        return name
    return f"{name} {write.render('regression_size', claim)}"


def causes_of(plan: Plan, gating: Gating) -> Iterator[str]:
    """Yield a line for each cause, with the configurations if there are several.

    A cause is the same if the texts are equal, or if they name the same functions and counts.
    """
    several = len({pair.cell_id for pair in gating.pairs}) > 1
    order = [pair.cell_id for pair in by_size(gating.pairs)]
    groups: dict[object, list[Explanation]] = {}
    for item in sorted(
        gating.explanations, key=lambda e: order.index(e.cell_id) if e.cell_id in order else 0
    ):
        groups.setdefault(_cause(item), []).append(item)
    for first, *others in groups.values():
        text = explanation(first)
        places = [place_of(plan, item.cell_id) for item in (first, *others)]
        if all(explanation(item) == text for item in others):
            yield f"{listed(dict.fromkeys(places), MOST_PLACES)}: {text}" if several else text
            continue
        same = listed(places[1:], MOST_PLACES)
        ratios = sorted(
            item.changes.ratio for item in others if item.changes and item.changes.ratio
        )
        yield f"{places[0]}: {text}; {write.render('same_cause', same, ratios)}"


def explanation(item: Explanation) -> str:
    """Return what differs in counted runs of a candidate and in its build, and where its time is."""
    return write.render("explanation", item.changes, item.reason, item.build, item.place)


def _cause(item: Explanation) -> object:
    """Return what equal causes have in common: the functions and counts that their sentences name."""
    changes = item.changes
    if changes is None or changes.ratio is None or item.place is not None:
        return explanation(item)
    functions = frozenset(map(_kind, changes.net_functions[:MOST_NAMED]))
    counts = tuple((c.metric, c.function, c.caller) for c in changes.counts)
    grown = changes.instructions > changes.reference
    return functions, counts, grown, changes.iteration, item.build


def _kind(change: FunctionChange) -> tuple[str, str, bool, bool, bool]:
    """Return the name of a function, its caller, and whether it is new, gone or more expensive."""
    sides = not change.reference, not change.instructions, change.difference > 0
    return change.name, change.caller, *sides
