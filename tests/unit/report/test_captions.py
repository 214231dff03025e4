"""The method section states once what applies to all tables, and no caption repeats it."""

import re
from dataclasses import replace

from bench_framework.features.document import build_document
from bench_framework.report.blocks import Document, Facts, Table
from bench_framework.report.context import ReportData

REPEATED = re.compile(r"family-wise|interim analys|configurations? planned|rounds × runs")


def tables(document: Document) -> list[Table]:
    return [b for s in document.sections for b in s.blocks if isinstance(b, Table)]


def method(document: Document) -> dict[str, str]:
    section = document.section("S30")
    assert section is not None
    (facts,) = section.blocks
    assert isinstance(facts, Facts)
    return dict(facts.pairs)


def test_no_caption_and_no_legend_repeats_the_method(document: Document) -> None:
    repeated = [
        t.anchor
        for t in tables(document)
        if t.anchor != "control-table" and REPEATED.search(" ".join((t.caption, *t.legend)))
    ]
    assert repeated == []
    legends = [line for t in tables(document) for line in t.legend if t.anchor[-6:] == "-table"]
    assert len(set(legends)) >= len(legends) / 3


def test_memory_that_the_scenario_judges_has_the_family_of_the_results(
    data: ReportData, document: Document
) -> None:
    policy = replace(data.plan.judge, metrics=("wall", "peak_rss"))
    judged = replace(data, plan=replace(data.plan, judge=policy))
    assert "with the family of the results" in method(build_document(judged))["Memory"]
    assert "Bonferroni" in method(document)["Memory"]
