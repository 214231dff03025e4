"""Sections of experiments, of tested hypotheses, and of implementations before and after.

The author decides whether an experiment is adopted. The verdict is measured.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from bench_framework.model.facts import Claim, Outcome, PublishedResult
from bench_framework.model.metrics import PEAK_RSS
from bench_framework.model.plan.declarations import Experiment
from bench_framework.model.plan.plan import Input
from bench_framework.model.result.judgement import CellState, Comparison, HypothesisTest
from bench_framework.model.result.structure import Replacement
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Block, Cell, Column, Row, Table
from bench_framework.report.claim_blocks import claim_bullets, published_changes
from bench_framework.report.context import ReportData
from bench_framework.report.main_table import (
    INTERVAL,
    change_text,
    drawn,
    is_mapped,
    mark,
    plain_interval,
)
from bench_framework.report.sections.advice import advice
from bench_framework.report.sections.figure import result_input
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import (
    CI,
    finding,
    interval_cells,
    scale_of,
    titled,
    verdict_cell,
    with_claims,
)
from bench_framework.text.names import capital
from bench_framework.text.numbers import DASH, TIMES_FROM, show_change, show_factor
from bench_framework.text.published import published_figure
from bench_framework.text.reasons import phrase
from bench_framework.text.words import glyph, noun, word
from bench_framework.text.write import render

MOST_CHANGES: Final = 8
"""Most rows of a table of changes that leaves out none."""
ALL: Final = "all-changes-table"
CONFIRMING: Final = (Outcome.REPRODUCED, Outcome.NO_DIFFERENCE)
"""Outcomes of a published figure that need no row of their own."""
ORDER: Final = ("adopted", "rejected", "open")
TWO_DIFFERENCES: Final = "Two differences at once: something else differs that may be the cause."


class _Tried(NamedTuple):
    """An experiment and its row."""

    experiment: Experiment
    row: Row
    confirmed: bool
    """True if it was rejected, is shown to be no gain of the metric, and not shown to be one of memory."""


def changes(data: ReportData) -> tuple[Block, ...]:
    """Return a table with one row per experiment: its effect alone and as a step, and whether to keep it.

    A long table leaves out what was rejected and is shown not to help, and lists it.
    """
    tried = _tried(data)
    left = [t.experiment.name for t in tried if t.confirmed] if len(tried) > MOST_CHANGES else []
    rows = [t.row for t in tried if not (left and t.confirmed)]
    note = f"Rejected, and not better here: {', '.join(left)} (appendix)." if left else ""
    return _changes_table(data, "changes-table", rows, note)


def all_changes(data: ReportData) -> tuple[Block, ...]:
    """Return the table with every experiment, its settings and the author's reason for it."""
    rows = []
    for experiment, row, _ in _tried(data):
        settings = ", ".join(f"{axis}: {value}" for axis, value in experiment.change)
        about = "; ".join(filter(None, (settings, experiment.why)))
        rows.append(replace(row, cells=(Cell(experiment.name, about=about), *row.cells[1:])))
    return _changes_table(data, ALL, rows)


def _tried(data: ReportData) -> list[_Tried]:
    """Return the experiments in the order of their decisions."""
    item = result_input(data)
    if item is None:
        return []
    steps, figures = _steps(data, item), published_changes(data, item)
    tried = []
    for experiment in sorted(data.plan.experiments, key=lambda e: ORDER.index(e.decision)):
        cell_id = data.plan.cell_id(experiment.variant_id, item.id)
        time, peak = alone = [data.comparison(cell_id, m) for m in (data.metric, PEAK_RSS)]
        step = steps.get(frozenset(experiment.change))
        state = data.state(cell_id) if cell_id else None
        verdict = _verdict(time, state)
        whole = step is not None and not step.between and not verdict.refused
        decisive = step.comparison.verdict if step is not None and whole else verdict
        mapped = bool(cell_id) and is_mapped(data, data.plan.cell(cell_id))
        published = figures.get(cell_id)
        decision, others = _decision(data, experiment, published)
        row = (
            Cell(experiment.name),
            decision,
            replace(_change(data, time, verdict), about=others),
            drawn(None if verdict.refused else time),
            _step(data, step) if step else Cell(DASH),
            Cell(_memory(peak), about="with mapped pages" if mapped else ""),
            advice(data, experiment, decisive, alone),
        )
        gain = any(c is not None and c.verdict.better for c in alone)
        confirmed = decisive.worse or decisive is Verdict.EQUIVALENT
        confirmed = confirmed and experiment.decision == "rejected" and not gain
        if published is not None and isinstance(published.fact, PublishedResult):
            confirmed = confirmed and published.fact.outcome in CONFIRMING
        reason = phrase(state.reason) if state else ""
        tried.append(_Tried(experiment, Row(row, verdict, reason=reason), confirmed))
    return tried


def _changes_table(
    data: ReportData, anchor: str, rows: Sequence[Row], note: str = ""
) -> tuple[Block, ...]:
    item, published = result_input(data), data.plan.published
    if item is None or not rows:
        return ()
    original = published is not None and published.decisions
    columns = (
        Column("Change"),
        Column("The original report" if original else "The author"),
        Column(f"Alone [{CI}]"),
        Column(INTERVAL, drawn=True),
        Column("As a step"),
        Column("Memory", "right", drop=1),
        Column("Keep?"),
    )
    base = f"{data.baseline_on(item).label}{data.on_input(item, ' on ')}"
    step = "; as a step: to the steps before it" if _steps(data, item) else ""
    every = "every change: " if anchor == ALL else ""
    caption = capital(f"{every}{noun(data.metric)} and memory relative to {base}{step}.")
    return (Table(anchor, caption, columns, tuple(rows), sortable=False, note=note, cards=True),)


def _decision(data: ReportData, experiment: Experiment, claim: Claim | None) -> tuple[Cell, str]:
    """Return the decision with the published figure and its outcome, and what other scenarios gave."""
    if claim is None or not isinstance(fact := claim.fact, PublishedResult):
        return Cell(experiment.decision), ""
    outcome, reason = render("published_result", fact), render("published_reason", fact, brief=True)
    text = f"{experiment.decision}: {published_figure(fact, times=data.in_times)}"
    about = "; ".join(filter(None, (outcome, reason)))
    others = "; ".join(render("published_other", other) for other in fact.other_results)
    return Cell(text, None, claim.id, about=about), others


def _memory(comparison: Comparison | None) -> str:
    """Return the change of memory, or its verdict if no difference is shown."""
    interval = plain_interval(comparison)
    if comparison is None or interval is None:
        return DASH
    if not comparison.verdict.decided:
        return word(comparison.verdict)
    figures, margin = interval.figures, comparison.thresholds.margin
    if interval.ratio >= TIMES_FROM:
        return f"{show_factor(*figures, margin, keep=True).estimate}×"
    return show_change(*figures, margin, keep=True).estimate


def _change(data: ReportData, comparison: Comparison | None, verdict: Verdict) -> Cell:
    if comparison is None or verdict.refused:
        return Cell(glyph(verdict), verdict.value, None, verdict)
    text = f"{mark(comparison)} {change_text(comparison, times=data.in_times)}"
    return Cell(text, verdict.value, None, verdict)


class _Step(NamedTuple):
    """A step of a ladder."""

    comparison: Comparison
    """The step compared with the one before; its figures are those of the ladder, like the ones of the waterfall."""
    between: str
    """Values from which it starts, if an earlier step changed the same axes: it is a part of the change."""


def _step(data: ReportData, step: _Step) -> Cell:
    cell = _change(data, step.comparison, step.comparison.verdict)
    return replace(cell, about=f"from {step.between}" if step.between else "")


def _steps(data: ReportData, item: Input) -> dict[frozenset[tuple[str, str]], _Step]:
    """Return the steps of a ladder by their settings."""
    start = dict(data.plan.baseline.values)
    return {
        frozenset((c.axis, c.after) for c in step.changes): _Step(
            replace(
                pair,
                verdict=step.contrast.verdict,
                shown=step.contrast.shown,
                reason=step.contrast.reason,
            ),
            ", ".join(c.before for c in step.changes if c.before != start.get(c.axis)),
        )
        for contribution in data.judgement.structure.contributions
        if contribution.design == "ladder" and contribution.input_id == item.id
        for step in contribution.steps
        if (pair := data.pairs.get((step.cell_id or "", step.ref_cell_id or ""))) is not None
    }


def _verdict(time: Comparison | None, state: CellState | None) -> Verdict:
    verdict = time.verdict if time else Verdict.INCONCLUSIVE
    return Verdict.EXCLUDED if state is None else state.refusal or verdict


CHANGES = SectionKind(
    "S11",
    "each-change",
    "Changes",
    "each change alone and after the changes before it, its memory, and whether to keep it",
    changes,
    place="report",
)
ALL_CHANGES = SectionKind(
    "S39",
    "all-changes",
    "All changes",
    "every change with its settings and the author's reason, and with the columns of *Changes*",
    all_changes,
)


def hypotheses(data: ReportData) -> tuple[Block, ...]:
    """Return a table with one row per hypothesis and input, and why others were not tested."""
    if not data.judgement.hypotheses:
        return ()
    claims = with_claims(data.judgement.hypotheses, data.claims("hypothesis"))
    columns = (
        Column("Hypothesis"),
        Column("Change", prose=True),
        Column("Input"),
        Column("Effect", "decimal"),
        Column(CI, drop=2),
        Column("Verdict"),
        Column("Hypothesis is", prose=True),
        Column("n", "right", drop=1),
    )
    caption = (
        "The author's hypotheses, each tested by one change; the effect is with the change ÷ "
        "without it."
    )
    legend = (
        "Supported: a verdict in the expected direction. Not supported: any other verdict.",
        *([TWO_DIFFERENCES] if any(test.second for test, _ in claims) else ()),
        "A supported hypothesis shows the effect of the change, not that the explanation is right.",
    )
    rows = tuple(_hypothesis_row(data, test, claim) for test, claim in claims)
    table = Table("hypotheses-table", caption, columns, rows, legend, sortable=False)
    return (table, *claim_bullets(c for t, c in claims if c and t.status == "not tested"))


def _hypothesis_row(data: ReportData, test: HypothesisTest, claim: Claim | None) -> Row:
    where = data.input_name(data.plan.input(test.input_id))
    head = (test.hypothesis.text, test.hypothesis.change, where)
    c = test.comparison if test.status != "not tested" else None
    if c is None:
        return Row.build(*head, DASH, "", DASH, test.status, DASH, reason=phrase(test.reason))
    limit = data.plan.judge.margin_of(test.metric)
    figures = interval_cells(c.of_values, c.verdict, limit, claim.id if claim else None)
    status: str = test.status
    if test.second is not None:
        status += f": {render('second_difference', test.second)}"
    verdict = Cell(f"{mark(c)} {word(c.verdict, test.metric)}", c.verdict.value, None, c.verdict)
    tail = (verdict, status, str(c.rounds or DASH))
    return Row.build(*head, *figures, *tail, verdict=c.verdict, reason=phrase(test.reason))


HYPOTHESES = SectionKind(
    "S16",
    "hypotheses",
    "Hypotheses tested",
    "each hypothesis with the single change that tests it, and whether it is supported",
    hypotheses,
    "no experiment states a hypothesis",
)


def before_after(data: ReportData) -> tuple[Block, ...]:
    """Return one table per input. A table with a single row is followed by its sentence."""
    blocks: list[Block] = []
    claims = with_claims(data.judgement.structure.replacements, data.claims("before-after"))
    for number, item in enumerate(data.plan.inputs, 1):
        pairs = [(r, claim) for r, claim in claims if r.input_id == item.id]
        if not pairs:
            continue
        blocks.append(_replacement_table(data, item, pairs, f"before-after-{number}"))
        if len(pairs) == 1:
            blocks += finding(pairs[0][1])
    return tuple(blocks)


def _replacement_table(
    data: ReportData, item: Input, pairs: list[tuple[Replacement, Claim | None]], name: str
) -> Table:
    ids = [i for r, _ in pairs for i in (r.before_cell_id, r.after_cell_id)]
    summaries = [s for i in ids if (s := data.summary(i, data.metric)) is not None]
    scale = scale_of(data, data.metric, summaries)

    def time(cell_id: str) -> Cell:
        measured = data.state(cell_id).state == "measured"
        return scale.cell(data.summary(cell_id, data.metric) if measured else None)

    rows, judged = [], data.pairs
    for r, claim in pairs:
        (after, before), c = r.cells, judged[r.cells]
        both = f"{data.label(before)} → {data.label(after)}"
        head = (r.implementation or both, time(before), time(after))
        figures = interval_cells(c.of_values, c.verdict, data.margin, claim.id if claim else None)
        changed = ", ".join(change.text for change in r.changes)
        tail = (verdict_cell(c.verdict, data.metric), changed, str(c.rounds or DASH))
        rows.append(Row.build(*head, *figures, *tail, verdict=c.verdict, reason=phrase(c.reason)))
    columns = (
        Column("Implementation"),
        Column(titled("Before", scale.unit), "decimal"),
        Column(titled("After", scale.unit), "decimal"),
        Column("After ÷ before", "decimal"),
        Column(CI, drop=1),
        Column("Verdict"),
        Column("What changed", prose=True, drop=2),
        Column("n", "right", drop=3),
    )
    caption = (
        f"Before and after, measured in the same rounds{data.on_input(item, ', input ')}: pairs "
        "that differ only in features or revision, and baselines and contrasts without and with "
        "all adopted experiments."
    )
    legend = (
        "The verdict of a pair with a baseline is that of the results table, and the verdict of "
        "a contrast is that of the further comparisons. The verdict of any other pair is from the "
        "comparisons within the best group, which are adjusted separately."
    )
    return Table(name, caption, columns, tuple(rows), (legend,), sortable=False)


BEFORE_AFTER = SectionKind(
    "S05",
    "before-after",
    "Before and after",
    "pairs that differ only in features or revision, and baselines and contrasts without and with "
    "all adopted experiments",
    before_after,
    "no axis has two values that choose only features, or revisions",
)
