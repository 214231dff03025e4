"""Advice on each change: the column *Keep?* of *Changes*."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bench_framework.model.plan.declarations import Experiment
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Cell
from bench_framework.report.claim_blocks import recommended
from bench_framework.report.context import ReportData

KEEP: Final = {
    Verdict.BETTER: Cell("yes"),
    Verdict.WORSE: Cell("no"),
    Verdict.BETTER_SIZE_UNCERTAIN: Cell("optional", about="small gain"),
    Verdict.WORSE_SIZE_UNCERTAIN: Cell("no", about="small loss"),
    Verdict.EQUIVALENT: Cell("optional", about="no difference"),
    Verdict.INCONCLUSIVE: Cell("inconclusive"),
    Verdict.SINGLE_RUN: Cell("one run only"),
    Verdict.OTHER_OUTPUT: Cell("output differs"),
    Verdict.NOT_COMPARABLE: Cell("ran otherwise"),
    Verdict.FAILED: Cell("failed"),
    Verdict.EXCLUDED: Cell("not measured"),
}
"""Verdict on a change → whether to keep it."""


def advice(
    data: ReportData, experiment: Experiment, verdict: Verdict, alone: Sequence[Comparison | None]
) -> Cell:
    """Return whether the record speaks for a change, against it, or neither.

    `verdict` is that of the step, if the whole change is a step. `alone` compares the change alone, in time and memory.
    """
    if alone[0] is not None and alone[0].reason == ONE_PROGRAM:
        return Cell("no effect on the program")
    time, memory = (c.verdict if c is not None else Verdict.INCONCLUSIVE for c in alone)
    if time.better and verdict.worse:
        return Cell("only alone")
    if time.worse and verdict.better:
        return Cell("not alone")
    if verdict is Verdict.BETTER and experiment.decision == "rejected":
        return Cell("test again")
    if verdict.worse and memory.better:
        return Cell("only for memory")
    if verdict is Verdict.EQUIVALENT and memory.better:
        return Cell("yes", about="less memory")
    costly = verdict is Verdict.EQUIVALENT and memory.worse
    keep = Cell("no", about="more memory") if costly else KEEP[verdict]
    left_open = experiment.decision == "open" and verdict is not Verdict.BETTER
    used = left_open and _is_used(data, experiment)
    return replace(keep, text=f"{keep.text}, but recommended") if used else keep


def _is_used(data: ReportData, experiment: Experiment) -> bool:
    """Return whether a recommended variant contains a change."""
    chosen = (data.plan.cell(c.cells[0]).variant_id for c in recommended(data))
    return any(
        experiment.variant_id == i or {*experiment.change} <= {*data.plan.variant(i).values}
        for i in chosen
    )
