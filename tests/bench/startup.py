"""Start-up of the commands that must be quick: median and range of 15 starts each, in turn."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "benchctl --version": [sys.executable, "-m", "bench_framework", "--version"],
    "benchctl --help (target: under 350 ms)": [sys.executable, "-m", "bench_framework", "--help"],
    "benchctl validate quickstart": [sys.executable, "-m", "bench_framework", "validate", "quickstart"],
    "benchctl plan quickstart (target: under 600 ms)": [
        sys.executable,
        "-m",
        "bench_framework",
        "plan",
        "quickstart",
    ],
}
STARTS = 15


def main() -> None:
    """Start each command in turn, so that a busy moment meets all alike."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(STARTS):
        for name, argv in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
            taken[name].append(time.perf_counter() - start)
    for name, values in taken.items():
        middle, low, high = statistics.median(values), min(values), max(values)
        print(f"{name:<50} {1e3 * middle:6.0f} ms  [{1e3 * low:.0f}, {1e3 * high:.0f}]")


if __name__ == "__main__":
    main()
