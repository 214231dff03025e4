"""Search for the figures that a sentence or a table cell compares."""

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

from bench_framework.extensions.audit import compute, wording
from bench_framework.extensions.audit.page import RATIOS, Number, Page, Passage, Reading, quantities
from bench_framework.model.metrics import CPU
from bench_framework.text.numbers import format_size

MOST_FIGURES: Final = 50
"""Most figures of one name. A text with a more frequent name does not say which ones it compares."""
_SHORT_LIST: Final = 6
"""Figures of a list of which a line without names may compare two."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The pairs that a sentence may compare.

    `certain` is true if the sentence or its place in the page names them. `oriented` is false if
    the order of subject and reference is not known.
    """

    pairs: Sequence[compute.Sides]
    certain: bool = False
    oriented: bool = True


class Lookup:
    """Search for the figures that a sentence compares."""

    def __init__(self, page: Page) -> None:
        self.by_group: dict[int, list[Number]] = defaultdict(list)
        self.by_line: dict[tuple[int, int], list[Number]] = defaultdict(list)
        self.baselines: dict[tuple[int, str], set[int]] = defaultdict(set)
        self._names: dict[Words, list[Number]] = defaultdict(list)
        for f in page.figures:
            self.by_group[f.group].append(f)
            self.by_line[f.group, f.line].append(f)
            for name in {_name(text): 0 for text in (f.row, f.column, f.label)}:
                if any(w not in wording.GENERIC and re.search(r"[a-z]", w) and w[1:] for w in name):
                    self._names[name].append(f)
        for text in page.texts:
            if text.column and wording.BASELINE.match(text.text):
                self.baselines[text.group, text.column].add(text.line)
        self._lengths = sorted({len(name) for name in self._names}, reverse=True)
        self.mentions = cache(self._mentions)

    def _mentions(self, text: str) -> list[tuple[int, Number]]:
        """Return the figures whose names a text contains, with the position of the name.

        Longer names come first, so that "parallel stream" does not name "stream". Of figures with
        one name, those remain whose column or qualifier the text contains too.
        """
        words = [(m[0].lower(), m.start()) for m in compute.WORD.finditer(text)]
        free = [word for word, _ in words]
        places: dict[Words, int] = {}
        for length in self._lengths:
            for at in range(len(free) - length + 1):
                name = tuple(free[at : at + length])
                if name in self._names:
                    places.setdefault(name, words[at][1])
                    free[at : at + length] = [""] * length
        at_word = dict(reversed(words))
        known: set[int] = set()
        mentioned: list[tuple[int, Number]] = []
        for name, place in places.items():
            scored: list[tuple[int, int, Number]] = []
            figures = self._names[name]
            for f in figures if len(figures) <= MOST_FIGURES else ():
                if id(f) not in known:
                    known.add(id(f))
                    hits = {n for n in map(_name, (f.row, f.column)) if n in places} | {name}
                    marks = [at_word[w] for w in _qualifiers(f.column, f.row) if w in at_word]
                    scored.append((len(hits) + bool(marks), min(marks, default=place), f))
            best = max((score for score, _, _ in scored), default=0)
            mentioned += [(at, f) for score, at, f in scored if score == best]
        return mentioned

    def candidates(self, text: Passage, end: float = math.inf) -> Candidates:
        """Return the pairs of figures that a sentence compares, or a factor in a clause up to `end`."""
        stated = [
            Number("", q, text.line, text.group, text.headings)
            for q in quantities(text.text)
            if q.kind not in RATIOS
        ]
        inline: list[compute.Sides] = []
        for a, b in itertools.pairwise(stated):
            between = text.text[a.quantity.end : b.quantity.start]
            if wording.ARROW.fullmatch(between):
                inline += pairs_of([b], [a])
            elif wording.VERSUS.fullmatch(between):
                inline += pairs_of([a], [b])
        if inline:
            return Candidates(inline, any(p.subject.quantity.start < end for p in inline))
        if text.column:
            return self._of_row(text)
        stated = [f for f in stated if f.quantity.kind != "size"]
        if pairs := pairs_of(stated, stated):
            certain = len(stated) == 2 and wording.DIRECTION.search(text.text) is not None  # noqa: PLR2004 -- one pair
            return Candidates(pairs, certain, oriented=False)
        near = self.by_group.get(text.group) if text.group else self.by_line.get((0, text.line))
        mentioned = self._of_names(text)
        if mentioned.pairs or not near or len(near) > _SHORT_LIST:
            return mentioned
        certain = len(near) == 2 and wording.EFFECT_LABEL.match(text.text) is not None  # noqa: PLR2004 -- one pair
        return Candidates(pairs_of(near, near, sized=True), certain, oriented=False)

    def _of_row(self, text: Passage) -> Candidates:
        """Return the pairs of a derived cell: with a named row, the baseline, or another column."""
        ours = self.by_line.get((text.group, text.line), [])
        if wording.PERCENT_OF.match(text.column):
            used = [f for f in ours if f.quantity.kind == "size" and f.quantity.lo > 0]
            sized = [(f, size) for f in used if (size := f.size)]
            amounts = [(f, Reading("size", s, s, s, format_size(s, "si"))) for f, s in sized]
            inputs = [compute.Sides(f, replace(f, label="input", quantity=q)) for f, q in amounts]
            return Candidates(inputs, certain=True)
        after = (part for t in (text.text, text.column) for part in wording.THAN.split(t, 1)[1:])
        mentioned = self.mentions(" ".join(after))
        base = [f for _, f in mentioned if f.group == text.group and f.line != text.line]
        if not base and not any(wording.UNCHANGED.search(f.row) for f in ours):
            marked = self.baselines.get((text.group, text.column), set()) - {text.line}
            base = [f for line in marked for f in self.by_line.get((text.group, line), ())]
        if across := pairs_of(ours, base, column=True):
            return Candidates(across, certain=wording.STEP.search(text.column) is None)
        within = pairs_of(ours, ours)
        if within and not any(compute.clock_of(f) == CPU for f in ours):
            earlier = wording.IS_BEFORE.search
            ordered = [
                p for p in within if earlier(p.reference.column) and not earlier(p.subject.column)
            ]
            return Candidates(ordered or within, certain=True, oriented=bool(ordered))
        table = self.by_group.get(text.group, [])
        pairs = pairs_of(ours, table, column=True)
        return Candidates(pairs, bool(pairs) and len({f.line for f in table}) == 2)  # noqa: PLR2004 -- two rows

    def _of_names(self, text: Passage) -> Candidates:
        """Return the pairs of the variants that a sentence names, or that its heading names."""
        matches, than = self.mentions(text.text), wording.THAN.search(text.text)
        if not matches and text.headings:
            matches, than = self.mentions(text.headings[-1]), None
        if not matches:
            return Candidates([])
        middle = than.start() if than else len(text.text)
        before = [f for place, f in matches if place < middle]
        after = [f for place, f in matches if place > middle]
        if than and not before and "," in text.text[than.end() :]:
            # "Compared with A, B is faster": the reference comes first.
            comma = text.text.index(",", than.end())
            before = [f for place, f in matches if place > comma]
            after = [f for place, f in matches if place < comma]
        both, several = bool(before and after), len({place for place, _ in matches}) > 1
        if not both:
            # Several figures at one place are those of one variant.
            before = after = [f for _, f in matches] if several else []
        pairs = pairs_of(before, after, sized=True) or [
            pair
            for _, a in matches
            for pair in pairs_of([a], self.by_group[a.group], sized=True)
            if pair.reference.row != a.row
        ]
        here = [p for p in pairs if p.subject.headings == p.reference.headings == text.headings]
        pairs = here or pairs
        names = {f.row for _, f in matches}
        groups = {frozenset((p.subject.group, p.reference.group)) for p in pairs}
        clear = len(groups) == 1 and (both or (several and len(names) == 2))  # noqa: PLR2004 -- one pair
        # Names without a pair of figures: no other figures of the page are meant.
        certain = clear or len(pairs) <= 1
        return Candidates(pairs, certain, oriented=both or not several)


@lru_cache(maxsize=65536)
def _name(text: str) -> Words:
    """Return the words of a name without its qualifiers in parentheses."""
    return tuple(compute.words_of(re.sub(r"\(.*?\)", "", text)))


@lru_cache(maxsize=65536)
def _qualifiers(column: str, row: str) -> frozenset[str]:
    """Return the words that distinguish a figure from others with its name."""
    return compute.content_words(" ".join((column, *re.findall(r"\((.*?)\)", row))))


def pairs_of(
    ours: Sequence[Number], theirs: Sequence[Number], *, column: bool = False, sized: bool = False
) -> list[compute.Sides]:
    """Return the pairs of figures that measure one quantity, optionally in one column or of one input.

    There are no pairs if so many figures are possible that a text names no two of them.
    """
    if len(ours) * len(theirs) > MOST_FIGURES**2:
        return []
    return [
        compute.Sides(a, b)
        for a in ours
        for b in theirs
        if a is not b
        and a.quantity.kind == b.quantity.kind
        and not (column and a.column != b.column)
        # A figure that is rounded to zero has no ratio.
        and min(a.quantity.lo, b.quantity.lo) > 0
        # The same program in two sets of runs is not compared, ...
        and not (a.row and (a.row, a.column) == (b.row, b.column))
        # ... nor another variant by another metric.
        and not (a.group == b.group > 0 and a.row != b.row and a.column != b.column)
        and not (sized and a.size and b.size and a.size != b.size)
    ]


def of_metric(
    pairs: Sequence[compute.Sides], text: Passage, clause: str = ""
) -> list[compute.Sides]:
    """Return the pairs of the metric that a clause names; without a name, times and rates first."""
    words = clause or text.text
    if wording.CPU_CLOCK.search(words):
        pairs = [p for p in pairs if compute.clock_of(p.subject) == CPU]
    kinds = {p.kind for p in pairs}
    if wording.FASTER.search(words):
        kinds -= {"size"}
    elif wording.MEMORY.search(words) or wording.MEMORY.search(text.column):
        kinds &= {"size"}
    elif len(kinds) > 1 and wording.RATE.search(words):
        kinds -= {"time", "size"}
    elif kinds != {"size"}:
        kinds -= {"size"}
    return [p for p in pairs if p.kind in kinds]
