"""Explanations on a page: its terms, the titles of its captions, and the reasons for missing results."""

import pytest
from report_sample import with_judgement, with_plan

from bench_framework.features.document import build_document
from bench_framework.model.facts import Claim, NotMeasured
from bench_framework.model.plan.plan import Role
from bench_framework.model.reasons import message
from bench_framework.report.blocks import Bullets
from bench_framework.report.context import ReportData
from bench_framework.report.render.html import headed
from bench_framework.report.sections import unmeasured
from bench_framework.report.sections.masthead import terms


def hole(number: int, reason: str) -> Claim:
    subject = f"io=mode-{number}"
    return Claim(
        subject,
        reason=message(reason),
        fact=NotMeasured(),
        id=f"h{number}",
        text=f"Not measured: {subject} ({reason}).",
    )


def with_holes(data: ReportData, *claims: Claim) -> ReportData:
    rest = tuple(c for c in data.judgement.claims if c.kind != "not-measured")
    return with_judgement(data, claims=(*rest, *claims))


@pytest.mark.parametrize(
    ("caption", "title"),
    [
        ("Time by variant, input 10 MiB: the median of rounds.", "Time by variant, input 10 MiB"),
        ("The binaries that ran. Code: a digest.", "The binaries that ran"),
        ("Time; not more", "Time"),
        ("At 1.5 times the size.", "At 1.5 times the size"),
        ("a:b without an end", "a:b without an end"),
        ("", ""),
    ],
)
def test_a_caption_begins_with_its_title_and_loses_nothing(caption: str, title: str) -> None:
    head, rest = headed(caption)
    assert head == title
    assert head + rest == caption


def test_the_glossary_has_the_margin_and_the_control_of_the_record(data: ReportData) -> None:
    meanings = dict(terms(data))
    assert "2\u202f%" in meanings["margin"]
    assert {"A/A control", "noise floor", "best group", "[a, b]"} <= set(meanings)
    cells = tuple(c for c in data.plan.cells if c.role is not Role.CONTROL)
    bare = with_plan(data, cells=cells)
    assert not {"A/A control", "noise floor"} & set(dict(terms(bare)))
    assert build_document(data).terms == terms(data)


def test_many_combinations_with_one_reason_are_counted(data: ReportData) -> None:
    many = [hole(n, "no step of the ladder") for n in range(30)]
    (summary,) = unmeasured.build(with_holes(data, *many, hole(99, "not available here")))
    assert isinstance(summary, Bullets)
    texts = [item.text for item in summary.items]
    assert "30 combinations of values, all for the same reason: no step of the ladder." in texts
    assert "Not measured: io=mode-99 (not available here)." in texts
    assert not any("mode-3 " in text for text in texts)


def test_few_combinations_are_listed_one_by_one(data: ReportData) -> None:
    few = [hole(n, "excluded") for n in range(unmeasured.MOST_CLAIMS)]
    (summary,) = unmeasured.build(with_holes(data, *few))
    assert isinstance(summary, Bullets)
    assert [item.claim for item in summary.items][: len(few)] == [claim.id for claim in few]
