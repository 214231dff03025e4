"""Conditions of the measurements on a page: sessions, clocks, stages, inputs, units and outputs."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

from bench_framework.features.audit import wording
from bench_framework.features.audit.compute import LEVEL, MARGIN, Pair, Status, clock_of
from bench_framework.features.audit.lookup import MOST_FIGURES, Lookup
from bench_framework.features.audit.quantities import RATIOS, Quantity, quantities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench_framework.features.audit.page import Figure, Page, Text

Row = tuple[int, str, str, Status, str]
"""Line, section, text, status and reason."""
_STAGE: Final = re.compile(r"\b(?:pure|only|alone|standalone|raw|limit)\b", re.IGNORECASE)
_LIMIT: Final = re.compile(
    r"\b(?:limit|maximum|peak|theoretical|ceiling|bandwidth)\b", re.IGNORECASE
)
_THEN: Final = re.compile(r"\b(\w{4,})\b[^.]*?\bthen\b\s+(\w{4,})\b", re.IGNORECASE)
_COUNTED: Final = re.compile(
    r"^(?:(?:number of )?(?:matches|hits|results|answers|outputs?)(?: found| printed)?"
    r"|(?:line|match|result) count)$",
    re.IGNORECASE,
)
_BINARY: Final = re.compile(
    r"\b\d+\s*\*\s*1024\b.*?(?:#|//)[^\n]*?\b(?P<unit>\d+(?:\.\d+)?\s?[kKMGT]B)\b"
)
_SPEED: Final = re.compile(r"faster|speed-?up|improve\w*|slower|reduction", re.IGNORECASE)
MOST_ROWS: Final = 8
"""Number of rows of a table that a statement quotes."""
_NO_OVERLAP: Final = 0.03
"""The relative difference up to which a combined rate equals that of stages in sequence."""
_EXCESS: Final = 1.05
"""The factor above the rate of stages in sequence that shows that a clock excludes a stage."""
_PREFIX: Final = 4


class Conditions:
    """Conditions that make figures of a page incomparable."""

    def __init__(self, page: Page, lookup: Lookup | None = None) -> None:
        self.page = page
        self.lookup = lookup or Lookup(page)
        self._prose = page.prose
        self._outputs_checked = wording.OUTPUTS_CHECKED.search(self._prose) is not None

    def statements(self) -> Iterator[Row]:
        """Yield the statements that concern a list, a table or the whole page."""
        yield from self._tables()
        yield from self._two_scales()
        yield from self._mechanisms()
        yield from self._units()
        yield from self._above_limit()

    def missing(self) -> tuple[str, ...]:
        """Return what a reader needs to judge the page and does not find on it."""
        page, prose = self.page, self._prose
        lacks = (
            (any(f.n for f in page.figures), "the number of runs"),
            (any(f.quantity.sd is not None for f in page.figures), "the spread of the runs"),
            (self._outputs_checked, "whether the variants printed equal output"),
            (
                re.search(r"interleav|random(?:ised|ized)? order|alternat", prose, re.IGNORECASE),
                "the order of the runs: one variant after the other, or interleaved",
            ),
            (
                re.search(
                    r"\bcpu:|cores?\b|ryzen|xeon|intel|\bamd\b|apple m\d", prose, re.IGNORECASE
                ),
                "the processor",
            ),
        )
        return tuple(text for present, text in lacks if not present) if page.figures else ()

    def lack(self, pair: Pair) -> str:
        """Return what is missing to judge a pair of figures without runs or spread."""
        sides = (pair.subject, pair.reference)
        stated = (
            (all(f.n for f in sides), "no number of runs"),
            (all(f.quantity.sd is not None for f in sides), "no spread"),
            (self._outputs_checked, "no check that the outputs are equal"),
        )
        lacks = [text for present, text in stated if not present]
        text = (
            f"the page states {', '.join(lacks[:-1])}{' and ' if lacks[1:] else ''}{lacks[-1]}"
            if lacks
            else "its figures have no interval"
        )
        rows = {f.row for f in sides}
        shared = set.intersection(*(self._sizes[row] for row in rows))
        if len(rows) > 1 and len(shared) == 1 and len(set().union(*self._sizes.values())) > 1:
            text += "; the two were measured with one input size only, other rows with several"
        return text

    @cached_property
    def _sizes(self) -> dict[str, set[float]]:
        """Return the sizes of the input by row."""
        sizes: dict[str, set[float]] = defaultdict(set)
        for f in self.page.figures:
            if f.size:
                sizes[f.row].add(f.size)
        return sizes

    def conflict(self, pairs: Sequence[Pair], text: Text) -> str:
        """Return why none of the pairs may be compared, or an empty text."""
        reasons = [self._conflict(pair, text) for pair in pairs]
        return reasons[0] if reasons and all(reasons) else ""

    def _conflict(self, pair: Pair, text: Text) -> str:
        a, b = pair.subject, pair.reference
        clocks = {clock_of(a), clock_of(b)} if a.quantity.kind == "time" else set()
        if len(clocks) > 1 and "" not in clocks:
            return "it compares CPU time with wall time"
        counts = {self._counts.get((f.group, f.line)) for f in (a, b)} - {None}
        if len(counts) > 1:
            listed = " and ".join(sorted(filter(None, counts)))
            return f"the compared rows report different results ({listed}): they did different work"
        mentioned = [f for _, f in self.lookup.mentions(text.text)]
        sides = [self._exclusion(f, mentioned) for f in (a, b)]
        if bool(sides[0]) != bool(sides[1]):
            return sides[0] or sides[1]
        return ""

    @cached_property
    def _counts(self) -> dict[tuple[int, int], str]:
        return {
            (table.group, line): cell
            for table in self.page.tables
            for line, cells in table.rows
            for title, cell in list(zip(table.head, cells, strict=True))[1:]
            if _COUNTED.match(title.strip()) and re.fullmatch(r"[\d,_ ]+", cell.strip())
        }

    # -- sessions ------------------------------------------------------------------------------

    @cached_property
    def _drift(self) -> tuple[str, frozenset[int]] | None:
        """Return how much an unchanged reference moved between two sets, and the sets."""
        firsts: dict[tuple[object, ...], Figure] = {}
        for later in (f for f in self.page.figures if f.quantity.lo > 0):
            key = (later.row, later.column, later.size, later.quantity.kind)
            first = firsts.setdefault(key, later) if wording.UNCHANGED.search(later.row) else later
            if not later.group > first.group > 0 or first.headings == later.headings:
                continue
            pair = Pair(later, first)
            contrast = pair.contrast
            if contrast is not None:
                i = contrast.interval(LEVEL)
                moved, bounds = i.lo > 1 or i.hi < 1, f" [{i.lo:.2f}, {i.hi:.2f}]"
            else:
                moved, bounds = abs(pair.ratio - 1) > MARGIN, ""
            if moved:
                reason = (
                    f"between the two sets of runs, {first.row} itself changed by a factor of"
                    f" {pair.ratio:.2f}{bounds}: the conditions were different"
                )
                return reason, frozenset((first.group, later.group))
        return None

    def drift_of(self, text: Text) -> str:
        """Return why a comparison of two sessions is not supported, or an empty text."""
        if (
            self._drift is None
            or text.group in self._drift[1]
            or not wording.ACROSS_SESSIONS.search(text.text)
        ):
            return ""
        return self._drift[0]

    # -- stages --------------------------------------------------------------------------------

    @cached_property
    def _rates(self) -> list[Figure]:
        rates = [f for f in self.page.figures if f.quantity.kind == "rate" and f.quantity.lo > 0]
        return rates if len(rates) <= MOST_FIGURES else []

    def _stage(self, word: str) -> Figure | None:
        """Return the fastest rate of a stage alone whose label has a word with the same start."""
        results = [
            f
            for f in self._rates
            if _STAGE.search(f"{f.label} {self._line_text(f)}")
            and any(
                w[:_PREFIX] == word.lower()[:_PREFIX] for w in re.findall(r"\w+", f.label.lower())
            )
        ]
        return max(results, key=lambda f: f.quantity.hi, default=None)

    def _line_text(self, figure: Figure) -> str:
        return next((t.text for t in self.page.texts if t.line == figure.line and not t.column), "")

    @cached_property
    def serial(self) -> tuple[str, ...]:
        """Return why a loss is not overhead: a combined rate is that of its stages in sequence."""
        reasons = []
        for both in self._rates:
            parts = re.split(r"\s(?:\+|&|and)\s", re.sub(r"\(.*?\)", "", both.row).lower())
            stages = [
                max(
                    (
                        f
                        for f in self._rates
                        if _STAGE.search(f.row) and part.strip() in f.row.lower()
                    ),
                    key=lambda f: f.quantity.value,
                    default=None,
                )
                for part in parts
            ]
            known = [s for s in stages if s is not None and s is not both]
            if len(parts) < 2 or len(known) < len(parts):  # noqa: PLR2004 -- a combination
                continue
            rate = 1 / sum(1 / s.quantity.value for s in known)
            if abs(both.quantity.value / rate - 1) <= _NO_OVERLAP:
                reasons.append(
                    f"the {both.quantity.text} of “{both.row}” is the rate of its stages one after"
                    f" the other ({rate / 1e9:.2f} GB/s): missing overlap explains the whole loss"
                )
        return tuple(reasons[:1])

    @cached_property
    def _excluded(self) -> dict[Figure, str]:
        """Return the figures whose clock cannot include both stages that their row describes."""
        excluded = {}
        for text in self.page.texts:
            match = _THEN.search(text.text) if text.column else None
            stages = [self._stage(word) for word in match.groups()] if match else []
            known = [s for s in stages if s is not None]
            if len(known) < 2 or known[0] is known[1]:  # noqa: PLR2004 -- two stages
                continue
            rate = 1 / sum(1 / s.quantity.hi for s in known)
            for f in self._rates:
                if (
                    f.group == text.group
                    and f.line == text.line
                    and f.quantity.value > rate * _EXCESS
                ):
                    excluded[f] = (
                        f"the clocks differ: {f.quantity.text} of “{f.row}” is more than its two stages"
                        f" allow one after the other ({rate / 1e9:.2f} GB/s), so one was not timed"
                    )
        return excluded

    def _exclusion(self, figure: Figure, mentioned: Sequence[Figure]) -> str:
        if figure in self._excluded:
            return self._excluded[figure]
        return next(
            (
                reason
                for f, reason in self._excluded.items()
                if f in mentioned and figure.quantity.lo <= f.quantity.value <= figure.quantity.hi
            ),
            "",
        )

    # -- lists, tables and units -----------------------------------------------------------------

    def _tables(self) -> Iterator[Row]:
        """Yield tables that list figures of variants without a factor, runs and spread."""
        derived = {
            t.group
            for t in self.page.texts
            if t.column and any(q.kind in RATIOS for q in quantities(t.text))
        }
        for table in (t for t in self.page.tables if t.group not in derived):
            columns: dict[str, list[Figure]] = defaultdict(list)
            for f in self.lookup.by_group[table.group]:
                if not f.secondary and not f.series and not f.row[:1].isdigit():
                    columns[f.column].append(f)
            figures = max(columns.values(), key=len, default=[])
            if len({f.row for f in figures}) < 2:  # noqa: PLR2004 -- a comparison
                continue
            lack = self.lack(Pair(figures[0], figures[1]))
            if "no number of runs" in lack or "no spread" in lack:
                listed = [f"{f.row} {f.quantity.text}" for f in figures[:MOST_ROWS]]
                text = (
                    f"{figures[0].column}: {'; '.join(listed + ['…'] * bool(figures[MOST_ROWS:]))}"
                )
                reason = f"it compares variants, but {lack}"
                yield table.line, "".join(table.headings[-1:]), text, "inconclusive", reason

    def _two_scales(self) -> Iterator[Row]:
        """Yield lists and columns that state one effect as a factor and another as a percentage."""
        groups: dict[tuple[int, str], list[tuple[Text, Quantity]]] = defaultdict(list)
        for text in self.page.texts:
            for q in quantities(text.text):
                if (
                    text.group
                    and q.kind in ("ratio", "percent")
                    and _SPEED.search(f"{text.text} {text.column}")
                ):
                    groups[text.group, text.column].append((text, q))
                    break
        for items in groups.values():
            if {q.kind for _, q in items} == {"ratio", "percent"}:
                first = items[0][0]
                factors = (
                    f"{q.text} ({1 / (1 - q.value):.2f}x)"
                    for _, q in items
                    if q.kind == "percent" and q.value < 1
                )
                yield (
                    first.line,
                    "".join(first.headings[-1:]),
                    "; ".join(text.text for text, _ in items),
                    "inconclusive",
                    (
                        "one list has two scales, so that its items cannot be compared as written:"
                        f" as a factor of the time saved, {', '.join(factors)}"
                    ),
                )

    def _mechanisms(self) -> Iterator[Row]:
        """Yield tables that attribute figures to mechanisms without evidence that these ran."""
        if wording.EVIDENCE.search(self._prose):
            return
        for table in self.page.tables:
            measured = {f.line for f in self.lookup.by_group[table.group]}
            titles = {f.column for f in self.lookup.by_group[table.group]}
            for place, title in enumerate(table.head[1:], 1):
                if measured and title not in titles and wording.MECHANISM.search(title):
                    cells = [
                        f"{row[0]}: {row[place]}" for line, row in table.rows if line in measured
                    ]
                    several = any(re.search(r"\s\+\s", cell) for cell in cells)
                    yield (
                        table.line,
                        "".join(table.headings[-1:]),
                        f"{title}: {'; '.join(cells)}",
                        "no data",
                        "the page has no evidence that each variant used what this column names, such as"
                        " a trace of system calls or a mode that the program printed"
                        + ("; it has no figure of each change alone" if several else ""),
                    )

    def _units(self) -> Iterator[Row]:
        """Yield decimal units for powers of 1024 on a page with rates in decimal units."""
        prose = self._prose
        if re.search(r"\d\s?[MGT]iB/s", prose) and re.search(r"\d\s?[MGT]B/s", prose):
            yield (
                1,
                "",
                "rates in GB/s and GiB/s",
                "inconclusive",
                "the page mixes decimal and binary units, which differ by 5 to 10 %",
            )
        for line, code in self.page.code if self._rates else ():
            match = _BINARY.search(code)
            if match:
                yield (
                    line + code[: match.start()].count("\n") + 1,
                    "",
                    f"{match[0].strip()}; rates in {self._rates[0].quantity.text.split()[-1]}",
                    "inconclusive",
                    (
                        f"a power of 1024 is called {match['unit']}, so that a rate in decimal units may be"
                        " one in binary units, 5 to 10 % different"
                    ),
                )
                return

    def _above_limit(self) -> Iterator[Row]:
        """Yield rates above a hardware limit that the page states."""
        for limit in self._rates:
            words = {w[:_PREFIX] for w in re.findall(r"[a-z]{4,}", limit.row.lower())}
            words -= {"limi", "maxi", "peak", "theo", "ceil", "band", "hard"}
            for f in self._rates if _LIMIT.search(limit.row) else ():
                ours = {
                    w[:_PREFIX] for w in re.findall(r"[a-z]{4,}", f"{f.row} {f.column}".lower())
                }
                if ours & words and f.quantity.lo > limit.quantity.hi:
                    yield (
                        f.line,
                        "".join(f.headings[-1:]),
                        f"{f.label}: {f.quantity.text}",
                        "not supported",
                        f"it is above the limit of {limit.quantity.text} ({limit.row})",
                    )
