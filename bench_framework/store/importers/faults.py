"""What is wrong with a file that was to be imported: one error each, exit code 2."""

from __future__ import annotations

import math
from typing import Final

from bench_framework.errors import UsageError

UNREADABLE: Final = "BX450"
"""The file cannot be read at all."""
UNKNOWN: Final = "BX451"
"""It is neither hyperfine's JSON nor a table that import knows."""
IMPOSSIBLE: Final = "BX452"
"""A figure that no measurement can have."""
NAMES: Final = "BX453"
"""Labels that are doubled or missing."""
UNITS: Final = "BX454"
"""Several units in one table, or one that is none of time."""
LEAST_S, MOST_S = 1e-12, 1e9
MOST_MEMORY: Final = 1e18
NOTHING_WRITTEN: Final = "nothing was imported"


def fault(
    code: str,
    file: str,
    message: str,
    *,
    where: str = "",
    cause: str = "",
    help: str = "",  # noqa: A002 -- as errors.py
) -> UsageError:
    """One error about one file."""
    details = [("file", file), ("where", where), ("cause", cause)]
    return UsageError(
        message,
        code=code,
        details=tuple((name, text) for name, text in details if text),
        effect=NOTHING_WRITTEN,
        help=help or "`benchctl help import` describes the files that can be imported",
    )


def require_time(seconds: float, what: str, file: str, where: str) -> float:
    """A time that was measured, in seconds.

    Raises:
        UsageError: BX452, it is not finite, not above zero (its ratio to anything would mean
            nothing), or no time that a program takes: below a picosecond or above 30 years.
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
    """A spread, a CPU time or a number of bytes: from zero to `most`. Raises `UsageError`, BX452."""
    if not 0 <= value <= most:
        raise fault(
            IMPOSSIBLE,
            file,
            f"{what} is {value:g}; it must lie between 0 and {most:g}",
            where=where,
        )
    return value
