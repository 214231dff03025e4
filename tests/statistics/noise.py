"""Noise to judge on: simulated, and recorded on a shared machine (tests/fixtures/noise)."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, int, int], Floats]
"""Generator, arms, rounds → times of equal programs, shape (arms, rounds)."""
Arms = dict[str, Floats]
"""Arm → times, one per round."""

NOISE = Path(__file__).parents[1] / "fixtures" / "noise"
WORKS = {
    "cpu": "one thread",
    "wc": "wc, cached text",
    "mt": "two threads",
    "dio": "O_DIRECT writes",
}
"""Names of the recordings, and what was run."""
RACE_BASELINE = "read + sequential + system + 64KiB"
ARMS = ("A", "Ac", "B1", "B2", "B3", "B5")


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
    "normal": normal,
    "skewed": skewed,
    "heavy-tailed": heavy,
    "drifting": drifting,
    "bursts": bursts,
    "clock ticks": ticks,
}


@dataclass(frozen=True)
class Recorded:
    """Recorded rounds, their slices strung together in order: arm → times, one column per round."""

    wall: Arms
    cpu: Arms

    @property
    def rounds(self) -> int:
        """How many there are."""
        return len(self.wall["A"])

    def cut(self, start: int, rounds: int) -> tuple[Arms, Arms]:
        """Consecutive rounds from `start`: wall and CPU time."""
        wall, cpu = (
            {arm: values[start : start + rounds] for arm, values in metric.items()}
            for metric in (self.wall, self.cpu)
        )
        return wall, cpu

    def window(self, rng: np.random.Generator, rounds: int) -> tuple[Arms, Arms]:
        """Consecutive rounds; the two equal arms exchanged at random, so that they are equal."""
        wall, cpu = self.cut(int(rng.integers(0, self.rounds - rounds + 1)), rounds)
        swap = rng.random(rounds) < 0.5
        for metric in (wall, cpu):
            one, other = metric["A"], metric["Ac"]
            metric["A"], metric["Ac"] = np.where(swap, other, one), np.where(swap, one, other)
        return wall, cpu

    def shuffled(self, rng: np.random.Generator, rounds: int) -> tuple[Floats, Floats]:
        """Consecutive rounds of all arms, each brought to one median, their labels drawn anew in every round.

        Equal by construction whatever the arms were: shape (arms, rounds), wall and CPU time.
        """
        wall, cpu = self.cut(int(rng.integers(0, self.rounds - rounds + 1)), rounds)
        order = np.stack([rng.permutation(len(wall)) for _ in range(rounds)], axis=1)
        made = []
        for metric in (wall, cpu):
            level = np.stack([values / np.median(values) for values in metric.values()])
            made.append(np.take_along_axis(level, order, axis=0))
        return made[0], made[1]


def recorded(work: str, session: str | None = None, *, kind: str = "rounds") -> Recorded:
    """The rounds of a recording that have every arm; of one session if it is named.

    Of `kind` ``later`` are the recordings that were made when the method stood: nothing was chosen on them.
    """
    rounds: dict[tuple[str, str, str], dict[str, tuple[float, float]]] = {}
    with gzip.open(NOISE / f"{kind}_{work}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = (row["session"], row["slice"], row["round"])
            if session in (None, row["session"]):
                rounds.setdefault(key, {})[row["arm"]] = (
                    float(row["wall_us"]),
                    float(row["cpu_us"]),
                )
    whole = [r for r in rounds.values() if all(arm in r and min(r[arm]) > 0 for arm in ARMS)]
    wall, cpu = ({arm: np.array([r[arm][i] for r in whole]) for arm in ARMS} for i in (0, 1))
    return Recorded(wall, cpu)


def race(name: str = "race24") -> Recorded:
    """The race of 24 ways of counting words, or its repetition ``race24_quiet``.

    Its baseline is `A`, its control arm `Ac`, the others by their names.
    """
    rounds: dict[int, dict[str, tuple[float, float]]] = {}
    with gzip.open(NOISE / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            arm = {RACE_BASELINE: "A", "control": "Ac"}.get(row["arm"], row["arm"])
            rounds.setdefault(int(row["round"]), {})[arm] = (
                float(row["wall_us"]),
                float(row["cpu_us"]),
            )
    arms = sorted({arm for found in rounds.values() for arm in found})
    whole = [
        rounds[n]
        for n in sorted(rounds)
        if len(rounds[n]) == len(arms) and min(map(min, rounds[n].values())) > 0
    ]
    wall, cpu = ({arm: np.array([r[arm][i] for r in whole]) for arm in arms} for i in (0, 1))
    return Recorded(wall, cpu)


@dataclass(frozen=True)
class Stream:
    """One command run back to back: a series of times for each stretch without a pause."""

    slices: Sequence[Floats]

    def blocks(self, rng: np.random.Generator, runs: int) -> tuple[Floats, Floats] | None:
        """`runs` runs and the next `runs` runs, as a tool measures that takes one command after the other."""
        room = np.array([max(0, len(part) - 2 * runs + 1) for part in self.slices])
        if not room.sum():
            return None
        part = int(rng.choice(len(room), p=room / room.sum()))
        start = int(rng.integers(0, room[part]))
        return self.slices[part][start : start + runs], self.slices[part][
            start + runs : start + 2 * runs
        ]

    def independent(self, runs: int) -> int:
        """How many such pairs share no run."""
        return sum(len(part) // (2 * runs) for part in self.slices)


def stream(work: str) -> Stream:
    """The back-to-back runs of a recording, wall time."""
    slices: dict[tuple[str, str], list[float]] = {}
    with gzip.open(NOISE / f"stream_{work}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            slices.setdefault((row["session"], row["slice"]), []).append(float(row["wall_us"]))
    return Stream([np.array(values) for values in slices.values()])
