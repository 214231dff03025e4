"""Whether a record still is what benchctl wrote, and still says what follows from its journal."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench_framework.errors import RecordError
from bench_framework.workflow.pages import judge_record, render_files, report_data

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.model.judgement import Claim, Judgement
    from bench_framework.store.records import Record


@dataclass(frozen=True, slots=True)
class Verification:
    """What differs; nothing if all is as it was.

    Attributes:
        record: its folder.
        files: how many the manifest lists.
        claims: how many were made again from the journal.
        differences: one line each.
    """

    record: Path
    files: int
    claims: int
    differences: tuple[str, ...]


def verify_record(results: Path, name: str) -> Verification:
    """Compare every file with the manifest, judge the journal again, and render the report again.

    Raises:
        RecordError: it is not judged yet, or cannot be read at all.
    """
    from bench_framework.store import manifest, records  # noqa: PLC0415 -- pydantic
    from bench_framework.workflow import importing  # noqa: PLC0415 -- it returns what this module defines

    folder = records.resolve(results, name)
    if records.is_imported(folder):
        return importing.verify_imported(folder)
    listed = manifest.read_manifest(folder)
    found = [f"{mismatch.path}: {mismatch.what}" for mismatch in manifest.check_manifest(folder)]
    with records.Record.open(folder) as record:
        saved = record.judgement()
        if saved is None:
            raise RecordError("the record is not judged yet", code="BX413", help="`benchctl run` finishes it")
        again = judge_record(record)
        found += _claims(saved, again)
        found += _pages(record, saved)
    return Verification(folder, len(listed), len(again.claims), tuple(found))


def _claims(saved: Judgement, again: Judgement) -> list[str]:
    """Claims that do not follow from the journal."""
    kept, made = (Counter(_content(claim) for claim in judgement.claims) for judgement in (saved, again))
    differences = [f"claims.json: does not follow from the journal: {text}" for *_, text in kept - made]
    differences += [f"claims.json: lacks what follows from the journal: {text}" for *_, text in made - kept]
    if not differences and saved != again:
        differences.append("claims.json: the judgement does not follow from the journal")
    return differences


def _content(claim: Claim) -> tuple[object, ...]:
    """What a claim says, without its number: one that is added shifts all that follow."""
    return (repr(replace(claim, id="", values={}, text="")), tuple(sorted(claim.values.items())), claim.text)


def _pages(record: Record, judgement: Judgement) -> list[str]:
    """Pages that are not what the judgement renders to. Those that were never written are no difference."""
    from bench_framework.report import build  # noqa: PLC0415 -- only for pages

    data = report_data(record, judgement)
    made = render_files(data, build(data))
    return [
        f"{name}: not what the claims render to"
        for name, text in made.items()
        if (record.path / name).is_file() and (record.path / name).read_bytes() != text.encode()
    ]
