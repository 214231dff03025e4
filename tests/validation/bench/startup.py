"""Start-up of the commands that must be quick, relative to a bare Python, in 15 alternating starts."""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

BARE = "python -c pass"
BENCHCTL = (sys.executable, "-m", "bench_framework")
COMMANDS = {
    BARE: (sys.executable, "-c", "pass"),
    "benchctl --version": (*BENCHCTL, "--version"),
    "benchctl --help": (*BENCHCTL, "--help"),
    "benchctl validate quickstart": (*BENCHCTL, "validate", "quickstart"),
    "benchctl plan quickstart": (*BENCHCTL, "plan", "quickstart"),
}
FIRST_RUN = "benchctl ab, to the first run"
"""The time until hyperfine starts a command of `ab` for the first time, without warm-up."""
TARGETS_MS = {"benchctl --help": 350, "benchctl plan quickstart": 600, FIRST_RUN: 600}
STARTS = 15
PROGRAM = """#!/bin/sh
[ "$(cat /proc/$PPID/comm)" = hyperfine ] && [ ! -e at ] && date +%s%N > part && mv part at
exit 0
"""


def first_run(env: Mapping[str, str]) -> float:
    """Return the seconds until `ab` measures, and interrupt it then."""
    with tempfile.TemporaryDirectory() as folder:
        program, at = Path(folder, "program"), Path(folder, "at")
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(0o755)
        argv = (*BENCHCTL, "ab", "-r", "1", "-w", "0", "./program 1", "./program 2")
        start = time.time_ns()
        with subprocess.Popen(argv, cwd=folder, env=env, stderr=subprocess.DEVNULL) as process:
            while not at.exists():
                if process.poll() is not None:
                    raise SystemExit("`ab` ended without a run")
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)
        return (int(at.read_text(encoding="ascii")) - start) / 1e9


def main() -> None:
    """Start each command in turn, so that a busy moment meets all alike; the first turn only fills caches."""
    taken: dict[str, list[float]] = {name: [] for name in (*COMMANDS, FIRST_RUN)}
    # Without its bytecode kept, Python would compile every module at every start: no user's does.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(STARTS + 1):
        for name, argv in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run(argv, stdout=subprocess.DEVNULL, check=True, env=env)
            if turn:
                taken[name].append(time.perf_counter() - start)
        until_run = first_run(env)
        if turn:
            taken[FIRST_RUN].append(until_run)
    bare = statistics.median(taken[BARE])
    for name, values in taken.items():
        middle, low, high = statistics.median(values), min(values), max(values)
        target = f"  (target: under {TARGETS_MS[name]} ms)" if name in TARGETS_MS else ""
        print(
            f"{name:<30} {middle / bare:6.1f} × a bare start"
            f" {1e3 * middle:6.0f} ms  [{1e3 * low:.0f}, {1e3 * high:.0f}]{target}"
        )


if __name__ == "__main__":
    main()
