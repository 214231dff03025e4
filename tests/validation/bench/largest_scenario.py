"""Time and memory of ``benchctl`` at its limits: 1000 configurations, 100 inputs, 1000 rounds.

Nothing is measured: the records are made. A command that judges, renders or plans runs in a process of its own.

``python tests/validation/bench/largest_scenario.py [FOLDER]`` keeps the records in FOLDER and uses what is there.
With ``--product``, it also makes a record of 1000 configurations in 1000 rounds, or in as many as follow, and judges
and reports it.
"""

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from large_record import measured

SCENARIO = """
version: 1
name: largest
question: How long does a plan take?
worker: {{command: [/bin/true]}}
axes:
  arm: [{arms}]
  size: [{sizes}]
command: ["{{bin}}", "{{arm}}", "{{input}}"]
input: {{dataset: prose, size: "{{size}}", seed: 1}}
baseline: {{arm: a0}}
measure: {{rounds: 1000, until: rounds}}
"""
REFUSED = "BC203"
CALL = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run([sys.executable, "-m", "bench_framework", *sys.argv[1:]], capture_output=True, text=True)
seconds = time.perf_counter() - start
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, done.returncode)
print(done.stdout + done.stderr)
"""
LIMITS = {
    "plan of 3000 configurations, refused": (10.0, 300.0),
    "plan of 1000 configurations on 100 inputs": (30.0, 500.0),
    "report of 1000 configurations, 12 rounds": (180.0, 1500.0),
    "report of 25 configurations, 1000 rounds": (180.0, 1500.0),
    "site of both": (240.0, 1500.0),
}
"""The most seconds of processor time, and the most MiB."""
PRODUCT = ("report", "verify")
"""Commands on the record of ``--product``. They have no limit yet."""


def call(*words: str) -> tuple[float, float, float, int, str]:
    """Run benchctl. Return seconds, processor seconds, MiB of the largest process, exit code and output."""
    argv = [sys.executable, "-c", CALL, *words]
    first, _, text = subprocess.run(
        argv, check=True, capture_output=True, text=True
    ).stdout.partition("\n")
    seconds, cpu, peak, code = first.split()
    return float(seconds), float(cpu), float(peak), int(code), text


def scenario(folder: Path, arms: int) -> str:
    path = folder / f"largest-{arms}.yaml"
    sizes = ", ".join(f"{8 * number}KiB" for number in range(1, 101))
    names = ", ".join(f"a{number}" for number in range(arms))
    path.write_text(SCENARIO.format(arms=names, sizes=sizes))
    return str(path)


def main() -> int:
    """Print each with its limits; return 1 if one is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument(
        "--product", nargs="?", type=int, const=1000, help="rounds of 1000 configurations"
    )
    options = parser.parse_args()
    given, missed = options.folder, False
    with tempfile.TemporaryDirectory() as scratch:
        folder = given or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        results = folder / "results"
        wide = measured(results, 12, judge=False, cells=1000)
        long = measured(results, 1000, judge=False, cells=25)
        commands: list[tuple[str, ...]] = [
            ("plan", scenario(folder, 30)),
            ("plan", scenario(folder, 10)),
            ("report", str(wide)),
            ("report", str(long)),
            ("--dir", str(results), "site", str(folder / "site")),
        ]
        limits = LIMITS
        if options.product:
            rounds = options.product
            name = f"of 1000 configurations, {rounds} rounds"
            limits = LIMITS | {f"{command} {name}": (math.inf, math.inf) for command in PRODUCT}
            product = measured(folder / f"product-{rounds}", rounds, judge=False, cells=1000)
            commands += [(command, str(product)) for command in PRODUCT]
        for (name, most), words in zip(limits.items(), commands, strict=True):
            seconds, cpu, peak, code, text = call(*words)
            refused = REFUSED in text
            right = (code == 2 and refused) if "refused" in name else code == 0
            within = cpu <= most[0] and peak <= most[1]
            missed |= not (right and within)
            figures = f"{seconds:7.1f} s, {cpu:7.1f} s of processor time (at most {most[0]:g}), "
            figures += f"{peak:6.0f} MiB (at most {most[1]:g})"
            print(f"{name:<44} {figures}{'' if right and within else '  MISSED'}", flush=True)
            if not right:
                print(text[-600:])
        for record in (wide, long):
            print(f"page of {record.parent.name}: {(record / 'report.html').stat().st_size} bytes")
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
