"""Intervals and verdicts from several sessions: the tables of `docs/method.md#sessions`.

Usage: ``python tests/validation/statistics/session_intervals.py [RECORDS]``. Seeded; 200 records per row take about a
minute. The ratio of every comparison of a record differs between sessions by a normal distribution, whose standard
deviation is log-normal over the comparisons (σ = 0.7). It exits with 1 if an interval covers its value in less than
90 % of the cases.
"""

# ruff: noqa: T201 -- a script that prints

import math
import statistics
import sys
from dataclasses import dataclass, field

import numpy as np

from bench_framework.compare.samples import Pair
from bench_framework.compare.verdict import Case, Rules, examine_looks, judge_family
from bench_framework.model.judgement import Comparison
from bench_framework.model.verdict import Thresholds, Verdict

LENGTH = 15
LEAST_COVERED = 0.90
SPREAD = 0.7
THRESHOLDS = Thresholds(margin=0.02, minimum_effect=0.01)
EFFECTS = (0.0, 0.03, 0.06)
SEED = 11
ROWS = [
    (comparisons, between, noise, sessions)
    for comparisons, between, noise in (
        (1, 0.02, 0.02),
        (4, 0.0, 0.02),
        (4, 0.02, 0.02),
        (12, 0.01, 0.005),
        (12, 0.04, 0.02),
    )
    for sessions in (2, 3, 5)
]


@dataclass
class Counts:
    """Results of the simulated comparisons of a row."""

    covered: list[bool] = field(default_factory=list)
    another: list[bool] = field(default_factory=list)
    halves: list[float] = field(default_factory=list)
    ranges: list[float] = field(default_factory=list)
    wrong: list[bool] = field(default_factory=list)
    one_session: list[bool] = field(default_factory=list)
    decided: list[bool] = field(default_factory=list)


def pair_of(rng: np.random.Generator, effects: np.ndarray, noise: float) -> Pair:
    """Return rounds of candidate, reference and control with one effect per session."""
    rounds = len(effects) * LENGTH
    logs = rng.normal(0, noise, (rounds, 3)) + rng.normal(0, 0.05, (rounds, 1))
    logs[:, 0] += np.repeat(effects, LENGTH)
    columns = (tuple(float(math.exp(v)) for v in column) for column in logs.T)
    return Pair(tuple(range(1, rounds + 1)), *columns)


def judged(pairs: list[Pair], session_rounds: int | None) -> tuple[Comparison, ...]:
    """Judge the comparisons of a record in one look."""
    cases = []
    for number, pair in enumerate(pairs):
        draft = Comparison.unjudged(str(number), "ref", "wall", "headline", THRESHOLDS)
        cases.append(Case(draft, pair, examine_looks(pair, [pair.rounds[-1]])))
    return judge_family(cases, Rules(1, len(cases), 0.05, session_rounds=session_rounds))


def simulate(comparisons: int, between: float, noise: float, sessions: int, records: int) -> Counts:
    """Judge records in which half of the comparisons are of programs that are equal on average."""
    rng = np.random.default_rng(SEED)
    counts = Counts()
    for _ in range(records):
        scales = between * np.exp(SPREAD * rng.standard_normal(comparisons))
        true = rng.choice(EFFECTS, comparisons, p=[0.5, 0.25, 0.25])
        effects = [
            mean + scale * rng.standard_normal(sessions + 1)
            for mean, scale in zip(true, scales, strict=True)
        ]
        pairs = [pair_of(rng, one[:sessions], noise) for one in effects]
        plain = judged([pair.until(LENGTH) for pair in pairs], None)
        for c, one, mean, alone in zip(judged(pairs, LENGTH), effects, true, plain, strict=True):
            assert c.shown is not None
            assert c.sessions is not None
            counts.covered.append(c.shown.lo <= math.exp(mean) <= c.shown.hi)
            another = c.sessions.another
            new = one[-1] + rng.normal(0, noise * math.sqrt(1.5 / LENGTH))
            counts.another.append(another.lo <= math.exp(new) <= another.hi)
            counts.halves.append(math.log(c.shown.hi / c.shown.lo) / 2)
            counts.ranges.append(math.log(another.hi / another.lo) / 2)
            if mean == 0:
                counts.wrong.append(c.verdict.decided)
                counts.one_session.append(alone.verdict.decided)
            elif mean == EFFECTS[-1]:
                counts.decided.append(c.verdict in {Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN})
    return counts


def main() -> None:
    """Print a line for each kind of record."""
    records = int(sys.argv[1]) if sys.argv[1:] else 200
    print(
        "comparisons  between %  noise %  sessions  covers the mean  half %  covers another  half %"
        "  false verdicts  of one session  +6 % found"
    )
    failed = False
    for comparisons, between, noise, sessions in ROWS:
        n = max(20, 2 * records // comparisons)
        counts = simulate(comparisons, between, noise, sessions, n)

        def share(values: list[bool]) -> str:
            return f"{100 * statistics.fmean(values):5.1f} %"

        print(
            f"{comparisons:11} {100 * between:10.0f} {100 * noise:8.1f} {sessions:9} {share(counts.covered):>16}"
            f" {100 * statistics.median(counts.halves):7.1f} {share(counts.another):>15}"
            f" {100 * statistics.median(counts.ranges):7.1f} {share(counts.wrong):>15}"
            f" {share(counts.one_session):>15} {share(counts.decided):>11}"
        )
        failed |= min(map(statistics.fmean, (counts.covered, counts.another))) < LEAST_COVERED
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
