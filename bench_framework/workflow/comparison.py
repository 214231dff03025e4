"""Comparison of variants of a record with any baseline, paired by round, and of two records.

Two records are compared through the cells that did not change (``docs/method.md#two-records``).
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from bench_framework.errors import RecordError, UsageError
from bench_framework.features import axis_levels_page
from bench_framework.features.axis_levels import axis_pairs, judge_requested
from bench_framework.features.document import build_document
from bench_framework.features.record_comparison.anchors import Bridge, side
from bench_framework.features.record_comparison.compute import bridge
from bench_framework.features.record_comparison.section import document
from bench_framework.model.documents.comparison import ComparisonDocument, comparison_document
from bench_framework.model.documents.plan import fields_of
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL, is_exact
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.declarations import Axis
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan, Role, Variant
from bench_framework.model.plan.planned_comparisons import comparisons_planned
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Difference
from bench_framework.model.result.judgement import Comparison
from bench_framework.report.blocks import Document, paragraph_text
from bench_framework.report.context import ReportData
from bench_framework.report.sections.summary import output_warnings
from bench_framework.scenario.selection import parse_selection, select_cells, words_of
from bench_framework.store import finding
from bench_framework.store.records import Record, open_record, read_profiles
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.documents import ClaimDocument, claim_documents
from bench_framework.workflow.pages import judge_contents, judge_record, record_host, report_data
from bench_framework.workflow.records.integrity import corruption_reported

KNOWN_METRICS: Final = (WALL, CPU, "user", "sys", PEAK_RSS)
SECTIONS = ("S29", "S04", "S06")
OPERATORS = frozenset("=<>~")
"""Characters of conditions: a text with none of them is a label."""
BRIDGED_METRICS: Final = (WALL, CPU, "binary_size", "stripped_size")
"""Metrics of a comparison of two records: times relative to unchanged cells, and binary sizes."""


@dataclass(frozen=True, slots=True)
class ComparisonsDocument:
    """The result of `compare` for one record."""

    record_id: str
    """Id of the record."""
    scenario: str
    """Name of the scenario."""
    comparisons: tuple[ComparisonDocument, ...]
    """Comparisons of the record."""
    warnings: tuple[str, ...]
    """Reasons to be careful with the comparisons, such as outputs that differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsDocument(Bridge):
    """The result of `compare` for two records, and of `baseline compare`."""

    claims: tuple[ClaimDocument, ...]
    """Sentences about the comparison."""


CompareDocument = ComparisonsDocument | RecordsDocument


class ComparisonPage(NamedTuple):
    """Comparisons of one record, or the comparison of two, and the document that shows them."""

    document: Document
    json: CompareDocument
    comparisons: tuple[Comparison, ...] = ()
    bridge: Bridge | None = None


def compare_record(
    results: Path,
    name: str,
    *,
    baseline: str | None = None,
    candidate: str | None = None,
    metrics: tuple[Metric, ...] | None = None,
) -> ComparisonPage:
    """Compare the variants of a record with another baseline or fewer candidates.

    Without `baseline` and `candidate`, the comparisons are read from the record. Otherwise the family
    of comparisons was chosen after measuring, and the page is marked as exploratory.

    Raises:
        UsageError: BX106, a filter selects no variant or too many; BX107, an unknown metric.
        ScenarioError: BC113, a selection that cannot be read.
        RecordError: BX413, nothing was measured after the warm-up, or nothing could be compared.
    """
    folder = finding.resolve(results, name)
    with open_record(folder) as record, corruption_reported(folder):
        plan = record.plan
        metrics = record.plan.judge.metrics if metrics is None else metrics
        _require_metrics(record.plan.judge.metrics, metrics)
        recorded = baseline is None and candidate is None and metrics == record.plan.judge.metrics
        judgement = record.judgement() or judge_record(record)
        if not recorded:
            tripped = {(f.input_id, f.metric) for f in judgement.floors if f.tripped}
            measured = looks_of(record.plan)
            record.plan = other = _other_plan(record.plan, baseline, candidate, metrics)
            looks = measured.shared_by(comparisons_planned(other), other.judge.level)
            profiles = read_profiles(record.path, other)
            judgement = judge_contents(
                other, record.contents, profiles, looks=looks, tripped=tripped
            )
            judgement = replace(judgement, status="exploratory")
        # The pages of the record contain its own comparisons, not these.
        data = report_data(record, judgement)
        document = build_document(data, only=SECTIONS)
        if not document.sections:
            if record.contents.complete:
                raise RecordError("BX413.nothing-compared", path=folder)
            command = record.plan.command
            raise RecordError("BX413.no-results-of-record", path=folder, command=command)
        first, *others = document.sections
        sections = (replace(first, terminal="all"), *others)
        document = replace(document, sections=sections, files=(), next=())
        if not recorded:
            note = phrase_of(PhraseCode.EXPLORATORY, judgement.looks.family)
            document = replace(document, run_line=f"{document.run_line}  {note}")
    baselines = {cell.id for cell in record.plan.cells if cell.role is Role.BASELINE}
    compared = tuple(
        c
        for c in judgement.comparisons
        if c.family == "headline"
        or (c.family == "exact" and c.ref_cell_id in baselines)
        or (c.family == "memory" and c.metric in metrics)
    )
    return _page_of_record(document, record.id, data, plan, compared)


def compare_axis(
    results: Path,
    name: str,
    axis: str,
    *,
    where: str | None = None,
    metrics: tuple[Metric, ...] | None = None,
) -> ComparisonPage:
    """Compare the levels of an axis with the level of the baseline, with all other axes equal.

    `where` selects variants and inputs, as ``-k`` does. Without `metrics`, those of the scenario
    that are sampled are compared.

    Raises:
        UsageError: BX106, no such axis, an axis of the input, or nothing to compare; BX107, an unknown metric.
        ScenarioError: BC113, a selection that cannot be read.
    """
    folder = finding.resolve_measured(results, name)
    with Record.open(folder) as record, corruption_reported(folder):
        plan, contents = record.plan, record.contents
        metrics = plan.judge.sampled if metrics is None else metrics
        _require_metrics(plan.judge.metrics, metrics)
        if exact := [metric for metric in metrics if is_exact(metric)]:
            raise UsageError("BX107.exact-metric", exact=", ".join(exact))
        chosen = _variant_axis(plan.axes, axis)
        cells = plan.cells if where is None else select_cells(plan, where, option="--where")
        pairs = axis_pairs(plan, axis, frozenset(cell.id for cell in cells))
        if not pairs:
            raise UsageError("BX106.no-pair", axis=axis, where=where)
        builds = contents.builds_by_id
        judged, looks = judge_requested(
            plan, contents.blocks, builds, contents.looks, pairs, metrics
        )
        judgement = record.judgement() or judge_record(record)
        data = report_data(record, judgement)
        page = axis_levels_page.document(data, chosen, judged, looks, where)
    return _page_of_record(page, record.id, data, plan, judged)


def _page_of_record(
    page: Document,
    record_id: str,
    data: ReportData,
    plan: Plan,
    comparisons: tuple[Comparison, ...],
) -> ComparisonPage:
    """Return a page that begins with the warnings about outputs, and its JSON document.

    `plan` is that of the record, whose baseline the outputs were compared with.
    """
    cells = {cell for c in comparisons for cell in (c.cell_id, c.ref_cell_id)}
    boxes = tuple(output_warnings(data, plan, cells))
    first, *others = page.sections
    page = replace(page, sections=(replace(first, blocks=(*boxes, *first.blocks)), *others))
    json = ComparisonsDocument(
        record_id,
        data.plan.name,
        tuple(comparison_document(data.plan, c) for c in comparisons),
        tuple(paragraph_text(box.sentences) for box in boxes),
    )
    return ComparisonPage(page, json, comparisons)


def _variant_axis(axes: Sequence[Axis], name: str) -> Axis:
    known = {axis.name: axis for axis in axes if axis.kind != "input" and len(axis.values) > 1}
    if name in known:
        return known[name]
    of_input = any(axis.name == name and axis.kind == "input" for axis in axes)
    key = "BX106.axis-of-input" if of_input else "BX106.no-axis"
    raise UsageError(key, name=name, known=", ".join(known) or "none")


def _require_metrics(judged: Sequence[Metric], metrics: Sequence[Metric]) -> None:
    known = dict.fromkeys((*KNOWN_METRICS, *judged))
    unknown = [metric for metric in metrics if metric not in known]
    if unknown:
        metrics_text = ", ".join(unknown)
        raise UsageError("BX107.unknown-metrics", metrics=metrics_text, known=", ".join(known))
    if not metrics:
        raise UsageError("BX107.no-metric-given", known=", ".join(known))


def _other_plan(
    plan: Plan, baseline: str | None, candidate: str | None, metrics: tuple[Metric, ...]
) -> Plan:
    """Return the plan with another baseline and candidates, without the old A/A control."""
    base = plan.baseline if baseline is None else _one(plan, baseline)
    chosen = plan.variants if candidate is None else _selected(plan, candidate, "--candidate")
    if any(cell.role is Role.BOUND and cell.variant_id == base.id for cell in plan.cells):
        raise UsageError("BX106.bound", label=base.label)
    ids = {variant.id for variant in chosen} | {base.id}
    if len(ids) < 2:  # noqa: PLR2004 -- a comparison has two sides
        raise UsageError("BX106.candidate-baseline")
    cells = []
    for cell in plan.cells:
        if cell.role is Role.CONTROL and base.id == plan.baseline_id:
            cells.append(cell)
        elif cell.role is not Role.CONTROL and cell.variant_id in ids:
            other = cell.role if cell.role is Role.BOUND else Role.CANDIDATE
            role = Role.BASELINE if cell.variant_id == base.id else other
            cells.append(replace(cell, role=role))
    return replace(
        plan,
        baseline_id=base.id,
        further_baselines=(),
        contrasts=(),
        variants=tuple(variant for variant in plan.variants if variant.id in ids),
        cells=tuple(cells),
        experiments=(),
        judge=replace(plan.judge, metrics=metrics),
    )


def _one(plan: Plan, text: str) -> Variant:
    variants = _selected(plan, text, "--baseline")
    if len(variants) > 1:
        details = tuple(("selected", variant.label) for variant in variants[:5])
        raise UsageError("BX106.several-variants", details=details, variants=len(variants))
    return variants[0]


def _selected(plan: Plan, text: str, option: str) -> tuple[Variant, ...]:
    """Return the variants that a label or a filter selects. Labels may contain any characters."""
    variants = tuple(variant for variant in plan.variants if variant.label == text)
    if not variants and OPERATORS & set(text):
        axes = (axis for axis in plan.axes if axis.kind != "input")
        known = {axis.name: [value.name for value in axis.values] for axis in axes}
        open_names = ("variant", "experiment")
        selects = parse_selection(text, known, open_names=open_names, option=option)
        variants = tuple(variant for variant in plan.variants if selects(words_of(variant)))
    if not variants:
        details = tuple(("variant", variant.label) for variant in plan.variants[:8])
        raise UsageError("BX106.no-variant", details=details, text=text)
    return variants


def compare_records(
    results: Path,
    earlier: str,
    later: str,
    *,
    metrics: tuple[Metric, ...] | None = None,
    forced: Sequence[Difference] = (),
) -> ComparisonPage:
    """Compare a later record with an earlier one. Nothing is written, and the result is exploratory.

    The cells of `earlier` are the references. Without `metrics`, all of `BRIDGED_METRICS` but the
    stripped size are compared. `forced` are differences of the machines, which forbid nothing then.

    Raises:
        UsageError: BX107, a metric that is not in `BRIDGED_METRICS`; BX121, the same record twice.
        RecordError: BX455, one of them was imported.
    """
    metrics = BRIDGED_METRICS[:3] if metrics is None else metrics
    unknown = [metric for metric in metrics if metric not in BRIDGED_METRICS]
    if unknown or not metrics:
        raise UsageError(
            "BX107.not-compared-by",
            unknown=", ".join(unknown),
            bridged_metrics=", ".join(BRIDGED_METRICS),
        )
    folders = [finding.resolve_measured(results, name) for name in (earlier, later)]
    if folders[0].resolve() == folders[1].resolve():
        raise UsageError("BX121.same-record", earlier=earlier, later=later)
    with contextlib.ExitStack() as stack:
        first, second = (stack.enter_context(Record.open(folder)) for folder in folders)
        for folder in folders:
            stack.enter_context(corruption_reported(folder))
        before, after = (side(r.id, r.plan, r.contents, record_host(r)) for r in (first, second))
        comparison = bridge(before, after, metrics, forced=forced)
        plan = second.plan
        page = document(comparison, plan.name, plan.question, plan.unit_family)
        json = RecordsDocument(**fields_of(comparison), claims=claim_documents(page.claims))
        return ComparisonPage(page, json, bridge=comparison)
