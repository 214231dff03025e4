"""Noise for tests of the statistics: simulated, and recorded on a shared machine."""

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

NOISE = Path(__file__).parents[2] / "fixtures" / "noise"
WORKS = {
    "cpu": "one thread",
    "wc": "wc, cached text",
    "mt": "two threads",
    "dio": "O_DIRECT writes",
}
"""Recording → program that was run."""
RACE_BASELINE = "read + sequential + system + 64KiB"
ARMS = ("A", "Ac", "B1", "B2", "B3", "B5")


def normal(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """Return normal noise with a standard deviation of 2 %."""
    return np.exp(0.02 * rng.standard_normal((arms, rounds)))


def skewed(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """Return exponential noise above a floor."""
    return 1 + rng.exponential(0.05, (arms, rounds))


def heavy(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """Return Student's t with two degrees of freedom, which has no variance."""
    return np.exp(0.02 * np.clip(rng.standard_t(2, (arms, rounds)), -50, 50))


def drifting(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """Return a random walk in execution order, with a doubling over the record."""
    steps = 0.01 * rng.standard_normal(arms * rounds) + math.log(2) / (arms * rounds)
    return _placed(rng, np.exp(np.cumsum(steps)), arms, rounds) * np.exp(
        0.01 * rng.standard_normal((arms, rounds))
    )


def bursts(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """Return noise in which bursts of about five consecutive runs take 50 % longer."""
    slow, state = np.empty(arms * rounds), False
    for i, chance in enumerate(rng.random(arms * rounds)):
        state = chance < (0.8 if state else 0.1)
        slow[i] = 1.5 if state else 1.0
    return _placed(rng, slow, arms, rounds) * np.exp(0.01 * rng.standard_normal((arms, rounds)))


def ticks(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
    """Return times on a clock with a resolution of 1 %, so that most differences are tied."""
    times: Floats = np.exp(0.02 * rng.standard_normal((arms, rounds)))
    return times.round(2)


def _placed(rng: np.random.Generator, runs: Floats, arms: int, rounds: int) -> Floats:
    """Assign runs in execution order to the arms, in a new random order in each round."""
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
    """Recorded rounds in order: arm → times, shape (rounds,)."""

    wall: Arms
    cpu: Arms

    @property
    def rounds(self) -> int:
        """Return the number of rounds."""
        return len(self.wall["A"])

    def cut(self, start: int, rounds: int) -> tuple[Arms, Arms]:
        """Return wall and CPU time of consecutive rounds from `start`."""
        wall, cpu = (
            {arm: values[start : start + rounds] for arm, values in metric.items()}
            for metric in (self.wall, self.cpu)
        )
        return wall, cpu

    def window(self, rng: np.random.Generator, rounds: int) -> tuple[Arms, Arms]:
        """Return consecutive rounds from a random start, with the two equal arms exchanged at random."""
        wall, cpu = self.cut(int(rng.integers(0, self.rounds - rounds + 1)), rounds)
        swap = rng.random(rounds) < 0.5
        for metric in (wall, cpu):
            one, other = metric["A"], metric["Ac"]
            metric["A"], metric["Ac"] = np.where(swap, other, one), np.where(swap, one, other)
        return wall, cpu

    def shuffled(self, rng: np.random.Generator, rounds: int) -> tuple[Floats, Floats]:
        """Return rounds of equal programs: all arms are scaled to median 1 and relabelled at random.

        Both results, wall and CPU time, have the shape (arms, rounds).
        """
        wall, cpu = self.cut(int(rng.integers(0, self.rounds - rounds + 1)), rounds)
        order = np.stack([rng.permutation(len(wall)) for _ in range(rounds)], axis=1)
        shuffled_times = []
        for metric in (wall, cpu):
            level = np.stack([values / np.median(values) for values in metric.values()])
            shuffled_times.append(np.take_along_axis(level, order, axis=0))
        return shuffled_times[0], shuffled_times[1]


def recorded(work: str, session: str | None = None, *, kind: str = "rounds") -> Recorded:
    """Read the rounds of a recording that contain every arm, of all sessions or of one.

    Recordings of `kind` ``later`` and ``fresh`` were made when the method was complete. Nothing was chosen on them.
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
    """Read the race of 24 word counters, or its repetition ``race24_quiet``.

    The baseline is `A`, its A/A control `Ac`; the others have their names.
    """
    rounds: dict[int, dict[str, tuple[float, float]]] = {}
    with gzip.open(NOISE / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            arm = {RACE_BASELINE: "A", "control": "Ac"}.get(row["arm"], row["arm"])
            rounds.setdefault(int(row["round"]), {})[arm] = (
                float(row["wall_us"]),
                float(row["cpu_us"]),
            )
    arms = sorted({arm for times in rounds.values() for arm in times})
    whole = [
        rounds[n]
        for n in sorted(rounds)
        if len(rounds[n]) == len(arms) and min(map(min, rounds[n].values())) > 0
    ]
    wall, cpu = ({arm: np.array([r[arm][i] for r in whole]) for arm in arms} for i in (0, 1))
    return Recorded(wall, cpu)


@dataclass(frozen=True)
class Stream:
    """Times of one command that ran back to back, one array per stretch without a pause."""

    slices: Sequence[Floats]

    def blocks(self, rng: np.random.Generator, runs: int) -> tuple[Floats, Floats] | None:
        """Return `runs` runs and the next `runs` runs, as in a tool that runs one command after the other."""
        room = np.array([max(0, len(part) - 2 * runs + 1) for part in self.slices])
        if not room.sum():
            return None
        part = int(rng.choice(len(room), p=room / room.sum()))
        start = int(rng.integers(0, room[part]))
        return self.slices[part][start : start + runs], self.slices[part][
            start + runs : start + 2 * runs
        ]

    def independent(self, runs: int) -> int:
        """Return the number of pairs of blocks that share no run."""
        return sum(len(part) // (2 * runs) for part in self.slices)


def stream(work: str) -> Stream:
    """Read the wall times of the back-to-back runs of a recording."""
    slices: dict[tuple[str, str], list[float]] = {}
    with gzip.open(NOISE / f"stream_{work}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            slices.setdefault((row["session"], row["slice"]), []).append(float(row["wall_us"]))
    return Stream([np.array(values) for values in slices.values()])
