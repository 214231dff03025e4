"""Numbers as text, for sentences and tables: intervals rounded outward, no more digits than the data support.

`bench_framework.rounding` rounds ratios (docs/method.md#rounding).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Final

from bench_framework.model.metrics import METRICS, PEAK_RSS
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import (
    FINE_ENOUGH,
    LARGEST_RATIO,
    MOST_DECIMALS,
    WIDE,
    Rounded,
    decimal,
    decimals_of,
    plain,
    rounded,
    three_digits,
)
from bench_framework.units import DURATION_UNITS, MINUS, PER_SECOND, SIZE_UNITS, THIN_SPACE

if TYPE_CHECKING:
    from bench_framework.model.result.judgement import Comparison

LEAST_DECIMALS: Final = 2
TIMES_FROM: Final = 2.0
"""The factor from which on a ratio is stated as "n×": below −50 % or above +100 %. Others are percentages."""
AB_TIMES_FROM: Final = 1.1
"""The same for `benchctl ab`, whose sentences give factors as hyperfine does."""
NEAR: Final = 1.5
"""Ratios of imported figures between 1 ÷ this and this have one more digit in a table."""
MOST_DIGITS: Final = 4
"""Most digits of a measured value in a table. cells.csv has more, and the comparison uses the ratio."""
FEWEST_DIGITS: Final = 3
"""Fewest digits of a measured value in a table: fewer could contradict the ratio of two values."""
MOST_DIGITS_OF_PERCENT: Final = 10
"""Digits of a percentage that a user wrote, such as a margin."""
DASH: Final = "—"
INFINITY: Final = "∞"


@dataclass(frozen=True, slots=True)
class IntervalText:
    """An interval as text: estimate and bounds."""

    estimate: str
    lo: str
    hi: str

    @property
    def bounds(self) -> str:
        """Return the bounds as text: ``[0.893, 0.926]``."""
        return f"[{self.lo}, {self.hi}]"

    def __str__(self) -> str:
        return f"{self.estimate} {self.bounds}"


SIZES: Final = frozenset({PEAK_RSS, "binary_size"})
"""Metrics in bytes."""
_LEAST_SHOWN: Final = 0.1
_MILLION: Final = 1e6
_TENS: Final = 9.95
"""A percentage from which on no decimal is printed."""
_MOST_SHOWN: Final = 100_000


def is_factor(ratio: float, times_from: float = TIMES_FROM) -> bool:
    """Return whether a ratio is stated as "n×": its change is below −50 % or above +100 %."""
    return max(ratio, 1 / ratio) > times_from


def show_ratio(
    ratio: float,
    lo: float,
    hi: float,
    margin: float,
    *,
    least: int = LEAST_DECIMALS,
    keep: bool = True,
) -> IntervalText:
    """Return a ratio with its interval as text (docs/method.md#rounding).

    The lower bound is rounded down and the upper one up. Decimals are added until the rounded
    interval has the same position relative to 1 and to the margin's bounds 1/(1+δ) and 1+δ as the
    exact one. If six decimals are not enough, the wider interval is shown, which has the weaker
    verdict.

    `lo` may be 0 and `hi` infinite. `least` is the fewest decimals: 2 for text in whole percents.
    `keep` is that of `rounding.rounded`: false for a pair without a verdict.
    """
    if hi > LARGEST_RATIO:
        # An infinite bound needs no digits. The other numbers use those of the finite side.
        decimals = max(least, min(FINE_ENOUGH, decimals_of(abs(ratio - lo))))
        below = fixed(lo, decimals, ROUND_FLOOR)
        return IntervalText(fixed(ratio, decimals), below, INFINITY)
    return interval_text(rounded(ratio, lo, hi, margin=margin, least=least, keep=keep))


def show_comparison(comparison: Comparison) -> IntervalText | None:
    """Return the ratio of a comparison with its interval, or `None` without a comparison."""
    interval = comparison.ratio
    if interval is None:
        return None
    keep = comparison.verdict is not Verdict.INCONCLUSIVE
    near = interval.lo > 1 / NEAR and interval.hi < NEAR
    least = LEAST_DECIMALS + (comparison.statistic == "welch" and near)
    return show_ratio(*interval.figures, comparison.thresholds.margin, least=least, keep=keep)


def show_change(
    ratio: float, lo: float, hi: float, margin: float, *, least: int = 2, keep: bool = True
) -> IntervalText:
    """Return a ratio as a change: ``−17.2 % [−18.0, −16.4]``, with the digits of `show_ratio`.

    `least` and `keep` are parameters of `rounding.rounded`. `hi` may be infinite.
    """
    bounded = min(hi, LARGEST_RATIO)
    interval = rounded(ratio, lo, bounded, margin=margin, least=least, keep=keep)
    estimate, low, high = (
        signed_change(value, interval.decimals)
        for value in (interval.estimate, interval.lo, interval.hi)
    )
    high = high if hi <= LARGEST_RATIO else f"+{INFINITY}"
    return IntervalText(f"{estimate}{THIN_SPACE}%", low, high)


def signed_change(ratio: Decimal, decimals: int) -> str:
    """Return the change of a ratio from 1 in percent: ``+3.2`` for 1.032 with 3 decimals."""
    change = (ratio - 1) * 100
    return f"{'+' if change > 0 else ''}{fixed(change, decimals - 2)}"


def signed_percent(ratio: float) -> str:
    """Return a ratio as a signed change with two digits, at most one decimal: ``−3.7 %``, ``+22 %``."""
    percentage = 100 * (ratio - 1)
    if not math.isfinite(percentage):
        return INFINITY
    text = fixed(percentage, 1 if abs(percentage) < _TENS else 0)
    if not text.strip(f"{MINUS}0."):
        return f"0{THIN_SPACE}%"
    return f"{'+' if percentage > 0 else ''}{text}{THIN_SPACE}%"


def show_factor(ratio: float, lo: float, hi: float, margin: float, *, keep: bool) -> IntervalText:
    """Return a factor such as 1.82 with three digits, or more where the verdict needs them."""
    if hi > LARGEST_RATIO:
        return show_ratio(ratio, lo, hi, margin, keep=keep)
    start = three_digits(ratio)
    return interval_text(rounded(ratio, lo, hi, margin=margin, keep=keep, start=start))


def show_plain(value: float, lo: float, hi: float, *, most: int = MOST_DECIMALS) -> IntervalText:
    """Return a value with its interval if no limit applies to it, such as an exponent."""
    return interval_text(plain(value, lo, hi, most=most))


def interval_text(interval: Rounded) -> IntervalText:
    """Return a rounded interval as text."""
    return IntervalText(*map(_text, (interval.estimate, interval.lo, interval.hi)))


def measured_decimals(value: float, lo: float | None, hi: float | None, scale: float) -> int:
    """Return the decimals that a value × `scale` supports: three digits without an interval.

    The rule is that of the Particle Data Group: a half-width of 0.0165 (first digits 165, below
    355) keeps two digits, thus 3 decimals, and 0.0612 keeps one, thus 2 decimals. Tens and hundreds
    are printed in full.
    """
    scaled = value * scale
    if lo is None or hi is None or not hi > lo:
        whole = len(str(int(abs(scaled)))) if abs(scaled) >= 1 else 0
        return max(0, 3 - whole) if scaled else 0
    readable = 0 if scaled == 0 else max(0, MOST_DIGITS - 1 - decimal(scaled).adjusted())
    return min(readable, max(0, decimals_of((hi - lo) / 2 * scale)))


def column_decimals(decimals: Iterable[int]) -> int:
    """Return the decimals of a column: the lower quartile of those that its values support.

    The rule of the Particle Data Group can change by one digit from row to row. A common number of
    decimals aligns the column.
    """
    ordered = sorted(decimals)
    return ordered[len(ordered) // 4] if ordered else 0


def in_column(
    value: float,
    unit: tuple[str, float],
    natural: tuple[str, float],
    decimals: int,
    digits: int = FEWEST_DIGITS,
) -> tuple[str, float, int]:
    """Return the unit, the factor and the decimals of a value in a column: at least `digits` digits.

    The returned unit is empty if it is that of the column, `unit`. A value that is far too small or
    too large for it has its `natural` one.
    """
    readable = value == 0 or _LEAST_SHOWN <= abs(value * unit[1]) < _MOST_SHOWN
    name, factor = ("", unit[1]) if readable or unit == natural else natural
    scaled, least = value * factor, 0 if name else decimals
    if scaled and (factor != 1 or scaled != int(scaled)):  # a count, or bytes, needs no decimals
        least = max(least, digits - 1 - decimal(scaled).adjusted())
    return name, factor, least


def percent(fraction: float | None) -> str:
    """Return ``0.0134`` as ``1.3 %``, with two significant digits and tens in full."""
    if fraction is None or fraction == 0:
        return DASH if fraction is None else f"0{THIN_SPACE}%"
    value = decimal(fraction) * 100
    return f"{fixed(value, max(0, 1 - value.adjusted()))}{THIN_SPACE}%"


def percent_up(fraction: float | None) -> str:
    """Return a percentage with two digits, rounded up, for detectable effects. Tens are in full."""
    if fraction is None:
        return DASH
    if fraction <= 0:
        return f"0{THIN_SPACE}%"
    value = decimal(fraction) * 100
    return f"{fixed(value, max(0, 1 - value.adjusted()), ROUND_CEILING)}{THIN_SPACE}%"


def replication(rounds: int, runs: int) -> str:
    """Return rounds × runs per round, such as ``40×2``, or a dash without a round."""
    return f"{rounds}×{max(1, round(runs / rounds))}" if rounds else DASH


def interim_analyses(count: int) -> str:
    """Return a text such as ``3 interim analyses``."""
    return f"{count} interim analys{'is' if count == 1 else 'es'}"


def rate(count: float, family: str) -> str:
    """Return a number of bytes per second in the unit family of the scenario: ``"2.1 GiB/s"``."""
    unit, scale = size_unit(count, family)
    return f"{significant(count * scale, 3)}{THIN_SPACE}{unit}/s"


def rate_unit(family: str) -> tuple[str, float]:
    """Return unit and factor of a throughput in bytes per second."""
    return ("MB/s", 1e-6) if family == "si" else ("MiB/s", 2.0**-20)


def shortest(value: float, digits: int = 6) -> str:
    """Return a number with at most `digits` significant digits and no zeros at the end: 0.5, 2, 1e-05."""
    return f"{value:.{digits}g}"


def significant(value: float, digits: int) -> str:
    """Return a value with at least `digits` significant digits: 470, 47.0, 4.70."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else INFINITY
    return fixed(value, max(0, digits - 1 - decimal(value).adjusted()))


def column_size(preferred: float, sizes: Iterable[float], family: str) -> float:
    """Return the size that determines the unit of a column.

    It is `preferred`, unless the smallest value would be below a tenth in that unit. The smallest
    then determines the unit, if the largest has at most five digits.
    """
    positive = [size for size in sizes if size > 0]
    if not positive or min(positive) * size_unit(preferred, family)[1] >= _LEAST_SHOWN:
        return preferred
    fits = max(positive) * size_unit(min(positive), family)[1] < _MOST_SHOWN
    return min(positive) if fits else preferred


def metric_unit(metric: str, size: float, family: str, declared: str = "") -> tuple[str, float]:
    """Return unit and factor of a metric's printed values; `declared` is a foreign one's unit."""
    kind = METRICS.get(metric)
    match kind.unit if kind is not None else declared:
        case "s":
            return time_unit(size)
        case "bytes":
            return size_unit(size, family)
        case "bytes/s":
            unit, scale = size_unit(size, family)
            return f"{unit}/s", scale
        case "1/s":
            return "1/s", 1.0
        case _:
            return ("million", 1e-6) if metric == "instructions" and size >= _MILLION else ("", 1.0)


def fixed(value: float | Decimal, decimals: int, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a number as text, rounded as a decimal, so that the printed number is the judged one."""
    if not math.isfinite(value):
        return INFINITY if value > 0 else MINUS + INFINITY
    exact = value if isinstance(value, Decimal) else decimal(value)
    return _text(exact.quantize(Decimal(1).scaleb(-decimals), rounding, WIDE))


def _text(value: Decimal) -> str:
    return f"{value:f}".replace("-", MINUS)


def format_size(size: float, family: str = "iec", *, digits: int = 3) -> str:
    """Format bytes with about `digits` significant digits: ``"9.77 MiB"``."""
    unit, scale = size_unit(size, family)
    number = int(size) if unit == "B" else significant(size * scale, digits)
    return f"{number}{THIN_SPACE}{unit}"


def size_unit(size: float, family: str) -> tuple[str, float]:
    """Return unit and factor: ``("MiB", 2 ** -20)``. `family`: ``iec`` (1024) or ``si`` (1000)."""
    units = ("TB", "GB", "MB", "kB") if family == "si" else ("TiB", "GiB", "MiB", "KiB")
    unit = next((unit for unit in units if abs(size) >= SIZE_UNITS[unit]), "B")
    return unit, 1 / SIZE_UNITS[unit]


def format_duration(seconds: float, *, digits: int = 3) -> str:
    """Format a measured time in its natural unit: ``"412 µs"``, ``"21.3 ms"``, ``"1.70 s"``."""
    unit, scale = time_unit(seconds)
    return f"{significant(seconds * scale, digits)}{THIN_SPACE}{unit}"


def format_moment(timestamp: str) -> str:
    """Format a moment in UTC, such as ``2026-03-02T17:04:11Z``, to the minute: ``2026-03-02 17:04``."""
    return timestamp[:16].replace("T", " ")


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
    small = "ns" if 0 < seconds < DURATION_UNITS["µs"] else "µs"
    unit = next((unit for unit in ("s", "ms") if seconds >= DURATION_UNITS[unit]), small)
    return unit, float(PER_SECOND[unit])


def format_percent(
    fraction: float, *, decimals: int | None = None, digits: int = MOST_DIGITS_OF_PERCENT
) -> str:
    """Format 0.02 as ``"2 %"``, with the given number of decimals, or with at most `digits` digits."""
    # The product of floats would differ from the value: 0.285 * 100 is 28.499999999999996.
    value = decimal(fraction) * 100
    text = fixed(value, decimals) if decimals is not None else shortest(float(value), digits)
    return f"{text.replace('-', MINUS)}{THIN_SPACE}%"


def format_level(level: float) -> str:
    """Name a confidence interval by its level: ``99.94 % CI``."""
    # No level is rounded up to 100 %: two digits of its error are printed.
    error = Decimal(shortest(1 - level, 2))
    return f"{(100 - 100 * error).normalize():f}{THIN_SPACE}% CI"


def grouped(number: int, separator: str = " ") -> str:
    """Return a whole number with groups of three digits, such as ``20 000``."""
    return f"{number:,}".replace(",", separator)
