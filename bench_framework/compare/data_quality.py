"""What should make a reader careful: drift, other load, one binary under two names, no control."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Final

from scipy.stats import kendalltau, theilslopes

from bench_framework.compare import same_programs
from bench_framework.model import contention
from bench_framework.model.metrics import WALL
from bench_framework.model.run import Event
from bench_framework.stats.portable_math import expm1, log
from bench_framework.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.compare.samples import Sample
    from bench_framework.model.judgement import NoiseFloor
    from bench_framework.model.looks import Looks
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Block, Build

DRIFT_LEVEL: Final = 0.001
"""Of Kendall's test of the baseline against the round. Strict: noise comes in waves."""
FEWEST_FOR_DRIFT: Final = 12
CONTENDED_BLOCKS: Final = 0.10
"""Share of contended blocks that is worth a warning."""


def drift_events(plan: Plan, samples: Mapping[str, Sample]) -> list[Event]:
    """BX320 per input whose baseline moved with time by more than the margin."""
    found = []
    for item in plan.inputs:
        cell = plan.baseline_cell(item.id)
        sample = samples.get(cell.id) if cell else None
        if sample is None or cell is None:
            continue
        moved = drift(sample.of(WALL))
        if moved is None or abs(moved) < plan.judge.margin_of(WALL):
            continue
        way = "more" if moved > 0 else "less"
        found.append(
            Event(
                "BX320",
                f"the baseline took {format_percent(abs(moved), decimals=1)} {way} time at the end than at "
                f"the beginning{_on(plan, item.label)}",
                cell_id=cell.id,
                effect="comparisons hold: each round has its own baseline",
                help="look for a machine that warms up, throttles or fills its disk",
            )
        )
    return found


def drift(series: Mapping[int, float]) -> float | None:
    """Relative change of a series from its first round to its last; `None` without a trend.

    Kendall's test decides, the Theil-Sen slope of the logarithms tells the size.
    """
    rounds = sorted(r for r in series if series[r] > 0)
    if len(rounds) < FEWEST_FOR_DRIFT or len({series[r] for r in rounds}) == 1:
        return None
    values = [log(series[r]) for r in rounds]
    if not kendalltau(rounds, values).pvalue < DRIFT_LEVEL:
        return None
    slope = float(theilslopes(values, rounds)[0])
    return expm1(slope * (rounds[-1] - rounds[0]))


def contention_events(blocks: Sequence[Block]) -> list[Event]:
    """BX321 if the machine was in the way of many blocks; they stay in every statistic."""
    found = [flags for b in blocks if (flags := contention.flags(b))]
    if not blocks or len(found) <= CONTENDED_BLOCKS * len(blocks):
        return []
    counts = Counter(itertools.chain.from_iterable(found))
    told = ", ".join(
        f"{words}: {counts[flag]}" for flag, words in contention.WORDS.items() if counts[flag]
    )
    return [
        Event(
            "BX321",
            f"the machine was in the way of {len(found)} of {len(blocks)} blocks ({told})",
            effect="nothing is deleted; smaller differences stay inconclusive",
            help="stop other jobs; CPU time is affected least",
        )
    ]


def identical_events(plan: Plan, builds: Mapping[str, Build]) -> list[Event]:
    """BX311 per pair of variants that are one program."""
    return [
        Event(
            "BX311",
            f"{plan.variant(found.first).label} and {plan.variant(found.second).label} are one program: the change "
            "does not reach the binary (same code, same command)",
            effect=f"their difference is an A/A test; {same_programs.no_effect(found)}",
            help="check that the feature or flag is used by the code that runs",
        )
        for found in same_programs.same_programs(plan, builds)
    ]


def control_events(plan: Plan, floors: Sequence[NoiseFloor]) -> list[Event]:
    """BX330 per input whose control arm got a verdict; BX331 if there is none."""
    if not any(plan.control_cell(item.id) for item in plan.inputs):
        return [
            Event(
                "BX331",
                "the control arm is switched off",
                effect="there is no noise floor, and nothing shows that equal programs come out equal",
                help="remove `control: false`",
            )
        ]
    tripped = dict.fromkeys(f.input_id for f in floors if f.tripped)
    return [
        Event(
            "BX330",
            f"control tripped: the baseline differs from itself{_on(plan, plan.input(input_id).label)}",
            effect="every comparison of this input is inconclusive",
            help="something treats the two arms differently: position, page placement, or leftover state",
        )
        for input_id in tripped
    ]


def exploratory_events(looks: Looks) -> list[Event]:
    """BX340 if the planned rounds cannot reach the level."""
    if looks.decidable:
        return []
    return [
        Event(
            "BX340",
            f"exploratory: {looks.rounds[-1]} rounds cannot decide {looks.family} comparisons at "
            f"{format_percent(looks.level)}",
            effect="figures are shown, and every verdict is inconclusive",
            help=f"set `measure.rounds.max` to {looks.needed} or more",
        )
    ]


def _on(plan: Plan, label: str) -> str:
    return f" on {label}" if len(plan.inputs) > 1 and label else ""
