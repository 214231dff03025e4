"""Import of results that other tools measured, as a record in ``results/``."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench_framework.errors import UsageError
from bench_framework.execution.machine.host import utc_now
from bench_framework.model.imported import Imported, Session
from bench_framework.store import journal, layout, records
from bench_framework.store import sessions as reader
from bench_framework.store.sessions import slug
from bench_framework.version import __version__
from bench_framework.workflow.pages import Pages, judge_record, located, write_pages

NAMES: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


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
    name = _name(name, files)
    for path in (results.absolute(), *files):
        records.require_unicode(path)
    contents = [reader.read_bytes(path) for path in files]
    sessions = tuple(
        reader.read_session(content, label, number)
        for number, (content, label) in enumerate(zip(contents, _labels(files), strict=True), 1)
    )
    baseline, at, version = _baseline(sessions, baseline), utc_now(), __version__
    sources = {s.source: content for s, content in zip(sessions, contents, strict=True)}
    with layout.new_folder(results / name, at) as (final, draft):
        imported = Imported(
            journal.SCHEMA_VERSION, final.name, name, at, version, baseline, sessions
        )
        record = records.create_imported(draft, imported, sources)
        judgement = judge_record(record)
        record.save(judgement)
        pages = write_pages(record, judgement)
    document = located(pages.document, final) if pages.document else None
    return Pages(final.absolute(), tuple(final / path.name for path in pages.files), document)


def _name(requested: str | None, files: Sequence[Path]) -> str:
    name = requested if requested is not None else slug(files[0].stem)
    if NAMES.fullmatch(name) is None:
        raise UsageError(
            f"{name!r} is not a valid name",
            effect="nothing was imported",
            fix="use letters, digits, dots, hyphens and underscores in --name, starting with a "
            "letter or digit",
        )
    return name


def _labels(files: Sequence[Path]) -> list[str]:
    """Return the names of files, with their folders if two files have the same name."""
    names = [path.name for path in files]
    return names if len(set(names)) == len(names) else [str(path) for path in files]


def _baseline(sessions: Sequence[Session], requested: str | None) -> str:
    """Return the baseline's label. Raises `UsageError` (BX453): unknown, or a file given twice."""
    twice = [digest for digest, count in Counter(s.sha256 for s in sessions).items() if count > 1]
    if twice:
        names = ", ".join(s.label for s in sessions if s.sha256 == twice[0])
        raise _wrong(f"the same file was given twice: {names}", "give each file once")
    known = list(
        dict.fromkeys(command.label for session in sessions for command in session.commands)
    )
    if requested is not None and requested not in known:
        raise _wrong(
            f"no file contains --baseline {requested!r}",
            f"use one of {', '.join(known[:8])}",
        )
    return requested if requested is not None else known[0]


def _wrong(message: str, fix: str) -> UsageError:
    return UsageError(message, code="BX453", effect="nothing was imported", fix=fix)
