"""Exchange with other tools: import of results, export of records, audit of published reports."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError, UsageError
from bench_framework.execution.machine.host import utc_now
from bench_framework.features.audit.report import Audit, as_markdown, audit
from bench_framework.features.export import FORMATS, export_table
from bench_framework.foreign import read_input
from bench_framework.model.imported import Imported, Session
from bench_framework.store import finding, layout, records, wire
from bench_framework.store import sessions as reader
from bench_framework.store.sessions import slug
from bench_framework.store.source import Source
from bench_framework.version import __version__
from bench_framework.workflow.pages import Pages, judge_record, located, record_host, write_pages
from bench_framework.workflow.records.integrity import corruption_reported

NAMES: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
MOST_BYTES: Final = 1024 * 1024
"""Largest page that is audited. The longest report of an example has 40 kB."""
NOT_AUDITED: Final = "nothing was audited"


def import_files(
    results: Path, files: Sequence[Path], *, name: str | None = None, baseline: str | None = None
) -> Pages:
    """Read files, compare their commands, and write a record with its report.

    The default of `name` is that of the first file, and of `baseline` its first label. Nothing is written
    if one of the files is wrong.

    Raises:
        UsageError: BX100, BX450 to BX454: a file, a label or a name is wrong.
        MachineError: BX235, the record cannot be written.
    """
    name = name if name is not None else slug(files[0].stem)
    if NAMES.fullmatch(name) is None:
        allowed = "use letters, digits, dots, hyphens and underscores in --name"
        raise UsageError("BX100.not-valid-name", name=name, allowed=allowed)
    for path in (results.absolute(), *files):
        layout.require_unicode(path)
    contents = [reader.read_bytes(path) for path in files]
    different = len({path.name for path in files}) == len(files)
    labels = (path.name if different else str(path) for path in files)
    numbered = enumerate(zip(contents, labels, strict=True), 1)
    sessions = tuple(reader.read_session(text, label, n) for n, (text, label) in numbered)
    baseline, at, schema = _baseline(sessions, baseline), utc_now(), wire.SCHEMA_VERSION
    sources = {s.source: content for s, content in zip(sessions, contents, strict=True)}
    new_folder = layout.new_folder(results / name, at, effect="nothing was imported")
    with new_folder as (final, draft):
        imported = Imported(schema, final.name, name, at, __version__, baseline, sessions)
        record = records.create_imported(draft, imported, sources)
        judgement = judge_record(record)
        record.save(judgement)
        pages = write_pages(record, judgement)
    document = located(pages.document, final) if pages.document else None
    return Pages(final.absolute(), tuple(final / path.name for path in pages.files), document)


def _baseline(sessions: Sequence[Session], requested: str | None) -> str:
    """Return the baseline's label. Raises `UsageError` (BX453): unknown, or a file given twice."""
    twice = [digest for digest, count in Counter(s.sha256 for s in sessions).items() if count > 1]
    if twice:
        names = ", ".join(s.label for s in sessions if s.sha256 == twice[0])
        raise UsageError("BX453.same-file-given", names=names)
    known = [*dict.fromkeys(command.label for s in sessions for command in s.commands)]
    if requested is not None and requested not in known:
        raise UsageError("BX453.no-file-contains", requested=requested, known=", ".join(known[:8]))
    return requested if requested is not None else known[0]


def export_record(results: Path, name: str, form: str, metrics: Sequence[str] = ()) -> str | bytes:
    """Return a record in a format; bytes if it is not text. Without `metrics`, all are exported.

    Raises:
        UsageError: BX101, there is no such record; BX107, it has no such metric; BX131, there is no
            such format, or it needs a package that is missing.
        RecordError: the record cannot be read.
    """
    if form not in FORMATS:
        raise UsageError("BX131.no-format", form=form, formats=", ".join(FORMATS))
    folder = finding.resolve(results, name)
    with records.open_record(folder) as record, corruption_reported(folder):
        judgement = record.judgement() or judge_record(record)
        source = Source(record.plan, record.contents, judgement)
        table = export_table(source, record_host(record))
    known = {row["metric"] for row in table.rows}
    if missing := [metric for metric in metrics if metric not in known]:
        raise UsageError(
            "BX107.no-metric",
            folder=folder,
            repr=", ".join(map(repr, missing)),
            known=", ".join(sorted(known)),
        )
    rows = [row for row in table.rows if not metrics or row["metric"] in metrics]
    return FORMATS[form](replace(table, rows=rows))


def audit_files(page: Path, data: Sequence[Path]) -> Audit:
    """Audit a page with its data. Raises `UsageError`: BX456, the page; BX450 to BX454, a file."""
    try:
        source = read_input(page, MOST_BYTES).decode("utf-8-sig")
        fault = f"{page} is a binary file" if "\0" in source else ""
    except UnicodeDecodeError:
        fault = f"{page} is not UTF-8 text"
    except ValueError as error:
        fault = str(error)
    if fault:
        raise UsageError("BX456", message=fault)
    try:
        sessions = [
            reader.read_session(reader.read_bytes(path), path.name, number)
            for number, path in enumerate(data, 1)
        ]
    except UsageError as error:
        error.effect = NOT_AUDITED
        raise
    return audit(source, page.name, sessions)


def write_audit(result: Audit, path: Path) -> None:
    """Write an audit as Markdown. Raises `MachineError` (BX235): the file cannot be written."""
    try:
        path.write_text(as_markdown(result), encoding="utf-8")
    except OSError as error:
        raise MachineError(
            "BX235.write-audit", path=path, strerror=error.strerror or error
        ) from error
