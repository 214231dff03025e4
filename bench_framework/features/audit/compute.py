"""Comparison of a stated factor or percentage with the figures that it refers to."""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from bench_framework.features.audit.quantities import RATIOS, Quantity
from bench_framework.model.imported import Series
from bench_framework.model.metrics import WALL
from bench_framework.stats import welch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench_framework.features.audit.page import Figure

Status = Literal["supported", "not supported", "inconclusive", "no data"]
LEVEL: Final = 0.95
MARGIN: Final = 0.02
"""The relative difference up to which two figures are called equal, as in a record."""
_UP: Final = re.compile(r"\b(?:more|as much|higher|larger|longer|increas\w+)\b", re.IGNORECASE)
_DOWN: Final = re.compile(
    r"\b(?:less|lower|fewer|smaller|shorter|reduc\w+|sav\w+)\b", re.IGNORECASE
)
_BETTER: Final = re.compile(
    r"\b(?:faster|quicker|as fast|speed-?ups?|improve\w*|better|gain\w*|outperform\w*)\b",
    re.IGNORECASE,
)
_WORSE: Final = re.compile(
    r"\b(?:slower|worse|overhead|regress\w*|degrad\w*|behind|los[tst]\w*|penalty|slowdown)\b",
    re.IGNORECASE,
)
_INTERVAL: Final = re.compile(
    r"[^.;\[\]()]{0,60}[\[(]\s*([+−-]?\d+(?:\.\d+)?)\s*%?\s*(?:,|–|to|\.\.)\s*([+−-]?\d+(?:\.\d+)?)\s*%?\s*[\])]"
)
"""A confidence interval after a factor or percentage."""
_CLAUSE_END: Final = re.compile(r"[,;()]|\band\b")
GENERIC: Final = frozenset(
    "time mean average avg result results total speed perf performance throughput memory runtime "  # noqa: SIM905 -- a list of words
    "baseline the a of in with and for by mode actual latency duration value cpu single run".split()
)
WORD: Final = re.compile(r"[a-z0-9]+(?:[._][a-z0-9]+)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two figures of one kind: a statement compares the subject with the reference."""

    subject: Figure
    reference: Figure

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the range of subject ÷ reference that the printed digits leave possible."""
        if (measured := self.contrast) is not None and self.from_data:
            interval = measured.interval(LEVEL)
            return interval.lo, interval.hi
        a, b = self.subject.quantity, self.reference.quantity
        return a.lo / b.hi, a.hi / max(b.lo, b.value / 10)

    @property
    def ratio(self) -> float:
        """Return subject ÷ reference: of the data if there are any, otherwise of the page."""
        if (measured := self.contrast) is not None and self.from_data:
            return measured.interval(LEVEL).ratio
        return self.subject.quantity.value / self.reference.quantity.value

    @property
    def from_data(self) -> bool:
        """Return whether both figures have runs in the data."""
        return self.subject.series is not None and self.reference.series is not None

    @property
    def contrast(self) -> welch.Contrast | None:
        """Return the comparison by Welch's test, or `None` without runs or spread."""
        ours, theirs = _series(self.subject), _series(self.reference)
        return welch.compare(ours, theirs) if ours and theirs else None

    @property
    def better(self) -> bool:
        """Return whether the subject is the better one: less time or memory, or a higher rate."""
        return (self.ratio < 1) != self.subject.quantity.kind.endswith(("rate", "/s"))

    def __str__(self) -> str:
        sides = (self.subject, self.reference)
        texts = [f.quantity.text + (f" ({f.label})" if f.label else "") for f in sides]
        return " and ".join(texts)


def _series(figure: Figure) -> Series | None:
    if figure.series is not None:
        return figure.series
    q = figure.quantity
    return Series(WALL, figure.n, q.value, q.sd) if figure.n and q.sd is not None else None


def direction_of(text: str, quantity: Quantity, kind: str) -> int:
    """Return the direction that the words near a factor state for the value: 1 up, −1 down, 0 none.

    Words after the factor within its clause come first, then the nearest ones before it.
    """
    after = _CLAUSE_END.split(text[quantity.end :].lstrip(" ("), maxsplit=1)[0]
    rises = 1 if kind.endswith(("rate", "/s")) else -1
    meanings = ((_BETTER, rises), (_WORSE, -rises), (_UP, 1), (_DOWN, -1))
    ahead = [(m.start(), way) for words, way in meanings if (m := words.search(after))]
    if ahead:
        return min(ahead)[1]
    before = text[: quantity.start]
    behind = [(m.end(), way) for words, way in meanings for m in words.finditer(before)]
    return max(behind)[1] if behind else quantity.sign


def compares(text: str) -> bool:
    """Return whether a text has a word such as "faster" or "less"."""
    return any(words.search(text) for words in (_BETTER, _WORSE, _UP, _DOWN))


def allowed(quantity: Quantity, direction: int, text: str) -> list[tuple[float, float]]:
    """Return the ranges of subject ÷ reference that agree with a stated factor or percentage.

    "17 % faster" is read both as 17 % less time and as 1.17 times the speed. Truncated and round
    numbers agree with what they stand for.
    """
    lo, hi = _stated_range(quantity)
    if interval := _INTERVAL.match(text[quantity.end :]):
        scale = 0.01 if quantity.kind == "percent" else 1.0
        ends = sorted(float(interval[n].replace("−", "-")) * scale for n in (1, 2))
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


def _stated_range(quantity: Quantity) -> tuple[float, float]:
    step = (quantity.hi - quantity.lo) if quantity.kind in RATIOS else 0.0
    digits = re.sub(r"[^\d.]", "", quantity.text)
    lo, hi = quantity.lo, quantity.hi
    if quantity.kind == "percent" or "." in digits:
        lo, hi = lo - step / 2, hi + step / 2
    if quantity.kind == "percent" and digits.endswith(("0", "5")) and "." not in digits:
        lo, hi = lo - 2 * step, hi + 2 * step
    if quantity.about in (
        "~",
        "≈",
        "about",
        "around",
        "roughly",
        "nearly",
        "almost",
        "approximately",
    ):
        lo, hi = lo - abs(quantity.value) * 0.15, hi + abs(quantity.value) * 0.15
    if quantity.about in (">", "≥", "over", "at least", "more than"):
        hi = max(hi, 1e6 if quantity.kind == "ratio" else 0.99)
    if quantity.about in ("<", "≤", "up to", "at most", "less than", "under"):
        lo = 1.0 if quantity.kind == "ratio" else 0.0
    return max(lo, 0.0), max(hi, 1e-9)


def agrees(pair: Pair, ranges: Iterable[tuple[float, float]]) -> bool:
    """Return whether a pair of figures gives a stated factor."""
    lo, hi = pair.bounds
    return any(lo <= top and low <= hi for low, top in ranges)


def content_words(text: str) -> frozenset[str]:
    """Return the words of a name that distinguish it from others."""
    return frozenset(word for word in words_of(text) if word not in GENERIC)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return [word.lower() for word in WORD.findall(text)]


def clock_of(figure: Figure) -> str:
    """Return the clock that the label of a time names: CPU, wall, or an empty string."""
    text = f"{figure.label} {figure.column}"
    if re.search(r"\b(?:cpu|user)[ -]time\b", text, re.IGNORECASE):
        return "CPU time"
    wall = re.search(r"\b(?:wall|elapsed|total|runtime|real)\b", text, re.IGNORECASE)
    return "wall time" if wall else ""


def shared_words(pair: Pair, text: str) -> int:
    """Return how many words of the names of a pair a text contains."""
    return len(_stems(text) & _stems(f"{pair.subject.label} {pair.reference.label}"))


def nearest(pairs: Sequence[Pair], ranges: Sequence[tuple[float, float]], text: str = "") -> Pair:
    """Return the pair whose names share most words with a text, then the one closest to a factor."""
    return min(
        pairs,
        key=lambda p: (
            -shared_words(p, text),
            min(abs(p.ratio - (lo + hi) / 2) for lo, hi in ranges),
        ),
    )


def _stems(text: str) -> set[str]:
    return {word[:5] for word in words_of(text) if len(word) > 3}  # noqa: PLR2004 -- short words


def exponents(figures: Iterable[Figure]) -> list[tuple[str, float, float, str]]:
    """Return exponents of time between neighbouring sizes: name, low, high, sizes."""
    series: dict[tuple[str, str], dict[float, Quantity]] = defaultdict(dict)
    for f in figures:
        if f.size and f.quantity.kind == "time" and f.quantity.lo > 0 and not f.secondary:
            name = f.column if re.fullmatch(r"[\d.,_\s]+\w{0,3}", f.row) else f.row
            series[name, ""].setdefault(f.size, f.quantity)
    results = []
    for (name, _), points in series.items():
        ordered = sorted(points.items())
        for (small, a), (large, b) in itertools.pairwise(ordered):
            step = math.log(large / small)
            what = f"from {_amount(small)} to {_amount(large)}"
            lo, hi = math.log(b.lo / a.hi) / step, math.log(b.hi / a.lo) / step
            results.append((name, lo, hi, what))
    return results


def _amount(size: float) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.3g}"
