"""Pages that contain their record: recompute the results, render the page again, publish or unpack it.

A published report is a folder with the pages, figures and tables of a record, without its journal and
raw files. Its ``report.html`` contains the runs, from which every other file follows.
"""

import gzip
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench_framework.errors import UsageError
from bench_framework.features.document import build_document
from bench_framework.masking import masked_source
from bench_framework.model.result.judgement import Judgement
from bench_framework.report.context import ReportData
from bench_framework.scenario.wording import with_wording
from bench_framework.store import embedded, layout, tables, wire
from bench_framework.store.embedded import Embedded
from bench_framework.store.finding import is_record
from bench_framework.store.records import Record
from bench_framework.store.source import Source
from bench_framework.workflow import pages
from bench_framework.workflow.run_options import find_scenario, plan_scenario

RUNS_PACKED: Final = "runs.csv.gz"
"""File of a published report with its ``runs.csv``."""


def read_page(page: Path) -> str:
    """Return the text of a page. Raises `UsageError`, BX101: it cannot be read."""
    try:
        return page.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = (("cause", str(error)),)
        raise UsageError("BX101.page-not-readable", details=cause, page=page) from error


def judge_embedded(embedded: Embedded) -> Judgement:
    """Recompute the results from the runs in a page."""
    return pages.judge_contents(embedded.frame.plan, embedded.contents, embedded.frame.profiles)


def _data(embedded: Embedded, judgement: Judgement) -> ReportData:
    frame = embedded.frame
    return ReportData(
        frame.plan,
        judgement,
        embedded.contents,
        (frame.plan.command,),
        record_dir=frame.record_dir,
        scenario_text=embedded.scenario_text,
        tuning=frame.tuning,
        profiles=frame.profiles,
        gate=frame.gate,
        wording=frame.wording,
    )


def reworded(content: Embedded, scenario: str) -> Embedded:
    """Return a page's record with the words of a scenario, see `with_wording`.

    Raises:
        UsageError: BX102, there is no such scenario; BX104, it differs in more than words.
        ScenarioError: it has errors.
    """
    plan = content.frame.plan
    overrides, only = plan.invocation.overrides, plan.invocation.only
    given = plan_scenario(scenario, overrides=overrides, only=only or None)
    stored = wire.load_plan(wire.dump_plan(given))
    path = find_scenario(scenario)
    frame = replace(
        content.frame, plan=with_wording(plan, stored, scenario), wording=given.scenario_sha256
    )
    return replace(content, frame=frame, scenario_text=masked_source(path.read_text("utf-8")))


def render_embedded(
    embedded: Embedded, judgement: Judgement, formats: tuple[pages.Format, ...] = ("html",)
) -> dict[str, str]:
    """Render a page again: file name → text. Raises `UsageError` (BX113): a custom template."""
    frame, data = embedded.frame, _data(embedded, judgement)
    runs = pages.embedded_runs(data, frame.templates)
    document = build_document(data)
    with tempfile.TemporaryDirectory(prefix="benchctl-templates-") as folder:
        templates = Path(folder) if frame.templates else None
        for name, text in frame.templates.items():
            path = Path(folder, name)
            if not path.resolve().is_relative_to(Path(folder).resolve()):
                raise UsageError("BX113.outside", name=name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return pages.render_files(data, document, formats=formats, runs=runs, templates=templates)


def published_files(embedded: Embedded, judgement: Judgement) -> dict[str, str]:
    """Return the texts of all files of a published report by name; those of ``.gz`` not yet compressed."""
    source = Source(embedded.frame.plan, embedded.contents, judgement)
    texts = {f"{name}.csv": text for name, text in tables.table_texts(source).items()}
    texts[RUNS_PACKED] = texts.pop(layout.RUNS)
    texts[layout.COLUMNS] = tables.dictionary(source)
    return render_embedded(embedded, judgement, ("html", "md")) | texts


def is_published(folder: Path) -> bool:
    """Return whether a folder contains a page and no record, damaged or not."""
    is_page = (folder / pages.PAGE).is_file() and not (folder / layout.MANIFEST).exists()
    return is_page and not is_record(folder)


def _parts(folder: Path) -> list[Path] | None:
    """Return the parts of files in a folder; `None` if it contains anything else.

    A full disk or a kill leaves parts and empty folders before the page is there.
    """
    entries = [*folder.iterdir()] if folder.is_dir() else [folder]
    parts: list[Path] = []
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            inner = _parts(entry)
            if inner is None:
                return None
            parts += inner
        elif entry.is_file() and layout.is_draft(entry):
            parts.append(entry)
        else:
            return None
    return parts


def publish(page: Path, folder: Path | None, wording: str | None = None) -> pages.Pages:
    """Write the published report of a page to a folder, which can be its own; `None`: only render it.

    `wording` is the path or name of a scenario whose words replace those of the record.

    Raises:
        UsageError: BX101, the page cannot be read; BX104, the folder contains something else; or see
            `reworded`.
        RecordError: BX414, the page contains no runs; BX411 or BX412, they cannot be read.
        MachineError: BX235, writing failed.
    """
    if folder is not None:
        with layout.writing(folder):
            parts = _parts(folder) if folder.exists() else []
        if parts is None and not is_published(folder):
            raise UsageError("BX104.foreign-folder", folder=folder)
    content = embedded.read(read_page(page))
    if wording is not None:
        content = reworded(content, wording)
    if folder is not None:
        plan = content.frame.plan
        plan = replace(plan, invocation=plan.invocation.public)
        content = replace(content, frame=replace(content.frame, plan=plan))
    judgement = judge_embedded(content)
    document = pages.located(build_document(_data(content, judgement)), folder or page.parent)
    if folder is None:
        return pages.Pages(page.parent, (), document)
    files: dict[str, str | bytes] = {
        name: gzip.compress(text.encode(), mtime=0) if name == RUNS_PACKED else text
        for name, text in published_files(content, judgement).items()
    }
    for name in ("figures", "profiles"):  # an earlier version can have other figures
        layout.replace_folder(folder / name, {})
    layout.write_all(folder, files)
    for part in parts or ():
        part.unlink(missing_ok=True)
    written = tuple(folder / name for name in files if name.endswith((".html", ".md", ".gz")))
    return pages.Pages(folder, written, document)


def unpack(page: Path, folder: Path) -> Record:
    """Write the record in a page to a folder: tables, plan, machine and results, but no journal or raw files.

    Raises:
        UsageError: BX101, the page cannot be read.
        RecordError: BX414, it contains no runs; BX411 or BX412, they cannot be read.
    """
    content = embedded.read(read_page(page))
    frame = content.frame
    layout.write_whole(folder / layout.SCENARIO, content.scenario_text)
    layout.write_whole(folder / layout.PLAN, wire.dump_plan(frame.plan))
    layout.write_whole(folder / layout.ENV, wire.dump_host(frame.host))
    if frame.tuning is not None:
        layout.write_whole(folder / layout.TUNING, json.dumps(frame.tuning))
    record = Record(folder, frame.plan, content.contents)
    record.save(judge_embedded(content))
    return record
