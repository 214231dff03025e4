"""False alarms of suites of five scenarios with equal programs (`docs/method.md#suites`).

Usage: ``python tests/validation/statistics/suite_false_alarms.py [SUITES [ROW…]]``. Seeded; 2 000 suites per row,
the default, take about a minute. Rows:

- recorded: a scenario for each of four recorded programs, with control, and one of a race with 3 candidates × 2
  inputs; early stopping, both passes.
- strict: simulated normal noise, 1, 1, 2, 3 and 5 candidates, no control, one interim analysis, and almost no
  tolerated growth, so that every false verdict counts.
- alone: as strict, but each scenario has the error rate of a single gate.

It exits with 1 if more than 1.6 % of the suites of the first two rows have a false alarm in the first pass, or more
than 0.6 % report a regression.

Every gate is that of the product. As in ``gate_false_alarms.py``, only replays in which a look finds a difference at
twice the level are run completely, and the first ones of each row.
"""

# ruff: noqa: T201 -- a script that prints

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import replays
from demands import SOURCES
from gate_false_alarms import WHOLE, suspects
from noise import Noise, normal, race
from replays import Draw

from bench_framework.features.suite import with_shares
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import GatePolicy
from bench_framework.stats.proportions import at_most

MOST_FIRST, MOST_FALSE = 32 / 2000, 12 / 2000
SIZES = (1, 1, 2, 3, 5)
ROWS = ("recorded", "strict", "alone")


@dataclass(frozen=True)
class Suites:
    """Counts of the suites of a row."""

    tries: int
    first_pass: int
    """Suites with a possible regression in a first pass."""
    false: int
    """Suites that reported a regression."""


def replayed(plans: Sequence[Plan], draws: Sequence[Draw], count: int, row: str) -> Suites:
    """Run `count` suites over equal programs."""
    first_pass = false = 0
    for replay in range(count):
        worse = possible = False
        for place, (plan, draw) in enumerate(zip(plans, draws, strict=True)):
            seed = [replay, place, *f"{row}/suite".encode()]
            shortcut = suspects(plan, draw, np.random.default_rng(seed))
            if not shortcut and replay >= WHOLE:
                continue
            gating, _ = replays.gated(plan, draw, np.random.default_rng(seed))
            again = [pair for pair in gating.pairs if pair.again is not None]
            beyond = any(pair.comparison.verdict.worse for pair in again)
            assert shortcut or not beyond, "the shortcut left out a gate that found a difference"
            possible |= beyond or bool(gating.in_state("worse"))
            worse |= bool(gating.in_state("worse"))
        first_pass += possible
        false += worse
    return Suites(count, first_pass, false)


def simulated(noise: Noise) -> Draw:
    """Return equal programs with simulated noise."""

    def draw(rng: np.random.Generator, plan: Plan, rounds: int) -> replays.Times:
        wall, cpu = (noise(rng, len(plan.cells), rounds) * replays.LONG for _ in range(2))
        return {cell.id: (wall[i], cpu[i]) for i, cell in enumerate(plan.cells)}

    return draw


def suite_of(row: str) -> tuple[list[Plan], list[Draw]]:
    """Return the plans of a row without shares, and where their times come from."""
    if row == "recorded":
        sources = [source for name, source in SOURCES.items() if "later" not in name]
        plans = [replays.plan_of(["old", "changed"], control=True) for _ in sources]
        plans.append(replays.plan_of(["old", "x", "y", "z"], ("1MiB", "2MiB"), control=True))
        return plans, [replays.shuffled(source) for source in (*sources, race())]
    strict = GatePolicy(wall=0.0001, cpu=0.0001)  # type: ignore[call-arg]
    plans = [replays.plan_of([f"arm-{n}" for n in range(size + 1)], gate=strict) for size in SIZES]
    once = [replace(plan, measure=replace(plan.measure, until="rounds")) for plan in plans]
    return once, [simulated(normal)] * len(once)


def main(count: int, rows: Sequence[str]) -> int:
    """Print the table; return 1 if a mark is missed."""
    began, met = time.process_time(), True
    print(
        f"Suites of five scenarios over equal programs, {count} of each; nominal in the first pass: 1 %"
    )
    print(f"{'row':12}{'suites':>8}{'first pass':>12}{'at most':>9}{'false':>7}{'at most':>9}")
    for row in rows:
        plans, draws = suite_of(row)
        if row != "alone":
            plans = list(with_shares(plans, gated=True))
        counts = replayed(plans, draws, count, row)
        bounds = [at_most(n, count) for n in (counts.first_pass, counts.false)]
        passed = counts.first_pass <= MOST_FIRST * count and counts.false <= MOST_FALSE * count
        met &= passed or row == "alone"
        print(
            f"{row:12}{count:8}{counts.first_pass:12}{bounds[0]:9.2%}{counts.false:7}{bounds[1]:9.2%}   "
            + ("–" if row == "alone" else "met" if passed else "MISSED"),
            flush=True,
        )
    print(f"{time.process_time() - began:.0f} s of computing")
    return 0 if met else 1


if __name__ == "__main__":
    selected = sys.argv[2:] or [*ROWS]
    if unknown := set(selected) - {*ROWS}:
        sys.exit(f"no row {', '.join(sorted(unknown))}: {', '.join(ROWS)}")
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, selected))
