"""Measurement of a suite, scenario by scenario, and its files.

`STATE` has the rows so far, and is written after each step, so that the same command continues an interrupted suite. A
finished scenario is not measured again.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench_framework.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_NOT_JUDGED,
    EXIT_NOT_MEASURED,
    BenchError,
    Interrupted,
    RecordError,
)
from bench_framework.execution.machine.host import seconds, utc_now
from bench_framework.execution.progress import Observer
from bench_framework.features.suite import level_of
from bench_framework.foreign import read_regular
from bench_framework.model.documents.gate import SuiteDocument, SuiteMember, SuiteMemberDocument
from bench_framework.model.documents.plan import SCHEMA_VERSION, fields_of
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.report.claim_blocks import MAIN_KINDS
from bench_framework.report.render import suite as pages
from bench_framework.report.render.suite import SuitePage, SuiteRow
from bench_framework.store import layout, wire
from bench_framework.store.records import Record, plan_sha256, read_gate
from bench_framework.text.documents import document_text
from bench_framework.text.reasons import phrase
from bench_framework.workflow.gate import gate_record
from bench_framework.workflow.run import RunOutcome, run_plan
from bench_framework.workflow.run_options import RunOptions, find_scenario
from bench_framework.workflow.scenarios.suite_files import SUITES
from bench_framework.workflow.setup.time_estimates import UNTIMED_S
from bench_framework.workflow.suites.planning import Member, SuitePlan, with_budget
from bench_framework.workflow.suites.states import digest_of, states_of

STATE: Final = "state.json"
Displays = Callable[[], AbstractContextManager[Observer]]


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a result of a scenario: digests of its plan and its programs, and the reason to skip it."""

    plan: str
    programs: str
    skipped: Reason | None

    def change(self, now: "Subject") -> Reason | None:
        """Return what changed since; `None` if it is the same."""
        # Another commit also gives the plan another name of the head.
        if self.programs != now.programs:
            return Reason(ReasonCode.OTHER_PROGRAMS)
        if self.plan != now.plan:
            return Reason(ReasonCode.OTHER_SCENARIO)
        return Reason(ReasonCode.OTHER_CHANGES) if self != now else None


@dataclass(frozen=True, slots=True)
class State:
    """The content of `STATE`.

    Attributes:
        key: digest of the command and its files, of which each is a scenario.
        subjects: plan and programs of each scenario.
        used_s: time that the rounds of each scenario took.
        page: the rows so far.
    """

    key: str
    subjects: tuple[Subject, ...]
    used_s: tuple[float, ...]
    page: SuitePage


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The result of a suite, and the folder with its files."""

    folder: Path
    page: SuitePage


@dataclass(frozen=True, slots=True)
class SuiteEvents:
    """The functions that are called in a suite: before each scenario, after its measurement, and if it failed."""

    begins: Callable[[int, Member, float | None], object]
    measured: Callable[[RunOutcome], object]
    failed: Callable[[BenchError], object]


class Suite:
    """A suite that is measured."""

    def __init__(self, suite: SuitePlan, options: RunOptions, *, confirm: bool = True) -> None:
        """Continue the interrupted suite of the same command, or begin a new one."""
        self._suite = suite
        self._options = options
        self._confirm = confirm
        members = suite.members
        key = _key(suite, options, confirm=confirm)
        subjects = _subjects(members)
        rows = tuple(_first_row(member, gated=suite.gated) for member in members)
        self.continued = False
        discarded = list[tuple[str, Reason]]()
        unfinished = None if options.fresh else _unfinished(options.results, key)
        if unfinished is not None:
            self.folder, earlier = unfinished
            entries = list[tuple[SuiteRow, float]]()
            every = zip(earlier.subjects, earlier.page.rows, earlier.used_s, strict=True)
            for (subject, row, used_s), now, new in zip(every, subjects, rows, strict=True):
                reason = subject.change(now)
                if not reason and not _has_files(options.results, row):
                    reason = Reason(ReasonCode.RECORD_REMOVED)
                entries.append((new, 0.0) if reason else (row, used_s))
                had_result = row.exit_code is not None or row.record
                if reason and had_result and not (row.skipped or new.skipped):
                    discarded.append((new.scenario, reason))
            rows, used = (tuple(items) for items in zip(*entries, strict=True))
            page = replace(earlier.page, rows=rows, level=suite.level, decisions=suite.decisions)
            self.continued = any(row.exit_code is not None and not row.skipped for row in rows)
        else:
            started, used = utc_now(), (0.0,) * len(rows)
            with layout.new_folder(options.results / SUITES, started) as (folder, draft):
                self.folder = folder
                page = SuitePage(
                    folder.name,
                    started,
                    suite.gated,
                    options.command,
                    suite.level,
                    suite.decisions,
                    rows,
                )
                _write_state(draft, State(key, subjects, used, page))
        self.discarded = tuple(discarded)
        """Scenarios whose earlier results are not used, and why."""
        self._state = State(key, subjects, used, page)
        self._mark = ExitStack()
        self._mark.enter_context(layout.in_use(self.folder))

    def run(self, displays: Displays, events: SuiteEvents) -> SuiteResult:
        """Measure what is not measured yet, and write the files of the suite.

        A scenario that fails does not prevent the others. The suite ends early only if the user stops it.
        """
        with self._mark:
            self._run(displays, events)
            return self._write()

    def _run(self, displays: Displays, events: SuiteEvents) -> None:
        for place, member in enumerate(self._suite.members):
            row = self._state.page.rows[place]
            if row.exit_code is not None:
                continue
            budget_s = self._budget_of(place, row)
            row = replace(row, budget_s=budget_s)
            self._keep(place, row)
            events.begins(place, member, budget_s)
            begin = seconds()
            try:
                self._measure(place, member, displays, events)
            except Interrupted:
                self._spend(place, begin)
                break
            except BenchError as error:
                events.failed(error)
                code = error.exit_code if error.exit_code == EXIT_NOT_JUDGED else EXIT_NOT_MEASURED
                row = self._state.page.rows[place]
                text = f"{error.code}: {error.message}"
                self._keep(place, replace(row, exit_code=code, sentence=text, error=error.code))
            self._spend(place, begin)

    def _budget_of(self, place: int, row: SuiteRow) -> float | None:
        if self._suite.budget_s is None or row.budget_s is not None:
            return row.budget_s
        return self._suite.budget_of(place, self._suite.budget_s - sum(self._state.used_s))

    def _measure(self, place: int, member: Member, displays: Displays, events: SuiteEvents) -> None:
        """Measure a scenario and apply its gate.

        Raises `Interrupted`: the user stopped it; `BenchError`: it failed.
        """
        row, options, gated = self._state.page.rows[place], self._options, self._suite.gated
        code = EXIT_NOT_MEASURED if row.incomplete else EXIT_DONE
        if not row.record:
            plan = member.plan if row.budget_s is None else with_budget(member.plan, row.budget_s)
            text = find_scenario(member.file).read_text(encoding="utf-8")
            with displays() as display:
                outcome = run_plan(plan, text, options, display)
            if outcome.record is None or outcome.judgement is None:
                raise Interrupted("BX130.measurement")
            # After a late interruption, the exit code does not show failures.
            row = replace(
                row,
                record=outcome.record.name,
                incomplete=bool(outcome.failures),
                sentence="" if gated else _answer(outcome),
            )
            self._keep(place, row, _used(outcome.record))
            events.measured(outcome)
            code = outcome.exit_code
            if code == EXIT_INTERRUPTED:  # after the measurement, which is complete
                if not gated:
                    done = EXIT_NOT_MEASURED if row.incomplete else EXIT_DONE
                    self._keep(place, replace(row, exit_code=done))
                raise Interrupted("BX130.measurement")
        if gated:
            folder = options.results / member.plan.name / row.record
            with displays() as display:
                result = gate_record(
                    options.results,
                    str(folder),
                    confirm=self._confirm,
                    fresh=options.fresh,
                    command=options.command,
                    observer=display,
                )
            row = replace(row, page=result.page)
            code = code or result.gating.exit_code
        self._keep(place, replace(row, exit_code=code))

    def _keep(self, place: int, row: SuiteRow, used_s: float | None = None) -> None:
        """Store a row."""
        rows, used = list(self._state.page.rows), list(self._state.used_s)
        rows[place] = row
        used[place] = used[place] if used_s is None else used_s
        page = replace(self._state.page, rows=tuple(rows))
        self._state = replace(self._state, page=page, used_s=tuple(used))
        _write_state(self.folder, self._state)

    def _spend(self, place: int, begin: float) -> None:
        row = self._state.page.rows[place]
        self._keep(place, replace(row, seconds=row.seconds + seconds() - begin))

    def _write(self) -> SuiteResult:
        page = self._state.page
        files = {
            "suite.json": document_text(suite_document(self._options.results, page)),
            "index.html": pages.index(page),
            "summary.md": pages.markdown(page, comment=False),
        }
        if page.gated:
            files |= {
                "comment.md": pages.markdown(page, comment=True),
                "junit.xml": pages.junit(page),
            }
        layout.write_all(self.folder, files)
        return SuiteResult(self.folder, page)


def suite_document(results: Path, page: SuitePage) -> SuiteDocument:
    """Return the result of a suite as a JSON document, for ``suite.json`` and ``--json``."""
    return SuiteDocument(
        schema_version=SCHEMA_VERSION,
        suite_id=page.id,
        started_at=page.started,
        command=page.command,
        exit_code=page.exit_code,
        answer=page.answer,
        decision=page.change.decision if page.gated else None,
        level=page.level,
        comparisons=page.decisions,
        scenarios=tuple(
            SuiteMemberDocument(
                **fields_of(row, SuiteMember),
                result=row.words[2],
                text=row.sentence,
                gate=read_gate(results / row.scenario / row.record) if row.page else None,
            )
            for row in page.rows
        ),
    )


def _first_row(member: Member, *, gated: bool) -> SuiteRow:
    """Return the row of a scenario before it is measured. One that is skipped is finished."""
    skipped = member.skipped is not None
    return SuiteRow(
        scenario=member.plan.name,
        file=member.file,
        record="",
        exit_code=EXIT_DONE if skipped else None,
        error="",
        skipped=skipped,
        seconds=0.0,
        budget_s=None,
        level=0.0 if skipped else level_of(member.plan, gated=gated),
        sentence=phrase(member.skipped),
    )


def _has_files(results: Path, row: SuiteRow) -> bool:
    """Return whether the record of a row exists, if it has one, and the result of its gate."""
    file = layout.JOURNAL if row.page is None else layout.GATE
    return not row.record or (results / row.scenario / row.record / file).is_file()


def _subjects(members: Sequence[Member]) -> tuple[Subject, ...]:
    """Return what the result of each scenario would be about."""
    states = states_of(member.plan for member in members)
    return tuple(
        Subject(plan_sha256(member.plan), state, member.skipped)
        for member, state in zip(members, states, strict=True)
    )


def _key(suite: SuitePlan, options: RunOptions, *, confirm: bool) -> str:
    """Return a digest of what a command measures. How it prints that has no influence."""
    files = [str(find_scenario(member.file).resolve()) for member in suite.members]
    choice = [options.base, options.head, options.only, [*options.overrides]]
    judged = [suite.gated, options.decide, confirm]
    return digest_of([*judged, suite.budget_s, *choice, files])


def _unfinished(results: Path, key: str) -> tuple[Path, State] | None:
    """Return the newest suite of a command, if it was interrupted and no process uses it.

    One that cannot be read is left alone.
    """
    for folder in _newest_first(results / SUITES):
        try:
            state = wire.load(State, STATE, read_regular(folder / STATE))
        except (OSError, RecordError):
            continue
        if state.key == key:
            unfinished = state.page.exit_code == EXIT_INTERRUPTED and not layout.is_in_use(folder)
            return (folder, state) if unfinished else None
    return None


def _newest_first(root: Path) -> list[Path]:
    folders = [f for f in root.iterdir() if layout.is_record_id(f.name)] if root.is_dir() else []
    return sorted(folders, key=lambda folder: layout.order_key(folder.name), reverse=True)


def _write_state(folder: Path, state: State) -> None:
    layout.write_whole(folder / STATE, wire.dump(State, state))


def _used(record: Path) -> float:
    """Return the time that the rounds of a record took in seconds, with the warm-up."""
    with Record.open(record) as opened:
        blocks = opened.contents.blocks
    return sum(sum(block.wall_s) + UNTIMED_S for block in blocks)


def _answer(outcome: RunOutcome) -> str:
    """Return the first sentence of the summary of a report."""
    claims = outcome.judgement.claims if outcome.judgement else ()
    kinds = ("answer", *MAIN_KINDS)
    return next((c.text for kind in kinds for c in claims if c.kind == kind), "")
