"""Time of ``benchctl history`` for 3 000 made records of 24 configurations, in a process of its own.

``python tests/validation/bench/long_history.py [FOLDER]`` keeps the records in FOLDER and uses what is there.
"""

import argparse
import json
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import made_record

from bench_framework.model.plan.build_spec import stable_id
from bench_framework.model.plan.plan import Plan, Role
from tests.unit.workflow.history_records import write_record

RECORDS = 3000
MOST_SECONDS = 5.0
STEP_AT = 2000
LASTING = 10
"""Records after which the programs change."""
TIMES = 3


def scenario() -> Plan:
    """Return a plan of 24 configurations, without a control."""
    plan = made_record.plan(25, 20)
    cells = tuple(c for c in plan.cells if c.role is not Role.CONTROL)[:24]
    return replace(plan, cells=cells)


def write_records(results: Path, plan: Plan) -> None:
    """Write the records: noise of 1 % between them, and a step of 5 % in the last configuration."""
    chance = random.Random(3)
    times = {
        cell.id: made_record.seconds(plan.variant(cell.variant_id), plan.input(cell.input_id))
        for cell in plan.cells
    }
    for number in range(RECORDS):
        builds = [
            replace(
                build,
                revision=(stable_id(number) * 4)[:40],
                code_sha256=stable_id(build.id, number // LASTING) * 5,
            )
            for build in made_record.builds(plan)
        ]
        if number == STEP_AT:
            times[plan.cells[-1].id] *= 1.05
        medians = {cell: time * math.exp(chance.gauss(0, 0.01)) for cell, time in times.items()}
        inputs = made_record.prepared(plan)
        write_record(results, plan, number, builds, medians, host=made_record.host(), inputs=inputs)


def measure(results: Path, name: str, *options: str) -> tuple[float, float]:
    """Return the seconds and the CPU seconds of the command."""
    command = [sys.executable, "-m", "bench_framework", "--dir", str(results), "history", name]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*command, *options], check=True, capture_output=True, text=True)
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if options:
        document = json.loads(done.stdout)
        changes = [change for one in document["series"] for change in one["changes"]]
        assert (document["records"], len(changes)) == (RECORDS, 1), document["left_out"][:3]
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the times with their limit; return 1 if it is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    given, late = parser.parse_args().folder, False
    with tempfile.TemporaryDirectory() as scratch:
        results, plan = given or Path(scratch), scenario()
        if not (results / plan.name).is_dir():
            write_records(results, plan)
        for options in ((), ("--json",)):
            seconds, cpu = min(measure(results, plan.name, *options) for _ in range(TIMES))
            text = f"history of {RECORDS} records of {len(plan.cells)} configurations {options}"
            print(
                f"{text}: {seconds:.3g} s, CPU {cpu:.3g} s  (at most {MOST_SECONDS:g} s without options)"
            )
            late |= not options and seconds > MOST_SECONDS
    if late:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
