"""Verification of records and pages: check file hashes, judge the runs again, render the pages again."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import RecordError, UsageError
from bench_framework.workflow import corrupt_records, versions
from bench_framework.workflow.pages import (
    PAGE,
    carries_runs,
    embedded_runs,
    judge_record,
    judged,
    own_templates,
    render_files,
    report_data,
    template_texts,
)

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim, Judgement
    from bench_framework.store.journal import Contents
    from bench_framework.store.records import Record
    from bench_framework.store.wire import Judged

JOURNAL: Final = "the journal"
IN_PAGE: Final = "the runs in the page"
MOST_FIELDS: Final = 3
"""Differing fields of a table, or lines of a page, that are named one by one."""
_QUOTED: Final = 60
"""Characters around a difference that are quoted."""


@dataclass(frozen=True, slots=True)
class Verification:
    """Differences between a record or page and what follows from its runs; none if it is unchanged.

    Attributes:
        record: its folder, or the file of a page.
        files: number of files that were checked.
        claims: number of claims that were recomputed.
        differences: one line each.
        source: where the runs were read: ``runs.csv``, unless that is of an earlier version or cannot be read.
        notes: other causes that differences may have than a change by someone, or what was not checked.
    """

    record: Path
    files: int
    claims: int
    differences: tuple[str, ...]
    source: str = JOURNAL
    notes: tuple[str, ...] = ()


def verify(results: Path, name: str) -> Verification:
    """Verify a record; or a page outside of any record, from the runs that it contains.

    Raises:
        UsageError: BX101, there is no such record or page.
        RecordError: it cannot be read at all; BX414, the page contains no runs.
    """
    path = Path(name)
    if path.suffix == ".html" and path.is_file() and not _lies_in_record(path):
        return verify_page(path)
    return verify_record(results, name)


def _lies_in_record(page: Path) -> bool:
    from bench_framework.store.finding import is_record

    return page.name == PAGE and is_record(page.absolute().parent)


def verify_page(path: Path) -> Verification:
    """Judge the runs in a page again, render it again, and compare it byte by byte.

    Raises:
        UsageError: BX101, it cannot be read. RecordError: BX414, it contains no runs.
    """
    from bench_framework.store import embedded
    from bench_framework.workflow.embedded_runs import judged_again, read_page, rendered_again

    page = read_page(path)
    try:
        found = embedded.read(page)
        judgement = judged_again(found)
        differences = line_differences(page, rendered_again(found, judgement))
    except UsageError as error:
        if error.code == "BX414":
            raise
        return Verification(path, 1, 0, (f"{IN_PAGE}: {error.message}",), IN_PAGE)
    notes = versions.explained(versions.rendered_elsewhere(path) if differences else None)
    if found.frame.templates:
        notes += (
            "it was rendered with custom templates, which decide what it shows besides the results",
        )
    return Verification(path, 1, len(judgement.claims), tuple(differences), IN_PAGE, notes)


def verify_record(results: Path, name: str) -> Verification:
    """Compare files with the manifest and tables with the journal, judge ``runs.csv`` again, render again.

    Raises:
        RecordError: it is not judged yet, or cannot be read at all.
    """
    from bench_framework.store import finding, imports, layout, manifest, records

    folder = finding.resolve(results, name)
    listed = manifest.read_manifest(folder)
    found = [f"{mismatch.path}: {mismatch.what}" for mismatch in manifest.check_manifest(folder)]
    if not records.holds_its_plan(folder):
        found.append(f"{layout.PLAN}: not the plan that {layout.JOURNAL} begins with")
    try:
        with imports.open_record(folder) as record, corrupt_records.blamed(folder):
            found += imports.source_differences(record)
            kept = _saved(record)
            saved = kept.judgement
            again, more, source = _judged(record, saved)
            pages = _pages(record, saved)
            more = [*_tables(record, saved), *more]
            notes = versions.explained(
                versions.judged_elsewhere(kept.benchctl) if more else None,
                versions.rendered_elsewhere(folder / PAGE) if pages else None,
            )
    except (RecordError, OSError) as error:
        if not found:
            raise
        # What was changed is known, and is what the user asks for: nothing can be made again from it.
        return Verification(folder, len(listed), 0, (*found, str(error)))
    differences = tuple(dict.fromkeys((*found, *more, *pages)))
    return Verification(folder, len(listed), len(again.claims), differences, source, notes)


def _saved(record: Record) -> Judged:
    saved = record.judged()
    if saved is None:
        raise RecordError(
            "the record is not judged yet", code="BX413", help="`benchctl run` finishes it"
        )
    return saved


def _tables(record: Record, saved: Judgement) -> list[str]:
    """Fields of the tables that do not follow from journal and judgement."""
    from bench_framework.store import tables
    from bench_framework.store.rows import Source

    found: list[str] = []
    for name, wanted in tables.table_texts(Source(record.plan, record.contents, saved)).items():
        path = record.path / f"{name}.csv"
        if path.is_file():
            found += [f"{path.name}: {line}" for line in table_differences(_text(path), wanted)]
    return found


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


def table_differences(there: str, wanted: str) -> list[str]:
    """The first fields in which a table differs from what it should be, by row and column.

    Columns are only ever appended: those that an earlier version did not write yet are no difference.
    """
    if there == wanted:
        return []
    ours, theirs = ([*csv.reader(io.StringIO(text, newline=""))] for text in (there, wanted))
    header, full = (rows[0] if rows else [] for rows in (ours, theirs))
    if not set(header) <= set(full):
        return [
            f"the columns {', '.join(n for n in header if n not in full)} are none of this table's"
        ]
    places = [full.index(name) for name in header]
    theirs = [[row[place] for place in places] for row in theirs]
    lines = [
        f"row {number}, {name} is {a!r} and not {b!r}, as the journal has it"
        for number, (own, right) in enumerate(zip(ours, theirs, strict=False), 1)
        for name, a, b in zip(header, own, right, strict=False)
        if a != b
    ]
    if len(ours) != len(theirs) or any(len(row) != len(header) for row in ours):
        lines.insert(
            0, f"{len(ours) - 1} rows instead of {len(theirs) - 1}, or rows of another length"
        )
    more = [f"and {len(lines) - MOST_FIELDS} more fields"] if len(lines) > MOST_FIELDS else []
    return [*lines[:MOST_FIELDS], *more]


def _judged(record: Record, saved: Judgement) -> tuple[Judgement, list[str], str]:
    """What the runs say, judged again; the claims that do not follow from them; and where the runs were read."""
    from bench_framework.store import layout
    from bench_framework.store.profiles import read_profiles

    contents, lines = _from_table(record)
    if contents is None:
        again = judge_record(record)
        source = JOURNAL if record.contents.imported is None else layout.IMPORTED
    else:
        again = judged(record.plan, contents, read_profiles(record.path, record.plan))
        source = layout.RUNS
    differing = claim_differences(saved.claims, again, source)
    if not differing and saved != again:
        differing = [f"the judgement does not follow from {source}"]
    return again, [*lines, *(f"{layout.CLAIMS}: {line}" for line in differing)], source


def _from_table(record: Record) -> tuple[Contents | None, list[str]]:
    """The record with the blocks that ``runs.csv`` holds; none where it holds none that can be read."""
    from bench_framework.store import layout, run_table

    path = record.path / layout.RUNS
    if record.contents.imported is not None:
        return None, []
    if not path.is_file() or not run_table.is_whole(text := _text(path)):
        return None, []
    try:
        table = run_table.read(text, record.plan, record.contents.builds)
    except RecordError as error:
        return None, [error.message]
    return replace(
        record.contents, blocks=list(table.blocks), observations=list(table.observations)
    ), []


def _pages(record: Record, judgement: Judgement) -> list[str]:
    """Pages that are not what the judgement renders to. Those that were never written are no difference."""
    from bench_framework.features.document import build_document

    pages = (PAGE, "report.md", "figures", "profiles")
    if not any((record.path / name).exists() for name in pages):
        return []
    data = report_data(record, judgement)
    own = own_templates(record)
    runs = None
    if carries_runs(record):
        runs = embedded_runs(data, record.contents, template_texts(own) if own else {})
    made = render_files(data, build_document(data), runs=runs, own=own)
    return [
        f"{name}: {line}"
        for name, text in made.items()
        if (record.path / name).is_file() and (record.path / name).read_bytes() != text.encode()
        for line in line_differences(_text(record.path / name), text)
    ]


def line_differences(there: str, wanted: str) -> list[str]:
    """Return the first lines in which a page differs from the one that is rendered again."""
    if there == wanted:
        return []
    ours, right = there.split("\n"), wanted.split("\n")
    differing = [n for n, (a, b) in enumerate(zip(ours, right, strict=False)) if a != b]
    lines = [
        f"line {n + 1}: expected {b}, found {a}"
        for n in differing[: MOST_FIELDS if len(ours) == len(right) else 1]
        for a, b in [_around_difference(ours[n], right[n])]
    ]
    if len(ours) != len(right):
        return [*lines, f"expected {len(right)} lines, found {len(ours)}"]
    if len(differing) > len(lines):
        lines.append(f"and {len(differing) - len(lines)} more lines")
    return lines or ["differs in its encoding"]


def _around_difference(one: str, other: str) -> tuple[str, str]:
    """Quote two texts from shortly before the first character in which they differ."""
    same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    start = max(0, same - _QUOTED // 2)
    first, second = (f"“{text[start : start + _QUOTED]}”" for text in (one, other))
    return first, second


def claim_differences(saved: tuple[Claim, ...], again: Judgement, source: str) -> list[str]:
    """Return the saved claims that do not follow from the runs, and those that follow and are missing."""
    kept, made = ({_content(claim): claim for claim in claims} for claims in (saved, again.claims))
    lines = [
        f"{claim.id}: does not follow from {_made_from(claim, source)}: {claim.text}"
        for content, claim in kept.items()
        if content not in made
    ]
    lines += [
        f"{_made_from(claim, source)} says instead: {claim.text}"
        for content, claim in made.items()
        if content not in kept
    ]
    return lines


def _made_from(claim: Claim, source: str) -> str:
    """Return where the figures of a claim come from."""
    return "its profile" if claim.kind.startswith("profile") else source


def _content(claim: Claim) -> str:
    """Return all of a claim except its number, which shifts where another claim is added."""
    return repr((replace(claim, id="", values={}), sorted(claim.values.items())))
