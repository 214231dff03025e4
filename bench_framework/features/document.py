"""Construction of the report document, without a format, from a judged record."""

from bench_framework.features.imported import page as imported_page
from bench_framework.features.sections import SECTIONS
from bench_framework.report.blocks import Document
from bench_framework.report.context import ReportData
from bench_framework.report.sections import masthead as head


def build_document(data: ReportData, only: tuple[str, ...] = ()) -> Document:
    """Return the report document of a record.

    `only` has the codes of the sections to keep, such as ``("S02", "S03")``; all if it is empty.

    Raises `ValueError`: a code names no section.
    """
    if data.imported is not None:
        return imported_page.build(data, data.imported, only)
    unknown = sorted(set(only) - {kind.code for kind in SECTIONS})
    if unknown:
        known = ", ".join(kind.code for kind in SECTIONS)
        raise ValueError(f"no section {', '.join(unknown)}: the sections are {known}")
    kinds = [kind for kind in SECTIONS if not only or kind.code in only]
    built = [(kind, kind.section(data)) for kind in kinds]
    missing = ((kind.title, kind.reason(data)) for kind, section in built if section is None)
    return Document(
        title=data.plan.name,
        question=data.plan.question,
        status=data.judgement.status,
        facts=head.facts(data),
        trust=head.trust(data),
        run_line=head.run_line(data),
        sections=tuple(section for _, section in built if section is not None),
        claims=data.judgement.claims,
        glossary=head.verdict_glossary(data.margin),
        files=data.page_files("runs.csv"),
        next=data.commands,
        terms=head.terms(data),
        missing=tuple((title, reason) for title, reason in missing if reason),
    )
