"""Tables of an imported set as DataFrames: what a notebook gets where there are no rounds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd  # noqa: TID251 -- store is the door to it

from bench_framework.errors import RecordError
from bench_framework.store import frames, layout, wire
from bench_framework.store.imports import ImportedSet

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.model.imported import Imported
    from bench_framework.model.judgement import Judgement


@dataclass(frozen=True)
class ImportedFrames:
    """An imported set in DataFrames, each read when it is first asked for. Seconds and bytes.

    There is no `plan`, `env` or `builds`: no imported file says what was asked, on which machine, or which binary ran.
    """

    path: Path
    imported: Imported

    def __repr__(self) -> str:
        """Such as ``<imported set old/20260302T1704Z: 2 sessions, exploratory>``."""
        count = len(self.imported.sessions)
        what = f"{count} session{'s' if count != 1 else ''}"
        return (
            f"<imported set {self.imported.name}/{self.imported.record_id}: {what}, {self.judgement.status}>"
        )

    @cached_property
    def judgement(self) -> Judgement:
        """All that was judged."""
        return ImportedSet(self.path, self.imported).judgement()

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run and metric; empty for published means."""
        return self._frame("runs")

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per command and metric."""
        return self._frame("cells")

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """One row per comparison and metric."""
        return self._frame("comparisons")

    @cached_property
    def claims(self) -> pd.DataFrame:
        """One row per claim; `text` is its sentence."""
        return pd.DataFrame([wire.plain(claim) for claim in self.judgement.claims])

    def _frame(self, name: str) -> pd.DataFrame:
        try:
            resources = json.loads((self.path / layout.COLUMNS).read_bytes())["resources"]
            fields = {r["name"]: r["schema"]["fields"] for r in resources}[name]
            return frames.read_typed(self.path / f"{name}.csv", fields)
        except (OSError, ValueError, KeyError) as error:
            raise RecordError(
                f"{self.path / name}.csv cannot be read",
                code="BX411",
                details=(("cause", f"{type(error).__name__}: {error}"),),
                help="`benchctl verify` names every file of the record that was changed",
            ) from error


def load(path: Path) -> ImportedFrames:
    """Open the folder of an imported set. Raises `RecordError`, BX411 or BX412."""
    return ImportedFrames(path.absolute(), ImportedSet.open(path).imported)
