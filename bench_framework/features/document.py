"""Construction of the report document, without a format, from a judged record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.features.imported import page as imported_page
from bench_framework.features.sections import SECTIONS
from bench_framework.model.words import WORDS
from bench_framework.report.blocks import Details, Document, Facts, Section
from bench_framework.report.numbers import margin_text
from bench_framework.report.sections import masthead as head
from bench_framework.report.terms import terms

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


LEFT_OUT_IN: Final = "S25"
"""The section that lists the sections without content."""


def build_document(data: ReportData, only: tuple[str, ...] = ()) -> Document:
    """Return the report document of a record.

    Args:
        data: the judged record.
        only: codes of the sections to keep, such as ``("S02", "S03")``. All are kept if it is
            empty.

    Raises:
        ValueError: a code names no section.
    """
    if data.imported is not None:
        return imported_page.build(data, data.imported, only)
    unknown = sorted(set(only) - {kind.code for kind in SECTIONS})
    if unknown:
        known = ", ".join(kind.code for kind in SECTIONS)
        raise ValueError(f"no section {', '.join(unknown)}: the sections are {known}")
    sections: list[Section] = []
    for kind in SECTIONS:
        if only and kind.code not in only:
            continue
        section = kind.section(data)
        if section is not None:
            sections.append(section)
    _list_left_out(sections, only)
    margin = margin_text(data.plan.judge.margin_of(data.metric))
    folder = data.record_dir.rstrip("/")
    return Document(
        title=data.plan.name,
        question=data.plan.question,
        status=data.judgement.status,
        facts=head.facts(data),
        trust=head.trust(data),
        run_line=head.run_line(data),
        sections=tuple(sections),
        claims=data.judgement.claims,
        glossary=tuple(
            (f"{w.glyph} {w.time}", w.meaning.format(margin=margin)) for w in WORDS.values()
        ),
        files=tuple(
            f"{folder}/{name}"
            for name in ("report.html", "report.md", "runs.csv", "comparisons.csv")
        )
        if folder
        else (),
        next=data.commands,
        terms=terms(data),
    )


def _list_left_out(sections: list[Section], only: tuple[str, ...]) -> None:
    """List in “Not measured” the sections for which this record has no data."""
    there = {section.code for section in sections}
    missing = tuple(
        (kind.title, kind.without)
        for kind in SECTIONS
        if kind.without and kind.code not in there and (not only or kind.code in only)
    )
    for place, section in enumerate(sections):
        if section.code == LEFT_OUT_IN and missing:
            details = Details(
                f"{len(missing)} section{'s' if len(missing) != 1 else ''} left out",
                (Facts(missing),),
            )
            sections[place] = replace(section, blocks=(*section.blocks, details))
