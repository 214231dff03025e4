"""The method section states once what applies to all tables, and no caption repeats it."""

from dataclasses import replace

from report_sample import with_plan

from bench_framework.features.document import build_document
from bench_framework.report.blocks import Document, Facts
from bench_framework.report.context import ReportData
from tests.build import require


def method(document: Document) -> dict[str, str]:
    (facts,) = require(document.section("S30")).blocks
    assert isinstance(facts, Facts)
    return dict(facts.pairs)


def test_memory_that_the_scenario_judges_has_the_family_of_the_results(
    data: ReportData, document: Document
) -> None:
    policy = replace(data.plan.judge, metrics=("wall", "peak_rss"))
    judged = with_plan(data, judge=policy)
    assert "with the family of the results" in method(build_document(judged))["Memory"]
    assert "Bonferroni" in method(document)["Memory"]
