"""Start-up of the commands that must be quick, relative to a bare Python, in 15 alternating starts."""

import os
import statistics
import subprocess
import sys
import time

BARE = "python -c pass"
BENCHCTL = (sys.executable, "-m", "bench_framework")
COMMANDS = {
    BARE: (sys.executable, "-c", "pass"),
    "benchctl --version": (*BENCHCTL, "--version"),
    "benchctl --help": (*BENCHCTL, "--help"),
    "benchctl validate quickstart": (*BENCHCTL, "validate", "quickstart"),
    "benchctl plan quickstart": (*BENCHCTL, "plan", "quickstart"),
}
TARGETS_MS = {"benchctl --help": 350, "benchctl plan quickstart": 600}
STARTS = 15


def main() -> None:
    """Start each command in turn, so that a busy moment meets all alike; the first turn only fills caches."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    # Without its bytecode kept, Python would compile every module at every start: no user's does.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(STARTS + 1):
        for name, argv in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run(argv, stdout=subprocess.DEVNULL, check=True, env=env)
            if turn:
                taken[name].append(time.perf_counter() - start)
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
