"""How often the intervals hold the truth: the table of docs/method.md.

Usage: ``python tests/statistics/coverage.py [SIMULATIONS [ROUNDS…]]``. Seeded. 10 000 simulations of 18 and of 40
rounds by default: most of an hour of CPU time, on as many processes as there are cores. Exits 1 where a demand fails.
"""

# ruff: noqa: T201 -- a script that prints

from __future__ import annotations

import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import numpy.typing as npt

from bench_framework.features.noise.compute import at_least, at_most, judge_looks
from bench_framework.model.looks import schedule
from bench_framework.model.verdict import Interval

Floats = npt.NDArray[np.float64]
Shape = Callable[[np.random.Generator, int], Floats]
"""Generator, rounds → log times of two equal programs, shape (2, rounds)."""

ALPHA = 0.05
TRUTH = 1.03
PLAIN = 0.95
BELOW, ABOVE = 0.01, 0.03
"""How far the cover of one plain interval may lie from its level."""
CHUNK = 250


def normal(rng: np.random.Generator, rounds: int) -> Floats:
    """A spread of 2 %."""
    return 0.02 * rng.standard_normal((2, rounds))


def skewed(rng: np.random.Generator, rounds: int) -> Floats:
    """Noise only adds time: a sharp floor and a long tail."""
    return np.log1p(rng.exponential(0.05, (2, rounds)))


def heavy_tailed(rng: np.random.Generator, rounds: int) -> Floats:
    """Student's t with two degrees of freedom: no variance."""
    return 0.02 * np.clip(rng.standard_t(2, (2, rounds)), -50, 50)


def bimodal(rng: np.random.Generator, rounds: int) -> Floats:
    """Three runs in ten take 10 % longer, as with a second page placement."""
    return 0.1 * (rng.random((2, rounds)) < 0.3) + 0.004 * rng.standard_normal((2, rounds))


def drifting(rng: np.random.Generator, rounds: int) -> Floats:
    """A random walk over the runs, which a fresh random order gives to the arms, and a doubling over the record."""
    runs = np.cumsum(0.01 * rng.standard_normal(2 * rounds) + math.log(2) / (2 * rounds)).reshape(
        rounds, 2
    )
    first = rng.random(rounds) < 0.5
    placed = np.stack(
        [np.where(first, runs[:, 0], runs[:, 1]), np.where(first, runs[:, 1], runs[:, 0])]
    )
    return placed + 0.005 * rng.standard_normal((2, rounds))


SHAPES: dict[str, Shape] = {
    "normal": normal,
    "skewed": skewed,
    "heavy-tailed": heavy_tailed,
    "bimodal": bimodal,
    "drifting": drifting,
}


def covers(interval: Interval | None) -> bool:
    """Whether it holds the truth."""
    assert interval is not None
    return interval.lo <= TRUTH <= interval.hi


def part(shape: str, rounds: int, start: int, count: int) -> Counter[str]:
    """Simulations `start` to `start + count`, each judged as a report judges one comparison."""
    looks = schedule(12, rounds, 1, ALPHA)
    told: Counter[str] = Counter()
    for number in range(start, start + count):
        rng = np.random.default_rng([number, rounds, *shape.encode()])
        ours, theirs = SHAPES[shape](rng, rounds)
        (found,) = judge_looks(
            [(np.exp(ours) * TRUTH, np.exp(theirs))], looks, thorough=True, seed=number
        )
        told["typical"] += covers(found.typical)
        told["floor"] += covers(found.floor)
        told["shown"] += covers(found.shown)
        told["decided"] += found.verdict.decided
    return told


def level_shown(rounds: int) -> float:
    """Of the displayed interval of one comparison that is rejected, or of one that is not: h is 1 for both."""
    return 1 - ALPHA / schedule(12, rounds, 1, ALPHA).count


def row(shape: str, rounds: int, told: Counter[str], simulations: int) -> bool:
    """Print one row; whether it meets the demands."""
    rates = {name: told[name] / simulations for name in ("floor", "typical", "shown")}
    nominal = level_shown(rounds)
    # A demand is missed where the whole 95 % bound lies beyond it: chance alone may not fail it.
    missed = [
        name
        for name in ("floor", "typical")
        if at_most(told[name], simulations) < PLAIN - BELOW
        or at_least(told[name], simulations) > PLAIN + ABOVE
    ]
    missed += ["shown"] if at_most(told["shown"], simulations) < nominal else []
    print(
        f"{shape:14}{rounds:7}{rates['floor']:10.2%}{rates['typical']:10.2%}{rates['shown']:10.2%}{nominal:10.2%}"
        f"{told['decided'] / simulations:9.1%}  {'missed: ' + ', '.join(missed) if missed else 'as demanded'}",
        flush=True,
    )
    return not missed


def main(simulations: int, lengths: list[int]) -> int:
    """Print the table; 1 if a demand is missed."""
    began = time.monotonic()
    print(
        f"Share of intervals that hold the true ratio of {TRUTH}; {simulations} simulations per row"
    )
    print(
        "floor, typical: 95 %, one look, one comparison; shown: the corrected interval that a report prints"
    )
    print(
        f"{'noise':14}{'rounds':>7}{'floor':>10}{'typical':>10}{'shown':>10}{'its level':>10}{'decided':>9}"
    )
    met = True
    with ProcessPoolExecutor(int(os.environ.get("JOBS", os.cpu_count() or 1))) as pool:
        for rounds in lengths:
            for shape in SHAPES:
                starts = range(0, simulations, CHUNK)
                sizes = [min(CHUNK, simulations - start) for start in starts]
                told: Counter[str] = Counter()
                for counted in pool.map(partial(part, shape, rounds), starts, sizes):
                    told += counted
                met &= row(shape, rounds, told, simulations)
    print(f"{time.monotonic() - began:.0f} s")
    return 0 if met else 1


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    sys.exit(main(words[0] if words else 10_000, words[1:] or [40, 18]))
