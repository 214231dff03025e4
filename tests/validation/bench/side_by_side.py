"""Commands timed side by side: every round runs each of them once, in a fresh random order.

For the scripts of this folder that hold a worker against a peer. A ratio is paired by round, so that a slow
minute of the machine meets both sides; its interval is the one that benchctl's own reports use.
"""

import math
import os
import random
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench_framework.stats.intervals import typical

LEVEL = 0.95
PEERS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchctl" / "peers"
"""Where peers are installed by their own clients: cargo, pip."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One side: a command, or a function that returns the seconds it took."""

    name: str
    argv: tuple[str | Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: Path | None = None
    cwd: Path | None = None
    call: Callable[[], float] | None = None
    """In place of `argv`: does the work once and returns its seconds, by whatever clock it says."""
    before: Callable[[], object] | None = None
    """Run before each timing, outside it."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Seconds of one arm divided by those of another."""

    estimate: float
    low: float
    high: float
    rounds: int

    def __str__(self) -> str:
        return f"{self.estimate:.2f} [{self.low:.2f}, {self.high:.2f}]"


def measure(
    arms: Iterable[Arm], *, rounds: int = 15, warmup: int = 1, seed: int = 1
) -> dict[str, list[float]]:
    """Time every arm once per round; return the seconds by name, in the order of the rounds.

    Raises:
        RuntimeError: a command failed; its last line of stderr is in the message.
    """
    arms = tuple(arms)
    taken: dict[str, list[float]] = {arm.name: [] for arm in arms}
    order = random.Random(seed)
    for number in range(-warmup, rounds):
        for arm in order.sample(arms, len(arms)):
            if arm.before is not None:
                arm.before()
            seconds = arm.call() if arm.call is not None else _timed(arm)
            if number >= 0:
                taken[arm.name].append(seconds)
    return taken


def _timed(arm: Arm) -> float:
    with (arm.stdin or Path(os.devnull)).open("rb") as stdin:
        start = time.perf_counter()
        done = subprocess.run(
            [str(word) for word in arm.argv],
            env={**os.environ, **arm.env},
            cwd=arm.cwd,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        seconds = time.perf_counter() - start
    if done.returncode:
        output = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [
            "(nothing on stderr)"
        ]
        raise RuntimeError(f"{arm.name} ended with {done.returncode}: {output[0]}")
    return seconds


def ratio(numerator: list[float], denominator: list[float]) -> Ratio:
    """`numerator` ÷ `denominator`, paired by round, with its 95 % interval."""
    logs = np.log(np.array(numerator)) - np.log(np.array(denominator))
    result = typical(logs, LEVEL)
    return Ratio(math.exp(result.estimate), math.exp(result.lo), math.exp(result.hi), len(logs))


def rates(
    taken: Mapping[str, list[float]], size: int, unit: str = "MiB/s", per: int = 1 << 20
) -> None:
    """Print the median rate and range of every arm that handled `size` bytes (or lines, with their own unit)."""
    width = max(map(len, taken), default=0)
    for name, seconds in taken.items():
        middle, slowest, fastest = (
            size / per / s for s in (statistics.median(seconds), max(seconds), min(seconds))
        )
        print(
            f"  {name:<{width}}  {middle:9.1f} {unit}  [{slowest:.1f}, {fastest:.1f}]  n = {len(seconds)}"
        )


def target(
    words: str, result: Ratio, *, at_least: float | None = None, at_most: float | None = None
) -> bool:
    """Print a target with its figure; whether the estimate meets it. It judges nothing else: figures vary."""
    met = (at_least is None or result.estimate >= at_least) and (
        at_most is None or result.estimate <= at_most
    )
    bound = f"at least {at_least:g}" if at_least is not None else f"at most {at_most:g}"
    print(
        f"  {'met   ' if met else 'MISSED'}  {words}: {result}, target {bound}, {result.rounds} rounds"
    )
    return met
