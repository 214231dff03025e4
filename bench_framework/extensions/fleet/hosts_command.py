"""Measurement on the hosts of a Dask scheduler for `run` and `gate`, and printing of their results."""

from typing import NoReturn

import typer

from bench_framework.cli.console import Console
from bench_framework.cli.display import display_of_hosts
from bench_framework.cli.measurement import require_key, sign
from bench_framework.errors import EXIT_INTERRUPTED, EXIT_NOT_MEASURED, BuildError, UsageError
from bench_framework.extensions.fleet import host_results
from bench_framework.extensions.fleet.client import Fleet
from bench_framework.extensions.fleet.documents import HostsDocument, document
from bench_framework.units import counted
from bench_framework.workflow.run import RunOutcome
from bench_framework.workflow.run_options import RunOptions


class DaskHosts(Fleet):
    """The hosts of a Dask scheduler, for ``--scheduler``."""

    def measure_on_several(self, console: Console, file: str, options: RunOptions) -> NoReturn:
        """Run a scenario on several hosts, and print where their results agree.

        Raises `typer.Exit`: the exit code is 130 after an interruption, and 3 if a host failed.
        """
        require_key(options)
        with display_of_hosts(console) as observer_of:
            results = self.run_on_hosts(file, options, observer_of(""), observer_of)
        codes = [result.exit_code for result in results]
        measured = []
        for result in results:
            if result.replaced_by and result.error is not None:
                console.warn_of(result.error)
            elif result.error is not None:
                console.error(result.error)
            elif result.outcome is not None:
                _print_host(console, result.host, result.outcome)
                sign(console, result.outcome, options, f"host {result.host}: ")
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
            hosts = tuple(map(document, results))
            console.emit_json(HostsDocument(code, hosts, page.comparison if page else None))
        elif page is not None:
            console.emit_document(page.document)
        if page is not None:
            for path in page.write(host_results.pages_of(options.results, page)):
                console.say(f"wrote {path}")
        raise typer.Exit(code)


def _print_host(console: Console, host: str, outcome: RunOutcome) -> None:
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
