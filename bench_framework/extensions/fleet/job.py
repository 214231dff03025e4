"""A run on a host for a client: its request, its result, and the process that measures.

The process is a child of the Dask worker. It measures as `benchctl run` does, in its only thread. The worker
unpacks the files, starts the process and relays its updates.
"""

import base64
import contextlib
import json
import os
import pickle
import shutil
import signal
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final

from bench_framework import errors
from bench_framework.execution import progress
from bench_framework.execution.build.revisions import key_of
from bench_framework.execution.machine import host
from bench_framework.execution.process import Command, Finished, Launcher
from bench_framework.extensions.fleet.bundle import Bundle, unpack
from bench_framework.extensions.fleet.programs import Programs
from bench_framework.model.plan.plan import Plan
from bench_framework.model.result.gate import Gating
from bench_framework.store import layout
from bench_framework.store.finding import find_records
from bench_framework.workflow.run_options import RunContext, RunOptions, find_scenario, plan_run
from bench_framework.workflow.run_progress import Work, count_update

REQUEST: Final = "request"
RESULT: Final = "result"
UPDATES: Final = "updates"
PROGRAMS: Final = "programs"
"""Folder with the programs that the client built, next to the folder of the request."""
RESERVE: Final = "reserve"
"""A file that is removed before the result is written, which names a full disk."""
RESERVE_BYTES: Final = 1 << 16
ARCHIVE: Final = "record.tar.gz"
NAME: Final = "fleet"
"""Name of the baseline that an archive contains its record as."""
FOLDER: Final = "fleet"
"""Folder of the cache with one folder per origin."""
RELAY_S: Final = 0.5
"""Interval in seconds at which updates are sent. The file of updates does not grow during a timing."""
_LINES: Final = 12
_CALL: Final = (
    "import sys; from bench_framework.extensions.fleet.job import main; main(sys.argv[1])"
)
Send = Callable[[list[bytes]], object]
_stops: dict[str, int] = {}
"""Number of stop requests by the token of each run of this process."""
_finished: dict[str, Path] = {}
"""Finished record of each run of this process by its token, until the client has stored it."""
_progress: dict[str, tuple[dict[str, Any], float]] = {}
"""Progress of each run by its token, with the time at which it was written."""


@dataclass(frozen=True, slots=True)
class Job:
    """A request to measure a scenario.

    Attributes:
        token: random name of this run.
        origin: the client and the folder of the files there. Runs of one origin share a folder.
        scenario: name of a bundled scenario, or path of its file from `cwd`.
        cwd: path of the current folder in the bundle.
        context: place of the run in the fleet; the host adds the builds.
        scheduler: address of the scheduler, for the report.
        taken: ids that the record must not have.
        accepted: the client's path of the file of accepted changes; empty without one.
        programs: the programs of the plan; `None` if the host builds them.
        confirms: result and id of the record of another host, whose possible regressions are measured.
    """

    token: str
    origin: str
    scenario: str
    cwd: str
    bundle: Bundle
    options: RunOptions
    context: RunContext
    scheduler: str = ""
    taken: tuple[str, ...] = ()
    accepted: str = ""
    programs: Programs | None = None
    confirms: tuple[Gating, str] | None = None


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a run: the archive of its finished record, or an error, or how to resume it.

    `record` is the path of the finished record on the host.
    """

    exit_code: int = errors.EXIT_DONE
    archive: bytes = b""
    record: str = ""
    error: errors.BenchError | None = None
    resume: str = ""


_STEPS: Final = (progress.PlanReady, progress.RoundFinished, progress.LookTaken)
"""Updates after which the progress is written."""


class _Stream:
    """An observer that writes each update as a line into a file, and after each round its progress as JSON.

    The start of a timing is left out, because nothing is drawn on this machine.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._work: Work | None = None

    def notify(self, update: progress.Update) -> None:
        self._work = count_update(self._work, update)
        if not isinstance(update, progress.BlockStarted):
            self._file.write(base64.b64encode(pickle.dumps(update)) + b"\n")
        if self._work is not None and isinstance(update, _STEPS):
            self._file.write(json.dumps(self._work.summary).encode() + b"\n")


def main(folder: str) -> None:
    """Measure the request in a folder, which gets the updates, the archive and the result."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    place = Path(folder)
    job = pickle.loads((place / REQUEST).read_bytes())  # noqa: S301 -- the parent wrote it
    with (place / UPDATES).open("wb", buffering=0) as file:  # from here on, signals are handled
        try:
            result = _measure(job, place, _Stream(file))
        except errors.ScenarioError as error:
            # A file that only the host has can make the scenario invalid there.
            details = tuple((problem.code, problem.message) for problem in error.problems)
            refusal = errors.UsageError.from_texts(error.code, error.message, details=details)
            result = JobResult(error=refusal)
        except errors.BenchError as error:
            result = JobResult(error=error)
        except KeyboardInterrupt:
            result = JobResult(error=errors.Interrupted("BX130.before-measurement"))
    (place / RESERVE).unlink(missing_ok=True)
    layout.write_whole(place / RESULT, pickle.dumps(result))


def _measure(job: Job, place: Path, observer: _Stream) -> JobResult:
    from bench_framework.workflow.run import run_plan

    plan = plan_run(job.scenario, job.options)
    gate = replace(plan.judge.gate, accepted=job.accepted)  # the client reads it
    # The folder of this machine's records is not that of the client.
    fleet = replace(plan.invocation, results="", scheduler=job.scheduler, host=job.context.host)
    plan = replace(
        plan,
        invocation=fleet,
        judge=replace(plan.judge, gate=gate),
    )
    text = find_scenario(job.scenario).read_text(encoding="utf-8")
    with layout.writing(job.options.results):
        _forget(job.options.results / plan.name, job.taken)
        for name in filter(layout.is_record_id, job.taken):  # so no new record gets this id
            (job.options.results / plan.name / name).mkdir(parents=True, exist_ok=True)
    context = job.context
    if job.programs is not None:
        root = Path(str(Path.cwd()).removesuffix(job.cwd))
        given = (plan, root, place.parent / PROGRAMS, host.cache_root())
        context = replace(context, builds=job.programs.receive(*given))
    plan = _with_benches(plan, observer)
    if job.confirms is not None:
        plan = _confirmation(plan, *job.confirms)
    options = job.options
    reopened = None if options.fresh else _reopened(plan, options.results)
    try:
        outcome = run_plan(plan, text, options, observer, context)
    except BaseException as error:
        if reopened is None:
            raise
        with contextlib.suppress(errors.BenchError):
            layout.write_whole(*reopened)  # it is still a finished record
        if not (isinstance(error, errors.RecordError) and error.code == "BX410"):
            raise
        outcome = run_plan(plan, text, replace(options, fresh=True), observer, context)
    if outcome.record is None or outcome.judgement is None:
        return JobResult(outcome.exit_code, resume=outcome.resume or "")
    _write_archive(outcome.record, options.results, place / ARCHIVE)
    _remove_older(outcome.record)
    return JobResult(outcome.exit_code, record=str(outcome.record), resume=outcome.resume or "")


def _reopened(plan: Plan, results: Path) -> tuple[Path, str] | None:
    """Make the finished record of a plan that no client has stored one that the run continues.

    So the run returns it without measuring again, if the programs are still the same and this host
    still leaves out the same configurations. Return the path and the text of its manifest; `None` if
    the plan has no record, or if the newest one is not finished.
    """
    from bench_framework.store.records import Record, plan_sha256
    from bench_framework.workflow.setup.capability import narrowed_as

    for folder in reversed(find_records(results, plan.name)):
        with contextlib.suppress(errors.BenchError), Record.open(folder) as record:
            digest = record.contents.header.plan_sha256
            if digest not in (plan_sha256(plan), plan_sha256(narrowed_as(plan, record.plan))):
                continue
            path = folder / layout.MANIFEST
            if not path.is_file():
                return None
            finished = path, path.read_text(encoding="utf-8")
            path.unlink()
            return finished
    return None


def _remove_older(path: Path) -> None:
    """Remove the records that a finished one replaces: older ones of its plan, which --fresh left.

    Otherwise the next run would return or resume one of them.
    """
    from bench_framework.store.records import Record

    with Record.open(path) as newest:
        digest = newest.contents.header.plan_sha256
    for folder in find_records(path.parent.parent, path.parent.name):
        if layout.order_key(folder.name) >= layout.order_key(path.name):
            continue
        older = False
        with contextlib.suppress(errors.BenchError), Record.open(folder) as record:
            older = record.contents.header.plan_sha256 == digest
        if older:
            shutil.rmtree(folder, ignore_errors=True)


def _with_benches(plan: Plan, observer: progress.Observer) -> Plan:
    """Return the plan with its benchmarks, which its bench targets list once they are built here."""
    from bench_framework.workflow.setup.benches import with_benches
    from bench_framework.workflow.setup.preparation import build_programs, open_driver

    if plan.benches is None:
        return plan
    with open_driver(plan, observer) as driver:
        builds = build_programs(plan, driver)
    return with_benches(plan, builds, progress.SilentObserver())[0]


def _confirmation(plan: Plan, first: Gating, record_id: str) -> Plan:
    """Return the plan of a second pass. Raises `RecordError` (BX410): this host has no such configuration."""
    from bench_framework.features.gate.plans import confirmation_plan

    again = confirmation_plan(plan, first, record_id)
    if again is None or not again.cells:
        raise errors.RecordError("BX410.no-configurations")
    return again


def _write_archive(folder: Path, results: Path, path: Path) -> None:
    from bench_framework.model.record.machine import fingerprint
    from bench_framework.store import baselines, manifest, wire

    machine = fingerprint(wire.load_host((folder / layout.ENV).read_bytes()))
    digest = manifest.digest_of_record(folder)
    scenario, at = folder.parent.name, host.utc_now()
    baseline = baselines.Baseline(NAME, scenario, folder.name, digest, machine, at)
    baselines.write_archive(path, baseline, results)


async def request_stop(token: str) -> None:
    """Request that a run stops, as Ctrl-C does: the second time, its current command is killed.

    Without waiting, Dask calls coroutines only.
    """
    if token in _stops:
        _stops[token] += 1


async def remove_record(token: str) -> None:
    """Remove the record of a run, which its client has stored."""
    if (record := _finished.pop(token, None)) is not None:
        shutil.rmtree(record, ignore_errors=True)


def state() -> dict[str, Any]:
    """Return load, free disk space and progress of this host. They are sent with each heartbeat."""
    run, written = next(iter([*_progress.values()]), (None, 0.0))
    if run is not None and run.get("left_s") is not None:
        run = {**run, "left_s": max(0.0, run["left_s"] - (host.seconds() - written))}
    free = host.free_bytes(host.cache_root())
    return {"load": os.getloadavg()[0], "free_bytes": free, "run": run}


def run_job(job: Job, send: Send) -> JobResult:
    """Measure for a client. `send` is called with the lines of updates; first without lines."""
    _stops[job.token] = 0
    _progress[job.token] = ({"scenario": Path(job.scenario).stem}, 0.0)
    try:
        send([])
        result = _run(job, send)
    except errors.BenchError as error:
        return JobResult(error=error)
    else:
        if result.archive:
            _finished[job.token] = Path(result.record)
        return result
    finally:
        del _stops[job.token], _progress[job.token]


def _run(job: Job, send: Send) -> JobResult:
    env = host.environment()
    project = host.cache_root(env) / FOLDER / key_of(job.origin)
    files, results, work = (project / name for name in ("files", "results", "work"))
    unpack(job.bundle, files)
    programs = job.programs
    if programs is not None:
        unpack(programs.bundle, project / PROGRAMS)
        programs = replace(programs, bundle=Bundle())
    layout.replace_folder(work, {})
    options = replace(job.options, results=results)
    request = replace(job, bundle=Bundle(), programs=programs, options=options)
    layout.write_whole(work / REQUEST, pickle.dumps(request))
    layout.write_whole(work / RESERVE, bytes(RESERVE_BYTES))
    log = work / "stderr"
    # -P: the files of the scenario must not replace modules.
    argv = [sys.executable, "-P", "-c", _CALL, str(work)]
    with Launcher() as launcher:
        relay = _Relay(job.token, work / UPDATES, send, launcher)
        command = Command(argv, env, str(files / job.cwd), stderr=str(log))
        finished = launcher.run(command, relay.poll, RELAY_S)
    relay.pass_on()
    return _result(work, finished, log, stopped=_stops[job.token] > 0)


def _result(work: Path, finished: Finished, log: Path, *, stopped: bool) -> JobResult:
    if finished.ok and (work / RESULT).is_file():
        result: JobResult = pickle.loads((work / RESULT).read_bytes())  # noqa: S301 -- of the child
        archive = work / ARCHIVE
        return replace(result, archive=archive.read_bytes() if archive.is_file() else b"")
    if stopped:
        raise errors.Interrupted("BX130.result")
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    raise errors.MachineError(
        "BX263.process-ended",
        details=(("stderr", "\n".join(lines[-_LINES:])),),
        how=finished.how,
    )


def _forget(scenario: Path, stored: Collection[str]) -> None:
    """Remove the finished records that the client has stored, and the folders that reserved ids."""
    for name in filter(layout.is_record_id, stored):
        if (scenario / name / layout.MANIFEST).is_file():
            shutil.rmtree(scenario / name, ignore_errors=True)
    for folder in scenario.glob("*"):
        with contextlib.suppress(OSError):  # it is not empty, or no folder
            folder.rmdir()


@dataclass(slots=True)
class _Relay:
    """Passes updates of the child on to the client, and stop requests of the client to the child."""

    token: str
    path: Path
    send: Send
    launcher: Launcher
    offset: int = 0
    stops: int = 0

    def poll(self) -> None:
        self.pass_on()
        process = self.launcher.running
        # The child handles signals once it has created the file.
        if process is not None and _stops[self.token] > self.stops and self.path.exists():
            self.stops += 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGINT)

    def pass_on(self) -> None:
        """Send the complete lines that were added to the file, except for the progress in JSON."""
        with contextlib.suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(self.offset)
            text = file.read()
            end = text.rfind(b"\n") + 1
            if end:
                self.offset += end
                lines = text[:end].splitlines()
                for line in lines:
                    if line.startswith(b"{"):
                        _progress[self.token] = (json.loads(line), host.seconds())
                self.send([line for line in lines if not line.startswith(b"{")])
