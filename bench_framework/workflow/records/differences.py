"""Differences of a record from its runs: in the journal, tables, claims and pages."""

import csv
import io
import re
from dataclasses import replace
from typing import Final

from bench_framework.errors import CellError
from bench_framework.execution.hyperfine import parse
from bench_framework.foreign import read_regular
from bench_framework.model.judgement import Claim, Judgement
from bench_framework.model.run import Block
from bench_framework.store import layout
from bench_framework.store.records import Record
from bench_framework.units import counted

_EXPORT: Final = re.compile(rb'^\{"seq":(\d+),"export":(.*)\}$', re.MULTILINE)
MOST_LISTED: Final = 3
"""Number of differing samples, fields of a table or lines of a page that are listed."""
_QUOTED: Final = 60
"""Number of quoted characters around a difference."""


def journal_differences(record: Record) -> list[str]:
    """Return a changed line of the journal, and the blocks that differ from hyperfine's output.

    Whoever changes measured times must change both files in the same way, and every later line.
    """
    contents = record.contents
    timed = [block for block in contents.blocks if block.wall_s]
    lines = []
    if contents.changed_line is not None:
        lines.append(f"{layout.JOURNAL}: line {contents.changed_line} was changed")
    raw = f"raw/{record.raw.hyperfine.name}"
    try:
        text = read_regular(record.raw.hyperfine) if timed else b""
    except OSError as error:
        return [*lines, f"{raw}: {error.strerror}"]
    exports: dict[int, list[bytes]] = {}
    for entry in _EXPORT.finditer(text):  # a number occurs again if a run was interrupted
        exports.setdefault(int(entry[1]), []).append(entry[2])
    wrong = [b.seq for b in timed if not any(_is_of(b, e) for e in exports.get(b.seq, ()))]
    if wrong:
        some = f"{counted(len(wrong), 'sample')} ({', '.join(map(str, wrong[:MOST_LISTED]))} …)"
        lines.append(f"{layout.JOURNAL}: differs from {raw} in {some}")
    return lines


def _is_of(block: Block, export: bytes) -> bool:
    try:
        result = parse(export)
    except CellError:
        return False
    if block.peak_rss_source != "hyperfine":
        del result["peak_rss_bytes"], result["peak_rss_source"]
    return all(getattr(block, name) == value for name, value in result.items())


def table_differences(actual: str, expected: str) -> list[str]:
    """Return the first differing fields of a table, by row and column.

    Later versions only append columns, so missing columns at the end are not a difference.
    """
    if actual == expected:
        return []
    ours, theirs = ([*csv.reader(io.StringIO(text, newline=""))] for text in (actual, expected))
    header, full = (rows[0] if rows else [] for rows in (ours, theirs))
    if not set(header) <= set(full):
        return [f"unknown columns: {', '.join(n for n in header if n not in full)}"]
    columns = [full.index(name) for name in header]
    theirs = [[row[column] for column in columns] for row in theirs]
    lines = [
        f"row {number}, {name}: expected {b!r}, found {a!r}"
        for number, (left, right) in enumerate(zip(ours, theirs, strict=False), 1)
        for name, a, b in zip(header, left, right, strict=False)
        if a != b
    ]
    if len(ours) != len(theirs) or any(len(row) != len(header) for row in ours):
        rows = f"expected {len(theirs) - 1} rows, found {len(ours) - 1}"
        lines.insert(0, f"{rows}, or rows of different length")
    more = [f"and {len(lines) - MOST_LISTED} more fields"] if len(lines) > MOST_LISTED else []
    return [*lines[:MOST_LISTED], *more]


def line_differences(actual: str, expected: str) -> list[str]:
    """Return the first lines in which a page differs from the one that is rendered again."""
    if actual == expected:
        return []
    ours, right = actual.split("\n"), expected.split("\n")
    differing = [n for n, (a, b) in enumerate(zip(ours, right, strict=False)) if a != b]
    lines = [
        f"line {n + 1}: expected {b}, found {a}"
        for n in differing[: MOST_LISTED if len(ours) == len(right) else 1]
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
    before, after = ({_content(c): c for c in claims} for claims in (saved, again.claims))
    lines = [
        f"{claim.id}: does not follow from {_source_of(claim, source)}: {claim.text}"
        for content, claim in before.items()
        if content not in after
    ]
    lines += [
        f"recomputed from {_source_of(claim, source)}: {claim.text}"
        for content, claim in after.items()
        if content not in before
    ]
    return lines


def _source_of(claim: Claim, source: str) -> str:
    """Return where the figures of a claim come from."""
    return "its profile" if claim.kind.startswith("profile") else source


def _content(claim: Claim) -> str:
    """Return all of a claim except its number, which shifts where another claim is added."""
    return repr((replace(claim, id="", values={}), sorted(claim.values.items())))
