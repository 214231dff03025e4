"""Imported sets on disk: a folder like a record's, with ``imported.json`` and the files in place of rounds."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_framework.errors import RecordError
from bench_framework.store import columns, imported_rows, layout, manifest, tables, wire
from bench_framework.store.journal import SCHEMA_VERSION
from bench_framework.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from bench_framework.model.imported import Imported
    from bench_framework.model.judgement import Judgement


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """One imported set: its folder, and what its files hold."""

    path: Path
    imported: Imported

    @classmethod
    def open(cls, path: Path) -> ImportedSet:
        """Open the folder of one.

        Raises:
            RecordError: BX411, it is damaged; BX412, a newer benchctl wrote it.
        """
        try:
            imported = wire.load_imported((path / layout.IMPORTED).read_bytes())
        except OSError as error:
            raise RecordError(f"{path / layout.IMPORTED} cannot be read", code="BX411") from error
        if imported.schema_version > SCHEMA_VERSION:
            raise RecordError(
                f"{path} has schema version {imported.schema_version}; this benchctl reads up to {SCHEMA_VERSION}",
                code="BX412",
                help="use a newer benchctl",
            )
        return cls(path.absolute(), imported)

    def judgement(self) -> Judgement:
        """The judgement that was saved. Raises `RecordError`, BX411."""
        path = self.path / layout.CLAIMS
        try:
            return wire.load_judged(path.read_bytes()).judgement
        except OSError as error:
            raise RecordError(f"{path} cannot be read", code="BX411") from error

    def source(self, name: str) -> bytes:
        """The bytes of one imported file. Raises `RecordError`, BX411."""
        try:
            return (self.path / name).read_bytes()
        except OSError as error:
            raise RecordError(f"{self.path / name} cannot be read", code="BX411") from error

    def save(self, judgement: Judgement, sources: Mapping[str, bytes]) -> None:
        """Write figures, sources, judgement and tables; the pages come after, and `seal` last.

        Args:
            judgement: of this set.
            sources: path within the folder to the bytes of the file that was imported.
        """
        for name, content in sources.items():
            layout.write_whole(self.path / name, content)
        layout.write_whole(self.path / layout.IMPORTED, wire.dump_imported(self.imported))
        judged = wire.Judged(
            SCHEMA_VERSION,
            self.imported.record_id,
            self.imported.name,
            judgement,
            __version__,
        )
        layout.write_whole(self.path / layout.CLAIMS, wire.dump_judged(judged))
        made = {
            "runs": (imported_rows.RUNS, imported_rows.run_rows(self.imported)),
            "cells": (imported_rows.CELLS, imported_rows.cell_rows(self.imported)),
            "comparisons": (
                imported_rows.COMPARISONS,
                imported_rows.comparison_rows(self.imported, judgement),
            ),
        }
        for name, (wanted, rows) in made.items():
            layout.write_whole(self.path / f"{name}.csv", tables.to_csv(wanted, rows))
        text = columns.dictionary({name: wanted for name, (wanted, _) in made.items()})
        layout.write_whole(self.path / layout.COLUMNS, text)

    def seal(self) -> None:
        """Write ``manifest.json``: nothing changes after it."""
        with layout.writing(self.path):
            manifest.write_manifest(self.path)


@contextlib.contextmanager
def new_folder(root: Path, name: str, at: str) -> Iterator[tuple[Path, Path]]:
    """The folder that a set will have, and the one to write it into: it appears whole or not at all.

    Args:
        root: the folder of all records.
        name: of the set.
        at: UTC, ISO 8601; the folder is named by it.

    Raises:
        MachineError: BX235, the disk refused.
    """
    with layout.writing(root):
        final = layout.create_folder(root / name, at)
    draft = final.with_name(f".{final.name}.part")
    try:
        with layout.writing(draft):
            draft.mkdir()
        yield final, draft
        with layout.writing(final):
            draft.replace(final)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        for left in (final, final.parent):  # empty ones only: what others measured stays
            with contextlib.suppress(OSError):
                left.rmdir()
        raise
