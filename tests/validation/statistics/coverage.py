"""Coverage of the intervals on simulated noise (`docs/method.md#coverage-of-the-intervals`).

Usage: ``python tests/validation/statistics/coverage.py [SIMULATIONS [ROUNDS…]]``. Seeded. 10 000 simulations of 18
and of 40 rounds by default take most of an hour of CPU time, on all cores. It exits with 1 if a demand is not met.
"""

# ruff: noqa: T201 -- a script that prints

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

from bench_framework.extensions.doctor.noise_rates import judge_looks
from bench_framework.model.plan.looks import schedule
from bench_framework.model.verdict import Interval
from bench_framework.stats.proportions import at_least, at_most

Floats = npt.NDArray[np.float64]
Shape = Callable[[np.random.Generator, int], Floats]
"""Generator, rounds → log times of three equal programs, shape (3, rounds)."""

ALPHA = 0.05
TRUTH = 1.03
PLAIN = 0.95
BELOW, ABOVE = 0.01, 0.03
"""Largest allowed distance of the coverage of a 95 % interval from its level."""
CHUNK = 250
COLUMNS = tuple(
    f"{runs}, {what}" for runs in ("pair", "control") for what in ("95 %", "shown", "decided")
)


def normal(rng: np.random.Generator, rounds: int) -> Floats:
    """Return normal noise with a standard deviation of 2 %."""
    return 0.02 * rng.standard_normal((3, rounds))


def skewed(rng: np.random.Generator, rounds: int) -> Floats:
    """Return exponential noise above a floor."""
    return np.log1p(rng.exponential(0.05, (3, rounds)))


def heavy_tailed(rng: np.random.Generator, rounds: int) -> Floats:
    """Return Student's t with two degrees of freedom, which has no variance."""
    return 0.02 * np.clip(rng.standard_t(2, (3, rounds)), -50, 50)


def bimodal(rng: np.random.Generator, rounds: int) -> Floats:
    """Return noise in which three of ten runs take 10 % longer."""
    return 0.1 * (rng.random((3, rounds)) < 0.3) + 0.004 * rng.standard_normal((3, rounds))


def drifting(rng: np.random.Generator, rounds: int) -> Floats:
    """Return a random walk over runs in random order, with a doubling over the record."""
    runs = np.cumsum(0.01 * rng.standard_normal(3 * rounds) + math.log(2) / (3 * rounds))
    placed = rng.permuted(runs.reshape(rounds, 3), axis=1).T
    return placed + 0.005 * rng.standard_normal((3, rounds))


SHAPES: dict[str, Shape] = {
    "normal": normal,
    "skewed": skewed,
    "heavy-tailed": heavy_tailed,
    "bimodal": bimodal,
    "drifting": drifting,
}


def covers(interval: Interval | None) -> bool:
    """Return whether an interval contains the true ratio."""
    assert interval is not None
    return interval.lo <= TRUTH <= interval.hi


def part(shape: str, rounds: int, start: int, count: int) -> Counter[str]:
    """Judge the simulations `start` to `start + count` as a report judges one comparison."""
    looks = schedule(12, rounds, 1, ALPHA)
    counts: Counter[str] = Counter()
    for number in range(start, start + count):
        rng = np.random.default_rng([number, rounds, *shape.encode()])
        ours, *others = np.exp(SHAPES[shape](rng, rounds))
        for name, columns in (("pair", others[:1]), ("control", others)):
            (comparison,) = judge_looks([(ours * TRUTH, *columns)], looks)
            counts[f"{name}, 95 %"] += covers(comparison.unadjusted)
            counts[f"{name}, shown"] += covers(comparison.shown)
            counts[f"{name}, decided"] += comparison.verdict.decided
    return counts


def level_shown(rounds: int) -> float:
    """Return the level of the displayed interval of one comparison; h is 1."""
    return 1 - ALPHA / schedule(12, rounds, 1, ALPHA).count


def row(shape: str, rounds: int, counts: Counter[str], simulations: int) -> bool:
    """Print one row; return whether it meets the demands."""
    nominal = level_shown(rounds)
    # A demand is missed if the whole 95 % bound is beyond it, so that chance alone does not fail it.
    missed = [
        name
        for name in ("pair, 95 %", "control, 95 %")
        if at_most(counts[name], simulations) < PLAIN - BELOW
        or at_least(counts[name], simulations) > PLAIN + ABOVE
    ]
    missed += [
        name
        for name in ("pair, shown", "control, shown")
        if at_most(counts[name], simulations) < nominal
    ]
    rates = "".join(f"{counts[name] / simulations:16.2%}" for name in COLUMNS)
    print(
        f"{shape:14}{rounds:7}{rates}{nominal:10.2%}"
        f"  {'missed: ' + ', '.join(missed) if missed else 'as demanded'}",
        flush=True,
    )
    return not missed


def main(simulations: int, lengths: list[int]) -> int:
    """Print the table; return 1 if a demand is missed."""
    began = time.monotonic()
    print(
        f"Share of intervals that contain the true ratio of {TRUTH}; {simulations} simulations per row"
    )
    print(
        "95 %: one look, one comparison; shown: the adjusted interval that a report prints;"
        " pair: without the control"
    )
    print(f"{'noise':14}{'rounds':>7}{''.join(f'{name:>16}' for name in COLUMNS)}{'its level':>10}")
    met = True
    with ProcessPoolExecutor(int(os.environ.get("JOBS", os.cpu_count() or 1))) as pool:
        for rounds in lengths:
            for shape in SHAPES:
                starts = range(0, simulations, CHUNK)
                sizes = [min(CHUNK, simulations - start) for start in starts]
                counts: Counter[str] = Counter()
                for counted in pool.map(partial(part, shape, rounds), starts, sizes):
                    counts += counted
                met &= row(shape, rounds, counts, simulations)
    print(f"{time.monotonic() - began:.0f} s")
    return 0 if met else 1


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    sys.exit(main(words[0] if words else 10_000, words[1:] or [40, 18]))
