"""Report a corrupted record as such, not as an internal error."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench_framework.errors import BenchError, RecordError
from bench_framework.store import finding, layout, manifest, records

MOST_NAMED: Final = 5
CHANGED: Final = "BX415"
"""Code: files of a record were changed."""


def change_warning(results: Path, name: str) -> str | None:
    """Return the warning BX415 if files of a record were changed, for a command that uses it.

    `None` if nothing was changed, or if the record cannot be read, which the command reports itself.
    """
    try:
        folder = finding.resolve(results, name)
        mismatches = manifest.check_manifest(folder)
    except (BenchError, OSError):
        return None
    if not mismatches:
        return None
    names = ", ".join(f"{mismatch.path} ({mismatch.what})" for mismatch in mismatches[:MOST_NAMED])
    return (
        f"warning[{CHANGED}]: {folder} is not as it was written: {names}; "
        f"run `benchctl verify {folder}`"
    )


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
        changed = _changed(folder)
        if not changed:
            raise
        raise RecordError(
            f"record {folder} is corrupted: files were changed after it was written",
            code="BX411",
            details=(
                *(("changed", name) for name in changed[:MOST_NAMED]),
                ("cause", f"{type(error).__name__}: {error}"),
            ),
            effect="no result was computed",
            fix="run `benchctl verify` to list all changed files",
        ) from error


def _changed(folder: Path) -> list[str]:
    """Return the files that differ from the manifest; none if there is no manifest."""
    try:
        changed = [mismatch.path for mismatch in manifest.check_manifest(folder)]
    except (RecordError, OSError):
        changed = []
    if layout.PLAN not in changed and not records.has_its_plan(folder):
        changed.append(layout.PLAN)
    return changed
