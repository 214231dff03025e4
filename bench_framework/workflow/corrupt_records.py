"""Records that somebody changed: what cannot be worked out from one is told as its damage, not as our defect."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from bench_framework.errors import BenchError, RecordError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_NAMED: Final = 5


@contextlib.contextmanager
def blamed(folder: Path) -> Iterator[None]:
    """Within the block, a failure over a record whose files are not those of its manifest names these files.

    So does one over a plan that is not the one that the journal begins with, whatever the manifest says.

    A file that was edited can be whole and yet name a cell, an input or a build that is nowhere. A failure over a
    record that is as it was written stays what it is.

    Raises:
        RecordError: BX411.
    """
    try:
        yield
    except (BenchError, OSError):
        raise
    except Exception as error:
        changed = _changed(folder)
        if not changed:
            raise
        raise RecordError(
            f"{folder} was changed after it was written, and cannot be read any more",
            code="BX411",
            details=(
                *(("changed", name) for name in changed[:MOST_NAMED]),
                ("cause", f"{type(error).__name__}: {error}"),
            ),
            effect="nothing is said of it",
            help="`benchctl verify` names every file of the record that was changed",
        ) from error


def _changed(folder: Path) -> list[str]:
    """Files that differ from the manifest; none where there is no manifest to hold them against."""
    from bench_framework.store import layout, manifest, records

    try:
        found = [mismatch.path for mismatch in manifest.check_manifest(folder)]
    except (RecordError, OSError):
        found = []
    if layout.PLAN not in found and not records.holds_its_plan(folder):
        found.append(layout.PLAN)
    return found
