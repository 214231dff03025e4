"""Regressions that the gate finds, on recordings (`docs/reference/gate.md#two-passes`).

Usage: ``python tests/validation/statistics/gate_detection.py [REPLAYS [ROUNDS]]``. Seeded. Every replay runs the gate
of the product with an A/A control, a margin of 1 % for wall and CPU time and at most ROUNDS rounds (default 60) in
each pass. Shorter recordings are left out. The candidate is a program with 3 or 5 % more work, or the former with its
times scaled to 4 %.
"""

# ruff: noqa: T201 -- a script that prints

import sys
from collections import Counter

import numpy as np
import replays
from demands import SOURCES

from bench_framework.model.plan.policies import GatePolicy
from bench_framework.stats.proportions import at_least

EFFECTS = (("+3 %", "B3", 1.0), ("+4 %", "B3", 1.04 / 1.03), ("+5 %", "B5", 1.0))
POLICY = GatePolicy(wall=0.01, cpu=0.01)  # type: ignore[call-arg]  # a field for each metric


def main(count: int, rounds: int) -> None:
    """Print how often each regression is found, passed and not judged, and the mean number of rounds of both passes."""
    print(f"{count} gates each, margin 1 %, at most {rounds} rounds in each pass")
    print(
        f"{'noise':26}{'effect':>8}{'found':>8}{'at least':>10}{'not judged':>12}{'passed':>8}{'rounds':>8}"
    )
    plan = replays.plan_of(["old", "changed"], rounds=rounds, control=True, gate=POLICY)
    for name, source in SOURCES.items():
        if source.rounds < rounds:
            continue
        for effect, arm, scale in EFFECTS:
            codes, used = Counter[int](), 0
            for replay in range(count):
                rng = np.random.default_rng([replay, *f"{name}/{effect}/found".encode()])
                gating, taken = replays.gated(plan, replays.real(source, arm, scale), rng)
                codes[gating.exit_code] += 1
                used += taken
            print(
                f"{name:26}{effect:>8}{codes[1]:8}{at_least(codes[1], count):10.1%}{codes[4]:12}{codes[0]:8}"
                f"{used / count:8.1f}",
                flush=True,
            )


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*given, *(100, 60)[len(given) :])
