"""Results and pages of a record."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from bench_framework.errors import RecordError, UsageError
from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import Metric
from bench_framework.model.record.profile import Profile
from bench_framework.model.record.run import Host
from bench_framework.model.result.judgement import Judgement
from bench_framework.report.blocks import Document, Place
from bench_framework.report.context import ReportData
from bench_framework.store import embedded, finding, layout, wire
from bench_framework.store.journal import Contents
from bench_framework.store.records import Record, open_record, read_gate, read_profiles
from bench_framework.store.source import Source
from bench_framework.store.wire import SCHEMA_VERSION
from bench_framework.workflow.records.integrity import corruption_reported

if TYPE_CHECKING:
    from bench_framework.report.render.html import PageRecord

Format = Literal["html", "md", "term"]
FORMATS: tuple[Format, ...] = get_args(Format)
PAGE: Final = "report.html"
APPENDIX: Final = "appendix.html"
PLACES: Final[tuple[Place, ...]] = get_args(Place)
"""The documents in Markdown."""
MOST_EMBEDDED: Final = 1_000_000
"""Maximum size in bytes of compressed runs that a page contains by default."""
TEMPLATES: Final = "templates"
"""Folder of a record that contains the custom templates of its pages."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The written files, and the document for the terminal if it was requested."""

    record: Path
    files: tuple[Path, ...]
    document: Document | None


def parse_formats(text: str) -> tuple[Format, ...]:
    """Parse a comma-separated list of formats. Raises `UsageError` (BX104): an unknown format."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in FORMATS]
    if unknown or not names:
        raise UsageError(
            "BX104.unknown-format",
            unknown=", ".join(unknown) or repr(text),
            formats=", ".join(FORMATS),
        )
    return cast("tuple[Format, ...]", tuple(names))


def report_record(
    results: Path,
    name: str,
    *,
    formats: tuple[Format, ...] = FORMATS,
    embed_runs: bool | None = None,
    template: Path | None = None,
) -> Pages:
    """Write the pages of a record again.

    The results of an interrupted record are computed first, from the interim analyses that were made.

    `embed_runs` and `template` are those of `write_pages`.

    Raises `UsageError` (BX104): the options contradict each other; BX113, a template is invalid.
    Raises `RecordError` (BX411): the manifest of a record with results is missing or damaged.
    """
    if embed_runs and "html" not in formats:
        raise UsageError("BX104.embed-runs-without-html")
    folder = finding.resolve(results, name)
    with open_record(folder) as record, corruption_reported(folder):
        if embed_runs and record.contents.figures is not None:
            raise UsageError("BX104.no-runs", folder=folder)
        if {"html", "md"} & set(formats):
            record.require_manifest()
        if (judgement := record.judgement()) is None:
            record.save(judgement := judge_record(record))
        return write_pages(
            record, judgement, formats=formats, embed_runs=embed_runs, template=template
        )


def judge_record(record: Record) -> Judgement:
    """Compute the results of a record."""
    return judge_contents(record.plan, record.contents, read_profiles(record.path, record.plan))


def judge_contents(
    plan: Plan,
    contents: Contents,
    profiles: Sequence[Profile],
    *,
    looks: Looks | None = None,
    tripped: Collection[tuple[str, Metric]] = (),
) -> Judgement:
    """Compute the results from a journal and profiles; `looks` and `tripped` as in `features.judge.judge`."""
    from bench_framework.features.judge import judge
    from bench_framework.features.profile.compute import attach

    if contents.figures is not None:
        return contents.figures.judge(plan)
    judgement = judge(
        plan,
        contents.blocks,
        contents.builds_by_id,
        contents.inputs,
        contents.looks,
        observed=contents.observations,
        functions=[*contents.functions.values()],
        events=contents.events,
        looks=looks,
        tripped=tripped,
    )
    return attach(judgement, plan, profiles)


def record_host(record: Record) -> Host:
    """Return the machine that measured a record. Raises `OSError` and `RecordError`."""
    return record.contents.host or wire.load_host(read_regular(record.path / layout.ENV))


def report_data(record: Record, judgement: Judgement) -> ReportData:
    """Return the data of a report."""
    contents, plan = record.contents, record.plan
    try:
        host = record_host(record)
        measured = contents.figures is None
        scenario_text = read_regular(record.path / layout.SCENARIO).decode() if measured else ""
        tuning = parse_json(read_regular(record.path / layout.TUNING)) if plan.tuning else None
    except (OSError, ValueError) as error:
        name = Phrase(PhraseCode.FILE_OF, str(record.path))
        if isinstance(error, OSError):
            name = error.filename
        cause = (("cause", getattr(error, "strerror", None) or str(error)),)
        raise RecordError("BX411.file-not-readable", details=cause, name=name) from error
    return ReportData(
        plan,
        judgement,
        replace(contents, host=host),
        (plan.command,),
        # Not the folder: a record that is renamed or copied must render the same pages.
        record_dir=f"{plan.name}/{record.id}",
        scenario_text=scenario_text,
        tuning=tuning,
        profiles=read_profiles(record.path, plan),
        gate=_gate_result(record),
    )


def _gate_result(record: Record) -> str:
    """Return the result of the gate in words; nothing without one, or if its file is damaged."""
    with contextlib.suppress(RecordError):
        gate = read_gate(record.path)
        return gate.result if gate else ""
    return ""


def write_pages(
    record: Record,
    judgement: Judgement,
    *,
    formats: tuple[Format, ...] = FORMATS,
    embed_runs: bool | None = None,
    template: Path | None = None,
) -> Pages:
    """Write ``report.html``, ``appendix.html``, their Markdown and ``figures/``, and seal the record.

    The record stores a copy of the custom templates. With custom templates, both pages are always
    written, because `verify` renders them with the same templates.

    Without `embed_runs`, ``report.html`` contains the runs if they take at most `MOST_EMBEDDED`
    bytes. `template` is a folder whose templates replace the shipped ones.
    """
    from bench_framework.features.document import build_document

    data = report_data(record, judgement)
    document = build_document(data)
    custom = template_texts(template)
    pages: tuple[Format, ...] = ("html", "md")
    if (custom or custom_templates(record)) and set(pages) & set(formats):
        formats = (*pages, *(name for name in formats if name not in pages))
    runs = None
    if embed_runs is not False and record.contents.figures is None and "html" in formats:
        most = MOST_EMBEDDED if embed_runs is None else None
        runs = embedded_runs(data, custom, most)
    texts = render_files(data, document, formats=formats, runs=runs, templates=template)
    if texts:
        layout.replace_folder(record.path / TEMPLATES, custom)
    layout.write_all(record.path, texts)
    if texts:
        record.renew(f"{TEMPLATES}/", *texts)
        record.seal()
    files = tuple(record.path / name for name in texts if "/" not in name)
    return Pages(record.path, files, located(document, record.path) if "term" in formats else None)


def located(document: Document, folder: Path) -> Document:
    """Return a document for the terminal, which lists the files of the record by their paths."""
    here = os.path.relpath(folder)
    return replace(document, files=tuple(f"{here}/{PurePath(f).name}" for f in document.files))


def embedded_runs(
    data: ReportData, templates: Mapping[str, str], most: int | None = None
) -> PageRecord | None:
    """Return the record as a page contains it, with the custom templates of the page by file name.

    `None`: it has more than `most` compressed bytes.
    """
    from bench_framework.report.render.html import PageRecord

    contents = data.contents
    frame = embedded.RecordFrame(
        schema_version=SCHEMA_VERSION,
        plan=data.plan,
        header=contents.header,
        host=data.host,
        builds=contents.builds,
        inputs=contents.inputs,
        looks=tuple(contents.looks),
        events=tuple(contents.events),
        ended_at=contents.ended_at,
        record_dir=data.record_dir,
        tuning=dict(data.tuning) if data.tuning is not None else None,
        profiles=data.profiles,
        functions=tuple(contents.functions.values()),
        templates=dict(templates),
        gate=data.gate,
        wording=data.wording,
    )
    link = embedded.runs_link(Source(data.plan, contents, data.judgement), most)
    runs = link and PageRecord(link, embedded.packed_frame(frame))
    return runs if runs and (most is None or runs.compressed_bytes <= most) else None


def template_texts(folder: Path | None) -> dict[str, str]:
    """Return the texts of custom templates by name. Raises `UsageError`, BX113: no template."""
    from bench_framework.report.render.templates import replaced

    if folder is None:
        return {}
    return {
        name: (folder / name).read_text(encoding="utf-8", errors="replace")
        for name in replaced(folder)
    }


def require_readable(folder: Path) -> None:
    """Parse custom templates. Raises `UsageError`, BX113, if one is invalid."""
    from bench_framework.report.render.templates import Templates, replaced

    Templates(folder).parse(replaced(folder))


def custom_templates(record: Record) -> Path | None:
    """Return the folder of the custom templates of a record, or `None`."""
    folder = record.path / TEMPLATES
    return folder if folder.is_dir() else None


def contains_runs(record: Record) -> bool | None:
    """Return whether the HTML page of a record contains its runs; `None` if there is no such page."""
    page = record.path / PAGE
    if not page.is_file():
        return None
    return embedded.is_embedded(page.read_text(encoding="utf-8", errors="replace"))


def render_files(
    data: ReportData,
    document: Document,
    *,
    formats: tuple[Format, ...] = FORMATS,
    runs: PageRecord | None = None,
    templates: Path | None = None,
) -> dict[str, str]:
    """Return the texts of the files of a report by name. Nothing is written.

    Equal records have equal texts.

    With `runs`, they are embedded in the HTML page. `templates` is a folder whose templates replace
    the shipped ones.

    Raises `UsageError` (BX113): a custom template is invalid.
    """
    from bench_framework.features.profile.flame_graph import profile_files
    from bench_framework.report import figures
    from bench_framework.report.render import html, markdown
    from bench_framework.report.render.templates import Templates

    loader = Templates(templates)
    texts: dict[str, str] = {}
    drawings = figures.drawings(document) if {"html", "md"} & set(formats) else {}
    drawn = [(drawings[f.anchor], f) for f in document.figures() if f.anchor in drawings]
    if "html" in formats:
        inline = {f.anchor: figures.responsive(drawing, f) for drawing, f in drawn}
        texts[PAGE] = html.render(document, data, loader, inline, runs, APPENDIX)
        texts[APPENDIX] = html.render_page(document, loader, inline, {}, report=PAGE)
    if "md" in formats:
        texts |= {f"figures/{f.anchor}.svg": figures.standalone(drawing, f) for drawing, f in drawn}
        texts |= {f"{place}.md": markdown.render(document, loader, place) for place in PLACES}
    return texts | (profile_files(data) if {"html", "md"} & set(formats) else {})
