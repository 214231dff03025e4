"""False verdicts and power on recorded noise, next to other methods (`docs/method.md#recorded-rounds`).

Usage: ``python tests/validation/statistics/recorded_families.py [REPLAYS [WORK…]]``. Seeded; prints tables and has no
marks. 400 replays of equal programs and a quarter of that of real differences, the default, take about ten minutes.

Equal programs are made from recorded rounds by drawing labels anew within each round. The number of disjoint windows
shows how much noise was observed.
"""

# ruff: noqa: T201 -- a script that prints

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from noise import WORKS, Floats, Recorded, Stream, race, recorded, stream
from scipy.stats import ttest_ind

from bench_framework.extensions.doctor import noise_rates as compute
from bench_framework.model.plan.looks import Looks, schedule
from bench_framework.model.verdict import Verdict
from bench_framework.stats.proportions import at_most

GATE, REPORT = 0.01, 0.05
FIRST = 12
LENGTHS = (12, 18, 27, 40, 60)
"""The looks of a record of up to 60 rounds."""
EFFECTS = {"+3 %": ("B3", 1.0), "+5 %": ("B5", 1.0), "+10 %": ("Ac", 1.10)}
"""Effect → arm with more work, or the equal arm with its times scaled by the factor."""
POWER_REPLAYS = 4
"""Power needs fewer replays than a rate below 1 %: the number is divided by this."""
LARGE_REPLAYS = 5
"""Large families take longer: the number of replays is divided by this."""


# -- benchctl -------------------------------------------------------------------------------------------


def by_looks(pairs: Sequence[Sequence[Floats]], looks: Looks) -> list[frozenset[Verdict]]:
    """Return the verdicts of difference at each look of a schedule."""
    return [
        compute.significant_verdicts(compute.cases_at(pairs, looks, taken), looks)
        for taken in range(1, looks.count + 1)
    ]


# -- other methods ----------------------------------------------------------------------------------------------------


def words_of_hyperfine(first: Floats, second: Floats) -> int:
    """Return the conclusion of ``hyperfine A B``: 1 if B is slower, −1 if A is, 0 if ± includes 1.

    hyperfine prints "ran 1.03 ± 0.02 times faster" for the smaller mean, with ± from both standard deviations
    (hyperfine 1.20, benchmark/relative_speed.rs).
    """
    means, sds = (first.mean(), second.mean()), (first.std(ddof=1), second.std(ddof=1))
    slow, fast = (1, 0) if means[1] >= means[0] else (0, 1)
    ratio = means[slow] / means[fast]
    spread = ratio * math.hypot(sds[slow] / means[slow], sds[fast] / means[fast])
    return 0 if ratio - spread <= 1 else (1 if slow else -1)


def welch(first: Floats, second: Floats) -> int:
    """Return the sign of a difference by Welch's t test of the logarithms at 5 %; 0 if none."""
    result = ttest_ind(np.log(second), np.log(first), equal_var=False)
    return int(np.sign(result.statistic)) if result.pvalue < REPORT else 0


def threshold(first: Floats, second: Floats) -> int:
    """Return the sign of a difference of means of more than 5 %; 0 if none."""
    ratio = second.mean() / first.mean()
    return int(ratio > 1.05) - int(ratio < 1 / 1.05)


OTHERS: Mapping[str, Callable[[Floats, Floats], int]] = {
    "hyperfine's words": words_of_hyperfine,
    "Welch on blocks": welch,
    "5 % threshold": threshold,
}


# -- level -----------------------------------------------------------------------------------------------------------


def level_table(sources: Mapping[str, Recorded], replays: int) -> None:
    """Print how often a family of equal programs has any verdict better or worse."""
    print(f"False verdicts: families of equal programs with any difference, {replays} per row")
    print(
        "one: one candidate; 15, 24: candidates with one baseline, on three programs or one; up to 40 rounds"
    )
    print(
        f"{'noise':22}{'family':>22}{'asked':>7}{'false':>8}{'of':>6}{'at most':>9}{'windows':>9}"
    )
    for name, source in sources.items():
        counts: Counter[tuple[str, float]] = Counter()
        for replay in range(replays):
            wall, cpu = source.window(np.random.default_rng([replay, *name.encode()]), 40)
            pairs = [(metric["Ac"], metric["A"]) for metric in (wall, cpu)]
            for level in (GATE, REPORT):
                differences = by_looks(pairs, schedule(FIRST, 40, 2, level))
                counts["one", level] += bool(differences[-1])
                counts["one, any look", level] += any(differences)
            triples = [
                list(metric[:3])
                for metric in source.shuffled(np.random.default_rng([replay, 3]), 40)
            ]
            for level in (GATE, REPORT):
                differences = by_looks(triples, schedule(FIRST, 40, 2, level))
                counts["one, with control", level] += any(differences)
        for (family, level), count in counts.items():
            _level_row(name, family, level, count, replays, str(source.rounds // 40))
        _as_recorded(name, source)


def _as_recorded(name: str, source: Recorded) -> None:
    """Print false verdicts in disjoint windows with the recorded labels."""
    for level in (GATE, REPORT):
        looks, differences = schedule(FIRST, 40, 2, level), 0
        for start in range(0, source.rounds - 39, 40):
            pairs = [(metric["Ac"], metric["A"]) for metric in source.cut(start, 40)]
            differences += any(by_looks(pairs, looks))
        windows = source.rounds // 40
        _level_row(name, "one, as recorded", level, differences, windows, str(windows))


def large_families(name: str, sources: Sequence[Recorded], replays: int) -> None:
    """Print false verdicts of many candidates with one baseline, all arms exchanged at random."""
    arms = [len(source.wall) - 1 for source in sources]
    size = 2 * sum(arms)
    for level in (GATE, REPORT):
        looks, count = schedule(FIRST, 40, size, level), 0
        for replay in range(replays):
            rng = np.random.default_rng([replay, size])
            pairs = [
                (metric[arm], metric[0])
                for source, others in zip(sources, arms, strict=True)
                for metric in source.shuffled(rng, 40)
                for arm in range(1, others + 1)
            ]
            count += bool(
                compute.significant_verdicts(compute.cases_at(pairs, looks, looks.count), looks)
            )
        windows = min(source.rounds // 40 for source in sources)
        _level_row(name, f"{sum(arms)} × wall and CPU", level, count, replays, str(windows))


def _level_row(name: str, family: str, level: float, count: int, tries: int, windows: str) -> None:
    print(
        f"{name:22}{family:>22}{level:7.0%}{count:8}{tries:6}{at_most(count, tries):9.1%}{windows:>9}",
        flush=True,
    )


# -- power -----------------------------------------------------------------------------------------------------------


def power_table(work: str, source: Recorded, replays: int) -> None:
    """Print the share of replays that find a difference, by rounds, next to other methods."""
    runs = stream(work)
    print(
        f"\n{WORKS[work]}: {source.rounds} rounds, {source.rounds // 60} windows of 60 that share none;"
        f" {replays} replays"
    )
    print(
        f"{'found slower, %':30}" + "".join(f"{effect:>26}" for effect in ("A/A, false", *EFFECTS))
    )
    print(f"{'rounds, or runs of each':30}" + (" " * 6 + "".join(f"{n:4}" for n in LENGTHS)) * 4)
    for name, shares in _benchctl_power(source, work, replays).items():
        _power_row(name, shares)
    for name, other in OTHERS.items():
        _power_row(name, _block_power(other, runs, work, replays))
    independent = ", ".join(f"{runs.independent(n)} of {n}" for n in LENGTHS)
    print(f"    pairs of blocks that share no run: {independent}", flush=True)


def _benchctl_power(
    source: Recorded, work: str, replays: int
) -> dict[str, list[list[float | None]]]:
    ways = {
        "benchctl, report 5 %": (2, REPORT),
        "benchctl, gate 1 %": (2, GATE),
        "  wall alone, 5 %": (1, REPORT),
    }
    shares: dict[str, list[list[float | None]]] = {name: [] for name in ways}
    for effect, (arm, factor) in {"A/A": ("Ac", 1.0), **EFFECTS}.items():
        counts: Counter[tuple[str, int]] = Counter()
        for replay in range(replays):
            wall, cpu = source.window(
                np.random.default_rng([replay, 7, *work.encode()]), LENGTHS[-1]
            )
            control = ["Ac"] if arm != "Ac" else []
            pairs = [
                [metric[arm] * factor, *(metric[name] for name in ("A", *control))]
                for metric in (wall, cpu)
            ]
            for name, (metrics, level) in ways.items():
                looks = schedule(FIRST, LENGTHS[-1], metrics, level)
                for n, differences in zip(
                    looks.rounds, by_looks(pairs[:metrics], looks), strict=True
                ):
                    counts[name, n] += any(effect == "A/A" or v.worse for v in differences)
        for name, rates in shares.items():
            metrics, level = ways[name]
            looks = schedule(FIRST, LENGTHS[-1], metrics, level)
            rates.append(
                [counts[name, n] / replays if n in looks.rounds else None for n in LENGTHS]
            )
    return shares


def _block_power(
    other: Callable[[Floats, Floats], int], runs: Stream, work: str, replays: int
) -> list[list[float | None]]:
    shares: list[list[float | None]] = []
    for factor in (1.0, 1.03, 1.05, 1.10):
        rates: list[float | None] = []
        for n in LENGTHS:
            differences = []
            for replay in range(replays):
                drawn = runs.blocks(np.random.default_rng([replay, n, *work.encode()]), n)
                if drawn is not None:
                    differences.append(other(drawn[0], drawn[1] * factor))
            hits = sum(t != 0 if factor == 1.0 else t > 0 for t in differences)
            rates.append(hits / len(differences) if differences else None)
        shares.append(rates)
    return shares


def _power_row(name: str, shares: Sequence[Sequence[float | None]]) -> None:
    cells = (
        " " * 6 + "".join("   –" if s is None else f"{s * 100:4.0f}" for s in part)
        for part in shares
    )
    print(f"{name:30}" + "".join(cells), flush=True)


def main(replays: int, works: Sequence[str]) -> None:
    """Print all tables and the CPU time."""
    began = time.process_time()
    sources = {work: recorded(work) for work in works}
    by_session = {
        f"{work}, {session[:-1]}": recorded(work, session)
        for work in works
        for session in ("busy1", "quiet1")
        if recorded(work, session).rounds >= 40
    }
    level_table(sources | {"race of 24": race()} | by_session, replays)
    large_families(
        "cpu + wc + dio",
        [recorded(work) for work in ("cpu", "wc", "dio")],
        replays // LARGE_REPLAYS,
    )
    large_families("race of 24", [race()], replays // LARGE_REPLAYS)
    for work, source in sources.items():
        power_table(work, source, max(1, replays // POWER_REPLAYS))
    print(f"\n{time.process_time() - began:.0f} s of CPU time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400, sys.argv[2:] or list(WORKS))
