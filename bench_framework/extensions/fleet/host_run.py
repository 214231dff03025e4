"""A run on a host of a Dask cluster: follow it, store its record here, and report it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from bench_framework import errors
from bench_framework.execution.machine.host import seconds
from bench_framework.execution.process import scratch_folder
from bench_framework.execution.progress import Message, Observer, Waiting
from bench_framework.execution.stop import Stop
from bench_framework.extensions.fleet.arrival import ExpectedRecord, update_of
from bench_framework.extensions.fleet.bundle import damaged
from bench_framework.extensions.fleet.job import NAME, JobResult
from bench_framework.extensions.fleet.selection import WorkerPlace
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.plan import Plan
from bench_framework.store import baselines, layout
from bench_framework.store.records import Record
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.run import RunOutcome, finish_record
from bench_framework.workflow.run_options import RunOptions

_CHECK_S: Final = 2.0
"""Interval in seconds at which the state of a run is checked."""
_MOST_STOPS: Final = 2
"""Number of requests to stop that are sent: to end after the current run, and to kill it."""


@dataclass(frozen=True, slots=True)
class HostOutcome:
    """The outcome of a run on one of several hosts, or the error that ended it."""

    host: str
    outcome: RunOutcome | None = None
    error: errors.BenchError | None = None
    replaced_by: str = ""
    """The host that measured in place of a lost one."""

    @property
    def exit_code(self) -> int:
        """Exit code of the run. An error other than an interruption is a failed measurement."""
        if self.outcome is not None:
            return self.outcome.exit_code
        if self.replaced_by:
            return errors.EXIT_DONE
        interrupted = isinstance(self.error, errors.Interrupted)
        return errors.EXIT_INTERRUPTED if interrupted else errors.EXIT_NOT_MEASURED

    def checked(self) -> RunOutcome:
        """Return the outcome of the run. Raises `BenchError`: the error that ended it."""
        if self.error is not None:
            raise self.error
        assert self.outcome is not None
        return self.outcome


@dataclass(slots=True)
class HostRun:
    """A run on a host that the client follows."""

    place: WorkerPlace
    number: int
    running: Any
    """A `cluster.Running`."""
    observer: Observer
    stop: Stop
    plan: Plan
    options: RunOptions
    pages: bool = True
    begin: float = field(default_factory=seconds)
    checked: float = 0.0
    sent_stops: int = 0
    started: bool = False
    silent: bool = False
    """True if the host sends no heartbeats."""
    result: JobResult | None = None
    error: errors.BenchError | None = None
    folder: Path | None = None
    """The record, as soon as it has arrived."""
    replaced_by: str = ""

    @property
    def host(self) -> str:
        """Name of the host."""
        return self.place.name

    @property
    def ended(self) -> bool:
        """True if there is a result or an error."""
        return self.result is not None or self.error is not None

    def poll(self, timeout_s: float) -> None:
        """Pass updates and requests to stop on, and take the result. Errors are kept."""
        try:
            self._pass_on(timeout_s)
            if not self.started and seconds() - self.begin > _CHECK_S:
                place = phrase_of(ExtensionCode.HOST, self.host)
                self.observer.notify(Waiting(place, seconds() - self.begin))
            if self.stop.level > self.sent_stops:
                self._request_stop()
            if self.running.finished or seconds() - self.checked >= _CHECK_S:
                self.checked = seconds()
                if (result := self.running.result()) is not None:
                    self._take(result)
                if not self.ended and self.running.silent != self.silent:
                    self.silent = not self.silent
                    lost, back = ExtensionCode.NO_CONTACT, ExtensionCode.CONTACT_AGAIN
                    self.observer.notify(Message(phrase_of(lost if self.silent else back)))
        except errors.BenchError as error:
            self.error = error

    def replace_by(self, spare: WorkerPlace | None) -> None:
        """Note the host that measures in place of this lost one; `None`: no host is free."""
        assert self.error is not None
        text = phrase_of(ExtensionCode.NO_HOST_FREE)
        if spare is not None:
            self.replaced_by = spare.name
            text = phrase_of(ExtensionCode.REPLACED_BY, spare.name)
        self.error.details = (*self.error.details, ("then", text))

    @property
    def end(self) -> str:
        """How the run ended."""
        if self.error is not None:
            then = (value for name, value in self.error.details if name == "then")
            return "; ".join((self.error.message, *then))
        assert self.result is not None
        if self.folder is None:
            return self.result.resume
        return phrase_of(ExtensionCode.RECORD, str(self.folder))

    def _take(self, result: JobResult) -> None:
        self._pass_on(0)
        if result.error is not None:
            result.error.details = (("host", self.host), *result.error.details)
            raise result.error
        if result.archive:
            self.folder = _store(
                result.archive,
                self.host,
                self.plan.name,
                self.options.results,
                ExpectedRecord(self.place, self.plan, second_pass=not self.pages).check,
            )
            self.running.stored()
        self.result = replace(result, archive=b"")  # a large fleet has gigabytes of records

    def _request_stop(self) -> None:
        """Pass Ctrl-C on to the host. Raises `Interrupted`: the run had not started."""
        self.sent_stops += 1
        if self.started and self.sent_stops <= _MOST_STOPS:
            self.running.stop()
            return
        state = Phrase(ExtensionCode.NO_ANSWER)
        if not self.started:
            self.running.cancel()
            state = Phrase(ExtensionCode.HAD_NOT_STARTED)
        raise errors.Interrupted("BX130.request-stop", host=self.host, state=state)

    def _pass_on(self, timeout_s: float) -> None:
        for lines in self.running.updates(timeout_s):
            self.started = True
            try:
                for line in lines:
                    self.observer.notify(update_of(line, self.host))
            except errors.MachineError:
                self.running.stop()
                raise

    def outcome(self) -> HostOutcome:
        """Report the record, and return the outcome of the run."""
        if self.result is None:
            return HostOutcome(self.host, error=self.error, replaced_by=self.replaced_by)
        try:
            return HostOutcome(self.host, self._outcome(self.result))
        except errors.BenchError as error:
            return HostOutcome(self.host, error=error)

    def _outcome(self, result: JobResult) -> RunOutcome:
        if self.folder is None:
            resume = phrase_of(ExtensionCode.ON_HOST_TOO, result.resume, self.host)
            return RunOutcome(None, None, None, (), resume, result.exit_code)
        with Record.open(self.folder) as record:
            outcome = finish_record(record, self.options, pages=self.pages)
        if result.exit_code == errors.EXIT_INTERRUPTED:
            resume = phrase_of(ExtensionCode.PROFILES_MISSING)
            return replace(outcome, exit_code=errors.EXIT_INTERRUPTED, resume=resume)
        return outcome


def _store(
    archive: bytes, host: str, scenario: str, results: Path, check: Callable[[Path], object]
) -> Path:
    """Check a record, also against its manifest, and add it to the records. Raises `MachineError` (BX264)."""
    what = Phrase(ExtensionCode.RECORD_OF, host)
    with layout.writing(results), scratch_folder() as scratch:
        path = Path(scratch, "record.tar.gz")
        path.write_bytes(archive)
        try:
            entry = baselines.read_entry(path)
            if (entry.scenario, entry.name) != (scenario, NAME):
                raise damaged(Phrase(ExtensionCode.OF_SCENARIO, entry.scenario), what)
            if entry.folder_in(results).exists():
                raise damaged(Phrase(ExtensionCode.STORED_ALREADY, entry.record), what)
            baselines.extract(path, entry, results, check)
        except (errors.UsageError, errors.RecordError) as error:
            archive_name = phrase_of(ExtensionCode.ARCHIVE)
            raise damaged(error.message.replace(str(path), archive_name), what) from error
    return entry.folder_in(results)
