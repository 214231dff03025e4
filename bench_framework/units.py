"""Parsing and formatting of sizes, durations and percentages.

Sizes are in bytes (int), durations in seconds (float), percentages are fractions (0.02 for ``2%``).
"""

import re
from decimal import Decimal
from typing import Final, Literal

THIN_SPACE: Final = "\u202f"  # narrow no-break space: a number and its unit stay on one line
MINUS: Final = "\u2212"

UnitFamily = Literal["iec", "si"]
Unit = Literal["s", "bytes", "count", "ratio", "1/s", "bytes/s"]
"""Unit of stored values."""

SIZE_UNITS: Final[dict[str, int]] = {
    "B": 1,
    "kB": 1000,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "TB": 1000**4,
    "KiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
    "TiB": 1024**4,
}
MOST_BYTES: Final = 1 << 64
"""Sizes are smaller, also those of the workers."""
PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ns": 10**9}
"""Number of each unit in a second. µ is the micro sign or the Greek letter."""
DURATION_UNITS: Final[dict[str, float]] = {
    **{unit: 1 / number for unit, number in PER_SECOND.items()},
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_NUMBER: Final = r"([0-9]+(?:\.[0-9]+)?)"
_SIZE: Final = re.compile(rf"^{_NUMBER}\s*({'|'.join(SIZE_UNITS)})$")
_DURATION: Final = re.compile(rf"^{_NUMBER}\s*({'|'.join(DURATION_UNITS)})$")
_PERCENT: Final = re.compile(rf"^{_NUMBER}\s*%$")


def _parts(pattern: re.Pattern[str], text: str, kind: str, example: str) -> tuple[str, ...]:
    match = pattern.match(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a {kind}: write a number with a {example}")
    return match.groups()


def parse_size(text: str) -> int:
    """Return the bytes of ``"10MiB"``, ``"200MB"``, ``"17B"``. Raises `ValueError`: not a size, or too large."""
    number, unit = _parts(_SIZE, text, "size", "unit, such as 10MiB or 200MB")
    size = Decimal(number) * SIZE_UNITS[unit]
    if size >= MOST_BYTES:
        raise ValueError(f"a size must be below 16 EiB, got {number[:20]}… {unit}")
    if size != int(size):
        raise ValueError(f"{text!r} is not a whole number of bytes")
    return int(size)


def is_size(text: str) -> bool:
    """Return True if `parse_size` accepts the text."""
    try:
        parse_size(text)
    except ValueError:
        return False
    return True


def parse_duration(text: str) -> float:
    """Return the seconds of ``"15m"``, ``"120s"``, ``"20ms"``. Raises `ValueError`: bad unit."""
    number, unit = _parts(_DURATION, text, "duration", "unit, such as 90s, 15m or 1h")
    return float(number) * DURATION_UNITS[unit]


def parse_percent(text: str) -> float:
    """Return a percentage as a fraction: 0.02 for ``"2%"``. Raises `ValueError`: no `%`."""
    (number,) = _parts(_PERCENT, text, "percentage", "percent sign, such as 2%")
    return float(Decimal(number) / 100)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 round`` or ``2 rounds``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def every(number: int, noun: str) -> str:
    """Return all things of a number, such as ``both inputs`` or ``all 3 inputs``."""
    return f"{'both' if number == 2 else f'all {number}'} {noun}s"  # noqa: PLR2004 -- a pair
