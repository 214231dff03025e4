"""Live detection: how often and how fast +3 % of a program of 50 ms is found (`docs/method.md#live-detection`).

Usage: ``python tests/validation/statistics/live_detection.py [TRIES [EFFECT]]``; 200 tries of +3 % by default, some 8
s each. A try is one command, `benchctl run FILE --gate`, on `factor` (compute-bound), on the same with 3 % more work,
and on the A/A control: it measures until the gate can judge, and measures again what looks worse. Every fourth try
has no more work, so that any difference is a false positive. Each try prints a line to stderr. Then it prints a table
and exits with 1 if a mark is missed.

benchctl waits until another benchctl has finished measuring. The time of a try that waited does not count.
"""

# ruff: noqa: T201 -- a script that prints

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

from bench_framework.model.verdict import Verdict
from bench_framework.stats.proportions import at_least, at_most

TARGET_S = 0.05
NUMBER = "1125902456980891"
"""A number that takes Pollard's rho about 60 µs, so that 1 % of the work is a whole number of them."""
MOST_NUMBERS = 5000
"""Limit by the 128 KiB that Linux allows for one argument, which is hyperfine's command."""
TRIALS = 15
EQUAL_EVERY = 4
LATE_S = 1.0
"""A pass that begins this much later than the earliest one has waited."""
FOUND_LEAST, FALSE_MOST, MEDIAN_S = 0.98, 0.006, 8.0


@dataclass(frozen=True)
class Pass:
    """One record of a gate."""

    startup_s: float
    """From the command line, or from the end of the first pass, to the beginning of its record; longer if
    another benchctl was measuring."""
    measuring_s: float
    """From the first warm-up run to the end of the last round."""
    rounds: int
    ended: datetime


@dataclass(frozen=True)
class Try:
    """The result of one command."""

    more: bool
    """True if the candidate has more work."""
    worse: frozenset[str]
    """Times with the verdict worse in the first pass."""
    wrong: bool
    """True if a time was called equivalent or better."""
    gate: int
    """Exit code."""
    passes: tuple[Pass, ...]
    """The first measurement, and the second one if something looked worse."""
    took_s: float
    """The whole command."""


def pass_of(record: Path, began: datetime) -> Pass:
    """Return the times of a record, from its journal."""
    with (record / "journal.jsonl").open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    start = datetime.fromisoformat(lines[0]["started_at"])
    ended = next(line for line in lines if line["kind"] == "end")
    rounds = max(line["round"] for line in lines if line["kind"] == "round-end")
    at = datetime.fromisoformat(ended["at"])
    return Pass((start - began).total_seconds(), ended["elapsed_s"], rounds, at)


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
    """Run the gate on one of the two scenarios."""
    words = ["run", "more.yaml" if more else "equal.yaml", "--gate", "-S", f"measure.seed={seed}"]
    command = [sys.executable, "-m", "bench_framework", "--json", *words]
    at, began = datetime.now(UTC), time.monotonic()
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)
    took = time.monotonic() - began
    if done.returncode not in (0, 1, 4):
        sys.exit(f"`benchctl {' '.join(words)}` ended with {done.returncode}:\n{done.stderr}")
    gate, records = json.loads(done.stdout), folder / "results" / "live"
    passes = [pass_of(records / gate["record_id"], at)]
    if gate["confirmation"]:
        passes.append(pass_of(records / gate["confirmation"], passes[0].ended))
    shutil.rmtree(records)
    verdicts = {p["metric"]: Verdict(p["verdict"]) for p in gate["pairs"]}
    times = {metric: verdicts[metric] for metric in ("wall", "cpu")}
    return Try(
        more=more,
        worse=frozenset(metric for metric, verdict in times.items() if verdict.worse),
        wrong=any(v.better or v is Verdict.EQUIVALENT for v in times.values()),
        gate=done.returncode,
        passes=tuple(passes),
        took_s=took,
    )


def waited(tries: Sequence[Try]) -> list[bool]:
    """Return for each try whether it waited for another benchctl: one of its passes began late."""
    least = [
        min((t.passes[i].startup_s for t in tries if len(t.passes) > i), default=0.0)
        for i in range(2)
    ]
    return [
        any(p.startup_s > s + LATE_S for p, s in zip(t.passes, least, strict=False)) for t in tries
    ]


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
        "found: worse on wall or CPU time in the first pass, at 1 %",
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
        "a time called equivalent or better",
        "≤ 1 %",
        sum(t.wrong for t in more),
        len(more),
        most=0.01,
    )
    if equal:
        fails = sum(t.gate == 1 for t in equal)
        rate("equal programs fail the gate", "≤ 0.6 %", fails, len(equal), most=FALSE_MOST)
        print(
            f"equal programs: {sum(bool(t.worse) for t in equal)} worse in the first pass,"
            f" {sum(t.gate == 0 for t in equal)} of {len(equal)} passed"
        )
    for number, name in enumerate(("first", "second")):
        passes = [t.passes[number] for t in more if len(t.passes) > number]
        if passes:
            took, rounds = [p.measuring_s for p in passes], [p.rounds for p in passes]
            print(
                f"{name} pass, measuring alone: median {statistics.median(took):.1f} s, at most {max(took):.1f} s;"
                f" rounds: median {statistics.median(rounds):g}, at most {max(rounds)}"
            )
    on = {metric: sum(metric in t.worse for t in more) for metric in ("wall", "cpu")}
    print(f"found on wall time in {on['wall']}, on CPU time in {on['cpu']} of {len(more)}")
    took = [t.took_s for t, late in zip(more, waited(more), strict=True) if not late]
    if not took:
        print("every try waited for another benchctl: no time is reported")
        return met
    median = statistics.median(took)
    demand, bound = "both passes, the whole command: median", f"at most {max(took):.1f} s"
    row(demand, f"≤ {MEDIAN_S:g} s", f"{median:.1f} s", bound, median <= MEDIAN_S)
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
            last = tries[-1]
            print(
                f"try {number}: {effect if last.more else 0:+.0%}, exit {last.gate}, {last.took_s:.1f} s",
                file=sys.stderr,
                flush=True,
            )
    print(
        f"load {os.getloadavg()[0]:.1f} at the end;"
        f" {sum(waited(tries))} of {len(tries)} tries waited for another benchctl"
    )
    return 0 if table(tries) else 1


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(main(int(words[0]) if words else 200, float(words[1]) if len(words) > 1 else 0.03))
