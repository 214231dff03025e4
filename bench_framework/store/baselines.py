"""Baselines: names of records, each in a small JSON file next to the records of its scenario.

An archive of a baseline is one ``.tar.gz`` with its file and its record. What is read from it is not trusted.
"""

import contextlib
import errno
import gzip
import io
import json
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from bench_framework.errors import RecordError, UsageError
from bench_framework.foreign import is_below, open_regular, parse_json, read_regular
from bench_framework.model.faults import FaultCode
from bench_framework.model.record.machine import Fingerprint, fingerprint
from bench_framework.store import journal, layout, manifest, wire
from bench_framework.text.reasons import phrase_of

FOLDER: Final = "baselines"
SCHEMA_VERSION: Final = 1
MOST_BYTES: Final = 1 << 16
MOST_LISTED: Final = 5
RESERVED: Final = frozenset({"last", "prev"})
DAMAGED: Final = "BX411"
"""Code: the file of a baseline is damaged."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
ENTRY: Final = "baseline.json"
"""First file of an archive. All others are in ``SCENARIO/ID/``."""
MOST_ARCHIVE_BYTES: Final = 4 << 30
"""Largest size of the files of an archive."""
MOST_FILES: Final = 100_000
LARGEST_READ: Final = 1 << 20
"""Largest part that is read at once. Only a false header of a file asks for more."""
MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Baseline:
    """A name for a record of a scenario, with the machine that measured it."""

    name: str
    """Name of the baseline."""
    scenario: str
    """Name of the scenario."""
    record: str
    """Id of the record."""
    digest: str
    """Digest of the measured files of the record."""
    machine: Fingerprint
    """The machine that measured the record."""
    saved_at: str
    """Time of saving, UTC, ISO 8601."""

    @property
    def label(self) -> str:
        """Return ``SCENARIO@NAME``, which names the record in every command."""
        return f"{self.scenario}@{self.name}"

    def file_in(self, root: Path) -> Path:
        """Return the path of its file in the folder of records."""
        return root / self.scenario / FOLDER / f"{self.name}.json"

    def folder_in(self, root: Path) -> Path:
        """Return the path of its record in the folder of records."""
        return root / self.scenario / self.record

    def fault_in(self, root: Path) -> str:
        """Return what is wrong with its record, without hashing files; empty if nothing is."""
        folder = self.folder_in(root)
        if not folder.is_dir():
            return phrase_of(FaultCode.IS_MISSING)
        try:
            same = manifest.digest_of_record(folder) == self.digest
        except RecordError:
            same = False
        return "" if same else phrase_of(FaultCode.CHANGED_LATER)


def is_name(text: str) -> bool:
    """Return whether a text can be the name of a baseline."""
    return _NAME.fullmatch(text) is not None and text not in RESERVED


def dump(baseline: Baseline) -> str:
    """Return the text of a baseline's file."""
    return wire.indented({"schema_version": SCHEMA_VERSION, **asdict(baseline)})


def parse(text: bytes, where: str) -> Baseline:
    """Read the text of a baseline's file.

    Raises `RecordError` (BX411): it is damaged; BX412: a newer benchctl wrote it.
    """
    try:
        content = parse_json(text)
        version = int(content["schema_version"])
        if version > SCHEMA_VERSION:
            raise RecordError("BX412.newer-version", where=where)
        baseline = wire.read(Baseline, content)
        json.dumps(content, ensure_ascii=False).encode()  # it may have halves of characters
        valid = is_name(baseline.name) and _NAME.fullmatch(baseline.scenario)
        if not valid or not layout.is_record_id(baseline.record):
            raise ValueError(phrase_of(FaultCode.INVALID_NAME))  # noqa: TRY301 -- one message for all
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        cause = (("cause", str(error)),)
        raise RecordError("BX411.baseline-not-readable", details=cause, where=where) from error
    return baseline


def find_all(
    root: Path,
    scenario: str = "*",
    name: str = "*",
    damaged: Callable[[Path, RecordError], object] | None = None,
) -> list[Baseline]:
    """Return the baselines in the folder of records, sorted by scenario and name.

    `scenario` and `name` are names, or ``*`` for all. `damaged` gets each file that cannot be used,
    with the error of `parse`; without it, the error is raised.
    """
    matching = []
    for path in _files(root, scenario, name):
        try:
            matching.append(_read(root, path))
        except RecordError as error:
            if damaged is None:
                raise
            damaged(path, error)
    return matching


def _read(root: Path, path: Path) -> Baseline:
    try:
        baseline = parse(read_regular(path, MOST_BYTES), str(path))
    except OSError as error:
        raise RecordError(
            "BX411.baseline-file-not-readable", path=path, strerror=error.strerror or error
        ) from error
    if baseline.file_in(root) != path:
        raise RecordError("BX411.baseline-of-other-file", path=path, label=baseline.label)
    return baseline


def _files(root: Path, scenario: str = "*", name: str = "*") -> list[Path]:
    return sorted(root.glob(f"{scenario}/{FOLDER}/{name}.json"))


def find(root: Path, text: str) -> Baseline:
    """Return the baseline of a text: ``NAME``, ``@NAME`` or ``SCENARIO@NAME``.

    Raises `UsageError` (BX116): no baseline has this name, or several scenarios have one of this name.
    """
    scenario, _, name = text.rpartition("@")
    valid = _NAME.fullmatch(name) and (not scenario or _NAME.fullmatch(scenario))
    matching = find_all(root, scenario or "*", name) if valid else []
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise UsageError(
            "BX116.several-baselines",
            name=name,
            matching=", ".join(baseline.label for baseline in matching),
        )
    known = [f"{path.parent.parent.name}@{path.stem}" for path in _files(root)[:MOST_LISTED]]
    raise UsageError(
        "BX116.no-baseline",
        details=tuple((phrase_of(FaultCode.THERE_IS), label) for label in known),
        text=text.removeprefix("@"),
        name=name,
        scenario=scenario,
        root=root,
    )


def record_of(root: Path, text: str) -> Path:
    """Return the folder of a baseline's record.

    Raises the errors of `find`, and `RecordError` (BX416): the record is missing or changed.
    """
    baseline = find(root, text)
    if fault := baseline.fault_in(root):
        raise RecordError(
            "BX416",
            root=baseline.folder_in(root),
            label=baseline.label,
            fault=fault,
            name=baseline.name,
        )
    return baseline.folder_in(root)


def write(root: Path, baseline: Baseline) -> Path:
    """Write a baseline's file, and return its path. Raises `MachineError` (BX235): failed."""
    path = baseline.file_in(root)
    layout.write_whole(path, dump(baseline))
    return path


class _Limited(gzip.GzipFile):
    """A compressed stream that cannot fill the memory."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= LARGEST_READ:
            raise tarfile.ReadError(phrase_of(FaultCode.INVALID_HEADER))
        return super().read(size)


def write_archive(path: Path, baseline: Baseline, root: Path) -> None:
    """Write a baseline with its record. Equal records give equal bytes.

    Raises:
        RecordError: BX415, files of the record were changed; BX411, it has no manifest.
        MachineError: BX235, writing failed.
    """
    folder = baseline.folder_in(root)
    if mismatches := manifest.check_manifest(folder):
        raise RecordError(
            "BX415.not-as-written",
            details=tuple((m.what, m.path) for m in mismatches[:MOST_NAMED]),
            folder=folder,
        )
    names = [layout.MANIFEST, *manifest.read_manifest(folder)]
    names += [layout.SIGNATURE] if (folder / layout.SIGNATURE).is_file() else []
    with (
        layout.whole(path) as part,
        part.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        text = dump(baseline).encode()
        entry = tarfile.TarInfo(ENTRY)
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
        for name in names:
            with open_regular(folder / name) as content:
                entry = tarfile.TarInfo(f"{baseline.scenario}/{baseline.record}/{name}")
                entry.size = os.fstat(content.fileno()).st_size
                archive.addfile(entry, content)


def read_entry(path: Path) -> Baseline:
    """Return the baseline of an archive.

    Raises `UsageError` (BX118): it is not valid; `RecordError` (BX412): a newer benchctl wrote it.
    """
    with _opened(path) as archive:
        entry = archive.next()
        if entry is None or entry.name != ENTRY or not _is_file(entry):
            raise UsageError("BX118.other-first-file", path=path, name=ENTRY)
        if entry.size > MOST_BYTES:
            raise UsageError("BX118.file-too-large", path=path, name=ENTRY, most=MOST_BYTES)
        content = archive.extractfile(entry)
        assert content is not None
        try:
            return parse(content.read(), phrase_of(FaultCode.FILE_IN, ENTRY, str(path)))
        except RecordError as error:
            if error.code != DAMAGED:
                raise
            raise UsageError("BX118.file-not-readable", path=path, name=ENTRY) from error


def extract(
    path: Path, baseline: Baseline, root: Path, check: Callable[[Path], object] = lambda _: None
) -> Baseline:
    """Write the record of an archive into the folder of records, and return its baseline.

    The machine of the returned baseline is that of the record. A record that is there already is kept.
    `check` is called with the folder of a new one, before it is a record.

    Raises:
        UsageError: BX118, the archive is not valid, or another record has this id.
        RecordError: BX411 or BX412, the record cannot be read.
        MachineError: BX235, writing failed.
    """
    target = baseline.folder_in(root)
    if target.exists() and baseline.fault_in(root):
        raise UsageError("BX118.other-record-in-place", path=path, target=target)
    with contextlib.ExitStack() as opened:
        folder = target
        if not target.exists():
            opened.callback(_remove_empty, target.parent)
            folder = opened.enter_context(layout.whole(target))
            with _opened(path) as archive:
                _extract(archive, path, baseline, folder)
            _require_valid(path, baseline, folder)
            check(folder)
        try:
            host = wire.load_host(read_regular(folder / layout.ENV))
        except OSError as error:
            raise UsageError("BX118.no-file", path=path, name=layout.ENV) from error
        return replace(baseline, machine=fingerprint(host))


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _extract(archive: tarfile.TarFile, path: Path, baseline: Baseline, folder: Path) -> None:
    prefix, size = [baseline.scenario, baseline.record], 0
    for number, member in enumerate(archive):
        if not number:
            continue
        parts = member.name.split("/")
        if not _is_file(member):
            raise UsageError("BX118.not-regular", path=path, name=member.name)
        outside = parts[:2] != prefix or not parts[2:] or not is_below(member.name)
        if outside or member.name.endswith(".part"):  # which no manifest lists
            raise UsageError("BX118.foreign-file", path=path, name=member.name)
        size += member.size
        if number > MOST_FILES or size > MOST_ARCHIVE_BYTES:
            raise UsageError(
                "BX118.too-large", path=path, files=MOST_FILES, size=MOST_ARCHIVE_BYTES >> 30
            )
        place = folder.joinpath(*parts[2:])
        place.parent.mkdir(parents=True, exist_ok=True)
        content = archive.extractfile(member)
        assert content is not None
        with content, place.open("xb") as file:
            shutil.copyfileobj(content, file, LARGEST_READ)


def _is_file(member: tarfile.TarInfo) -> bool:
    return member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not member.issparse()


def _require_valid(path: Path, baseline: Baseline, folder: Path) -> None:
    """Require that the files are those of the manifest, and the record that of the baseline."""
    try:
        faults = [f"{m.path} ({m.what})" for m in manifest.check_manifest(folder)]
        header = journal.read_header(folder / layout.JOURNAL)
    except RecordError as error:
        raise _invalid(path, error.message.replace(f"{folder}/", "")) from error
    if faults:
        names = ", ".join(faults[:MOST_NAMED])
        raise UsageError("BX118.changed-files", path=path, names=names)
    place = (header.scenario, header.record_id)
    digest = manifest.digest_of_record(folder)
    if place != (baseline.scenario, baseline.record) or digest != baseline.digest:
        raise UsageError("BX118.other-record", path=path)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    """Yield an archive to read it. Raises `UsageError` (BX118): it is not valid."""
    try:
        file = open_regular(path)
    except OSError as error:
        raise _invalid(path, error.strerror or str(error)) from error
    try:
        with (
            file,
            _Limited(fileobj=file) as stream,
            tarfile.open(fileobj=stream, mode="r:") as archive,
        ):
            yield archive
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError("BX118.same-place", path=path) from error
    except RecursionError as error:
        raise UsageError("BX118.nested-too-deeply", path=path) from error
    except (
        tarfile.TarError,
        gzip.BadGzipFile,
        zlib.error,
        EOFError,
        ValueError,
        OverflowError,
    ) as error:
        raise _invalid(path, str(error)) from error
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise UsageError("BX118.name-too-long", path=path) from error


def _invalid(path: Path, cause: str) -> UsageError:
    return UsageError("BX118", path=path, cause=cause)
