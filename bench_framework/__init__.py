"""benchctl's package, and the notebook API: ``import bench_framework as bf; bf.load("@last").runs``.

Importing it loads nothing heavy; what a name needs is loaded when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.store.frames import Frames

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(record: str | Path = "@last", *, results: str | Path = "results") -> Frames:
    """A record as DataFrames: `runs` (one row per run), `cells`, `comparisons`, `claims`, `events`, `env`, `plan`.

    Args:
        record: a record's folder, ``SCENARIO/ID``, ``@last`` or ``@prev``.
        results: the folder in which names are looked up.

    Raises:
        UsageError: nothing of that name is found; RecordError: the record is damaged or of a newer version.
    """
    from pathlib import Path  # noqa: PLC0415 -- importing the package stays free

    from bench_framework.store import frames, records  # noqa: PLC0415 -- pandas

    return frames.load(records.resolve(Path(results), str(record)))
