"""benchctl's package, and the notebook API: ``import bench_framework as bf; bf.load("@last").runs``.

Importing it loads nothing heavy; what a name needs is loaded when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.store.frames import Frames
    from bench_framework.store.imported_frames import ImportedFrames

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(record: str | Path = "@last", *, results: str | Path = "results") -> Frames | ImportedFrames:
    """A record as DataFrames: `runs` (one row per run), `cells`, `comparisons`, `claims`, `events`, `env`, `plan`.

    An imported set has `runs`, `cells`, `comparisons` and `claims`, and no rounds, plan or machine.

    Args:
        record: a record's folder, ``SCENARIO/ID``, ``@last`` or ``@prev``.
        results: the folder in which names are looked up.

    Raises:
        UsageError: nothing of that name is found; RecordError: the record is damaged or of a newer version.
    """
    from pathlib import Path  # noqa: PLC0415 -- importing the package stays free

    from bench_framework.store import frames, imported_frames, records  # noqa: PLC0415 -- pandas

    folder = records.resolve(Path(results), str(record))
    return imported_frames.load(folder) if records.is_imported(folder) else frames.load(folder)
