"""Pages that contain their record: recompute the results, render the page again, or unpack it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench_framework.errors import UsageError
from bench_framework.workflow.pages import (
    PAGE,
    contents_data,
    embedded_runs,
    judge_contents,
    render_files,
)

if TYPE_CHECKING:
    from bench_framework.model.judgement import Judgement
    from bench_framework.store.embedded import Embedded
    from bench_framework.store.records import Record


def read_page(page: Path) -> str:
    """Return the text of a page. Raises `UsageError`, BX101: it cannot be read."""
    try:
        return page.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{page} cannot be read", code="BX101", details=(("cause", str(error)),)
        ) from error


def judge_embedded(embedded: Embedded) -> Judgement:
    """Recompute the results from the runs in a page."""
    return judge_contents(embedded.frame.plan, embedded.contents, embedded.frame.profiles)


def render_embedded(embedded: Embedded, judgement: Judgement) -> str:
    """Render a page again from the runs that it contains.

    Raises `UsageError` (BX113): a custom template in the page cannot be used.
    """
    from bench_framework.features.document import build_document

    frame, contents = embedded.frame, embedded.contents
    data = contents_data(
        frame.plan,
        contents,
        judgement,
        frame.host,
        record_dir=frame.record_dir,
        scenario_text=embedded.scenario_text,
        tuning=frame.tuning,
        profiles=frame.profiles,
    )
    runs = embedded_runs(data, contents, frame.templates)
    with tempfile.TemporaryDirectory(prefix="benchctl-templates-") as folder:
        templates = _write_templates(Path(folder), frame.templates) if frame.templates else None
        files = render_files(
            data, build_document(data), formats=("html",), runs=runs, templates=templates
        )
        return files[PAGE]


def _write_templates(folder: Path, templates: dict[str, str]) -> Path:
    for name, text in templates.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise UsageError(
                f"the template {name} in the page is outside of its folder", code="BX113"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def unpack(page: Path, folder: Path) -> Record:
    """Write the record in a page to a folder: tables, plan, machine and results, but no journal or raw files.

    Raises:
        UsageError: BX101, the page cannot be read.
        RecordError: BX414, it contains no runs; BX411 or BX412, they cannot be read.
    """
    from bench_framework.store import embedded, layout, wire
    from bench_framework.store.records import Record

    content = embedded.read(read_page(page))
    layout.write_whole(folder / layout.SCENARIO, content.scenario_text)
    layout.write_whole(folder / layout.PLAN, wire.dump_plan(content.frame.plan))
    layout.write_whole(folder / layout.ENV, wire.dump_host(content.frame.host))
    record = Record(folder, content.frame.plan, content.contents)
    record.save(judge_embedded(content))
    return record
