"""Profiling after a run, or of an existing record. Measurements never depend on profiles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from bench_framework import errors
from bench_framework.errors import Interrupted, MachineError, RecordError, UsageError
from bench_framework.execution import process, stop
from bench_framework.execution.inputs import datasets
from bench_framework.execution.machine import host, lock
from bench_framework.execution.machine.system import require_linux
from bench_framework.execution.profiling import profiles
from bench_framework.execution.profiling.profiles import ProfilingOutcome
from bench_framework.execution.progress import Message, Observer, PlanReady, Remark
from bench_framework.execution.stop import Driver
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.plan.profile import OTHER, ProfilePolicy, SamplerWanted, UnwindingWanted
from bench_framework.model.record.profile import ProfileShares
from bench_framework.model.record.run import PreparedInput
from bench_framework.report.blocks import Document
from bench_framework.scenario.scalars import compiled_regex
from bench_framework.scenario.selection import select_cells
from bench_framework.store import finding
from bench_framework.store.records import FOLDER, Record, read_profiles, write_profile
from bench_framework.workflow import pages
from bench_framework.workflow.records.integrity import corruption_reported


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """The options of `benchctl profile`; `None` means the value of the scenario, or the default.

    Without `only`, the filter of ``-k``, the cells that the scenario names are profiled, or those
    of the baseline. `buckets` such as ``JSON=serde|sonic`` replace those of the scenario.
    """

    only: str | None = None
    runs: int | None = None
    frequency: int | None = None
    sampler: SamplerWanted | None = None
    stacks: UnwindingWanted | None = None
    buckets: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ProfileEvent:
    """A configuration without a profile, or a limit of one."""

    code: str
    """Code of the event (docs/reference/codes.md)."""
    message: str
    """The event in words."""
    effect: str | None
    """Effect on the profile; null without one."""
    fix: str | None
    """Advice on what to do; null without one."""


@dataclass(frozen=True, slots=True)
class ProfileDocument:
    """The result of `profile`."""

    record: Path
    """Folder of the record."""
    exit_code: int
    """Exit code of the command."""
    profiles: tuple[ProfileShares, ...]
    """Profile of each configuration."""
    events: tuple[ProfileEvent, ...]
    """Configurations without a profile, and limits."""


class ProfileResult(NamedTuple):
    """The result of `benchctl profile`: its section, and the JSON document."""

    document: Document
    json: ProfileDocument


def profile_policy(policy: ProfilePolicy | None, *, requested: bool) -> ProfilePolicy | None:
    """Return what a run profiles: the policy of the scenario, or the baseline if `--profile` is given."""
    if policy is None:
        return ProfilePolicy() if requested else None
    return policy if requested or policy.when == "after-run" else None


def profile_run(record: Record, policy: ProfilePolicy | None, driver: Driver) -> bool:
    """Profile a completed run and store warnings. Return True if the user stopped it."""
    if policy is None:
        return False
    outcome = _profile(record, record.contents.inputs, policy, None, driver)
    for event in outcome.events:
        driver.observer.notify(Remark(event))
        record.note(event)
    return outcome.stopped


def profile_record(
    results: Path, name: str, options: ProfileOptions, observer: Observer
) -> ProfileResult:
    """Profile cells of a record with the measured binaries, and write its report again.

    Verdicts are read from the record and not recomputed.

    Raises:
        UsageError: BX119, a bucket is invalid; BX106, a filter selects no cell.
        RecordError: BX413, the measurement is incomplete; BX411, its manifest is missing or damaged.
        MachineError: BX350, nothing can be profiled on this machine.
    """
    require_linux()
    folder = finding.resolve_measured(results, name, lambda text: observer.notify(Message(text)))
    with Record.open(folder) as record, corruption_reported(folder), process.Launcher() as launcher:
        if not record.contents.complete:
            raise RecordError("BX413.profile-incomplete", command=record.plan.command)
        record.require_manifest()
        policy = _policy_of(record.plan, options)
        cells = None if options.only is None else _selected(record.plan, options.only)
        stopping = stop.Stop(launcher, observer, PhraseCode.PROFILES_REMAIN)
        driver = stop.Driver(launcher, host.environment(), observer, stopping)
        observer.notify(PlanReady(record.plan))
        with stopping.on_signals():
            with lock.MachineLock(record.plan.name, observer, stopping, shared=True):
                folder = datasets.data_dir(record.plan.data_dir, driver.env)
                inputs = datasets.prepare_inputs(record.plan.inputs, folder, driver)
            _require_same_inputs(record, inputs)
            outcome = _profile(record, inputs, policy, cells, driver)
        return _written(record, outcome, observer)


def _profile(
    record: Record,
    inputs: Sequence[PreparedInput],
    policy: ProfilePolicy,
    cells: tuple[Cell, ...] | None,
    driver: Driver,
) -> ProfilingOutcome:
    by_id = {item.input_id: item for item in inputs}
    chosen = profiles.cells_of(record.plan, policy) if cells is None else cells
    outcome = profiles.profile(record, by_id, policy, chosen, driver)
    for profile in outcome.profiles:
        write_profile(record.path, profile)
        record.renew(f"{FOLDER}/{profile.cell_id}/")
    return outcome


def _written(record: Record, outcome: ProfilingOutcome, observer: Observer) -> ProfileResult:
    from bench_framework.features.document import build_document
    from bench_framework.features.profile.compute import attach

    if not outcome.profiles:
        if outcome.stopped:
            raise Interrupted("BX130.profile")
        raise MachineError.from_event(outcome.events[0])
    for event in outcome.events:
        observer.notify(Remark(event))
    if (judgement := record.judgement()) is None:
        judgement = pages.judge_record(record)
    else:
        judgement = attach(judgement, record.plan, read_profiles(record.path, record.plan))
    record.save(judgement)
    embed_runs, template = pages.contains_runs(record), pages.custom_templates(record)
    pages.write_pages(record, judgement, embed_runs=embed_runs, template=template)
    profiled = {profile.cell_id for profile in outcome.profiles}
    # callgrind in place of perf (BX351) is a success: there is a profile.
    failed = outcome.events and [e.code for e in outcome.events] != ["BX351"]
    code = errors.EXIT_NOT_MEASURED if failed else errors.EXIT_DONE
    code = errors.EXIT_INTERRUPTED if outcome.stopped else code
    shares = tuple(one for one in judgement.profiles if one.cell_id in profiled)
    events = tuple(ProfileEvent(e.code, e.message, e.effect, e.help) for e in outcome.events)
    document = build_document(pages.report_data(record, judgement), only=("S15",))
    return ProfileResult(document, ProfileDocument(record.path, code, shares, events))


def _policy_of(plan: Plan, options: ProfileOptions) -> ProfilePolicy:
    policy = profile_policy(plan.profile, requested=True)
    assert policy is not None
    return replace(
        policy,
        runs=options.runs or policy.runs,
        frequency=options.frequency or policy.frequency,
        sampler=options.sampler or policy.sampler,
        stacks=options.stacks or policy.stacks,
        buckets=dict(map(_bucket, options.buckets)) or policy.buckets,
    )


def _bucket(text: str) -> tuple[str, str]:
    name, equals, pattern = text.partition("=")
    fault = compiled_regex(pattern)
    if not (name and equals and pattern) or name == OTHER:
        fault = ""
    if isinstance(fault, str):
        raise UsageError("BX119", text=text, fault=fault)
    return name, pattern


def _selected(plan: Plan, text: str) -> tuple[Cell, ...]:
    """Return the cells that a filter selects, without the A/A controls."""
    cells = tuple(c for c in select_cells(plan, text) if c.role is not Role.CONTROL)
    if not cells:
        details = tuple(("variant", variant.label) for variant in plan.variants[:8])
        raise UsageError("BX106.no-configuration", details=details, text=text)
    return cells


def _require_same_inputs(record: Record, inputs: Sequence[PreparedInput]) -> None:
    measured = {item.input_id: item.sha256 for item in record.contents.inputs}
    for item in inputs:
        if measured.get(item.input_id, item.sha256) != item.sha256:
            raise RecordError("BX420.other-input", label=record.plan.input(item.input_id).label)
