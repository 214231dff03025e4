"""The method section states once what applies to all tables, and no caption repeats it."""

import re
from dataclasses import replace

from bench_framework.features.document import build_document
from bench_framework.report.blocks import Document, Facts, Table
from bench_framework.report.context import ReportData

THIN = "\u202f"
REPEATED = re.compile(r"family-wise|interim analys|configurations? planned|rounds × runs")


def tables(document: Document) -> list[Table]:
    return [b for s in document.sections for b in s.blocks if isinstance(b, Table)]


def method(document: Document) -> dict[str, str]:
    section = document.section("S30")
    assert section is not None
    (facts,) = section.blocks
    assert isinstance(facts, Facts)
    return dict(facts.pairs)


def test_the_method_has_family_adjustment_level_rounds_and_configurations(
    document: Document,
) -> None:
    facts = method(document)
    assert "40×1" in facts["Schedule"]
    assert "3 interim analyses" in facts["Schedule"]
    for words in ("72 comparisons", "Holm-adjusted", f"family-wise level 5{THIN}%", f"2{THIN}%"):
        assert words in facts["Comparisons"]
    assert facts["Configurations"] == (
        "39 configurations planned, 36 measured, 1 failed, 1 with other output, "
        "1 not comparable, 1 more excluded from the plan."
    )
    assert f"a level of 99.89{THIN}%" in facts["Intervals"]
    for name in ("Effects", "Contributions"):
        assert re.match(r"\d+ .* separate family, Holm-adjusted", facts[name])


def test_no_caption_and_no_legend_repeats_the_method(document: Document) -> None:
    repeated = [
        t.anchor
        for t in tables(document)
        if t.anchor != "control-table" and REPEATED.search(" ".join((t.caption, *t.legend)))
    ]
    assert repeated == []
    legends = [line for t in tables(document) for line in t.legend if t.anchor[-6:] == "-table"]
    assert len(set(legends)) >= len(legends) / 3


def test_every_table_of_the_appendix_with_verdicts_has_its_rounds(document: Document) -> None:
    judged = [t for t in tables(document) if "Verdict" in [c.title for c in t.columns]]
    assert len(judged) > 10
    assert [t.anchor for t in judged if "n" not in {c.title for c in t.columns}] == []


def test_memory_that_the_scenario_judges_has_the_family_of_the_results(
    data: ReportData, document: Document
) -> None:
    policy = replace(data.plan.judge, metrics=("wall", "peak_rss"))
    judged = replace(data, plan=replace(data.plan, judge=policy))
    assert "with the family of the results" in method(build_document(judged))["Memory"]
    assert "Bonferroni" in method(document)["Memory"]
