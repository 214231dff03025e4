"""Several scenarios in one command: their plan, measurement and result, for `plan`, `run` and `gate`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import typer

from bench_framework.cli.console import Console, table_lines
from bench_framework.cli.measurement import exit_code_of, print_problems
from bench_framework.errors import EXIT_INTERRUPTED, UsageError
from bench_framework.text.lines import wrap
from bench_framework.text.numbers import format_clock, format_percent
from bench_framework.text.reasons import phrase
from bench_framework.text.words import plan_size
from bench_framework.units import counted

if TYPE_CHECKING:
    from bench_framework.workflow.run import RunOutcome
    from bench_framework.workflow.run_options import RunOptions
    from bench_framework.workflow.suites.measuring import SuiteResult
    from bench_framework.workflow.suites.planning import Member, SuitePlan


def plan_several(
    console: Console, names: Sequence[str], options: RunOptions, budget: str | None
) -> None:
    """Print the plan of a suite; with ``--verbose``, also that of each scenario."""
    from bench_framework.cli.plan_page import page
    from bench_framework.workflow.suites.planning import plan_suite, suite_plan_document

    suite = plan_suite(names, options, budget, skip=True)
    if console.json:
        console.emit_json(suite_plan_document(suite))
        return
    if console.verbosity > 0:
        for member in suite.members:
            console.emit(
                page(member.forecast, width=console.width, commands=console.verbosity > 1) + "\n"
            )
    console.emit(_plan_page(suite, console.width))


def _plan_page(suite: SuitePlan, width: int) -> str:
    rows = [("scenario", "rounds", "at most", "at least", "error rate")]
    sizes = ["size", *(plan_size(member.plan) for member in suite.members)]
    for member, budget in zip(suite.members, suite.budgets(), strict=True):
        forecast, policy = member.forecast, member.plan.judge
        cells = ("skipped", "", "", "")
        if not member.skipped:
            least = "?" if forecast.guessed else format_clock(member.least_s)
            rate = format_percent(policy.gate.level if suite.gated else policy.level)
            cells = (str(forecast.rounds or "?"), format_clock(budget), least, rate)
        rows.append((member.plan.name, *cells))
    lines = table_lines(rows, right=True)
    if width >= max(map(len, lines)) + max(map(len, sizes)) + 2:
        lines = [f"{line}  {size}" for line, size in zip(lines, sizes, strict=True)]
    total = f"At most {format_clock(sum(suite.budgets()))} for the rounds"
    if suite.budget_s is not None:
        total += f" (--budget {format_clock(suite.budget_s)}, divided by the planned times)"
    total += "; builds and second measurements of possible regressions come in addition."
    kind = (
        "probability of a false alarm in the first measurement"
        if suite.gated
        else "family-wise error rate"
    )
    number = counted(suite.decisions, "comparison")
    level = f"{number}; {kind}: {format_percent(suite.level)} for all of them together."
    unknown = ["?: known after the first run on this machine, or after `benchctl try`."]
    unknown = unknown if any(m.forecast.guessed and not m.skipped for m in suite.members) else []
    skipped = [f"{m.plan.name}: skipped: {phrase(m.skipped)}." for m in suite.members if m.skipped]
    texts = (total, level, *unknown, *skipped)
    notes = [line for text in texts for line in wrap(text, width)]
    return "\n".join([counted(len(suite.members), "scenario"), "", *lines, "", *notes])


def measure_several(
    console: Console,
    names: Sequence[str],
    options: RunOptions,
    *,
    budget: str | None = None,
    confirm: bool = True,
    skip: bool = False,
) -> None:
    """Measure a suite and print its result. Raises `typer.Exit` with the exit code."""
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.suites.measuring import Suite, SuiteEvents
    from bench_framework.workflow.suites.planning import plan_suite

    single = {
        "--sign": options.sign,
        "--template": options.template,
        "--expect-scenario": options.expect,
    }
    for option, given in single.items():
        if given is not None:
            raise UsageError("BX138.option", option=option)
    plan = plan_suite(names, options, budget, gated=options.gate, skip=skip)
    suite = Suite(plan, options, confirm=confirm)
    if suite.continued:
        console.say(f"continuing {suite.folder}; --fresh begins again")
    for scenario, reason in suite.discarded:
        console.say(f"{scenario} is measured again: {phrase(reason)}")
    events = SuiteEvents(
        partial(_announce, console, len(plan.members)), partial(_measured, console), console.error
    )
    result = suite.run(partial(display_for, console), events)
    raise typer.Exit(show_suite(console, result, decide=options.decide))


def _announce(
    console: Console, number: int, place: int, member: Member, budget: float | None
) -> None:
    time = "" if budget is None else f", at most {format_clock(budget)}"
    console.say(f"scenario {place + 1} of {number}: {member.plan.name} ({member.file}{time})")


def _measured(console: Console, outcome: RunOutcome) -> None:
    if outcome.document is not None and console.verbosity > 0 and not console.json:
        console.emit_document(outcome.document)
    print_problems(console, outcome)


def show_suite(console: Console, result: SuiteResult, *, decide: bool = False) -> int:
    """Print the result of a suite, or its decision, as `measurement.show` does. Return the exit code."""
    from bench_framework.report.render import suite as pages

    page, folder = result.page, result.folder
    word = page.change.decision if decide else None
    text = word or pages.terminal(page, console.width, unicode=console.unicode)
    console.emit_result(folder / "suite.json", text)
    console.say(f"wrote {folder / 'index.html'}")
    if page.exit_code == EXIT_INTERRUPTED:
        done = sum(row.exit_code is not None for row in page.rows)
        console.say(
            f"interrupted; `{page.command}` resumes: {counted(done, 'finished scenario')} of {len(page.rows)}, and all "
            "finished rounds, are kept",
            level=-1,
        )
    console.report_to_github(page.annotations, folder / "summary.md")
    return exit_code_of(word) if word else page.exit_code
