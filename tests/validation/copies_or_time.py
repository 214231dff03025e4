"""Does a repeated measurement differ because of new copies of the files, or because of the time in between?

Usage::

    python tests/validation/copies_or_time.py measure FOLDER --count 8 --every 10m SCENARIO [OPTION]...
    python tests/validation/copies_or_time.py table FOLDER

``measure`` makes two records of a scenario at the same time, session by session: one with new copies of programs and
inputs in every session, and one with the same copies in all of them. OPTIONs are those of ``benchctl run``. ``table``
prints the standard deviation between the sessions of each record, without the part that the rounds of a session
explain, as docs/method.md#sessions shows it.
"""

# ruff: noqa: T201 -- a script that prints

import argparse
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench_framework.model.result.judgement import Comparison
from bench_framework.stats.portable_math import log, normal_quantile
from bench_framework.store.records import Record

SAME = """
import atexit, os, sys
from bench_framework.execution import sessions
made, remove = {}, sessions._remove
def remove_first(*places):
    if not made:
        atexit.register(remove, *places)
        remove(*places)
sessions._remove = remove_first
def once(function):
    def copied(plan, item, place):
        key = function.__name__, getattr(item, "id", None) or item.input_id
        return made.get(key) or made.setdefault(key, function(plan, item, place))
    return copied
sessions._copied_build = once(sessions._copied_build)
sessions._copied_input = once(sessions._copied_input)
sessions.FOLDER += f"-same-{os.getpid()}"
from bench_framework.__main__ import main
sys.argv[0] = "benchctl"
main()
"""
"""benchctl with the copies of the first session in all sessions, in a folder of their own."""
BENCHCTL = "from bench_framework.__main__ import main; main()"


def measure(folder: Path, count: int, every: str, words: list[str]) -> None:
    """Measure both records at the same time. benchctl's lock separates their sessions."""
    programs = {"new": BENCHCTL, "same": SAME}
    running = [
        subprocess.Popen(
            [
                *(sys.executable, "-c", code, "--dir", str(folder / name), "run", *words),
                *("--sessions", str(count), "--every", every),
            ],
            env=os.environ | {"NO_COLOR": "1"},
            stdout=subprocess.DEVNULL,
        )
        for name, code in programs.items()
    ]
    if any(code for code in [process.wait() for process in running]):
        raise SystemExit(1)


def records(folder: Path) -> Iterator[tuple[str, Record]]:
    """Yield the name of the copies and each record of a folder."""
    for name in ("new", "same"):
        for path in sorted((folder / name).glob("*/*/journal.jsonl")):
            yield name, Record.open(path.parent)


def between(c: Comparison) -> tuple[float, float]:
    """Return the variance of the session estimates, and the mean of their squared standard errors."""
    assert c.sessions is not None
    z = normal_quantile(0.975)
    estimates = [log(r.ratio) for r in c.sessions.ratios]
    errors = [log(r.hi / r.lo) / (2 * z) for r in c.sessions.ratios if r.bounded]
    return statistics.variance(estimates), statistics.fmean(e * e for e in errors)


def row(comparisons: list[Comparison]) -> Mapping[str, float]:
    """Return the pooled standard deviations of several comparisons, in percent."""
    pairs = [between(c) for c in comparisons]
    total, within = (statistics.fmean(column) for column in zip(*pairs, strict=True))
    return {
        "sd": 100 * math.sqrt(total),
        "within": 100 * math.sqrt(within),
        "tau": 100 * math.sqrt(max(0.0, total - within)),
        "differ": sum(c.sessions.differ for c in comparisons if c.sessions is not None),
    }


def table(folder: Path) -> None:
    """Print one line per record and metric."""
    print(
        "copies  scenario    sessions  every   metric  comparisons  sd %  within %  between %  differ"
    )
    for name, record in records(folder):
        judgement, measured = record.judgement(), record.plan.measure
        if judgement is None:
            print(name, record.path.name, "is not finished")
            continue
        for metric in record.plan.judge.metrics:
            compared = [
                c
                for c in judgement.comparisons
                if c.metric == metric and c.sessions is not None and c.family != "memory"
            ]
            if not compared:
                print(name, record.path.name, metric, "has no comparison")
                continue
            figures = row(compared)
            print(
                f"{name:7} {record.plan.name:11} {measured.sessions:8} {measured.every_s / 60:5g} min  {metric:6}"
                f" {len(compared):12} {figures['sd']:5.2f} {figures['within']:9.2f} {figures['tau']:10.2f}"
                f" {figures['differ']:7g}"
            )


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure")
    one.add_argument("folder", type=Path)
    one.add_argument("--count", type=int, default=8)
    one.add_argument("--every", default="10m")
    commands.add_parser("table").add_argument("folder", type=Path)
    given, words = parser.parse_known_args()
    if given.command == "table":
        table(given.folder)
    else:
        measure(given.folder, given.count, given.every, words)


if __name__ == "__main__":
    main()
