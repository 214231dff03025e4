"""Judged records of each design, for the figure of the first screen. Their times are made."""

import math
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench_framework.features.judge import judge
from bench_framework.model.plan.declarations import (
    Axis,
    AxisValue,
    DerivedRow,
    Hypothesis,
    NamedCell,
)
from bench_framework.model.plan.declared_metrics import DeclaredMetric
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.plan.revisions import Revisions
from bench_framework.report.context import ReportData
from tests.unit.judging.conftest import Crossed, Study

# The folder is not a package.
sys.path.insert(0, str(Path(__file__).parents[2] / "validation/bench"))

import made_record

ROUNDS = 40
LADDER: Mapping[str, Sequence[str]] = {
    "target-cpu": ("default", "native"),
    "parser": ("simd-json", "sonic-rs"),
    "allocator": ("system", "jemalloc"),
    "engine": ("tokio-task-per-file", "tokio-worker-pool", "rayon"),
}
STEPS = {"native": 0.9, "sonic-rs": 1.2, "jemalloc": 0.8, "tokio-worker-pool": 1.001, "rayon": 0.7}


def noise(spread: float, *key: object) -> float:
    """Return log-normal noise, equal for equal keys."""
    return math.exp(random.Random("/".join(map(str, key))).gauss(0, spread))


def report(plan: Plan, judgement: Any, inputs: Sequence[Any] = ()) -> ReportData:
    return ReportData(
        plan=plan,
        judgement=judgement,
        contents=made_record.contents(
            "2026-03-02T17:04:00+00:00", "2026-03-02T17:22:10+00:00", inputs=tuple(inputs)
        ),
    )


def of_study(
    example: Study,
    factors: Mapping[str, float],
    *,
    spread: float = 0.01,
    changed: Mapping[str, float] | None = None,
    **changes: Any,
) -> ReportData:
    """Judge a study whose arms take 50 ms × a factor × the size, with a factor per input of `changed`."""
    plan = replace(example.plan, **changes)

    def wall(arm: str, where: str, number: int) -> float:
        size = float(where.removesuffix("MiB") or 1)
        by_input = (changed or {}).get(where, 1.0) if arm not in {example.arms[0], "control"} else 1
        return 0.05 * size * factors.get(arm, 1.0) * by_input * noise(spread, arm, where, number)

    def rss(arm: str, where: str, number: int) -> float:
        return float(1 << 23) * (1 + len(arm)) * noise(0.001, "rss", arm, where, number)

    blocks = example.blocks(wall, rss=rss)
    judged = judge(plan, blocks, {}, example.inputs(), example.looks())
    return report(plan, judged, example.inputs())


def sweep(values: Sequence[str] = ("1", "2", "4", "8", "32", "128", "500")) -> ReportData:
    """Return a record whose variants differ in a number only. The last one is the baseline."""
    *others, base = values
    example = Study(arms=(base, *others), rounds=ROUNDS)
    times = dict(zip(others, (2.85, 1.5, 0.9, 0.855, 0.856, 1.03), strict=False))
    axis = Axis(
        "arm", "run", tuple(AxisValue(v, v) for v in values), label="Maximum of blocking threads"
    )
    return of_study(example, times, axes=(axis,))


def revisions(changes: Mapping[int, float]) -> ReportData:
    """Return a record of two revisions, with the factor of the newer one for each size in MiB."""
    example = Study(arms=("old", "new"), sizes=tuple(changes), rounds=ROUNDS)
    changed = {f"{size}MiB": factor for size, factor in changes.items()}
    return of_study(example, {}, changed=changed, revisions=Revisions("1" * 40, None))


def sizes(arms: Sequence[str] = ("Stream", "Parallel Stream", "Parallel MMAP")) -> ReportData:
    """Return a record of variants on three sizes."""
    example = Study(arms=tuple(arms), sizes=(10, 50, 200), rounds=ROUNDS)
    return of_study(example, dict(zip(arms, (1.0, 0.5, 0.42, 1.02, 1.6), strict=False)))


def limit() -> ReportData:
    """Return a record with the shares of a derived limit."""
    arms = ("streaming", "generate", "write", "python-loop", "single-buffer")
    example = Study(arms=arms, sizes=(100,), rounds=ROUNDS)
    names = {dict(v.values)["arm"]: v.id for v in example.plan.variants}
    cells = tuple(NamedCell(arm.replace("-", "_"), id_) for arm, id_ in names.items())
    shares = ("streaming", "python_loop", "single_buffer")
    derived = (
        DerivedRow("limit", "min(rate(generate), rate(write))"),
        *(DerivedRow(f"{name}_share", f"rate({name}) / limit") for name in shares),
    )
    factors = {"generate": 0.1, "write": 0.99, "python-loop": 1.6, "single-buffer": 2.1}
    return of_study(example, factors, named=cells, derived=derived)


def ladder(unstable: str = "", *, reference: bool = True) -> ReportData:
    """Return a record of a ladder whose last step is compared with a reference.

    The step of the value `unstable` gains 40 % in the first third, and then 10 %.
    """
    axes = {a: [v for v in vs if reference or v != "rayon"] for a, vs in LADDER.items()}
    rungs = [{axis: values[0] for axis, values in axes.items()}]
    for axis, values in axes.items():
        rungs += [{**rungs[-1], axis: value} for value in values[1:]]
    example = Crossed(
        axes,
        inputs=("48MiB",),
        rounds=ROUNDS,
        drop=lambda values: dict(values) not in rungs,
        design="ladder",
        adopted=[(a, vs[1]) for a, vs in axes.items()],
        further=[rungs[-1]] if reference else [],
    )

    def wall(values: Mapping[str, str], where: str, number: int) -> float:
        factors = dict(STEPS)
        if unstable:
            factors[unstable] = 0.6 if number <= ROUNDS // 3 else 0.9
        product = math.prod(factors.get(value, 1.0) for value in values.values())
        return 0.18 * product * noise(0.004, *values.values(), where, number)

    return report(example.plan, example.judge(wall))


def rates(*, reference: bool = False) -> ReportData:
    """Return a record of a ladder whose metric is better if it is larger: +25 %, then −20 %.

    Its first step is a second baseline with `reference`.
    """
    axes = {"x": ("x0", "x1"), "y": ("y0", "y1")}
    rungs = [{"x": "x0", "y": "y0"}, {"x": "x1", "y": "y0"}, {"x": "x1", "y": "y1"}]
    example = Crossed(axes, drop=lambda values: dict(values) not in rungs, design="ladder")
    rate = DeclaredMetric("rate", "stdout", "1/s", direction="higher")
    plan = replace(example.plan, metrics=(rate,), judge=JudgePolicy(metrics=("rate",)))
    start, faster, _ = (v.id for v in plan.variants)
    hypothesis = Hypothesis("x1 is faster", "x: x0 → x1", faster, start, "better", "rate")
    plan = replace(plan, further_baselines=(faster,) * reference, hypotheses=(hypothesis,))
    factors = {"x1": 1.25, "y1": 0.8}
    values = {v.id: [value for _, value in v.values] for v in plan.variants}
    blocks = []
    for block in example.blocks(lambda *_: 1.0):
        chosen = values[plan.cell(block.cell_id).variant_id]
        factor = math.prod(factors.get(value, 1.0) for value in chosen)
        value = 1000 * factor * noise(0.003, *chosen, block.round)
        blocks.append(replace(block, metrics={"rate": value}))
    return report(plan, judge(plan, blocks, {}, [], example.looks()))


def two_axes() -> ReportData:
    """Return a record of a numeric axis and of another one, one change at a time."""
    axes = {"threads": ("1", "2", "4", "8"), "io": ("read", "mmap")}
    example = Crossed(
        axes,
        rounds=ROUNDS,
        drop=lambda values: values["io"] == "mmap" and values["threads"] != "1",
        design="one-at-a-time",
    )
    times = {"1": 1.0, "2": 0.6, "4": 0.4, "8": 0.41, "mmap": 0.9}

    def wall(values: Mapping[str, str], where: str, number: int) -> float:
        product = math.prod(times.get(value, 1.0) for value in values.values())
        return 0.1 * product * noise(0.004, *values.values(), where, number)

    return report(example.plan, example.judge(wall))


def many(count: int = 12) -> ReportData:
    """Return a record of variants that differ in a name."""
    arms = ("base", *(f"variant-{number}" for number in range(1, count)))
    factors = {arm: 1.2 - 0.05 * n for n, arm in enumerate(arms[1:])}
    return of_study(Study(arms=arms, rounds=ROUNDS), factors)
