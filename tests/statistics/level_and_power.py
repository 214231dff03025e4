"""False positives and power of the judging, on simulated and recorded noise: the figures of docs/method.md.

Usage: ``python tests/statistics/level_and_power.py [REPLAYS]``. Seeded; prints tables and judges nothing. No
test of CI: with 300 replays, the default, it computes for several minutes.
"""

# ruff: noqa: T201 -- a script that prints

from __future__ import annotations

import csv
import gzip
import itertools
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from bench_framework.analysis.compare import Levels, examine_looks
from bench_framework.analysis.intervals import typical
from bench_framework.analysis.samples import Pair
from bench_framework.analysis.verdict import Case, Rules, detectable, half_width, judge_family
from bench_framework.model.judgement import Comparison, Verdict
from bench_framework.model.looks import schedule

Floats = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, int, int], Floats]
"""Generator, arms, rounds → times of equal programs, shape (arms, rounds)."""

NOISE = Path(__file__).parents[1] / "fixtures" / "noise"
ALPHA = 0.05
ROUNDS = 40
EFFECTS = (1.03, 1.05, 1.10)
BETTER = frozenset({Verdict.BETTER, Verdict.BETTER_SIZE_OPEN})
WORSE = frozenset({Verdict.WORSE, Verdict.WORSE_SIZE_OPEN})


# -- noise ---------------------------------------------------------------------------------------------


def normal(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """A spread of 2 % around one value."""
    return np.exp(0.02 * rng.standard_normal((arms, rounds)))


def skewed(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """Noise only adds time: a sharp floor and a long tail."""
    return 1 + rng.exponential(0.05, (arms, rounds))


def heavy(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """Student's t with two degrees of freedom: no variance."""
    return np.exp(0.02 * np.clip(rng.standard_t(2, (arms, rounds)), -50, 50))


def drifting(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """A random walk over the runs in the order in which they are executed, a doubling over the record."""
    steps = 0.01 * rng.standard_normal(arms * rounds) + math.log(2) / (arms * rounds)
    return _placed(rng, np.exp(np.cumsum(steps)), arms, rounds) * np.exp(
        0.01 * rng.standard_normal((arms, rounds))
    )


def bursts(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """Other work slows down stretches of about five consecutive runs by half."""
    slow, state = np.empty(arms * rounds), False
    for i, chance in enumerate(rng.random(arms * rounds)):
        state = chance < (0.8 if state else 0.1)
        slow[i] = 1.5 if state else 1.0
    return _placed(rng, slow, arms, rounds) * np.exp(0.01 * rng.standard_normal((arms, rounds)))


def ticks(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """A clock of 1 %: nearly all differences are tied."""
    times: Floats = np.exp(0.02 * rng.standard_normal((arms, rounds)))
    return times.round(2)


def _placed(rng: np.random.Generator, runs: Floats, arms: int, rounds: int) -> Floats:
    """Runs in order of execution, given to the arms in a fresh random order each round."""
    placed = np.empty((arms, rounds))
    for number, part in enumerate(runs.reshape(rounds, arms)):
        placed[rng.permutation(arms), number] = part
    return placed


SIMULATED: dict[str, Noise] = {
    "normal": normal, "skewed": skewed, "heavy-tailed": heavy,
    "drifting": drifting, "bursts": bursts, "clock ticks": ticks,
}  # fmt: skip


@dataclass(frozen=True)
class Recorded:
    """Recorded rounds: arm → times, one column per round."""

    wall: dict[str, Floats]
    cpu: dict[str, Floats]

    def window(self, rng: np.random.Generator, rounds: int) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Consecutive rounds; the two equal arms exchanged at random, so that they are equal."""
        total = len(self.wall["A"])
        start = int(rng.integers(0, total - rounds + 1))
        swap = rng.random(rounds) < 0.5
        made = []
        for metric in (self.wall, self.cpu):
            cut = {arm: values[start : start + rounds] for arm, values in metric.items()}
            one, other = cut["A"], cut["Ac"]
            cut["A"], cut["Ac"] = np.where(swap, other, one), np.where(swap, one, other)
            made.append(cut)
        return made[0], made[1]


def recorded(name: str) -> Recorded:
    """The rounds of a file that have every arm."""
    rounds: dict[tuple[str, str, str], dict[str, tuple[float, float]]] = {}
    with gzip.open(NOISE / name, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = (row["session"], row["slice"], row["round"])
            rounds.setdefault(key, {})[row["arm"]] = (float(row["wall_us"]), float(row["cpu_us"]))
    arms = ("A", "Ac", "B3", "B5")
    whole = [r for r in rounds.values() if all(arm in r and min(r[arm]) > 0 for arm in arms)]
    wall, cpu = ({arm: np.array([r[arm][i] for r in whole]) for arm in arms} for i in (0, 1))
    return Recorded(wall, cpu)


# -- judging -------------------------------------------------------------------------------------------


def judged(
    pairs: Sequence[tuple[Floats, Floats]], *, size: int | None = None, stop: bool = False
) -> tuple[Comparison, ...]:
    """A family of (candidate, reference), at all looks, or until each pair is decided or equivalent."""
    looks = schedule(12, ROUNDS, size or len(pairs), ALPHA)
    rules = Rules(looks.count, looks.family, ALPHA, seed=1, thorough=False)
    levels = Levels(rules.strict, ALPHA / looks.count)
    found: tuple[Comparison, ...] = ()
    for taken in range(1 if stop else looks.count, looks.count + 1):
        reached = looks.rounds[:taken]
        cases = []
        for i, (x, y) in enumerate(pairs):
            whole = Pair(tuple(range(1, len(x) + 1)), tuple(x.tolist()), tuple(y.tolist())).until(reached[-1])
            evidence = examine_looks(whole, reached, levels, rules.seed)
            cases.append(Case(str(i), "b", "wall", "headline", whole, evidence, 0.02, 0.01))
        found = judge_family(cases, rules)
        if all(c.verdict.settled for c in found):
            break
    return found


def rejected(found: Iterable[Comparison]) -> bool:
    """Whether the test alone found a difference, before ε and the interval are asked."""
    return any(c.p_adjusted is not None and c.p_adjusted <= ALPHA for c in found)


def false_verdict(found: Iterable[Comparison]) -> bool:
    """Whether equal programs were told apart."""
    return any(c.verdict.decided for c in found)


def covers(c: Comparison, truth: float) -> bool:
    """Whether the displayed interval holds the true ratio."""
    return c.shown is not None and c.shown.lo <= truth <= c.shown.hi


def upper(count: int, replays: int) -> float:
    """One-sided 95 % Clopper-Pearson bound of a rate."""
    return 1.0 if count >= replays else float(beta.ppf(0.95, count + 1, replays - count))


# -- tables --------------------------------------------------------------------------------------------


def families(noise: Noise, rng: np.random.Generator) -> dict[str, tuple[Comparison, ...]]:
    """One record of equal programs, judged in every family."""
    times = noise(rng, 5, ROUNDS)
    baseline, control, candidates = times[0], times[1], times[2:]
    arms = [baseline, *candidates]
    return {
        "one candidate": judged([(times[2], baseline)]),
        "one, stopping": judged([(times[2], baseline)], stop=True),
        "three candidates": judged([(c, baseline) for c in candidates]),
        "control of three": judged([(control, baseline)], size=3),
        "best of four": judged([(b, a) for a, b in itertools.combinations(arms, 2)]),
    }


def level_table(replays: int) -> None:
    """Equal programs: how often a family told any apart."""
    print(f"A/A, simulated, {replays} records each; family-wise level {ALPHA:.0%}, {ROUNDS} rounds")
    print(
        f"{'noise':14}{'family':18}{'rejected':>9}{'≤':>7}{'verdict':>9}{'≤':>7}{'equiv.':>8}{'covered':>9}"
    )
    for name, noise in SIMULATED.items():
        counts: Counter[tuple[str, str]] = Counter()
        for replay in range(replays):
            rng = np.random.default_rng([replay, len(name), *name.encode()])
            for family, found in families(noise, rng).items():
                counts[family, "rejected"] += rejected(found)
                counts[family, "verdict"] += false_verdict(found)
                counts[family, "equal"] += found[0].verdict is Verdict.EQUIVALENT
                counts[family, "covered"] += all(covers(c, 1.0) for c in found)
                counts[family, "all"] += 1
        for family in dict.fromkeys(f for f, _ in counts):
            told = [counts[family, k] for k in ("rejected", "verdict", "equal", "covered")]
            a, b, c, d = told
            print(
                f"{name:14}{family:18}{a / replays:9.1%}{upper(a, replays):7.1%}{b / replays:9.1%}"
                f"{upper(b, replays):7.1%}{c / replays:8.0%}{d / replays:9.1%}",
                flush=True,
            )


def power_table(replays: int) -> None:
    """Real differences, simulated: found, called equivalent, interval right."""
    print(f"\nReal differences, simulated, one candidate, {replays} records each")
    print(f"{'noise':14}{'effect':>7}{'found':>8}{'other way':>11}{'equiv.':>8}{'covered':>9}")
    for name, noise in SIMULATED.items():
        for effect in EFFECTS:
            counts: Counter[str] = Counter()
            for replay in range(replays):
                rng = np.random.default_rng([replay, 7, *name.encode()])
                times = noise(rng, 3, ROUNDS)
                (c,) = judged([(times[1] * effect, times[0])])
                _count(counts, c, effect)
            _print_power(name, effect, counts, replays)


def detectable_table(replays: int) -> None:
    """The detectable difference that equal programs are told, and how often a difference of that size is found.

    In the rounds that it was told for, with the labels drawn again, and in other rounds of the same kind: recorded
    noise is louder at one time than at another.
    """
    print(f"\nPower at the stated detectable difference, one candidate, {replays} records each")
    print(f"{'noise':14}{'stated':>8}{'same':>8}{'≥':>7}{'others':>8}{'≥':>7}")
    sources: dict[str, Noise] = dict(SIMULATED)
    for path in sorted(NOISE.glob("rounds_*.csv.gz")):
        sources[path.name.removeprefix("rounds_").removesuffix(".csv.gz")] = _walls(recorded(path.name))
    looks = schedule(12, ROUNDS, 1, ALPHA)
    rules = Rules(looks.count, looks.family, ALPHA, seed=1, thorough=False)
    for name, noise in sources.items():
        stated, same, fresh = [], 0, 0
        for replay in range(replays):
            rng = np.random.default_rng([replay, 11, *name.encode()])
            x, y = noise(rng, 2, ROUNDS)
            pair = Pair(tuple(range(ROUNDS)), tuple(x.tolist()), tuple(y.tolist()))
            plain = typical(np.log(x) - np.log(y), 0.95)
            half = half_width(pair, plain, None, rules.seed)
            stated.append(math.exp(detectable(half or math.inf, rules, 0.01)))
            swap = rng.random(ROUNDS) < 0.5
            again, reference = np.where(swap, y, x), np.where(swap, x, y)
            same += judged([(again * stated[-1], reference)])[0].verdict in WORSE
            again, reference = noise(rng, 2, ROUNDS)
            fresh += judged([(again * stated[-1], reference)])[0].verdict in WORSE
        rates = "".join(f"{n / replays:8.1%}{1 - upper(replays - n, replays):7.1%}" for n in (same, fresh))
        print(f"{name:14}{float(np.median(stated)) - 1:8.1%}{rates}", flush=True)


def _walls(source: Recorded) -> Noise:
    def draw(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
        wall, _ = source.window(rng, rounds)
        return np.stack([wall["Ac"], wall["A"]][:arms])

    return draw


def recorded_table(replays: int) -> None:
    """Recorded noise, wall and CPU time judged as one family of two."""
    print(f"\nRecorded noise, wall and CPU time together, {replays} windows of {ROUNDS} rounds each")
    for path in sorted(NOISE.glob("rounds_*.csv.gz")):
        name = path.name.removeprefix("rounds_").removesuffix(".csv.gz")
        source = recorded(path.name)
        false = dict.fromkeys(("all looks", "stopping"), 0)
        for replay in range(replays):
            wall, cpu = source.window(np.random.default_rng([replay, *name.encode()]), ROUNDS)
            pairs = [(wall["Ac"], wall["A"]), (cpu["Ac"], cpu["A"])]
            false["all looks"] += false_verdict(judged(pairs))
            false["stopping"] += false_verdict(judged(pairs, stop=True))
        told = ", ".join(f"{k} {n / replays:.1%} (at most {upper(n, replays):.1%})" for k, n in false.items())
        print(f"{name}: A/A false verdicts: {told}", flush=True)
        for effect, arm in ((1.03, "B3"), (1.05, "B5"), (1.10, "Ac")):
            counts: dict[str, Counter[str]] = {"wall": Counter(), "cpu": Counter()}
            either = 0
            for replay in range(replays):
                window = source.window(np.random.default_rng([replay, 7, *name.encode()]), ROUNDS)
                factor = effect if arm == "Ac" else 1.0
                found = judged([(m[arm] * factor, m["A"]) for m in window])
                for metric, c in zip(counts, found, strict=True):
                    _count(counts[metric], c, effect)
                either += any(c.verdict in WORSE for c in found)
            for metric, own in counts.items():
                _print_power(f"  {metric}", effect, own, replays)
            print(f"  either {effect:9.2f}{either / replays:8.0%}", flush=True)


def _count(counts: Counter[str], c: Comparison, effect: float) -> None:
    counts["found"] += c.verdict in WORSE
    counts["other"] += c.verdict in BETTER
    counts["equal"] += c.verdict is Verdict.EQUIVALENT
    counts["covered"] += covers(c, effect)


def _print_power(name: str, effect: float, counts: Counter[str], replays: int) -> None:
    found, other, equal, covered = (counts[k] / replays for k in ("found", "other", "equal", "covered"))
    print(f"{name:14}{effect:7.2f}{found:8.0%}{other:11.1%}{equal:8.1%}{covered:9.1%}", flush=True)


def main(replays: int) -> None:
    """Print all tables and the time that they took."""
    began = time.process_time()
    level_table(replays)
    power_table(replays)
    detectable_table(replays)
    recorded_table(replays)
    print(f"\n{time.process_time() - began:.0f} s of CPU time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
