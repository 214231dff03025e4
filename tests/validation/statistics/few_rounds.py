"""False verdicts of the paired t test of few rounds, on recorded noise (`docs/method.md#few-rounds`).

Usage: ``python tests/validation/statistics/few_rounds.py``. Seeded; a minute. It exits with 1 if a rate is above
its limit.

Equal programs are recorded rounds with labels drawn anew within each round. Coverage is that of the 95 % interval
for programs that really take 3 % more, around the mean of the whole recording.
"""

# ruff: noqa: T201 -- a script that prints

import math
import sys

import numpy as np
from noise import SIMULATED, WORKS, Floats, recorded

from bench_framework.extensions.doctor.noise_rates import judge_looks
from bench_framework.model.plan.looks import Looks
from bench_framework.stats import paired_t

LEVEL = 0.05
LENGTHS = (3, 4, 5, 6)
REPLAYS = 4000
SEED = 31
MOST = 1.15
"""Allowed ratio of a rate to its nominal value: three standard errors of 4 000 replays above 1."""


def false_verdicts(rng: np.random.Generator, equal: Floats, rounds: int) -> float:
    """Return the share of windows with a verdict of a difference; `equal` has the shape (rounds, 2)."""
    looks = Looks((rounds,), 3, decidable=True, family=1, level=LEVEL, by_t=True)
    count = 0
    for start in rng.integers(0, len(equal) - rounds + 1, REPLAYS):
        window = rng.permuted(equal[start : start + rounds], axis=1)
        count += judge_looks([(window[:, 0], window[:, 1])], looks)[0].verdict.decided
    return count / REPLAYS


def coverage(slower: Floats, reference: Floats, rounds: int) -> float:
    """Return the share of all windows whose 95 % interval contains the effect of the recording."""
    effect = float(np.mean(np.log(slower / reference)))
    covered, windows = 0, len(reference) - rounds + 1
    for start in range(windows):
        part = slice(start, start + rounds)
        contrast = paired_t.compare(slower[part].tolist(), reference[part].tolist())
        assert contrast is not None
        interval = contrast.interval(1 - LEVEL)
        covered += math.log(interval.lo) <= effect <= math.log(interval.hi)
    return covered / windows


def main() -> int:
    """Print a row per recording and kind of simulated noise; return 1 if a rate is too high."""
    rng, highest = np.random.default_rng(SEED), 0.0
    heads = "  ".join(f"{n} rounds" for n in LENGTHS)
    print(f"false verdicts at 5 %    {heads}    coverage of +3 % at 95 %: {heads}")
    for work, name in WORKS.items():
        for kind in ("rounds", "later", "fresh"):
            wall = recorded(work, kind=kind).wall
            equal = np.stack([wall["A"], wall["Ac"]], axis=1)
            rates = [false_verdicts(rng, equal, n) for n in LENGTHS]
            covered = [coverage(wall["B3"], wall["A"], n) for n in LENGTHS]
            highest = max(highest, *rates)
            print(f"{name:16} {kind:8}", *(f"{r:8.1%}" for r in (*rates, *covered)))
    for name, noise in SIMULATED.items():
        equal = noise(rng, 2, REPLAYS).T
        rates = [false_verdicts(rng, equal, n) for n in LENGTHS]
        highest = max(highest, *rates)
        print(f"{name:25}", *(f"{r:8.1%}" for r in rates))
    print(f"highest rate {highest:.1%}, limit {MOST * LEVEL:.1%}")
    return int(highest > MOST * LEVEL)


if __name__ == "__main__":
    sys.exit(main())
