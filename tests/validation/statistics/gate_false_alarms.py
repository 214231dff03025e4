"""False alarms of the gate over equal programs, on recordings (`docs/method.md#false-alarms-of-the-gate`).

Usage: ``python tests/validation/statistics/gate_false_alarms.py [REPLAYS [FAMILY…]]``. Seeded; 2 000 replays per
family, the default, take about half an hour. Families: small (one candidate), control (the same, with the A/A
control, and arms exchanged at random), step (as control; all times are 10 % longer from the middle of each
measurement on), long (the same with up to 300 rounds), large (8 variants × 3 inputs),
continued (3 candidates and control, up to 60 rounds; the record ends by the rule of the report, and the gate
continues it; some 2 s each, only if named). It exits with 1 if more than 0.6 % of the gates of a family report a
regression.

Every replay uses the gate of the product: the plan of a scenario with the defaults, early stopping, and a second
measurement of what looks worse, in newly drawn rounds. Few replays need all of this. Only those in which a look finds
a difference at twice the level of the gate are run completely. The first replays of each row are always run completely,
to check this shortcut.
"""

# ruff: noqa: T201 -- a script that prints

import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import replays
from demands import SOURCES
from noise import race
from replays import Draw

from bench_framework.extensions.doctor.noise_rates import cases_at, significant_verdicts
from bench_framework.features.gate.question import question_of
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.stats.proportions import at_most

MOST_FALSE = 12 / 2000
WHOLE = 20
"""Replays at the start of a row that are always run completely."""
CONTROLLED = {"control": 40, "long": 300}
"""Family of one candidate with the control → limit of rounds."""
STEP = 1.1
VARIANTS, SIZES = 8, ("1MiB", "2MiB", "3MiB")


@dataclass(frozen=True)
class Alarms:
    """Counts of the gates of one row."""

    tries: int
    confirmations: int
    """Gates that measured something again."""
    false: int
    """Gates that reported a regression."""


def suspects(plan: Plan, draw: Draw, rng: np.random.Generator) -> bool:
    """Return whether any look finds a difference at twice the gate's level."""
    times = draw(rng, plan, plan.measure.rounds_max)
    looks = question_of(plan).looks
    wider = replace(looks, level=2 * looks.level)
    pairs = []
    for cell in plan.cells:
        baseline = plan.baseline_cell(cell.input_id)
        control = plan.control_cell(cell.input_id)
        if cell.role is Role.CANDIDATE and baseline is not None:
            others = [baseline, *([control] if control else [])]
            pairs += list(zip(times[cell.id], *(times[c.id] for c in others), strict=True))
    return any(
        significant_verdicts(cases_at(pairs, wider, taken), wider)
        for taken in range(1, wider.count + 1)
    )


def replayed(plan: Plan, draw: Draw, count: int, *words: str, later: bool = False) -> Alarms:
    """Run `count` gates over equal programs; `later` as in `replays.gated`."""
    confirmations = false = 0
    for replay in range(count):
        seed = [replay, *"/".join((*words, "gate")).encode()]
        shortcut = later or suspects(plan, draw, np.random.default_rng(seed))
        if not shortcut and replay >= WHOLE:
            continue
        gating, _ = replays.gated(plan, draw, np.random.default_rng(seed), later=later)
        assert shortcut or not gating.in_state("suspicious", "worse"), (
            "the shortcut left out a gate that found a difference"
        )
        confirmations += gating.confirmation is not None
        false += bool(gating.in_state("worse"))
    return Alarms(count, confirmations, false)


def stepped(draw: Draw) -> Draw:
    """Return times of a machine that becomes slower in the middle of a measurement, for all programs alike."""

    def drawn(rng: np.random.Generator, plan: Plan, rounds: int) -> replays.Times:
        slow = np.where(np.arange(rounds) < rounds // 2, 1.0, STEP)
        return {
            cell_id: (wall * slow, cpu * slow)
            for cell_id, (wall, cpu) in draw(rng, plan, rounds).items()
        }

    return drawn


def row(name: str, family: str, alarms: Alarms, windows: int) -> bool:
    """Print a row; return whether its mark is met."""
    met = alarms.false <= MOST_FALSE * alarms.tries
    print(
        f"{name:26}{family:>26}{alarms.tries:7}{alarms.confirmations:15}{alarms.false:8}"
        f"{at_most(alarms.false, alarms.tries):10.2%}{windows:9}   {'met' if met else 'MISSED'}",
        flush=True,
    )
    return met


def main(count: int, families: list[str]) -> int:
    """Print the table; return 1 if a mark is missed."""
    began, met = time.process_time(), True
    print(
        f"Gates over equal programs, both passes, {count} of each; mark: at most 12 of 2 000 false alarms"
    )
    print(
        f"{'noise':26}{'family':>26}{'gates':>7}{'measured again':>15}{'false':>8}{'at most':>10}{'windows':>9}"
    )
    if "small" in families:
        plan = replays.plan_of(["old", "changed"])
        for name, source in SOURCES.items():
            alarms = replayed(plan, replays.relabelled(source), count, name)
            met &= row(
                name, "1 candidate, wall and CPU", alarms, source.rounds // plan.measure.rounds_max
            )
    for family, rounds in CONTROLLED.items():
        if family not in families:
            continue
        plan = replays.plan_of(["old", "changed"], rounds=rounds, control=True)
        for name, source in SOURCES.items():
            if source.rounds < rounds:
                continue
            alarms = replayed(plan, replays.shuffled(source), count, name, family)
            met &= row(name, f"control, ≤ {rounds} rounds", alarms, source.rounds // rounds)
    if "step" in families:
        plan = replays.plan_of(["old", "changed"], control=True)
        for name, source in SOURCES.items():
            alarms = replayed(plan, stepped(replays.shuffled(source)), count, name, "step")
            met &= row(
                name, "control, step of 10 %", alarms, source.rounds // plan.measure.rounds_max
            )
    if "large" in families:
        plan = replays.plan_of([f"arm-{n}" for n in range(VARIANTS)], SIZES)
        for name, source in (
            ("race of 24, busy", race()),
            ("race of 24, quiet", race("race24_quiet")),
        ):
            alarms = replayed(plan, replays.shuffled(source), count, name)
            met &= row(
                name, "8 variants × 3 inputs", alarms, source.rounds // plan.measure.rounds_max
            )
    if "continued" in families:
        plan = replays.plan_of(["old", "x", "y", "z"], rounds=60, control=True)
        for name, recording in (
            ("race of 24, busy", "race24"),
            ("race of 24, quiet", "race24_quiet"),
        ):
            source = race(recording)
            alarms = replayed(plan, replays.shuffled(source), count, name, "later", later=True)
            met &= row(name, "3 candidates, continued", alarms, source.rounds // 60)
    print(
        f"{time.process_time() - began:.0f} s of computing; {'every mark is met' if met else 'A MARK IS MISSED'}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    known = ["small", *CONTROLLED, "step", "large", "continued"]
    selected = sys.argv[2:] or known[:-1]
    if unknown := set(selected) - {*known}:
        sys.exit(f"no family {', '.join(sorted(unknown))}: {', '.join(known)}")
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, selected))
