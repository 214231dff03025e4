"""Import of results of another tool as a record."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench_framework.errors import UsageError
from bench_framework.execution.machine.host import utc_now
from bench_framework.extensions.importers import FILE
from bench_framework.extensions.importers.model import Imported
from bench_framework.extensions.importers.record_kind import ImportedFigures
from bench_framework.model.record.sessions import HarnessSession
from bench_framework.store import layout, records, sessions as reader, wire
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
    name = name if name is not None else slug(files[0].stem)
    if NAMES.fullmatch(name) is None:
        raise UsageError("BX100.not-valid-name", name=name)
    for path in (results.absolute(), *files):
        layout.require_unicode(path)
    contents = [reader.read_bytes(path) for path in files]
    different = len({path.name for path in files}) == len(files)
    labels = (path.name if different else str(path) for path in files)
    numbered = enumerate(zip(contents, labels, strict=True), 1)
    sessions = tuple(reader.read_session(text, label, n) for n, (text, label) in numbered)
    baseline, at, schema = _baseline(sessions, baseline), utc_now(), wire.SCHEMA_VERSION
    sources = {s.source: content for s, content in zip(sessions, contents, strict=True)}
    new_folder = layout.new_folder(results / name, at, key="BX235.not-imported")
    with new_folder as (final, draft):
        imported = Imported(schema, final.name, name, at, __version__, baseline, sessions)
        for source, content in sources.items():
            layout.write_whole(draft / source, content)
        layout.write_whole(draft / FILE, wire.dump(Imported, imported))
        record = records.record_of_figures(draft, ImportedFigures(imported))
        judgement = judge_record(record)
        record.save(judgement)
        pages = write_pages(record, judgement)
    document = located(pages.document, final) if pages.document else None
    return Pages(final.absolute(), tuple(final / path.name for path in pages.files), document)


def _baseline(sessions: Sequence[HarnessSession], requested: str | None) -> str:
    """Return the baseline's label. Raises `UsageError` (BX453): unknown, or a file given twice."""
    twice = [digest for digest, count in Counter(s.sha256 for s in sessions).items() if count > 1]
    if twice:
        names = ", ".join(s.label for s in sessions if s.sha256 == twice[0])
        raise UsageError("BX453.file-twice", names=names)
    known = [*dict.fromkeys(command.label for s in sessions for command in s.commands)]
    if requested is not None and requested not in known:
        raise UsageError("BX453.no-baseline", requested=requested, known=", ".join(known[:8]))
    return requested if requested is not None else known[0]
