"""Conditions of the measurements on a page: sessions, clocks, stages, inputs, units and outputs."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from bench_framework.extensions.audit import compute, wording
from bench_framework.extensions.audit.compute import (
    MARGIN,
    Finding,
    Result,
    Sides,
    Status,
    finding,
    statement,
)
from bench_framework.extensions.audit.lookup import Lookup
from bench_framework.extensions.audit.page import RATIOS, Number, Page, Passage, Reading, quantities
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.phrases import Phrase
from bench_framework.rounding import thresholds
from bench_framework.text.numbers import fixed
from bench_framework.text.reasons import phrase_of

_FAR: Final = 0.05
"""The relative difference from which two figures without spread are not called equal."""
MOST_ROWS: Final = 8
"""Number of rows of a table that a statement quotes."""
MOST_RATES: Final = 100
"""Most rates of a page whose stages and limits are searched."""
_NO_OVERLAP: Final = 0.03
"""The relative difference up to which a combined rate equals that of stages in sequence."""
_EXCESS: Final = 1.05
"""The factor above the rate of stages in sequence that shows that a clock excludes a stage."""
_PREFIX: Final = 4
"""Letters by which words such as "write" and "writing" are recognised as one."""


class PageConditions:
    """Conditions that make figures of a page incomparable."""

    def __init__(self, page: Page, lookup: Lookup) -> None:
        self.page = page
        self.lookup = lookup
        self._outputs_checked = wording.OUTPUTS_CHECKED.search(page.prose) is not None
        self._sizes: dict[str, set[float]] = defaultdict(set)
        for f in page.figures:
            self._sizes[f.row] |= {f.size} if f.size else set()
        self._counts = {
            (t.group, t.line): t.text.strip()
            for t in page.texts
            if wording.COUNTED.match(t.column.strip()) and re.fullmatch(r"[\d,_ ]+", t.text)
        }
        rates = [f for f in page.figures if f.quantity.kind == "rate" and f.quantity.lo > 0]
        self._rates = rates if len(rates) <= MOST_RATES else []
        about = {t.line: t.text for t in reversed(page.texts) if not t.column}
        self._stages = [
            f for f in self._rates if wording.STAGE.search(f"{f.label} {about.get(f.line, '')}")
        ]

    def statements(self) -> Iterator[Result]:
        """Yield the statements that concern a list, a table or the whole page."""
        yield from self._tables()
        yield from self._two_scales()
        if not wording.EVIDENCE.search(self.page.prose):
            yield from self._mechanisms()
        yield from self._units()
        yield from self._above_limit()

    def judge(
        self, pair: Sides, *, equal: bool, margin: float = MARGIN, certain: bool = True
    ) -> Finding:
        """Judge a statement that agrees with a pair of figures by their runs or their spread.

        `equal` states that it calls them equal, up to the relative difference `margin`, and
        `certain` that it names them.
        """
        interval = pair.interval
        if interval is None or not certain:
            gap = abs(pair.estimate[0] - 1)
            if interval is None and equal and gap > max(margin, _FAR):
                return finding(Status.NOT_SUPPORTED, ExtensionCode.FIGURES_DIFFER, str(pair), gap)
            reason = Phrase(ExtensionCode.FIGURES_AGREE, str(pair))
            if interval is None:
                reason = Phrase(ExtensionCode.BUT, (reason, self.lack(pair)))
            if not certain:
                reason = Phrase(ExtensionCode.FIGURES_NOT_NAMED, reason)
            return Finding(Status.INCONCLUSIVE, reason)
        bounds = lo, hi = interval.lo, interval.hi
        source = ExtensionCode.RATIO_OF_DATA if pair.from_data else ExtensionCode.RATIO_OF_SUMMARIES
        result = Phrase(source, (str(pair), *interval.figures))
        if not equal and lo <= 1 <= hi:
            reason = Phrase(ExtensionCode.INCLUDES_ONE, result)
            return Finding(Status.INCONCLUSIVE, reason, bounds)
        if not equal:
            return Finding(Status.SUPPORTED, result, bounds)
        low, _, high = thresholds(margin)
        status, code = Status.INCONCLUSIVE, ExtensionCode.MAY_NOT_BE_WITHIN
        if low <= lo and hi <= high:
            status, code = Status.SUPPORTED, ExtensionCode.IS_WITHIN
        elif lo > high or hi < low:
            status, code = Status.NOT_SUPPORTED, ExtensionCode.NOT_WITHIN
        return Finding(status, Phrase(code, (result, margin)), bounds)

    def lack(self, pair: Sides) -> Phrase:
        """Return what is missing to judge a pair of figures without runs or spread."""
        a, b, lacks = pair.subject, pair.reference, _lacks(pair)
        lacks += [Phrase(ExtensionCode.NO_CHECK_STATED)] * (not self._outputs_checked)
        reason = Phrase(
            ExtensionCode.PAGE_STATES if lacks else ExtensionCode.NO_INTERVALS, tuple(lacks)
        )
        several = len(set().union(*self._sizes.values())) > 1
        if a.row != b.row and len(self._sizes[a.row] & self._sizes[b.row]) == 1 and several:
            return Phrase(ExtensionCode.ONE_INPUT_SIZE, reason)
        return reason

    def conflict(self, pairs: Sequence[Sides], text: Passage) -> Phrase | None:
        """Return why none of the pairs may be compared, or `None`."""
        reasons = [self._conflict(pair.subject, pair.reference, text) for pair in pairs]
        return reasons[0] if all(reasons) else None

    def _conflict(self, a: Number, b: Number, text: Passage) -> Phrase | None:
        if {compute.clock_of(a), compute.clock_of(b)} == {CPU, WALL}:
            return Phrase(ExtensionCode.TWO_CLOCKS)
        counts = {self._counts.get((f.group, f.line), "") for f in (a, b)} - {""}
        if len(counts) > 1:
            return Phrase(ExtensionCode.OTHER_RESULTS, tuple(sorted(counts)))
        ours, theirs = self._exclusion(a, text), self._exclusion(b, text)
        if bool(ours) != bool(theirs):
            return ours or theirs
        moved, sets = self._drift
        ours_in, theirs_in = (self._sets_with(f) & sets for f in (a, b))
        return moved if ours_in and theirs_in and not ours_in & theirs_in else None

    def _sets_with(self, figure: Number) -> set[int]:
        """Return the group of a figure; of one that a sentence repeats, the groups that have it."""
        q = figure.quantity
        if figure.label:
            return {figure.group}
        same = (f for f in self.page.figures if f.quantity.kind == q.kind)
        return {f.group for f in same if math.isclose(f.quantity.value, q.value)}

    @cached_property
    def _drift(self) -> tuple[Phrase | None, frozenset[int]]:
        """Return how much an unchanged reference moved between two sets, and the sets."""
        firsts: dict[tuple[object, ...], Number] = {}
        for f in self.page.figures:
            if not f.group or f.quantity.lo <= 0 or not wording.UNCHANGED.search(f.row):
                continue
            first = firsts.setdefault((f.row, f.column, f.size, f.quantity.kind), f)
            pair = Sides(f, first)
            ratio, lo, hi = pair.estimate
            moved = abs(ratio - 1) > MARGIN
            if interval := pair.interval:
                lo, hi = interval.lo, interval.hi
                moved = lo > 1 or hi < 1
            if moved and first.headings != f.headings:
                reason = Phrase(ExtensionCode.REFERENCE_MOVED, (first.row, ratio, lo, hi))
                return reason, frozenset((first.group, f.group))
        return None, frozenset()

    def drift_of(self, text: Passage) -> Phrase | None:
        """Return why a comparison of two sessions is not supported, or `None`."""
        across = wording.ACROSS_SESSIONS.search(text.text)
        return self._drift[0] if across and text.group not in self._drift[1] else None

    # -- stages --------------------------------------------------------------------------------

    def _in_sequence(self, keys: Iterable[str]) -> float:
        """Return the rate of stages one after the other, or 0 if the page lacks one of them."""
        stages = [[f for f in self._stages if key in f.label.lower()] for key in keys]
        fastest = {max(stage, key=lambda f: f.quantity.hi) for stage in stages if stage}
        known = len(fastest) == len(stages) > 1
        return 1 / sum(1 / f.quantity.hi for f in fastest) if known else 0.0

    @cached_property
    def serial(self) -> Phrase | None:
        """Return why a loss is not overhead: a combined rate is that of its stages in sequence."""
        for both in self._rates:
            parts = re.split(r"\s(?:\+|&|and)\s", re.sub(r"\(.*?\)", "", both.row).lower())
            rate = self._in_sequence(part.strip() for part in parts)
            if rate and abs(both.quantity.value / rate - 1) <= _NO_OVERLAP:
                return Phrase(ExtensionCode.NO_OVERLAP, (both.quantity.text, both.row, rate))
        return None

    @cached_property
    def _excluded(self) -> dict[Number, Phrase]:
        """Return the figures whose clock cannot include both stages that their row describes."""
        excluded = {}
        for text in (t for t in self.page.texts if t.column and self._stages):
            match = wording.THEN.search(text.text)
            words = match.groups() if match else ()
            rate = self._in_sequence(word[:_PREFIX].lower() for word in words)
            for f in self.lookup.by_line.get((text.group, text.line), ()) if rate else ():
                if f.quantity.kind == "rate" and f.quantity.value > rate * _EXCESS:
                    figures = (f.quantity.text, f.row, rate)
                    excluded[f] = Phrase(ExtensionCode.STAGE_NOT_TIMED, figures)
        return excluded

    def _exclusion(self, figure: Number, text: Passage) -> Phrase | None:
        """Return why the clock of a figure, or of the one that it repeats, excludes a stage."""
        q, mentioned = figure.quantity, self.lookup.mentions(text.text) if self._excluded else ()
        same = (f for _, f in mentioned if q.lo <= f.quantity.value <= q.hi)
        return next((self._excluded[f] for f in (figure, *same) if f in self._excluded), None)

    # -- lists, tables and units -----------------------------------------------------------------

    def _tables(self) -> Iterator[Result]:
        """Yield tables that list figures of variants without a factor, runs and spread."""
        derived = {
            t.group
            for t in self.page.texts
            if t.column and any(q.kind in RATIOS for q in quantities(t.text))
        }
        for group in sorted(self.page.tables - derived):
            columns: dict[str, list[Number]] = defaultdict(list)
            for f in self.lookup.by_group[group]:
                if not f.series and not f.row[:1].isdigit():
                    columns[f.column].append(f)
            figures = max(columns.values(), key=len, default=[])
            if len({f.row for f in figures}) < 2:  # noqa: PLR2004 -- a comparison
                continue
            pair = Sides(figures[0], figures[1])
            if _lacks(pair):
                listed = [f"{f.row} {f.quantity.text}" for f in figures[:MOST_ROWS]]
                listed += ["…"] * bool(figures[MOST_ROWS:])
                text = f"{figures[0].column}: {'; '.join(listed)}"
                reason = Phrase(ExtensionCode.VARIANTS_COMPARED, self.lack(pair))
                yield statement(figures[0], text, Status.INCONCLUSIVE, reason)

    def _two_scales(self) -> Iterator[Result]:
        """Yield lists and columns that state one effect as a factor and another as a percentage."""
        groups: dict[tuple[int, str], list[tuple[Passage, Reading]]] = defaultdict(list)
        for text in self.page.texts:
            if text.group and wording.DIRECTION.search(f"{text.text} {text.column}"):
                q = next((q for q in quantities(text.text) if q.kind in RATIOS), None)
                groups[text.group, text.column] += [(text, q)] if q else []
        for items in groups.values():
            if {q.kind for _, q in items} == set(RATIOS):
                factors = (
                    f"{q.text} ({fixed(1 / (1 - q.value), 2)}x)"
                    for _, q in items
                    if q.kind == "percent" and q.value < 1
                )
                reason = Phrase(ExtensionCode.TWO_SCALES, tuple(factors))
                listed = "; ".join(text.text for text, _ in items)
                yield statement(items[0][0], listed, Status.INCONCLUSIVE, reason)

    def _mechanisms(self) -> Iterator[Result]:
        """Yield columns that attribute figures to mechanisms without evidence that these ran."""
        columns: dict[tuple[int, str], list[Passage]] = defaultdict(list)
        for t in self.page.texts:
            if wording.MECHANISM.search(t.column) and self.lookup.by_line.get((t.group, t.line)):
                columns[t.group, t.column].append(t)
        for (_, title), cells in columns.items():
            several = any(re.search(r"\s\+\s", t.text) for t in cells)
            reason = Phrase(ExtensionCode.NO_EVIDENCE)
            if several:
                reason = Phrase(ExtensionCode.NO_SEPARATE_FIGURES, reason)
            listed = "; ".join(f"{t.lead}: {t.text}" for t in cells)
            yield statement(cells[0], f"{title}: {listed}", Status.NO_DATA, reason)

    def _units(self) -> Iterator[Result]:
        """Yield decimal units for powers of 1024 on a page with rates in decimal units."""
        for line, code in self.page.code if self._rates else ():
            if match := wording.POWER_OF_1024.search(code):
                reason = phrase_of(ExtensionCode.POWER_OF_1024, match["unit"])
                at = line + code[: match.start()].count("\n") + 1
                unit = self._rates[0].quantity.text.split()[-1]
                text = phrase_of(ExtensionCode.AND_RATES_IN, match[0].strip(), unit)
                yield Result(Status.INCONCLUSIVE, reason, None, at, "", text)
                return

    def _above_limit(self) -> Iterator[Result]:
        """Yield rates above a hardware limit that the page states."""
        for limit in (f for f in self._rates if wording.LIMIT.search(f.row)):
            words = _prefixes(limit.row) - _prefixes(wording.LIMIT_NAMES)
            for f in self._rates:
                if _prefixes(f"{f.row} {f.column}") & words and f.quantity.lo > limit.quantity.hi:
                    reason = Phrase(ExtensionCode.ABOVE_LIMIT, (limit.quantity.text, limit.row))
                    text = f"{f.label}: {f.quantity.text}"
                    yield statement(f, text, Status.NOT_SUPPORTED, reason)


def _lacks(pair: Sides) -> list[Phrase]:
    """Return what is missing for an interval of a pair of figures without runs."""
    sides = (pair.subject, pair.reference)
    if any(f.n == 1 for f in sides):
        return [Phrase(ExtensionCode.ONE_RUN_STATED)]
    lacks = [Phrase(ExtensionCode.NO_RUNS_STATED)] * (not all(f.n for f in sides))
    return lacks + [Phrase(ExtensionCode.NO_SPREAD_STATED)] * any(
        f.quantity.sd is None for f in sides
    )


def _prefixes(text: str) -> set[str]:
    return {word[:_PREFIX] for word in re.findall(r"[a-z]{4,}", text.lower())}
