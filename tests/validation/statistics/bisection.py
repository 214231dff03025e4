"""Searches for the commit that changed a program, on recordings (`docs/method.md#bisection`).

Usage: ``python tests/validation/statistics/bisection.py [SEEDS]``. Seeded. Each repository has 65 commits with a
change of +5 %, one of +30 % and one of −10 % at random places and in random order. Searches: for each change, in the
longest range that contains no other one; the same by ``git bisect run`` with fixed ends ("git"); for a regression
between the first and the last commit ("all"); and in a range without any change ("none"). Every step runs the plan,
looks, judgement and rules of the product, with at most 90 rounds and in the second attempt 180, or the length of the
recording.
"""

# ruff: noqa: T201 -- a script that prints

import random
import sys
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import replays
from noise import WORKS, Recorded, recorded

from bench_framework.extensions.bisect import Find, compute
from bench_framework.extensions.bisect.model import Bisection, Outcome, SearchStep
from bench_framework.features.judge import judge
from bench_framework.features.stop_rules import ReportRule, StopRule
from bench_framework.model.plan.looks import RoundLimit, limited
from bench_framework.model.plan.revisions import Commit
from bench_framework.stats.proportions import at_most

COMMITS = 65
ROUNDS = 90
EQUAL_LEVEL = 0.05
"""Level of the steps of equal commits, larger than in a search, so that fewer replays are enough."""
EFFECTS = (1.05, 1.30, 0.90)
LEVEL = 0.05
SOURCES = {
    f"{name}, {session}": recorded(work, session, kind="fresh")
    for session in ("quiet", "busy")
    for work, name in WORKS.items()
}


@dataclass(frozen=True)
class Question:
    """A search in a range of levels, and the commits that answer it."""

    name: str
    levels: list[float]
    find: Find
    right: frozenset[int]
    git: bool = False


def questions(seed: int) -> list[Question]:
    """Return the searches of one repository."""
    rng = random.Random(seed)
    places = sorted(rng.sample(range(1, COMMITS), len(EFFECTS)))
    effects = rng.sample(EFFECTS, len(EFFECTS))
    levels = [
        float(np.prod([e for p, e in zip(places, effects, strict=True) if p <= n]))
        for n in range(COMMITS)
    ]
    items = []
    for number, (place, effect) in enumerate(zip(places, effects, strict=True)):
        start = places[number - 1] if number else 0
        end = places[number + 1] if number + 1 < len(places) else COMMITS
        find: Find = "regression" if effect > 1 else "improvement"
        items.append(
            Question(f"{effect - 1:+.0%}", levels[start:end], find, frozenset({place - start}))
        )
    slower = frozenset(p for p, e in zip(places, effects, strict=True) if e > 1)
    items.append(Question("all", levels, "regression", slower))
    items += [replace(q, name=f"git {q.name}", git=True) for q in items[: len(EFFECTS)]]
    items.append(Question("none", [1.0] * COMMITS, "regression", frozenset()))
    return items


def measured(
    source: Recorded,
    search: Bisection,
    step: SearchStep,
    levels: list[float],
    rng: np.random.Generator,
    *,
    git: bool = False,
) -> tuple[SearchStep, int]:
    """Return a planned step with its result, and its rounds."""
    rule: StopRule = ReportRule()
    arms = {"base": step.lo, "head": step.hi}
    if step.kind == "commit":
        arms = dict(zip(compute.SIDES, (step.candidate, step.lo, step.hi), strict=True))
        rule = compute.SideRule(search.find, nearer=git)
    plan = replays.plan_of([*arms], control=True, seed=step.attempt)
    plan = limited(plan, RoundLimit(min(source.rounds, ROUNDS * 2 ** (step.attempt - 1))))
    plan = replace(plan, judge=replace(plan.judge, metrics=("wall",), level=step.level))
    wall, cpu = source.shuffled(rng, plan.measure.rounds_max)
    first = next(iter(arms))
    times = {}
    for number, cell in enumerate(plan.cells):
        factor = replays.LONG * levels[arms.get(cell.label, arms[first])]
        times[cell.id] = wall[number] * factor, cpu[number] * factor
    blocks, taken = replays.measured(plan, times, rule)
    comparisons = [
        c for c in judge(plan, blocks, {}, (), taken).comparisons if c.family == "headline"
    ]
    rounds = max(item.round for item in taken)
    if step.kind == "commit":
        pair = compute.comparisons_of(plan, comparisons)
        assert pair is not None
        outcome = compute.side(*pair, search.find, nearer=git) or "inconclusive"
        return replace(step, outcome=outcome, comparisons=pair), rounds
    outcome, chosen = compute.of_ends(comparisons, search.find)
    return replace(step, outcome=outcome, comparisons=(chosen,)), rounds


def searched(
    source: Recorded, question: Question, rng: np.random.Generator
) -> tuple[Bisection, int]:
    """Return a finished search, and all of its rounds."""
    commits = tuple(Commit(f"{n:040x}", (), "", "", "") for n in range(len(question.levels)))
    search, total = Bisection(1, "", question.find, "wall", LEVEL, commits), 0
    while (planned := compute.next_step(search)) is not None:
        step, rounds = measured(source, search, planned, question.levels, rng)
        search, total = replace(search, steps=(*search.steps, step)), total + rounds
    return search, total


def searched_by_git(
    source: Recorded, question: Question, rng: np.random.Generator
) -> tuple[Bisection, int]:
    """Return a search in which another program chooses the commits, and all of its rounds."""
    commits = tuple(Commit(f"{n:040x}", (), "", "", "") for n in range(len(question.levels)))
    search, total = Bisection(1, "", question.find, "wall", LEVEL, commits), 0
    lo, hi, skipped = 0, len(commits) - 1, set[int]()

    def do(planned: SearchStep) -> SearchStep:
        nonlocal search, total
        step, rounds = measured(source, search, planned, question.levels, rng, git=True)
        search, total = replace(search, steps=(*search.steps, step)), total + rounds
        return step

    while (planned := compute.next_step(search)) is not None and planned.kind == "ends":
        step = do(planned)
    if step.outcome != "differs":
        return search, total
    while (number := compute.middle(lo, hi, skipped)) is not None:
        while (planned := compute.next_step_of(search, number)) is not None:
            step = do(planned)
        if step.outcome == "inconclusive":
            skipped.add(number)
        lo, hi = (
            number if step.outcome == side else end for side, end in (("good", lo), ("bad", hi))
        )
    # The answer of git, in the form of the product's own search.
    outcome: Outcome = "differs" if hi - lo == 1 else "same"
    final = (
        SearchStep("commit", lo, hi, lo, 0, outcome="good"),
        SearchStep("commit", lo, hi, hi, 0, outcome="bad"),
    )
    end = replace(planned or step, kind="confirmation", lo=lo, hi=hi, level=0, outcome=outcome)
    return replace(search, steps=(*search.steps, *final, end)), total


def false_claims(search: Bisection, levels: list[float]) -> tuple[int, int]:
    """Return the steps that claimed a change that does not exist, and all steps that claimed one."""
    sign = 1 if search.find == "regression" else -1
    claims = []
    for step in search.steps:
        pair = {
            "bad": (step.lo, step.candidate),
            "good": (step.candidate, step.hi),
            "differs": (step.lo, step.hi),
        }.get(step.outcome)
        if pair and step.level:
            before, after = (levels[number] for number in pair)
            claims.append(sign * (after - before) <= 0)
    return sum(claims), len(claims)


def equal_commits(source: Recorded, name: str, count: int) -> int:
    """Return how many steps of `count` claim a side if both ends and the commit between them are equal."""
    commits = tuple(Commit(f"{n:040x}", (), "", "", "") for n in range(3))
    search = Bisection(1, "", "regression", "wall", LEVEL, commits)
    planned, claims = SearchStep("commit", 0, 2, 1, EQUAL_LEVEL), 0
    for number in range(count):
        rng = np.random.default_rng([number, *f"{name}/equal/bisect".encode()])
        step, _ = measured(source, search, planned, [1.0] * 3, rng)
        claims += step.outcome != "inconclusive"
    return claims


def main(seeds: int) -> None:
    """Print the answers of all searches by recording and change."""
    print(
        f"{seeds} repositories of {COMMITS} commits, at most {ROUNDS} and {2 * ROUNDS} rounds in a step"
    )
    print(
        f"{'noise':26}{'change':>8}{'found':>7}{'range':>7}{'ends':>6}{'wrong':>7}{'steps':>7}{'most':>6}{'rounds':>8}"
    )
    wrong = tries = false = claims = equal = 0
    for name, source in SOURCES.items():
        rows: dict[str, Counter[str]] = {}
        equal += equal_commits(source, name, 5 * seeds)
        for seed in range(seeds):
            for question in questions(seed):
                rng = np.random.default_rng([seed, *f"{name}/{question.name}/bisect".encode()])
                search, rounds = (searched_by_git if question.git else searched)(
                    source, question, rng
                )
                some, total = false_claims(search, question.levels)
                false, claims = false + some, claims + total
                answer, counts = compute.conclude(search), rows.setdefault(question.name, Counter())
                if answer.status == "found":
                    counts["found" if answer.hi in question.right else "wrong"] += 1
                elif answer.status in ("range", "unconfirmed"):
                    # A range is an answer, too: it must contain the change.
                    inside = any(answer.lo < n <= answer.hi for n in question.right)
                    counts["range" if inside or answer.status == "unconfirmed" else "wrong"] += 1
                else:
                    counts["ends"] += 1
                steps = sum(step.level > 0 for step in search.steps)
                counts["steps"] += steps
                counts["rounds"] += rounds
                counts["most"] = max(counts["most"], steps)
        for change, row in rows.items():
            wrong, tries = wrong + row["wrong"], tries + seeds
            print(
                f"{name:26}{change:>8}{row['found']:7}{row['range']:7}{row['ends']:6}{row['wrong']:7}"
                f"{row['steps'] / seeds:7.1f}{row['most']:6}{row['rounds'] / seeds:8.0f}",
                flush=True,
            )
    print(f"wrong answers: {wrong} of {tries} searches, at most {at_most(wrong, tries):.2%}")
    steps = 5 * seeds * len(SOURCES)
    print(f"steps of equal commits with a claim, level {EQUAL_LEVEL:.0%}: {equal} of {steps}")
    print(f"false claims of steps: {false} of {claims}, at most {at_most(false, claims):.2%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
