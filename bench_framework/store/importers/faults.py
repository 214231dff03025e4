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
NOTHING_WRITTEN: Final = "nothing was imported"


def fault(
    code: str, file: str, message: str, *, where: str = "", cause: str = "", help: str = ""  # noqa: A002 -- as errors.py
) -> UsageError:  # fmt: skip
    """One error about one file."""
    details = [("file", file), ("where", where), ("cause", cause)]
    return UsageError(
        message,
        code=code,
        details=tuple((name, text) for name, text in details if text),
        effect=NOTHING_WRITTEN,
        help=help or "`benchctl help import` describes the files that can be imported",
    )


def require_above_zero(value: float, what: str, file: str, where: str) -> float:
    """A time or a size that was measured.

    Raises:
        UsageError: BX452, it is not finite, or not above zero: its ratio to anything would mean nothing.
    """
    if not math.isfinite(value) or value <= 0:
        raise fault(IMPOSSIBLE, file, f"{what} is {value:g}; it must be a number above zero", where=where)
    return value
