"""Archives of a baseline and its record, as one ``.tar.gz``. What is read is not trusted."""

import contextlib
import errno
import gzip
import io
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench_framework.errors import RecordError, UsageError
from bench_framework.foreign import open_regular, read_regular
from bench_framework.model.machine import fingerprint
from bench_framework.model.run import Host
from bench_framework.store import baselines, journal, layout, manifest, wire
from bench_framework.store.baselines import Baseline

ENTRY: Final = "baseline.json"
"""First file of an archive. All others are in ``SCENARIO/ID/``."""
INVALID: Final = "BX118"
"""Code: an archive is not valid."""
MOST_BYTES: Final = 4 << 30
"""Largest size of the files of an archive."""
MOST_FILES: Final = 100_000
LARGEST_READ: Final = 1 << 20
"""Largest part that is read at once. Only a false header of a file asks for more."""
MOST_NAMED: Final = 5


class _Limited(gzip.GzipFile):
    """A compressed stream that cannot fill the memory."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= LARGEST_READ:
            raise tarfile.ReadError("a header is not valid")
        return super().read(size)


def write_archive(path: Path, baseline: Baseline, root: Path) -> None:
    """Write a baseline with its record. Equal records give equal bytes.

    Raises:
        RecordError: BX415, files of the record were changed; BX411, it has no manifest.
        MachineError: BX235, writing failed.
    """
    folder = baseline.folder(root)
    if mismatches := manifest.check_manifest(folder):
        raise RecordError(
            f"{folder} is not as it was written",
            code="BX415",
            details=tuple((m.what, m.path) for m in mismatches[:MOST_NAMED]),
            effect="no archive was written, because no one could import it",
            fix=f"`benchctl report {folder}` writes the pages of an unchanged measurement again",
        )
    names = [layout.MANIFEST, *manifest.read_manifest(folder)]
    names += [layout.SIGNATURE] if (folder / layout.SIGNATURE).is_file() else []
    with (
        layout.whole(path) as part,
        part.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        text = baselines.dump(baseline).encode()
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
            raise _invalid(path, f"its first file is not {ENTRY}")
        if entry.size > baselines.MOST_BYTES:
            raise _invalid(path, f"{ENTRY} in it has more than {baselines.MOST_BYTES} bytes")
        content = archive.extractfile(entry)
        assert content is not None
        try:
            return baselines.parse(content.read(), f"{ENTRY} in {path}")
        except RecordError as error:
            if error.code != baselines.DAMAGED:
                raise
            raise _invalid(path, f"{ENTRY} in it cannot be read") from error


def extract(path: Path, baseline: Baseline, root: Path) -> Baseline:
    """Write the record of an archive into the folder of records, and return its baseline.

    The machine of the returned baseline is that of the record. A record that is there already is kept.

    Raises:
        UsageError: BX118, the archive is not valid, or another record has this id.
        RecordError: BX411 or BX412, the record cannot be read.
        MachineError: BX235, writing failed.
    """
    target = baseline.folder(root)
    if target.exists() and baseline.fault(root):
        raise _invalid(
            path, f"{target} is another record", "import it into another folder with --dir"
        )
    with contextlib.ExitStack() as opened:
        folder = target
        if not target.exists():
            opened.callback(_remove_empty, target.parent)
            folder = opened.enter_context(layout.whole(target))
            with _opened(path) as archive:
                _extract(archive, path, baseline, folder)
            _require_valid(path, baseline, folder)
        return replace(baseline, machine=fingerprint(_host(path, folder)))


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
            raise _invalid(path, f"{member.name!r} in it is not a regular file")
        outside = parts[:2] != prefix or not parts[2:] or not {"", ".", ".."}.isdisjoint(parts)
        if outside or member.name.endswith(".part"):  # which no manifest lists
            raise _invalid(path, f"{member.name!r} in it is not a file of the record")
        size += member.size
        if number > MOST_FILES or size > MOST_BYTES:
            raise _invalid(path, f"it has more than {MOST_FILES} files or {MOST_BYTES >> 30} GiB")
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
        raise _invalid(path, f"files differ from its manifest: {', '.join(faults[:MOST_NAMED])}")
    names = (header.scenario, header.record_id)
    digest = manifest.digest_of(manifest.read_manifest(folder))
    if names != (baseline.scenario, baseline.record) or digest != baseline.digest:
        raise _invalid(path, "its record is not the one of its baseline")


def _host(path: Path, folder: Path) -> Host:
    try:
        return wire.load_host(read_regular(folder / layout.ENV))
    except OSError as error:
        raise _invalid(path, f"its record has no {layout.ENV}") from error


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
        raise _invalid(path, "two files in it have the same place") from error
    except RecursionError as error:
        raise _invalid(path, "its headers are nested too deeply") from error
    except (
        *(tarfile.TarError, gzip.BadGzipFile, zlib.error),
        *(EOFError, ValueError, OverflowError),
    ) as error:
        raise _invalid(path, str(error)) from error
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise _invalid(path, "the name of a file in it is too long") from error


def _invalid(path: Path, cause: str, fix: str = "") -> UsageError:
    return UsageError(
        f"{path} cannot be imported: {cause}",
        code=INVALID,
        effect="nothing was imported",
        fix=fix or "write the archive with `benchctl baseline export NAME`",
    )
