"""Construction of the report document, without a format, from a judged record."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from bench_framework.features.ablation.section import CONTRIBUTIONS
from bench_framework.features.builds.section import BUILDS
from bench_framework.features.causes.section import CAUSES
from bench_framework.features.effects.section import EFFECTS, TURNING
from bench_framework.features.experiments.section import (
    ALL_CHANGES,
    BEFORE_AFTER,
    CHANGES,
    HYPOTHESES,
)
from bench_framework.features.functions.section import FUNCTIONS
from bench_framework.features.pareto.section import TRADEOFFS
from bench_framework.features.profile.section import PROFILE
from bench_framework.features.published.section import DETAILS as PUBLISHED_DETAILS, PUBLISHED
from bench_framework.features.references.section import TWO_REFERENCES
from bench_framework.features.scaling.section import SCALING
from bench_framework.registry import Addition, registry
from bench_framework.report.blocks import Block, Document, Section
from bench_framework.report.context import ReportData
from bench_framework.report.sections import masthead as head
from bench_framework.report.sections.author import NEXT_STEPS, NOTES
from bench_framework.report.sections.budget import BUDGET, LIMIT
from bench_framework.report.sections.headline import ALL_RESULTS, HEADLINE, PAIRS
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sections.memory import MEMORY
from bench_framework.report.sections.method import METHOD
from bench_framework.report.sections.metrics import OTHER_METRICS
from bench_framework.report.sections.quality import QUALITY
from bench_framework.report.sections.recommendation import REPRODUCE
from bench_framework.report.sections.reproduce import COMMANDS
from bench_framework.report.sections.sessions import SESSIONS
from bench_framework.report.sections.summary import FINDINGS, SUMMARY
from bench_framework.report.sections.technical import TECHNICAL
from bench_framework.report.sections.unmeasured import HOW_SURE, UNMEASURED

SECTIONS: Final[tuple[SectionKind, ...]] = (
    SUMMARY,
    HEADLINE,
    CHANGES,
    PUBLISHED,
    HOW_SURE,
    REPRODUCE,
    ALL_RESULTS,
    ALL_CHANGES,
    FINDINGS,
    BEFORE_AFTER,
    TWO_REFERENCES,
    PAIRS,
    LIMIT,
    BUDGET,
    MEMORY,
    OTHER_METRICS,
    TURNING,
    SCALING,
    EFFECTS,
    CONTRIBUTIONS,
    CAUSES,
    FUNCTIONS,
    BUILDS,
    HYPOTHESES,
    PUBLISHED_DETAILS,
    PROFILE,
    TRADEOFFS,
    SESSIONS,
    QUALITY,
    TECHNICAL,
    COMMANDS,
    UNMEASURED,
    NEXT_STEPS,
    NOTES,
    METHOD,
)
"""The sections of report and appendix, in the order of the page.

A new section is a file and a line here. Its `place` decides which of the two contains it.
"""


def _guarded(target: Addition) -> Callable[[ReportData], tuple[Block, ...]]:
    """Return the function that builds a section of an extension. It is left out if it fails."""

    def build(data: ReportData) -> tuple[Block, ...]:
        blocks: list[Block] = []
        with registry().loading(target):
            blocks += target.load().build(data)
        return tuple(blocks)

    return build


@cache
def sections() -> tuple[SectionKind, ...]:
    """Return the sections of the core, with those of extensions at their places."""
    kinds = list(SECTIONS)
    for target in registry().targets("section").values():
        with registry().loading(target):
            kind: SectionKind = replace(target.load(), build=_guarded(target))
            if kind.code in {known.code for known in kinds}:
                raise ValueError(f"another section has the code {kind.code}")
            anchors, after = [known.anchor for known in kinds], target.options["after"]
            if kind.anchor in anchors or (after and after not in anchors):
                raise ValueError(f"its anchor {kind.anchor} exists, or {after} does not")
            kinds.insert(anchors.index(after) + 1 if after else len(kinds), kind)
    return tuple(kinds)


def _without_taken_anchors(
    built: Sequence[tuple[SectionKind, Section | None]],
) -> list[tuple[SectionKind, Section | None]]:
    """Leave out sections of extensions that use an anchor of the core."""
    core = {
        anchor
        for kind, section in built
        if section is not None and kind in SECTIONS
        for anchor in section.anchors
    }
    parts: list[tuple[SectionKind, Section | None]] = []
    for kind, section in built:
        anchors = frozenset[str]() if section is None or kind in SECTIONS else section.anchors
        if taken := core & anchors:
            text = f"the section {kind.title} uses the anchor {min(taken)} of another one"
            registry().leave_out(kind.code, ValueError(text))
        parts.append((kind, None if taken else section))
    return parts


def build_document(data: ReportData, only: tuple[str, ...] = ()) -> Document:
    """Return the report document of a record.

    `only` has the codes of the sections to keep, such as ``("S02", "S03")``; all if it is empty.

    Raises `ValueError`: a code names no section.
    """
    if data.contents.figures is not None:
        document: Document = data.contents.figures.document(data, only)
        return document
    all_kinds = sections()
    unknown = sorted(set(only) - {kind.code for kind in all_kinds})
    if unknown:
        known = ", ".join(kind.code for kind in all_kinds)
        raise ValueError(f"no section {', '.join(unknown)}: the sections are {known}")
    kinds = [kind for kind in all_kinds if not only or kind.code in only]
    built = _without_taken_anchors([(kind, kind.section(data)) for kind in kinds])
    missing = ((kind.title, kind.reason(data)) for kind, section in built if section is None)
    return Document(
        title=data.plan.name,
        question=data.plan.question,
        status=data.judgement.status,
        masthead=head.lines(data),
        run_line=head.run_line(data),
        sections=tuple(section for _, section in built if section is not None),
        claims=data.judgement.claims,
        glossary=head.verdict_glossary(data.margin),
        files=data.page_files,
        next=data.commands,
        terms=head.terms(data),
        missing=tuple((title, reason) for title, reason in missing if reason),
    )
