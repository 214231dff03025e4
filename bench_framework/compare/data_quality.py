"""Noise floors, and warnings about drift, other load, identical programs and the A/A control."""

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from bench_framework.compare import same_programs
from bench_framework.compare.samples import Sample
from bench_framework.compare.stage import Stage
from bench_framework.compare.verdict import PLAIN_LEVEL
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import Input, Plan
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record import contention
from bench_framework.model.record.run import Block, Build, Event
from bench_framework.model.result.judgement import Comparison, NoiseFloor
from bench_framework.model.verdict import Interval
from bench_framework.stats.portable_math import expm1, log, normal_quantile
from bench_framework.text.errors import new_event
from bench_framework.text.names import listed
from bench_framework.text.numbers import format_clock, format_percent
from bench_framework.text.words import noun, requirement
from bench_framework.text.write import render
from bench_framework.units import counted

DRIFT_LEVEL: Final = 0.001
"""Level of Kendall's test for drift. It is strict because noise is autocorrelated."""
FEWEST_FOR_DRIFT: Final = 12
"""Fewest rounds for a test of drift."""
CONTENDED_BLOCKS: Final = 0.10
"""Share of disturbed blocks above which the report has a warning."""


def drift_events(plan: Plan, samples: Mapping[str, Sample]) -> list[Event]:
    """Return BX320 for every input whose baseline drifted by at least the margin."""
    events = []
    for item in plan.inputs:
        cell = plan.baseline_cell(item.id)
        if cell is None or cell.id not in samples:
            continue
        moved = drift(samples[cell.id].values(WALL))
        if moved is None or abs(moved) < plan.judge.margin_of(WALL):
            continue
        events.append(
            new_event(
                "BX320",
                "warning",
                cell.id,
                change=format_percent(abs(moved), decimals=1),
                longer=moved > 0,
                input=_name(plan.inputs, item.label),
            )
        )
    return events


def drift(series: Mapping[int, float]) -> float | None:
    """Return the relative change of a series from its first to its last round; `None` if no trend.

    The test of Mann and Kendall decides whether there is a trend (normal approximation with a
    continuity correction; ties make it stricter). Its size is the Theil-Sen slope, the median slope
    between two rounds, of the logarithms.
    """
    rounds = sorted(r for r in series if series[r] > 0)
    n = len(rounds)
    if n < FEWEST_FOR_DRIFT:
        return None
    earlier, later = np.triu_indices(n, 1)
    values, places = np.array([log(series[r]) for r in rounds]), np.array(rounds, dtype=float)
    growth = values[later] - values[earlier]
    concordance = abs(int(np.sign(growth).sum()))
    sd = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    if concordance - 1 < -normal_quantile(DRIFT_LEVEL / 2) * sd:
        return None
    slope = float(np.median(growth / (places[later] - places[earlier])))
    return expm1(slope * (rounds[-1] - rounds[0]))


def disturbed(blocks: Sequence[Block]) -> Reason | None:
    """Return the remark that other load disturbed over a tenth of the blocks, if so; statistics keep them."""
    flagged = [flags for b in blocks if (flags := contention.flags(b))]
    if not blocks or len(flagged) <= CONTENDED_BLOCKS * len(blocks):
        return None
    causes = contention.loads(Counter(itertools.chain.from_iterable(flagged)))
    return Reason(ReasonCode.DISTURBED, (len(flagged), len(blocks), causes))


def contention_events(blocks: Sequence[Block]) -> list[Event]:
    """Return BX321 if other load disturbed many blocks."""
    remark = disturbed(blocks)
    return [new_event("BX321", what=remark)] if remark is not None else []


def identical_events(plan: Plan, builds: Mapping[str, Build]) -> list[Event]:
    """Return BX311 for every pair of variants that are the same program."""

    def event(pair: same_programs.SameProgram) -> Event:
        first, second = (plan.variant(v).label for v in (pair.first, pair.second))
        if not pair.fact.built:
            return new_event("BX311.files", first=first, second=second)
        if plan.revisions is not None:
            return new_event("BX311.revisions", first=first, second=second)
        effect = render("no_effect", pair.fact)
        return new_event("BX311.builds", first=first, second=second, sentence=effect)

    return [event(pair) for pair in same_programs.same_programs(plan, builds)]


def control_events(plan: Plan, floors: Sequence[NoiseFloor]) -> list[Event]:
    """Return BX330 for every input whose A/A control differs; BX331 if there is no control."""
    if not any(plan.control_cell(item.id) for item in plan.inputs):
        if plan.measure.by_t:
            return []  # BX345 says it
        if not plan.measure.control_left_out or plan.measure.budget_s is None:
            return [new_event("BX331")]
        return [new_event("BX331.no-time", budget=format_clock(plan.measure.budget_s))]
    tripped: dict[str, list[str]] = {}
    for f in floors:
        if f.tripped:
            tripped.setdefault(f.input_id, []).append(noun(f.metric))
    return [
        new_event(
            "BX330",
            metrics=listed(nouns),
            input=_name(plan.inputs, plan.input(input_id).label),
        )
        for input_id, nouns in tripped.items()
    ]


def few_rounds_events(plan: Plan, looks: Looks) -> list[Event]:
    """Return BX345 if a t test takes the place of the label test, BX340 if no verdict is possible."""
    if looks.by_t and plan.measure.budget_s is not None:
        rounds, budget = counted(looks.rounds[-1], "round"), format_clock(plan.measure.budget_s)
        alone = not any(plan.control_cell(item.id) for item in plan.inputs)
        return [new_event("BX345", rounds=rounds, budget=budget, alone=alone)]
    if looks.decidable:
        return []
    return [
        new_event(
            "BX340",
            rounds=counted(looks.rounds[-1], "round"),
            comparisons=counted(looks.family, "comparison"),
            level=format_percent(looks.level),
            requirement=requirement(looks),
            needed=looks.needed,
        )
    ]


def noise_floors(stage: Stage, control: Sequence[Comparison]) -> tuple[NoiseFloor, ...]:
    """Return the noise floors of an input by metric (`docs/method.md#aa-control`)."""
    here = stage.input_id
    floors = {metric: NoiseFloor(here, metric, None) for metric in stage.policy.sampled}
    for c in control:
        fraction = floor_fraction(c)
        floors[c.metric] = NoiseFloor(here, c.metric, fraction, c.verdict.decided)
    return tuple(floors.values())


def floor_fraction(control: Comparison) -> float | None:
    """Return the reach of the control's interval as a fraction; `None` with too few rounds for 95 %."""
    plain = control.unadjusted
    return reach(control.shown) if plain and plain.level >= PLAIN_LEVEL else None


def reach(interval: Interval | None) -> float | None:
    """Return max(U, 1/L) − 1 for an interval [L, U], or `None` if it is missing or unbounded."""
    if interval is None or not interval.bounded:
        return None
    return max(interval.hi, 1 / interval.lo) - 1


def _name(inputs: Sequence[Input], label: str) -> str:
    """Return the label of an input; empty if it is the only one."""
    return label if len(inputs) > 1 else ""
