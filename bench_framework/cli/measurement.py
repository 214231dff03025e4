"""Measurement of a scenario and its gate, and printing of both, for `run` and `gate`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bench_framework.cli.arguments import command_line
from bench_framework.cli.console import Console, on_github
from bench_framework.errors import EXIT_INTERRUPTED, EXIT_NOT_MEASURED, BuildError, UsageError
from bench_framework.units import counted

if TYPE_CHECKING:
    from bench_framework.model.plan import Plan
    from bench_framework.workflow.fleet.client import Fleet
    from bench_framework.workflow.gate import GateResult
    from bench_framework.workflow.run import Outcome
    from bench_framework.workflow.run_options import RunOptions


def fleet_of(scheduler: str | None, host: str, *, insecure: bool) -> Fleet | None:
    """Return the fleet of a command. Raises `UsageError`: an option needs the address of a scheduler."""
    if scheduler is None:
        if host or insecure:
            raise UsageError("BX100.host-without-scheduler")
        return None
    from bench_framework.workflow.fleet.client import Fleet

    return Fleet(scheduler, host, insecure)


def measure(
    console: Console,
    file: str,
    options: RunOptions,
    *,
    confirm: bool = True,
    fleet: Fleet | None = None,
) -> None:
    """Run a scenario here or on a host of a fleet, print the result, apply the gate.

    On a fleet, the gate is applied while the connection exists, because another host confirms.

    Raises `typer.Exit` with the exit code.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.gate import gate_record
    from bench_framework.workflow.run import run_scenario

    _require_key(options)
    gated = options.gate
    if gated:
        console.results = options.results
    result = None
    with display_for(console) as display:
        if fleet is not None and gated:
            outcome, result = fleet.gate(file, options, display, confirm=confirm)
        else:
            outcome = (fleet.run if fleet else run_scenario)(file, options, display)
    if not (gated and console.json):  # with --json, stdout contains only the document of the gate
        print_outcome(console, outcome)
    code = outcome.exit_code
    if gated and code == EXIT_INTERRUPTED and outcome.judgement is not None:
        console.say(f"the gate was not applied: `benchctl gate {outcome.record}`", level=-1)
    elif gated and outcome.judgement is not None and outcome.record is not None:
        if result is None:
            with display_for(console) as display:
                record = str(outcome.record)
                result = gate_record(
                    console.results,
                    record,
                    confirm=confirm,
                    command=options.command,
                    observer=display,
                )
        show(console, result)
        code = code or result.gating.exit_code  # a failed measurement has priority over the gate
    _sign(console, outcome, options)
    raise typer.Exit(code)


def _require_key(options: RunOptions) -> None:
    """Refuse an unusable key before the measurement. Raises `UsageError` (BX115)."""
    if options.sign is not None:
        from bench_framework.workflow.records import integrity

        integrity.signature_of("benchctl", options.sign)


def _sign(console: Console, outcome: Outcome, options: RunOptions, host: str = "") -> None:
    """Sign a finished record if the user requested it; then, or with --verbose, print its digest."""
    from bench_framework.store import manifest

    if outcome.judgement is None or outcome.record is None:
        return
    if options.sign is not None:
        from bench_framework.workflow.records import integrity

        integrity.sign_record(outcome.record, options.sign)
    digest = manifest.digest_of(manifest.read_manifest(outcome.record))
    text = f"{host}digest of the measured files: {digest} (`benchctl verify --digest`)"
    console.say(text, level=1 if options.sign is None else 0)


def measure_on_hosts(console: Console, file: str, options: RunOptions, fleet: Fleet) -> None:
    """Run a scenario on several hosts, and print where their results agree.

    Raises `typer.Exit`: the exit code is 130 after an interruption, and 3 if a host failed.
    """
    from bench_framework.cli.display import display_of_hosts
    from bench_framework.workflow.fleet import host_results

    _require_key(options)
    with display_of_hosts(console) as observer_of:
        results = fleet.run_on_hosts(file, options, observer_of(""), observer_of)
    codes = [result.exit_code for result in results]
    measured = []
    for result in results:
        if result.replaced_by and result.error is not None:
            console.warn_of(result.error)
        elif result.error is not None:
            console.error(result.error)
        elif result.outcome is not None:
            _print_host(console, result.host, result.outcome)
            _sign(console, result.outcome, options, f"host {result.host}: ")
            if result.outcome.judgement is not None:
                measured.append(str(result.outcome.record))
    page = None
    if len(measured) > 1:
        try:
            page = host_results.compare_records_of_hosts(options.results, measured)
        except UsageError as error:  # the records are complete
            console.error(error)
            codes.append(EXIT_NOT_MEASURED)
    code = EXIT_INTERRUPTED if EXIT_INTERRUPTED in codes else max(codes)
    if console.json:
        hosts = [result.document for result in results]
        comparison = page.json if page is not None else None
        console.emit_json({"exit_code": code, "hosts": hosts, "comparison": comparison})
    elif page is not None:
        console.emit_document(page.document)
    if page is not None:
        for path in page.write(host_results.pages_of(options.results, page)):
            console.say(f"wrote {path}")
    raise typer.Exit(code)


def _print_host(console: Console, host: str, outcome: Outcome) -> None:
    """Print the record of one of several hosts, what failed there, and how to resume."""
    if outcome.judgement is not None:
        console.say(f"host {host}: {outcome.judgement.status}, record {outcome.record}")
    for error in outcome.failures:
        if isinstance(error, BuildError):
            error.details = (("host", host), *error.details)
            console.error(error)
    if outcome.failures:
        number = counted(len(outcome.failures), "failure")
        console.say(f"host {host}: {number}, see its report: exit {outcome.exit_code}", level=-1)
    if outcome.resume is not None:
        console.say(f"host {host}: {outcome.resume}", level=-1)


def measure_plan(console: Console, plan: Plan, text: str, *, fresh: bool) -> None:
    """Measure a plan and print the result. Raises `typer.Exit` with the exit code."""
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.run import run_plan
    from bench_framework.workflow.run_options import RunOptions

    options = RunOptions(console.results, fresh=fresh, command=command_line())
    with display_for(console) as display:
        outcome = run_plan(plan, text, options, display)
    print_outcome(console, outcome)
    raise typer.Exit(outcome.exit_code)


def show(console: Console, result: GateResult) -> None:
    """Print the result of a gate; on GitHub, also annotate it and append it to the step summary."""
    from bench_framework.report.render import gate as pages
    from bench_framework.workflow.gate import GATE_FILES

    if console.json:
        console.emit((result.record / "gate.json").read_text(encoding="utf-8"))
    else:
        console.emit(pages.terminal(result.page, console.width, unicode=console.unicode))
        console.say(f"wrote {', '.join(GATE_FILES)} into {result.record}")
    if on_github():
        worse = result.gating.in_state("worse")
        title = {"title": "benchctl gate"}
        console.annotate([(title, pair.again_text.full or pair.text.full) for pair in worse])
        if target := os.environ.get("GITHUB_STEP_SUMMARY"):
            summary = result.record / "summary.md"
            try:
                with Path(target).open("a", encoding="utf-8") as file:
                    file.write(summary.read_text(encoding="utf-8"))
            except OSError as error:  # it does not change the exit code
                text = f"cannot write the step summary {target}: {error.strerror}"
                console.say(f"{text}; it is in {summary}", level=-1)


_OF_METRICS = frozenset({"BX217", "BX251"})
"""Codes of failures of single metrics: the times of such a configuration remain valid."""


def _print_failures(console: Console, outcome: Outcome) -> None:
    """Print failed builds with details and count failed configurations, which were printed before."""
    others = [error for error in outcome.failures if not isinstance(error, BuildError)]
    for error in outcome.failures:
        if isinstance(error, BuildError):
            console.error(error)
    metrics = sum(error.code in _OF_METRICS for error in others)
    end = f"exit {outcome.exit_code}"
    if cells := len(others) - metrics:
        text = f"{counted(cells, 'configuration')} could not be measured: {end}"
        console.say(text, level=-1)
    if metrics:
        text = (
            f"a metric of {counted(metrics, 'configuration')} could not be read or counted: {end}"
        )
        console.say(text, level=-1)


def print_outcome(console: Console, outcome: Outcome) -> None:
    """Print the report of a run, or with ``--json`` its document, with warnings and failures."""
    from bench_framework.workflow.run import outcome_document

    if console.json:
        console.emit_json(outcome_document(outcome))
        _print_failures(console, outcome)
        return
    if outcome.document is not None:
        console.emit_document(outcome.document)
    # The warnings of the measurement were printed when they occurred.
    for event in outcome.judgement.events if outcome.judgement else ():
        if event.severity != "note":
            console.warn(event)
    _print_failures(console, outcome)
    if outcome.resume is not None:
        console.say(outcome.resume, level=-1)
