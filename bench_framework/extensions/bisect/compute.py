"""The steps of a search for the commit that changed a configuration, and its answer.

The bad end of the range was always shown, in rounds with both ends, to be worse than the good end. A
commit between them is measured in the same rounds as both. If it is shown to be worse than the good end,
it becomes the bad end. If the bad end is shown to be worse than it, it becomes the good end. One of the
two is true, whatever the other commits do. See `docs/method.md#bisection`.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from bench_framework.compare import interim_analysis
from bench_framework.compare.interim_analysis import Analysis
from bench_framework.extensions.bisect import Find
from bench_framework.extensions.bisect.model import (
    Bisection,
    Conclusion,
    Outcome,
    SearchStep,
    Status,
)
from bench_framework.model.metrics import is_exact
from bench_framework.model.plan.looks import RoundLimit, decidable, limited
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import ONE_PROGRAM, Reason, ReasonCode
from bench_framework.model.result.interim import LookOutcome
from bench_framework.model.result.judgement import Comparison
from bench_framework.stats.portable_math import log

ATTEMPTS: Final = 2
"""Measurements of a step that stays inconclusive, each with twice the rounds of the one before."""
SIDES: Final = ("candidate", "good", "bad")
"""The arms of a step. The candidate is the baseline, so that its A/A control serves both claims."""
MOST_ROUNDS: Final = 1000
DECIDED: Final = Reason(ReasonCode.SIDE_DECIDED)


class _State(NamedTuple):
    """The range that remains, the skipped commits, and the inconclusive attempts of the last step."""

    lo: int
    hi: int
    skipped: frozenset[int]
    tries: int


def _state(search: Bisection) -> _State:
    lo, hi, skipped, tries = 0, len(search.commits) - 1, set[int](), 0
    for step in search.steps:
        tries = tries + 1 if step.outcome == "inconclusive" else 0
        if step.outcome == "good":
            lo = step.candidate
        elif step.outcome == "bad":
            hi = step.candidate
        elif step.outcome == "skipped":
            skipped.add(step.candidate)
    return _State(lo, hi, frozenset(skipped), tries)


def without_skipped(search: Bisection) -> Bisection:
    """Return a search that can measure its skipped commits again. Their steps used no level."""
    return replace(search, steps=tuple(s for s in search.steps if s.outcome != "skipped"))


def attempts_of(search: Bisection) -> int:
    """Return the attempts of each step when a search continues: one more than its last step had."""
    return max(ATTEMPTS, _state(search).tries + 1)


def steps_left(search: Bisection) -> int:
    """Return the expected number of further measurements: commits if none is skipped, and confirmation."""
    state = _state(search)
    halvings = (state.hi - state.lo - 1).bit_length()
    if search.steps:
        return halvings + 1
    return halvings + 2 if halvings else 1  # a range of one commit needs no confirmation


def level_of_next(search: Bisection) -> float:
    """Return the share of the level for the next measurement: rest ÷ (expected measurements + 1).

    It follows from the earlier steps, and all shares together never exceed the level, however many
    steps there are.
    """
    rest = search.level - math.fsum(step.level for step in search.steps)
    return rest / (steps_left(search) + 1)


def next_step(search: Bisection, attempts: int = ATTEMPTS) -> SearchStep | None:
    """Return what to measure next, or `None` at the end of the search."""
    state, level = _state(search), level_of_next(search)
    ends = (state.lo, state.hi, state.hi, level)
    if not search.steps:
        return SearchStep("ends", *ends)
    step, candidate = search.steps[-1], middle(state.lo, state.hi, state.skipped)
    # Commits that can be measured again come before the rest of a confirmation without them.
    if step.kind != "confirmation" or candidate is None:
        if step.outcome == "inconclusive":
            again = SearchStep(step.kind, step.lo, step.hi, step.candidate, level, step.attempt + 1)
            return again if state.tries < attempts else None
        if step.outcome == "same":
            return None
    if candidate is not None:
        return SearchStep("commit", state.lo, state.hi, candidate, level)
    return None if _comparison_of(search, state) is not None else SearchStep("confirmation", *ends)


def _comparison_of(search: Bisection, state: _State) -> SearchStep | None:
    """Return the last step that showed the change between the two ends of the range, `None` without one."""
    direct = [s for s in search.steps if s.outcome == "differs" and (s.lo, s.hi) == state[:2]]
    return direct[-1] if direct else None


def steps_of(search: Bisection, number: int) -> list[SearchStep]:
    """Return the measurements of a commit."""
    return [s for s in search.steps if s.kind == "commit" and s.candidate == number]


def next_step_of(search: Bisection, number: int) -> SearchStep | None:
    """Return the next measurement of a commit with the ends of the whole range, `None` at the end."""
    steps = steps_of(search, number)
    if steps and (steps[-1].outcome != "inconclusive" or len(steps) >= ATTEMPTS):
        return None
    last = len(search.commits) - 1
    return SearchStep("commit", 0, last, number, level_of_next(search), len(steps) + 1)


def middle(lo: int, hi: int, skipped: Collection[int]) -> int | None:
    """Return the commit between two others that halves their range, or `None` if all are skipped.

    Broken commits are often neighbours. After k skipped commits in a range, those less than k away
    from one of them are tried last.
    """
    near = [number for number in skipped if lo < number < hi]
    return min(
        (number for number in range(lo + 1, hi) if number not in near),
        key=lambda n: (any(abs(n - s) < len(near) for s in near), abs(2 * n - lo - hi), n),
        default=None,
    )


def side(
    before: Comparison, after: Comparison, find: Find, *, nearer: bool = False
) -> Outcome | None:
    """Return the side of a commit, or `None` as long as none is shown.

    `before` compares the commit with the good end, and `after` the bad end with the commit. If both
    show a change, both halves of the range contain one, and the larger one is searched.

    With `nearer`, the ends are fixed and another program searches. All commits of one level between
    the ends must then get the same answer, so the interval of one change must be above that of the other.
    """
    changes = [_change(c, find) for c in (before, after)]
    claims = [_shows(c, find) for c in (before, after)]
    if nearer:
        claims = [claims[i] and changes[i][1] > changes[1 - i][2] for i in (0, 1)]
    if not any(claims):
        return None
    return "bad" if claims[0] and not (claims[1] and changes[1] > changes[0]) else "good"


def _shows(c: Comparison, find: Find) -> bool:
    return c.verdict.worse if find == "regression" else c.verdict.better


def _change(c: Comparison, find: Find) -> tuple[float, float, float]:
    """Return the change in the direction of the search with its interval, on the log scale."""
    if c.shown is None:
        return 0.0, -math.inf, math.inf
    ratio, low, high = (
        log(x) if 0 < x < math.inf else math.copysign(math.inf, x - 1) for x in c.shown.figures
    )
    return (ratio, low, high) if find == "regression" else (-ratio, -high, -low)


def of_ends(comparisons: Sequence[Comparison], find: Find) -> tuple[Outcome, Comparison]:
    """Return whether a configuration changed between two ends, and the one with the largest change.

    There is at least one comparison.
    """
    largest = sorted(comparisons, key=lambda c: (not _shows(c, find), -_change(c, find)[0]))
    if _shows(largest[0], find):
        return "differs", largest[0]
    same = all(c.verdict.settled or c.reason == ONE_PROGRAM for c in comparisons)
    return "same" if same else "inconclusive", largest[0]


def comparisons_of(
    plan: Plan, compared: Iterable[Comparison]
) -> tuple[Comparison, Comparison] | None:
    """Return the two comparisons of a step, as `side` takes them; `None` if an arm was not compared."""
    (item,) = plan.inputs
    _, good, bad, *_ = plan.cells_of(item.id)
    by_cell = {c.cell_id: c for c in compared}
    before, after = by_cell.get(good.id), by_cell.get(bad.id)
    return (before.mirrored(), after) if before is not None and after is not None else None


@dataclass(frozen=True, slots=True)
class SideRule:
    """The rule of a bisection step: the side of the commit is decided.

    `find` and `nearer` are those of `side`.
    """

    find: Find
    nearer: bool = False

    def look(self, at: Analysis) -> LookOutcome:
        """Return the decision. No cell leaves before the input stops."""

        def sides(compared: Sequence[Comparison]) -> Outcome | None:
            pair = comparisons_of(at.plan, compared)
            return side(*pair, self.find, nearer=self.nearer) if pair else "skipped"

        outcome = interim_analysis.look(at, lambda pending: [] if sides(pending) else pending)
        outcome = replace(outcome, trailing=(), settled=())
        return replace(outcome, reason=DECIDED) if sides(outcome.verdicts) else outcome


def conclude(search: Bisection) -> Conclusion:
    """Return the answer of a search, `unfinished` while there is a step left."""
    state, steps = _state(search), search.steps
    step, alone = steps[-1] if steps else None, state.hi - state.lo == 1
    status: Status = "unfinished"
    if step is not None and step.kind == "commit":
        if step.outcome == "inconclusive":
            status, step = "range", None
        elif next_step(search) is None:  # all commits between the ends were skipped
            status, step = "range", _comparison_of(search, state)
    elif step is not None and step.outcome == "differs":
        status = "found" if alone else "range" if step.kind == "confirmation" else status
    elif step is not None and step.kind == "confirmation":
        status = "unconfirmed"
    elif step is not None:
        status = "unchanged" if step.outcome == "same" else "inconclusive"
    return Conclusion(status, state.lo, state.hi, step)


def scheduled(plan: Plan, step: SearchStep) -> Plan:
    """Return the plan with the level and the rounds of a step. An exact metric needs one round."""
    measure, factor = plan.measure.in_one_session, 2 ** (step.attempt - 1)
    plan = replace(plan, judge=replace(plan.judge, level=step.level))
    if is_exact(plan.judge.headline):
        one = replace(measure, rounds_min=1, rounds_max=1, by_budget=False, until="rounds")
        return replace(plan, measure=replace(one, warmup_rounds=1))
    most = min(measure.rounds_max * factor, max(measure.rounds_max, MOST_ROUNDS))
    budget = None if measure.budget_s is None else measure.budget_s * factor
    seed = measure.seed + step.attempt - 1
    plan = replace(plan, measure=replace(measure, rounds_max=most, budget_s=budget, seed=seed))
    while not decidable(plan):
        plan = limited(plan, RoundLimit(plan.measure.rounds_max + 1))
    return plan
