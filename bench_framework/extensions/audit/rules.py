"""The comparative statements of a page, and a result with a reason for each."""

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

from bench_framework.extensions.audit import compute, wording
from bench_framework.extensions.audit.compute import (
    MARGIN,
    Finding,
    Result,
    Sides,
    Status,
    direction_of,
    finding,
)
from bench_framework.extensions.audit.conditions import PageConditions
from bench_framework.extensions.audit.lookup import Candidates, Lookup, of_metric, pairs_of
from bench_framework.extensions.audit.page import RATIOS, Page, Passage, Reading, quantities
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.facts.records import LINEAR
from bench_framework.model.phrases import Phrase
from bench_framework.text.numbers import format_size
from bench_framework.text.reasons import phrase

_NO_CAUSE: Final = Phrase(ExtensionCode.CAUSE_NOT_VARIED)
_SHORT: Final = 20
"""Length up to which a table cell is a mark such as "slower", which names no variant."""
_NEAR: Final = 60
"""Characters before and after a factor in which a word shows that it compares."""


def audit_page(page: Page) -> list[Result]:
    """Return every comparative statement of a page with its result."""
    auditor = _Auditor(page)
    statements = [s for text in page.texts if (s := auditor.statement(text)) is not None]
    return [*statements, *auditor.conditions.statements()]


class _Auditor:
    """Rules that apply to one sentence, list item, heading or table cell."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.lookup = Lookup(page)
        self.conditions = PageConditions(page, self.lookup)

    def statement(self, text: Passage) -> Result | None:
        """Return the statement in a text with its worst result, or `None` if it compares nothing."""
        findings = sorted(self._findings(text), key=lambda f: [*Status].index(f.status))
        if not findings:
            return None
        worst = findings[0]
        reasons = {
            phrase(f.reason): 0
            for f in findings
            if worst.status == f.status or f.reason == _NO_CAUSE
        }
        words = f"{text.lead}, {text.column}: {text.text}" if text.column else text.text
        section = text.headings[-2:-1] if text.heading else text.headings[-1:]
        reason = "; ".join(list(reasons)[:2])
        return Result(worst.status, reason, worst.interval, text.line, "".join(section), words)

    def _findings(self, text: Passage) -> Iterator[Finding]:
        words = text.text
        baselines = self.lookup.baselines.get((text.group, text.column), ())
        if text.line in baselines or words.endswith("?"):
            return
        ratios = [q for q in quantities(words) if q.kind in RATIOS]
        negated = wording.NEGATED.search(words) is not None
        factors = [] if negated else [q for q in ratios if _compares(q, text)]
        for factor in factors:
            yield self._factor(factor, text, alone=len(ratios) == 1)
        if text.heading:
            return
        fast = wording.PERFORMANCE.search(f"{words} {text.column}") is not None
        if not factors and not negated and (fast or not text.column):
            yield from self._words(text, fast=fast)
        if fast:
            yield from self._explanations(text, compared=bool(factors))
        if wording.LINEAR.search(words) and not wording.NOT_LINEAR.search(words):
            yield self._linear(text)
        if condition := self._condition(text):
            yield finding(Status.NO_DATA, ExtensionCode.CONDITION_NOT_MEASURED, condition)
        lost = wording.STAGE_LOSS.search(words) and (factors or wording.CAUSE.search(words))
        if lost and self.conditions.serial:
            yield Finding(Status.NOT_SUPPORTED, self.conditions.serial)

    # -- factors and words -----------------------------------------------------------------------

    def _factor(self, q: Reading, text: Passage, *, alone: bool) -> Finding:
        last = wording.CLAUSE.search(text.text, q.end)
        end = last.start() if last else len(text.text)
        start = max((m.end() for m in wording.CLAUSE.finditer(text.text, 0, q.start)), default=0)
        clause = text.text[start:end]
        rows = set() if text.column else {f.row for _, f in self.lookup.mentions(clause)}
        # A clause that names two variants compares these, not those of the whole sentence.
        part = replace(text, text=clause) if len(rows) > 1 else text
        choice = self.lookup.candidates(part, end)
        if not (alone or rows or text.column):
            choice = replace(choice, certain=False)  # the names of another clause
        neutral = q.kind == "percent" and not direction_of(f"{text.text} {text.column}", q, "time")
        equal = q.about == "within" or (neutral and wording.EQUAL.search(text.text) is not None)
        return self._check(q, text, choice, of_metric(choice.pairs, text, clause), equal=equal)

    def _words(self, text: Passage, *, fast: bool) -> Iterator[Finding]:
        """Yield findings about statements without a factor: equal, better, best."""
        order, equal = wording.ORDER.search(text.text), wording.EQUAL.search(text.text)
        choice = self.lookup.candidates(text)
        pairs = of_metric(choice.pairs, text) if choice.certain else []
        word = order or equal or wording.DIFFERENCE.search(text.text)
        place, quoted = (word.start(), f"“{word[0]}”") if word else (0, "")
        # "Slower" is any factor above 1.
        q = Reading("ratio", 1, 1, 1e6, quoted, place, place)
        stated = bool(pairs and word)
        if order:
            stated = fast and (not text.column or choice.certain or len(text.text) > _SHORT)
        if fast and equal and not wording.FASTER.search(text.text):
            before = wording.BEFORE.search(text.text) and not pairs
            if before and not wording.IS_BEFORE.search(self._measured):
                yield finding(Status.NO_DATA, ExtensionCode.NO_EARLIER_VERSION)
            else:
                yield self._check(replace(q, lo=1e-6), text, choice, pairs, equal=True)
        elif fast and (best := wording.BEST.search(text.text)):
            changes = wording.EFFECT_OF_CHANGE.search(text.text)
            superlative = best[0].lower()
            yield self._largest_effect(text) if changes else self._superlative(text, superlative)
        elif stated:
            yield self._check(q, text, choice, pairs)

    def _check(
        self,
        q: Reading,
        text: Passage,
        choice: Candidates,
        pairs: list[Sides],
        *,
        equal: bool = False,
    ) -> Finding:
        """Check a factor, or a word as a factor, against pairs of figures."""
        if not pairs:
            return finding(Status.NO_DATA, ExtensionCode.TWO_NOT_NAMED, q.text)
        stated = f"{text.text} {text.column}"
        ways = {kind: direction_of(stated, q, kind) for kind in {p.kind for p in pairs}}
        share = [(q.lo, q.hi)] if wording.PERCENT_OF.match(text.column) else None
        ranges = {kind: share or compute.allowed(q, way, text.text) for kind, way in ways.items()}
        every = [r for kind in ranges for r in ranges[kind]]
        matching = [p for p in pairs if p.agrees(ranges[p.kind])]
        if not matching and not choice.certain:
            return finding(Status.NO_DATA, ExtensionCode.TWO_NOT_NAMED, q.text)
        if not matching:
            best = compute.nearest(pairs, every)
            source = Phrase(ExtensionCode.DATA_OF, str(best)) if best.from_data else str(best)
            reason = Phrase(ExtensionCode.OTHER_FACTOR, (source, best.estimate[0], q.text))
            if best.agrees(compute.allowed(q, 0, text.text)):
                reason = Phrase(ExtensionCode.OPPOSITE_DIRECTION, reason)
            return Finding(Status.NOT_SUPPORTED, reason)
        if conflict := self.conditions.conflict(matching, text):
            return Finding(Status.NOT_SUPPORTED, conflict)
        best = compute.nearest(matching, every, text.text)
        if q.start == q.end:  # a word, which is true of all its figures if it is "equal"
            far = max(matching, key=lambda p: abs(math.log(p.estimate[0])))
            best = far if equal else matching[0]
        margin = max(q.value, MARGIN) if q.kind == "percent" else MARGIN
        clear = choice.oriented or bool(text.column) or set(ways.values()) == {0} or equal
        certain = choice.certain and clear
        return self.conditions.judge(best, equal=equal, margin=margin, certain=certain)

    def _superlative(self, text: Passage, word: str) -> Finding:
        rows = self.lookup.by_line.get((text.group, text.line), []) if text.column else []
        first = next(iter(rows or [f for _, f in self.lookup.mentions(text.text)]), None)
        others = self.lookup.by_group[first.group] if first else []
        pairs = pairs_of([first] if first else [], others, column=True, sized=True)
        if not pairs:
            return finding(Status.NO_DATA, ExtensionCode.NO_FIGURES_OF, word)
        # In time and memory, the better figure is below the others.
        above = word in ("slowest", "worst", "highest", "largest")
        above = above != compute.is_rate(pairs[0].kind)
        for pair in pairs if wording.BEST_OF_ALL.search(text.text) else ():
            _, lo, hi = pair.estimate
            if hi < 1 if above else lo > 1:
                return finding(Status.NOT_SUPPORTED, ExtensionCode.OPPOSITE_OF, str(pair), word)
        closest = min(pairs, key=lambda p: abs(math.log(p.estimate[0])))
        return self.conditions.judge(closest, equal=False)

    @cached_property
    def _effects(self) -> list[tuple[float, str]]:
        """Return the percentages that headings state for changes, with the change."""
        return [
            (q.value, re.sub(r"^\W*\d+\W+|\(.*", "", words).strip())
            for words in [text.text for text in self.page.texts if text.heading]
            for q in quantities(words)
            if q.kind == "percent" and direction_of(words, q, "time")
        ]

    def _largest_effect(self, text: Passage) -> Finding:
        """Check "the biggest improvement" by the percentages that the page states for changes."""
        words = _content(text.text)
        shared = [(len(_content(name) & words), value, name) for value, name in self._effects]
        common, value, name = max(shared, default=(0, 0.0, ""))
        if not common:
            return finding(Status.NO_DATA, ExtensionCode.EFFECTS_NOT_STATED)
        most, top = max(self._effects)
        if most <= value:
            return finding(Status.INCONCLUSIVE, ExtensionCode.PERCENTAGES_AGREE)
        figures = (top, most, name, value)
        return finding(Status.NOT_SUPPORTED, ExtensionCode.LARGER_EFFECT, *figures)

    # -- causes, growth, predictions, recommendations --------------------------------------------

    def _explanations(self, text: Passage, *, compared: bool) -> Iterator[Finding]:
        """Yield findings about causes, comparisons of two sessions, and predictions."""
        if wording.CAUSE.search(text.text):
            words = _content(text.text)
            alone = next((row for row, names in self._without if names & words), None)
            rests = finding(Status.INCONCLUSIVE, ExtensionCode.RESTS_ON, alone or "")
            yield rests if alone else Finding(Status.NO_DATA, _NO_CAUSE)
        if gap := self.conditions.drift_of(text):
            yield Finding(Status.NOT_SUPPORTED, gap)
        predicted = any(map(wording.PREDICTION.search, (text.text, *text.headings[1:])))
        if predicted and (compared or wording.ORDER.search(text.text)):
            yield finding(Status.NO_DATA, ExtensionCode.PREDICTION)

    @cached_property
    def _without(self) -> list[tuple[str, set[str]]]:
        """Return the rows that leave out a change, with their words."""
        rows = {f.row: _content(f.row) for f in self.page.figures if wording.WITHOUT.search(f.row)}
        return list(rows.items())

    @cached_property
    def _growth(self) -> list[tuple[str, float, float, tuple[str, str]]]:
        """Return exponents of time between neighbouring sizes: name, low, high, sizes."""
        series: dict[str, dict[float, Reading]] = defaultdict(dict)
        for f in self.page.figures:
            if f.size and f.quantity.kind == "time" and f.quantity.lo > 0:
                series[f.row].setdefault(f.size, f.quantity)
        growth = []
        for name, points in series.items():
            for (small, a), (large, b) in itertools.pairwise(sorted(points.items())):
                lo, hi = (math.log(r) / math.log(large / small) for r in (b.lo / a.hi, b.hi / a.lo))
                sizes = (format_size(small, "si"), format_size(large, "si"))
                growth.append((name, lo, hi, sizes))
        return growth

    def _linear(self, text: Passage) -> Finding:
        rows = {f.row for _, f in self.lookup.mentions(text.text)}
        growth = [g for g in self._growth if g[0] in rows] or self._growth
        for name, lo, hi, sizes in growth:
            if hi < LINEAR[0] or lo > LINEAR[1]:
                exponent = (lo + hi) / 2
                return finding(
                    Status.NOT_SUPPORTED, ExtensionCode.NOT_LINEAR, name, exponent, *sizes
                )
        if growth:
            return finding(Status.INCONCLUSIVE, ExtensionCode.EXPONENTS_AGREE)
        return finding(Status.NO_DATA, ExtensionCode.NO_TIMES_BY_SIZE)

    def _condition(self, text: Passage) -> str:
        """Return the condition of a recommendation if the page measured nothing of this kind."""
        if not wording.USE.search(text.text):
            return ""
        places = (text.text, *text.headings[-1:])
        match = next(filter(None, map(wording.CONDITION.search, places)), None)
        words = re.findall(r"[\w/-]{3,}", match[1].lower()) if match else []
        known = any(word in self._measured for word in words if word not in ("and", "the"))
        return match[1] if match and not known else ""

    @cached_property
    def _measured(self) -> str:
        """Return the names of the figures, and the workloads that the page calls its own."""
        workloads = (m[0] for m in wording.THIS_WORKLOAD.finditer(self.page.prose))
        names = {f"{f.label} {f.column} {' '.join(f.headings)}": 0 for f in self.page.figures}
        return " ".join((*names, *workloads)).lower()


def _compares(q: Reading, text: Passage) -> bool:
    """Return whether a factor or percentage compares two figures."""
    start, follows = max(0, q.start - _NEAR), text.text[q.end :]
    near = f"{text.text[start : q.end + _NEAR]} {text.column}"
    compared = q.sign or wording.DIRECTION.search(near) or wording.DIFFERENCE.search(near)
    if wording.PERCENT_OF.match(text.column):
        return True
    if q.kind == "percent":
        of_limit = wording.SHARE_OF_LIMIT.match(follows)
        return not wording.SHARE.match(follows) and bool(compared or of_limit)
    # "20x repeated" and "8x GPUs" are counts; "(2.04x)" is a factor.
    return bool(compared or re.match(r"\W*$|\s*\)", follows))


def _content(text: str) -> set[str]:
    """Return the words of a text that may name a change."""
    words = re.findall(r"[a-z_][\w.-]{3,}", text.lower())
    return {word for word in words if not wording.PERFORMANCE.fullmatch(word)}
