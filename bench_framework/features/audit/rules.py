"""The comparative statements of a page, and a result with a reason for each."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from bench_framework.features.audit import wording
from bench_framework.features.audit.compute import (
    MARGIN,
    Pair,
    Status,
    agrees,
    allowed,
    direction_of,
    exponents,
    nearest,
    shared_words,
)
from bench_framework.features.audit.conditions import Conditions
from bench_framework.features.audit.judging import Finding, judge
from bench_framework.features.audit.lookup import Candidates, Lookup, is_baseline, of_metric
from bench_framework.features.audit.quantities import RATIOS, Quantity, quantities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench_framework.features.audit.page import Page, Text


_SEVERITY: Final[tuple[Status, ...]] = ("not supported", "no data", "inconclusive", "supported")
_NO_CAUSE: Final = "it names a cause, and the page has no variant that differs in this alone"
_FEW: Final = 12
"""Number of pairs above which one of them may give a stated factor by chance."""
_SHORT: Final = 20
"""Length up to which a table cell is a mark such as "slower", which names no variant."""
_LINEAR_RANGE: Final = (0.95, 1.05)


@dataclass(frozen=True, slots=True)
class Statement:
    """A comparative statement of a page with its result."""

    line: int
    section: str
    text: str
    finding: Finding


def audit_page(page: Page) -> tuple[Statement, ...]:
    """Return every comparative statement of a page with its result, in the order of lines."""
    auditor = _Auditor(page)
    statements = [s for text in page.texts if (s := auditor.statement(text)) is not None]
    statements += [
        Statement(line, section, text, Finding(status, reason))
        for line, section, text, status, reason in auditor.conditions.statements()
    ]
    return tuple(sorted(statements, key=lambda s: s.line))


class _Auditor:
    """Rules that apply to one sentence, list item, heading or table cell."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.lookup = Lookup(page)
        self.conditions = Conditions(page, self.lookup)

    def statement(self, text: Text) -> Statement | None:
        """Return the statement in a text with its worst result, or `None` if it compares nothing."""
        findings = list(self._findings(text))
        if not findings:
            return None
        findings.sort(key=lambda f: _SEVERITY.index(f.status))
        status = findings[0].status
        reasons = list(
            dict.fromkeys(f.reason for f in findings if f.status == status or f.reason == _NO_CAUSE)
        )
        worst = replace(findings[0], reason="; ".join(reasons[:2]))
        words = f"{text.lead}, {text.column}: {text.text}" if text.column else text.text
        section = text.headings[-2:-1] if text.heading else text.headings[-1:]
        return Statement(text.line, "".join(section), words, worst)

    def _findings(self, text: Text) -> Iterator[Finding]:
        if (text.column and is_baseline(text.text)) or text.text.endswith("?"):
            return
        negated = wording.NEGATED.search(text.text)
        factors = [q for q in quantities(text.text) if not negated and self._compares(q, text)]
        for factor in factors:
            yield self._factor(factor, text)
        if text.heading:
            return
        fast = wording.PERFORMANCE.search(f"{text.text} {text.column}") is not None
        pairs = self.lookup.candidates(text)
        if not factors and (fast or not text.column):
            yield from self._words(text, pairs, fast=fast)
        if fast and wording.CAUSE.search(text.text):
            yield self._cause(text)
        if fast and (gap := self.conditions.drift_of(text)):
            yield Finding("not supported", gap)
        if wording.LINEAR.search(text.text) and not wording.NOT_LINEAR.search(text.text):
            yield self._linear(text)
        if (factors or wording.ORDER.search(text.text)) and fast and self._is_prediction(text):
            yield Finding("no data", "it is a prediction; the page has no measurement of it")
        if condition := self._condition(text):
            yield Finding("no data", f"the page has no measurement of “{condition}”")
        if wording.STAGE_LOSS.search(text.text) and (factors or wording.CAUSE.search(text.text)):
            yield from (Finding("not supported", reason) for reason in self.conditions.serial)

    def _compares(self, q: Quantity, text: Text) -> bool:
        """Return whether a factor or percentage compares two figures."""
        if q.kind not in RATIOS:
            return False
        if text.column and (
            wording.DERIVED.search(text.column) or wording.PERCENT_OF.match(text.column)
        ):
            return True
        near, follows = text.text[max(0, q.start - 60) : q.end + 60], text.text[q.end :]
        compared = bool(
            direction_of(near, _moved(q, near), "time") or wording.DIFFERENCE.search(near)
        )
        if q.kind == "percent":
            share = re.match(r"\+?\s*(?:in|time spent|cpu)\b", follows)
            return not share and (compared or bool(wording.SHARE_OF_LIMIT.match(follows)))
        # "20x repeated" and "8x GPUs" are counts; "(2.04x)" is a factor.
        return compared or re.match(r"\W*$|\s*\)", follows) is not None

    # -- factors -------------------------------------------------------------------------------

    def _factor(self, q: Quantity, text: Text) -> Finding:
        start, end = wording.clause_range(text.text, q.start, q.end)
        clause = text.text[start:end]
        rows = {f.row for _, f in self.lookup.mentions(clause)}
        # A clause that names two variants compares these, not those of the whole sentence.
        several = len(rows) > 1 and not text.column
        part = replace(text, text=clause) if several else text
        choice = self.lookup.candidates(part, None if several else q)
        factors = sum(other.kind in RATIOS for other in quantities(text.text))
        if factors > 1 and not rows and not text.column:
            choice = replace(choice, certain=False)  # the names of another clause
        pairs = of_metric(choice.pairs, text, clause)
        if not pairs:
            return Finding("no data", f"the page has no figures from which {q.text} follows")
        stated = f"{text.text} {text.column}" if text.column else text.text
        # The ratio of a table with intervals need not be the quotient of two columns.
        estimates = self._intervals(text)
        ranges = {
            p: estimates or allowed(q, direction_of(stated, q, p.subject.quantity.kind), text.text)
            for p in pairs
        }
        if wording.PERCENT_OF.match(text.column):
            ranges = {p: [(q.lo, q.hi)] for p in pairs}
        matching = [p for p in pairs if agrees(p, ranges[p])]
        if not matching:
            if not choice.certain:
                return Finding("no data", f"no two figures of the page give {q.text}")
            every = [r for p in pairs for r in ranges[p]]
            best = nearest(pairs, every)
            source = "the data of " if best.from_data else ""
            reason = f"{source}{best} give {_factor_text(best)}, not {q.text}"
            neutral = agrees(best, allowed(q, 0, text.text))
            return Finding(
                "not supported", f"{reason}: the direction is the opposite" if neutral else reason
            )
        if reason := self.conditions.conflict(matching, text):
            return Finding("not supported", reason)
        if not choice.certain and len(pairs) > _FEW:
            matching = [p for p in matching if shared_words(p, text.text)]
        if not matching:
            return Finding("no data", f"it does not name the figures from which {q.text} follows")
        best = nearest(matching, [r for p in matching for r in ranges[p]], text.text)
        ways = {direction_of(stated, q, p.subject.quantity.kind) for p in matching}
        neutral = ways == {0} and q.kind == "percent"
        equal = q.about == "within" or (neutral and wording.EQUAL.search(text.text) is not None)
        margin = max(q.value, MARGIN) if q.kind == "percent" else MARGIN
        known = choice.certain and (choice.oriented or text.column or ways == {0} or equal)
        return self._judged(best, equal=equal, margin=margin, certain=bool(known))

    @cached_property
    def _cells(self) -> dict[tuple[int, int], tuple[str, ...]]:
        return {(t.group, line): cells for t in self.page.tables for line, cells in t.rows}

    def _intervals(self, text: Text) -> list[tuple[float, float]]:
        """Return the intervals of ratios in the row of a table cell."""
        cells = self._cells.get((text.group, text.line), ()) if text.column else ()
        bounds = (re.fullmatch(r"\s*\[(\d+(?:\.\d+)?), (\d+(?:\.\d+)?)\]\s*", c) for c in cells)
        return [(float(m[1]), float(m[2])) for m in bounds if m]

    def _judged(
        self, pair: Pair, *, equal: bool, margin: float = MARGIN, certain: bool = True
    ) -> Finding:
        lack = self.conditions.lack(pair)
        return judge(pair, lack, equal=equal, margin=margin, certain=certain)

    # -- words ---------------------------------------------------------------------------------

    def _words(self, text: Text, choice: Candidates, *, fast: bool) -> Iterator[Finding]:
        """Yield findings about statements without a factor: equal, better, best."""
        best, equal = wording.BEST.search(text.text), wording.EQUAL.search(text.text)
        best = None if wording.NOT_BEST.search(text.text) else best
        order = wording.ORDER.search(text.text)
        if order and wording.NEGATED.search(text.text):
            return
        if fast and equal and not wording.FASTER.search(text.text):
            yield self._equal(text, choice)
        elif fast and best:
            yield self._superlative(text, best[0].lower())
        elif fast and order and (not text.column or choice.certain or len(text.text) > _SHORT):
            yield self._order(text, choice)
        elif (
            not text.column
            and choice.certain
            and choice.pairs
            and wording.DIFFERENCE.search(text.text)
        ):
            yield self._judged_inline(text, choice)

    def _judged_inline(self, text: Text, choice: Candidates) -> Finding:
        if reason := self.conditions.conflict(choice.pairs, text):
            return Finding("not supported", reason)
        return self._judged(choice.pairs[0], equal=False)

    def _equal(self, text: Text, choice: Candidates) -> Finding:
        pairs = of_metric(choice.pairs, text)
        compared = choice.certain and pairs
        if wording.BEFORE.search(text.text) and not compared and not self._measured_before():
            return Finding("no data", "the page has no figure of the version before the change")
        if not pairs or not choice.certain:
            return _unnamed(pairs)
        if reason := self.conditions.conflict(pairs, text):
            return Finding("not supported", reason)
        far = max(pairs, key=lambda p: abs(math.log(p.ratio)))
        return self._judged(far, equal=True)

    def _order(self, text: Text, choice: Candidates) -> Finding:
        pairs = of_metric(choice.pairs, text)
        if not pairs or not choice.certain:
            return _unnamed(pairs)
        if reason := self.conditions.conflict(pairs, text):
            return Finding("not supported", reason)
        pair = pairs[0]
        order = wording.ORDER.search(text.text)
        place = order.start() if order else 0
        start = Quantity("ratio", 1, 1, 1, "", place, place)
        way = direction_of(text.text, start, pair.subject.quantity.kind)
        lo, hi = pair.bounds
        if choice.oriented and way and ((way > 0 and hi < 1) or (way < 0 and lo > 1)):
            return Finding("not supported", f"{pair} show the opposite")
        return self._judged(pair, equal=False, certain=choice.oriented or not way)

    def _superlative(self, text: Text, word: str) -> Finding:
        """Check a superlative by the figures of its table, or by the effects that the page names."""
        if re.search(r"improve|impact|optimi[sz]ation|gain|win", text.text, re.IGNORECASE):
            return self._largest_effect(text)
        if text.column:
            rows = [f for f in self.page.figures if f.line == text.line and f.group == text.group]
        else:
            rows = [f for _, f in self.lookup.mentions(text.text)]
        rows = [f for f in rows if not f.secondary]
        group = [
            p
            for f in rows[:1]
            for o in self.page.figures
            if o.group == f.group and o.column == f.column and o.row != f.row
            for p in (Pair(f, o),)
            if o.quantity.kind == f.quantity.kind and o.size == f.size
        ]
        if not group:
            return Finding("no data", f"the page has no figures that show “{word}”")
        worst = word in ("slowest", "worst", "highest", "largest")
        beaten = [p for p in group if p.better == worst and not p.bounds[0] <= 1 <= p.bounds[1]]
        if beaten and wording.BEST_OF_ALL.search(text.text):
            order = "worse" if worst else "better"
            return Finding("not supported", f"{beaten[0]}: the second is {order}")
        closest = min(group, key=lambda p: abs(math.log(p.ratio)))
        return self._judged(closest, equal=False)

    @cached_property
    def _effects(self) -> dict[str, float]:
        """Return the percentages that headings state for changes."""
        return {
            re.sub(r"^\W*\d+\W+|\(.*", "", text.text).strip(): q.value
            for text in self.page.texts
            if text.heading
            for q in quantities(text.text)
            if q.kind == "percent" and direction_of(text.text, q, "time")
        }

    def _largest_effect(self, text: Text) -> Finding:
        """Check "the biggest improvement" by the percentages that the page states for changes."""
        effects = self._effects
        names = {name: _content(name) & _content(text.text) for name in effects}
        ours = max(names, key=lambda name: len(names[name]), default=None)
        if ours is None or not names[ours]:
            return Finding("no data", "the page does not state the effect of each change alone")
        top = max(effects, key=lambda name: effects[name])
        if effects[top] > effects[ours]:
            return Finding(
                "not supported",
                f"the page itself gives {effects[top] * 100:.3g} % for “{top}” and"
                f" {effects[ours] * 100:.3g} % for “{ours}”",
            )
        return Finding("inconclusive", "the percentages agree with it, but have no interval")

    # -- causes, growth, predictions, recommendations --------------------------------------------

    def _measured_before(self) -> bool:
        return any(wording.IS_BEFORE.search(f.context) for f in self.page.figures)

    def _cause(self, text: Text) -> Finding:
        """Check a cause: it needs a variant that differs in this one change."""
        match = wording.CAUSE.search(text.text)
        words = _content(text.text[match.end() :] if match else "") | _content(text.text)
        without = wording.any_of(r"without|no|only|disabled|off|removed")
        rows = [
            f.row for f in self.page.figures if without.search(f.row) and _content(f.row) & words
        ]
        if rows:
            return Finding("inconclusive", f"it rests on “{rows[0]}”, which has no interval")
        return Finding("no data", _NO_CAUSE)

    def _linear(self, text: Text) -> Finding:
        growth = exponents(self.page.figures)
        if not growth:
            return Finding("no data", "the page has no times of one program at several input sizes")
        rows = {f.row for _, f in self.lookup.mentions(text.text)}
        growth = [g for g in growth if g[0] in rows] or growth
        name, lo, hi, what = min(
            growth, key=lambda g: _LINEAR_RANGE[0] <= g[2] and g[1] <= _LINEAR_RANGE[1]
        )
        if hi < _LINEAR_RANGE[0] or lo > _LINEAR_RANGE[1]:
            return Finding(
                "not supported",
                f"the time of {name} grows with exponent {(lo + hi) / 2:.2f} {what}; 1 is linear",
            )
        return Finding("inconclusive", "the exponents agree with it, but have no interval")

    def _is_prediction(self, text: Text) -> bool:
        part = any(wording.PREDICTED_PART.search(heading) for heading in text.headings[1:])
        return part or bool(wording.PREDICTION.search(text.text))

    def _condition(self, text: Text) -> str:
        """Return the condition of a recommendation if the page measured nothing of this kind."""
        heading = text.headings[-1] if text.headings else ""
        match = wording.CONDITION.search(text.text) or wording.CONDITION.search(heading)
        if match is None or not wording.USE.search(text.text):
            return ""
        words = {w for w in re.findall(r"[\w/-]{3,}", match[1].lower()) if w not in ("and", "the")}
        workloads = (m[0] for t in self.page.texts for m in wording.THIS_WORKLOAD.finditer(t.text))
        measured = " ".join((*(f.context for f in self.page.figures), *workloads)).lower()
        return "" if any(word in measured for word in words) else match[1]


def _unnamed(pairs: Sequence[Pair]) -> Finding:
    if pairs:
        return Finding("no data", "it does not name two variants of which the page has figures")
    return Finding("no data", "the page has no figures of the variants that it compares")


def _moved(q: Quantity, near: str) -> Quantity:
    """Return a quantity with its place in a part of its text."""
    start = near.find(q.text)
    return Quantity(q.kind, q.value, q.lo, q.hi, q.text, start, start + len(q.text), q.sign)


def _content(text: str) -> set[str]:
    """Return the words of a text that may name a change."""
    return {
        w
        for w in re.findall(r"[a-z_][\w.-]{3,}", text.lower())
        if not wording.PERFORMANCE.fullmatch(w)
    }


def _factor_text(pair: Pair) -> str:
    factor = max(pair.ratio, 1 / pair.ratio)
    change = f"{(pair.ratio - 1) * 100:+.3g} %".replace("-", "−")
    return f"a factor of {factor:.3g} ({change})"
