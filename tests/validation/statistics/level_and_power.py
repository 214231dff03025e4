"""False positives and power on simulated noise (`docs/method.md#simulated-noise`).

Usage: ``python tests/validation/statistics/level_and_power.py [REPLAYS [leaving]]``. Seeded; prints tables and has
no marks. It is not part of CI: 300 replays, the default, take several minutes. With ``leaving``, it prints
only the table of configurations that leave early (`docs/method.md#finished-configurations`).
"""

# ruff: noqa: T201 -- a script that prints

import itertools
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import replays
from noise import SIMULATED, Floats, Noise

from bench_framework.compare.interim_analysis import Analysis
from bench_framework.extensions.doctor import noise_rates as compute
from bench_framework.features.judge import judge
from bench_framework.features.stop_rules import ReportRule
from bench_framework.model.plan.looks import schedule
from bench_framework.model.plan.plan import Plan
from bench_framework.model.result.interim import LookOutcome
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Verdict
from bench_framework.stats.proportions import at_most

ALPHA = 0.05
ROUNDS = 40
EFFECTS = (1.03, 1.05, 1.10)
WHOLE = 10
"""Records of equal and different programs that are always run completely."""


# -- judging -------------------------------------------------------------------------------------------


def judged(
    pairs: Sequence[Sequence[Floats]], *, size: int | None = None, stop: bool = False
) -> tuple[Comparison, ...]:
    """Judge a family of (candidate, reference), at all looks or until each pair is conclusive."""
    return compute.judge_looks(pairs, schedule(12, ROUNDS, size or len(pairs), ALPHA), stop=stop)


def rejected(comparisons: Iterable[Comparison]) -> bool:
    """Return whether the test rejects any pair, without regard to ε and the interval."""
    return any(c.p_adjusted is not None and c.p_adjusted <= ALPHA for c in comparisons)


def covers(c: Comparison, truth: float) -> bool:
    """Return whether the displayed interval contains the true ratio."""
    return c.shown is not None and c.shown.lo <= truth <= c.shown.hi


# -- tables --------------------------------------------------------------------------------------------


def families(noise: Noise, rng: np.random.Generator) -> dict[str, tuple[Comparison, ...]]:
    """Judge one record of equal programs in every family."""
    times = noise(rng, 5, ROUNDS)
    baseline, control, candidates = times[0], times[1], times[2:]
    arms = [baseline, *candidates]
    return {
        "one candidate": judged([(times[2], baseline)]),
        "one, with control": judged([(times[2], baseline, control)]),
        "one, stopping": judged([(times[2], baseline)], stop=True),
        "three candidates": judged([(c, baseline) for c in candidates]),
        "control of three": judged([(control, baseline)], size=3),
        "best of four": judged([(b, a) for a, b in itertools.combinations(arms, 2)]),
    }


def level_table(replays: int) -> None:
    """Print how often a family of equal programs has any difference."""
    print(f"A/A, simulated, {replays} records each; family-wise level {ALPHA:.0%}, {ROUNDS} rounds")
    print(
        f"{'noise':14}{'family':18}{'rejected':>9}{'≤':>7}{'verdict':>9}{'≤':>7}{'equiv.':>8}{'covered':>9}"
    )
    for name, noise in SIMULATED.items():
        counts: Counter[tuple[str, str]] = Counter()
        for replay in range(replays):
            rng = np.random.default_rng([replay, len(name), *name.encode()])
            for family, comparisons in families(noise, rng).items():
                counts[family, "rejected"] += rejected(comparisons)
                counts[family, "verdict"] += compute.has_difference(comparisons)
                counts[family, "equal"] += comparisons[0].verdict is Verdict.EQUIVALENT
                counts[family, "covered"] += all(covers(c, 1.0) for c in comparisons)
                counts[family, "all"] += 1
        for family in dict.fromkeys(f for f, _ in counts):
            a, b, c, d = [counts[family, k] for k in ("rejected", "verdict", "equal", "covered")]
            print(
                f"{name:14}{family:18}{a / replays:9.1%}{at_most(a, replays):7.1%}{b / replays:9.1%}"
                f"{at_most(b, replays):7.1%}{c / replays:8.0%}{d / replays:9.1%}",
                flush=True,
            )


def power_table(replays: int) -> None:
    """Print how often simulated differences are found or called equivalent, and the coverage."""
    print(f"\nReal differences, simulated, one candidate, {replays} records each")
    print(
        f"{'noise':14}{'runs':>5}{'effect':>7}{'found':>8}{'other way':>11}{'equiv.':>8}{'covered':>9}"
    )
    for (name, noise), runs, effect in itertools.product(SIMULATED.items(), (2, 3), EFFECTS):
        counts: Counter[str] = Counter()
        for replay in range(replays):
            rng = np.random.default_rng([replay, 7, *name.encode()])
            baseline, candidate, control = noise(rng, 3, ROUNDS)
            (c,) = judged([(candidate * effect, baseline, control)[:runs]])
            counts["found"] += c.verdict.worse
            counts["other"] += c.verdict.better
            counts["equal"] += c.verdict is Verdict.EQUIVALENT
            counts["covered"] += covers(c, effect)
        worse, other, equal, covered = (
            counts[k] / replays for k in ("found", "other", "equal", "covered")
        )
        print(
            f"{name:14}{runs:5}{effect:7.2f}{worse:8.0%}{other:11.1%}{equal:8.1%}{covered:9.1%}",
            flush=True,
        )


LEAVING = {"old": 1.0, "e1": 1.0, "e2": 1.0, "e3": 1.0, "d1": 1.05, "d2": 1.2, "d3": 1.5}
"""Candidates of which three equal the baseline. The others make configurations leave."""


def leaving_table(count: int) -> None:
    """Print false verdicts of equal programs among different ones, with configurations that leave.

    Only records in which an equal candidate differs at the level of a single comparison, at any
    look, are run completely: in the others no verdict can be false, because a configuration that
    leaves has the p-values of its earlier looks. The first `WHOLE` records are always run
    completely, to check this shortcut and to count runs and true differences.
    """
    plan = replays.plan_of(list(LEAVING))
    equal = {c.id for c in plan.cells if LEAVING[c.label] == 1.0}
    print(f"\nThree equal and three different candidates, wall and CPU, {count} records each")
    print(
        f"{'noise':14}{'false':>7}{'≤':>7}{'run':>6}{f'differences of {WHOLE * 6}: all stay, leaving':>35}{'runs':>7}"
    )
    for name, noise in SIMULATED.items():
        false, complete, differences, runs = 0, 0, [0, 0], [0, 0]
        for replay in range(count):
            rng = np.random.default_rng([replay, 13, *name.encode()])
            wall, cpu = (noise(rng, len(LEAVING), ROUNDS) for _ in range(2))
            times = {
                cell.id: (wall[i] * effect, cpu[i] * effect)
                for i, (cell, effect) in enumerate(zip(plan.cells, LEAVING.values(), strict=True))
            }
            suspicious = any(map(_suspicious, _equal_pairs(plan, times, equal)))
            if not suspicious and replay >= WHOLE:
                continue
            complete += 1
            for leave, rule in ((True, ReportRule()), (False, AllStay())):
                if not leave and replay >= WHOLE:
                    continue
                blocks, taken = replays.measured(plan, times, rule)
                decided = [
                    c
                    for c in judge(plan, blocks, {}, (), taken).comparisons
                    if c.family == "headline" and c.verdict.decided
                ]
                wrong = any(c.cell_id in equal for c in decided)
                assert suspicious or not wrong, "the shortcut left out a false verdict"
                false += wrong and leave
                if replay < WHOLE:
                    differences[leave] += sum(c.cell_id not in equal for c in decided)
                    runs[leave] += len(blocks)
        print(
            f"{name:14}{false:7}{at_most(false, count):7.1%}{complete:6}{differences[0]:34} →{differences[1]:5}"
            f"{runs[1] / runs[0]:7.0%}",
            flush=True,
        )


def _equal_pairs(
    plan: Plan, times: replays.Times, equal: Collection[str]
) -> Iterator[tuple[Floats, Floats]]:
    baseline, *candidates = [cell.id for cell in plan.cells if cell.id in equal]
    for cell_id in candidates:
        yield from zip(times[cell_id], times[baseline], strict=True)


def _suspicious(pair: tuple[Floats, Floats]) -> bool:
    """Return whether a pair of equal programs differs at any look, as a family of its own."""
    looks = schedule(12, ROUNDS, 12, ALPHA).shared_by(1, ALPHA)
    return any(
        compute.significant_verdicts(compute.cases_at([pair], looks, taken), looks)
        for taken in range(1, looks.count + 1)
    )


class AllStay:
    """The rule of a report without cells that leave."""

    def look(self, at: Analysis) -> LookOutcome:
        """Return the outcome of the report, with no settled cell."""
        return replace(at.report, settled=())


def main(count: int, *, leaving: bool = False) -> None:
    """Print all tables and the CPU time."""
    began = time.process_time()
    for table in (leaving_table,) if leaving else (level_table, power_table):
        table(count)
    print(f"\n{time.process_time() - began:.0f} s of CPU time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300, leaving="leaving" in sys.argv)
