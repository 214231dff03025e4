"""Sections "Results" of the report, and "All results" of the appendix."""

from bench_framework.model.plan import Input
from bench_framework.report.blocks import Block
from bench_framework.report.charts.forest import forest
from bench_framework.report.charts.grid import grid
from bench_framework.report.claim_blocks import key_claim
from bench_framework.report.context import ReportData
from bench_framework.report.contrasts import finding
from bench_framework.report.headline_table import headline_table
from bench_framework.report.main_table import by_input_table, in_report, main_table
from bench_framework.report.revision_table import revision_cells, revision_table
from bench_framework.report.sections.kind import SectionKind, input_heading
from bench_framework.report.sections.summary import leading_input


def build(data: ReportData) -> tuple[Block, ...]:
    """Return plot and table of the input that the summary is about, and a table of all inputs.

    For two revisions, return plot and table of all configurations.
    """
    item = result_input(data)
    if item is None:
        return ()
    if data.plan.revisions is not None and len(changed := revision_cells(data)) > 1:
        table, cells = revision_table(data, changed)
        plot = forest(data, cells, "results", table, data.plan.revisions.names[0])
        return (*((plot,) if plot is not None else ()), table)
    name = f"results-{data.plan.inputs.index(item) + 1}"
    table = main_table(data, item, name)
    base = f"{data.baseline_on(item).label}{data.on_input(item, ', input ')}"
    plot = forest(data, in_report(data, data.arms(item.id)), name, table, base)
    others = (by_input_table(data, item, "results"),) if len(_measured(data)) > 1 else ()
    return (*((plot,) if plot is not None else ()), table, *others)


def result_input(data: ReportData) -> Input | None:
    """Return the input that the report shows: that of the summary, or `None` without figures."""
    measured = _measured(data)
    leading = leading_input(data)
    return leading if leading in measured else measured[-1] if measured else None


def in_full(data: ReportData) -> tuple[Block, ...]:
    """Return per input every figure of time, CPU time and memory, and a heat map of two axes."""
    blocks: list[Block] = []
    for item in _measured(data):
        name = f"all-{data.plan.inputs.index(item) + 1}"
        table = headline_table(data, item, name)
        fields = grid(data, item, table)
        # Without a special answer, the summary begins with the claim of its input.
        stated = item == leading_input(data) and not data.claims("answer")
        claim = None if stated else key_claim(data, item)
        blocks += [*input_heading(data, item, name), table, *finding(claim)]
        blocks += [fields] if fields is not None else []
    return tuple(blocks)


def _measured(data: ReportData) -> list[Input]:
    return [i for i in data.plan.inputs if data.summaries(data.arms(i.id), data.metric)]


HEADLINE = SectionKind(
    "S03",
    "results",
    "Results",
    "a forest plot and a table of time, change and memory",
    build,
    "nothing was measured",
    place="report",
    terminal="all",
)
ALL_RESULTS = SectionKind(
    "S29",
    "all-results",
    "All results",
    "time, CPU time, cores, throughput and memory of every configuration, with adjusted CIs",
    in_full,
)
