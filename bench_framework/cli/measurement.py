"""Measurement of a scenario and its gate, and printing of both, for `run` and `gate`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NoReturn, Protocol

import typer

from bench_framework.cli.arguments import command_line
from bench_framework.cli.console import Console
from bench_framework.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_NOT_JUDGED,
    EXIT_WORSE,
    BuildError,
    UsageError,
)
from bench_framework.model.result.decision import Decision
from bench_framework.registry import registry
from bench_framework.units import counted

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.execution.progress import Observer
    from bench_framework.model.plan.plan import Plan
    from bench_framework.workflow.gate import GateResult
    from bench_framework.workflow.run import RunOutcome
    from bench_framework.workflow.run_options import RunOptions


class Hosts(Protocol):
    """Other machines to measure on, which an extension connects.

    The extension registers a class of this type. Its constructor takes the address of a scheduler, the names of
    hosts as in ``--host``, and True if the connection may be insecure.
    """

    def several(self, file: str, options: RunOptions) -> bool:
        """Return whether more than one machine measures the scenario."""

    def run(self, file: str, options: RunOptions, observer: Observer) -> RunOutcome:
        """Measure a scenario on one machine, as `run_scenario` does here."""

    def gate(
        self, file: str, options: RunOptions, observer: Observer, *, confirm: bool
    ) -> tuple[RunOutcome, GateResult | None]:
        """Measure a scenario and apply its gate. The gate is `None` if it was not applied."""

    def measure_on_several(self, console: Console, file: str, options: RunOptions) -> NoReturn:
        """Measure on several machines and print the results. Raises `typer.Exit`."""


def hosts_of(scheduler: str | None, host: str, *, insecure: bool, several: bool) -> Hosts | None:
    """Return the other machines that a command names, `None` for this machine.

    Raises `UsageError`: BX100, an option needs the address of a scheduler, or no extension connects
    other machines; BX138, several scenarios are measured, which is possible only on this machine.
    """
    if several and (scheduler or host):
        raise UsageError("BX138.option", option="--scheduler" if scheduler else "--host")
    if scheduler is None:
        if host or insecure:
            raise UsageError("BX100.host-without-scheduler")
        return None
    for target in registry().targets("hosts").values():
        hosts: Hosts = target.load()(scheduler, host, insecure)
        return hosts
    raise UsageError("BX100.scheduler-without-extension")


def measure(
    console: Console,
    file: str,
    options: RunOptions,
    *,
    confirm: bool = True,
    hosts: Hosts | None = None,
) -> None:
    """Run a scenario here or on another machine, print the result, apply the gate.

    Elsewhere, the gate is applied while the connection exists, because another host confirms.

    Raises `typer.Exit` with the exit code.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.run import run_scenario

    require_key(options)
    gated = options.gate
    if gated:
        console.results = options.results
    result = None
    with display_for(console) as display:
        if hosts is not None and gated:
            outcome, result = hosts.gate(file, options, display, confirm=confirm)
        else:
            outcome = (hosts.run if hosts else run_scenario)(file, options, display)
    if options.decide:
        print_failures(console, outcome)
    elif not (gated and console.json):  # stdout contains only the document of the gate
        print_outcome(console, outcome)
    code = outcome.exit_code
    if gated and outcome.record is not None and outcome.judgement is not None:
        again = gate_command(console, outcome.record, decide=options.decide)
        if code == EXIT_INTERRUPTED:
            console.say(f"the gate was not applied: `{again}`", level=-1)
        else:
            if result is None:
                result = apply_gate(console, str(outcome.record), again, confirm=confirm)
            code = show(console, result, decide=options.decide)
    sign(console, outcome, options)
    raise typer.Exit(code)


def apply_gate(
    console: Console, record: str, command: str, *, confirm: bool, fresh: bool = False
) -> GateResult:
    """Apply the gate to a record with a live display. The arguments are those of `gate_record`."""
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.gate import gate_record

    with display_for(console) as display:
        return gate_record(
            console.results, record, confirm=confirm, fresh=fresh, command=command, observer=display
        )


def gate_command(console: Console, record: Path, *, decide: bool) -> str:
    """Return the command that applies the gate to a measured record, quoted for a shell.

    The command of the measurement would measure the scenario again.
    """
    from bench_framework.workflow.run_options import folder_of_option

    words = ["benchctl", "gate", str(record)]
    if folder := folder_of_option(console.results):
        words += ["--dir", folder]
    return shlex.join((*words, *(["--decide"] if decide else ())))


def require_key(options: RunOptions) -> None:
    """Refuse an unusable key before the measurement. Raises `UsageError` (BX115)."""
    if options.sign is not None:
        from bench_framework.workflow.records import integrity

        integrity.signature_of("benchctl", options.sign)


def sign(console: Console, outcome: RunOutcome, options: RunOptions, host: str = "") -> None:
    """Sign a finished record if the user requested it; then, or with --verbose, print its digest."""
    from bench_framework.store import manifest

    if outcome.judgement is None or outcome.record is None:
        return
    if options.sign is not None:
        from bench_framework.workflow.records import integrity

        integrity.sign_record(outcome.record, options.sign)
    digest = manifest.digest_of_record(outcome.record)
    text = f"{host}digest of the measured files: {digest} (`benchctl verify --digest`)"
    console.say(text, level=1 if options.sign is None else 0)


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


def exit_code_of(decision: Decision) -> int:
    """Return the exit code of a decision."""
    return {"keep": EXIT_DONE, "discard": EXIT_WORSE, "more-data": EXIT_NOT_JUDGED}[decision]


def show(console: Console, result: GateResult, *, decide: bool = False) -> int:
    """Print the result of a gate, or its decision. On GitHub, also annotate it and append it to the step summary.

    Returns:
        The exit code of the decision, or of the gate if none is requested or nothing could be compared.
    """
    word = result.page.change.decision if decide else None
    from bench_framework.report.render import gate as pages
    from bench_framework.workflow.gate import GATE_FILES

    text = word or pages.terminal(result.page, console.width, unicode=console.unicode)
    console.emit_result(result.record / "gate.json", text)
    if not (word or console.json):
        console.say(f"wrote {', '.join(GATE_FILES)} into {result.record}")
    console.report_to_github(result.page.annotations, result.record / "summary.md")
    return exit_code_of(word) if word else result.gating.exit_code


_OF_METRICS = frozenset({"BX217", "BX251"})
"""Codes of failures of single metrics: the times of such a configuration remain valid."""


def print_failures(console: Console, outcome: RunOutcome) -> None:
    """Print failed builds with details and count failed configurations, which were printed before."""
    others = [error for error in outcome.failures if not isinstance(error, BuildError)]
    for error in outcome.failures:
        if isinstance(error, BuildError):
            console.error(error)
    metrics = sum(error.code in _OF_METRICS for error in others)
    cells, end = len(others) - metrics, f"exit {outcome.exit_code}"
    if cells:
        have = "has" if cells == 1 else "have"
        console.say(f"{counted(cells, 'configuration')} {have} no result: {end}", level=-1)
    if metrics:
        which = f"a metric of {counted(metrics, 'configuration')}"
        console.say(f"{which} could not be read or counted: {end}", level=-1)


def print_problems(console: Console, outcome: RunOutcome) -> None:
    """Print the warnings of the analysis, and the failures."""
    # The warnings of the measurement were printed when they occurred.
    for event in outcome.judgement.events if outcome.judgement else ():
        if event.severity != "note":
            console.warn(event)
    print_failures(console, outcome)


def print_outcome(console: Console, outcome: RunOutcome) -> None:
    """Print the report of a run, or with ``--json`` its document, with warnings and failures."""
    if console.json:
        from bench_framework.workflow.documents import run_document

        console.emit_json(run_document(outcome))
        print_failures(console, outcome)
        return
    if outcome.document is not None:
        console.emit_document(outcome.document)
    print_problems(console, outcome)
    if outcome.resume is not None:
        console.say(outcome.resume, level=-1)
