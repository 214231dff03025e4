"""Profiles of the cells of a record, in separate untimed runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from bench_framework.errors import CellError, Interrupted
from bench_framework.execution.build import cargo
from bench_framework.execution.build.pgo import use_flags
from bench_framework.execution.counting.single_run import SingleRunner, expected_answer
from bench_framework.execution.inputs.datasets import workplace
from bench_framework.execution.machine.lock import MachineLock
from bench_framework.execution.process import Finished
from bench_framework.execution.profiling.samplers import Refusal, Sampler, Samples, find_sampler
from bench_framework.execution.progress import Message, SilentObserver
from bench_framework.execution.stop import Driver, InterruptibleObserver
from bench_framework.execution.target import Target, target_of
from bench_framework.foreign import sha256_of
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.plan import Cell, Plan, Role, Variant
from bench_framework.model.plan.profile import ProfilePolicy, UnwindingWanted
from bench_framework.model.record.profile import Frame, Profile, Stack, Unwinding
from bench_framework.model.record.run import Build, Event, PreparedInput
from bench_framework.store import layout
from bench_framework.store.records import Record
from bench_framework.text.errors import new_event
from bench_framework.text.reasons import phrase, phrase_of

FRAME_POINTERS: Final = ("-C", "force-frame-pointers=yes")
KEYS: Final = {"debug": "line-tables-only", "strip": "false"}
"""Keys of the build profile. Line tables suffice to name functions; a scenario may set more."""
NONE: Final = frozenset({"0", "false", "none"})


def unwinding_of(spec: BuildSpec | None, stacks: UnwindingWanted) -> Unwinding:
    """Return how perf finds callers. Only programs that cargo builds surely have frame pointers."""
    if stacks != "auto":
        return stacks
    return "frame-pointers" if spec is not None and spec.by_cargo else "dwarf"


def with_symbols(spec: BuildSpec | None, measured: Build, driver: Driver, place: Path) -> Build:
    """Build the binary of a variant with symbols; return an external program unchanged.

    The result has a message if there is no such program.
    """
    none = replace(measured, ok=False)
    if not measured.ok or measured.path is None:
        return replace(none, message=measured.message or phrase_of(FaultCode.NEVER_BUILT))
    if spec is None or not spec.by_cargo:
        path = Path(measured.path)
        if not path.is_file() or sha256_of(path) != measured.sha256:
            return replace(none, message=phrase_of(FaultCode.PROGRAM_CHANGED, str(path)))
        return measured
    launcher, env = driver.launcher, driver.env
    trained = use_flags(measured.training.path) if measured.training else ()
    silent = InterruptibleObserver(SilentObserver(), driver.stop)
    builder = cargo.Builder(launcher, env, silent, contract=False, place=place, flags=trained)
    again = builder.build(spec, 1, 1)
    if again.sha256 != measured.sha256:
        changed = phrase_of(FaultCode.SOURCES_CHANGED)
        return replace(none, message=again.message or changed)
    build = replace(builder, observer=driver.interruptible).build(symbols_spec(spec), 1, 1)
    if not build.ok or build.path is None:
        cause = build.message or Phrase(FaultCode.CARGO_FAILED)
        return replace(none, message=phrase_of(FaultCode.NO_SYMBOLS, cause))
    return build


def symbols_spec(spec: BuildSpec) -> BuildSpec:
    """Return the spec with symbols and frame pointers.

    Measured binaries lack both, which would make them larger and slower.
    """
    configured = dict(spec.profile_keys)
    keys = {**configured, **KEYS}
    if configured.get("debug", "none") not in NONE:
        keys["debug"] = configured["debug"]
    flags = (*spec.rustflags, *FRAME_POINTERS)
    return replace(spec, profile_keys=tuple(sorted(keys.items())), rustflags=flags)


@dataclass(slots=True)
class ProfilingOutcome:
    """The outcome: finished profiles, also if it was `stopped`, and events about missing ones."""

    profiles: list[Profile] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    stopped: bool = False


def cells_of(plan: Plan, policy: ProfilePolicy) -> tuple[Cell, ...]:
    """Return the cells of a policy in plan order, without the A/A control."""

    def is_chosen(variant: Variant) -> bool:
        if isinstance(policy.variants, str):
            return policy.variants == "all" or variant.id == plan.baseline_id
        values = dict(variant.values).items()
        return variant.experiment is None and any(s.items() <= values for s in policy.variants)

    cells = (cell for cell in plan.cells if cell.role is not Role.CONTROL)
    return tuple(cell for cell in cells if is_chosen(plan.variant(cell.variant_id)))


def profile(
    record: Record,
    inputs: Mapping[str, PreparedInput],
    policy: ProfilePolicy,
    cells: Sequence[Cell],
    driver: Driver,
) -> ProfilingOutcome:
    """Profile cells one after the other, on these inputs. A failure is an event: measuring succeeded.

    Raises `MachineError` (BX232): the launcher died; BX235, a temporary folder cannot be created.
    """
    outcome = ProfilingOutcome()
    sampler, refused = None, [Refusal("BX350.of-server")]
    if not record.plan.server:
        tools = (driver.launcher, driver.env)
        sampler, refused = find_sampler(policy.sampler, policy.frequency, *tools)
    reasons, fixes = [r.reason for r in refused], [r.fix for r in refused]
    if sampler is None:
        advice = "; ".join(dict.fromkeys(fixes))
        outcome.events.append(new_event("BX350", reasons="; ".join(reasons), advice=advice))
        return outcome
    if refused:
        outcome.events.append(new_event("BX351", reason=reasons[0], advice=fixes[0]))
    known: dict[str, Build] = {}
    for cell in cells:
        if driver.stop.level:
            outcome.stopped = True
            break
        cell_profiler = _CellProfiler(record, inputs, policy, cell, driver, sampler)
        try:
            result = cell_profiler.profile(known, tuple(reasons))
        except Interrupted:  # during the build, or while waiting for another benchctl
            outcome.stopped = True
            break
        outcome.stopped = outcome.stopped or cell_profiler.stopped
        if isinstance(result, Profile):
            outcome.profiles.append(result)
        elif result:
            label = record.plan.variant(cell.variant_id).label
            event = new_event("BX352", "warning", cell.id, label=label, reason=result)
            outcome.events.append(event)
    return outcome


@dataclass(slots=True)
class _CellProfiler:
    record: Record
    inputs: Mapping[str, PreparedInput]
    policy: ProfilePolicy
    cell: Cell
    driver: Driver
    sampler: Sampler
    stopped: bool = False
    runs: list[Samples] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def profile(self, known: dict[str, Build], remarks: tuple[str, ...]) -> Profile | str:
        """Return the profile, or the reason for none; empty if stopped in the first run."""
        plan, cell, driver = self.record.plan, self.cell, self.driver
        variant = plan.variant(cell.variant_id)
        builds = self.record.contents.builds_by_id
        measured, spec = builds.get(variant.build_id), variant.build
        if measured is None:
            return phrase_of(FaultCode.NEVER_BUILT)
        if measured.id not in known:
            place = workplace(plan, driver.env)
            what = phrase_of(PhraseCode.BUILDS_OF, plan.name)
            with MachineLock(what, driver.observer, driver.stop, shared=True):
                known[measured.id] = with_symbols(spec, measured, driver, place)
        binary = known[measured.id]
        if not binary.ok:
            return str(binary.message)
        unwinding = unwinding_of(spec, self.policy.stacks)
        program, given = replace(measured, path=binary.path), self.inputs.get(cell.input_id)
        tuning = str(self.record.path / layout.TUNING)
        try:
            target = target_of(cell, program, given, driver.env, tuning)
        except CellError as error:
            return error.message
        what = phrase_of(PhraseCode.PROFILE_OF, plan.name)
        with MachineLock(what, driver.observer, driver.stop):
            self._run_all(target, unwinding)
        if not self.runs:
            nothing = "; ".join(self.remarks) or phrase_of(FaultCode.NO_RUN_SUCCEEDED)
            return "" if self.stopped else nothing
        return self._build_profile(measured, binary, unwinding, remarks)

    def _run_all(self, target: Target, unwinding: Unwinding) -> None:
        label = self.record.plan.variant(self.cell.variant_id).label
        runs = 1 if self.sampler.name == "callgrind" else self.policy.runs
        for number in range(1, runs + 1):
            if self.driver.stop.level:
                self.stopped = True
                self.remarks.append(phrase_of(FaultCode.STOPPED_AFTER, number - 1, runs))
                return
            if number == 1:
                text = phrase_of(PhraseCode.PROFILING, label, self.sampler.name, runs)
                self.driver.observer.notify(Message(text))
            try:
                reason = self._run(target, unwinding)
            except Interrupted:  # the user killed it
                self.stopped = True
                self.remarks.append(phrase_of(FaultCode.STOPPED_IN, number, runs))
                return
            if reason:
                self.remarks.append(phrase_of(FaultCode.OF_RUN, number, runs, reason))

    def _run(self, target: Target, unwinding: Unwinding) -> str:
        """Profile one run. Return the reason if it does not count. Raises `Interrupted`: killed."""

        def read(folder: Path, finished: Finished) -> Samples | Phrase | None:
            # If it timed out, the sampler was killed too and left an incomplete file.
            return None if finished.timed_out else self.sampler.read(folder)

        record, timeout_s = self.record, self.policy.timeout
        runner = SingleRunner(self.driver.launcher, record.plan.answer, timeout_s, record.raw)
        expected = expected_answer(record, self.cell.id)
        under = partial(self.sampler.under, unwinding=unwinding)
        run = runner.run(target, expected, timeout_s, under=under, read=read)
        if run.status != "ok":
            return run.message or run.status
        if isinstance(run.output, Phrase):
            return phrase(run.output)
        self.runs.append(run.output)
        return ""

    def _build_profile(
        self, measured: Build, binary: Build, unwinding: Unwinding, remarks: tuple[str, ...]
    ) -> Profile:
        frames: dict[Frame, int] = {}
        stacks: list[Stack] = []
        for number, samples in enumerate(self.runs, start=1):
            for stack in sorted(samples.stacks, key=lambda s: [(f.name, f.module) for f in s]):
                places = tuple(frames.setdefault(frame, len(frames)) for frame in stack)
                stacks.append(Stack(number, samples.stacks[stack], places))
        events = sum((samples.events for samples in self.runs), Counter())
        perf = self.sampler.name == "perf"
        return Profile(
            cell_id=self.cell.id,
            sampler=self.sampler.name,
            tool=self.sampler.tool,
            event=events.most_common(1)[0][0],
            frequency_hz=self.sampler.frequency_hz,
            unwinding=unwinding if perf else None,
            runs=tuple(samples.total for samples in self.runs),
            runs_asked=self.policy.runs if perf else 1,
            lost=sum(samples.lost for samples in self.runs),
            measured_sha256=measured.sha256,
            profiled_sha256=binary.sha256,
            frames=tuple(frames),
            stacks=tuple(stacks),
            buckets=self.policy.buckets,
            remarks=(*remarks, *self.remarks),
        )
