"""Search for the figures that a sentence or a table cell compares."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from bench_framework.features.audit import wording
from bench_framework.features.audit.compute import GENERIC, WORD, Pair, clock_of, compares, words_of
from bench_framework.features.audit.page import Figure, Page, Text
from bench_framework.features.audit.quantities import RATIOS, Quantity, quantities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_FIGURES: Final = 300
"""A sentence without names is compared with all pairs of a page with at most this many figures."""
_ARROW: Final = re.compile(r"\W*(?:→|->|=>|\bto\b|\bdown to\b|\bup to\b)\W*")
_VERSUS: Final = re.compile(
    r"[^.;]{0,30}\b(?:vs\.?|versus|against|instead of|compared (?:to|with))\W*(?:\w+\W+){0,2}"
)
_THAN: Final = re.compile(
    r"\b(?:than|over|vs\.?|versus|compared (?:to|with)|relative to|against|of|as \w+ as)\b",
    re.IGNORECASE,
)
_BASELINE: Final = re.compile(
    r"^\W*(?:baseline|ref(?:erence)?|-+|–|—|(?:.*\()?1(?:\.0+)?\s?[x×]?(?:\s?±.*)?)\W*$",
    re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"baseline|reference", re.IGNORECASE)
_EARLIER: Final = re.compile(r"\b(?:original|before|old|baseline|previous)\b", re.IGNORECASE)
_STEP: Final = re.compile(r"\b(?:step|previous|cumulative|each)\b", re.IGNORECASE)
_EFFECT_LABEL: Final = re.compile(
    r"\W*(?:\w+ )?(?:differences?|improvements?|speed-?up|change|reduction|overhead|ratio|delta)\b",
    re.IGNORECASE,
)


Words = tuple[str, ...]


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
        self._marked: dict[tuple[int, str], set[int]] = {}

    @cached_property
    def _by_line(self) -> dict[tuple[int, int], list[Figure]]:
        """Return the figures by group and line."""
        lines: dict[tuple[int, int], list[Figure]] = defaultdict(list)
        for f in self.page.figures:
            lines[f.group, f.line].append(f)
        return lines

    @cached_property
    def by_group(self) -> dict[int, list[Figure]]:
        """Return the figures by the number of their list or table."""
        groups: dict[int, list[Figure]] = defaultdict(list)
        for f in self.page.figures:
            groups[f.group].append(f)
        return groups

    @cached_property
    def _names(self) -> dict[Words, list[Figure]]:
        """Return the figures by the words of their row, column or label."""
        names: dict[Words, list[Figure]] = defaultdict(list)
        for f in self.page.figures:
            if not f.secondary:
                for name in dict.fromkeys(map(_name, (f.row, f.column, f.label))):
                    if any(w not in GENERIC and re.search(r"[a-z]", w) and w[1:] for w in name):
                        names[name].append(f)
        return names

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted({len(name) for name in self._names}, reverse=True)

    def mentions(self, text: str) -> list[tuple[int, Figure]]:
        """Return the figures whose names a text contains, with the position of the name.

        Longer names come first, so that "parallel stream" does not name "stream". Of figures with
        one name, those remain whose column or qualifier the text contains too.
        """
        words = [(m[0].lower(), m.start()) for m in WORD.finditer(text)]
        free = [word for word, _ in words]
        places: dict[Words, int] = {}
        for length in self._lengths:
            for at in range(len(free) - length + 1):
                name = tuple(free[at : at + length])
                if name in self._names:
                    places.setdefault(name, words[at][1])
                    free[at : at + length] = [""] * length
        at_word = dict(reversed(words))
        by_name: dict[Words, list[tuple[int, int, Figure]]] = defaultdict(list)
        known: set[int] = set()
        for name, at_name in places.items():
            for figure in self._names[name]:
                if id(figure) not in known:
                    known.add(id(figure))
                    hits = {n for n in map(_name, (figure.row, figure.column)) if n in places}
                    marks = [at_word[w] for w in _qualifiers(figure) if w in at_word]
                    place = min(marks) if marks else at_name
                    by_name[name].append((len(hits | {name}) + bool(marks), place, figure))
        return [
            (place, figure)
            for entries in by_name.values()
            for best in (max(score for score, _, _ in entries),)
            for score, place, figure in entries
            if score == best
        ]

    def candidates(self, text: Text, factor: Quantity | None = None) -> Candidates:
        """Return the pairs of figures that a sentence compares, or that a factor in it refers to."""
        inline = list(_inline(text))
        if inline:
            return Candidates(
                tuple(inline), certain=factor is None or _belongs(factor, inline, text)
            )
        if text.column:
            return self._of_row(text)
        stated = [f for f in _figures(text) if f.quantity.kind != "size"]
        pairs = [p for a in stated for b in stated if a is not b for p in _pair(a, b)]
        if pairs:
            certain = len(stated) == 2 and compares(text.text)  # noqa: PLR2004 -- one pair
            return Candidates(tuple(pairs), certain, oriented=False)
        near = self.by_group.get(text.group, []) if text.group else []
        near = near or [f for f in self.by_group.get(0, []) if f.line == text.line]
        by_name = self._of_names(text)
        if by_name.pairs:
            return by_name
        if 2 <= len(near) <= 6:  # noqa: PLR2004 -- the figures of a short list
            pairs = [p for a in near for b in near if a is not b for p in _pair(a, b, sized=True)]
            label = _EFFECT_LABEL.match(text.text) is not None
            certain = label and len(near) == 2  # noqa: PLR2004 -- one pair
            return Candidates(tuple(pairs), certain, oriented=False)
        if by_name.certain or len(self.page.figures) > MOST_FIGURES:
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
        ours = [f for f in self._by_line.get((text.group, text.line), []) if not f.secondary]
        if re.match(r"\s*%\s*of\b", text.column):
            return Candidates(
                tuple(Pair(f, _sized(f)) for f in ours if f.size and f.quantity.kind == "size"),
                certain=True,
            )
        by_name = self.mentions(f"{_after_than(text.text)} {_after_than(text.column)}")
        base = [f for _, f in by_name if f.group == text.group and f.line != text.line]
        if not base and not any(_REFERENCE.search(f.row) for f in ours):
            lines = self._baselines(text.group, text.column) - {text.line}
            base = [f for line in lines for f in self._by_line.get((text.group, line), [])]
        across = [p for a in ours for b in base for p in _pair(a, b, column=True)]
        within = [p for a in ours for b in ours if a is not b for p in _pair(a, b)]
        if across:
            return Candidates(tuple(across), certain=_STEP.search(text.column) is None)
        if within and not any(clock_of(f) == "CPU time" for f in ours):
            ordered = [
                p
                for p in within
                if _EARLIER.search(p.reference.column) and not _EARLIER.search(p.subject.column)
            ]
            return Candidates(tuple(ordered or within), certain=True, oriented=bool(ordered))
        table = [f for f in self.by_group[text.group] if not f.secondary]
        lines = {f.line for f in table}
        if len(lines) > MOST_FIGURES:
            return Candidates((), certain=False)
        others = (f for f in table if f.line != text.line)
        rest = [p for b in others for a in ours for p in _pair(a, b, column=True)]
        return Candidates(tuple(rest), certain=len(lines) == 2)  # noqa: PLR2004 -- one pair

    def _baselines(self, group: int, column: str) -> set[int]:
        """Return the lines of a table whose cell in a column marks the baseline."""
        if (group, column) not in self._marked:
            table = next(t for t in self.page.tables if t.group == group)
            place = table.head.index(column)
            marked = {line for line, cells in table.rows if is_baseline(cells[place])}
            self._marked[group, column] = marked
        return self._marked[group, column]

    def _of_names(self, text: Text) -> Candidates:
        """Return the pairs of the variants that a sentence names, or that its heading names."""
        matches = self.mentions(text.text)
        heading = False
        if not matches and text.headings:
            matches, heading = self.mentions(text.headings[-1]), True
        if not matches:
            return Candidates((), certain=False)
        than = None if heading else _THAN.search(text.text)
        before = [f for place, f in matches if than is None or place < than.start()]
        after = [f for place, f in matches if than is not None and place > than.start()]
        if than is not None and not before and "," in text.text[than.end() :]:
            # "Compared with A, B is faster": the reference comes first.
            comma = text.text.index(",", than.end())
            before = [f for place, f in matches if place > comma]
            after = [f for place, f in matches if place < comma]
        both, several = bool(before and after), len({place for place, _ in matches}) > 1
        if not both:
            # Several figures at one place are those of one variant.
            before = after = [f for _, f in matches] if several else []
        pairs = [p for a in before for b in after if a is not b for p in _pair(a, b, sized=True)]
        if not pairs:
            pairs = [
                p
                for _, a in matches
                for b in self.by_group[a.group]
                if a.row != b.row
                for p in _pair(a, b, sized=True)
            ]
        local = [p for p in pairs if p.subject.headings == p.reference.headings == text.headings]
        chosen = local or pairs
        if chosen:
            names = {f.row for _, f in matches if not f.secondary}
            groups = {frozenset((p.subject.group, p.reference.group)) for p in chosen}
            clear = len(groups) == 1 and (both or (several and len(names) == 2))  # noqa: PLR2004 -- one pair
            return Candidates(
                tuple(chosen), certain=clear or len(chosen) == 1, oriented=both or not several
            )
        return Candidates((), certain=True)


@lru_cache(maxsize=65536)
def _name(text: str) -> Words:
    """Return the words of a name without its qualifiers in parentheses."""
    return tuple(words_of(re.sub(r"\(.*?\)", "", text)))


def _qualifiers(figure: Figure) -> set[str]:
    """Return the words that distinguish a figure from others with its name."""
    inside = " ".join(re.findall(r"\((.*?)\)", figure.row))
    return {w for w in words_of(f"{figure.column} {inside}") if w not in GENERIC}


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
    if min(a.quantity.lo, b.quantity.lo) <= 0:
        return  # a figure that is rounded to zero has no ratio
    if a.row and (a.row, a.column) == (b.row, b.column):
        return  # the same program in two sets of runs
    if a.group == b.group and a.row != b.row and a.column != b.column and a.group > 0:
        return  # another variant and another metric
    if sized and a.size and b.size and a.size != b.size:
        return
    yield Pair(a, b)


def _figures(text: Text) -> list[Figure]:
    """Return the times, sizes and rates that a sentence states itself."""
    return [
        Figure("", q, text.line, text.group, text.headings)
        for q in quantities(text.text)
        if q.kind not in RATIOS
    ]


def _belongs(factor: Quantity, pairs: list[Pair], text: Text) -> bool:
    """Return whether one of the pairs of a sentence precedes a factor or shares its clause."""
    start, end = wording.clause_range(text.text, factor.start, factor.end)
    places = [p.subject.quantity for p in pairs]
    return any(q.end <= factor.start or start <= q.start < end for q in places)


def _inline(text: Text) -> Iterator[Pair]:
    """Yield the pairs that a sentence states itself, such as "399 ms → 199 ms"."""
    for a, b in itertools.pairwise(_figures(text)):
        between = text.text[a.quantity.end : b.quantity.start]
        if _ARROW.fullmatch(between):
            yield from _pair(b, a)
        elif _VERSUS.fullmatch(between):
            yield from _pair(a, b)


def is_baseline(cell: str) -> bool:
    """Return whether a cell marks the row with which the others are compared."""
    return _BASELINE.match(cell) is not None


def of_metric(pairs: Sequence[Pair], text: Text, clause: str = "") -> list[Pair]:
    """Return the pairs of the metric that a clause names; without a name, times and rates first."""
    words = clause or text.text
    kinds = {p.subject.quantity.kind for p in pairs}
    if re.search(r"\b(?:faster|slower|quicker|as fast)\b", words):
        kinds -= {"size"}
    elif wording.MEMORY.search(words) or wording.MEMORY.search(text.column):
        kinds &= {"size"}
    elif len(kinds) > 1 and wording.RATE.search(words):
        kinds -= {"time", "size"}
    elif kinds != {"size"}:
        kinds -= {"size"}
    return [p for p in pairs if p.subject.quantity.kind in kinds]
