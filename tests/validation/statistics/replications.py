"""Repeated measurements compared with their intervals: the tables of `docs/method.md#intervals` and `#instability`.

Usage: ``python tests/validation/statistics/replications.py``. Seeded; less than a minute. It reads the records of the
examples in the history of this repository, which a shallow clone lacks. It exits with 1 if a limit is not met.
"""

# ruff: noqa: T201 -- a script that prints

import csv
import gzip
import io
import math
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import noise
import numpy as np
import numpy.typing as npt

from bench_framework.stats.instability import FEWEST, examine_phases
from bench_framework.stats.intervals import Bounds, LabelInverter

Floats = npt.NDArray[np.float64]

ROOT = Path(__file__).parents[3]
EXAMPLES = ("word-tally", "nvme", "tokio", "runtimes", "smol")
CHANGED = ("tokio", "ed349297")
QUIET = (("word-tally", "525de3be"), ("smol", "ed349297"), ("tokio", "50a0b50b"))
LEAST_COMMON = 8
EFFECT = 0.05
SEED = 99


@dataclass(frozen=True)
class Compared:
    """A comparison of a record: log values of candidate, baseline and control, shape (rounds, runs)."""

    example: str
    commit: str
    wall: Floats
    cpu: Floats


def git(*words: str) -> bytes:
    """Return the output of git in this repository; nothing if it fails."""
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, check=False).stdout


def records() -> Iterator[tuple[str, str, list[dict[str, str]]]]:
    """Yield example, commit and runs of each record that was committed."""
    for example in EXAMPLES:
        path = f"results/examples/{example}/runs.csv.gz"
        known = set[tuple[int, str]]()
        for commit in git("log", "--format=%h", "--abbrev=8", "--", path).decode().split()[::-1]:
            if not (packed := git("show", f"{commit}:{path}")):
                continue
            rows = list(csv.DictReader(io.StringIO(gzip.decompress(packed).decode())))
            key = (len(rows), rows[0]["started_at"])
            if key not in known:
                known.add(key)
                yield example, commit, rows


def comparisons(example: str, commit: str, rows: list[dict[str, str]]) -> Iterator[Compared]:
    """Yield the comparisons of a record with the baseline of their input."""
    times: dict[str, dict[tuple[str, str], dict[int, list[tuple[float, float]]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for row in rows:
        timed = row.get("kind", "timed") == "timed" and row["warmup"] == "false"
        if timed and row["status"] == "ok":
            cpu = float(row["user_s"]) + float(row["sys_s"])
            runs = times[row["input"]][row["role"], row["variant"]][int(row["round"])]
            runs.append((float(row["wall_s"]), cpu))
    for cells in times.values():
        baselines = [key for key in cells if key[0] == "baseline"]
        controls = [key for key in cells if key[0] == "control"]
        for key in cells if baselines else ():
            if key == baselines[0]:
                continue
            sides = [cells[k] for k in (key, baselines[0], *(c for c in controls if c != key))]
            common = sorted(set.intersection(*(set(side) for side in sides)))
            if len(common) >= LEAST_COMMON:
                yield Compared(
                    example,
                    commit,
                    table([[np.median([w for w, _ in s[r]]) for s in sides] for r in common]),
                    table([[np.mean([c for _, c in s[r]]) for s in sides] for r in common]),
                )


def table(values: list[list[np.floating]]) -> Floats:
    """Return the logarithms of times, of which none is below a microsecond."""
    logs: Floats = np.log(np.maximum(1e-6, np.array(values)))
    return logs


def interval(values: Floats, *, batches: bool = True) -> Bounds:
    """Return the interval at 95 %, with or without the jackknife."""
    inverter = LabelInverter(np.ascontiguousarray(values))
    return inverter.interval(0.95) if batches else inverter.bounds(0.95)


def agree(one: Bounds, other: Bounds) -> bool:
    """Return whether the difference of two estimates is within their half-widths, added in quadrature."""
    return abs(one.estimate - other.estimate) <= math.hypot(one.half_width, other.half_width)


def p_of_change(values: Floats) -> float:
    """Return the p-value of a change of the ratio."""
    values = np.ascontiguousarray(values)
    return examine_phases(values, LabelInverter(values).estimate).p


class Limits:
    """Prints each figure with its limit, and counts those that miss it."""

    missed = 0

    def show(self, what: str, figure: str, limit: str, *, met: bool) -> None:
        """Print a row."""
        self.missed += not met
        print(f"{what:64} {figure:>24}  {limit:>10}  {'met' if met else 'NOT MET'}", flush=True)


def halves(limits: Limits, compared: list[Compared]) -> None:
    """Compare the first half of each record with the second."""
    long = [c for c in compared if len(c.wall) >= FEWEST]
    for metric in ("wall", "cpu"):
        by_example = defaultdict[str, list[tuple[bool, bool, float]]](list)
        for c in long:
            values: Floats = getattr(c, metric)
            parts = (values[: len(values) // 2], values[len(values) // 2 :])
            new, old = ([interval(p, batches=b) for p in parts] for b in (True, False))
            width = sum(i.half_width for i in new) / sum(i.half_width for i in old)
            by_example[c.example].append((agree(*new), agree(*old), math.log(width)))
        every = [row for rows in by_example.values() for row in rows]
        new_share, old_share = (np.mean([row[n] for row in every]) for n in (0, 1))
        label = f"halves agree, {metric}, {len(every)} comparisons (test part alone)"
        text = f"{100 * new_share:.1f} % ({100 * old_share:.1f} %)"
        limits.show(label, text, "≥ 93 %", met=bool(new_share >= 0.93))
        (worst, name), (old_worst, _) = (
            min((float(np.mean([row[n] for row in rows])), e) for e, rows in by_example.items())
            for n in (0, 1)
        )
        text = f"{name} {100 * worst:.1f} % ({100 * old_worst:.1f} %)"
        limits.show(f"… worst example, {metric}", text, "≥ 91 %", met=bool(worst >= 0.91))
        wider = math.exp(float(np.mean([row[2] for row in every])))
        limits.show(f"… width ÷ test part, {metric}", f"{wider:.2f}", "≤ 1.50", met=wider <= 1.5)


def draws(rng: np.random.Generator, values: Floats, rounds: int) -> Floats:
    """Return a window of recorded rounds with labels drawn anew, and a constant effect of the candidate."""
    start = rng.integers(0, len(values) - rounds + 1)
    order = rng.permuted(np.tile(np.arange(values.shape[1]), (rounds, 1)), axis=1)[:, :3]
    drawn: Floats = np.take_along_axis(values[start : start + rounds], order, axis=1).copy()
    drawn[:, 0] += EFFECT
    return drawn


def constant_effects(limits: Limits) -> None:
    """Test coverage and false changes where the effect is constant."""
    rng = np.random.default_rng(SEED)
    series = []
    for work in noise.WORKS:
        for session in ("busy1", "quiet1"):
            recording = noise.recorded(work, session)
            for metric in (recording.wall, recording.cpu):
                values = np.stack([metric[arm] for arm in noise.ARMS], axis=1)
                series.append(np.log(np.maximum(1.0, values)))
    covered, p_values = defaultdict[int, list[bool]](list), []
    for values in series:
        for rounds in (12, 27, 60):
            for _ in range(25 if len(values) >= rounds else 0):
                bounds = interval(draws(rng, values, rounds))
                covered[rounds].append(bounds.lo <= EFFECT <= bounds.hi)
        for rounds in (27, 60, 90):
            windows = range(150 if len(values) >= rounds else 0)
            p_values += [p_of_change(draws(rng, values, rounds)) for _ in windows]
    for rounds, hits in covered.items():
        label = f"covers a constant +5 %, {rounds} rounds, {len(hits)} windows"
        share = float(np.mean(hits))
        limits.show(label, f"{100 * share:.1f} %", "≥ 94 %", met=share >= 0.94)
    for level, most in ((0.01, 0.015), (0.001, 0.003)):
        share = float(np.mean([p <= level for p in p_values]))
        label = f"a change at p ≤ {100 * level:g} %, constant effect, {len(p_values)} windows"
        limits.show(label, f"{100 * share:.2f} %", f"≤ {100 * most:g} %", met=share <= most)


def changes(limits: Limits, compared: list[Compared]) -> None:
    """Count the unstable comparisons of a record that changed, and of quiet ones."""
    for example, commit in (CHANGED, *QUIET):
        group = [c.wall for c in compared if (c.example, c.commit) == (example, commit)]
        group = [values for values in group if len(values) >= 12]
        count = sum(p_of_change(values) * len(group) <= 0.01 for values in group)
        changed = (example, commit) == CHANGED
        limit, met = ("≥ 4", count >= 4) if changed else ("0", count == 0)
        text = f"{count} of {len(group)}"
        limits.show(
            f"unstable comparisons of {example} {commit}", text, limit, met=met and bool(group)
        )


def main() -> None:
    """Print all figures."""
    limits = Limits()
    compared = [c for record in records() for c in comparisons(*record)]
    if not compared:
        sys.exit("this clone has no history: run `git fetch --unshallow`")
    halves(limits, compared)
    constant_effects(limits)
    changes(limits, compared)
    sys.exit(limits.missed > 0)


if __name__ == "__main__":
    main()
