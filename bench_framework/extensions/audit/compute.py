"""Comparison of two figures: the factor between them, and the result of a statement about it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bench_framework.extensions.audit import wording
from bench_framework.extensions.audit.page import Number, Passage, Reading
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.phrases import Phrase
from bench_framework.model.reasons import Part
from bench_framework.model.record.sessions import Series
from bench_framework.model.verdict import Interval
from bench_framework.stats import welch
from bench_framework.text.names import listed
from bench_framework.text.reasons import phrase

Range = tuple[float, float]
LEVEL: Final = 0.95
MARGIN: Final = 0.02
"""The relative difference up to which two figures are called equal, as in a record."""
WORD: Final = re.compile(r"[a-z0-9]+(?:[._][a-z0-9]+)*", re.IGNORECASE)


class Status(StrEnum):
    """The result of a statement, the worst one first."""

    NOT_SUPPORTED = "not supported"
    NO_DATA = "no data"
    INCONCLUSIVE = "inconclusive"
    SUPPORTED = "supported"


@dataclass(frozen=True, slots=True)
class Finding:
    """A result of a statement with its reason, and the interval of the ratio if there is one."""

    status: Status
    reason: Phrase
    interval: Range | None = None


def finding(status: Status, code: ExtensionCode, *details: Part | Phrase) -> Finding:
    """Return a finding with the reason of a code."""
    return Finding(status, Phrase(code, details))


@dataclass(frozen=True, slots=True)
class Result:
    """A comparative statement: its result, the reason, the interval of the ratio if there is one, and its place."""

    status: Status
    """Result of the check."""
    reason: str
    """Reason for the result, in words."""
    interval: Range | None
    """Interval of the measured ratio; null without one."""
    line: int
    """Line of the page, from 1."""
    section: str
    """Heading above the statement."""
    text: str
    """The statement."""


def statement(place: Passage | Number, text: str, status: Status, reason: Phrase) -> Result:
    """Return the result of a statement about a place of the page."""
    return Result(status, phrase(reason), None, place.line, "".join(place.headings[-1:]), text)


@dataclass(frozen=True, slots=True)
class Sides:
    """Two figures of one kind: a statement compares the subject with the reference."""

    subject: Number
    reference: Number

    @property
    def kind(self) -> str:
        """Return the kind of both figures."""
        return self.subject.quantity.kind

    @property
    def from_data(self) -> bool:
        """Return whether both figures have runs in the data."""
        return self.subject.series is not None and self.reference.series is not None

    @property
    def interval(self) -> Interval | None:
        """Return subject ÷ reference by Welch's test, or `None` without runs or spread."""
        contrast = welch.compare(_series(self.subject), _series(self.reference))
        return contrast.interval(LEVEL) if contrast else None

    @property
    def estimate(self) -> tuple[float, float, float]:
        """Return subject ÷ reference and its bounds: of the runs, or of the printed digits."""
        if self.from_data and (i := self.interval):
            return i.ratio, i.lo, i.hi
        a, b = self.subject.quantity, self.reference.quantity
        return a.value / b.value, a.lo / b.hi, a.hi / max(b.lo, b.value / 10)

    def agrees(self, ranges: Iterable[Range]) -> bool:
        """Return whether the figures give a stated factor."""
        _, lo, hi = self.estimate
        return any(lo <= top and low <= hi for low, top in ranges)

    def __str__(self) -> str:
        sides = (self.subject, self.reference)
        return listed(f.quantity.text + f" ({f.label})" * bool(f.label) for f in sides)


def _series(figure: Number) -> Series:
    q = figure.quantity
    return figure.series or Series(WALL, figure.n, q.value, q.sd)


def is_rate(kind: str) -> bool:
    """Return whether a larger quantity of this kind is the better one."""
    return kind.endswith(("rate", "/s"))


def direction_of(text: str, quantity: Reading, kind: str) -> int:
    """Return the direction that the words near a factor state for the value: 1 up, −1 down, 0 none.

    Words after the factor within its clause come first, then the nearest ones before it.
    """
    after = wording.CLAUSE_END.split(text[quantity.end :].lstrip(" ("), maxsplit=1)[0]
    before = list(wording.DIRECTION.finditer(text[: quantity.start]))
    word = wording.DIRECTION.search(after) or (before[-1] if before else None)
    if word is None:
        return quantity.sign
    ways = {"up": 1, "down": -1, "better": -1, "worse": 1}
    rising = is_rate(kind) and word.lastgroup in ("better", "worse")
    return ways[word.lastgroup or ""] * (-1 if rising else 1)


def allowed(quantity: Reading, direction: int, text: str) -> list[Range]:
    """Return the ranges of subject ÷ reference that agree with a stated factor or percentage.

    "17 % faster" is read both as 17 % less time and as 1.17 times the speed. Truncated and round
    numbers agree with what they stand for.
    """
    lo, hi = _stated_range(quantity)
    if interval := wording.INTERVAL.match(text[quantity.end :]):
        scale = 0.01 if quantity.kind == "percent" else 1.0
        ends = sorted(float(end.replace("−", "-")) * scale for end in interval.groups())
        if quantity.sign:
            return [(1 + ends[0], 1 + ends[1])]
        lo, hi = min(lo, abs(ends[0])), max(hi, ends[1])
    if quantity.kind == "ratio":
        up, down = [(lo, hi)], [(1 / hi, 1 / max(lo, 1e-9))]
    elif quantity.about == "within":
        return [(1 - hi, 1 + hi)]
    elif re.match(r"\s*of\b", text[quantity.end :]) and not direction:
        return [(lo, hi)]
    else:
        up = [(1 + lo, 1 + hi), *([(1 / (1 - lo), 1 / (1 - hi))] if hi < 1 else [])]
        down = [(1 - hi, 1 - lo), (1 / (1 + hi), 1 / (1 + lo))]
    return up if direction > 0 else down if direction < 0 else up + down


def _stated_range(quantity: Reading) -> Range:
    digits, percent = re.sub(r"[^\d.]", "", quantity.text), quantity.kind == "percent"
    steps = 0.5 if percent or "." in digits else 0.0
    if percent and digits.endswith(("0", "5")) and "." not in digits:
        steps += 2
    slack = steps * (quantity.hi - quantity.lo)
    slack += 0.15 * quantity.value if quantity.about in wording.ROUGHLY else 0
    lo, hi = quantity.lo - slack, quantity.hi + slack
    if quantity.about in wording.LEAST:
        hi = max(hi, 0.99 if percent else 1e6)
    if quantity.about in wording.MOST:
        lo = 0.0 if percent else 1.0
    return max(lo, 0.0), max(hi, 1e-9)


def clock_of(figure: Number) -> str:
    """Return the clock that the label of a figure names: `CPU`, `WALL`, or an empty string."""
    text = f"{figure.label} {figure.column}"
    if wording.CPU_CLOCK.search(text):
        return CPU
    return WALL if wording.WALL_CLOCK.search(text) else ""


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return [word.lower() for word in WORD.findall(text)]


def content_words(text: str) -> frozenset[str]:
    """Return the words of a name that distinguish it from others."""
    return frozenset(words_of(text)) - wording.GENERIC


def nearest(pairs: Sequence[Sides], ranges: Sequence[Range], text: str = "") -> Sides:
    """Return the pair whose names share most words with a text, then the one closest to a factor."""
    words = {word[:5] for word in words_of(text) if word[3:]}

    def distance(pair: Sides) -> tuple[int, float]:
        names = words_of(f"{pair.subject.label} {pair.reference.label}")
        gap = min(abs(pair.estimate[0] - (lo + hi) / 2) for lo, hi in ranges)
        return -len(words & {name[:5] for name in names}), gap

    return min(pairs, key=distance)
