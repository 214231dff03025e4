"""A record in its page, and back: what ``--embed-runs`` writes, and what ``verify`` and ``load`` make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.model.judgement import Judgement
    from bench_framework.report import ReportData
    from bench_framework.report.render.html import Runs
    from bench_framework.store.embedded import Embedded
    from bench_framework.store.journal import Contents
    from bench_framework.store.records import Record


def embedded_runs(data: ReportData, contents: Contents, *, own_templates: bool = False) -> Runs:
    """What a page needs to carry its record; equal records give equal values.

    `own_templates`: the page is rendered with templates that it does not carry, so that nobody can render it again.
    """
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
        own_templates=own_templates,
    )
    link = embedded.runs_link(Source(data.plan, contents, data.judgement))
    return Runs(link, embedded.frame_json(frame))


def judged_again(found: Embedded) -> Judgement:
    """The judgement of the runs in a page."""
    from bench_framework.workflow.pages import judged

    return judged(found.frame.plan, found.contents, found.frame.profiles)


def rendered_again(found: Embedded, judgement: Judgement) -> str:
    """The page that the runs in a page render to."""
    from bench_framework.report import ReportData, build
    from bench_framework.workflow.pages import render_files

    frame, contents = found.frame, found.contents
    data = ReportData(
        plan=frame.plan,
        judgement=judgement,
        builds=frame.builds,
        inputs=frame.inputs,
        host=frame.host,
        blocks=tuple(contents.blocks),
        record_id=contents.header.record_id,
        started=contents.header.started_at,
        finished=contents.ended_at or "",
        commands=(frame.plan.command,),
        events=frame.events,
        record_dir=frame.record_dir,
        scenario_text=found.scenario_text,
        tuning=frame.tuning,
        profiles=frame.profiles,
    )
    runs = embedded_runs(data, contents)
    return render_files(data, build(data), formats=("html",), runs=runs)["report.html"]


def unpack(page: Path, folder: Path) -> Record:
    """The record that a page carries, as files in a folder: tables, plan, machine and judgement; no journal, no raw.

    Raises:
        UsageError: BX101, the page cannot be read. RecordError: BX411, it carries no runs, or none that can be read.
    """
    from bench_framework.store import embedded, layout, wire
    from bench_framework.store.records import Record

    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{page} cannot be read", code="BX101", details=(("cause", str(error)),)) from error
    found = embedded.read(text)
    layout.write_whole(folder / layout.SCENARIO, found.scenario_text)
    layout.write_whole(folder / layout.PLAN, wire.dump_plan(found.frame.plan))
    layout.write_whole(folder / layout.ENV, wire.dump_host(found.frame.host))
    record = Record(folder, found.frame.plan, found.contents)
    record.save(judged_again(found))
    return record
