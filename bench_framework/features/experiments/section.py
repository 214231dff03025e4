"""Sections of experiments, of tested hypotheses, and of implementations before and after.

The author decides whether an experiment is adopted. The verdict is measured.
"""

import itertools
from collections.abc import Mapping
from typing import Final

from bench_framework.compare.decide import judged_pairs
from bench_framework.features.changed_settings import changed_settings
from bench_framework.model.declarations import Experiment
from bench_framework.model.facts import Claim
from bench_framework.model.judgement import CellState, Comparison, HypothesisTest
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.plan import Cell as PlanCell
from bench_framework.model.plan import Input
from bench_framework.model.policies import Metric
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.structure import Replacement
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Block, Cell, Column, Facts, Heading, Row, Table, left
from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import REFUSED
from bench_framework.report.main_table import change_text, in_times, size_note
from bench_framework.report.sections.headline import result_input
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import (
    CI,
    finding,
    interval_cells,
    scale_of,
    verdict_cell,
    with_claims,
)
from bench_framework.text.names import capital, closed, noun
from bench_framework.text.numbers import DASH, show_size
from bench_framework.text.reasons import phrase
from bench_framework.text.words import glyph, verdict_text
from bench_framework.text.write import render
from bench_framework.units import MINUS

REASONS: Final = {
    Verdict.WORSE: "it takes more {noun}",
    Verdict.WORSE_SIZE_UNCERTAIN: "it takes more {noun}",
    Verdict.EQUIVALENT: "its {noun} is the same within the margin",
    Verdict.INCONCLUSIVE: "inconclusive, no effect is shown",
    Verdict.SINGLE_RUN: "it was run only once",
    Verdict.OTHER_OUTPUT: "its output differs",
    Verdict.NOT_COMPARABLE: "it did not run as requested",
    Verdict.FAILED: "it failed",
    Verdict.EXCLUDED: "it was not measured",
}
"""Verdict on the main metric → the reason that the table states."""

TWO_DIFFERENCES: Final = (
    "Two differences at once: something else differs that may be the cause as well."
)


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table with one row per experiment that was not adopted."""
    item = result_input(data)
    tried = [e for e in data.plan.experiments if e.decision != "adopted"]
    if item is None or not tried:
        return ()
    cells = filter(None, (_cell(data, experiment, item) for experiment in tried))
    pairs = itertools.product(cells, (data.metric, PEAK_RSS))
    times = in_times([data.comparison(cell.id, metric) for cell, metric in pairs])
    rows = tuple(_row(data, experiment, item, times=times) for experiment in tried)
    original = data.plan.published is not None and data.plan.published.decisions
    who = "original report" if original else "author"
    columns = (
        *left("Experiment", "Time vs baseline"),
        Column("Memory vs baseline", drop=1),
        Column(f"Decision of the {who}"),
        Column("This record", prose=True),
        Column("Author's reason to try it", drop=2, prose=True),
    )
    caption = (
        f"Experiments that the {who} did not adopt. Each makes one change to "
        f"{data.baseline_on(item).label}{data.on_input(item, ' on ')}."
    )
    return (Table("experiments-table", caption, columns, rows, sortable=False),)


def adopted(data: ReportData) -> tuple[Block, ...]:
    """Return for each adopted change: the change, the reason, its implementation, its effect."""
    item = result_input(data)
    chosen = [(n, e) for n, e in enumerate(data.plan.experiments, 1) if e.decision == "adopted"]
    if item is None or not chosen:
        return ()
    blocks: list[Block] = []
    for number, experiment in chosen:
        before, after = data.plan.baseline_cell(item.id), _cell(data, experiment, item)
        settings = changed_settings(data.plan, before, after) if before and after else ""
        pairs = (
            ("What", _change(experiment, dict(data.baseline_on(item).values))),
            ("Author's reason", experiment.why),
            ("Implementation", settings),
            ("Result", _result(data, experiment, item, after) if after else ""),
        )
        facts = Facts(tuple((name, text) for name, text in pairs if text))
        blocks += [Heading(experiment.name, f"change-{number}"), facts]
    return tuple(blocks)


def _is_recommended(data: ReportData, experiment: Experiment) -> bool:
    chosen = (data.plan.cell(c.cells[0]).variant_id for c in data.claims("recommendation"))
    return any(
        experiment.variant_id == i or {*experiment.change} <= {*data.plan.variant(i).values}
        for i in chosen
    )


def _change(experiment: Experiment, before: Mapping[str, str]) -> str:
    """Return text such as ``"parser: simd-json → sonic-rs"``, without a value that is unknown."""
    return ", ".join(
        f"{axis}: {before[axis]} → {value}" if axis in before else f"{axis}: {value}"
        for axis, value in experiment.change
    )


def _result(data: ReportData, experiment: Experiment, item: Input, cell: PlanCell) -> str:
    time, memory = (data.comparison(cell.id, metric) for metric in (data.metric, PEAK_RSS))
    verdict = _verdict(time, data.state(cell.id))
    alone = "" if time is None else f"{change_text(time, data.metric, times=False)} "
    what = noun(data.metric)
    parts = [f"vs baseline: {what} {alone}({verdict_text(verdict, data.metric)})"]
    parts += _steps(data, experiment, item)
    if memory is not None and memory.verdict.decided:
        parts.append(f"memory {change_text(memory, PEAK_RSS, times=False)}")
    variants = data.baseline_on(item), data.plan.variant(experiment.variant_id)
    before, after = (b and b.size_bytes for b in map(data.build_of, variants))
    if before and after and before != after:
        sign = "+" if after > before else MINUS
        parts.append(f"binary size {sign}{show_size(abs(after - before), 'iec')}")
    return "; ".join(parts)


def _steps(data: ReportData, experiment: Experiment, item: Input) -> list[str]:
    """Return the effect of a change as a step of a ladder, with the figures of the summary."""
    best = (c for group in data.judgement.best for c in group.comparisons)
    pairs = judged_pairs((*data.judgement.comparisons, *best), data.metric)
    return [
        f"after earlier changes: {noun(data.metric)} {change_text(pair, data.metric, times=False)}"
        for contribution in data.judgement.structure.contributions
        if contribution.design == "ladder" and contribution.input_id == item.id
        for step in contribution.steps
        if {(c.axis, c.after) for c in step.changes} == set(experiment.change)
        and (pair := pairs.get((step.cell_id or "", step.ref_cell_id or ""))) is not None
    ]


def _row(data: ReportData, experiment: Experiment, item: Input, *, times: bool) -> Row:
    cell = _cell(data, experiment, item)
    state = data.state(cell.id) if cell else None
    time, memory = (data.comparison(cell.id, m) if cell else None for m in (data.metric, PEAK_RSS))
    verdict = _verdict(time, state)
    same = time is not None and time.reason == ONE_PROGRAM
    no_effect = "the change has no effect on the program"
    explanation = no_effect if same else reason(verdict, memory, data.metric)
    if time is not None and verdict.size_uncertain:
        explanation += f", {size_note(time)}"
    if time is not None and verdict is Verdict.INCONCLUSIVE and time.mde is not None:
        explanation += f"; {render('detectable', time.mde)}"
    decision = experiment.decision.capitalize()
    if experiment.decision == "open" and _is_recommended(data, experiment):
        decision += ", but part of the recommendation"
    effect = "" if time is None else change_text(time, data.metric, times=times)
    cells = (
        Cell(experiment.name, about=_change(experiment, {})),
        Cell(f"{glyph(verdict)} {effect}".strip(), verdict.value, None, verdict),
        Cell(change_text(memory, PEAK_RSS, times=times) if memory else DASH),
        Cell(decision),
        Cell(closed(capital(explanation))),
        Cell(experiment.why),
    )
    return Row(cells, verdict, reason=phrase(state.reason) if state else "")


def _cell(data: ReportData, experiment: Experiment, item: Input) -> PlanCell | None:
    return next((c for c in data.arms(item.id) if c.variant_id == experiment.variant_id), None)


def _verdict(time: Comparison | None, state: CellState | None) -> Verdict:
    if state is None:
        return Verdict.EXCLUDED
    return REFUSED.get(state.state) or (time.verdict if time else Verdict.INCONCLUSIVE)


def reason(verdict: Verdict, memory: Comparison | None, metric: Metric = WALL) -> str:
    """Return why an experiment was not adopted. An inconclusive one is never called worse."""
    gain = "it saves {noun}"
    if memory is not None and memory.verdict.worse:
        gain += ", but uses more memory"
    return REASONS.get(verdict, gain).format(noun=noun(metric))


ADOPTED = SectionKind(
    "S11",
    "adopted",
    "Adopted changes",
    "what each adopted change is, why it was made, its implementation, its effect and its cost",
    adopted,
    place="report",
)
EXPERIMENTS = SectionKind(
    "S12",
    "experiments",
    "Tested but not adopted",
    "experiments that the author of the scenario did not adopt, with the measured reason",
    build,
    place="report",
    terminal="sentences",
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
    figures = interval_cells(c.shown, c.verdict, limit, claim.id if claim else None)
    status: str = test.status
    if test.second is not None:
        status += f": {render('second_difference', test.second)}"
    tail = (verdict_cell(c.verdict, test.metric), status, str(c.rounds or DASH))
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
    scale = scale_of(data.metric, None, summaries, data.plan.unit_family)

    def time(cell_id: str) -> Cell:
        measured = data.state(cell_id).state == "measured"
        return scale.cell(data.summary(cell_id, data.metric) if measured else None)

    rows = []
    for r, claim in pairs:
        before, after = r.before_cell_id, r.after_cell_id
        both = f"{data.label(before)} → {data.label(after)}"
        head = (r.implementation or both, time(before), time(after))
        figures = interval_cells(r.shown, r.verdict, data.margin, claim.id if claim else None)
        changed = ", ".join(c.text for c in r.changes)
        tail = (verdict_cell(r.verdict, data.metric), changed, str(r.rounds or DASH))
        rows.append(Row.build(*head, *figures, *tail, verdict=r.verdict, reason=phrase(r.reason)))
    columns = (
        Column("Implementation"),
        Column(f"Before, {scale.unit}", "decimal"),
        Column(f"After, {scale.unit}", "decimal"),
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
        "a contrast is that of the key findings. The verdict of any other pair is from the "
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
    "no two variants differ only in features or revision",
)
