"""The gate over a record: judged, measured again where it looks worse, and written down for CI."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench_framework import assets
from bench_framework.errors import RecordError, UsageError
from bench_framework.execution.progress import Message, Observer, SilentObserver
from bench_framework.workflow import corrupt_records
from bench_framework.workflow.run import run_plan
from bench_framework.workflow.run_options import RunOptions, accepted_changes, require_decidable

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.model.gate import BudgetFinding, GatedPair, Gating
    from bench_framework.model.plan import Plan
    from bench_framework.report.render.gate import GatePage
    from bench_framework.store.records import Record

GATE_FILES = ("gate.json", "comment.md", "summary.md", "junit.xml")


@dataclass(frozen=True, slots=True)
class Gated:
    """The gate's answer, and where it was written.

    Attributes:
        record: folder of the record that was judged.
        plan: of it.
        gating: the answer.
        page: the answer in words.
    """

    record: Path
    plan: Plan
    gating: Gating
    page: GatePage


def gate_record(
    results: Path,
    name: str,
    *,
    confirm: bool = True,
    fresh: bool = False,
    observer: Observer | None = None,
) -> Gated:
    """Judge a record against its scenario's gate, and write `GATE_FILES` into it.

    Args:
        results: folder of the records.
        name: of the record.
        confirm: measure again what looks worse; without it that is not judged.
        fresh: do not go on with measuring again where that was interrupted.
        observer: receives the progress of what is measured.

    Raises:
        UsageError: BX108, its rounds can never find anything; BX112, accepted changes cannot be read.
        RecordError: BX413, it is not measured to its end; or it cannot be read.
        MachineError: what looks worse cannot be measured again.
        Interrupted: while that was measured.
    """
    from bench_framework.store import finding, records

    observer = observer or SilentObserver()
    folder = _of_first_pass(
        finding.resolve_measured(results, name, lambda text: observer.notify(Message(text))),
        observer,
    )
    with records.Record.open(folder) as record, corrupt_records.blamed(folder):
        if not record.contents.complete:
            raise RecordError(
                f"{record.path} is not measured to its end",
                code="BX413",
                help="`benchctl run` finishes it",
            )
        require_decidable(record.plan)
        gating = _first(record)
        if confirm and gating.of("suspicious"):
            gating = _again(RunOptions(results=results, fresh=fresh), record, gating, observer)
        return _write(record, gating)


def _of_first_pass(folder: Path, observer: Observer) -> Path:
    """The record that a gate is about: of a second pass, which stands beside it, the record of the first one.

    Raises:
        RecordError: BX411, that is gone.
    """
    from bench_framework.store import layout, records

    with records.Record.open(folder) as record:
        first = record.plan.confirms
    if not first:
        return folder
    if not (folder.parent / first / layout.JOURNAL).is_file():
        raise RecordError(
            f"{folder} holds what the gate of {first} measured again, and that record is gone",
            code="BX411",
            effect="nothing was judged",
            help="`benchctl run FILE --gate` measures both anew",
        )
    observer.notify(
        Message(
            f"gate: {folder.name} is a second pass; judged is {first}, whose pairs it measures again"
        )
    )
    return folder.parent / first


def _first(record: Record) -> Gating:
    from bench_framework.features.gate.compute import first_pass

    contents = record.contents
    builds = {build.id: build for build in contents.builds}
    return first_pass(
        record.plan,
        contents.blocks,
        builds,
        contents.inputs,
        contents.looks,
        tuple(contents.events),
        contents.observations,
        accepted=accepted_changes(record.plan),
        day=contents.header.started_at[:10],
    )


def _again(options: RunOptions, record: Record, first: Gating, observer: Observer) -> Gating:
    """Measure the suspicious pairs afresh, in a record of their own beside the first."""
    from bench_framework.errors import Interrupted
    from bench_framework.features.gate import compute as gate
    from bench_framework.store import layout

    plan = gate.confirmation_plan(record.plan, first, record.id)
    assert plan is not None
    count = len(first.of("suspicious"))
    which = (
        "1 comparison looks worse and is"
        if count == 1
        else f"{count} comparisons look worse and are"
    )
    observer.notify(Message(f"gate: {which} measured again, {plan.measure.rounds_max} rounds"))
    text = (record.path / layout.SCENARIO).read_text(encoding="utf-8")
    outcome = run_plan(plan, text, options, observer)
    if outcome.judgement is None or outcome.record is None:
        raise Interrupted(
            "interrupted while what looked worse was measured again",
            effect="the gate has no answer",
            help="`benchctl gate` goes on where it stopped",
        )
    again = _require_same_host(record, outcome.record)
    return gate.second_pass(record.plan, first, outcome.judgement, again)


def _require_same_host(record: Record, folder: Path) -> str:
    """The id of the second record; differences of another machine would be taken for those of the code."""
    from bench_framework.store.records import Record as Opened

    with Opened.open(folder) as second:
        ours, theirs = record.contents.host, second.contents.host
        if ours is not None and theirs is not None and ours.host_id != theirs.host_id:
            raise UsageError(
                f"{record.path} was measured on another machine: what looks worse there cannot be measured again here",
                code="BX109",
                effect="the gate has no answer",
                help="run the gate where the record was made, or `benchctl run --gate` here",
            )
        return second.id


def _write(record: Record, gating: Gating) -> Gated:
    from bench_framework.report.render import gate as pages
    from bench_framework.store import layout

    page = pages.page_of(record.plan, gating, record.contents.blocks, record.id)
    templates = assets.template_dir()
    made = {
        "gate.json": json.dumps(gate_document(record, gating), indent=1, ensure_ascii=False) + "\n",
        "comment.md": pages.comment(page, templates),
        "summary.md": pages.summary(page, templates),
        "junit.xml": pages.junit(page),
    }
    for name, text in made.items():
        layout.write_whole(record.path / name, text)
    record.seal()
    return Gated(record.path, record.plan, gating, page)


def gate_page(gated: Gated, width: int, unicode: bool) -> str:  # noqa: FBT001 -- a flag of a terminal
    """The answer as text of a width."""
    from bench_framework.report.render import gate as pages

    return pages.terminal(gated.page, width, unicode=unicode)


def gate_document(record: Record, gating: Gating) -> dict[str, Any]:
    """The answer as one JSON document: ``gate.json``, and what ``--json`` prints."""
    plan = record.plan
    return {
        "schema_version": 1,
        "record_id": record.id,
        "confirmation": gating.confirmation,
        "scenario": plan.name,
        "exit_code": gating.exit_code,
        "reasons": list(gating.reasons),
        "remarks": list(gating.remarks),
        "level": gating.level,
        "family": gating.family,
        "looks": gating.looks,
        "rounds": gating.rounds,
        "base": plan.revisions.base if plan.revisions else None,
        "head": plan.revisions.head if plan.revisions else None,
        "pairs": [_pair(plan, pair) for pair in gating.pairs],
        "budgets": [_budget(plan, found) for found in gating.budgets],
    }


def _budget(plan: Plan, found: BudgetFinding) -> dict[str, Any]:
    cell = plan.cell(found.cell_id)
    return {
        "variant": plan.variant(cell.variant_id).label,
        "input": plan.input(cell.input_id).label,
        "metric": found.budget.metric,
        "state": found.state,
        "max": found.budget.most,
        "value": found.value,
        "lo": found.lo,
        "hi": found.hi,
        "level": found.level,
        "text": found.text,
    }


def _pair(plan: Plan, pair: GatedPair) -> dict[str, Any]:
    cell = plan.cell(pair.cell_id)
    shown = pair.comparison.shown
    return {
        "variant": plan.variant(cell.variant_id).label,
        "input": plan.input(cell.input_id).label,
        "metric": pair.metric,
        "state": pair.state,
        "why": pair.why,
        "margin": pair.margin,
        "verdict": str(pair.comparison.verdict),
        "ratio": shown.ratio if shown else None,
        "lo": shown.lo if shown else None,
        "hi": shown.hi if shown else None,
        "mde": pair.comparison.mde,
        "text": pair.text,
        "confirmation_verdict": str(pair.again.verdict) if pair.again else None,
        "confirmation_text": pair.again_text or None,
    }
