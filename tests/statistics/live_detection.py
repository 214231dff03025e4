"""Live detection: how often and how fast +3 % of a program of 50 ms is found (`docs/method.md#live-detection`).

Usage: ``python tests/statistics/live_detection.py [TRIES [EFFECT]]``; 200 tries of +3 % by default, some 10 s each.
A try is one record: `benchctl run` on `factor` (compute-bound), on the same with 3 % more work, and on the A/A control;
then `benchctl gate`, which measures again what looks worse. Every fourth try has no more work, so that any difference
is a false positive. It prints a table and exits with 1 if a mark is missed.

benchctl waits until another benchctl has finished measuring. The time of a try that waited does not count.
"""

# ruff: noqa: T201 -- a script that prints

from __future__ import annotations

import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench_framework.features.noise.compute import at_least, at_most
from bench_framework.model.verdict import Verdict

TARGET_S = 0.05
NUMBER = "1125902456980891"
"""A number that takes Pollard's rho about 60 µs, so that 1 % of the work is a whole number of them."""
MOST_NUMBERS = 5000
"""Limit by the 128 KiB that Linux allows for one argument, which is hyperfine's command."""
TRIALS = 15
EQUAL_EVERY = 4
LATE_S = 1.0
"""A record that begins this much later than the earliest one has waited."""
FOUND_LEAST, FALSE_MOST = 0.98, 0.05
FIRST_MEDIAN_S, FIRST_P95_S, GATED_MEDIAN_S = 5.0, 10.0, 9.0


@dataclass(frozen=True)
class Try:
    """The result of one record."""

    more: bool
    """True if the candidate has more work."""
    worse: tuple[str, ...]
    """Metrics with the verdict worse."""
    better: bool
    equivalent: tuple[str, ...]
    gate: int
    """Exit code."""
    rounds: int
    startups_s: tuple[float, ...]
    """From each command line to the beginning of its record; longer if another benchctl was measuring."""
    measuring_s: float
    """From the first warm-up run to the end of the last round."""
    first_s: float
    """From the command line to the report."""
    gated_s: float
    """From the command line to the end of the gate, with its second measurement."""


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    document: dict[str, Any]
    """Its JSON document."""
    code: int
    began: datetime
    took_s: float


def benchctl(folder: Path, *words: str) -> Done:
    """Run a command in a folder, where it writes its records."""
    at, began = datetime.now(UTC), time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "bench_framework", "--json", *words],
        cwd=folder,
        text=True,
        capture_output=True,
        check=False,
    )
    took = time.monotonic() - began
    try:
        return Done(json.loads(done.stdout), done.returncode, at, took)
    except ValueError:
        sys.exit(f"`benchctl {' '.join(words)}` ended with {done.returncode}:\n{done.stderr}")


def measuring(record: Path) -> float:
    """Return the duration of the rounds of a record in seconds, from its journal."""
    with (record / "journal.jsonl").open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return max(float(line["elapsed_s"]) for line in lines if "elapsed_s" in line)


def startup(done: Done, record: Path) -> float:
    """Return the seconds from the command line to the beginning of its record."""
    with (record / "journal.jsonl").open(encoding="utf-8") as file:
        header = json.loads(file.readline())
    return (datetime.fromisoformat(header["started_at"]) - done.began).total_seconds()


def sized(path: str) -> int:
    """Return how many numbers take about 50 ms, a multiple of 100, by the fastest of a few runs."""
    walls = []
    for _ in range(TRIALS):
        began = time.monotonic()
        subprocess.run([path, *[NUMBER] * 100], stdout=subprocess.DEVNULL, check=True)
        walls.append(time.monotonic() - began)
    return min(MOST_NUMBERS // 200, max(1, round(TARGET_S / min(walls)))) * 100


def scenario(path: str, count: int, effect: float) -> dict[str, object]:
    """Return a scenario with every default of measuring and judging."""
    arms = {"plain": count, "changed": count + round(effect * count)}
    return {
        "version": 1,
        "name": "live",
        "question": "Is the changed one slower?",
        "worker": {"command": [path]},
        # Two equal commands would be refused as one variant. An unused variable makes them differ.
        "axes": {
            "arm": {name: {"args": [NUMBER] * n, "env": {"ARM": name}} for name, n in arms.items()}
        },
        "baseline": {"arm": "plain"},
        # The program prints a line for each number, so that more work has another answer.
        "answer": {"compare": "none"},
    }


def tried(folder: Path, seed: int, *, more: bool) -> Try:
    """Measure and judge one record, and run the gate on it."""
    name = "more.yaml" if more else "equal.yaml"
    run = benchctl(folder, "run", name, "--fresh", "-S", f"measure.seed={seed}")
    if run.code:
        sys.exit(f"`benchctl run {name}` ended with {run.code}: {run.document}")
    record = folder / run.document["record"]
    with (record / "comparisons.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            r
            for r in csv.DictReader(file)
            if r["kind"] == "headline" and r["metric"] in ("wall", "cpu")
        ]
    gate = benchctl(folder, "gate", str(record))
    startups, took = [startup(run, record)], measuring(record)
    if gate.document["confirmation"]:
        startups.append(startup(gate, record.parent / gate.document["confirmation"]))
    shutil.rmtree(record.parent)

    def having(*verdicts: Verdict) -> tuple[str, ...]:
        return tuple(r["metric"] for r in rows if r["verdict"] in verdicts)

    return Try(
        more=more,
        worse=having(*(v for v in Verdict if v.worse)),
        better=bool(having(Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN)),
        equivalent=having(Verdict.EQUIVALENT),
        gate=gate.code,
        rounds=max(int(row["rounds"]) for row in rows),
        startups_s=tuple(startups),
        measuring_s=took,
        first_s=run.took_s,
        gated_s=run.took_s + gate.took_s,
    )


def waited(tries: Sequence[Try]) -> list[bool]:
    """Return for each try whether it waited for another benchctl: its record began late."""
    least = min(s for t in tries for s in t.startups_s)
    return [max(t.startups_s) > least + LATE_S for t in tries]


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]


def table(tries: Sequence[Try]) -> bool:
    """Print demand, mark and result; return whether every mark is met."""
    more, equal = ([t for t in tries if t.more is kind] for kind in (True, False))
    met = True

    def row(demand: str, mark: str, result: str, bound: str, ok: bool) -> None:
        nonlocal met
        met &= ok
        print(
            f"{demand:62} │ {mark:>13} │ {result:>12} │ {bound:>16} │ {'met' if ok else 'MISSED'}"
        )

    def rate(
        demand: str, mark: str, hits: int, total: int, *, least: float = 0.0, most: float = 1.0
    ) -> None:
        bound = (
            f"at least {at_least(hits, total):.1%}"
            if least
            else f"at most {at_most(hits, total):.1%}"
        )
        row(demand, mark, f"{hits} of {total}", bound, least * total <= hits <= most * total)

    rate(
        "found: worse on wall or CPU time",
        "≥ 98 %",
        sum(bool(t.worse) for t in more),
        len(more),
        least=FOUND_LEAST,
    )
    rate(
        "the gate fails it, measured again (exit 1)",
        "≥ 98 %",
        sum(t.gate == 1 for t in more),
        len(more),
        least=FOUND_LEAST,
    )
    rate(
        "called equivalent on any metric, or better",
        "≤ 1 %",
        sum(bool(t.equivalent) or t.better for t in more),
        len(more),
        most=0.01,
    )
    if equal:
        wrong = sum(bool(t.worse) or t.better for t in equal)
        rate(
            "equal programs with a difference, at 5 %", "≤ 5 %", wrong, len(equal), most=FALSE_MOST
        )
        rate(
            "equal programs fail the gate",
            "≤ 0.6 %",
            sum(t.gate == 1 for t in equal),
            len(equal),
            most=0.006,
        )
    rounds = [t.measuring_s for t in more]
    print(
        f"measuring alone, every try: median {statistics.median(rounds):.1f} s, at most {max(rounds):.1f} s"
    )
    timed = [t for t, late in zip(more, waited(more), strict=True) if not late]
    if not timed:
        print("every try waited for another benchctl: no time is reported")
        return met
    first, gated = [t.first_s for t in timed], [t.gated_s for t in timed]
    total = f"{len(timed)} tries"
    row(
        "first pass, the whole command: median",
        "≤ 5 s",
        f"{statistics.median(first):.1f} s",
        total,
        statistics.median(first) <= FIRST_MEDIAN_S,
    )
    row(
        "first pass: 95 % of the tries within",
        "≤ 10 s",
        f"{quantile(first, 0.95):.1f} s",
        total,
        quantile(first, 0.95) <= FIRST_P95_S,
    )
    row(
        "with the confirmation: median",
        "≤ 9 s",
        f"{statistics.median(gated):.1f} s",
        total,
        statistics.median(gated) <= GATED_MEDIAN_S,
    )
    print(
        f"rounds of the first pass: median {statistics.median(t.rounds for t in more):g},"
        f" at most {max(t.rounds for t in more)}"
    )
    on = {metric: sum(metric in t.worse for t in more) for metric in ("wall", "cpu")}
    print(f"found on wall time in {on['wall']}, on CPU time in {on['cpu']} of {len(more)}")
    return met


def main(count: int, effect: float) -> int:
    """Measure and print the table; return 1 if a mark is missed."""
    path = shutil.which("factor")
    if path is None:
        sys.exit("the program factor is not on PATH: install coreutils")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder, numbers = Path(name), sized(path)
        for kind, more in (("more", effect), ("equal", 0.0)):
            (folder / f"{kind}.yaml").write_text(
                json.dumps(scenario(path, numbers, more)), encoding="utf-8"
            )
        print(
            f"factor of {numbers} numbers, {effect:+.0%}; {count} tries of it; {os.cpu_count()} cores, load {load:.1f}"
        )
        tries, number = list[Try](), 0
        while sum(t.more for t in tries) < count:
            number += 1
            tries.append(tried(folder, number, more=number % EQUAL_EVERY != 0))
    print(
        f"load {os.getloadavg()[0]:.1f} at the end;"
        f" {sum(waited(tries))} of {len(tries)} tries waited for another benchctl"
    )
    return 0 if table(tries) else 1


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(main(int(words[0]) if words else 200, float(words[1]) if len(words) > 1 else 0.03))
