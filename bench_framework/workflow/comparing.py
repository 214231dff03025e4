"""Any variants of a record against any one of them, paired by round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench_framework.errors import UsageError
from bench_framework.model.plan import Role
from bench_framework.workflow.pages import judge_record, report_data

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench_framework.model.judgement import Comparison
    from bench_framework.model.plan import Cell, Metric, Plan, Variant
    from bench_framework.report import Document

KNOWN_METRICS = ("wall", "cpu", "user", "sys", "peak_rss")
SECTIONS = ("S03", "S06")


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """Comparisons, and the document that prints them."""

    comparisons: tuple[Comparison, ...]
    document: Document
    exploratory: bool
    """Chosen after the data were seen."""


def compare_record(
    results: Path, name: str, *, baseline: str | None, candidate: str | None, metrics: tuple[Metric, ...]
) -> ComparedTable:
    """Judge a record with another baseline or fewer candidates.

    Without `baseline` and `candidate` these are the record's own verdicts, read and not recomputed. With
    them the family was chosen after the data were seen: the page says "exploratory".

    Raises:
        UsageError: BX106, a selection that does not take what it must; BX107, an unknown metric.
        ScenarioError: BC113, a selection that cannot be read.
    """
    from bench_framework.report import build  # noqa: PLC0415 -- only for pages
    from bench_framework.store import records  # noqa: PLC0415 -- pydantic
    from bench_framework.workflow import importing  # noqa: PLC0415 -- it returns what this module defines

    folder = records.resolve(results, name)
    if records.is_imported(folder):
        return importing.compare_imported(folder, baseline=baseline, candidate=candidate, metrics=metrics)
    with records.Record.open(folder) as record:
        _require_metrics(record.plan, metrics)
        own = baseline is None and candidate is None and metrics == record.plan.judge.metrics
        if own:
            judgement = record.judgement() or judge_record(record)
        else:
            record.plan = _other_plan(record.plan, baseline, candidate, metrics)
            judgement = replace(judge_record(record), status="exploratory")
        # The record's own pages hold its own comparisons, not these.
        document = replace(build(report_data(record, judgement), only=SECTIONS), files=(), next=())
    headline = tuple(c for c in judgement.comparisons if c.family == "headline")
    return ComparedTable(headline, document, exploratory=not own)


def _require_metrics(plan: Plan, metrics: Sequence[Metric]) -> None:
    known = dict.fromkeys((*KNOWN_METRICS, *plan.judge.metrics))
    unknown = [metric for metric in metrics if metric not in known]
    if unknown or not metrics:
        raise UsageError(
            f"no metric {', '.join(unknown) or 'given'} in this record",
            code="BX107",
            help=f"metrics: {', '.join(known)}",
        )


def _other_plan(plan: Plan, baseline: str | None, candidate: str | None, metrics: tuple[Metric, ...]) -> Plan:
    """The plan with another baseline and candidates; the control arm stays only if it is a copy of the baseline."""
    base = plan.variant(plan.baseline_id) if baseline is None else _one(plan, baseline)
    chosen = plan.variants if candidate is None else _selected(plan, candidate)
    if any(cell.role is Role.BOUND and cell.variant_id == base.id for cell in plan.cells):
        raise UsageError(
            f"{base.label} is a bound: it does other work, and nothing can be compared with it",
            code="BX106",
            help="select another variant with --baseline",
        )
    kept = {variant.id for variant in chosen} | {base.id}
    if len(kept) < 2:  # noqa: PLR2004 -- a comparison has two sides
        raise UsageError(
            "the candidate is the baseline", code="BX106", help="select another variant with --candidate"
        )
    same = base.id == plan.baseline_id
    cells = []
    for cell in plan.cells:
        if cell.role is Role.CONTROL:
            if same:
                cells.append(cell)
        elif cell.variant_id in kept:
            cells.append(replace(cell, role=_role(cell, base.id)))
    return replace(
        plan,
        baseline_id=base.id,
        further_baselines=(),
        variants=tuple(variant for variant in plan.variants if variant.id in kept),
        cells=tuple(cells),
        ideas=(),
        judge=replace(plan.judge, metrics=metrics),
    )


def _role(cell: Cell, base_id: str) -> Role:
    if cell.variant_id == base_id:
        return Role.BASELINE
    return cell.role if cell.role is Role.BOUND else Role.CANDIDATE


def _one(plan: Plan, text: str) -> Variant:
    found = _selected(plan, text)
    if len(found) > 1:
        raise UsageError(
            f"--baseline takes {len(found)} variants, and must take one",
            code="BX106",
            details=tuple(("takes", variant.label) for variant in found[:5]),
            help="name a value of every axis, or variant='…'",
        )
    return found[0]


def _selected(plan: Plan, text: str) -> tuple[Variant, ...]:
    from bench_framework.scenario.selection import parse_selection  # noqa: PLC0415 -- only to compare

    known = {axis.name: [value.name for value in axis.values] for axis in plan.axes if axis.kind != "input"}
    selection = parse_selection(text, known, open_names=("variant", "idea"))
    found = tuple(
        variant
        for variant in plan.variants
        if selection.takes(
            {"variant": variant.label, **dict(variant.values)}
            | ({"idea": variant.idea} if variant.idea else {})
        )
    )
    if not found:
        raise UsageError(
            f"{text!r} selects no variant of this record",
            code="BX106",
            details=tuple(("there is", variant.label) for variant in plan.variants[:8]),
        )
    return found
