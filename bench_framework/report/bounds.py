"""Data of the bar plot of rates: measured and derived rates of one input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.report.blocks import Figure, Point
from bench_framework.units import size_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.judgement import Derived
    from bench_framework.model.plan import Input
    from bench_framework.report.blocks import Table
    from bench_framework.report.context import ReportData

FEWEST: Final = 2


def bars(data: ReportData, item: Input, rows: Sequence[Derived], table: Table) -> Figure | None:
    """Return one bar per rate, in the order and with the texts of the table, if there are two."""
    rates = [row for row in rows if row.unit == "bytes/s" and row.value is not None]
    if len(rates) < FEWEST:
        return None
    unit, scale = size_unit(
        min(row.value for row in rates if row.value is not None), data.plan.unit_family
    )
    texts = {
        row.cells[0].text: f"{row.cells[1].text} {row.cells[2].text}".strip() for row in table.rows
    }
    points = tuple(
        Point(
            name,
            (row.value or 0.0) * scale,
            x_lo=None if row.lo is None else row.lo * scale,
            x_hi=None if row.hi is None else row.hi * scale,
            text=texts.get(name, ""),
            strong=row.measured,
        )
        for row in rates
        if (name := row.name.replace("_", " "))
    )
    desc = "Filled: measured. Outlined: derived from measured rates. Lines: 95 % CIs."
    title = f"What bounds the work{data.on_input(item, ', input ')}"
    return Figure(
        f"{table.anchor}-plot",
        "bars",
        title,
        desc,
        points,
        table,
        (("x", f"{unit}/s"),),
        with_table=True,
    )
