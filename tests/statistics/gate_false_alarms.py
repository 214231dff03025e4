"""How often the gate blames equal programs: whole gates, both passes, on recordings; docs/method.md, section 7.

Usage: ``python tests/statistics/gate_false_alarms.py [REPLAYS [FAMILY…]]``. Seeded; 2 000 replays per family, the
default, compute for about half an hour. Families: small (one candidate), large (8 variants × 3 inputs). Exits 1 where
more than 0.6 % of a family's gates blame anything.

Every replay is the product's own gate: the plan of a scenario with the defaults, early stopping by its own looks, and
what looks worse measured again in rounds that are drawn afresh. Few replays need all of that: what no look finds worse
at twice the level of the gate is nothing that a gate which stops earlier could find, since P = J · smallest p never
grows with a further look, and Holm rejects no more for larger p. Only the others are replayed whole. That the shortcut
leaves nothing out is checked on the first replays of each row: they are replayed whole in any case.
"""

# ruff: noqa: T201 -- a script that prints

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import replays
from demands import SOURCES
from noise import race
from replays import Draw

from bench_framework.features.gate import compute as gate
from bench_framework.features.noise.compute import at_most, cases_at, rules_of, tells_apart
from bench_framework.model.plan import Plan, Role

MOST_FALSE = 12 / 2000
WHOLE = 20
"""Replays at the start of a row that take no shortcut."""
VARIANTS, SIZES = 8, ("1MiB", "2MiB", "3MiB")


@dataclass(frozen=True)
class Found:
    """What became of the gates of one row."""

    tries: int
    suspected: int
    """Gates that measured something again."""
    false: int
    """Gates that blamed something."""


def suspects(plan: Plan, draw: Draw, rng: np.random.Generator) -> bool:
    """Whether any look of the record would call anything different at twice the gate's level."""
    times = draw(rng, plan, plan.measure.rounds_max)
    looks = gate.strict_looks(plan)
    wider = replace(looks, level=2 * looks.level)
    pairs = []
    for cell in plan.cells:
        baseline = plan.baseline_cell(cell.input_id)
        if cell.role is Role.CANDIDATE and baseline is not None:
            pairs += list(zip(times[cell.id], times[baseline.id], strict=True))
    cases = cases_at(pairs, wider, wider.count, seed=plan.measure.seed)
    return bool(tells_apart(cases, rules_of(wider, plan.measure.seed)))


def replayed(plan: Plan, draw: Draw, count: int, *words: str) -> Found:
    """So many gates over equal programs."""
    suspected = false = 0
    for replay in range(count):
        seed = [replay, *"/".join((*words, "gate")).encode()]
        shortcut = suspects(plan, draw, np.random.default_rng(seed))
        if not shortcut and replay >= WHOLE:
            continue
        found = replays.gated(plan, draw, np.random.default_rng(seed))
        assert shortcut or found.confirmation is None, (
            "the shortcut left out a gate that found something"
        )
        suspected += found.confirmation is not None
        false += bool(found.of("worse"))
    return Found(count, suspected, false)


def row(name: str, family: str, found: Found, windows: int) -> bool:
    """Print a row; whether its mark is met."""
    met = found.false <= MOST_FALSE * found.tries
    print(
        f"{name:26}{family:>26}{found.tries:7}{found.suspected:15}{found.false:8}"
        f"{at_most(found.false, found.tries):10.2%}{windows:9}   {'met' if met else 'MISSED'}",
        flush=True,
    )
    return met


def main(count: int, families: list[str]) -> int:
    """Print the table; 1 if a mark is missed."""
    began, met = time.process_time(), True
    print(
        f"Gates over equal programs, both passes, {count} of each; to pass: at most 12 of 2 000 blame anything"
    )
    print(
        f"{'noise':26}{'family':>26}{'gates':>7}{'measured again':>15}{'blamed':>8}{'at most':>10}{'windows':>9}"
    )
    if "small" in families:
        plan = replays.plan_of(["old", "changed"])
        for name, source in SOURCES.items():
            found = replayed(plan, replays.relabelled(source), count, name)
            met &= row(
                name, "1 candidate, wall and CPU", found, source.rounds // plan.measure.rounds_max
            )
    if "large" in families:
        plan = replays.plan_of([f"arm-{n}" for n in range(VARIANTS)], SIZES)
        for name, source in (
            ("race of 24, busy", race()),
            ("race of 24, quiet", race("race24_quiet")),
        ):
            found = replayed(plan, replays.shuffled(source), count, name)
            met &= row(
                name, "8 variants × 3 inputs", found, source.rounds // plan.measure.rounds_max
            )
    print(
        f"{time.process_time() - began:.0f} s of computing; {'every mark is met' if met else 'A MARK IS MISSED'}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    asked = sys.argv[2:] or ["small", "large"]
    if unknown := set(asked) - {"small", "large"}:
        sys.exit(f"no family {', '.join(sorted(unknown))}: small, large")
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, asked))
