"""Errors of files to import, each with exit code 2."""

from __future__ import annotations

import math
from typing import Final

from bench_framework.errors import UsageError

UNREADABLE: Final = "BX450"
"""Code: the file cannot be read."""
UNKNOWN: Final = "BX451"
"""Code: the file is neither JSON of hyperfine nor a supported table."""
IMPOSSIBLE: Final = "BX452"
"""Code: a value is not possible for a measurement."""
NAMES: Final = "BX453"
"""Code: labels are duplicated or missing."""
UNITS: Final = "BX454"
"""Code: a table has several units, or a unit that is not a unit of time."""
LEAST_S, MOST_S = 1e-12, 1e9
MOST_MEMORY: Final = 1e18
NOTHING_WRITTEN: Final = "nothing was imported"


def fault(
    code: str, file: str, message: str, *, where: str = "", cause: str = "", fix: str = ""
) -> UsageError:
    """Return an error about one file."""
    details = [("file", file), ("where", where), ("cause", cause)]
    return UsageError(
        message,
        code=code,
        details=tuple((name, text) for name, text in details if text),
        effect=NOTHING_WRITTEN,
        fix=fix or "`benchctl help import` describes the files that can be imported",
    )


def require_time(seconds: float, what: str, file: str, where: str) -> float:
    """Check a measured time in seconds and return it.

    Raises `UsageError` (BX452): the time is not finite, not above zero (so that ratios are not
    defined), below a picosecond or above 30 years.
    """
    if not math.isfinite(seconds) or seconds <= 0:
        raise fault(
            IMPOSSIBLE, file, f"{what} is {seconds:g}; it must be a number above zero", where=where
        )
    if not LEAST_S <= seconds <= MOST_S:
        raise fault(
            IMPOSSIBLE, file, f"{what} is {seconds:g} s, which no program takes", where=where
        )
    return seconds


def require_amount(value: float, most: float, what: str, file: str, where: str) -> float:
    """Check that a spread, a CPU time or a size is from zero to `most`, and return it.

    Raises `UsageError` (BX452): it is not.
    """
    if not 0 <= value <= most:
        message = f"{what} is {value:g}; it must lie between 0 and {most:g}"
        raise fault(IMPOSSIBLE, file, message, where=where)
    return value
