"""``benchctl try``: run each command of a scenario once, on the build of the baseline."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import typer

from bench_framework.cli.arguments import Only, Overrides, ScenarioFile
from bench_framework.cli.console import Console
from bench_framework.errors import EXIT_NOT_MEASURED, Interrupted
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.policies import AnswerPolicy
from bench_framework.text.answers import how_compared
from bench_framework.text.builds import proof
from bench_framework.text.lines import wrap
from bench_framework.text.numbers import format_clock, format_duration, format_percent, format_size
from bench_framework.units import counted

if TYPE_CHECKING:
    from bench_framework.workflow.setup.trial import Text, TrialRun, Trials

EXAMPLES = """
benchctl try bench/io.yaml
benchctl try bench/io.yaml -k size=10MiB
"""
SHOWN_LINES = 3
INDENT = 12


def try_scenario(
    context: typer.Context, file: ScenarioFile, only: Only = None, overrides: Overrides = None
) -> None:
    """Find mistakes early: build only the baseline, and run the command of each variant once on this build.

    The results are exit code, output, time and memory. `benchctl run` does the
    same before it builds the other variants.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.run_options import RunOptions, plan_run
    from bench_framework.workflow.setup import trial
    from bench_framework.workflow.setup.preparation import open_driver, try_plan
    from bench_framework.workflow.setup.trial_document import trials_document

    console: Console = context.obj
    plan = plan_run(file, RunOptions(console.results, only, overrides or ()))
    try:
        with display_for(console) as display, open_driver(plan, display) as driver:
            trials = try_plan(plan, driver)
    except Interrupted as interruption:
        raise Interrupted("BX130.before-measurement") from interruption
    errors, warnings = trial.refusals(trials), trial.warnings(trials)
    console.emit_result(trials_document(trials), _page(trials, console.width))
    for refused in errors:
        console.error(refused)
    for event in warnings:
        console.warn(event)
    if errors or warnings:
        raise typer.Exit(errors[0].exit_code if errors else EXIT_NOT_MEASURED)


def _page(trials: Trials, width: int) -> str:
    lines: list[str] = []
    runs: dict[int, list[TrialRun]] = {}
    for trial in trials.trials:
        runs.setdefault(id(trial.run), []).append(trial)
    for same in runs.values():
        trial, *others = sorted(same, key=lambda trial: not trial.same_build)
        lines += wrap(_name(trial, trials.plan), width)
        items = _items(trial, trials.plan.answer)
        if others:
            names = "; ".join(_name(other, trials.plan) for other in others)
            builds = "Their own builds" if len(others) > 1 else "Its own build"
            items.append(("others", f"the same command: {names}. {builds} may give another result"))
        for word, text in items:
            lines += wrap(text, width, f"  {word:<{INDENT - 2}}", " " * INDENT)
        lines.append("")
    if trials.round_s is not None:
        control = any(cell.role is Role.CONTROL for cell in trials.plan.cells)
        copy = ", with a copy of the baseline," if control else ""
        text = f"a round{copy} takes about {format_duration(trials.round_s)}"
        if (rounds := trials.rounds_needed) is not None:
            least = format_duration(rounds * trials.round_s)
            warm = trials.plan.measure.warmup_rounds
            also = f" and {counted(warm, 'warm-up round')}" if warm else ""
            first = f"{counted(rounds - warm, 'round')}{also} ({least})"
            text += f"; the first interim analysis is after {first}"
        budget = trials.plan.measure.budget_s
        text += f"; the budget is {format_clock(budget)}" if budget is not None else ""
        lines += wrap(text, width, f"{'Estimate':<{INDENT}}", " " * INDENT)
    return "\n".join(lines)


def _name(trial: TrialRun, plan: Plan) -> str:
    given = plan.input(trial.cell.input_id).name
    where = f", {given}" if given else ""
    base = " (baseline)" if trial.cell.role is Role.BASELINE else ""
    return f"{trial.cell.label}{base}{where}"


def _items(trial: TrialRun, policy: AnswerPolicy) -> list[tuple[str, str]]:
    server = trial.target.server
    items = [("server", shlex.join(server.argv))] if server is not None else []
    items.append(("command", shlex.join(trial.target.argv)))
    if (preload := trial.target.preload) is not None:
        items.append(("allocator", f"{preload} by LD_PRELOAD: {proof(preload)}"))
    if not trial.same_build:
        items.append(("build", "that of the baseline; its own build may give another result"))
    finished, output = trial.run.finished, trial.output
    if not trial.ok:
        items.append(("failed", trial.failure))
    if finished is not None:
        peak = trial.peak_bytes
        # The kernel reports at least the peak of the process that starts the program.
        unknown = f"too small to measure (at most {format_size(trial.inherited)})"
        memory = format_size(peak) if peak else unknown
        taken = format_duration(finished.seconds)
        # That of the client of a server is not measured.
        peak_memory = f", peak memory {memory}" if server is None else ""
        items.append(("ended", f"{finished.how} after {taken}{peak_memory}"))
    items += _first_lines("output", output.printed)
    if trial.ok and (answer := output.answer) is not None and answer.source != "none":
        text, given = f"digest {answer.digest[:12]} ({answer.source})", output.compared
        if given.size_bytes is not None:
            size = f"{counted(given.lines, 'line')}, {counted(given.size_bytes, 'byte')}"
            text = f"{size}, {text}"
        items.append(("answer", how_compared(policy) if policy.check else text))
        if answer.differing is not None:
            lines = f"{format_percent(answer.differing, digits=2)} of the lines differ"
            items.append(("", f"{lines if answer.differing else 'numbers differ'}, as tolerated"))
        if policy.edited:
            items += [("compared", how_compared(policy)), *_first_lines("", given)]
    elif trial.ok:
        items.append(("answer", "not compared"))
    if trial.ok and trial.same_build and trial.cell.calls:
        checked = "not checked" if trial.unchecked else "checked"
        items.append(("calls", f"{checked}: {', '.join(trial.cell.calls)}"))
    return items


def _first_lines(word: str, text: Text) -> list[tuple[str, str]]:
    lines = text.decoded.splitlines()
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    head = lines[first : first + SHOWN_LINES]
    items = [(word if number == 0 else "", line) for number, line in enumerate(head)]
    if rest := text.lines - first - len(head):
        items.append(("" if head else word, f"… {counted(rest, 'further line')}"))
    return items
