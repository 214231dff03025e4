"""Profiles: after a run, or of a record that is there. Measuring never depends on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench_framework.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_NOT_MEASURED,
    Interrupted,
    MachineError,
    RecordError,
    UsageError,
)
from bench_framework.execution.progress import (
    InterruptibleObserver,
    Message,
    Observer,
    PlanReady,
    Remark,
    SilentObserver,
)
from bench_framework.model.profile import OTHER, Bucket, ProfilePolicy
from bench_framework.workflow import corrupt_records
from bench_framework.workflow.pages import carries_runs, judge_record, own_templates, write_pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bench_framework.execution.process import Launcher
    from bench_framework.execution.profiles import Outcome
    from bench_framework.execution.stop import Stop
    from bench_framework.model.plan import Cell, Plan
    from bench_framework.model.profile import ProfileShares, SamplerWanted, UnwindingWanted
    from bench_framework.model.run import Build, Event, PreparedInput
    from bench_framework.report import Document
    from bench_framework.store.records import Record

SECTIONS = ("S15",)


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """What `benchctl profile` may be told; what is left out is as the scenario says, or by default.

    Attributes:
        only: words of ``-k``; without them the cells that the scenario names, else those of the baseline.
        buckets: such as ``JSON=serde|sonic``; they replace those of the scenario.
    """

    only: str | None = None
    runs: int | None = None
    frequency_hz: int | None = None
    sampler: SamplerWanted | None = None
    stacks: UnwindingWanted | None = None
    buckets: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Profiled:
    """What `benchctl profile` made.

    Attributes:
        record: its folder.
        profiles: shares of the cells that were profiled now.
        document: the report's section on profiles.
        events: what could not be profiled, and why.
        exit_code: as HOUSE 8.
    """

    record: Path
    profiles: tuple[ProfileShares, ...]
    document: Document
    events: tuple[Event, ...]
    exit_code: int


def wanted(plan: Plan, *, asked: bool) -> ProfilePolicy | None:
    """What a run profiles: what the scenario says, and, only if it was asked for, what it says is for the asking."""
    if plan.profile is None:
        return ProfilePolicy((plan.baseline_id,)) if asked else None
    return plan.profile if asked or plan.profile.after_run else None


def profile_run(
    record: Record,
    builds: Sequence[Build],
    inputs: Sequence[PreparedInput],
    policy: ProfilePolicy | None,
    observer: Observer,
    launcher: Launcher,
    stopping: Stop,
) -> bool:
    """Profile what was just measured; warnings become part of the record. Returns whether the user stopped it."""
    from bench_framework.store import lines

    if policy is None:
        return False
    outcome = _profile(record, builds, inputs, policy, None, (observer, launcher, stopping))
    known = set(record.contents.events)
    for event in outcome.events:
        observer.notify(Remark(event))
        if event not in known:
            record.append(lines.Noted(event))
    return outcome.stopped


def profile_record(
    results: Path, name: str, options: ProfileOptions, observer: Observer | None = None
) -> Profiled:
    """Profile cells of a record with the binaries that it measured, and write its report again.

    Verdicts are read from the record; none is recomputed.

    Raises:
        UsageError: BX119, an option that cannot be read; BX106, a selection that takes no cell.
        RecordError: BX413, the record was not measured to its end.
        MachineError: BX350, nothing can be profiled on this machine.
    """
    from bench_framework.execution import datasets, host, lock, process, stop
    from bench_framework.store import finding, records

    host.require_linux()
    observer = observer or SilentObserver()
    folder = finding.resolve_measured(results, name, lambda text: observer.notify(Message(text)))
    with (
        records.Record.open(folder) as record,
        corrupt_records.blamed(folder),
        process.Launcher() as launcher,
    ):
        if not record.contents.complete:
            raise RecordError(
                "the record was not measured to its end",
                code="BX413",
                help=f"`{record.plan.command}` goes on with it",
            )
        policy = _policy(record.plan, options)
        cells = _selected(record.plan, options.only) if options.only else None
        stopping = stop.Stop(launcher, lambda level: observer.notify(Message(_on_stop(level))))
        env = host.environment()
        observer.notify(PlanReady(record.plan))
        with stopping.on_signals(), lock.MachineLock(record.plan.name, observer, stopping):
            inputs = datasets.prepare_inputs(
                record.plan, env, InterruptibleObserver(observer, stopping)
            )
            _require_same_inputs(record, inputs)
            outcome = _profile(
                record,
                record.contents.builds,
                inputs,
                policy,
                cells,
                (observer, launcher, stopping),
            )
        return _written(record, outcome, observer)


def _profile(
    record: Record,
    builds: Sequence[Build],
    inputs: Sequence[PreparedInput],
    policy: ProfilePolicy,
    cells: tuple[Cell, ...] | None,
    means: tuple[Observer, Launcher, Stop],
) -> Outcome:
    from bench_framework.execution import datasets, host, profiles
    from bench_framework.store import layout
    from bench_framework.store.profiles import write_profile

    observer, launcher, stopping = means
    env, plan = host.environment(), record.plan
    subject = profiles.Subject(
        plan,
        record.contents.blocks,
        {build.id: build for build in builds},
        {item.input_id: item for item in inputs},
        str(record.path / layout.TUNING),
    )
    outcome = profiles.profile(
        subject,
        policy,
        profiles.cells_of(plan, policy) if cells is None else cells,
        profiles.Means(
            launcher,
            env,
            stopping,
            observer,
            datasets.workplace(plan, env),
        ),
    )
    for profile in outcome.profiles:
        write_profile(record.path, profile)
    return outcome


def _written(record: Record, outcome: Outcome, observer: Observer) -> Profiled:
    """The record with its new profiles, judged as it was."""
    from bench_framework.features.document import build_document
    from bench_framework.features.profile.compute import attach
    from bench_framework.store.profiles import read_profiles
    from bench_framework.workflow.pages import report_data

    if not outcome.profiles:
        if outcome.stopped:
            raise Interrupted(
                "interrupted", effect="nothing was profiled", help="run the same command again"
            )
        first = outcome.events[0]
        raise MachineError(
            first.message,
            code=first.code,
            details=first.details,
            effect=first.effect,
            help=first.help,
        )
    for event in outcome.events:
        observer.notify(Remark(event))
    saved = record.judgement()
    judgement = (
        judge_record(record)
        if saved is None
        else attach(saved, record.plan, read_profiles(record.path, record.plan))
    )
    record.save(judgement)
    write_pages(record, judgement, embed_runs=carries_runs(record), template=own_templates(record))
    made = {profile.cell_id for profile in outcome.profiles}
    code = (
        EXIT_INTERRUPTED if outcome.stopped else EXIT_NOT_MEASURED if outcome.events else EXIT_DONE
    )
    if [e.code for e in outcome.events] == ["BX351"] and not outcome.stopped:
        code = EXIT_DONE  # callgrind counted in place of perf: there is a profile, of another kind
    return Profiled(
        record.path,
        tuple(shares for shares in judgement.profiles if shares.cell_id in made),
        build_document(report_data(record, judgement), only=SECTIONS),
        tuple(outcome.events),
        code,
    )


def _policy(plan: Plan, options: ProfileOptions) -> ProfilePolicy:
    policy = wanted(plan, asked=True)
    assert policy is not None
    return replace(
        policy,
        runs=options.runs or policy.runs,
        frequency_hz=options.frequency_hz or policy.frequency_hz,
        sampler=options.sampler or policy.sampler,
        unwinding=options.stacks or policy.unwinding,
        buckets=tuple(map(_bucket, options.buckets)) or policy.buckets,
    )


def _bucket(text: str) -> Bucket:
    import re

    name, equals, pattern = text.partition("=")
    try:
        re.compile(pattern)
    except re.error as error:
        raise _no_bucket(text, str(error)) from error
    if not (name and equals and pattern) or name == OTHER:
        raise _no_bucket(text, "write NAME=REGEX; `other` takes what no bucket does")
    return Bucket(name, pattern)


def _no_bucket(text: str, why: str) -> UsageError:
    return UsageError(
        f"{text!r} is no bucket: {why}", code="BX119", help="--bucket 'JSON=serde|sonic'"
    )


def _selected(plan: Plan, text: str) -> tuple[Cell, ...]:
    """The cells that ``-k`` takes, without the control."""
    from bench_framework.model.plan import Role
    from bench_framework.scenario.selection import parse_selection

    known = {axis.name: [value.name for value in axis.values] for axis in plan.axes}
    selection = parse_selection(text, known, open_names=("variant", "input", "experiment"))

    def words(cell: Cell) -> Mapping[str, str]:
        variant, given = plan.variant(cell.variant_id), plan.input(cell.input_id)
        experiment = {"experiment": variant.experiment} if variant.experiment else {}
        return {
            "variant": variant.label,
            "input": given.label,
            **dict((*variant.values, *given.values)),
            **experiment,
        }

    found = tuple(c for c in plan.cells if c.role is not Role.CONTROL and selection.takes(words(c)))
    if not found:
        raise UsageError(
            f"{text!r} selects no cell of this record",
            code="BX106",
            details=tuple(("there is", variant.label) for variant in plan.variants[:8]),
        )
    return found


def _require_same_inputs(record: Record, inputs: Sequence[PreparedInput]) -> None:
    measured = {item.input_id: item.sha256 for item in record.contents.inputs}
    for item in inputs:
        if measured.get(item.input_id, item.sha256) != item.sha256:
            raise RecordError(
                f"the input {record.plan.input(item.input_id).label} is not the one that was measured",
                code="BX420",
                effect="nothing was profiled",
                help="`benchctl run` measures and profiles what is there now",
            )


def _on_stop(level: int) -> str:
    return (
        "stopping after the run in flight; Ctrl-C again kills it"
        if level == 1
        else "killed the run in flight; the profiles of whole runs are kept"
    )
