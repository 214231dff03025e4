"""A run on a host: its request, its result, and the process that measures.

The process is a child of the Dask worker. It measures as `benchctl run` does, in its only thread.
"""

import base64
import json
import pickle
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

from bench_framework.errors import (
    EXIT_DONE,
    BenchError,
    Interrupted,
    RecordError,
    ScenarioError,
    UsageError,
)
from bench_framework.execution.progress import (
    BlockStarted,
    LookTaken,
    PlanReady,
    RoundFinished,
    Update,
)
from bench_framework.model.gate import Gating
from bench_framework.model.plan import Plan
from bench_framework.store import layout
from bench_framework.workflow.fleet.bundle import Bundle
from bench_framework.workflow.fleet.programs import Programs
from bench_framework.workflow.run_options import RunOptions, plan_run
from bench_framework.workflow.run_progress import Work
from bench_framework.workflow.scenarios.files import find_scenario

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


@dataclass(frozen=True, slots=True)
class Job:
    """A request to measure a scenario.

    Attributes:
        token: random name of this run.
        origin: the client and the folder of the files there. Runs of one origin share a folder.
        scenario: name of a bundled scenario, or path of its file from `cwd`.
        cwd: path of the current folder in the bundle.
        words: further words of the command, for the report.
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
    words: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    accepted: str = ""
    programs: Programs | None = None
    confirms: tuple[Gating, str] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run: the archive of its finished record, or an error, or how to resume it."""

    exit_code: int = EXIT_DONE
    archive: bytes = b""
    error: BenchError | None = None
    resume: str = ""


class _Stream:
    """An observer that writes each update as a line into a file, and after each round its progress as JSON.

    The start of a timing is left out, because nothing is drawn on this machine.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._work: Work | None = None

    def notify(self, update: Update) -> None:
        """Write the update."""
        if isinstance(update, PlanReady):
            self._work = Work(update.plan)
        if self._work is not None:
            self._work.take(update)
        if not isinstance(update, BlockStarted):
            self._file.write(base64.b64encode(pickle.dumps(update)) + b"\n")
        if self._work is not None and isinstance(update, (PlanReady, RoundFinished, LookTaken)):
            self._file.write(json.dumps(self._work.summary).encode() + b"\n")


def main(folder: str) -> None:
    """Measure the request in a folder, which gets the updates, the archive and the result."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    place = Path(folder)
    job = pickle.loads((place / REQUEST).read_bytes())  # noqa: S301 -- the parent wrote it
    with (place / UPDATES).open("wb", buffering=0) as file:  # from here on, signals are handled
        try:
            result = _measure(job, place, _Stream(file))
        except ScenarioError as error:  # a file that only the host has can make it invalid there
            details = tuple((problem.code, problem.message) for problem in error.problems)
            result = Result(error=UsageError(error.message, code=error.code, details=details))
        except BenchError as error:
            result = Result(error=error)
        except KeyboardInterrupt:
            result = Result(error=Interrupted("interrupted", effect="nothing was measured"))
    (place / RESERVE).unlink(missing_ok=True)
    layout.write_whole(place / RESULT, pickle.dumps(result))


def _measure(job: Job, place: Path, observer: _Stream) -> Result:
    from bench_framework.workflow.run import run_plan

    plan = plan_run(job.scenario, job.options)
    gate = replace(plan.judge.gate, accepted=job.accepted)  # the client reads it
    plan = replace(plan, asked=(*plan.asked, *job.words), judge=replace(plan.judge, gate=gate))
    if job.confirms is not None:
        plan = _confirmation(plan, *job.confirms)
    text = find_scenario(job.scenario).read_text(encoding="utf-8")
    with layout.writing(job.options.results):
        for name in filter(layout.is_record_id, job.taken):  # so no new record gets this id
            (job.options.results / plan.name / name).mkdir(parents=True, exist_ok=True)
    options = job.options
    if job.programs is not None:
        from bench_framework.execution.machine.host import cache_root

        root = Path(str(Path.cwd()).removesuffix(job.cwd))
        given = (plan, root, place.parent / PROGRAMS, cache_root())
        options = replace(options, builds=job.programs.receive(*given))
    outcome = run_plan(plan, text, options, observer)
    if outcome.record is not None and outcome.judgement is not None:
        _write_archive(outcome.record, job.options.results, place / ARCHIVE)
    return Result(outcome.exit_code, resume=outcome.resume or "")


def _confirmation(plan: Plan, first: Gating, record_id: str) -> Plan:
    """Return the plan of a second pass. Raises `RecordError` (BX410): this host has no such configuration."""
    from bench_framework.features.gate.outcome import confirmation_plan

    again = confirmation_plan(plan, first, record_id)
    if again is None or not again.cells:
        raise RecordError(
            "the suspicious configurations do not exist on this host",
            code="BX410",
            effect="nothing was measured here",
            fix="copy the same inputs to all hosts of a kind",
        )
    return again


def _write_archive(folder: Path, results: Path, path: Path) -> None:
    from bench_framework.execution.machine.host import utc_now
    from bench_framework.model.machine import fingerprint
    from bench_framework.store import baselines, manifest, wire

    machine = fingerprint(wire.load_host((folder / layout.ENV).read_bytes()))
    digest = manifest.digest_of(manifest.read_manifest(folder))
    version, scenario = baselines.SCHEMA_VERSION, folder.parent.name
    baseline = baselines.Baseline(version, NAME, scenario, folder.name, digest, machine, utc_now())
    baselines.write_archive(path, baseline, results)
