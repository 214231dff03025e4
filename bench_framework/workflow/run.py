"""Execution of a scenario: build, measure, compute results and write the report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench_framework import errors
from bench_framework.execution import progress, rounds, sessions, tuning
from bench_framework.execution.counting.observations import observe_cells
from bench_framework.execution.inputs.folders import require_unchanged
from bench_framework.execution.machine.host import utc_now
from bench_framework.execution.machine.lock import MachineLock, wait_until_idle
from bench_framework.execution.progress import Message, Observer
from bench_framework.execution.stop import Driver
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.looks import allows_few_rounds, changed_keys
from bench_framework.model.plan.plan import Plan, Variant
from bench_framework.model.reasons import Reason
from bench_framework.model.record.run import Build, Event, Look
from bench_framework.model.result.interim import LookOutcome
from bench_framework.store import lines
from bench_framework.store.journal import Contents
from bench_framework.store.layout import in_use
from bench_framework.store.records import Record, plan_sha256
from bench_framework.store.resuming import find_resumable, require_same
from bench_framework.text.errors import new_event
from bench_framework.text.reasons import phrase_of
from bench_framework.version import __version__
from bench_framework.workflow.run_options import (
    ALONE,
    RunContext,
    RunOptions,
    find_scenario,
    plan_run,
)
from bench_framework.workflow.setup.build_failures import build_failure
from bench_framework.workflow.setup.preparation import (
    Setup,
    clean_up,
    open_driver,
    prepare,
    require_clean,
)

if TYPE_CHECKING:
    from bench_framework.model.result.judgement import Judgement
    from bench_framework.report.blocks import Document
    from bench_framework.workflow.pages import Pages


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of a run.

    Judgement and report are `None` if measuring was interrupted, and the record if that was before it
    was created. `failures` is what could not be measured, `resume` how to resume an interrupted
    run. A stop that was requested later also has the exit code 130.
    """

    record: Path | None
    judgement: Judgement | None
    document: Document | None
    failures: tuple[errors.BenchError, ...]
    resume: str | None
    exit_code: int
    events: tuple[Event, ...] = ()


def run_scenario(name: str, options: RunOptions, observer: Observer) -> RunOutcome:
    """Build, measure and report a scenario. An interrupted record of it is resumed.

    `name` is a file, or the name of a bundled scenario.

    Raises:
        ScenarioError, UsageError: nothing was measured, except for BX113: a template failed to render.
        GateError: BX111, base and head are the same commit.
        MachineError: this machine cannot measure; nothing was measured.
        RecordError: an interrupted record cannot be resumed.
    """
    plan = plan_run(name, options)
    if options.template is not None:
        from bench_framework.workflow.pages import require_readable

        require_readable(options.template)  # detects template errors before the measurement
    if plan.hosts is not None:
        observer.notify(Message(phrase_of(PhraseCode.ON_THIS_MACHINE)))
    text = options.text or find_scenario(name).read_text(encoding="utf-8")
    return run_plan(plan, text, options, observer)


def run_plan_anew(
    plan: Plan, text: str, options: RunOptions, observer: Observer, context: RunContext = ALONE
) -> RunOutcome:
    """Run a plan as `run_plan` does, in a new record if conditions changed since an unfinished one."""
    try:
        return run_plan(plan, text, options, observer, context)
    except errors.RecordError as error:
        if error.code != "BX410":
            raise
        return run_plan(plan, text, replace(options, fresh=True), observer, context)


def run_plan(
    plan: Plan, text: str, options: RunOptions, observer: Observer, context: RunContext = ALONE
) -> RunOutcome:
    """Build, measure and report a plan.

    The text of the scenario is stored in the record. `plan` has the selection of the options.

    Raises `MachineError` and `RecordError` as `run_scenario` does.
    """
    with open_driver(plan, observer) as driver:
        outcome = _run(plan, text, options, context, driver)
    if driver.stop.level and outcome.resume is None:
        resume = phrase_of(PhraseCode.INTERRUPTED_AFTER, str(outcome.record))
        outcome = replace(outcome, resume=resume, exit_code=errors.EXIT_INTERRUPTED)
    return outcome


def _run(
    plan: Plan, text: str, options: RunOptions, context: RunContext, driver: Driver
) -> RunOutcome:
    record: Record | None = None
    try:
        earlier = _earlier_builds(plan, options, context)
        prepared = prepare(plan, options, driver, earlier, context.builds)
        if context.host:
            event = new_event("BX344", "note", host=context.host, built=bool(context.builds))
            prepared = replace(prepared, events=(*prepared.events, event))
        if context.first_pass:
            require_programs(earlier, prepared.builds, plan.command)
        plan = prepared.plan
        with ExitStack() as opened:
            with MachineLock(plan.name, driver.observer, driver.stop):
                load = wait_until_idle(options.idle, driver.observer, driver.stop)
                require_unchanged(prepared.builds)
                prepared = replace(prepared, host=replace(prepared.host, load1=load))
                record = _record_for(text, options, context, driver, prepared)
                contents = opened.enter_context(record).contents
                # A record that was interrupted before a later session waits for its time first.
                if contents.complete or sessions.next_session(record.plan, contents) == 1:
                    _measure(record, prepared, context, driver, decides=options.decide)
            while not record.contents.complete:
                sessions.wait_for_session(record, driver)
                with MachineLock(plan.name, driver.observer, driver.stop):
                    wait_until_idle(options.idle, driver.observer, driver.stop)
                    require_unchanged(prepared.builds)
                    _measure(record, prepared, context, driver, decides=options.decide)
            # What results and profiles need is slow to import, and the first rounds do without it.
            from bench_framework.workflow.profile import profile_policy, profile_run

            policy = profile_policy(plan.profile, requested=bool(options.profile))
            stopped = options.profile is not False and profile_run(record, policy, driver)
    except errors.Interrupted:
        return _interrupted(record, options.command or plan.command)
    clean_up(options, driver)
    return finish_record(record, options, pages=context.pages, stopped=stopped, measured=True)


def finish_record(
    record: Record,
    options: RunOptions,
    *,
    pages: bool = True,
    stopped: bool = False,
    measured: bool = False,
) -> RunOutcome:
    """Compute the results of a measured record, write its pages, and return the outcome of its run.

    Without `pages`, it has only results. `stopped` states that the user stopped the profiling, and `measured`
    that this machine has just measured the record: only then anything is added to its journal.
    """
    from bench_framework.workflow.earlier_ratios import earlier_ratios
    from bench_framework.workflow.pages import judge_record

    judgement = judge_record(record)
    event = earlier_ratios(record, judgement, options.results) if pages and measured else None
    if event is not None:
        record.note(event)
    record.save(judgement)
    document = _pages(record, judgement, options).document if pages else None
    if not pages:
        record.seal()
    failures = _failures(record.plan.variants, record.contents)
    code, resume = errors.EXIT_NOT_MEASURED if failures else errors.EXIT_DONE, None
    if stopped:
        resume = phrase_of(PhraseCode.PROFILING_STOPPED, str(record.path))
        code = errors.EXIT_INTERRUPTED
    events = tuple(record.contents.events)
    return RunOutcome(record.path, judgement, document, failures, resume, code, events)


def _earlier_builds(plan: Plan, options: RunOptions, context: RunContext) -> Sequence[Build]:
    """Return the builds of the gate's first pass, or of the record that will be continued."""
    if context.first_pass or not any(spec.pgo for spec in plan.builds):
        return context.first_pass
    record = _existing(plan, options, context.record, progress.SilentObserver())
    return record.contents.builds if record is not None else ()


def _existing(
    plan: Plan, options: RunOptions, continued: Path | None, observer: Observer
) -> Record | None:
    """Return the record to continue: a given one, or an interrupted one of the plan."""

    def warn(path: Path, error: errors.RecordError) -> None:
        cause = (("cause", error.message), *error.details)
        event = new_event("BX411.not-continued", details=cause, path=path)
        observer.notify(progress.Remark(replace(event, code=error.code)))

    if continued is not None:
        return Record.open(continued)
    return None if options.fresh else find_resumable(options.results, plan, warn)


def require_plan(record: Record, plan: Plan) -> None:
    """Refuse to continue an interrupted record with another plan. Raises `RecordError` (BX410)."""
    same_file = record.plan.scenario_path == plan.scenario_path
    if record.contents.header.plan_sha256 == plan_sha256(plan) or not same_file:
        return
    keys = ", ".join(changed_keys(record.plan, plan))
    raise errors.RecordError(
        "BX410.other-plan",
        details=((phrase_of(PhraseCode.OLD_COMMAND), record.plan.command),),
        name=plan.name,
        keys=keys,
        command=plan.command if plan.scenario_path else "",
    )


def require_programs(first: Sequence[Build], builds: Sequence[Build], command: str) -> None:
    """Refuse to confirm the result of a command with other programs. Raises `RecordError` (BX410)."""
    known = {build.id: build.program_sha256 for build in first if build.program_sha256}
    for build in builds:
        before = known.get(build.id)
        now = build.program_sha256
        if before is not None and now is not None and now != before:
            change = f"{Path(build.path or '').name} {before[:12]} → {now[:12]}"
            raise errors.RecordError("BX410.other-program", change=change, command=command)


def _pages(record: Record, judgement: Judgement, options: RunOptions) -> Pages:
    """Write the pages of a record. If a custom template fails, the shipped ones are used."""
    from bench_framework.workflow.pages import write_pages

    embed_runs, template = options.embed_runs, options.template
    try:
        return write_pages(record, judgement, embed_runs=embed_runs, template=template)
    except errors.UsageError as error:
        if template is None:
            raise
        write_pages(record, judgement, embed_runs=embed_runs)
        error.amend("BX113.shipped-templates", record=record.path, template=template)
        raise


def _record_for(
    text: str, options: RunOptions, context: RunContext, driver: Driver, prepared: Setup
) -> Record:
    plan, results, observer, looks = prepared.plan, options.results, driver.observer, list[Look]()
    record, hint = _existing(plan, options, context.record, observer), PhraseCode.FRESH_STARTS
    if record is not None and context.record is not None:
        from bench_framework.features.gate.measuring import reopening_looks

        looks = reopening_looks(record.plan, record.contents)
        hint = PhraseCode.GATE_NEEDS_MORE
    elif record is not None:
        require_plan(record, plan)
    same = (prepared.host, prepared.builds, prepared.inputs)
    if record is not None and not require_same(record, plan, *same):
        record.discard()
        record = None
    elif record is not None:
        parts = str(record.path), sum(record.contents.rounds.values()), Phrase(hint)
        observer.notify(Message(phrase_of(PhraseCode.RESUMING, *parts)))
    if record is None:
        if not (context.first_pass or context.builds):
            require_clean(plan, results, driver)
        at, numbers = utc_now(), context.numbers
        try:
            record = Record.create(
                results, plan, text, started_at=at, benchctl=__version__, numbers=numbers
            )
        except OSError as error:
            raise errors.MachineError(
                "BX235.record", results=results, strerror=error.strerror
            ) from error
    if not driver.marks.enter_context(in_use(record.path)):
        raise errors.RecordError("BX410.in-use", path=record.path)
    record.prepare(at=utc_now(), host=prepared.host, builds=prepared.builds, inputs=prepared.inputs)
    for event in prepared.events:
        if record.note(event) and event.severity != "note":
            observer.notify(progress.Remark(event))
    for look in looks:
        record.append(lines.Looked(look))
    observer.notify(progress.Resumed(record.contents.rounds, tuple(record.contents.blocks)))
    return record


def _measure(
    record: Record, prepared: Setup, context: RunContext, driver: Driver, *, decides: bool = False
) -> None:
    """Tune, measure all rounds or the next session, and count kernel events and instructions.

    Measuring stops as soon as the report is conclusive; with ``--gate``, or if a gate reopened the record, as soon as
    the gate can judge, or with `decides` say whether to keep the change. For a scenario with a gate, both must be
    reached. A rule of the context replaces these.
    """
    plan, observer, given = prepared.plan, driver.observer, context.rule
    reopened = record.contents.reopened
    gated = plan.invocation.gate or bool(plan.confirms) or reopened
    only_gate = reopened or (gated and plan.measure.until == "conclusive")
    builds = {build.id: build for build in prepared.builds}

    def looker(input_id: str, index: int, number: int) -> LookOutcome:
        # numpy is slow to import, and the first rounds are displayed without it.
        from bench_framework.compare.interim_analysis import Analysis
        from bench_framework.features.stop_rules import stop_rule_of

        rule = given or stop_rule_of(record.plan, gated=gated, only_gate=only_gate, decides=decides)
        contents, now = record.contents, (input_id, index, number)
        at = Analysis(record.plan, contents.blocks, *now, builds, contents.looks)
        observer.notify(progress.InterimVerdicts(at.report.verdicts))
        return rule.look(at)

    def can_decide(plan: Plan) -> bool:
        # Asked after the warm-up; the module needs numpy.
        from bench_framework.features.gate import question

        return question.can_decide(plan)

    one_round: Reason | None = None
    if only_gate:
        from bench_framework.features.gate.measuring import ONE_ROUND, same_program

        if same_program(plan, builds):
            one_round = ONE_ROUND
            observer.notify(Message(phrase_of(PhraseCode.ONE_ROUND, one_round)))
    if plan.tuning and not tuning.is_done(record):
        observer.notify(Message(phrase_of(PhraseCode.TUNING)))
        tuning.tune(record, driver)
    few, tool = given is None and allows_few_rounds(plan), prepared.hyperfine
    try:
        rounds.measure(record, driver, tool, looker, can_decide, one_round, few_rounds=few)
    except errors.UsageError:  # the budget is too small
        record.discard()
        raise
    if record.contents.complete:  # otherwise sessions remain
        observe_cells(record.plan, record, driver)
        if gated:
            _count_for_gate(record, context, driver)


def _count_for_gate(record: Record, context: RunContext, driver: Driver) -> None:
    """Count the instructions of cells whose times the gate cannot judge, and of confirmed regressions."""
    from bench_framework.features.gate import measuring as gate

    plan, contents = record.plan, record.contents
    counts = context.counts and gate.counts_instead(plan, driver.env)
    if counts and (cells := gate.cells_to_count(plan, contents)):
        observe_cells(gate.counting_plan(plan, cells), record, driver)
    if not (context.counts and plan.confirms and plan.judge.gate.explain):
        return
    if worse := gate.worse_cells(plan, contents) - context.counted:
        limit_s = context.explain_s + gate.MOST_TIMES * contents.elapsed_s
        observe_cells(gate.counting_plan(plan, worse), record, driver, limit_s)


def _interrupted(record: Record | None, command: str) -> RunOutcome:
    after, path = Phrase(PhraseCode.STARTS_AGAIN), None
    if record is not None:
        record.skip_open_round()
        record.save()
        record.close()
        done = sum(record.contents.rounds.values())
        after, path = Phrase(PhraseCode.RESUMES, (done, str(record.path))), record.path
    resume = phrase_of(PhraseCode.INTERRUPTED, command, after)
    return RunOutcome(path, None, None, (), resume, errors.EXIT_INTERRUPTED)


def _failures(variants: Sequence[Variant], contents: Contents) -> tuple[errors.BenchError, ...]:
    failures: list[errors.BenchError] = []
    for build in contents.builds:
        if not build.ok:
            names = ", ".join(v.label for v in variants if v.build_id == build.id) or build.id
            failures.append(build_failure("BX220.variants", build, variants=names))
    for event in contents.events:
        if event.severity == "error":
            kind = errors.AnswerError if event.code == "BX210" else errors.CellError
            failures.append(kind.from_event(event))
    return tuple(failures)
