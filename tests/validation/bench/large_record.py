"""Cost of a large record: time and memory of its report, and of its runs as a DataFrame.

Two made records (nothing in them was measured): 200 cells in 100 rounds, judged, and reported by ``benchctl report``
in a process of its own; and 200 cells in 500 rounds, 100 000 runs and their control arms, loaded by `load`.

``python tests/validation/bench/large_record.py [FOLDER]`` keeps the records in FOLDER and uses what is there.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import made_record

import bench_framework as bf
from bench_framework.store import lines
from bench_framework.store.records import Record
from bench_framework.workflow.pages import MOST_EMBEDDED

CELLS = 200
REPORTED_ROUNDS = 100
LOADED_ROUNDS = 500
MOST_SECONDS = 15.0
MOST_BYTES = 1 << 30
MOST_PAGE_BYTES = 1_000_000 + 4 * MOST_EMBEDDED // 3
"""The page, and in base64 the runs that it contains."""
MOST_LOADING_SECONDS = 2.0
LOADS = 3
"""The best of so many: whatever else the machine does only adds to a time."""

REPORT = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run([sys.executable, "-m", "bench_framework", *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def measured(results: Path, rounds: int, *, judge: bool, cells: int = CELLS) -> Path:
    """A made record on disk, as `benchctl run` leaves it but for its pages."""
    plan = made_record.plan(cells, rounds)
    manifests = sorted((results / plan.name).glob("*/manifest.json"))
    if manifests:
        return manifests[0].parent
    blocks = tuple(made_record.blocks(plan, rounds))
    begin, end = blocks[0].started_at, blocks[-1].started_at
    with Record.create(results, plan, "version: 1\n", started_at=begin, benchctl="made") as record:
        record.prepare(
            at=begin,
            host=made_record.host(),
            builds=made_record.builds(plan),
            inputs=made_record.prepared(plan),
        )
        inputs = {cell.id: cell.input_id for cell in plan.cells}
        for place, block in enumerate(blocks):
            record.append(lines.Measured(block))
            following = blocks[place + 1] if place + 1 < len(blocks) else None
            if following is None or following.round != block.round:
                where = inputs[block.cell_id]
                record.append(
                    lines.RoundEnd(
                        where, block.round, warmup=False, at=block.started_at, elapsed_s=0.0
                    )
                )
        for look in made_record.looks(plan, rounds):
            record.append(lines.Looked(look))
        record.append(lines.End(end, 0.0))
        record.sync()
        record.save(made_record.judged(plan, blocks, rounds) if judge else None)
        record.seal()
        return record.path


def report(record: Path) -> tuple[float, int]:
    """Seconds and peak memory in bytes of ``benchctl report``."""
    argv = [sys.executable, "-c", REPORT, "report", str(record)]
    seconds, peak = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), int(peak)


def load(record: Path) -> tuple[float, int]:
    """Seconds until the runs are a DataFrame, and how many there are."""
    times = []
    for _ in range(LOADS):
        start = time.perf_counter()
        rows = len(bf.load(record).runs)
        times.append(time.perf_counter() - start)
    return min(times), rows


def main() -> None:
    """Print both with their limits; return 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    given = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        folder = given or Path(scratch)
        one = measured(folder / "reported", REPORTED_ROUNDS, judge=True)
        seconds, peak = report(one)
        page = (one / "report.html").stat().st_size
        loading, rows = load(measured(folder / "loaded", LOADED_ROUNDS, judge=False))
    checks = (
        (
            f"report of {CELLS} cells and {CELLS * REPORTED_ROUNDS} runs, seconds",
            seconds,
            MOST_SECONDS,
        ),
        ("its peak memory, MiB", peak / (1 << 20), MOST_BYTES / (1 << 20)),
        ("its page, bytes", page, MOST_PAGE_BYTES),
        (f"{rows} runs as a DataFrame, seconds (best of {LOADS})", loading, MOST_LOADING_SECONDS),
    )
    for name, value, most in checks:
        print(f"{name:<58} {value:10.4g}  (at most {most:g}){'' if value <= most else '  MISSED'}")
    if any(value > most for _, value, most in checks):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
