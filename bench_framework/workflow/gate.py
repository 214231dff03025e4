"""The gate of a record: check it, confirm possible regressions, write the files for CI."""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bench_framework import errors
from bench_framework.execution.build.revisions import Git, former_path
from bench_framework.execution.machine.host import environment, this_host_id
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import Message, Observer
from bench_framework.features.gate import compute as gate
from bench_framework.features.gate.explanation import explained
from bench_framework.features.gate.measuring import (
    ENDED_EARLY,
    MOST_TIMES,
    cells_to_count,
    reopening_looks,
)
from bench_framework.features.gate.outcome import BOTH, gate_change
from bench_framework.features.gate.plans import FEWEST_CONFIRMING, confirmation_plan, repetition
from bench_framework.features.gate.remarks import (
    budget_remarks,
    enough_budget,
    record_remarks,
    second_remarks,
)
from bench_framework.masking import masked_source
from bench_framework.model.documents.comparison import comparison_fields
from bench_framework.model.documents.gate import (
    AcceptedEntry,
    BudgetDocument,
    ExplanationDocument,
    GateDocument,
    PairDocument,
)
from bench_framework.model.documents.plan import SCHEMA_VERSION
from bench_framework.model.metrics import PEAK_RSS
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.result.gate import BudgetFinding, Explanation, GatedPair, Gating
from bench_framework.model.result.judgement import Judgement
from bench_framework.report.render import gate as pages, junit
from bench_framework.report.render.gate import GatePage, acceptance
from bench_framework.report.render.gate_heading import explanation
from bench_framework.store import finding, layout, wire
from bench_framework.store.records import Record, read_gate
from bench_framework.text.documents import document_text
from bench_framework.text.reasons import phrase_of
from bench_framework.text.write import clause
from bench_framework.workflow.pages import (
    PAGE,
    contains_runs,
    custom_templates,
    judge_record,
    write_pages,
)
from bench_framework.workflow.records.integrity import corruption_reported
from bench_framework.workflow.run import run_plan
from bench_framework.workflow.run_options import (
    RunContext,
    RunOptions,
    accepted_changes,
    require_decidable,
)
from bench_framework.workflow.self_test_results import self_test_remarks

GATE_FILES = (layout.GATE, "comment.md", "summary.md", "junit.xml")


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a gate, and the record that contains its files."""

    record: Path
    gating: Gating
    page: GatePage


def gate_record(
    results: Path,
    name: str,
    *,
    confirm: bool = True,
    fresh: bool = False,
    command: str = "",
    observer: Observer,
    measure_again: Callable[[Record, Gating], Gating] | None = None,
) -> GateResult:
    """Check a record against its scenario's gate, and write `GATE_FILES` into it.

    A record that ended before the gate could judge is measured further first.

    With `confirm`, what the gate needs is measured: further rounds of the record, and possible
    regressions again, if no earlier gate of the record did. Without it, what was not measured again is
    not decided. With `fresh`, an interrupted confirmation is not resumed; `command` resumes it.
    `measure_again` measures possible regressions in place of this machine.

    Raises:
        UsageError: BX108, too few rounds to detect anything; BX109, more must be measured, and another
            machine measured the record; BX112, accepted changes cannot be read.
        RecordError: BX413, the measurement is incomplete; BX410, builds, inputs or the machine changed
            since; or the record or its manifest cannot be read.
        MachineError: nothing more can be measured.
        Interrupted: measuring was interrupted.
    """
    folder = finding.resolve_measured(results, name, lambda text: observer.notify(Message(text)))
    if (first := first_pass_folder(folder)) != folder:
        text = phrase_of(PhraseCode.IS_CONFIRMATION, folder.name, first.name)
        observer.notify(Message(text))
        folder = first
    record = Record.open(folder)
    with corruption_reported(folder):
        record.require_manifest()
        contents = record.contents
        if not contents.complete and not (confirm and contents.reopened):
            again = "" if contents.reopened else record.plan.command
            raise errors.RecordError("BX413.gate-incomplete", path=record.path, again=again)
        require_decidable(record.plan)
        early = bool(reopening_looks(record.plan, contents))
        if confirm and (early or not contents.complete):
            record = _continue(results, record, command, observer)
        accepted = accepted_changes(record.plan)
        gating = gate.first_pass(record.plan, record.contents, accepted=accepted)
        earlier = _earlier_second(record, observer)
        if earlier is not None and (not confirm or earlier.contains(gating)):
            gating = earlier.applied(record, gating)
        elif confirm and gating.to_repeat:
            options = RunOptions(results, fresh=fresh, command=command)
            measure_again = measure_again or partial(confirm_here, options, observer)
            with layout.in_use(record.path):
                gating = measure_again(record, gating)
        else:
            gating = explained(record.plan, gating, [record.contents])
        ended = (ENDED_EARLY,) if early and not confirm else ()
        others = record_remarks(record.plan, record.contents)
        file = record.plan.judge.gate.accepted
        missing = gating.in_state("worse") and file and not Path(file).exists()
        unread = (Reason(ReasonCode.ACCEPTANCE_MISSING, file),) if missing else ()
        changed = (*scenario_remarks(record), *others)
        budget = budget_remarks(record.contents) if gating.in_state("not-judged") else ()
        remarks = (
            *budget,
            *enough_budget(gating, record.contents),
            *changed,
            *gating.remarks,
            *unread,
            *ended,
            *self_test_remarks(results, record),
        )
        return _write(record, replace(gating, remarks=remarks))


def scenario_remarks(record: Record) -> Iterator[Reason]:
    """Yield a remark if the base has the scenario with another text: a change can also change how it is judged."""
    plan = record.plan
    file = Path(plan.scenario_path)
    if plan.revisions is None or not file.is_file():
        return
    text = (record.path / layout.SCENARIO).read_text(encoding="utf-8")
    at, base, name = ("-C", str(file.parent)), plan.revisions.base, plan.revisions.names[0]
    with contextlib.suppress(errors.MachineError), Launcher() as launcher:
        git = Git(launcher, environment())
        reason = Reason(ReasonCode.SCENARIO_CHANGED, (file.name, name))
        before = git.try_run(*at, "show", f"{base}:./{file.name}")
        if before is None and (former := former_path(git, file, base)) is not None:
            reason = Reason(ReasonCode.SCENARIO_RENAMED, (file.name, name, former))
            before = git.try_run(*at, "show", f"{base}:{former}")
        if before is not None and masked_source(before) != text.strip():
            yield reason


def _continue(results: Path, record: Record, command: str, observer: Observer) -> Record:
    """Measure a record further until the gate can judge it, and write its report again."""
    _require_this_machine(record)
    options = RunOptions(
        results=results,
        profile=False,
        embed_runs=contains_runs(record),
        template=custom_templates(record),
    )
    context = RunContext(record=record.path)
    # The plan without the limit of rounds, which the journal contains.
    plan = wire.load_plan((record.path / layout.PLAN).read_bytes())
    if run_plan(plan, "", options, observer, context).exit_code == errors.EXIT_INTERRUPTED:
        raise errors.Interrupted("BX130.gate-continued", command=command)
    return Record.open(record.path)


def _require_this_machine(record: Record) -> None:
    """Refuse to measure for a record of another machine. Raises `UsageError`, BX109."""
    if record.contents.host is not None and record.contents.host.host_id != this_host_id():
        raise errors.UsageError("BX109", record=record.path)


def first_pass_folder(folder: Path) -> Path:
    """Return a confirmation's first pass, else `folder`. Raises `RecordError` (BX411): missing."""
    with Record.open(folder) as record:
        first = record.plan.confirms
    if not first:
        return folder
    if not (folder.parent / first / layout.JOURNAL).is_file():
        raise errors.RecordError("BX411.no-first-record", folder=folder, first=first)
    return folder.parent / first


def confirm_here(
    options: RunOptions, observer: Observer, record: Record, first: Gating, *, counts: bool = True
) -> Gating:
    """Measure possible regressions again, and return the result of both passes. Raises `Interrupted`."""
    _require_this_machine(record)
    plan = confirmation_plan(record.plan, first, record.id)
    assert plan is not None
    parts = repetition(first), plan.measure.rounds_max or 0
    observer.notify(Message(phrase_of(PhraseCode.MEASURING_AGAIN, *parts)))
    text = (record.path / layout.SCENARIO).read_text(encoding="utf-8")
    contents = record.contents
    context = RunContext(
        first_pass=contents.builds,
        explain_s=MOST_TIMES * contents.elapsed_s,
        counted=frozenset(cell_id for cell_id, _ in contents.functions),
        pages=False,
        counts=counts,
    )
    outcome = run_plan(plan, text, options, observer, context)
    if outcome.judgement is None or outcome.record is None:
        raise errors.Interrupted("BX130.gate-confirmed", command=options.command)
    return with_second_record(record, first, outcome.judgement, outcome.record)


def with_second_record(record: Record, first: Gating, again: Judgement, folder: Path) -> Gating:
    """Return the result with the second record, whose judgement is `again`."""
    with Record.open(folder) as second:
        contents = second.contents
        counted: Sequence[GatedPair] = ()
        if contents.observations and second.plan.benches is None:
            cells = cells_to_count(second.plan, contents)
            counted = gate.counted_pairs(second.plan, cells, contents)
        accepted, day = accepted_changes(record.plan), record.contents.header.started_at[:10]
        gating = gate.second_pass(
            record.plan, first, again, second.id, counted, accepted=accepted, day=day
        )
        remarks = (*gating.remarks, *second_remarks(second.id, contents))
        gating = replace(gating, remarks=remarks)
        return explained(record.plan, gating, [contents, record.contents])


@dataclass(frozen=True, slots=True)
class _Second:
    """The second measurement that an earlier gate of a record made.

    It is used again: a new one for each call would give a regression several chances to pass.
    """

    folder: Path
    hosts: tuple[str, ...]
    cell_ids: frozenset[str]
    rounds_min: int

    def contains(self, first: Gating) -> bool:
        """Return whether it measured all that the first pass requires, memory in enough rounds."""
        needed = {pair.cell_id for pair in first.to_repeat}
        memory = any(pair.metric == PEAK_RSS for pair in first.to_repeat)
        return self.cell_ids >= needed and (not memory or self.rounds_min >= FEWEST_CONFIRMING)

    def applied(self, record: Record, first: Gating) -> Gating:
        """Return the result of both passes."""
        with Record.open(self.folder) as second:
            judgement = judge_record(second)
        return with_second_record(record, replace(first, hosts=self.hosts), judgement, self.folder)


def _earlier_second(record: Record, observer: Observer) -> _Second | None:
    """Return the second measurement that ``gate.json`` names, if it still exists and can be read."""
    try:
        document = read_gate(record.path)
    except errors.RecordError as error:
        observer.notify(Message(phrase_of(PhraseCode.EARLIER_UNUSABLE, error.message)))
        return None
    if document is None or document.confirmation is None:
        return None
    name, hosts = document.confirmation, document.hosts
    folder = record.path.parent / name
    if not layout.is_record_id(name) or not (folder / layout.JOURNAL).is_file():
        return None
    try:
        with Record.open(folder) as second:
            second.require_manifest()
            if second.plan.confirms != record.id or not second.contents.complete:
                return None
            cells = frozenset(cell.id for cell in second.plan.cells)
            rounds_min = second.plan.measure.rounds_min
    except errors.RecordError as error:
        text = phrase_of(PhraseCode.SECOND_UNUSABLE, name, error.message)
        observer.notify(Message(text))
        return None
    return _Second(folder, hosts if len(hosts) == BOTH else (), cells, rounds_min)


def _write(record: Record, gating: Gating) -> GateResult:
    started = record.contents.header.started_at
    change = gate_change(gating, record.plan.judge.gate)
    page = pages.page_of(record.plan, gating, record.contents.blocks, record.id, started, change)
    files = {
        layout.GATE: document_text(gate_document(record, gating, page.result)),
        "comment.md": pages.markdown(page, comment=True),
        "summary.md": pages.markdown(page, comment=False),
        "junit.xml": junit.document_of(page),
    }
    layout.write_all(record.path, files)
    record.renew(*files)
    try:
        record.seal()
    except errors.MachineError:
        for name in files:  # the manifest does not list them
            with contextlib.suppress(OSError):
                (record.path / name).unlink(missing_ok=True)
        raise
    if (record.path / PAGE).is_file() and (judgement := record.judgement()) is not None:
        # Their first lines give the result of the gate.
        runs, templates = contains_runs(record), custom_templates(record)
        write_pages(record, judgement, embed_runs=runs, template=templates)
    return GateResult(record.path, gating, page)


def gate_document(record: Record, gating: Gating, result: str) -> GateDocument:
    """Return the result as a JSON document, for ``gate.json`` and ``--json``."""
    plan = record.plan
    return GateDocument(
        schema_version=SCHEMA_VERSION,
        record_id=record.id,
        confirmation=gating.confirmation,
        hosts=gating.hosts,
        scenario=plan.name,
        result=result,
        exit_code=gating.exit_code,
        reasons=gating.reasons,
        remarks=gating.remarks,
        level=gating.level,
        family=gating.family,
        looks=gating.looks,
        rounds=gating.rounds,
        decision=gate_change(gating, plan.judge.gate).decision,
        base=plan.revisions.base if plan.revisions else None,
        head=plan.revisions.commit if plan.revisions else None,
        pairs=tuple(_pair(plan, pair) for pair in gating.pairs),
        budgets=tuple(_budget(plan, finding) for finding in gating.budgets),
        explanations=tuple(_explanation(plan, item) for item in gating.explanations),
        accept=tuple(AcceptedEntry(**acceptance(plan, pair)) for pair in gating.in_state("worse")),
    )


def _labels(plan: Plan, cell_id: str) -> tuple[str, str]:
    """Return the labels of the variant and of the input of a cell."""
    cell = plan.cell(cell_id)
    return plan.variant(cell.variant_id).label, plan.input(cell.input_id).name


def _budget(plan: Plan, finding: BudgetFinding) -> BudgetDocument:
    budget, interval = finding.budget, (finding.value, _finite(finding.lo), _finite(finding.hi))
    head = (*_labels(plan, finding.cell_id), budget.metric, finding.state, budget.most)
    return BudgetDocument(*head, *interval, finding.level, pages.budget_text(finding))


def _finite(bound: float | None) -> float | None:
    """Return a bound of an interval, `None` for an infinite one, which JSON does not have."""
    return bound if bound is not None and math.isfinite(bound) else None


def _explanation(plan: Plan, item: Explanation) -> ExplanationDocument:
    text = explanation(item)
    return ExplanationDocument(
        *_labels(plan, item.cell_id), text, item.changes, item.build, item.place
    )


def _pair(plan: Plan, pair: GatedPair) -> PairDocument:
    fields = comparison_fields(plan, pair.comparison)
    return PairDocument(
        **fields | {"margin": pair.margin, "reasons": pair.reasons},
        state=pair.state,
        values=pages.axis_values(plan, pair.cell_id),
        text=clause(pair.claim) if pair.claim else "",
        confirmation_verdict=pair.again.verdict if pair.again else None,
        confirmation_text=clause(pair.again_claim) if pair.again_claim else None,
    )
