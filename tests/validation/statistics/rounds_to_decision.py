"""Rounds until a pair is decided, with and without the control (`docs/method.md#rounds-to-a-decision`).

Usage: ``python tests/validation/statistics/rounds_to_decision.py [REPLAYS [WORK…]]``. Seeded; prints a table and has
no marks. 100 replays, the default, take about ten minutes. The recordings are those on which nothing of the test was
chosen.

Equal programs are made by drawing arms anew within each round, after all arms were scaled to one median. "+3 %" is the
program with 3 % more work, its baseline and the real copy of the baseline.
"""

# ruff: noqa: T201 -- a script that prints

import sys
import time

import numpy as np
from noise import WORKS, Floats, Recorded, recorded

from bench_framework.extensions.doctor.noise_rates import judge_looks
from bench_framework.model.plan.looks import schedule
from bench_framework.model.verdict import Thresholds, Verdict

ROUNDS = 60
GATE, REPORT = 0.01, 0.05
SESSIONS = ("quiet", "busy")
RUNS = {2: "pairs", 3: "with control"}
Columns = list[list[Floats]]
"""Metric → times of candidate, baseline and control, each of shape (rounds,)."""


def equal(source: Recorded, rng: np.random.Generator) -> Columns:
    """Return three equal programs."""
    return [list(metric[:3]) for metric in source.shuffled(rng, ROUNDS)]


def slower(source: Recorded, rng: np.random.Generator) -> Columns:
    """Return the program with 3 % more work, the baseline and its copy."""
    return [[m["B3"], m["A"], m["Ac"]] for m in source.window(rng, ROUNDS)]


def verdict_at(columns: list[Floats], level: float, margin: float) -> tuple[Verdict, int]:
    """Return the first verdict other than inconclusive of one of two comparisons, and its round."""
    (c,) = judge_looks(
        [columns],
        schedule(12, ROUNDS, 2, level),
        stop=True,
        thresholds=Thresholds(margin, minimum_effect=0.01),
    )
    return c.verdict, c.rounds


def row(source: Recorded, name: str, metric: int, runs: int, replays: int) -> None:
    """Print one row: equal programs within 5 % at 5 %, and +3 % at the level of a gate."""
    equal_pairs, slower_pairs = [], []
    for replay in range(replays):
        rng = np.random.default_rng([replay, *name.encode()])
        equal_pairs.append(verdict_at(equal(source, rng)[metric][:runs], REPORT, 0.05))
        slower_pairs.append(verdict_at(slower(source, rng)[metric][:runs], GATE, 0.001))
    false = sum(v.decided for v, _ in equal_pairs)
    equivalent = [n for v, n in equal_pairs if v is Verdict.EQUIVALENT]
    worse = [n for v, n in slower_pairs if v.worse]
    shares = "".join(
        f"{len(rounds) / replays:8.0%}{(sum(rounds) + ROUNDS * (replays - len(rounds))) / replays:8.1f}"
        for rounds in (equivalent, worse)
    )
    print(f"{name:28}{('wall', 'CPU')[metric]:6}{RUNS[runs]:14}{false:7}{shares}", flush=True)


def main(replays: int, works: list[str]) -> None:
    """Print the table."""
    began = time.process_time()
    print(
        f"{replays} windows of {ROUNDS} rounds per row; looks after 12 to 60 rounds; inconclusive: {ROUNDS}"
    )
    print(f"{'':48}{'equal programs, within 5 %':>23}{'+3 %, gate':>16}")
    print(
        f"{'recording':28}{'':6}{'':14}{'false':>7}{'equiv.':>8}{'rounds':>8}{'found':>8}{'rounds':>8}"
    )
    for session in SESSIONS:
        for work in works:
            source = recorded(work, session, kind="fresh")
            for metric in (0, 1):
                for runs in RUNS:
                    row(source, f"{WORKS[work]}, {session}", metric, runs, replays)
    print(f"{time.process_time() - began:.0f} s of computing")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, sys.argv[2:] or list(WORKS))
