"""Import figures that were measured elsewhere: from files to a record in ``results/``."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import UsageError
from bench_framework.workflow.pages import Pages, judge_record, write_pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.imported import Session

NAMES: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What an import may be told.

    Attributes:
        results: folder of the records.
        name: of the set; that of the first file if `None`.
        baseline: label of the command that others are compared with; the first of the first file if `None`.
    """

    results: Path = Path("results")
    name: str | None = None
    baseline: str | None = None


def import_files(files: Sequence[Path], options: ImportOptions) -> Pages:
    """Read files, judge them, and write the set with its report; nothing is written if one of them is wrong.

    Raises:
        UsageError: BX100, BX450 to BX454: a file, a label or a name is wrong.
        MachineError: BX235, the set cannot be written.
    """
    from bench_framework.execution.host import utc_now
    from bench_framework.model.imported import Imported
    from bench_framework.store import imports, journal, records
    from bench_framework.store.importers import sessions as reader
    from bench_framework.version import __version__

    name = _name(options.name, files)
    for path in (options.results.absolute(), *files):
        records.require_unicode(path)
    contents = [reader.read_bytes(path) for path in files]
    found = tuple(
        reader.read_session(content, label, number)
        for number, (content, label) in enumerate(zip(contents, _labels(files), strict=True), 1)
    )
    baseline, at, version = _chosen_baseline(found, options), utc_now(), __version__
    sources = {s.source: content for s, content in zip(found, contents, strict=True)}
    with imports.new_folder(options.results, name, at) as (final, draft):
        imported = Imported(journal.SCHEMA_VERSION, final.name, name, at, version, baseline, found)
        record = imports.create(draft, imported, sources)
        judgement = judge_record(record)
        record.save(judgement)
        pages = write_pages(record, judgement)
    return Pages(final.absolute(), tuple(final / path.name for path in pages.files), pages.document)


def _name(wanted: str | None, files: Sequence[Path]) -> str:
    from bench_framework.store.importers.sessions import slug

    name = wanted if wanted is not None else slug(files[0].stem)
    if NAMES.fullmatch(name) is None:
        raise UsageError(
            f"{name!r} is no name for a set",
            effect="nothing was imported",
            help="--name takes letters, digits, dots, hyphens and underscores, beginning with a letter or digit",
        )
    return name


def _labels(files: Sequence[Path]) -> list[str]:
    """Names of files; with their folders where two have one name."""
    names = [path.name for path in files]
    return names if len(set(names)) == len(names) else [str(path) for path in files]


def _chosen_baseline(found: Sequence[Session], options: ImportOptions) -> str:
    """The baseline's label. Raises `UsageError`, BX453: it is in no file, or one file was given twice."""
    twice = [digest for digest, count in Counter(s.sha256 for s in found).items() if count > 1]
    if twice:
        names = ", ".join(s.label for s in found if s.sha256 == twice[0])
        raise _wrong(
            f"one file was given twice: {names}", "give each file once: each file is one session"
        )
    known = list(dict.fromkeys(command.label for session in found for command in session.commands))
    if options.baseline is not None and options.baseline not in known:
        raise _wrong(
            f"--baseline {options.baseline!r} is in no file",
            f"the labels are: {', '.join(known[:8])}",
        )
    return options.baseline if options.baseline is not None else known[0]


def _wrong(message: str, help_text: str) -> UsageError:
    return UsageError(message, code="BX453", effect="nothing was imported", help=help_text)
