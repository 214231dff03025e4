"""Comparison of two records by an anchor: the table of `docs/method.md#two-records`.

Usage: ``python tests/validation/statistics/sessions.py [PAIRS]``. Seeded; 1 000 pairs of sessions per figure take ten
seconds each. It exits with 1 if equal programs get a verdict in more than 5 % of the comparable pairs, as long as
cells differ between sessions by no more than copies of one binary.
"""

# ruff: noqa: T201 -- a script that prints

import random
import sys
from collections import Counter

from bench_framework.compare.samples import Sample
from bench_framework.features.record_comparison import compute as record_comparison
from bench_framework.features.record_comparison.anchors import Side
from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.plan import Cell, Input, Role, Variant
from bench_framework.model.plan.policies import AnswerPolicy, JudgePolicy
from bench_framework.model.record.run import Build
from bench_framework.model.result.judgement import CellState
from bench_framework.model.verdict import Verdict
from tests.build import make_plan
from tests.unit.machine import HOST

ROUNDS = 20
NOISE = 0.01
SHIFT, WAVE = 0.004, 0.003
"""Effect of the machine on all cells of a session: standard deviation, and height of a wave."""
MOST_FALSE = 0.05
ITEM = Input("", (), None)
VARIANTS = tuple(
    Variant(name, (("arm", name),), BuildSpec("crate", "prog", features=(name,)))
    for name in ("anchor", "changed")
)
CELLS = tuple(
    Cell(v.label, v.id, ITEM.id, v.label, role, ((BIN,),))
    for v, role in zip(VARIANTS, (Role.BASELINE, Role.CANDIDATE), strict=True)
)
PLAN = make_plan(
    VARIANTS,
    (ITEM,),
    CELLS,
    name="sessions",
    answer=AnswerPolicy("none"),
    judge=JudgePolicy(metrics=("wall",)),
)


def session(name: str, chance: random.Random, effect: float, placement: float) -> Side:
    """Return a record with a shift of all cells, one of each cell, and skewed noise."""
    shift, wave = 1 + chance.gauss(0, SHIFT), chance.uniform(0, WAVE)
    samples = {}
    for cell in CELLS:
        factor = (1 + (effect if cell.label == "changed" else 0)) * (1 + chance.gauss(0, placement))
        wall = {
            number: 0.05
            * shift
            * factor
            * (1 + wave * (number % 7))
            * (1 + chance.expovariate(1 / NOISE))
            for number in range(1, ROUNDS + 1)
        }
        samples[cell.id] = Sample(cell.id, {"wall": wall}, dict.fromkeys(wall, 1))
    builds = {}
    for variant in VARIANTS:
        assert variant.build is not None
        code = variant.label + (name if variant.label == "changed" else "")
        builds[variant.build.id] = Build(variant.build.id, ok=True, sha256=code)
    states = {cell.id: CellState(cell.id, "measured", ROUNDS, 0) for cell in CELLS}
    return Side(name, PLAN, builds, {}, HOST, samples, states)


def verdicts(count: int, effect: float, placement: float) -> Counter[Verdict]:
    """Count the verdicts of the changed cell over `count` pairs of sessions."""
    counts: Counter[Verdict] = Counter()
    for seed in range(count):
        chance = random.Random(f"{seed}/{effect}/{placement}")
        sides = (session("A", chance, 0.0, placement), session("B", chance, effect, placement))
        (row,) = (
            r
            for r in record_comparison.bridge(*sides, metrics=("wall",)).cells
            if r.role == "changed"
        )
        counts[row.comparison.verdict] += 1
    return counts


def main() -> int:
    """Print the table; return 1 if the error rate is too high."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    broken = False
    for placement in (0.0, 0.0025, 0.005):
        for effect in (0.0, 0.02, 0.03, 0.05):
            counts = verdicts(count, effect, placement)
            refused = counts.pop(Verdict.NOT_COMPARABLE, 0)
            judged = sum(counts.values())
            decided = sum(n for verdict, n in counts.items() if verdict.decided)
            faster = sum(
                n
                for verdict, n in counts.items()
                if verdict in (Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN)
            )
            print(
                f"each cell by itself {placement:.2%}, change {effect:.0%}: {refused} of {count} refused; of the rest "
                f"{decided / judged:.1%} different, {faster / judged:.1%} as faster, "
                f"{counts[Verdict.EQUIVALENT] / judged:.1%} equivalent",
                flush=True,
            )
            broken |= (
                not effect
                and placement <= record_comparison.PLACEMENT / 2
                and decided > MOST_FALSE * judged
            )
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
