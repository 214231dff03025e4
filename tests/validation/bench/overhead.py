"""Untimed cost of benchctl per run, hyperfine included: whole wall time minus the time inside timed processes.

Usage: ``python tests/validation/bench/overhead.py FOLDER``. Prints one line per kind of cost; judges nothing.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

SCENARIO = """\
version: 1
name: overhead
question: What does a run of 5 ms cost beyond itself?
worker: {command: [sleep]}
axes: {time: ["0.0040", "0.0041", "0.0042", "0.0043"]}
command: ["{bin}", "{time}"]
baseline: {time: "0.0040"}
measure: {rounds: 60, until: rounds, warmup: 2}
"""


def main(folder: Path) -> None:
    """Measure `sleep` for about 5 ms a run and print what benchctl added."""
    scenario = folder / "overhead.yaml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "bench_framework", "--json", "run", str(scenario), "--fresh"],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    record = folder / json.loads(done.stdout)["record"]
    with (record / "runs.csv").open(encoding="utf-8", newline="") as file:
        # Rows of other kinds are untimed runs (counters that are read once, after the last round).
        walls = [float(row["wall_s"]) for row in csv.DictReader(file) if row["kind"] == "timed"]
    lines = [
        json.loads(line)
        for line in (record / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    ends = [line["elapsed_s"] for line in lines if "elapsed_s" in line]
    blocks = sum("block" in line for line in lines)
    untimed = max(ends) - sum(walls)
    print(
        f"{len(walls)} runs in {blocks} blocks, median run {1e3 * sorted(walls)[len(walls) // 2]:.2f} ms\n"
        f"untimed per run   {1e3 * untimed / len(walls):.2f} ms (target: at most 12 ms)\n"
        f"untimed per block {1e3 * untimed / blocks:.2f} ms (one hyperfine call each)"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
