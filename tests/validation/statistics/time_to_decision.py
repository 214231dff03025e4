"""Time to decision of a race and of the fixed plan (`docs/method.md#race`).

Usage: ``python tests/validation/statistics/time_to_decision.py [leaving|equal] [RECORDING…]``. Replays disjoint
windows of recorded rounds of 24 variants through the looks, judgement and dropping rule of the product. It prints
tables and has no marks. It is not part of CI: ten windows take some minutes. With ``leaving``, it compares the fixed
plan with and without configurations that leave when their comparisons are conclusive
(`docs/method.md#finished-configurations`). With ``equal``, the 24 variants are made equal: each time is divided by
the median of its variant, and the labels are drawn anew within each round (seeded). It counts the races that drop a
variant as worse, which is always wrong.
"""

# ruff: noqa: T201 -- a script that prints

import csv
import gzip
import random
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench_framework.compare.interim_analysis import Analysis
from bench_framework.features.judge import finished_cells, judge
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.record.run import Block, Look
from bench_framework.model.result import race
from bench_framework.stats.proportions import at_most
from bench_framework.workflow.run_options import plan_scenario
from tests.build import make_block

NOISE = Path(__file__).parents[2] / "fixtures" / "noise"
ROUNDS = 60
LIMIT = 90
"""Limit of rounds of a budget for 60 rounds of all configurations."""
WINDOWS = 10
EQUAL_RACES = 200
"""Races of equal variants per recording."""
RECORDINGS = {
    "race24": "a machine with other load; the rule for open comparisons was chosen on windows 1 to 5",
    "race24_quiet": "the same plan and machine with little other load, recorded afterwards: validation data",
    "race24_later": "the same plan on two of four cores while other programs were built: validation data",
    "race24_fresh": "the same plan on a faster machine with two cores, recorded when all rules were complete",
}

Rounds = list[dict[str, tuple[float, float]]]
"""For each round: label of a cell → wall and CPU time in seconds."""


@dataclass(frozen=True)
class Replay:
    """The result of one window."""

    runs: int
    best: frozenset[str]
    """Labels of the best group."""
    looks: str
    conclusive: int = 0
    """Number of conclusive comparisons with the baseline."""
    effects: int = 0
    """Number of conclusive effects."""
    worse: int = 0
    """Number of variants that a race dropped because they were worse than another one."""


def recorded(name: str) -> Rounds:
    """Read a recording, round by round."""
    entry: dict[int, dict[str, tuple[float, float]]] = {}
    with gzip.open(NOISE / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            times = (int(row["wall_us"]) / 1e6, int(row["cpu_us"]) / 1e6)
            entry.setdefault(int(row["round"]), {})[row["arm"]] = times
    return [entry[number] for number in sorted(entry)]


def name_of(plan: Plan, cell_id: str) -> str:
    """Return the name of a cell in the recording."""
    cell = plan.cell(cell_id)
    return "control" if cell.role is Role.CONTROL else plan.variant(cell.variant_id).label


def blocks_of(plan: Plan, window: Rounds, upto: int, left: Mapping[str, int]) -> list[Block]:
    """Return the blocks up to round `upto`; cells of `left` have every fourth after their round."""
    blocks: list[Block] = []
    for number, times in enumerate(window[:upto], 1):
        for position, cell in enumerate(plan.cells):
            if number <= left.get(cell.id, upto) or race.includes_finished(
                plan.measure.seed, cell.input_id, number
            ):
                wall, cpu = times[name_of(plan, cell.id)]
                place = (len(blocks), number, position, cell.id)
                blocks.append(make_block(*place, wall, user_s=cpu))
    return blocks


def plan_of(strategy: str, until: str, rounds: int) -> Plan:
    """Return the plan of the recording with another strategy and stopping rule."""
    overrides = (
        f"measure.rounds={{min: {min(12, rounds)}, max: {rounds}}}",
        f"measure.until={until}",
        f"measure.strategy={strategy}",
    )
    plan = plan_scenario(str(NOISE / "race24.yaml"), overrides=overrides)
    return replace(plan, answer=replace(plan.answer, compare="none"))


def replayed(
    plan: Plan, window: Rounds, *, leave: bool = True, budget: int | None = None
) -> Replay:
    """Replay one input as `execution.rounds` measures it, with planned looks and dropped cells.

    `budget` is the number of runs after which no round starts.
    """
    (item,) = plan.inputs
    looks, taken, left, steps = looks_of(plan), list[Look](), dict[str, int](), []
    for step, planned in enumerate(looks.rounds):
        index, number = step, planned
        blocks = blocks_of(plan, window, number, left)
        if spent := budget is not None and len(blocks) >= budget:
            number = blocks[budget - 1].round
            index, blocks = looks.count - 1, [b for b in blocks if b.round <= number]
        outcome = Analysis(plan, blocks, item.id, index, number, taken=taken).report
        entry = Look(
            item.id,
            index,
            number,
            outcome.stop,
            outcome.reason,
            outcome.trailing,
            outcome.settled or (),
        )
        if plan.measure.strategy == "fixed":
            idle = finished_cells(plan, blocks, {}, taken, entry) if leave else ()
            entry = replace(entry, idle=idle)
        measured = [] if outcome.stop else [c.id for c in plan.cells if c.id not in left]
        leaving = race.leaving(plan, [*taken, entry], measured, ())
        taken.append(replace(entry, dropped=tuple(leaving)))
        left |= dict.fromkeys(leaving, number)
        steps.append(f"{number}: {len(plan.cells) - len(left)}")
        if outcome.stop or spent:
            break
    blocks = blocks_of(plan, window, taken[-1].round, left)
    judged = judge(plan, blocks, {}, (), taken)
    (best,) = judged.best
    return Replay(
        len(blocks),
        frozenset(name_of(plan, c) for c in best.cell_ids),
        ", ".join(steps),
        sum(c.verdict.settled for c in judged.comparisons if c.family == "headline"),
        sum(effect.mean.verdict.settled for effect in judged.structure.effects),
        sum(lost.beaten for lost in judged.race.lost) if judged.race else 0,
    )


def fastest(plan: Plan, window: Rounds) -> str:
    """Return the variant with the smallest median over all rounds."""
    labels = [variant.label for variant in plan.variants]
    return min(labels, key=lambda label: statistics.median(r[label][0] for r in window))


def table(windows: Sequence[Rounds]) -> None:
    """Print one line per window, and the sums."""
    racing, fixed = plan_of("race", "conclusive", ROUNDS), plan_of("fixed", "rounds", ROUNDS)
    cells = len(fixed.cells)
    print(
        f"{'':3}{'runs':>6}{'share':>7} │ {'best groups of':^33}│{'fastest':>8}{'dropped':>9} │ active cells"
    )
    print(
        f"{'':3}{'race':>6}{'':>7} │ {'race':>6}{'fixed':>7}{'fixed, as many runs':>20}│{'in it':>8}{'wrongly':>9} │ "
        "after look"
    )
    shares, leader_in_group, wrong = [], 0, 0
    for number, window in enumerate(windows, 1):
        whole, raced = replayed(fixed, window), replayed(racing, window)
        short = replayed(plan_of("fixed", "rounds", max(1, raced.runs // cells)), window)
        leader = fastest(fixed, window)
        shares.append(raced.runs / whole.runs)
        leader_in_group += leader in raced.best
        wrongly = len(whole.best - raced.best)
        wrong += wrongly > 0
        print(
            f"{number:3}{raced.runs:6}{shares[-1]:7.0%} │ {len(raced.best):6}{len(whole.best):7}{len(short.best):20}│"
            f"{'yes' if leader in raced.best else 'NO':>8}{wrongly:9} │ {raced.looks}",
            flush=True,
        )
    print(
        f"race: {statistics.mean(shares):.0%} of the runs of the fixed plan (at most {max(shares):.0%});"
        f" its fastest variant in the best group in {leader_in_group} of {len(windows)};"
        f" dropped one that it keeps in {wrong} of {len(windows)}"
    )


def leaving_table(windows: Sequence[Rounds]) -> None:
    """Print runs and conclusive results of a budget, with and without leaving."""
    plan = plan_of("fixed", "conclusive", LIMIT)
    runs = len(plan.cells) * ROUNDS
    print(f"A budget of {runs} runs, {ROUNDS} rounds of all configurations; at most {LIMIT} rounds")
    print(
        f"{'':3}{'runs: all stay':>15}{'leaving':>9}{'share':>7} │ comparisons  │ effects  │ looks"
    )
    sums = [0] * 6
    for number, window in enumerate(windows, 1):
        stay, leave = (replayed(plan, window, leave=leave, budget=runs) for leave in (False, True))
        row = (*((r.runs, r.conclusive, r.effects) for r in (stay, leave)),)
        sums = [a + b for a, b in zip(sums, (*row[0], *row[1]), strict=True)]
        print(
            f"{number:3}{stay.runs:15}{leave.runs:9}{leave.runs / stay.runs:7.0%} │"
            f"{stay.conclusive:5} →{leave.conclusive:5} │{stay.effects:3} →{leave.effects:3} │ {leave.looks}",
            flush=True,
        )
    print(
        f"all{sums[0]:15}{sums[3]:9}{sums[3] / sums[0]:7.0%} │{sums[1]:5} →{sums[4]:5} │"
        f"{sums[2]:3} →{sums[5]:3} │"
    )


def equal_variants(rounds: Rounds, draw: random.Random) -> Rounds:
    """Return rounds of equal variants, with the noise and the order of the recorded ones."""
    labels = sorted(rounds[0])
    medians = {
        label: [statistics.median(r[label][i] for r in rounds) for i in (0, 1)] for label in labels
    }
    equal = []
    for times in rounds:
        ratios = [
            (times[name][0] / medians[name][0], times[name][1] / medians[name][1])
            for name in draw.sample(labels, len(labels))
        ]
        equal.append(dict(zip(labels, ratios, strict=True)))
    return equal


def equal_table(rounds: Rounds, windows: int) -> None:
    """Print how many races of equal variants drop any of them as worse."""
    racing = plan_of("race", "conclusive", ROUNDS)
    draw = random.Random(1)
    races = [
        replayed(racing, window)
        for _ in range(EQUAL_RACES // windows)
        for window in _windows(equal_variants(rounds, draw), windows, ROUNDS)
    ]
    wrong = sum(r.worse > 0 for r in races)
    print(
        f"{wrong} of {len(races)} races dropped a variant as worse (at most {at_most(wrong, len(races)):.1%}),"
        f" {sum(r.worse for r in races)} variants in all",
        flush=True,
    )


def _windows(rounds: Rounds, most: int, length: int) -> list[Rounds]:
    starts = range(0, len(rounds) - length + 1, length)
    return [rounds[start : start + length] for start in starts][:most]


def main(names: Sequence[str]) -> None:
    """Print a table per recording, and the CPU time."""
    began = time.process_time()
    kind = names[0] if names[:1] in (["leaving"], ["equal"]) else ""
    names = names[bool(kind) :] or list(RECORDINGS)
    racing, fixed = plan_of("race", "conclusive", ROUNDS), plan_of("fixed", "rounds", ROUNDS)
    cells, first = len(fixed.cells), looks_of(racing).rounds[0]
    print(
        f"24 variants and the control, {ROUNDS} rounds: {cells * ROUNDS} runs;"
        f" no variant is dropped before run {cells * first} ({first / ROUNDS:.0%})"
    )
    for name in names:
        cut = _windows(recorded(name), WINDOWS, LIMIT if kind == "leaving" else ROUNDS)
        print(f"\n{name}: {RECORDINGS[name]}; {len(cut)} disjoint windows", flush=True)
        if kind == "equal":
            equal_table(recorded(name), len(cut))
        else:
            (leaving_table if kind else table)(cut)
    print(f"\n{time.process_time() - began:.0f} s of computing")


if __name__ == "__main__":
    main(sys.argv[1:])
