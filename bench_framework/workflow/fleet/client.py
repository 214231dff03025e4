"""Runs on hosts of a Dask cluster: send the scenario, follow the runs, store the records here."""

from __future__ import annotations

import base64
import pickle
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench_framework.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_NOT_MEASURED,
    BenchError,
    Interrupted,
    RecordError,
    UsageError,
)
from bench_framework.execution.machine.host import seconds, this_host_id
from bench_framework.execution.process import Launcher, scratch_folder
from bench_framework.execution.progress import (
    Message,
    Observer,
    RunEnded,
    SilentObserver,
    Waiting,
)
from bench_framework.execution.stop import Stop
from bench_framework.model.policies import HostPolicy
from bench_framework.store import layout
from bench_framework.workflow.fleet import access, load_cluster
from bench_framework.workflow.fleet.bundle import damaged, unsent
from bench_framework.workflow.fleet.job import NAME, Job, Result
from bench_framework.workflow.fleet.selection import shares
from bench_framework.workflow.fleet.sources import Package, package
from bench_framework.workflow.pages import require_readable
from bench_framework.workflow.run import Outcome, finish_record, outcome_document
from bench_framework.workflow.run_options import RunOptions, plan_run
from bench_framework.workflow.scenarios.files import plan_scenario

if TYPE_CHECKING:
    from bench_framework.model.plan import Plan

_POLL_S: Final = 0.2
_CHECK_S: Final = 2.0
"""Interval in seconds at which the state of a run is checked."""
_MOST_IDS: Final = 100
_MOST_STOPS: Final = 2
"""Number of requests to stop that are sent: to end after the current run, and to kill it."""


@dataclass(frozen=True, slots=True)
class HostOutcome:
    """The outcome of a run on one of several hosts, or the error that ended it."""

    host: str
    outcome: Outcome | None = None
    error: BenchError | None = None
    replaced_by: str = ""
    """The host that measured in place of a lost one."""

    @property
    def exit_code(self) -> int:
        """Exit code of the run. An error other than an interruption is a failed measurement."""
        if self.outcome is not None:
            return self.outcome.exit_code
        if self.replaced_by:
            return EXIT_DONE
        interrupted = isinstance(self.error, Interrupted)
        return EXIT_INTERRUPTED if interrupted else EXIT_NOT_MEASURED

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document of the run, with the name of the host."""
        error = None
        if self.error is not None:
            error = {"code": self.error.code, "message": self.error.message, "fix": self.error.fix}
        run = outcome_document(self.outcome) if self.outcome is not None else {}
        replaced = self.replaced_by or None
        return {"host": self.host, "error": error, "replaced_by": replaced, **run}


@dataclass(frozen=True, slots=True)
class Fleet:
    """A scheduler, and the hosts that the user chose: a name, several with commas, or `access.ALL`.

    Without a name, the hosts are those of the scenario. `insecure` permits a scheduler on another machine without TLS.
    """

    scheduler: str
    host: str = ""
    insecure: bool = False

    def several(self, name: str, options: RunOptions) -> bool:
        """Return whether several hosts can make a record of a scenario.

        Raises `ScenarioError`, `UsageError`: as `run_on_hosts`.
        """
        if (given := access.hosts_of(self.host)) is None:
            given = plan_scenario(name, overrides=options.overrides).hosts
        return given is not None and given.several

    def run(self, name: str, options: RunOptions, observer: Observer | None = None) -> Outcome:
        """Measure a scenario on a host, and report it here.

        Raises:
            ScenarioError, UsageError: nothing was measured; BX132, the package distributed is missing;
                BX133, the scheduler is on another machine and has no TLS; BX134, the scenario cannot be
                sent.
            MachineError: BX260, no scheduler; BX261, no worker; BX262, another version; BX263, the
                record is lost; BX264, it is damaged.
            BenchError: any error that `run_scenario` raised on the host.
        """
        given = observer or SilentObserver()
        *_, result = self.run_on_hosts(name, options, given, lambda _: given)
        if result.error is not None:
            raise result.error
        assert result.outcome is not None
        return result.outcome

    def run_on_hosts(
        self,
        name: str,
        options: RunOptions,
        observer: Observer,
        observer_of: Callable[[str], Observer],
    ) -> tuple[HostOutcome, ...]:
        """Measure a scenario on several hosts at the same time, with one record per host.

        `observer` follows what is done before, and `observer_of` returns the observer of a host. An
        error of a host does not stop the others. Unless the user chose one host, a free host of the same kind
        measures in place of one that is lost.

        Raises:
            UsageError: as `run`, and BX136, the names of the hosts are not valid.
            MachineError: BX260, BX261 and BX262, as `run`; nothing was measured.
        """
        policy = access.hosts_of(self.host)
        if options.gate:
            raise unsent(
                "--gate cannot be used with --scheduler", "use `benchctl gate` on the host"
            )
        address = access.find_address(self.scheduler)
        access.require_safe(address, insecure=self.insecure)
        cluster = load_cluster("--scheduler")
        plan = plan_run(name, options)
        if options.template is not None:
            require_readable(options.template)
        with Launcher() as launcher, cluster.connected(address) as connection:
            stop = Stop(launcher)

            def wait(time_s: float) -> None:
                observer.notify(Waiting("a worker", 0.0))
                stop.check()
                time.sleep(time_s)

            with stop.on_signals():
                policy = policy or plan.hosts or HostPolicy()
                onlys: list[str | None] = [options.only]
                if policy.split_inputs:
                    onlys = [*shares(plan, policy.split_inputs, options.only)]
                    policy = HostPolicy(split_inputs=len(onlys))
                places = connection.choose(policy, wait)
                sent = package(name, options, plan, launcher)

                def start(place: Any, number: int) -> _Run:
                    # A lost host keeps its unfinished record. The one in its place begins at a later number.
                    numbers = range(number, layout.NUMBERS.stop, len(places))
                    only = onlys[(number - 1) % len(onlys)]
                    given = replace(options, numbers=numbers, only=only)
                    job = self._job(sent, given, plan, place.name)
                    host = observer_of(place.name)
                    host.notify(Message(f"measuring on host {place.name} ({place.address})"))
                    running = connection.start(place, job)
                    return _Run(place, number, running, host, stop, plan.name, options)

                runs = [start(place, number) for number, place in enumerate(places, 1)]
                while open_ := [run for run in runs if not run.ended]:
                    for run in open_:
                        run.poll(_POLL_S / len(open_))
                        # A record is repeated only once, because it can be what ended the host.
                        first = run.number <= len(places) and not stop.level
                        spare = None
                        if run.running.gone and first and len(policy.names) != 1:
                            labels = run.place.labels.intersection(policy.labels)
                            used = [each.host for each in runs]
                            spare = connection.spare(run.place.kind, labels, used)
                            run.replace_by(spare)
                        if run.ended:
                            run.observer.notify(RunEnded(run.end))
                        if spare is not None:
                            runs.append(start(spare, run.number + len(places)))
        return tuple(run.outcome() for run in runs)

    def _job(self, sent: Package, options: RunOptions, plan: Plan, host: str) -> Job:
        given = plan.revisions
        return Job(
            secrets.token_hex(8),
            f"{this_host_id()}:{sent.root}",
            sent.scenario,
            sent.cwd,
            sent.bundle,
            replace(
                options,
                base=given.base if given is not None else None,
                head=given.head if given is not None else None,
                host=host,
                template=None,
                embed_runs=None,
                sign=None,
                pages=False,
            ),
            ("--scheduler", self.scheduler, "--host", host),
            _ids(options.results / plan.name),
        )


@dataclass(slots=True)
class _Run:
    """A run on a host that the client follows."""

    place: Any
    """A `cluster.Place`, whose module needs Dask."""
    number: int
    running: Any
    """A `cluster.Running`."""
    observer: Observer
    stop: Stop
    scenario: str
    options: RunOptions
    begin: float = field(default_factory=seconds)
    checked: float = 0.0
    sent_stops: int = 0
    started: bool = False
    silent: bool = False
    """True if the host sends no heartbeats."""
    result: Result | None = None
    error: BenchError | None = None
    folder: Path | None = None
    """The record, as soon as it has arrived."""
    replaced_by: str = ""

    @property
    def host(self) -> str:
        """Name of the host."""
        return str(self.place.name)

    @property
    def ended(self) -> bool:
        """True if there is a result or an error."""
        return self.result is not None or self.error is not None

    def poll(self, timeout_s: float) -> None:
        """Pass updates and requests to stop on, and take the result. Errors are kept."""
        try:
            self._pass_on(timeout_s)
            if not self.started and seconds() - self.begin > _CHECK_S:
                self.observer.notify(Waiting(f"host {self.host}", seconds() - self.begin))
            if self.stop.level > self.sent_stops:
                self._request_stop()
            if self.running.finished or seconds() - self.checked >= _CHECK_S:
                self.checked = seconds()
                self._take(self.running.result())
                self._note_contact()
        except BenchError as error:
            self.error = error

    def replace_by(self, spare: Any) -> None:
        """Note the `cluster.Place` that measures in place of this lost host; `None`: no host is free."""
        assert self.error is not None
        text = "no other host of its kind is free"
        if spare is not None:
            self.replaced_by = str(spare.name)
            text = f"host {spare.name}, of the same kind, measures in its place"
        self.error.details = (*self.error.details, ("then", text))

    @property
    def end(self) -> str:
        """How the run ended."""
        if self.error is not None:
            return "; ".join(
                (self.error.message, *(v for k, v in self.error.details if k == "then"))
            )
        assert self.result is not None
        return f"record {self.folder}" if self.folder is not None else self.result.resume

    def _take(self, result: Result | None) -> None:
        if result is None:
            return
        self._pass_on(0)
        if result.error is not None:
            result.error.details = (("host", self.host), *result.error.details)
            raise result.error
        if result.archive:
            self.folder = _store(result.archive, self.host, self.scenario, self.options.results)
        self.result = replace(result, archive=b"")  # a large fleet has gigabytes of records

    def _note_contact(self) -> None:
        """Notify the observer that heartbeats of the host are missing, or that they arrive again."""
        if not self.ended and self.running.silent != self.silent:
            self.silent = not self.silent
            text = "no contact with the host: waiting" if self.silent else "in contact again"
            self.observer.notify(Message(text))

    def _request_stop(self) -> None:
        """Pass Ctrl-C on to the host. Raises `Interrupted`: the run had not started."""
        self.sent_stops += 1
        if not self.started:
            self.running.cancel()
            effect = f"host {self.host} had not started; nothing was measured there"
            raise Interrupted("interrupted", effect=effect)
        if self.sent_stops > _MOST_STOPS:
            effect = f"host {self.host} did not answer, and may still measure"
            raise Interrupted("interrupted", effect=effect)
        self.running.stop()

    def _pass_on(self, timeout_s: float) -> None:
        for lines in self.running.updates(timeout_s):
            self.started = True
            for line in lines:
                # Dask itself unpickles what workers send.
                self.observer.notify(pickle.loads(base64.b64decode(line)))  # noqa: S301

    def outcome(self) -> HostOutcome:
        """Report the record, and return the outcome of the run."""
        if self.result is None:
            return HostOutcome(self.host, error=self.error, replaced_by=self.replaced_by)
        try:
            return HostOutcome(
                self.host, _outcome(self.result, self.folder, self.host, self.options)
            )
        except BenchError as error:
            return HostOutcome(self.host, error=error)


def _ids(folder: Path) -> tuple[str, ...]:
    """Return the newest ids of records that a new record of the scenario must not have."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return tuple(names[-_MOST_IDS:])


def _outcome(result: Result, folder: Path | None, host: str, options: RunOptions) -> Outcome:
    from bench_framework.store.records import Record

    if folder is None:
        resume = f"{result.resume} (on host {host})"
        return Outcome(None, None, None, (), resume, result.exit_code)
    with Record.open(folder) as record:
        outcome = finish_record(record, options)
    if result.exit_code == EXIT_INTERRUPTED:
        resume = "interrupted; all times were measured, but profiles can be missing"
        return replace(outcome, exit_code=EXIT_INTERRUPTED, resume=resume)
    return outcome


def _store(archive: bytes, host: str, scenario: str, results: Path) -> Path:
    """Check a record against its manifest, and add it to the records. Raises `MachineError` (BX264)."""
    from bench_framework.store import archives

    with layout.writing(results), scratch_folder() as scratch:
        path = Path(scratch, "record.tar.gz")
        path.write_bytes(archive)
        try:
            entry = archives.read_entry(path)
            if (entry.scenario, entry.name) != (scenario, NAME):
                raise damaged(f"it is of {entry.scenario}", f"the record of host {host}")
            archives.extract(path, entry, results)
        except (UsageError, RecordError) as error:
            cause = error.message.replace(str(path), "the archive")
            raise damaged(cause, f"the record of host {host}") from error
    return entry.folder(results)
