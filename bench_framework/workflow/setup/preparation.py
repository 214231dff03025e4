"""Preparation of a measurement: tools, builds, inputs, and facts about the machine."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

from bench_framework.errors import CellError, MachineError
from bench_framework.execution import hyperfine, process, stop, target
from bench_framework.execution.benches import environment_of
from bench_framework.execution.build import binaries, pgo
from bench_framework.execution.build.cargo import require_cargo
from bench_framework.execution.build.preloads import library, must_be_built, prove
from bench_framework.execution.build.revisions import Git, clean_commit
from bench_framework.execution.counting import instructions
from bench_framework.execution.counting.single_run import SingleRunner
from bench_framework.execution.hyperfine import Hyperfine
from bench_framework.execution.inputs import datasets
from bench_framework.execution.inputs.folders import ArgumentFiles
from bench_framework.execution.machine import host
from bench_framework.execution.machine.host import cache_root
from bench_framework.execution.machine.lock import MachineLock
from bench_framework.execution.machine.system import require_linux
from bench_framework.execution.progress import Message, Observer, PlanReady, Remark
from bench_framework.execution.sessions import copy_events
from bench_framework.execution.stop import Driver
from bench_framework.execution.target import target_of
from bench_framework.foreign import last_lines
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.build_spec import PROGRAM
from bench_framework.model.plan.plan import Input, Plan
from bench_framework.model.plan.revisions import short_name
from bench_framework.model.record.run import Build, Event, Host, PreparedInput
from bench_framework.text.errors import new_event
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.run_options import RunOptions
from bench_framework.workflow.setup.benches import with_benches
from bench_framework.workflow.setup.build_failures import require_builds
from bench_framework.workflow.setup.capability import leave_out, limits, require_known
from bench_framework.workflow.setup.remarks import build_events, variable_events
from bench_framework.workflow.setup.time_estimates import built_binary
from bench_framework.workflow.setup.trial import Trials, refusals, try_cells, warnings

Details = tuple[tuple[str, str], ...]
PRINTED_LINES: Final = 10
"""Lines of the output of a failed command that are shown."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that a measurement needs."""

    plan: Plan
    """The plan without the variants that cannot run on this machine."""
    builds: tuple[Build, ...]
    inputs: tuple[PreparedInput, ...]
    hyperfine: Hyperfine
    host: Host
    events: tuple[Event, ...] = ()


def run_once(
    what: Literal["setup", "cleanup"], commands: Sequence[Sequence[str]], driver: Driver
) -> tuple[str, Details] | None:
    """Run the commands of an option. Return how the first one failed, with its output."""
    for argv in commands:
        driver.observer.notify(Message(f"{what}: {shlex.join(argv)}"))
        try:
            output = driver.launcher.capture(argv, driver.env, timeout_s=None)
        except MachineError as error:
            return error.message, error.details
        driver.stop.check()
        if not output.ok:
            lines = last_lines((output.stderr or output.stdout).splitlines(), PRINTED_LINES)
            details = (("command", shlex.join(argv)), ("output", "\n".join(lines)))
            return output.finished.how, details
    return None


def clean_up(options: RunOptions, driver: Driver) -> None:
    """Run the commands of `options.cleanup`. A failure is a warning."""
    if (failed := run_once("cleanup", options.cleanup, driver)) is not None:
        event = new_event("BX206.cleanup", details=failed[1], how=failed[0])
        driver.observer.notify(Remark(event))


def prepare(
    plan: Plan,
    options: RunOptions,
    driver: Driver,
    earlier: Sequence[Build] = (),
    given: Sequence[Build] = (),
) -> Setup:
    """Prepare tools, builds and inputs of a plan, and collect facts about the machine.

    `earlier` are the builds of a record that is continued or confirmed, whose profiles are kept.
    `given` are all builds of the plan, made on another machine.
    Nothing is measured on this machine meanwhile, and other processes may build too.

    Raises:
        CellError: BX206, a command of `options.setup` failed.
        MachineError, BuildError: a tool, build or input is missing, or a judged metric is unknown.
        Interrupted: the user stopped it.
    """
    with _build_lock(plan, driver):
        launcher, env, careful = driver.launcher, driver.env, driver.interruptible
        _require_cargo(plan, env, given)  # before hyperfine may be downloaded
        tool = hyperfine.find(launcher, env, careful)
        if (failed := run_once("setup", options.setup, driver)) is not None:
            how, output = failed
            raise CellError("BX206.setup", details=output, how=how)
        arguments = ArgumentFiles(plan)
        event: Event | None = None
        builds = _all_programs(plan, driver, earlier=earlier, given=given)
        if plan.benches is not None and not plan.benches.expanded:
            plan, builds = with_benches(plan, builds, driver.observer)
            driver.observer.notify(PlanReady(plan))
        descriptions = {build.id: build.describe for build in builds if build.describe}
        able = leave_out(plan, descriptions)
        if able is not plan:
            for hole in able.holes[len(plan.holes) :]:
                values = " ".join(value for _, value in hole.values)
                driver.observer.notify(Message(phrase_of(PhraseCode.LEFT_OUT, values, hole.reason)))
            driver.observer.notify(PlanReady(able))
            build_ids = {spec.id for spec in able.builds} | {PROGRAM}
            builds = tuple(build for build in builds if build.id in build_ids)
            plan = able
        require_known(plan.judge.metrics, plan.metrics, builds)
        inputs = _inputs(plan, driver)
        builds = _proved(plan, builds, inputs, driver, tool)
        if plan.program is not None:
            mine = plan.baseline.build_id
            first = next(build for build in builds if build.id == mine)
            by_id = {item.input_id: item for item in inputs}
            copied, event = binaries.add_control(plan, first, by_id, launcher, env)
            builds = tuple(copied if build is first else build for build in builds)
        if plan.instructions is not None and not plan.instructions.optional:
            instructions.counter(plan.instructions, launcher, env)
        driver.stop.check()
        facts = host.facts(
            launcher,
            hyperfine=tool.description,
            results=options.results,
            data=datasets.data_dir(plan.data_dir, env),
            env=env,
            builds=any(spec.by_cargo for spec in plan.builds),
        )
        noted = (
            *([event] if event else []),
            *build_events(plan, builds),
            *copy_events(plan, builds),
            *variable_events(plan, facts.variables),
            *limits(plan, descriptions),
            *arguments.changes(),
        )
        return Setup(plan, builds, inputs, tool, facts, noted)


def _build_lock(plan: Plan, driver: Driver) -> MachineLock:
    """Return the lock of the machine that lets other processes build, but not measure."""
    what = phrase_of(PhraseCode.BUILDS_OF, plan.name)
    return MachineLock(what, driver.observer, driver.stop, shared=True)


@contextmanager
def open_driver(plan: Plan, observer: Observer) -> Iterator[Driver]:
    """Open the driver of the programs of a plan. Raises `MachineError`: it cannot run here."""
    require_linux()
    target.require_cpus(plan.cells)
    observer.notify(PlanReady(plan))
    with process.Launcher() as launcher, ExitStack() as marks:
        stopping = stop.Stop(launcher, observer)
        with stopping.on_signals(), ExitStack() as opened:
            env = host.environment()
            if plan.benches is not None:
                env |= environment_of(opened.enter_context(process.scratch_folder()))
            yield stop.Driver(launcher, env, observer, stopping, marks)


def try_plan(plan: Plan, driver: Driver) -> Trials:
    """Build the baseline and run each configuration of a plan once, while nothing is measured.

    Raises:
        MachineError, BuildError: the baseline cannot be built, or a program or input is missing.
        Interrupted: the user stopped it.
    """
    with _build_lock(plan, driver):
        # The benchmarks of a plan are those that the baseline and another variant have.
        every, arguments = plan.benches is not None, ArgumentFiles(plan)
        trials = _try_builds(plan, _all_programs(plan, driver, all_builds=every), driver)
        return replace(trials, changed=tuple(arguments.changes()))


def build_programs(plan: Plan, driver: Driver) -> tuple[Build, ...]:
    """Build all programs of a plan, while nothing is measured.

    A failed build has its message, except for the baseline's.

    Raises:
        MachineError, BuildError: the baseline cannot be built, or a program or input is missing.
        Interrupted: the user stopped it.
    """
    with _build_lock(plan, driver):
        return _all_programs(plan, driver)


def _try_builds(plan: Plan, builds: Sequence[Build], driver: Driver) -> Trials:
    plan, builds = with_benches(plan, builds, driver.observer)
    plan = leave_out(plan, {build.id: build.describe for build in builds if build.describe})
    inputs = _inputs(plan, driver)
    builds = _proved(plan, builds, inputs, driver)
    trials = try_cells(plan, {build.id: build for build in builds}, inputs, driver)
    trials.save(driver.env)
    return trials


def _inputs(
    plan: Plan, driver: Driver, inputs: Sequence[Input] | None = None
) -> tuple[PreparedInput, ...]:
    data = datasets.data_dir(plan.data_dir, driver.env)
    return datasets.prepare_inputs(plan.inputs if inputs is None else inputs, data, driver)


def _all_programs(
    plan: Plan,
    driver: Driver,
    *,
    all_builds: bool = True,
    earlier: Sequence[Build] = (),
    given: Sequence[Build] = (),
) -> tuple[Build, ...]:
    """Return the programs of a plan with their preloaded allocators.

    Without `all_builds`, only the program of the baseline is built. `given` are builds of another machine,
    in place of building.

    Raises:
        MachineError, BuildError: a program or library is missing or cannot be built.
    """
    _require_cargo(plan, driver.env, given)
    names = {spec.id: spec.preload for spec in plan.builds if spec.preload}
    libraries = {
        name: library(name, driver.launcher, driver.env, driver.interruptible)
        for name in dict.fromkeys(names.values())
    }
    builds = (
        _programs(plan, driver)
        or _described(plan, driver, given)
        or _builds(plan, driver, all_builds=all_builds, earlier=earlier)
    )
    if plan.benches is None:
        require_builds(plan, builds)
    return tuple(
        replace(build, preload=libraries[names[build.id]]) if build.id in names else build
        for build in builds
    )


def _proved(
    plan: Plan,
    builds: Sequence[Build],
    inputs: Sequence[PreparedInput],
    driver: Driver,
    tool: Hyperfine | None = None,
) -> tuple[Build, ...]:
    """Show that each preloaded allocator reaches its program. Raises `MachineError`: it does not."""
    runner = SingleRunner(driver.launcher, plan.answer, plan.measure.timeout_s)
    prepared = {item.input_id: item for item in inputs}
    proved = {}
    for build in builds:
        cells = [c for c in plan.cells if plan.variant(c.variant_id).build_id == build.id]
        if build.ok and build.preload is not None and cells:
            driver.stop.check()
            # A program allocates memory before it reads its file of {tuning}.
            given = prepared.get(cells[0].input_id)
            target = target_of(cells[0], build, given, driver.env, tuning="/dev/null")
            proved[build.id] = prove(build, target, runner, driver.env, tool)
    return tuple(replace(b, preload=proved.get(b.id, b.preload)) for b in builds)


def require_clean(plan: Plan, records: Path, driver: Driver) -> None:
    """Check that a working tree that is named by its commit still contains it. Raises `MachineError` (BX420)."""
    commit = plan.revisions.clean if plan.revisions is not None else ""
    if commit:
        git = Git(driver.launcher, driver.env)
        if clean_commit(git, Path(plan.builds[0].crate), records) != commit:
            raise MachineError("BX420.tree", commit=short_name(commit))


def _require_cargo(plan: Plan, env: Mapping[str, str], given: Sequence[Build]) -> None:
    """Check that a plan has cargo if it needs it. Raises `MachineError` (BX231): it does not."""
    allocators = (spec.preload for spec in plan.builds if spec.preload)
    crates = any(spec.by_cargo for spec in plan.builds) and plan.program is None and not given
    if crates or any(must_be_built(name, env) for name in allocators):
        require_cargo(env)


def _programs(plan: Plan, driver: Driver) -> tuple[Build, ...]:
    if plan.program is None:
        return ()
    name, *arguments = plan.program
    names = {spec.id: spec.bin for spec in plan.builds} or {PROGRAM: name}
    builds = tuple(
        replace(binaries.find_program(name, plan.scenario_path, driver.env), id=key)
        for key, name in names.items()
    )
    return _described(plan, driver, builds, arguments)


def _described(
    plan: Plan, driver: Driver, builds: Sequence[Build], arguments: Sequence[str] = ()
) -> tuple[Build, ...]:
    """Return builds with the answers of their programs to `describe` on this machine, if these are workers."""
    if not plan.answer.contract:
        return tuple(builds)
    given = (driver.launcher, driver.env, datasets.workplace(plan, driver.env))
    answers = (binaries.describe([str(b.path), *arguments], *given) for b in builds)
    return tuple(replace(b, describe=a) for b, a in zip(builds, answers, strict=True))


def _builds(
    plan: Plan, driver: Driver, *, all_builds: bool, earlier: Sequence[Build]
) -> tuple[Build, ...]:
    """Build the baseline, try its commands unless all builds exist, then build all others."""
    programs = {spec.id: spec.program.id for spec in plan.builds}
    trainer = pgo.Trainer(
        plan,
        partial(_inputs, plan, driver),
        pgo.find_tools(plan.builds, driver.launcher, driver.env),
        {programs.get(build.id, ""): build.training for build in earlier if build.training},
    )
    mine, cache = plan.baseline.build_id, cache_root(driver.env)
    specs = sorted(plan.builds, key=lambda spec: spec.id != mine)
    if not all_builds:
        specs = [spec for spec in specs if spec.program == specs[0].program]
    # The commands of benchmarks are known after the builds.
    missing = plan.benches is None and any(built_binary(s, cache) is None for s in specs[1:])

    def after_first(build: Build) -> None:
        if plan.benches is None:
            require_builds(plan, (build,))
        if not missing:
            return
        trials = _try_builds(plan, (build,), driver)
        for error in refusals(trials):
            raise error
        for event in warnings(trials):
            driver.observer.notify(Remark(event))

    place = datasets.workplace(plan, driver.env)
    builder = pgo.TrainingBuilder(
        driver.launcher,
        driver.env,
        driver.interruptible,
        contract=plan.answer.contract,
        place=place,
        trainer=trainer,
    )
    return builder.build_all(specs, after_first)
