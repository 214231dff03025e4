"""Imported sets on disk, with ``imported.json`` and the imported files instead of a journal."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bench_framework.errors import RecordError, UsageError
from bench_framework.foreign import read_regular
from bench_framework.model.imported import Imported, plan_of
from bench_framework.model.run import Host
from bench_framework.store import journal, layout, lines, wire
from bench_framework.store.finding import is_imported
from bench_framework.store.importers.sessions import read_session
from bench_framework.store.records import Record

UNKNOWN_HOST: Final = Host(
    "", "", "not in the files", 0, 0, "", "", None, None, None, None, "", None, None, "", ""
)
"""Host of an imported set. Imported files do not name their machine."""


def open_record(path: Path) -> Record:
    """Open a measured or imported record. Raises `RecordError`: BX411, damaged; BX412, too new."""
    if not is_imported(path):
        return Record.open(path)
    try:
        imported = wire.load_imported(read_regular(path / layout.IMPORTED))
    except OSError as error:
        raise RecordError(f"{path / layout.IMPORTED} cannot be read", code="BX411") from error
    journal.require_version(path, imported.schema_version)
    return _record(path, imported)


def create(path: Path, imported: Imported, sources: Mapping[str, bytes]) -> Record:
    """Write figures and imported files (`sources`: path → bytes) into a folder, without tables."""
    for name, content in sources.items():
        layout.write_whole(path / name, content)
    layout.write_whole(path / layout.IMPORTED, wire.dump_imported(imported))
    return _record(path, imported)


def _record(path: Path, imported: Imported) -> Record:
    names, at = (imported.record_id, imported.name), imported.imported_at
    header = lines.Header(imported.schema_version, *names, "", "", at, imported.benchctl)
    contents = journal.Contents(header, UNKNOWN_HOST, ended_at=at, imported=imported)
    return Record(path, plan_of(imported), contents)


def source_differences(record: Record) -> list[str]:
    """Return the figures of an imported set that do not match its files."""
    imported = record.contents.imported
    differences = []
    for number, session in enumerate(imported.sessions if imported is not None else (), 1):
        try:
            again = read_session(read_regular(record.path / session.source), session.label, number)
        except OSError:
            differences.append(f"{session.source}: cannot be read")
        except UsageError as error:
            differences.append(f"{session.source}: {error.message}")
        else:
            if again != session:
                differences.append(f"{layout.IMPORTED}: does not follow from {session.source}")
    return differences
