"""Captions: every table with verdicts states its family, its adjustment and its configurations."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bench_framework.features.document import build_document
from bench_framework.report.blocks import Table

if TYPE_CHECKING:
    from bench_framework.report import Document, ReportData

THIN = "\u202f"
OF_CELLS = re.compile(r"\d+ configurations? planned, \d+ measured")
"""Number of configurations in a caption."""
FAMILY = re.compile(rf"family-wise level 5{THIN}%")
"""Family, adjustment and level in a caption."""
JUDGED = "Verdict"


def tables(document: Document) -> list[Table]:
    return [b for s in document.sections for b in s.blocks if isinstance(b, Table)]


def test_every_table_with_verdicts_names_its_family_level_and_number(document: Document) -> None:
    judged = [t for t in tables(document) if JUDGED in [c.title for c in t.columns]]
    assert len(judged) > 10
    assert [t.anchor for t in judged if not FAMILY.search(t.caption)] == []
    assert [
        t.anchor
        for t in judged
        if not re.search(r"\d+ (comparisons|contributions|effects)", t.caption)
    ] == []


def test_every_table_with_verdicts_has_its_rounds(document: Document) -> None:
    judged = [t for t in tables(document) if JUDGED in [c.title for c in t.columns]]
    lacking = [
        t.anchor
        for t in judged
        if not {"n"} & {c.title for c in t.columns} and "rounds × runs" not in t.caption
    ]
    assert lacking == []


@pytest.mark.parametrize("code", ["S03", "S04", "S05", "S06", "S08", "S11", "S12", "S16", "S20"])
def test_a_table_of_configurations_has_the_numbers_of_planned_and_measured_ones(
    document: Document, code: str
) -> None:
    section = next(s for s in document.sections if s.code == code)
    section_tables = [b for b in section.blocks if isinstance(b, Table)]
    assert section_tables
    assert [t.anchor for t in section_tables if not OF_CELLS.search(t.caption)] == []


def test_memory_that_the_scenario_judges_has_the_family_of_the_results(
    data: ReportData, document: Document
) -> None:
    policy = replace(data.plan.judge, metrics=("wall", "peak_rss"))
    judged = replace(data, plan=replace(data.plan, judge=policy))
    (caption, *_) = [
        t.caption for t in tables(build_document(judged)) if t.anchor.startswith("memory-")
    ]
    assert "judged with the family of the results" in caption
    assert "Bonferroni" in next(
        t.caption for t in tables(document) if t.anchor.startswith("memory-")
    )
