"""From a record with its judgement to pages; verdicts are read from the record, none is recomputed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from bench_framework import assets
from bench_framework.errors import RecordError, UsageError
from bench_framework.workflow import corrupt_records

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from bench_framework.model.judgement import Judgement
    from bench_framework.model.looks import Looks
    from bench_framework.model.plan import Plan
    from bench_framework.model.profile import Profile
    from bench_framework.model.run import Host
    from bench_framework.report import Document, ReportData
    from bench_framework.report.render.html import Runs
    from bench_framework.store.journal import Contents
    from bench_framework.store.records import Record

Format = Literal["html", "md", "term"]
FORMATS: tuple[Format, ...] = ("html", "md", "term")
PAGE: Final = "report.html"
MOST_EMBEDDED: Final = 1_000_000
"""Bytes of compressed runs that a page contains unless the user says otherwise."""
TEMPLATES: Final = "templates"
"""Folder of a record that holds the templates of its pages, where they are not the shipped ones."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What was written: the files, and the document for a terminal if that was asked for."""

    record: Path
    files: tuple[Path, ...]
    document: Document | None


def parse_formats(text: str) -> tuple[Format, ...]:
    """Formats of a comma-separated list.

    Raises:
        UsageError: BX104, a format that is none.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in FORMATS]
    if unknown or not names:
        raise UsageError(
            f"no format {', '.join(unknown) or repr(text)}",
            code="BX104",
            help=f"formats: {', '.join(FORMATS)}",
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
    """Render a record again.

    A record that was interrupted has no judgement yet; it is judged now, by the looks that were taken. `template` is a
    folder whose templates replace the shipped ones; the record keeps them, so that `verify` can render it again.
    `embed_runs` as in `write_pages`.

    Raises:
        UsageError: BX104, what was asked for does not go together; BX113, a template is broken: nothing was written.
    """
    from bench_framework.store import finding, imports

    if embed_runs and "html" not in formats:
        raise UsageError(
            "--embed-runs is for the HTML page, and --format leaves it out", code="BX104"
        )
    folder = finding.resolve(results, name)
    with imports.open_record(folder) as record, corrupt_records.blamed(folder):
        if embed_runs and record.contents.imported is not None:
            raise UsageError(
                f"{folder} was imported: it has no runs that a page could contain",
                code="BX104",
                help="leave --embed-runs out; the imported files are in the folder of the set",
            )
        judgement = record.judgement()
        if judgement is None:
            judgement = judge_record(record)
            record.save(judgement)
        return write_pages(
            record, judgement, formats=formats, embed_runs=embed_runs, template=template
        )


def judge_record(
    record: Record, *, looks: Looks | None = None, tripped: Collection[str] = ()
) -> Judgement:
    """Judge what a record holds, by the looks that were taken; `looks` and `tripped` as in `analysis.judge`."""
    from bench_framework.store.profiles import read_profiles

    profiles = read_profiles(record.path, record.plan)
    return judged(record.plan, record.contents, profiles, looks=looks, tripped=tripped)


def judged(
    plan: Plan,
    contents: Contents,
    profiles: Sequence[Profile],
    *,
    looks: Looks | None = None,
    tripped: Collection[str] = (),
) -> Judgement:
    """Judge blocks and observations, wherever they were read from; as `judge_record`."""
    from bench_framework.features.imported.compute import judge_imported
    from bench_framework.features.judge import judge
    from bench_framework.features.profile.compute import attach

    if contents.imported is not None:
        return judge_imported(plan, contents.imported)
    judgement = judge(
        plan,
        contents.blocks,
        {build.id: build for build in contents.builds},
        contents.inputs,
        contents.looks,
        noted=contents.events,
        observed=contents.observations,
        looks=looks,
        tripped=tripped,
    )
    return attach(judgement, plan, profiles)


def record_host(record: Record) -> Host:
    """The machine that a record was measured on. Raises `OSError` and `RecordError`."""
    from bench_framework.store import layout, wire

    return record.contents.host or wire.load_host((record.path / layout.ENV).read_bytes())


def report_data(record: Record, judgement: Judgement) -> ReportData:
    """Everything that a report is made from."""
    from bench_framework.report import ReportData
    from bench_framework.store import layout
    from bench_framework.store.profiles import read_profiles

    contents, plan = record.contents, record.plan
    try:
        host = record_host(record)
        measured = contents.imported is None
        scenario_text = (
            (record.path / layout.SCENARIO).read_text(encoding="utf-8") if measured else ""
        )
        tuning = json.loads((record.path / layout.TUNING).read_bytes()) if plan.tuning else None
    except (OSError, ValueError) as error:
        name = error.filename if isinstance(error, OSError) else f"a text of {record.path}"
        raise RecordError(
            f"{name} cannot be read",
            code="BX411",
            details=(("cause", getattr(error, "strerror", None) or str(error)),),
            help="`benchctl verify` names every file of the record that is missing or changed",
        ) from error
    return ReportData(
        plan=plan,
        judgement=judgement,
        builds=contents.builds,
        inputs=contents.inputs,
        host=host,
        blocks=tuple(contents.blocks),
        record_id=record.id,
        started=contents.header.started_at,
        finished=contents.ended_at or "",
        commands=(plan.command,),
        events=tuple(contents.events),
        record_dir="/".join((*record.path.parts[-3:-1], record.id)),
        scenario_text=scenario_text,
        tuning=tuning,
        profiles=read_profiles(record.path, plan),
        imported=contents.imported,
    )


def write_pages(
    record: Record,
    judgement: Judgement,
    *,
    formats: tuple[Format, ...] = FORMATS,
    embed_runs: bool | None = None,
    template: Path | None = None,
) -> Pages:
    """Write ``report.html``, ``report.md`` and ``figures/`` into a record and seal it again.

    With `template` the record keeps a copy of that folder's templates; without, it has none. Where either is so, both
    pages are written, whichever was asked for: one made with other templates could not be verified.

    Args:
        record: what to report.
        judgement: of the record.
        formats: which pages.
        embed_runs: whether ``report.html`` contains the runs; `None`: if they take at most `MOST_EMBEDDED` bytes.
        template: a folder whose templates replace the shipped ones.
    """
    from bench_framework.features.document import build_document
    from bench_framework.store import layout

    data = report_data(record, judgement)
    document = build_document(data)
    kept = template_texts(template) if template is not None else {}
    pages: tuple[Format, ...] = ("html", "md")
    if (kept or own_templates(record)) and set(pages) & set(formats):
        formats = (*pages, *(name for name in formats if name not in pages))
    runs = None
    if embed_runs is not False and record.contents.imported is None and "html" in formats:
        runs = embedded_runs(data, record.contents, kept)
        if embed_runs is None and runs.compressed_bytes > MOST_EMBEDDED:
            runs = None
    made = render_files(data, document, formats=formats, runs=runs, own=template)
    if made:
        layout.replace_folder(record.path / TEMPLATES, kept)
    for name, text in made.items():
        layout.write_whole(record.path / name, text)
    if made:
        record.seal()
    files = tuple(record.path / name for name in made if "/" not in name)
    return Pages(record.path, files, document if "term" in formats else None)


def embedded_runs(data: ReportData, contents: Contents, templates: Mapping[str, str]) -> Runs:
    """Return the record as a page contains it, with the custom templates of the page by file name."""
    from bench_framework.report.render.html import Runs
    from bench_framework.store import embedded
    from bench_framework.store.journal import SCHEMA_VERSION
    from bench_framework.store.rows import Source

    frame = embedded.Frame(
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
        templates=dict(templates),
    )
    link = embedded.runs_link(Source(data.plan, contents, data.judgement))
    return Runs(link, embedded.packed_frame(frame))


def template_texts(folder: Path) -> dict[str, str]:
    """The templates of a user's folder by their names in it. Raises `UsageError`, BX113: it replaces none."""
    from bench_framework.report.render.templates import replaced

    return {
        name: (folder / name).read_text(encoding="utf-8", errors="replace")
        for name in replaced(folder)
    }


def require_readable(folder: Path) -> None:
    """Refuse a user's folder whose templates Jinja cannot parse. Raises `UsageError`, BX113."""
    from bench_framework.report.render.templates import Templates, replaced

    Templates(assets.template_dir(), folder).parse(replaced(folder))


def own_templates(record: Record) -> Path | None:
    """The templates that a record's pages were rendered with, where they are not the shipped ones."""
    folder = record.path / TEMPLATES
    return folder if folder.is_dir() else None


def carries_runs(record: Record) -> bool | None:
    """Return whether the HTML page of a record contains its runs; `None` if there is no such page."""
    from bench_framework.store import embedded

    page = record.path / PAGE
    if not page.is_file():
        return None
    return embedded.is_embedded(page.read_text(encoding="utf-8", errors="replace"))


def render_files(
    data: ReportData,
    document: Document,
    *,
    formats: tuple[Format, ...] = FORMATS,
    runs: Runs | None = None,
    own: Path | None = None,
) -> dict[str, str]:
    """The files of a report by their name in the record; nothing is written.

    Equal records give equal texts. `runs` is the record that the page is to contain, if any; `own` a folder whose
    templates replace the shipped ones. Raises `UsageError`, BX113, where one of those is broken.
    """
    from bench_framework.features.profile.flame_graph import profile_files
    from bench_framework.report import figures
    from bench_framework.report.render import html, markdown
    from bench_framework.report.render.templates import Templates

    templates = Templates(assets.template_dir(), own)
    made: dict[str, str] = {}
    drawings = figures.drawings(document) if {"html", "md"} & set(formats) else {}
    shown = {figure.anchor: figure for figure in document.figures() if figure.anchor in drawings}
    if "html" in formats:
        inline = {
            anchor: figures.inline(drawings[anchor], figure) for anchor, figure in shown.items()
        }
        made[PAGE] = html.render(document, data, templates, inline, runs)
    if "md" in formats:
        for anchor, figure in shown.items():
            made[f"figures/{anchor}.svg"] = figures.standalone(drawings[anchor], figure)
        made["report.md"] = markdown.render(document, templates)
    return made | (profile_files(data) if {"html", "md"} & set(formats) else {})


def terminal_page(
    document: Document,
    width: int,
    color: bool,  # noqa: FBT001 -- two flags of a terminal
    unicode: bool,  # noqa: FBT001
    *,
    full: bool = False,
) -> str:
    """The document as text of a width; `full` for every section with its tables."""
    from bench_framework.report.render import terminal

    return terminal.render(document, width=width, color=color, unicode=unicode, full=full)
