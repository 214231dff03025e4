"""The page of `benchctl plan`: builds, runs, duration, and the smallest difference that a run can detect."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench_framework.model.plan.arguments import Word, filled
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.plan.planned_comparisons import comparisons_planned
from bench_framework.text.answers import how_compared
from bench_framework.text.lines import wrap
from bench_framework.text.numbers import format_clock, format_percent, format_size
from bench_framework.text.reasons import phrase
from bench_framework.text.words import (
    hosts_of,
    noun,
    plan_size,
    requirement,
    server_starts,
    sessions_of,
)
from bench_framework.units import counted

if TYPE_CHECKING:
    from bench_framework.workflow.setup.forecast import Forecast

INDENT = 11
MOST_HOLES = 6
MOST_BUILDS = 4
"""Builds whose commands are listed."""
EXAMPLE_LOOKS = 5
"""Interim analyses that are listed if their number is not known yet."""


def page(forecast: Forecast, *, width: int, commands: bool) -> str:
    """Return the page as text; with `commands`, it lists every command line."""
    plan = forecast.plan
    axes = [axis for axis in plan.axes if len(axis.values) > 1]
    varied = f"{len(axes)} {'axis' if len(axes) == 1 else 'axes'}"
    title = f"{plan.name}   {plan.scenario_path}   {varied}, {plan_size(plan)}"
    estimate = (
        f"{counted(n, 'configuration')}: {phrase(source)}" for source, n in forecast.basis.items()
    )
    hosts = (
        plan.hosts
        and f"{hosts_of(plan.hosts)} with `benchctl run --scheduler ADDRESS`; without it, this machine"
    )
    items = {
        "Digest": plan.scenario_sha256,
        "Build": _builds(forecast),
        "Commands": _commands(plan),
        "Preload": _preloads(plan),
        "PGO": _trained(plan),
        "Benches": _benches(forecast),
        "Data": _data(forecast),
        "Tune": _filled(plan.tuning),
        "Server": _servers(plan),
        "Cache": _cold(plan),
        "CPUs": _pinned(plan),
        "Answer": how_compared(plan.answer) if how_compared(plan.answer) != "exact" else "",
        "Hosts": hosts,
        "Run": _run(forecast),
        "Estimate": ", ".join(estimate),
        "Compare": _comparisons(forecast),
        "Gate": _gate(plan),
        "Detects": _detectable(forecast),
        "Disk": f"{format_size(forecast.disk_needed)} of inputs to write, "
        f"{format_size(forecast.disk_free)} free; output of the programs not included",
    }
    lines = wrap(title, max(width, 2 * INDENT), rest="  ")
    lines += [*_item("Question", plan.question, width), ""]
    for word, text in items.items():
        lines += _item(word, text, width) if text else ()
    lines += _holes(plan, width)
    if commands:
        lines += ["", *(f"{cell.label}: {_command(cell)}" for cell in plan.cells)]
    lines += ["", *_item("Next", _next(plan), width)]
    return "\n".join(lines)


def _next(plan: Plan) -> str:
    """Return the command that measures the plan. That of a gate adds the revision that one variant is compared with."""
    if plan.judge.gate.against and plan.revisions is None and not comparisons_planned(plan):
        return replace(plan.invocation, gate=True).command(plan.scenario_path, None)
    return plan.command


def _item(word: str, text: str, width: int) -> list[str]:
    return wrap(text, max(width, 2 * INDENT), f"  {word:<{INDENT - 2}}", " " * INDENT)


def _builds(forecast: Forecast) -> str:
    if not forecast.builds:
        return "none: the program exists already"
    todo = [build for build in forecast.builds if not build.cached]
    cargo = all(build.spec.by_cargo for build in forecast.builds)
    rebuilt = "cargo rebuilds what has changed" if cargo else "what has changed is built again"
    again = f"; {rebuilt}" if len(todo) < len(forecast.builds) else ""
    known = [build.build_s for build in todo if build.build_s is not None]
    text = (
        f"{counted(len(forecast.builds), 'build')} for "
        f"{counted(len(forecast.plan.variants), 'variant')}, {len(todo)} to do"
    )
    if todo and len(known) == len(todo):
        return f"{text}, about {format_clock(sum(known))} (like last time){again}"
    return f"{text}, duration unknown before the first build{again}" if todo else f"{text}{again}"


def _commands(plan: Plan) -> str:
    """Return the commands that build the programs, each once for all revisions."""
    lines = dict.fromkeys(
        f"{' && '.join(given.lines)} writes {spec.bin}"
        for spec in plan.builds
        if (given := spec.by_commands) is not None
    )
    if not lines:
        return ""
    first = "; ".join([*lines][:MOST_BUILDS])
    more = f"; and {len(lines) - MOST_BUILDS} more" if len(lines) > MOST_BUILDS else ""
    return f"{first}{more}; in a copy of {plan.builds[0].crate}"


def _trained(plan: Plan) -> str:
    commands = [
        _filled(s.train) or "the commands of all configurations" for s in plan.builds if s.pgo
    ]
    return f"trained by {'; '.join(dict.fromkeys(commands))}" if commands else ""


def _preloads(plan: Plan) -> str:
    names = dict.fromkeys(Path(spec.preload).name for spec in plan.builds if spec.preload)
    return f"{', '.join(names)}, into the unchanged program by LD_PRELOAD" if names else ""


def _benches(forecast: Forecast) -> str:
    """Return what is known of the benchmarks of a crate before the build."""
    plan, known = forecast.plan, forecast.benches
    if plan.benches is None or plan.benches.expanded:
        return ""
    targets = ", ".join(plan.benches.targets)
    last = f". The newest record has {len(known)}: {', '.join(known)}" if known else ""
    return (
        f"those of {targets}; the built programs list them, and each becomes one input with its own "
        f"configurations, rounds and comparisons{last}"
    )


def _data(forecast: Forecast) -> str:
    if not forecast.datasets:
        return "no input"
    missing = [dataset for dataset, there in forecast.datasets if not there]
    text = counted(len(forecast.datasets), "input")
    if not missing:
        return f"{text}, all present"
    commands = sum(dataset.kind == "command" for dataset in missing)
    todo = [f"{format_size(forecast.disk_needed)} to generate"] * (commands < len(missing))
    todo += [f"{commands} to generate with a command"] * (commands > 0)
    return ", ".join((text, *todo))


def _servers(plan: Plan) -> str:
    if (server := plan.server) is None:
        return ""
    ways = {"tcp": "accepts connections at", "http": "responds to", "line": "prints a line like"}
    return (
        f"{server_starts(server)}, ready when it {ways[server.ready]} "
        f"{filled(server.awaited)}; time of the command, CPU time and memory of the server"
    )


def _cold(plan: Plan) -> str:
    cold = sum(cell.cache == "cold" for cell in plan.cells)
    if not cold:
        return ""
    return (
        f"cold before every run of {cold} of {counted(len(plan.cells), 'configuration')}: the "
        "input is evicted from the page cache, and this is verified; runs that were not cold do "
        "not count"
    )


def _pinned(plan: Plan) -> str:
    by_cpus = Counter(cell.cpus for cell in plan.cells if cell.cpus)
    parts = [f"{cpus} for {counted(count, 'configuration')}" for cpus, count in by_cpus.items()]
    free = len(plan.cells) - by_cpus.total()
    if parts and free:
        parts.append(f"any for {counted(free, 'configuration')}")
    return "; ".join(parts)


def _run(forecast: Forecast) -> str:
    measure, cells = forecast.plan.measure, counted(len(forecast.plan.cells), "configuration")
    budget = format_clock(measure.budget_s) if measure.budget_s is not None else ""
    sessions = f" in {sessions_of(measure)}" if measure.sessions > 1 else ""
    if sessions and measure.every_s:
        sessions += f", one every {format_clock(measure.every_s)}"
    if forecast.rounds is None:
        return (
            f"{cells} × as many rounds as {budget} allow, known after the warm-up (+ "
            f"{measure.warmups_total} warm-up){sessions}; at most {budget}"
        )
    about = "about " if forecast.rounds < measure.rounds_max else ""
    text = (
        f"{cells} × at most {about}{counted(forecast.rounds, 'round')} (+ {measure.warmups_total} "
        f"warm-up){sessions} = {forecast.blocks} hyperfine calls"
    )
    if budget:
        text += f", budget {budget}"
    if forecast.guessed:
        return f"{text}; duration unknown before the first run"
    return f"{text}; at most about {format_clock(forecast.run_s)}"


def _comparisons(forecast: Forecast) -> str:
    looks, plan = forecast.looks, forecast.plan
    if len(plan.variants) == 1:
        return "nothing: there is only one variant"
    rounds = looks.rounds if forecast.rounds is not None else (*looks.rounds[:EXAMPLE_LOOKS], "…")
    text = (
        f"{counted(looks.family, 'comparison')} ({' and '.join(plan.judge.metrics)}) at a family-wise error"
        f" rate of {format_percent(looks.level)}, margin {format_percent(plan.judge.margin)}; "
        f"interim analyses after {', '.join(map(str, rounds))} rounds"
    )
    if plan.further_baselines:
        names = [plan.variant(v).label for v in (plan.baseline_id, *plan.further_baselines)]
        text += f"; baselines {' and '.join(names)}"
    if forecast.rounds is not None and forecast.rounds < looks.needed:
        text += f". Exploratory: {requirement(looks)}, this plan has {forecast.rounds}"
    if plan.measure.strategy == "race":
        text += _race(forecast)
    if not plan.measure.control:
        text += ". The A/A control is switched off"
    return text


def _race(forecast: Forecast) -> str:
    first, last = forecast.looks.rounds[0], forecast.looks.rounds[-1]
    if first == last:
        return f". Racing has no effect: the only interim analysis is after the last round, {last}"
    share = format_percent(first / last, decimals=0)
    before = f" ({share} of the rounds)" if forecast.rounds is not None else ""
    return (
        ". Racing drops slower variants at each interim analysis;"
        f" before the first one{before} all of them run"
    )


def _gate(plan: Plan) -> str:
    if not plan.judge.gate.margins:
        return ""
    margins = plan.judge.gate.tolerated.items()
    tolerated = ", ".join(f"{metric} {format_percent(margin)}" for metric, margin in margins)
    return f"tolerates {tolerated}; `benchctl run --gate` or `benchctl gate` applies it"


def _detectable(forecast: Forecast) -> str:
    resolution = forecast.resolution
    if len(forecast.plan.variants) == 1:
        return ""
    if not resolution.by_metric:
        without = "there is no earlier record with results of this workload on this machine"
        return f"known after the first interim analysis: {without}"
    sizes = " and ".join(
        f"{format_percent(math.ceil(mde * 1000) / 1000, decimals=1)} or more in {noun(metric)}"
        for metric, mde in resolution.by_metric.items()
    )
    source = f"{resolution.pairs} of {forecast.looks.family} comparisons in {resolution.record}"
    if not resolution.pairs:
        source = f"other programs or inputs in {resolution.record}"
    return f"differences of {sizes}, in {forecast.rounds} rounds (from the noise of {source})"


def _holes(plan: Plan, width: int) -> list[str]:
    reasons = Counter((hole.reason, hole.rule) for hole in plan.holes)
    lines: list[str] = []
    for (reason, rule), count in list(reasons.items())[:MOST_HOLES]:
        where = f" ({rule})" if rule else ""
        lines += _item("Left out", f"{count * plan.sides} × {phrase(reason)}{where}", width)
    if len(reasons) > MOST_HOLES:
        lines += _item("", f"… and {len(reasons) - MOST_HOLES} more reasons", width)
    return lines


def _command(cell: Cell) -> str:
    env = [f"{name}={shlex.quote(value)}" for name, value in cell.env]
    server = [_filled(cell.server.command), "&"] if cell.server is not None else []
    return " ".join([*env, *server, _filled(cell.command)])


def _filled(words: Iterable[Word]) -> str:
    texts = map(filled, words)
    return " ".join(text if text.startswith("{") else shlex.quote(text) for text in texts)
