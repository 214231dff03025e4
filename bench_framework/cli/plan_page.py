"""The page that ``benchctl plan`` prints."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from bench_framework.cli.console import counted
from bench_framework.model.plan import Role, Slot
from bench_framework.model.words import noun
from bench_framework.units import format_clock, format_percent, format_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench_framework.model.plan import Cell, Plan, Word
    from bench_framework.workflow.forecast import Forecast

INDENT = 11
MOST_HOLES = 6


def counts(plan: Plan) -> str:
    """What is measured, in numbers: the control's cells apart, for variants × inputs does not count them."""
    control = sum(cell.role is Role.CONTROL for cell in plan.cells)
    text = f"{counted(len(plan.variants), 'variant')} × {counted(len(plan.inputs), 'input')}"
    text += f", {counted(len(plan.cells) - control, 'cell')}"
    if control:
        text += f" and {control} of the control"
    return f"{text}, {len(plan.holes)} left out" if plan.holes else text


def page(forecast: Forecast, *, width: int, commands: bool) -> str:
    """The forecast as text; `commands` lists every command line."""
    plan = forecast.plan
    axes = [axis for axis in plan.axes if len(axis.values) > 1]
    varied = f"{len(axes)} {'axis' if len(axes) == 1 else 'axes'}"
    lines = [
        *_head(f"{plan.name}   {plan.scenario_path}   {varied}, {counts(plan)}", width),
        *_item("Question", plan.question, width),
        "",
        *_item("Build", _builds(forecast), width),
        *_item("Data", _data(forecast), width),
        *(_item("Tune", _filled(plan.tuning), width) if plan.tuning else ()),
        *(_item("Cache", cold, width) if (cold := _cold(plan)) else ()),
        *(_item("CPUs", pinned, width) if (pinned := _pinned(plan)) else ()),
        *_item("Run", _run(forecast), width),
        *_item("Basis", _basis(forecast), width),
        *_item("Judge", _judge(forecast), width),
        *(_item("Gate", _gate(plan), width) if plan.judge.gate.margins else ()),
        *_item("Expect", _expect(forecast), width),
        *_item(
            "Disk",
            f"{format_size(forecast.disk_needed)} of inputs to write, {format_size(forecast.disk_free)} free; "
            "what the programs write is not known",
            width,
        ),
    ]
    lines += _holes(plan, width)
    if commands:
        lines += ["", *(f"{cell.label}: {_command(cell)}" for cell in plan.cells)]
    lines += ["", *_item("Next", plan.command, width)]
    return "\n".join(lines)


def _head(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, 2 * INDENT),
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def _item(word: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, 2 * INDENT),
        initial_indent=f"  {word:<{INDENT - 2}}",
        subsequent_indent=" " * INDENT,
        break_on_hyphens=False,
        break_long_words=False,  # a path is to be copied
    )


def _builds(forecast: Forecast) -> str:
    if not forecast.builds:
        return "nothing: the program is there"
    todo = [build for build in forecast.builds if not build.cached]
    again = (
        "; cargo builds again what has changed since" if len(todo) < len(forecast.builds) else ""
    )
    known = [build.build_s for build in todo if build.build_s is not None]
    text = f"{len(forecast.builds)} for {counted(len(forecast.plan.variants), 'variant')}, {len(todo)} to build"
    if todo and len(known) == len(todo):
        return f"{text}, about {format_clock(sum(known))} (as last time){again}"
    return f"{text}, time unknown before the first build{again}" if todo else f"{text}{again}"


def _data(forecast: Forecast) -> str:
    if not forecast.datasets:
        return "no input"
    missing = [dataset for dataset, there in forecast.datasets if not there]
    text = counted(len(forecast.datasets), "input")
    if not missing:
        return f"{text}, all there"
    return f"{text}, {format_size(forecast.disk_needed)} to generate"


def _cold(plan: Plan) -> str:
    """What a cold cache means for this plan; empty where no cell asks for one."""
    cold = sum(cell.cache == "cold" for cell in plan.cells)
    if not cold:
        return ""
    return (
        f"cold before every run of {cold} of {counted(len(plan.cells), 'cell')}: the input's pages are dropped and "
        "looked for; a cell with a run that was not seen to be cold is compared with nothing"
    )


def _pinned(plan: Plan) -> str:
    """The lists of CPUs and how many cells each pins; empty where none is pinned."""
    found = Counter(cell.cpus for cell in plan.cells if cell.cpus)
    free = len(plan.cells) - found.total()
    told = [f"{cpus} for {counted(count, 'cell')}" for cpus, count in found.items()]
    return "; ".join([*told, f"any for {counted(free, 'cell')}"] if free else told) if told else ""


def _run(forecast: Forecast) -> str:
    measure, cells = forecast.plan.measure, counted(len(forecast.plan.cells), "cell")
    text = (
        f"{cells} × at most {measure.rounds_max} rounds (+ {measure.warmup_rounds} warm-up)"
        f" = {forecast.blocks} hyperfine calls"
    )
    if measure.budget_s is not None:
        text += f", budget {format_clock(measure.budget_s)}"
    # Where a time is guessed, so is their sum, and no bound of anything.
    bound = "as a guess" if forecast.guessed else "at most about"
    return f"{text}; {bound} {format_clock(forecast.run_s)}"


def _basis(forecast: Forecast) -> str:
    """Where the time comes from: an estimate that hides its basis misleads."""
    return ", ".join(
        f"{counted(count, 'cell')}: {source}" for source, count in forecast.basis.items()
    )


def _judge(forecast: Forecast) -> str:
    looks, plan = forecast.looks, forecast.plan
    text = (
        f"{looks.family} comparisons ({' and '.join(plan.judge.metrics)}) at {format_percent(looks.level)} together,"
        f" margin {format_percent(plan.judge.margin)}; looks after {', '.join(map(str, looks.rounds))} rounds"
    )
    if plan.further_baselines:
        names = [plan.variant(v).label for v in (plan.baseline_id, *plan.further_baselines)]
        text += f"; against {' and '.join(names)}"
    if not looks.decidable:
        text += f". Exploratory: a verdict needs {looks.needed} rounds, this plan has {plan.measure.rounds_max}"
    if plan.measure.strategy == "race":
        text += _race(forecast)
    if not plan.measure.control:
        text += ". The control arm is switched off"
    return text


def _race(forecast: Forecast) -> str:
    first, last = forecast.looks.rounds[0], forecast.looks.rounds[-1]
    if first == last:
        return f". The race drops nobody: its only look is the last, after round {last}"
    share = format_percent(first / last, decimals=0)
    return f". A race: losers leave at a look; before the first one all run, {share} of the rounds"


def _gate(plan: Plan) -> str:
    policy = plan.judge.gate
    tolerated = ", ".join(
        f"{metric} {format_percent(margin)}" for metric, margin in policy.tolerated.items()
    )
    return f"tolerates {tolerated}; `benchctl run --gate` or `benchctl gate` judges by it"


def _expect(forecast: Forecast) -> str:
    found = forecast.resolution
    if not found.by_metric:
        return "unknown until the first look: no earlier record of this workload on this host"
    sizes = " and ".join(
        f"{format_percent(math.ceil(mde * 1000) / 1000, decimals=1)} or more in {noun(metric)}"
        for metric, mde in found.by_metric.items()
    )
    whose = f"{found.pairs} of {forecast.looks.family} comparisons in {found.record}"
    if not found.pairs:
        whose = f"other programs or inputs in {found.record}"
    return f"decides differences of {sizes}, if all rounds are run (from the noise of {whose})"


def _holes(plan: Plan, width: int) -> list[str]:
    reasons = Counter((hole.reason, hole.rule) for hole in plan.holes)
    lines: list[str] = []
    for (reason, rule), count in list(reasons.items())[:MOST_HOLES]:
        where = f" ({rule})" if rule else ""
        lines += _item("Left out", f"{count} × {reason}{where}", width)
    if len(reasons) > MOST_HOLES:
        lines += _item("", f"… and {len(reasons) - MOST_HOLES} more reasons", width)
    return lines


def _command(cell: Cell) -> str:
    import shlex

    env = [f"{name}={shlex.quote(value)}" for name, value in cell.env]
    return " ".join([*env, _filled(cell.command)])


def _filled(words: Iterable[Word]) -> str:
    import shlex

    texts = [
        "".join(f"{{{part.slot}}}" if isinstance(part, Slot) else part for part in word)
        for word in words
    ]
    return " ".join(text if text.startswith("{") else shlex.quote(text) for text in texts)
