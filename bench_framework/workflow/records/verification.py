"""Verification of records and pages: check file hashes, judge the runs again, render the pages again.

Other versions of benchctl can have other statistics and texts. A difference is then not a sign of
damage; a note in the result says so.
"""

import gzip
import re
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench_framework.errors import BenchError, RecordError, UsageError
from bench_framework.features.document import build_document
from bench_framework.foreign import parse_json
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.result.judgement import Judgement
from bench_framework.store import embedded, finding, layout, manifest, records, run_table, tables
from bench_framework.store.finding import is_record
from bench_framework.store.journal import Contents
from bench_framework.store.judged import Judged
from bench_framework.store.records import Record, read_profiles
from bench_framework.store.source import Source
from bench_framework.text.reasons import phrase_of
from bench_framework.version import __version__
from bench_framework.workflow import pages
from bench_framework.workflow.records import embedded_runs, integrity
from bench_framework.workflow.run_options import DIGEST

JOURNAL: Final = phrase_of(PhraseCode.THE_JOURNAL)
IN_PAGE: Final = phrase_of(PhraseCode.RUNS_IN_PAGE)
_ORIGIN: Final = re.compile(r'<script type="application/json" id="env">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Verification:
    """Differences between a record or page and what follows from its runs; none if it is unchanged."""

    record: Path
    """Its folder, or the file of a page."""
    files: int
    """Number of files whose digests were compared."""
    claims: int
    """Number of claims that were computed again."""
    differences: tuple[str, ...]
    """One line each."""
    source: str = JOURNAL
    """Where the runs were read: ``runs.csv``, unless that cannot be read."""
    digest: str | None = None
    """Digest of the measured files of a record, as `benchctl run -v` prints it; null for a page."""
    notes: tuple[str, ...] = ()
    """Causes of differences other than changed files, or what was not checked."""


def verify(
    results: Path, name: str, digest: str | None = None, signer: Path | None = None
) -> Verification:
    """Verify a record; or a page or published report, from the runs that the page contains.

    `digest` is the expected digest of the measured files, or at least its first 16 digits, and
    `signer` a file with SSH public keys, one of which must have signed it.

    Raises:
        UsageError: BX101, there is no such record or page; BX104, the digest is invalid, or it or the
            signer is given for a page; BX115, the file contains no public key.
        RecordError: it cannot be read at all; BX414, the page contains no runs.
        MachineError: BX231, ssh-keygen is missing.
    """
    path = Path(name)
    in_record = path.name == pages.PAGE and is_record(path.absolute().parent)
    is_page = embedded_runs.is_published(path) or (
        path.suffix == ".html" and path.is_file() and not in_record
    )
    if (digest is not None or signer is not None) and is_page:
        raise UsageError("BX104.digest-of-page", path=path)
    if digest is not None and not DIGEST.fullmatch(digest):
        raise UsageError("BX104.not-a-digest", digest=digest)
    if is_page:
        return verify_page(path)
    result = verify_record(results, name)
    measured = result.digest or ""
    notes, differences = [*result.notes], [*result.differences]
    if signer is not None:
        signed, line = integrity.check_signature(result.record, measured, signer)
        if signed:
            notes.append(line)
        else:
            differences.insert(0, line)
    if digest is not None and not measured.startswith(digest.lower()):
        line = phrase_of(PhraseCode.EXPECTED, "digest", digest, measured)
        differences.insert(0, line)
    return replace(result, notes=tuple(notes), differences=tuple(differences))


def verify_page(path: Path) -> Verification:
    """Recompute the results of a page from its runs, render it again, and compare it byte by byte.

    The path may be the folder of a published report, whose other files are compared too.

    Raises `UsageError` (BX101): it cannot be read. RecordError: BX414, it contains no runs.
    """
    page = path / pages.PAGE if path.is_dir() else path
    text = embedded_runs.read_page(page)
    try:
        content = embedded.read(text)
        judgement = embedded_runs.judge_embedded(content)
        if path.is_dir():
            texts = embedded_runs.published_files(content, judgement)
            differences = [
                f"{name}: {line}"
                for name, expected in texts.items()
                for line in _published_differences(path, name, expected)
            ]
        else:
            # The page can be checked without its appendix.
            texts = {pages.PAGE: embedded_runs.render_embedded(content, judgement)[pages.PAGE]}
            differences = integrity.line_differences(text, texts[pages.PAGE])
    except UsageError as error:
        if error.code == "BX414":
            raise
        return Verification(path, 1, 0, (f"{IN_PAGE}: {error.message}",), IN_PAGE)
    except (BenchError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 -- an edited plan can name what does not exist
        cause = f"{type(error).__name__}: {error}"
        line = phrase_of(PhraseCode.NOT_RENDERED, IN_PAGE, cause)
        return Verification(path, 1, 0, (line,), IN_PAGE)
    notes = version_notes(rendered=rendering_version(page) if differences else __version__)
    if content.frame.templates:
        notes += (phrase_of(PhraseCode.CUSTOM_TEMPLATES),)
    claims = len(judgement.claims)
    return Verification(path, len(texts), claims, tuple(differences), IN_PAGE, notes=notes)


def _published_differences(folder: Path, name: str, expected: str) -> list[str]:
    """Return the differing lines of a file of a published report, or that it cannot be read."""
    path = folder / name
    try:
        if name == embedded_runs.RUNS_PACKED:
            with gzip.open(path) as file:  # not more than expected, in case it is very large
                actual = file.read(len(expected.encode()) + 1).decode(errors="replace")
        else:
            actual = _text(path)
    except (OSError, EOFError, zlib.error) as error:
        cause = getattr(error, "strerror", None) or str(error)
        return [phrase_of(FaultCode.FILE_UNREADABLE, cause)]
    compare = integrity.table_differences if ".csv" in path.suffixes else integrity.line_differences
    return compare(actual, expected)


def verify_record(results: Path, name: str) -> Verification:
    """Check files against the manifest and tables against the journal, recompute results and pages.

    Raises `RecordError`: the record has no results yet, or cannot be read.
    """
    folder = finding.resolve(results, name)
    listed = manifest.read_manifest(folder)
    digest = manifest.digest_of(listed)
    differences = [f"{item.path}: {item.what}" for item in manifest.check_manifest(folder)]
    if not integrity.has_its_plan(folder):
        differences.append(phrase_of(PhraseCode.PLAN_DIFFERS, layout.PLAN, layout.JOURNAL))
    try:
        with records.open_record(folder) as record, integrity.corruption_reported(folder):
            if (figures := record.contents.figures) is not None:
                differences += figures.differences(record.path)
            differences += integrity.journal_differences(record)
            stored = _stored(record)
            saved = stored.judgement
            again, more, source = _recompute(record, saved)
            of_pages = _pages(record, saved)
            more = [*_tables(record, saved), *more]
            notes = version_notes(
                stored.benchctl if more else __version__,
                rendering_version(folder / pages.PAGE) if of_pages else __version__,
            )
    except (RecordError, OSError) as error:
        if not differences:
            raise
        # The changed files are known, but the results cannot be recomputed from them.
        return Verification(folder, len(listed), 0, (*differences, str(error)), digest=digest)
    unique = tuple(dict.fromkeys((*differences, *more, *of_pages)))
    return Verification(folder, len(listed), len(again.claims), unique, source, digest, notes)


def _stored(record: Record) -> Judged:
    if (saved := record.judged()) is None:
        raise RecordError("BX413.no-results")
    return saved


def _tables(record: Record, saved: Judgement) -> list[str]:
    texts = tables.table_texts(Source(record.plan, record.contents, saved))
    return [
        f"{name}.csv: {line}"
        for name, expected in texts.items()
        if (record.path / f"{name}.csv").is_file()
        for line in integrity.table_differences(_text(record.path / f"{name}.csv"), expected)
    ]


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


def _recompute(record: Record, saved: Judgement) -> tuple[Judgement, list[str], str]:
    """Return the recomputed judgement, the differing claims, and the source of the runs."""
    contents, lines = _from_table(record)
    if contents is None:
        again = pages.judge_record(record)
        figures = record.contents.figures
        source = JOURNAL if figures is None else figures.file
    else:
        again = pages.judge_contents(record.plan, contents, read_profiles(record.path, record.plan))
        source = layout.RUNS
    differing = integrity.claim_differences(saved.claims, again, source)
    if not differing and saved != again:
        differing = [phrase_of(PhraseCode.RESULTS_DIFFER, source)]
    return again, [*lines, *(f"{layout.CLAIMS}: {line}" for line in differing)], source


def _from_table(record: Record) -> tuple[Contents | None, list[str]]:
    """Return the record with the blocks of ``runs.csv``, or `None` and the reason if it is unreadable."""
    path = record.path / layout.RUNS
    if record.contents.figures is not None or not path.is_file():
        return None, []
    try:
        blocks, observations = run_table.read(_text(path), record.plan, record.contents.builds)
    except RecordError as error:
        return None, [error.message]
    return replace(record.contents, blocks=blocks, observations=observations), []


def _pages(record: Record, judgement: Judgement) -> list[str]:
    """Return the differing lines of the pages, except of pages that were never written."""
    names = (pages.PAGE, *(f"{place}.md" for place in pages.PLACES), "figures", "profiles")
    if not any((record.path / name).exists() for name in names):
        return []
    data = pages.report_data(record, judgement)
    templates = pages.custom_templates(record)
    runs = None
    if pages.contains_runs(record):
        runs = pages.embedded_runs(data, pages.template_texts(templates))
    files = pages.render_files(data, build_document(data), runs=runs, templates=templates)
    return [
        f"{name}: {line}"
        for name, text in files.items()
        if (record.path / name).is_file() and (record.path / name).read_bytes() != text.encode()
        for line in integrity.line_differences(_text(record.path / name), text)
    ]


def rendering_version(page: Path) -> object:
    """Return the version that rendered a page, this one if it cannot be read, "" if unknown."""
    try:
        origin = _ORIGIN.search(page.read_text(encoding="utf-8"))
        return parse_json(origin[1])["rendered_by"] if origin else ""
    except (OSError, ValueError, LookupError, TypeError):
        return __version__


def version_notes(judged: str = __version__, rendered: object = __version__) -> tuple[str, ...]:
    """Return a note on each version of benchctl other than this, and their effect on differences.

    The versions are those that computed the results and rendered the page, "" if unknown.
    """
    notes = []
    for version, code in ((judged, PhraseCode.COMPUTED_BY), (rendered, PhraseCode.RENDERED_BY)):
        if version != __version__:
            program = Phrase(PhraseCode.UNKNOWN_VERSION)
            if version:
                program = Phrase(PhraseCode.VERSION, str(version))
            notes.append(phrase_of(code, program, __version__))
    if notes:
        notes.append(phrase_of(PhraseCode.OTHER_VERSIONS))
    return tuple(notes)
