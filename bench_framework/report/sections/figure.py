"""The figure of the first screen, chosen by the design of the scenario."""

from collections.abc import Callable
from typing import Final

from bench_framework.model.plan.plan import Input
from bench_framework.report.blocks import Figure
from bench_framework.report.charts.dumbbell import dumbbell
from bench_framework.report.charts.forest import forest
from bench_framework.report.charts.shares import shares
from bench_framework.report.charts.sizes import sizes
from bench_framework.report.charts.steps import steps
from bench_framework.report.charts.sweep import sweep
from bench_framework.report.claim_blocks import leading_input
from bench_framework.report.context import ReportData

FIGURES: Final[tuple[Callable[[ReportData, Input], Figure | None], ...]] = (
    dumbbell,
    steps,
    shares,
    sweep,
    sizes,
    forest,
)
"""The kinds of figures in the order in which they are tried; the last one fits every comparison."""


def answer_figure(data: ReportData) -> Figure | None:
    """Return the figure that shows the answer, or `None` if nothing was compared."""
    item = result_input(data)
    if item is None:
        return None
    figures = (build(data, item) for build in FIGURES)
    return next((figure for figure in figures if figure is not None), None)


def measured_inputs(data: ReportData) -> list[Input]:
    """Return the inputs with values of the main metric."""
    return [i for i in data.plan.inputs if data.summaries(data.arms(i.id), data.metric)]


def result_input(data: ReportData) -> Input | None:
    """Return the input that the report shows: that of the summary, or `None` without figures."""
    measured = measured_inputs(data)
    leading = leading_input(data)
    return leading if leading in measured else measured[-1] if measured else None
