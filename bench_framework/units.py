"""Parsing and formatting of sizes, durations and percentages.

Sizes are in bytes (int), durations in seconds (float), percentages are fractions (0.02 for ``2%``).
"""

import re
from decimal import Decimal
from typing import Final

THIN_SPACE: Final = "\u202f"  # narrow no-break space: a number and its unit stay on one line
MINUS: Final = "\u2212"

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
DURATION_UNITS: Final[dict[str, float]] = {
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ns": 10**9}
"""Number of each unit in a second. µ is the micro sign or the Greek letter."""
_NUMBER: Final = r"(\d+(?:\.\d+)?)"
_SIZE: Final = re.compile(rf"^{_NUMBER}\s*({'|'.join(SIZE_UNITS)})$")
_DURATION: Final = re.compile(rf"^{_NUMBER}\s*({'|'.join(DURATION_UNITS)})$")
_PERCENT: Final = re.compile(rf"^{_NUMBER}\s*%$")


def _parts(pattern: re.Pattern[str], text: str, kind: str, example: str) -> tuple[str, ...]:
    match = pattern.match(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a {kind}: write a number with a {example}")
    return match.groups()


def parse_size(text: str) -> int:
    """Return the bytes of ``"10MiB"``, ``"200MB"``, ``"17B"``. Raises `ValueError`: not a size."""
    number, unit = _parts(_SIZE, text, "size", "unit, such as 10MiB or 200MB")
    size = Decimal(number) * SIZE_UNITS[unit]
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


def format_size(size: float, *, digits: int = 3) -> str:
    """Format bytes with an IEC unit and about `digits` significant digits: ``"9.77 MiB"``."""
    value, unit = float(size), "B"
    for step in ("KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024:  # noqa: PLR2004 -- the IEC step
            break
        value, unit = value / 1024, step
    if unit == "B":
        return f"{int(value)}{THIN_SPACE}B"
    return f"{_significant(value, digits)}{THIN_SPACE}{unit}"


def size_unit(size: float, family: str) -> tuple[str, float]:
    """Return unit and factor: ``("MiB", 2 ** -20)``. `family`: ``iec`` (1024) or ``si`` (1000)."""
    base, names = (
        (1000.0, ("B", "kB", "MB", "GB"))
        if family == "si"
        else (1024.0, ("B", "KiB", "MiB", "GiB"))
    )
    power = 0
    while power < len(names) - 1 and abs(size) >= base ** (power + 1):
        power += 1
    return names[power], base**-power


def format_duration(seconds: float, *, digits: int = 3) -> str:
    """Format a measured time in its natural unit: ``"412 µs"``, ``"21.3 ms"``, ``"1.70 s"``."""
    unit, scale = time_unit(seconds)
    return f"{_significant(seconds * scale, digits)}{THIN_SPACE}{unit}"


def format_clock(seconds: float) -> str:
    """Format a waiting time: ``"42 s"``, ``"3 min 20 s"``, ``"2 h 05 min"``."""
    whole = max(0, round(seconds))
    if whole < 60:  # noqa: PLR2004 -- seconds in a minute
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:  # noqa: PLR2004 -- minutes in an hour
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def time_unit(seconds: float) -> tuple[str, float]:
    """Return the best unit of a time and the factor from seconds, such as ``("ms", 1e3)``."""
    if seconds >= 1:
        return "s", 1.0
    if seconds >= 1e-3:  # noqa: PLR2004 -- one millisecond
        return "ms", 1e3
    return "µs", 1e6


def format_percent(fraction: float, *, decimals: int | None = None) -> str:
    """Format 0.02 as ``"2 %"``, with the given number of decimals or as few as possible."""
    percent = fraction * 100
    text = f"{percent:.{decimals}f}" if decimals is not None else f"{percent:.10g}"
    return f"{text.replace('-', MINUS)}{THIN_SPACE}%"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 round`` or ``2 rounds``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def every(number: int, noun: str) -> str:
    """Return all things of a number, such as ``both inputs`` or ``all 3 inputs``."""
    return f"{'both' if number == 2 else f'all {number}'} {noun}s"  # noqa: PLR2004 -- a pair


def grouped(number: int) -> str:
    """Return a number with spaces between groups of three digits, such as ``20 000``."""
    return f"{number:,}".replace(",", " ")


def _significant(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    return f"{value:.{max(0, digits - whole)}f}"
