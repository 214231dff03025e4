"""``benchctl compare``: compare variants of a record, levels of an axis, or two records."""

from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.arguments import RecordName, names_in
from bench_framework.cli.console import Console
from bench_framework.errors import UsageError

EXAMPLES = """
benchctl compare @last
benchctl compare @last --baseline io=read --candidate 'io=mmap threads=8'
benchctl compare @last --axis runtime --where 'allocator=mimalloc'
benchctl compare @prev @last            # two records
"""


def compare(
    context: typer.Context,
    record: RecordName = "@last",
    later: Annotated[
        str | None,
        Argument(
            metavar="LATER", help="A later record; it is compared with RECORD.", show_default=False
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        Option(
            metavar="FILTER", help="The variant to compare with; default: that of the scenario."
        ),
    ] = None,
    candidate: Annotated[
        str | None, Option(metavar="FILTER", help="The variants to compare; default: all others.")
    ] = None,
    axis: Annotated[
        str | None,
        Option(metavar="NAME", help="Compare the values of this axis, with all other axes equal."),
    ] = None,
    where: Annotated[
        str | None, Option(metavar="FILTER", help="With --axis: only these variants and inputs.")
    ] = None,
    metric: Annotated[
        str | None,
        Option(
            metavar="LIST",
            help="Metrics, such as wall,cpu; default: those of the scenario; for two records: "
            "wall,cpu,binary_size.",
        ),
    ] = None,
) -> None:
    """Compare two records, or variants within one record.

    Variants of one record are paired by round. Between two records, the machine
    can change as well. Configurations whose program is the same in both show
    how much; this change is subtracted. A comparison of two records, or one that
    was chosen after measuring, is exploratory: confirm it with a new measurement.
    For decisions in CI, use `gate`.
    """
    from bench_framework.workflow import comparison as workflow

    console: Console = context.obj
    pair = {"baseline": baseline, "candidate": candidate}
    if later is not None and (axis, *pair.values()) != (None, None, None):
        raise UsageError("BX121.two-records-with-variants")
    if axis is not None and any(value is not None for value in pair.values()):
        raise UsageError("BX121.axis-with-variants")
    if where is not None and axis is None:
        raise UsageError("BX121.where-without-axis")
    console.warn_of_changes(record, later)
    metrics = names_in(metric) if metric is not None else None
    results = console.results
    if later is not None:
        compared = workflow.compare_records(results, record, later, metrics=metrics)
    elif axis is not None:
        compared = workflow.compare_axis(results, record, axis, where=where, metrics=metrics)
    else:
        compared = workflow.compare_record(results, record, **pair, metrics=metrics)
    full = later is not None or axis is not None
    console.emit_result(compared.json, compared.document, full=full)
