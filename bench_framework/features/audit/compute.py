"""Comparison of a stated factor or percentage with the figures that it refers to."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from bench_framework.features.audit.page import Figure, Page, Text
from bench_framework.features.audit.quantities import RATIOS, Quantity, quantities
from bench_framework.model.imported import Series
from bench_framework.model.metrics import WALL
from bench_framework.stats import welch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Status = Literal["supported", "not supported", "inconclusive", "no data"]
LEVEL: Final = 0.95
MARGIN: Final = 0.02
"""The relative difference up to which two figures are called equal, as in a record."""
MOST_FIGURES: Final = 300
"""A sentence without names is compared with all pairs of a page with at most this many figures."""
_UP: Final = re.compile(r"\b(?:more|higher|larger|longer|increas\w+)\b", re.IGNORECASE)
_DOWN: Final = re.compile(
    r"\b(?:less|lower|fewer|smaller|shorter|reduc\w+|sav\w+)\b", re.IGNORECASE
)
_BETTER: Final = re.compile(
    r"\b(?:faster|quicker|speed-?ups?|improve\w*|better|gain\w*|outperform\w*)\b", re.IGNORECASE
)
_WORSE: Final = re.compile(
    r"\b(?:slower|worse|overhead|regress\w*|degrad\w*|behind|los[tst]\w*|penalty|slowdown)\b",
    re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(r"[,;()]|\band\b")
_ARROW: Final = re.compile(r"\W*(?:→|->|=>|\bto\b|\bdown to\b|\bup to\b)\W*")
_VERSUS: Final = re.compile(
    r"[^.;]{0,30}\b(?:vs\.?|versus|against|instead of|compared (?:to|with))\W*"
)
_THAN: Final = re.compile(
    r"\b(?:than|over|vs\.?|versus|compared (?:to|with)|relative to|against|of)\b", re.IGNORECASE
)
_BASELINE: Final = re.compile(
    r"^\W*(?:baseline|ref(?:erence)?|-+|–|—|(?:.*\()?1(?:\.0+)?\s?[x×]?(?:\s?±.*)?)\W*$",
    re.IGNORECASE,
)
_GENERIC: Final = frozenset(
    "time mean average avg result results total speed perf performance throughput memory runtime "  # noqa: SIM905 -- a list of words
    "baseline the a of in with and for by mode actual latency duration value cpu single run".split()
)
_WORD: Final = re.compile(r"[a-z0-9]+(?:[._][a-z0-9]+)*", re.IGNORECASE)


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


def allowed(quantity: Quantity, direction: int, text: str) -> list[tuple[float, float]]:
    """Return the ranges of subject ÷ reference that agree with a stated factor or percentage.

    "17 % faster" is read both as 17 % less time and as 1.17 times the speed. Truncated and round
    numbers agree with what they stand for.
    """
    lo, hi = _stated_range(quantity)
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


@dataclass(frozen=True, slots=True)
class Candidates:
    """The pairs that a sentence may compare.

    `certain` is true if the sentence or its place in the page names them. `oriented` is false if
    the order of subject and reference is not known.
    """

    pairs: tuple[Pair, ...]
    certain: bool
    oriented: bool = True


class Lookup:
    """Search for the figures that a sentence compares."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @cached_property
    def _names(self) -> list[tuple[tuple[str, ...], int]]:
        """Return the words of rows and columns with the numbers of their figures, longest first."""
        names: dict[tuple[str, ...], None] = {}
        for figure in self.page.figures:
            for text in (figure.row, figure.column, figure.label):
                words = tuple(_words(re.sub(r"\(.*?\)", "", text)))
                if any(word not in _GENERIC for word in words):
                    names[words] = None
        return sorted(((w, len(w)) for w in names), key=lambda item: -item[1])

    @cached_property
    def _figure_words(self) -> list[tuple[list[tuple[str, ...]], set[str]]]:
        """Return the names of each figure, and the words that distinguish it from its namesakes."""
        rows = []
        for f in self.page.figures:
            names = [tuple(_words(re.sub(r"\(.*?\)", "", t))) for t in (f.row, f.column, f.label)]
            extra = {w for w in _words(f"{f.row} {f.column} {f.label}") if w not in _GENERIC}
            rows.append(([n for n in names if n], extra - {w for n in names for w in n[:9]}))
            rows[-1][1].update(w for w in _words(f.column) if w not in _GENERIC)
            rows[-1][1].update(w for t in re.findall(r"\((.*?)\)", f.row) for w in _words(t))
        return rows

    def mentions(self, text: str) -> list[tuple[int, Figure]]:
        """Return the figures whose names a text contains, with the position of the name."""
        words = [(m[0].lower(), m.start()) for m in _WORD.finditer(text)]
        places: dict[tuple[str, ...], int] = {}
        free = [word for word, _ in words]
        for name, length in self._names:
            for at in range(len(free) - length + 1):
                if tuple(free[at : at + length]) == name:
                    places.setdefault(name, words[at][1])
                    free[at : at + length] = [""] * length
        if not places:
            return []
        at_word = dict(reversed(words))
        best: dict[tuple[str, ...], list[tuple[int, int, Figure]]] = {}
        for figure, (names, extra) in zip(self.page.figures, self._figure_words, strict=True):
            hits = [name for name in names if name in places]
            if hits and not figure.secondary:
                marks = [at_word[word] for word in extra if word in at_word]
                place = min(marks) if marks else places[hits[0]]
                found = best.setdefault(hits[0], [])
                found.append((len(set(hits)) + bool(marks), place, figure))
        return [
            (place, figure)
            for group in best.values()
            for score, place, figure in group
            if score == max(s for s, _, _ in group)
        ]

    def candidates(self, text: Text) -> Candidates:
        """Return the pairs of figures that a sentence compares."""
        inline = list(_inline(text))
        if inline:
            return Candidates(tuple(inline), certain=True)
        if text.column:
            return self._of_row(text)
        near = [
            f
            for f in self.page.figures
            if (f.group and f.group == text.group) or f.line == text.line
        ]
        named = self._of_names(text)
        if named.pairs:
            return named
        if 2 <= len(near) <= 6:  # noqa: PLR2004 -- the figures of a short list
            pairs = [p for a in near for b in near if a is not b for p in _pair(a, b, sized=True)]
            certain = len(near) == 2  # noqa: PLR2004 -- one pair
            return Candidates(tuple(pairs), certain, oriented=False)
        if named.certain or len(self.page.figures) > MOST_FIGURES:
            return Candidates((), certain=False)
        every = self.page.figures
        pairs = [
            p
            for a in every
            for b in every
            if a is not b and a.group == b.group and not a.secondary and not b.secondary
            for p in _pair(a, b, sized=True)
        ]
        return Candidates(tuple(pairs), certain=False)

    def _of_row(self, text: Text) -> Candidates:
        """Return the pairs of a derived cell: with a named row, the baseline, or another column."""
        table = [f for f in self.page.figures if f.group == text.group and not f.secondary]
        ours = [f for f in table if f.line == text.line]
        others = [f for f in table if f.line != text.line]
        if re.match(r"\s*%\s*of\b", text.column):
            return Candidates(
                tuple(Pair(f, _sized(f)) for f in ours if f.size and f.quantity.kind == "size"),
                certain=True,
            )
        rows = next((t.rows for t in self.page.tables if t.group == text.group), ())
        head = next((t.head for t in self.page.tables if t.group == text.group), ())
        named = self.mentions(f"{_after_than(text.text)} {_after_than(text.column)}")
        lines = {f.line for _, f in named if f in others}
        if not lines:
            place = head.index(text.column) if text.column in head else 0
            lines = {line for line, cells in rows if _BASELINE.match(cells[place])} - {text.line}
            if re.search(r"baseline|reference", ours[0].row if ours else "", re.IGNORECASE):
                lines = set()
        base = [f for f in others if f.line in lines]
        across = [p for a in ours for b in base for p in _pair(a, b, column=True)]
        within = [p for a in ours for b in ours if a is not b for p in _pair(a, b)]
        if across or within:
            return Candidates((*across, *within), certain=True)
        rest = [p for a in ours for b in others for p in _pair(a, b, column=True)]
        return Candidates(tuple(rest), certain=len(rows) == 2)  # noqa: PLR2004 -- one pair

    def _of_names(self, text: Text) -> Candidates:
        """Return the pairs of the variants that a sentence names, or that its heading names."""
        found = self.mentions(text.text)
        heading = False
        if not found and text.headings:
            found, heading = self.mentions(text.headings[-1]), True
        if not found:
            return Candidates((), certain=False)
        than = None if heading else _THAN.search(text.text)
        before = [f for place, f in found if than is None or place < than.start()]
        after = [f for place, f in found if than is not None and place > than.start()]
        both, several = bool(before and after), len({place for place, _ in found}) > 1
        if not both:
            # Several figures at one place are those of one variant.
            before = after = [f for _, f in found] if several else []
        pairs = [p for a in before for b in after if a is not b for p in _pair(a, b, sized=True)]
        if not pairs:
            pairs = [
                p
                for _, a in found
                for b in self.page.figures
                if a is not b and a.row != b.row and a.group == b.group
                for p in _pair(a, b, sized=True)
            ]
        local = [p for p in pairs if p.subject.headings == p.reference.headings == text.headings]
        chosen = local or pairs
        if chosen:
            names = {f.row for _, f in found if not f.secondary}
            groups = {frozenset((p.subject.group, p.reference.group)) for p in chosen}
            clear = len(groups) == 1 and (both or (several and len(names) == 2))  # noqa: PLR2004 -- one pair
            return Candidates(
                tuple(chosen), certain=clear or len(chosen) == 1, oriented=both or not several
            )
        return Candidates((), certain=True)


def content_words(text: str) -> frozenset[str]:
    """Return the words of a name that distinguish it from others."""
    return frozenset(word for word in _words(text) if word not in _GENERIC)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _after_than(text: str) -> str:
    match = _THAN.search(text)
    return text[match.end() :] if match else ""


def _sized(figure: Figure) -> Figure:
    """Return the size of the input of a figure as a figure of its own."""
    value = figure.size or 1.0
    text = next((q.text for h in figure.headings[::-1] for q in quantities(h)), "")
    quantity = Quantity("size", value, value, value, text, 0, 0)
    return Figure("input", quantity, figure.line, figure.group, figure.headings)


def _pair(a: Figure, b: Figure, *, column: bool = False, sized: bool = False) -> Iterator[Pair]:
    """Yield the pair of two figures if they measure the same quantity, optionally of one input."""
    if a.quantity.kind != b.quantity.kind or (column and a.column != b.column):
        return
    if a.row and (a.row, a.column) == (b.row, b.column):
        return  # the same program in two sets of runs
    if sized and a.size and b.size and a.size != b.size:
        return
    yield Pair(a, b)


def _inline(text: Text) -> Iterator[Pair]:
    """Yield the pairs that a sentence states itself, such as "399 ms → 199 ms"."""
    measured = [q for q in quantities(text.text) if q.kind not in RATIOS]
    for first, second in itertools.pairwise(measured):
        between = text.text[first.end : second.start]
        a, b = (Figure("", q, text.line, text.group, text.headings) for q in (first, second))
        if _ARROW.fullmatch(between):
            yield from _pair(b, a)
        elif _VERSUS.fullmatch(between):
            yield from _pair(a, b)


def clock_of(figure: Figure) -> str:
    """Return the clock that the label of a time names: CPU, wall, or an empty string."""
    text = f"{figure.label} {figure.column}"
    if re.search(r"\b(?:cpu|user)\b(?:.{0,3}\btime)?", text, re.IGNORECASE):
        return "CPU time"
    wall = re.search(r"\b(?:wall|elapsed|total|runtime|real)\b", text, re.IGNORECASE)
    return "wall time" if wall else ""


def is_baseline(cell: str) -> bool:
    """Return whether a cell marks the row with which the others are compared."""
    return _BASELINE.match(cell) is not None


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
    return {word[:5] for word in _words(text) if len(word) > 3}  # noqa: PLR2004 -- short words
