"""Measurement of old revisions of a scenario, for its history."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_framework import errors
from bench_framework.errors import MachineError, MeasureError, UsageError
from bench_framework.execution import process
from bench_framework.execution.build import revisions
from bench_framework.execution.machine import host
from bench_framework.execution.progress import Message, Observer
from bench_framework.extensions.history.series import (
    SeriesCell,
    newest_record,
    planned_cells,
    read_records,
)
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.benches import AXES
from bench_framework.model.plan.build_spec import BUILTIN, BuildSpec, stable_id
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.machine import fingerprint
from bench_framework.scenario.revisions import at_revision
from bench_framework.store import wire
from bench_framework.store.records import Record
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.run import run_plan_anew
from bench_framework.workflow.run_options import RunOptions, find_scenario, plan_run

SHORT = 12
OF_COMMIT = ("BX223", "BX252")
"""Errors of this machine that the program of a commit causes: by what it supports, and what it reports."""


@dataclass(frozen=True, slots=True)
class Backfill:
    """The outcome: numbers of commits with a new record, with an earlier one, and failed ones."""

    measured: int
    skipped: int
    failed: tuple[tuple[str, str], ...]
    """Commit and reason."""
    exit_code: int


def measure_commits(
    scenario: str | None, span: str, every: int, options: RunOptions, observer: Observer
) -> Backfill:
    """Measure every N-th commit of a range, newest first, that has no record from this machine.

    The records must contain all configurations that `options` selects. The range ``A..B`` includes both
    ends, and follows first parents. `scenario` is a file, or a name whose newest record names the file.

    Raises:
        UsageError: BX101, no record of this name; BX125, no commit is in the range; BX129, not a
            range, or the scenario builds no crate.
        BuildError: BX225, a revision does not exist.
        MachineError: this machine cannot measure any commit. Earlier records are kept.
    """
    if scenario is None or not scenario.endswith((".yaml", ".yml")):
        with Record.open(newest_record(options.results, scenario)) as record:
            scenario = record.plan.scenario_path
    plan = plan_run(scenario, options)
    text = find_scenario(scenario).read_text(encoding="utf-8")
    commits = _commits(plan, span)[::-every]
    done = _measured(options.results, plan)
    failed, measured = [], 0
    todo = [commit for commit in commits if commit not in done]
    for number, commit in enumerate(todo, 1):
        line = phrase_of(ExtensionCode.BACKFILLING, commit[:SHORT], number, len(todo))
        observer.notify(Message(line))
        try:
            outcome = run_plan_anew(at_revision(plan, commit), text, options, observer)
        except (MeasureError, UsageError) as error:
            if isinstance(error, MachineError) and error.code not in OF_COMMIT:
                raise
            line = phrase_of(ExtensionCode.BACKFILL_FAILED, commit[:SHORT], error.message)
            observer.notify(Message(line))
            failed.append((commit, error.message))
            continue
        if outcome.failures:
            failed.append((commit, phrase_of(ExtensionCode.PART_FAILED)))
        elif outcome.judgement is not None:
            measured += 1
        if outcome.exit_code == errors.EXIT_INTERRUPTED:
            code = outcome.exit_code
            break
    else:
        code = errors.EXIT_NOT_MEASURED if failed else errors.EXIT_DONE
    return Backfill(measured, len(commits) - len(todo), tuple(failed), code)


def _commits(plan: Plan, span: str) -> list[str]:
    """Return the commits of a range, oldest first."""
    first, dots, last = span.partition("..")
    if not first or not dots or last.startswith("."):
        raise UsageError("BX129.not-a-range", span=span)
    if (spec := next(iter(_built(plan)), None)) is None:
        raise UsageError("BX129.no-revision", scenario_path=plan.scenario_path)
    crate, env = None if spec.git else Path(spec.crate), host.environment()
    ends, cache = (first, last or revisions.HEAD), host.cache_root(env)
    with process.Launcher() as launcher:
        git = revisions.Git(launcher, env)
        commits = revisions.commits_between(git, cache, crate=crate, url=spec.git, ends=ends)
    return [commit.id for commit in commits]


def _built(plan: Plan) -> list[BuildSpec]:
    crates = (spec for spec in plan.builds if (spec.git or spec.crate) and spec.crate != BUILTIN)
    return [spec for spec in crates if not spec.revision]


def _measured(results: Path, plan: Plan) -> set[str]:
    """Return the commits with records of this machine without uncommitted changes.

    Together, they measured every configuration of the plan that is built at each commit. One that failed
    with the same scenario would fail again. Which benchmarks a commit has is known after its build, so one
    in the same scenario is enough.
    """
    built = {spec.id for spec in _built(plan)}
    cells = planned_cells(wire.dump_plan(plan).encode())[1]
    needed = {_key(cell, plan) for cell in cells if cell.build_id in built}
    planned: dict[str, set[str]] = {}
    with process.Launcher() as launcher:
        here = host.facts(launcher, hyperfine="", results=results, data=results, builds=False)
    for record in read_records(results, plan.name, WALL)[0]:
        if fingerprint(record.prepared.host) == fingerprint(here):
            of_record, cells = planned_cells(record.plan)
            same = of_record.scenario_sha256 == plan.scenario_sha256
            ids = record.final if same else record.medians.keys()
            for build in record.prepared.builds:
                if build.ok and build.revision and not build.dirty:
                    final = (cell for cell in cells if cell.id in ids)
                    of_build = (cell for cell in final if cell.build_id == build.id)
                    series = planned.setdefault(build.revision, set())
                    series.update(_key(cell, of_record) for cell in of_build)
    return {commit for commit, series in planned.items() if needed <= series}


def _key(cell: SeriesCell, plan: Plan) -> str:
    """Return what is equal in all records of a configuration; of benchmarks, without their ids."""
    if plan.benches is None:
        return cell.series
    values = sorted(value for value in cell.values if value[0] not in AXES)
    return stable_id("benchmarks", plan.scenario_sha256, values)


def summary(done: Backfill, command: str) -> Sequence[str]:
    """Return what was measured, one line each. `command` resumes an interrupted backfill."""
    numbers = (done.measured, done.skipped, len(done.failed))
    lines = [phrase_of(ExtensionCode.BACKFILLED, *numbers)]
    failed, resumes = ExtensionCode.COMMIT_FAILED, ExtensionCode.COMMAND_RESUMES
    lines += [phrase_of(failed, commit[:SHORT], reason) for commit, reason in done.failed]
    return (
        [*lines, phrase_of(resumes, command)]
        if done.exit_code == errors.EXIT_INTERRUPTED
        else lines
    )
