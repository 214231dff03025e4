"""Integrity of records: changed files, differences of a record from its runs, and signatures with an SSH key.

ssh-keygen makes and checks signatures. The digest of the measured files is signed, so a report can be rendered
again without a new signature.
"""

import contextlib
import csv
import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench_framework.errors import BenchError, CellError, RecordError, UsageError
from bench_framework.execution import process
from bench_framework.execution.hyperfine import parse
from bench_framework.execution.machine import host
from bench_framework.execution.process import Captured
from bench_framework.foreign import expanded_home, parse_json, read_input, read_regular
from bench_framework.model.facts import Claim
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.plan import NO_PART_OF_DIGEST
from bench_framework.model.record.run import Block
from bench_framework.model.result.judgement import Judgement
from bench_framework.store import finding, journal, layout, manifest, wire
from bench_framework.store.records import Record
from bench_framework.text.reasons import phrase_of

MOST_NAMED: Final = 5
_NAMESPACE: Final = "benchctl"
"""Namespace of the signatures, and the name of every signer in the list that ssh-keygen reads."""
_KEY: Final = re.compile(r"(ssh|ecdsa|sk)-\S+ \S+")
_MOST_BYTES: Final = 1 << 20
_EXPORT: Final = re.compile(rb'^\{"seq":(\d+),"export":(.*)\}$', re.MULTILINE)
MOST_LISTED: Final = 3
"""Number of differing samples, fields of a table or lines of a page that are listed."""
_QUOTED: Final = 60
"""Number of quoted characters around a difference."""


def change_warning(results: Path, name: str) -> str | None:
    """Return the warning BX415 if files of a record were changed, for a command that uses it.

    `None` if nothing was changed, if the record is unfinished and so has no manifest, or if another
    file cannot be read, which the command reports itself.
    """
    try:
        folder = finding.resolve(results, name)
        # Commands do not read the manifest themselves, and `report` writes it again.
        if (folder / layout.MANIFEST).exists():
            manifest.read_manifest(folder)
    except RecordError as error:
        return phrase_of(PhraseCode.CHANGES_UNKNOWN, error.message)
    except (BenchError, OSError):
        return None
    try:
        mismatches = manifest.check_manifest(folder)
    except (BenchError, OSError):
        return None
    if not mismatches:
        return None
    names = ", ".join(f"{mismatch.path} ({mismatch.what})" for mismatch in mismatches[:MOST_NAMED])
    return phrase_of(PhraseCode.RECORD_CHANGED, str(folder), names)


def has_its_plan(folder: Path) -> bool:
    """Return whether ``plan.json`` matches the digest in the journal. A record without rounds has no plan.

    The text is compared, not the parsed plan, because a later version may add fields to plans.
    """
    if finding.kind_of(folder) is not None:
        return True
    try:
        content = parse_json(read_regular(folder / layout.PLAN))
        header = journal.read_header(folder / layout.JOURNAL)
    except (OSError, ValueError, RecordError):
        return False
    if not isinstance(content, dict):
        return False
    text = wire.indented(content | {**NO_PART_OF_DIGEST})
    return hashlib.sha256(text.encode()).hexdigest() == header.plan_sha256


@contextlib.contextmanager
def corruption_reported(folder: Path) -> Iterator[None]:
    """Turn an unexpected exception in the block into a `RecordError` if files of the record changed.

    An edited file can be readable and still name a cell, an input or a build that does not exist. The
    files are compared with the manifest, and the plan with the first line of the journal. If nothing
    changed, the exception is raised unchanged.

    Raises `RecordError` (BX411): with the names of the changed files.
    """
    try:
        yield
    except (BenchError, OSError):
        raise
    except Exception as error:
        try:
            changed = [mismatch.path for mismatch in manifest.check_manifest(folder)]
        except (RecordError, OSError):  # there is no manifest
            changed = []
        if layout.PLAN not in changed and not has_its_plan(folder):
            changed.append(layout.PLAN)
        if not changed:
            raise
        cause = ("cause", f"{type(error).__name__}: {error}")
        details = (*(("changed", name) for name in changed[:MOST_NAMED]), cause)
        raise RecordError("BX411.corrupted", details=details, folder=folder) from error


def sign_record(folder: Path, key: Path) -> None:
    """Sign the digest of the measured files of a finished record. Raises the errors of `signature_of`."""
    digest = manifest.digest_of_record(folder)
    layout.write_whole(folder / layout.SIGNATURE, signature_of(digest, key))


def signature_of(digest: str, key: Path) -> str:
    """Return a signature with a private key, or with a public one whose private key ssh-agent has.

    Raises `UsageError` (BX115): the key is unusable; `MachineError` (BX231): ssh-keygen is missing.
    """
    done = _ssh_keygen(digest, "sign", "-f", str(expanded_home(key).absolute()))
    if done.ok:
        return done.stdout
    cause = (("cause", done.stderr.strip() or done.finished.how),)
    raise UsageError("BX115.cannot-sign", details=cause, key=key)


def check_signature(folder: Path, digest: str, keys: Path) -> tuple[bool, str]:
    """Return whether a record is signed with one of the public keys in a file, and a line about it.

    Raises `UsageError` (BX115): no key can be read; `MachineError` (BX231): ssh-keygen is missing.
    """
    file = expanded_home(keys)
    try:
        text = read_input(file, _MOST_BYTES).decode(errors="replace")
    except ValueError as error:
        raise UsageError("BX115.not-usable", file=file, fault=error) from error
    # One line is what ssh and editors show as one: `splitlines` also ends a line at U+2028 or FF.
    lines = (line.rstrip("\r") for line in text.split("\n"))
    readable = (line for line in lines if line.replace("\t", " ").isprintable())
    signers = [f"{_NAMESPACE} {line}\n" for line in readable if _KEY.match(line)]
    if not signers:
        raise UsageError("BX115.no-public-key", keys=keys)
    signature = (folder / layout.SIGNATURE).absolute()
    if not signature.is_file():
        return False, phrase_of(PhraseCode.NOT_SIGNED, layout.SIGNATURE)
    with process.scratch_folder() as scratch:
        listed = Path(scratch, "signers")
        listed.write_text("".join(signers), encoding="utf-8")
        options = ("-f", str(listed), "-I", _NAMESPACE, "-s", str(signature))
        done = _ssh_keygen(digest, "verify", *options)
    if done.ok:
        return True, f"{layout.SIGNATURE}: {done.stdout.strip()}"
    return False, phrase_of(PhraseCode.NO_SIGNATURE, layout.SIGNATURE, str(keys))


def _ssh_keygen(digest: str, task: str, *options: str) -> Captured:
    with process.Launcher() as launcher, process.scratch_folder() as folder:
        message = Path(folder, "digest")
        message.write_text(digest, encoding="ascii")
        command = ("ssh-keygen", "-Y", task, "-n", _NAMESPACE, *options)
        return launcher.capture(command, host.environment(), stdin=str(message))


def journal_differences(record: Record) -> list[str]:
    """Return a changed line of the journal, and the blocks that differ from hyperfine's output.

    Whoever changes measured times must change both files in the same way, and every later line.
    """
    contents = record.contents
    timed = [block for block in contents.blocks if block.wall_s]
    changed = contents.changed_line
    lines = list[str]()
    if changed is not None:
        lines.append(phrase_of(PhraseCode.LINE_CHANGED, layout.JOURNAL, changed))
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
        parts = len(wrong), ", ".join(map(str, wrong[:MOST_LISTED]))
        lines.append(phrase_of(PhraseCode.SAMPLES_DIFFER, layout.JOURNAL, raw, *parts))
    return lines


def _is_of(block: Block, export: bytes) -> bool:
    try:
        result = parse(export)
    except CellError:
        return False
    if block.peak_rss_source != "hyperfine":
        del result["peak_rss_bytes"], result["peak_rss_source"]
    if block.peak_rss_source == "server":  # CPU time and memory are not those of the timed client
        del result["user_s"], result["sys_s"]
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
        unknown = ", ".join(name for name in header if name not in full)
        return [phrase_of(PhraseCode.UNKNOWN_COLUMNS, unknown)]
    columns = [full.index(name) for name in header]
    theirs = [[row[column] for column in columns] for row in theirs]
    lines = [
        _expected(Phrase(PhraseCode.ROW_AND_COLUMN, (number, name)), repr(b), repr(a))
        for number, (left, right) in enumerate(zip(ours, theirs, strict=False), 1)
        for name, a, b in zip(header, left, right, strict=False)
        if a != b
    ]
    if len(ours) != len(theirs) or any(len(row) != len(header) for row in ours):
        numbers = len(theirs) - 1, len(ours) - 1
        lines.insert(0, phrase_of(PhraseCode.EXPECTED_ROWS, *numbers))
    if (rest := len(lines) - MOST_LISTED) > 0:
        return [*lines[:MOST_LISTED], phrase_of(PhraseCode.MORE_FIELDS, rest)]
    return lines


def _expected(place: Phrase, expected: str, actual: str) -> str:
    return phrase_of(PhraseCode.EXPECTED, place, expected, actual)


def line_differences(actual: str, expected: str) -> list[str]:
    """Return the first lines in which a page differs from the one that is rendered again."""
    if actual == expected:
        return []
    ours, right = actual.split("\n"), expected.split("\n")
    differing = [n for n, (a, b) in enumerate(zip(ours, right, strict=False)) if a != b]
    lines = []
    for n in differing[: MOST_LISTED if len(ours) == len(right) else 1]:
        a, b = _around_difference(ours[n], right[n])
        lines.append(_expected(Phrase(PhraseCode.OF_LINE, n + 1), b, a))
    if len(ours) != len(right):
        return [*lines, phrase_of(PhraseCode.EXPECTED_LINES, len(right), len(ours))]
    if len(differing) > len(lines):
        lines.append(phrase_of(PhraseCode.MORE_LINES, len(differing) - len(lines)))
    return lines or [phrase_of(PhraseCode.OTHER_ENCODING)]


def _around_difference(one: str, other: str) -> tuple[str, str]:
    """Quote two texts from shortly before the first character in which they differ."""
    same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    start = max(0, same - _QUOTED // 2)
    first, second = (f"“{text[start : start + _QUOTED]}”" for text in (one, other))
    return first, second


def claim_differences(saved: tuple[Claim, ...], again: Judgement, source: str) -> list[str]:
    """Return the saved claims that do not follow from the runs, and those that follow and are missing."""
    # The number of a claim is left out, because it shifts where another claim is added.
    before, after = (
        {repr(replace(c, id="")): c for c in claims} for claims in (saved, again.claims)
    )
    wrong = [claim for content, claim in before.items() if content not in after]
    missing = [claim for content, claim in after.items() if content not in before]
    return [
        *(
            phrase_of(PhraseCode.DOES_NOT_FOLLOW, c.id, _source_of(c, source), c.text)
            for c in wrong
        ),
        *(phrase_of(PhraseCode.RECOMPUTED, _source_of(c, source), c.text) for c in missing),
    ]


def _source_of(claim: Claim, source: str) -> str | Phrase:
    return Phrase(PhraseCode.ITS_PROFILE) if claim.kind.startswith("profile") else source
