"""A value that the page prints as a median is a median in ``cells.csv``."""

import csv
from pathlib import Path

from bench_framework.report.blocks import Table
from bench_framework.report.sections.memory import MEMORY
from bench_framework.store.records import Record
from bench_framework.workflow.pages import report_data


def test_the_memory_of_the_page_is_that_of_the_table(plain: Path) -> None:
    record = Record.open(plain)
    judgement = record.judgement()
    assert judgement is not None
    (table,) = (b for b in MEMORY.build(report_data(record, judgement)) if isinstance(b, Table))
    places = {column.title.partition(",")[0]: n for n, column in enumerate(table.columns)}
    with (plain / "cells.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["variant"]: row for row in csv.DictReader(file)}
    assert len(table.rows) == 3
    for row in table.rows:
        stored = rows[row.cells[places["Variant"]].text]
        peak, share = row.cells[places["Peak RSS"]], row.cells[places["% of input"]]
        assert float(stored["peak_rss_median_bytes"]) == peak.value
        assert share.value is not None
        assert float(stored["rss_pct_of_input_pct"]) == 100 * share.value
        # The fixture varies the peak, so that a maximum is not a median.
        assert float(stored["peak_rss_max_bytes"]) > float(stored["peak_rss_median_bytes"])
