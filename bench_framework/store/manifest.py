"""``manifest.json``, with the digest of every file of a record and the schema version."""

import hashlib
import json
import operator
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from bench_framework.errors import RecordError
from bench_framework.foreign import is_below, parse_json, read_regular, sha256_of
from bench_framework.model.faults import FaultCode
from bench_framework.registry import registry
from bench_framework.store import layout
from bench_framework.store.wire import SCHEMA_VERSION, require_version
from bench_framework.text.reasons import phrase_of

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_MEASURED: Final = frozenset(
    {layout.JOURNAL, layout.PLAN, layout.SCENARIO, layout.TUNING, layout.ENV}
)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A file that differs from the manifest, or an entry of the folder that is no regular file."""

    path: str
    what: Literal["changed", "missing", "unlisted", "no regular file"]


def write_manifest(folder: Path, renewed: Collection[str] | None = None) -> None:
    """Write the digest of every file of a record. It is the last file to be written.

    If there is a manifest, the digests of measured files are copied from it, and with `renewed`
    those of all files that it does not name (``NAME/`` is a whole folder). Rendering a report
    again must not hide that another file was changed.

    Raises the errors of `check_manifest`, with `renewed` also if the manifest is missing.
    """
    exists = renewed is not None or (folder / layout.MANIFEST).exists()
    listed = read_manifest(folder) if exists else {}

    def is_kept(name: str) -> bool:
        written = renewed is None or name.startswith(tuple(renewed))
        return exists and (is_measured(name) or not written)

    before = {name: digest for name, digest in listed.items() if is_kept(name)}
    new = (name for name in _entries(folder) if not is_kept(name) and _is_regular(folder / name))
    files = {name: sha256_of(folder / name) for name in new}
    files = dict(sorted((files | before).items()))
    text = json.dumps(
        {"schema_version": SCHEMA_VERSION, "files": files}, indent=1, ensure_ascii=False
    )
    layout.write_whole(folder / layout.MANIFEST, text + "\n")


def is_measured(name: str) -> bool:
    """Return whether a file contains measured or imported data, which is never rewritten."""
    kinds = registry().targets("record kind").values()
    figures = {kind.options["file"] for kind in kinds}
    return name in _MEASURED or name in figures or name.startswith(("raw/", "sources/"))


def check_manifest(folder: Path) -> tuple[Mismatch, ...]:
    """Return the files that differ from the manifest, in order of path.

    Raises `RecordError`: BX411, the manifest is missing or damaged; BX412, of another format.
    """
    listed = read_manifest(folder)
    there = set(_entries(folder))
    mismatches = [Mismatch(name, "unlisted") for name in there - listed.keys()]
    for name, digest in listed.items():
        if name not in there:
            mismatches.append(Mismatch(name, "missing"))
        elif not _is_regular(folder / name):
            mismatches.append(Mismatch(name, "no regular file"))
        elif sha256_of(folder / name) != digest:
            mismatches.append(Mismatch(name, "changed"))
    return tuple(sorted(mismatches, key=lambda mismatch: mismatch.path))


def read_manifest(folder: Path) -> dict[str, str]:
    """Return the digest of each file, by name. Raises the errors of `check_manifest`."""
    path = folder / layout.MANIFEST
    try:
        content = parse_json(read_regular(path), members=_each_once)
        version, files = operator.index(content["schema_version"]), content["files"]
        if not isinstance(files, dict):
            raise TypeError  # noqa: TRY301 -- one message for all
        for name, digest in files.items():
            _check_entry(name, digest)
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        if isinstance(error, KeyError | TypeError):
            cause = phrase_of(FaultCode.NO_MANIFEST_OF_RECORD)
        absent = isinstance(error, FileNotFoundError)
        key = "BX411.no-manifest" if absent else "BX411.manifest-not-readable"
        raise RecordError(key, details=(("cause", cause),), path=path) from error
    require_version(folder, version)
    return files


def digest_of_record(folder: Path) -> str:
    """Return `digest_of` the manifest of a record. Raises the errors of `check_manifest`."""
    return digest_of(read_manifest(folder))


def digest_of(files: Mapping[str, str]) -> str:
    """Return the SHA-256 of the measured files of a manifest, which no report or gate changes."""
    listing = "".join(f"{files[name]}  {name}\n" for name in sorted(files) if is_measured(name))
    return hashlib.sha256(listing.encode()).hexdigest()


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object. Duplicate keys, which could hide a digest, are refused."""
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError(phrase_of(FaultCode.NAME_TWICE))
    return content


def _check_entry(name: str, digest: object) -> None:
    """Check a name and its digest, so that `digest_of` is the digest of one list of files only.

    Raises `ValueError`: it is not a SHA-256, or the name is not that of a file in the folder.
    """
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise ValueError(phrase_of(FaultCode.NO_DIGEST, repr(name)))
    name.encode()  # JSON can contain halves of characters, which no digest can
    if not is_below(name) or any(unicodedata.category(c) == "Cc" for c in name):
        raise ValueError(phrase_of(FaultCode.NO_FILE_NAME, repr(name)))


def _entries(folder: Path) -> list[str]:
    """Return every entry of a record that is no folder, links and devices included.

    Manifest, signature and the temporary files of `layout.part_of` are left out.
    """
    unlisted = (folder / layout.MANIFEST, folder / layout.SIGNATURE)
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
        if path not in unlisted and not layout.is_draft(path)
    )


def _is_regular(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
