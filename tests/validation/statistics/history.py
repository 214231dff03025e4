"""False and detected changes of simulated histories: the tables of `docs/method.md#history`.

Usage: ``python tests/validation/statistics/history.py [HISTORIES]``. Seeded; the 400 histories per figure of the page
take a few minutes. It exits with 1 if more than 5 % of the stable histories with normal noise have a confirmed
change, or if a change that the page promises is not found.
"""

# ruff: noqa: T201 -- a script that prints

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bench_framework.extensions.history import compute
from bench_framework.extensions.history.compute import Readings, Segments
from bench_framework.extensions.history.series import FLOOR
from bench_framework.model.metrics import WALL

Floats = npt.NDArray[np.float64]
LEVEL = 0.05
WITHIN = 0.003
"""Standard error of a median within its record."""


@dataclass(frozen=True)
class Setting:
    """A simulated history. Noises are standard deviations on the log scale."""

    records: int = 30
    cells: int = 24
    noise: float = 0.01
    """Between records, of each configuration."""
    common: float = 0.0
    """Between records, of all configurations."""
    anchors: int = 0
    """Configurations whose program never changes. Those of the others change with each record."""
    step: float = 0.0
    """Change of the last configuration."""
    at: int = 0
    machine: float = 0.0
    """Change of the machine."""
    machine_at: int = 0
    tails: float = 0.0
    """Degrees of freedom of Student's t; 0 for normal noise."""
    memory: float = 0.0
    """Correlation of the noise of successive records."""
    missing: float = 0.0
    """Share of the records without a configuration."""
    lasting: float = 0.0
    """Share of the records in which the program of a configuration stays the same."""


def history(chance: np.random.Generator, given: Setting) -> tuple[list[Segments], list[Floats]]:
    """Return the results of each configuration, and the numbers of its records."""
    shape = (given.cells, given.records)

    def noise(size: tuple[int, ...], sd: float) -> Floats:
        if given.tails:
            drawn = chance.standard_t(given.tails, size) / np.sqrt(given.tails / (given.tails - 2))
        else:
            drawn = chance.standard_normal(size)
        for n in range(1, size[-1]):
            drawn[..., n] *= np.sqrt(1 - given.memory**2)
            drawn[..., n] += given.memory * drawn[..., n - 1]
        return np.asarray(sd * drawn)

    values = noise(shape, given.noise) + noise(shape[1:], given.common)
    within = WITHIN * chance.standard_normal(shape)
    within[1:] += within[0]  # The value of a candidate is its baseline's × their ratio.
    values += within
    if given.machine:
        values[:, given.machine_at :] += np.log1p(given.machine)
    if given.step:
        values[-1, given.at :] += np.log1p(given.step)
    new = chance.random(shape) >= given.lasting
    new[:, 0] = True
    if given.step:
        new[-1, given.at] = True
    new[: given.anchors, 1:] = False
    programs = np.cumsum(new).reshape(shape)
    there = chance.random(shape) >= given.missing
    there[:, [0, -1]] = True
    cells, records = np.nonzero(there)
    size = len(cells)
    errors = WITHIN * np.where(cells, np.sqrt(2), 1)
    readings = Readings(
        cells,
        records,
        values[there],
        np.hypot(errors, FLOOR[WALL]),
        programs[there].astype(np.int64),
        np.zeros(size, dtype=np.int64),
    )
    results = list(compute.segments(readings, compute.linked(readings), LEVEL))
    return results, [records[cells == n] for n in range(given.cells)]


def share(
    count: int, given: Setting, event: Callable[[list[Segments], list[Floats]], bool]
) -> float:
    """Return the share of histories with an event."""
    chance = np.random.default_rng([17, given.records])
    return sum(event(*history(chance, given)) for _ in range(count)) / count


def false_change(results: list[Segments], _: list[Floats]) -> bool:
    """Return whether a configuration has a confirmed change."""
    return any(change.confirmed for one in results for change in one.changes)


def any_change(results: list[Segments], _: list[Floats]) -> bool:
    """Return whether a configuration has a change, also in the first or last record alone."""
    return any(one.changes for one in results)


def located(given: Setting, near: int) -> Callable[[list[Segments], list[Floats]], bool]:
    """Return whether the change is found in its configuration, at most `near` records away."""

    def event(results: list[Segments], records: list[Floats]) -> bool:
        numbers = records[-1]
        return any(
            abs(int(np.searchsorted(numbers, given.at)) - change.at) <= near
            and (change.ratio > 1) == (given.step > 0)
            for change in results[-1].changes
        )

    return event


def covered(given: Setting) -> Callable[[list[Segments], list[Floats]], bool]:
    """Return whether a change contains the true place and size."""

    def event(results: list[Segments], records: list[Floats]) -> bool:
        place = int(np.searchsorted(records[-1], given.at))
        return any(
            change.before < place <= change.after and change.lo <= 1 + given.step <= change.hi
            for change in results[-1].changes
        )

    return event


STABLE = {
    "normal, 24 configurations": Setting(),
    "normal, 1 configuration": Setting(cells=1),
    "half of it common, no anchor": Setting(common=0.7, noise=0.7),
    "common 2x, 6 anchors": Setting(common=2.0, noise=1.0, anchors=6),
    "machine +10 % in the middle, 2 anchors": Setting(machine=0.1, anchors=2, machine_at=-2),
    "machine +10 % before the last 3, 1 anchor": Setting(machine=0.1, anchors=1, machine_at=-3),
    "programs last 2 records": Setting(lasting=0.5),
    "30 % missing": Setting(missing=0.3),
    "Student's t, 3 degrees": Setting(tails=3.0),
    "correlation 0.3": Setting(memory=0.3),
    "correlation 0.6": Setting(memory=0.6),
}
"""Noises are multiples of the noise of a row."""


def stable(count: int) -> bool:
    """Print the false changes of stable histories. Return whether a limit is exceeded."""
    broken = False
    for name, kind in STABLE.items():
        for noise in (0.01, 0.05) if name.startswith("normal") else (0.02,):
            shares = []
            for records in (4, 6, 10, 30, 100):
                at = records // 2 if kind.machine_at == -2 else records - 3
                unit = noise * (kind.noise if kind.noise >= 0.5 else 1.0)
                given = replace(
                    kind, records=records, noise=unit, common=noise * kind.common, machine_at=at
                )
                some = count if records < 300 else max(40, count // 4)
                shares.append((share(some, given, false_change), share(some, given, any_change)))
            text = "  ".join(f"{a:6.1%} {b:6.1%}" for a, b in shares)
            print(f"stable, noise {noise:.0%}, {name:<42} {text}", flush=True)
            if name.startswith("normal"):
                broken |= max(a for a, _ in shares) > LEVEL + 3 * (LEVEL / count) ** 0.5
    return broken


def steps(count: int) -> bool:
    """Print the detected changes. Return whether a promised one is not found."""
    broken = False
    for step in (0.02, 0.05, -0.05, 0.3):
        for records in (6, 10, 30, 100):
            row = []
            for after in (records // 2, 3, 2, 1):
                given = Setting(records=records, step=step, at=records - after)
                row += [share(count, given, located(given, near)) for near in (0, 1)]
            whole = Setting(records=records, step=step, at=records // 2)
            inside = share(count, whole, covered(whole)) / max(
                share(count, whole, located(whole, records)), 1e-9
            )
            print(
                f"step {step:+.0%}, noise 1%, {records:3} records; exactly, within one: "
                + "  ".join(f"{a:4.0%} {b:4.0%}" for a, b in zip(row[::2], row[1::2], strict=True))
                + f"  covered {inside:4.0%}",
                flush=True,
            )
            broken |= abs(step) >= LEVEL and records >= 30 and row[1] < 0.95
    return broken


STEPS = ((16, 0.05), (32, 0.3), (48, -0.1))
"""First commit and size of each change of a simulated repository."""


def repository(count: int) -> bool:
    """Print how many repositories of 64 commits show exactly their three changes."""
    chance, exact = np.random.default_rng(64), 0
    for _ in range(count):
        values = 0.01 * chance.standard_normal((8, 64))
        for at, size in STEPS:
            values[-1, at:] += np.log1p(size)
        series, records = (axis.ravel() for axis in np.indices(values.shape))
        readings = Readings(
            series,
            records,
            values.ravel(),
            np.full(values.size, np.hypot(WITHIN, FLOOR[WALL])),
            np.arange(values.size),
            np.zeros(values.size, dtype=np.int64),
        )
        results = list(compute.segments(readings, compute.linked(readings), LEVEL))
        places = [change.at for change in results[-1].changes]
        exact += (
            not any(one.changes for one in results[:-1])
            and len(places) == len(STEPS)
            and all(abs(place - at) <= 1 for place, (at, _) in zip(places, STEPS, strict=True))
        )
    print(f"64 commits, 8 configurations, noise 1%, +5%, +30% and -10%: {exact / count:.1%} exact")
    return exact < 0.9 * count


def main() -> int:
    """Print the tables; return 1 if a promise of the page is broken."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    return int(repository(count) | stable(count) | steps(count))


if __name__ == "__main__":
    sys.exit(main())
