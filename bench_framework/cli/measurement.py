"""Measuring a scenario, judging a record by its gate, and printing both: for `run` and `gate`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bench_framework.cli import github
from bench_framework.cli.console import Console, wrapped
from bench_framework.errors import BuildError

if TYPE_CHECKING:
    from bench_framework.execution.progress import Observer
    from bench_framework.workflow.gate import Gated
    from bench_framework.workflow.run import Outcome
    from bench_framework.workflow.run_options import RunOptions


def measure(console: Console, file: str, options: RunOptions, *, confirm: bool = True) -> None:
    """Run, print, and judge by the gate if that is asked for; for ``benchctl gate FILE`` too.

    Raises:
        typer.Exit: with the exit code, unless it is 0.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.run import run_scenario

    gated = options.gate
    if gated:
        console.results = options.results
    with display_for(console) as display:
        outcome = run_scenario(file, options, display)
    if not (gated and console.json):  # one document on stdout: the gate's, which names the record
        _print(console, outcome)
    code = outcome.exit_code
    if gated and outcome.judgement is not None and outcome.record is not None:
        with display_for(console) as display:
            found = judge(console, str(outcome.record), display, confirm=confirm)
        show(console, found)
        code = code or found.gating.exit_code  # what failed comes before what the gate found
    if code:
        raise typer.Exit(code)


def judge(
    console: Console, record: str, observer: Observer, *, confirm: bool = True, fresh: bool = False
) -> Gated:
    """The gate's answer; for ``benchctl run --gate`` too."""
    from bench_framework.workflow.gate import gate_record

    return gate_record(console.results, record, confirm=confirm, fresh=fresh, observer=observer)


def show(console: Console, found: Gated) -> None:
    """Print the answer; on GitHub also annotate it and add it to the summary of the step."""
    from bench_framework.workflow.gate import GATE_FILES, gate_page

    if console.json:
        console.emit((found.record / "gate.json").read_text(encoding="utf-8"))
    else:
        console.emit(gate_page(found, console.width, console.unicode))
        told = f"wrote {', '.join(GATE_FILES)} into {found.record}"
        console.say(wrapped(told, console.stderr_width) if console.stderr_width else told)
    if github.on_github():
        for line in github.gate_lines(
            [pair.again_text or pair.text for pair in found.gating.of("worse")]
        ):
            console.say(line, level=-1)
        if target := os.environ.get("GITHUB_STEP_SUMMARY"):
            _append_summary(console, Path(target), found.record / "summary.md")


def _append_summary(console: Console, target: Path, summary: Path) -> None:
    """Add the answer to the summary of the step; the exit code is the gate's, whatever becomes of this."""
    try:
        with target.open("a", encoding="utf-8") as file:
            file.write(summary.read_text(encoding="utf-8"))
    except OSError as error:
        console.say(
            f"the summary of the step is not written: {target}: {error.strerror}; it is in {summary}",
            level=-1,
        )


def _print_warnings(console: Console, outcome: Outcome) -> None:
    """What the judgement found; warnings of the measuring were told when they arose."""
    for event in outcome.judgement.events if outcome.judgement else ():
        if event.severity != "note":
            console.warn(event)


_OF_METRICS = frozenset({"BX217", "BX251"})
"""Failures of single metrics: the times of such a cell stand."""


def _print_failures(console: Console, outcome: Outcome) -> None:
    """Builds in full; cells were told in full while measuring, and stand in the report with their reason."""
    builds = [error for error in outcome.failures if isinstance(error, BuildError)]
    for error in builds:
        console.error(error)
    metrics = [error for error in outcome.failures if error.code in _OF_METRICS]
    if cells := len(outcome.failures) - len(builds) - len(metrics):
        console.say(
            f"{cells} cell{'s' if cells != 1 else ''} could not be measured: exit {outcome.exit_code}",
            level=-1,
        )
    if metrics:
        where = f"{len(metrics)} cell{'s' if len(metrics) != 1 else ''}"
        console.say(
            f"a metric of {where} could not be read or counted: exit {outcome.exit_code}", level=-1
        )


def _print(console: Console, outcome: Outcome) -> None:
    from bench_framework.workflow.pages import terminal_page
    from bench_framework.workflow.run import outcome_document

    if console.json:
        console.emit_json(outcome_document(outcome))
        _print_failures(console, outcome)
        return
    if outcome.document is not None:
        console.emit(
            terminal_page(outcome.document, console.width, console.colored_stdout, console.unicode)
        )
    _print_warnings(console, outcome)
    _print_failures(console, outcome)
    if outcome.resume is not None:
        console.say(outcome.resume, level=-1)
