"""From a scenario to a record and its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench_framework.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_NOT_MEASURED,
    BenchError,
    Interrupted,
    MachineError,
    UsageError,
)
from bench_framework.execution.progress import (
    InterimVerdicts,
    Message,
    Observer,
    PlanReady,
    Resumed,
    SilentObserver,
)
from bench_framework.workflow.pages import Pages, judge_record, require_readable, write_pages
from bench_framework.workflow.preparation import prepare
from bench_framework.workflow.profile import profile_run, wanted
from bench_framework.workflow.run_options import plan_run
from bench_framework.workflow.scenarios import find_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bench_framework.execution.process import Launcher
    from bench_framework.execution.stop import Stop
    from bench_framework.model.judgement import Judgement
    from bench_framework.model.plan import Plan
    from bench_framework.report import Document
    from bench_framework.store.records import Record
    from bench_framework.workflow.preparation import Prepared
    from bench_framework.workflow.run_options import RunOptions


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left.

    Attributes:
        record: its folder; `None` if it was stopped before there was one.
        judgement: `None` if it was interrupted.
        document: of the report; likewise.
        failures: what could not be measured, each with what to do.
        resume: how to go on, if it was interrupted.
        exit_code: as HOUSE 8.
    """

    record: Path | None
    judgement: Judgement | None
    document: Document | None
    failures: tuple[BenchError, ...]
    resume: str | None
    exit_code: int


def run_scenario(name: str, options: RunOptions, observer: Observer | None = None) -> Outcome:
    """Build, run, judge and report a scenario; resumes an interrupted record of it.

    Args:
        name: a file, or the name of a shipped scenario.
        options: see there.
        observer: receives the progress.

    Raises:
        ScenarioError, UsageError: nothing was done. BX113, where a template fails on the page: all was measured.
        GateError: BX111, base and head are one commit.
        MachineError: this machine cannot measure; nothing was measured.
        RecordError: an interrupted record cannot be continued.
    """
    plan = plan_run(name, options)
    if options.template is not None:
        require_readable(options.template)  # after an hour of measuring it would be late to say so
    return run_plan(plan, find_scenario(name).read_text(encoding="utf-8"), options, observer)


def run_plan(
    plan: Plan, text: str, options: RunOptions, observer: Observer | None = None
) -> Outcome:
    """Build, run, judge and report a plan, whatever made it.

    Args:
        plan: what to measure.
        text: of its scenario; the record keeps it.
        options: folder and whether to resume; what to select was decided in `plan`.
        observer: receives the progress.

    Raises:
        MachineError, RecordError: as `run`.
    """
    from bench_framework.execution import affinity, host, lock, process, stop

    host.require_linux()
    affinity.require(plan)
    observer = observer or SilentObserver()
    observer.notify(PlanReady(plan))
    with process.Launcher() as launcher:
        stopping = stop.Stop(launcher, lambda level: observer.notify(Message(_on_stop(level))))
        try:
            with stopping.on_signals(), lock.MachineLock(plan.name, observer, stopping):
                return _run_locked(plan, text, options, observer, launcher, stopping)
        except Interrupted:  # while it waited for another benchctl
            return _interrupted(None, plan)


def _run_locked(
    plan: Plan,
    text: str,
    options: RunOptions,
    observer: Observer,
    launcher: Launcher,
    stopping: Stop,
) -> Outcome:
    record: Record | None = None
    try:
        prepared = prepare(plan, options, observer, launcher, stopping)
        plan = prepared.plan
        record = _record_for(plan, text, options, observer, prepared)
        with record:
            _tune(plan, record, prepared, observer, launcher, stopping)
            _measure(plan, record, prepared, observer, launcher, stopping)
            _observe(plan, record, prepared, observer, launcher, stopping)
            stopped = options.profile is not False and profile_run(
                record,
                prepared.builds,
                prepared.inputs,
                wanted(plan, asked=bool(options.profile)),
                observer,
                launcher,
                stopping,
            )
    except Interrupted:
        return _interrupted(record, plan)
    judgement = judge_record(record)
    record.save(judgement)
    pages = _pages(record, judgement, options)
    failures = _failures(plan, record)
    code = EXIT_NOT_MEASURED if failures else EXIT_DONE
    if stopped:
        resume = f"profiling was stopped, all else is done; `benchctl profile {record.path}` makes the profiles"
        return Outcome(record.path, judgement, pages.document, failures, resume, EXIT_INTERRUPTED)
    return Outcome(record.path, judgement, pages.document, failures, None, code)


def _pages(record: Record, judgement: Judgement, options: RunOptions) -> Pages:
    """The record's pages. A template that fails costs nothing that was measured: the shipped ones stand in for it."""
    try:
        return write_pages(
            record, judgement, embed_runs=options.embed_runs, template=options.template
        )
    except UsageError as error:
        if options.template is None:
            raise
        write_pages(record, judgement, embed_runs=options.embed_runs)
        raise UsageError(
            error.message,
            code=error.code,
            details=error.details,
            effect="everything was measured and is kept; the pages are those of the shipped templates",
            help=f"mend it, then: benchctl report {record.path} --template {options.template}",
        ) from error


def _record_for(
    plan: Plan, text: str, options: RunOptions, observer: Observer, prepared: Prepared
) -> Record:
    from bench_framework.execution.host import utc_now
    from bench_framework.store import lines
    from bench_framework.store.records import Record, find_resumable, require_same
    from bench_framework.version import __version__

    record = None if options.fresh else find_resumable(options.results, plan)
    if record is not None:
        require_same(record, plan, prepared.host, prepared.builds)
        done = sum(record.contents.rounds.values())
        kept = f"continuing the interrupted record {record.path}: whole rounds kept: {done}"
        observer.notify(
            Message(f"{kept} (--fresh starts over); a round that was cut is measured again")
        )
    else:
        try:
            record = Record.create(
                options.results,
                plan,
                text,
                started_at=utc_now(),
                benchctl=__version__,
            )
        except OSError as error:
            raise MachineError(
                f"cannot write a record into {options.results}: {error.strerror}",
                code="BX235",
                effect="nothing was measured",
                help="--out names another folder",
            ) from error
    record.prepare(at=utc_now(), host=prepared.host, builds=prepared.builds, inputs=prepared.inputs)
    known = set(record.contents.events)
    for event in prepared.events:
        if event not in known:
            record.append(lines.Noted(event))
    observer.notify(Resumed(record.contents.rounds))
    return record


def _tune(
    plan: Plan,
    record: Record,
    prepared: Prepared,
    observer: Observer,
    launcher: Launcher,
    stopping: Stop,
) -> None:
    from bench_framework.execution import host, tuning

    if plan.tuning and not tuning.is_done(record):
        observer.notify(Message("tuning: one command, before anything is measured"))
        tuning.tune(
            plan, record, prepared.builds, prepared.inputs, launcher, host.environment(), stopping
        )


def _measure(
    plan: Plan,
    record: Record,
    prepared: Prepared,
    observer: Observer,
    launcher: Launcher,
    stopping: Stop,
) -> None:
    from bench_framework.compare.interim_analysis import look
    from bench_framework.execution import host, racing, rounds

    builds = {build.id: build for build in prepared.builds}

    def looker(input_id: str, index: int, number: int) -> racing.Decision:
        seen = look(plan, record.contents.blocks, input_id, index, number, builds=builds)
        observer.notify(InterimVerdicts(seen.verdicts))
        return racing.Decision(seen.stop, seen.reason, seen.trailing, seen.idle)

    rounds.measure(
        plan,
        record,
        builds=prepared.builds,
        inputs=prepared.inputs,
        launcher=launcher,
        hyperfine=prepared.hyperfine,
        observer=observer,
        looker=looker,
        stop=stopping,
        env=host.environment(),
    )


def _observe(
    plan: Plan,
    record: Record,
    prepared: Prepared,
    observer: Observer,
    launcher: Launcher,
    stopping: Stop,
) -> None:
    from bench_framework.execution import host, observations

    observations.observe_cells(
        plan,
        record,
        builds=prepared.builds,
        inputs=prepared.inputs,
        launcher=launcher,
        observer=observer,
        stop=stopping,
        env=host.environment(),
    )


def _interrupted(record: Record | None, plan: Plan) -> Outcome:
    resume = f"interrupted; `{plan.command}` "
    if record is None:
        return Outcome(
            None,
            None,
            None,
            (),
            resume + "starts again; builds and inputs are kept",
            EXIT_INTERRUPTED,
        )
    record.save()
    record.close()
    done = sum(record.contents.rounds.values())
    kept = f"{done} whole round is" if done == 1 else f"{done} whole rounds are"
    resume += f"resumes: {kept} kept in {record.path}"
    return Outcome(record.path, None, None, (), resume, EXIT_INTERRUPTED)


def _on_stop(level: int) -> str:
    return (
        "stopping after the run in flight; Ctrl-C again kills it"
        if level == 1
        else "killed the run in flight; nothing of it is kept"
    )


def _failures(plan: Plan, record: Record) -> tuple[BenchError, ...]:
    """What could not be measured, as the user is told at the end: builds first, then cells."""
    from bench_framework.errors import AnswerError, BuildError, CellError

    contents = record.contents
    found: list[BenchError] = []
    for build in contents.builds:
        if not build.ok:
            lost = [
                v.label for v in plan.variants if v.build is not None and v.build.id == build.id
            ]
            found.append(
                BuildError(
                    f"cannot build {', '.join(lost) or build.id}",
                    details=(
                        ("cargo", build.message or "failed"),
                        *((("log", build.log),) if build.log else ()),
                    ),
                    effect="these variants are reported as failed; the others were measured",
                    help="mend the build and run again",
                )
            )
    kinds = {"BX210": AnswerError}
    for event in contents.events:
        if event.severity == "error":
            kind = kinds.get(event.code, CellError)
            found.append(
                kind(
                    event.message,
                    code=event.code,
                    details=event.details,
                    effect=event.effect,
                    help=event.help,
                )
            )
    return tuple(found)


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """The outcome as one JSON document, for ``--json``."""
    judgement = outcome.judgement
    return {
        "record": str(outcome.record) if outcome.record else None,
        "exit_code": outcome.exit_code,
        "status": judgement.status if judgement else "interrupted",
        "claims": [
            _claim(claim.id, claim.kind, claim.verdict, claim.text) for claim in judgement.claims
        ]
        if judgement
        else [],
        "failures": [
            {"code": error.code, "message": error.message, "help": error.help}
            for error in outcome.failures
        ],
        "resume": outcome.resume,
    }


def _claim(identity: str, kind: str, verdict: object, text: str) -> Mapping[str, str | None]:
    return {
        "id": identity,
        "kind": kind,
        "verdict": str(verdict) if verdict else None,
        "text": text,
    }
