"""Intervals and verdicts from several sessions: the tables of `docs/method.md#sessions`.

Usage: ``python tests/validation/statistics/session_intervals.py [RECORDS]``. Seeded; 200 records per row take about a
minute, and two in the second table. The ratio of every comparison of a record differs between sessions by a normal
distribution, whose standard deviation is log-normal over the comparisons (σ = 0.7).

The second table is that of ranges of sessions: as in a record, interim analyses follow each session from the smallest
number on, comparisons that are conclusive or futile are finished and measured in every fourth round, and a record ends
when none is open. Records of the same sessions are judged with fixed numbers of sessions as well.

It exits with 1 if an interval covers its value in less than 90 % of the cases, with a range of sessions 93 %.
"""

# ruff: noqa: T201 -- a script that prints

import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench_framework.compare import stopping
from bench_framework.compare.samples import Pair
from bench_framework.compare.verdict import Case, examine_looks, judge_family
from bench_framework.model.plan.looks import Looks, session_schedule
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.result.race import EVERY
from bench_framework.model.verdict import Thresholds, Verdict

LENGTH = 15
WARMUPS = 2
LEAST_COVERED = 0.90
LEAST_COVERED_BY_RANGE = 0.93
SPREAD = 0.7
THRESHOLDS = Thresholds(margin=0.02, minimum_effect=0.01)
EFFECTS = (0.0, 0.03, 0.06)
EFFECTS_OF_RANGES = (0.0, 0.03, 0.06, 0.15)
SEED = 11
KINDS = ((1, 0.02, 0.02), (4, 0.0, 0.02), (4, 0.02, 0.02), (12, 0.01, 0.005), (12, 0.04, 0.02))
"""Comparisons, standard deviation between sessions, and noise of a run."""
ROWS = [(*kind, sessions) for kind in KINDS for sessions in (2, 3, 5)]
FEWEST_RECORDS = 60
"""With a third of it, coverage has an error of 1.3 percentage points."""
RANGES = ((3, 3), (5, 5), (2, 4), (2, 6))


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


def judged(pairs: list[Pair], sessions: int) -> tuple[Comparison, ...]:
    """Judge the comparisons of a record in one look."""
    cases = []
    for number, pair in enumerate(pairs):
        draft = Comparison.unjudged(str(number), "ref", "wall", "headline", THRESHOLDS)
        cases.append(Case(draft, pair, examine_looks(pair, [pair.rounds[-1]])))
    policy = MeasurePolicy(rounds_max=sessions * LENGTH, sessions=sessions)
    looks = session_schedule(policy, len(cases), 0.05)
    return judge_family(cases, looks)


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
        plain = judged([pair.until(LENGTH) for pair in pairs], 1)
        for c, one, mean, alone in zip(judged(pairs, sessions), effects, true, plain, strict=True):
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


@dataclass
class Outcomes:
    """Results of the simulated records of a number or range of sessions."""

    covered: list[bool] = field(default_factory=list)
    halves: list[float] = field(default_factory=list)
    wrong: list[bool] = field(default_factory=list)
    detected: dict[float, list[bool]] = field(default_factory=dict)
    sessions: list[int] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)


def measured(pair: Pair, is_measured: Callable[[int], bool]) -> Pair:
    """Return the rounds of a pair that were measured."""
    places = [place for place, number in enumerate(pair.rounds) if is_measured(number)]
    sides = (pair.candidate, pair.reference, pair.control)
    values = (tuple(side[place] for place in places) for side in sides)
    return Pair(tuple(pair.rounds[place] for place in places), *values)


def judged_until(
    pairs: Sequence[Pair], looks: Looks, last: int, finished: dict[int, int], phase: int
) -> tuple[Comparison, ...]:
    """Judge the comparisons of a record after a round, some of which were finished before."""
    cases = []
    for number, pair in enumerate(pairs):
        end = finished.get(number, last)

        def is_measured(n: int, end: int = end) -> bool:
            return n <= end or (n <= last and n % EVERY == phase)

        part = measured(pair, is_measured)
        draft = Comparison.unjudged(str(number), "ref", "wall", "headline", THRESHOLDS)
        reached = [n for n in looks.rounds if n <= end]
        cases.append(Case(draft, part, examine_looks(part, reached, looks.needed_with(3))))
    return judge_family(cases, looks)


def record_of(
    pairs: Sequence[Pair], least: int, most: int, phase: int
) -> tuple[tuple[Comparison, ...], int, int]:
    """Measure a record of so many sessions. Return its comparisons, and its numbers of sessions and of runs."""
    policy = MeasurePolicy(
        rounds_max=most * LENGTH, sessions=most, sessions_min=least if least < most else None
    )
    looks, finished, runs = session_schedule(policy, len(pairs), 0.05), dict[int, int](), 0
    stage: Any = SimpleNamespace(plan=SimpleNamespace(measure=policy), looks=looks)
    for session in range(1, most + 1):
        last = session * LENGTH
        few = sum(n % EVERY == phase for n in range(last - LENGTH + 1, last + 1))
        everyone = len(pairs) + 2  # and baseline and control
        runs += everyone * (WARMUPS + LENGTH) - len(finished) * (LENGTH - few)
        if last not in looks.rounds:
            continue
        results = judged_until(pairs, looks, last, finished, phase)
        open_ = {
            number
            for number, c in enumerate(results)
            if number not in finished and not c.verdict.settled and not stopping.futile(c, stage)
        }
        if not open_ or session == most:
            return results, session, runs
        finished |= {n: last for n in range(len(pairs)) if n not in open_ and n not in finished}
    raise AssertionError("the last session has a look")


def simulate_ranges(
    comparisons: int,
    between: float,
    noise: float,
    records: int,
    chances: Sequence[float] = (0.4, 0.2, 0.2, 0.2),
) -> dict[tuple[int, int], Outcomes]:
    """Measure the same programs with each number or range of sessions.

    `chances` are those of `EFFECTS_OF_RANGES`.
    """
    rng = np.random.default_rng(SEED)
    outcomes = {
        ends: Outcomes(detected={effect: [] for effect in EFFECTS_OF_RANGES[1:]}) for ends in RANGES
    }
    for _ in range(records):
        scales = between * np.exp(SPREAD * rng.standard_normal(comparisons))
        true = rng.choice(EFFECTS_OF_RANGES, comparisons, p=chances)
        most = max(last for _, last in RANGES)
        effects = [m + s * rng.standard_normal(most) for m, s in zip(true, scales, strict=True)]
        pairs = [pair_of(rng, one, noise) for one in effects]
        phase = int(rng.integers(EVERY))
        for (least, last), at in outcomes.items():
            results, sessions, runs = record_of(pairs, least, last, phase)
            at.sessions.append(sessions)
            at.runs.append(runs)
            for c, mean in zip(results, true, strict=True):
                assert c.shown is not None
                at.covered.append(c.shown.lo <= math.exp(mean) <= c.shown.hi)
                at.halves.append(math.log(c.shown.hi / c.shown.lo) / 2)
                if mean:
                    at.detected[mean].append(c.verdict.worse)
                else:
                    at.wrong.append(c.verdict.decided)
    return outcomes


def print_ranges(records: int) -> bool:
    """Print a line for each kind of record and number of sessions. Return whether coverage is too low."""
    print(
        "comparisons  between %  noise %  sessions  measured  runs  covers the mean  half %  false verdicts"
        "  +3 % found   +6 %  +15 %"
    )
    failed = False
    for comparisons, between, noise in KINDS:
        count = max(FEWEST_RECORDS, 2 * records // comparisons)
        outcomes = simulate_ranges(comparisons, between, noise, count)
        runs = statistics.fmean(outcomes[RANGES[0]].runs)
        for (least, last), at in outcomes.items():
            name = str(last) if least == last else f"{least}..{last}"
            shares = [100 * statistics.fmean(given) for given in at.detected.values()]
            covered = statistics.fmean(at.covered)
            print(
                f"{comparisons:11} {100 * between:10.0f} {100 * noise:8.1f} {name:>9}"
                f" {statistics.fmean(at.sessions):9.1f} {statistics.fmean(at.runs) / runs:5.2f}"
                f" {100 * covered:14.1f} % {100 * statistics.median(at.halves):7.1f}"
                f" {100 * statistics.fmean(at.wrong):13.1f} % {shares[0]:11.1f} {shares[1]:6.1f} {shares[2]:6.1f}",
                flush=True,
            )
            failed |= least < last and covered < LEAST_COVERED_BY_RANGE
    # Records of one comparison have few equal programs above.
    equal = simulate_ranges(*KINDS[0], 9 * records // 2, (1.0, 0.0, 0.0, 0.0))
    shares = [100 * statistics.fmean(at.wrong) for at in equal.values()]
    print("false verdicts of equal programs alone:", *(f"{share:.1f} %" for share in shares))
    return failed


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
    failed |= print_ranges(records)
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
