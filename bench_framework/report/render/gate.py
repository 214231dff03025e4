"""The gate's output: pull request comment, step summary, terminal page."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import BUILT_ALIKE, Reason, ReasonCode
from bench_framework.model.record.run import Block
from bench_framework.model.result.decision import ChangeKind
from bench_framework.model.result.gate import (
    BudgetFinding,
    Failure,
    GatedPair,
    Gating,
)
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Verdict
from bench_framework.report.render.gate_heading import (
    RESULTS,
    by_size,
    causes_of,
    largest_of,
    place_of,
    result_of,
    size_of,
)
from bench_framework.report.render.markdown import fitting
from bench_framework.report.render.widths import visible
from bench_framework.scenario.selection import condition
from bench_framework.text import words, write
from bench_framework.text.lines import wrap
from bench_framework.text.numbers import (
    format_level,
    format_percent,
    interim_analyses,
)
from bench_framework.text.reasons import phrase
from bench_framework.text.words import WORDS
from bench_framework.units import counted

FULL_ROWS: Final = (
    "worse",
    "suspicious",
    "failed",
    "not-comparable",
    "not-judged",
    "same-instructions",
    "accepted",
)
STATE_WORDS: Final = {
    "passed": "passed",
    "accepted": "worse, accepted",
    "same-instructions": "worse, same instructions",
    "worse": "worse",
    "suspicious": "possibly worse",
    "not-judged": "not judged",
    "failed": "failed",
    "not-comparable": "not comparable",
}
_OVER: Final = "over budget"
_MEASUREMENT: Final = "measurement"
"""In place of a metric: the row is about a failure that no comparison has."""

BOTH_SIDES: Final = "Baseline and candidates"


@dataclass(frozen=True, slots=True)
class GateRow:
    """One gated pair in words."""

    cell: str
    metric: str
    state: str
    glyph: str
    ascii: str
    sentence: str
    """The result, and its effect on the gate."""
    seconds: float
    """Time spent on measuring the configuration."""
    word: str
    """The state in words."""
    size: float = 0.0
    """Estimated growth, by which rows in one state are ordered."""


@dataclass(frozen=True, slots=True)
class GatePage:
    """The result of the gate, independent of the output format."""

    scenario: str
    record_id: str
    started: str
    """Start of the record, UTC, ISO 8601."""
    confirmation: str | None
    result: str
    """The result, with the few comparisons that are worse or could not be judged."""
    exit_code: int
    reasons: tuple[str, ...]
    rows: tuple[GateRow, ...]
    rounds: str
    risk: str = ""
    """Level, family and interim analyses."""
    remarks: tuple[str, ...] = ()
    """Remarks in addition to the result."""
    arms: str = BOTH_SIDES
    """The two sides that ran interleaved."""
    causes: tuple[str, ...] = ()
    """Differences of counted runs of the configurations that are worse, one line each."""
    accept: tuple[str, ...] = ()
    """Lines for the file of accepted changes, one per regression."""
    has_file: bool = True
    """True if there is a scenario, which can name that file."""
    change: ChangeKind = ChangeKind.FAILED
    """The change that the gate judged, as its result shows it."""
    command: str = ""
    """The command that measures the record."""
    largest: str = ""
    """The largest regression with its size; empty without one."""

    @property
    def answer(self) -> str:
        """The glyph of the result, and the result."""
        return f"{RESULTS[self.exit_code][0]} {self.heading}"

    @property
    def heading(self) -> str:
        """The result, for a reader of several checks."""
        return heading(self.result)

    @property
    def full(self) -> tuple[GateRow, ...]:
        """Return the rows that need attention."""
        return tuple(row for row in self.rows if row.state in FULL_ROWS)

    @property
    def passed(self) -> tuple[GateRow, ...]:
        """Return the rows that passed."""
        return tuple(row for row in self.rows if row.state not in FULL_ROWS)

    @property
    def growth(self) -> float:
        """The size of the largest regression, as a fraction."""
        return max((row.size for row in self.rows if row.state == "worse"), default=0.0)

    @property
    def compared(self) -> int:
        """The number of comparisons and budgets."""
        return sum(row.metric != _MEASUREMENT for row in self.rows)

    @property
    def only_budgets(self) -> bool:
        """True if no comparison is worse, but a budget is exceeded."""
        return {row.word for row in self.rows if row.state == "worse"} == {_OVER}

    @property
    def how(self) -> str:
        """How it was measured and judged."""
        return "; ".join(filter(None, (self.rounds, self.risk)))

    @property
    def annotations(self) -> tuple[str, ...]:
        """The failures of the gate, one line each."""
        failing = (row for row in self.rows if row.state in ("worse", "failed"))
        return tuple(f"{row.cell}, {row.metric}: {row.sentence}" for row in failing)


def heading(result: str) -> str:
    """Return the result of a gate or suite with what it is about."""
    return f"Benchmarks: {result}"


def page_of(
    plan: Plan,
    gating: Gating,
    blocks: Iterable[Block],
    record_id: str,
    started: str,
    change: ChangeKind = ChangeKind.FAILED,
) -> GatePage:
    """Return the page of a gate result. The blocks give the time that each configuration took."""
    seconds = defaultdict[str, float](float)
    for block in blocks:
        seconds[block.cell_id] += math.fsum(block.wall_s)
    rows = [_row(plan, pair, seconds[pair.cell_id]) for pair in by_size(gating.pairs)]
    rows += [_budget_row(plan, b, seconds[b.cell_id]) for b in gating.budgets]
    rows += [_failure_row(plan, failure, seconds) for failure in gating.failures]
    risk, family = format_percent(gating.level), counted(gating.family, "timed comparison")
    how = (
        f"probability of a false alarm in the first measurement: at most {risk}, for {family} and "
        f"{interim_analyses(gating.looks)}; intervals of the report: {format_level(1 - plan.judge.level)}"
    )
    if gating.hosts:
        how += f"; measured on host {', again on host '.join(gating.hosts)}"
    to_fill_in = {"reason": "…", "until": "YYYY-MM-DD"}
    return GatePage(
        plan.name,
        record_id,
        started,
        gating.confirmation,
        result_of(plan, gating, change),
        gating.exit_code,
        tuple(map(phrase, gating.reasons)),
        tuple(sorted(rows, key=lambda row: (*FULL_ROWS, "passed").index(row.state))),
        counted(gating.rounds, "round") if gating.rounds else "nothing was timed",
        how if gating.rounds else "",
        tuple(map(phrase, gating.remarks)),
        " and ".join(plan.revisions.names) if plan.revisions else BOTH_SIDES,
        tuple(causes_of(plan, gating)),
        tuple(
            json.dumps(acceptance(plan, pair) | to_fill_in, ensure_ascii=False)
            for pair in by_size(gating.in_state("worse"))
        ),
        bool(plan.scenario_path),
        change,
        plan.invocation.public.command(plan.scenario_path, plan.revisions),
        largest_of(plan, gating),
    )


def axis_values(plan: Plan, cell_id: str) -> dict[str, str]:
    """Return the value of each axis of a configuration, without that of the revisions."""
    arms = {axis.name for axis in plan.axes[:1]} if plan.revisions else set[str]()
    return {name: v for name, v in plan.values_of(plan.cell(cell_id)) if name not in arms}


def acceptance(plan: Plan, pair: GatedPair) -> dict[str, str]:
    """Return the entry that accepts a pair, without reason and date.

    It accepts up to the smaller upper end of the intervals, but both estimates: a repetition is expected
    within each interval, and a wide one would also accept later regressions.
    """
    cell = plan.cell(pair.cell_id)
    names = {"variant": plan.variant(cell.variant_id).label}
    # A variant of two revisions is named by its commit, which is another one in the next gate.
    if plan.revisions is not None:
        names = {"input": plan.input(cell.input_id).label}
    values = axis_values(plan, pair.cell_id) or names
    words = " ".join(condition(n, v) for n, v in values.items())
    intervals = [c.shown for c in (pair.comparison, pair.again) if c and c.shown]
    ends = [interval.hi if interval.bounded else interval.ratio for interval in intervals]
    accepted = max((min(ends, default=1.0), *(interval.ratio for interval in intervals)))
    percent = math.ceil((accepted - 1) * 100)
    return {"cell": words, "metric": pair.metric, "level": f"{percent}%"}


_BUDGET_ROWS: Final = {
    "over": ("worse", "▲", "^", _OVER),
    "kept": ("passed", "✓", "+", "within budget"),
    "not-judged": ("not-judged", "?", "?", "not judged"),
    "failed": ("failed", "✕", "x", "failed"),
}


def budget_text(finding: BudgetFinding) -> str:
    """Return the figure of a configuration with a budget, and whether it keeps it."""
    return write.render("budget", finding)


def _budget_row(plan: Plan, finding: BudgetFinding, seconds: float) -> GateRow:
    state, glyph, plain, word = _BUDGET_ROWS[finding.state]
    place, metric = (
        place_of(plan, finding.cell_id),
        f"budget of {words.noun(finding.budget.metric)}",
    )
    return GateRow(place, metric, state, glyph, plain, budget_text(finding), seconds, word)


def _failure_row(plan: Plan, failure: Failure, seconds: Mapping[str, float]) -> GateRow:
    word, cell_id = STATE_WORDS["failed"], failure.cell_id
    where = "all configurations" if cell_id is None else place_of(plan, cell_id)
    took = 0.0 if cell_id is None or failure.gated else seconds[cell_id]  # that of a pair otherwise
    return GateRow(where, _MEASUREMENT, "failed", "✕", "x", phrase(failure.reason), took, word)


def _level(c: Comparison | None) -> str:
    """Return the level of an interval of a comparison that is judged by rounds, otherwise an empty text."""
    interval = c.shown if c is not None and c.statistic != "exact" else None
    return f" ({format_level(interval.level)})" if interval and interval.bounded else ""


def _row(plan: Plan, pair: GatedPair, seconds: float) -> GateRow:
    # A page of two revisions names them once.
    text_of = write.clause if plan.revisions is None else write.without_names
    texts = [text_of(claim) if claim else "" for claim in (pair.claim, pair.again_claim)]
    both = pair.comparison, pair.again
    if BUILT_ALIKE in pair.reasons:  # its difference is that of an A/A test, which the report has
        texts = ["", ""]
    parts = [texts[0]] if texts[0] else []
    first, second = map(_level, both)
    if texts[1]:
        parts = [f"first measurement{first}: {part}" for part in parts]
        parts.append(f"second measurement{second}: {texts[1]}")
    elif first:
        parts = [f"one measurement{first}: {part}" for part in parts]
    parts += [phrase(reason) for reason in pair.reasons if not _is_stated(pair, reason)]
    g, place = WORDS[(pair.again or pair.comparison).verdict], place_of(plan, pair.cell_id)
    word, noun = STATE_WORDS[pair.state], words.noun(pair.metric)
    sentence = "; ".join(parts) or word
    glyphs = g.glyph, g.ascii
    return GateRow(place, noun, pair.state, *glyphs, sentence, seconds, word, size_of(pair))


def _is_stated(pair: GatedPair, reason: Reason) -> bool:
    """Return whether the sentence of a pair contains a reason."""
    c = pair.comparison
    if c.verdict is Verdict.OTHER_OUTPUT and pair.claim is not None:
        return reason == Reason(ReasonCode.OTHER_OUTPUT)
    if pair.claim is None:
        return False
    if reason.code is ReasonCode.WITHIN_TOLERANCE:
        return pair.claim.mde is not None and pair.claim.excludes == "worse"
    return reason == c.reason or (c.verdict is Verdict.INCONCLUSIVE and reason.code in _IN_SENTENCE)


_IN_SENTENCE: Final = (ReasonCode.INCONCLUSIVE, ReasonCode.UNDETECTED)
"""The sentence of an inconclusive comparison contains the minimum detectable effect."""


def markdown(page: GatePage, *, comment: bool) -> str:
    """Return a comment, or a step summary, without passed rows if it is too long."""
    return fitting("gate.md.j2", page, (page.full, page.passed), comment=comment)


def terminal(page: GatePage, width: int, *, unicode: bool, most: int = 40) -> str:
    """Return the terminal page: result, rows that need attention, number of passed rows."""
    lines = [page.answer if unicode else page.heading]
    for line in (*page.reasons, *page.remarks):
        lines += _wrapped(line, width, "  ")
    for row in page.full[:most]:
        glyph = row.glyph if unicode else row.ascii
        head = f"{glyph} {row.cell}, {row.metric}: {row.word}"
        lines += ["", *_wrapped(head, width, ""), *_wrapped(row.sentence, width, "    ")]
    for line in page.causes:
        lines += ["", *_wrapped(f"Why: {line}", width, "")]
    if len(page.full) > most:
        lines += ["", f"gate.json contains {len(page.full) - most} more"]
    if page.passed:
        lines += ["", f"{len(page.passed)} of {counted(page.compared, 'comparison')} passed"]
    again = f"; second measurement: {page.confirmation}" if page.confirmation else ""
    lines += _wrapped(page.how + again, width, "")
    return "\n".join(visible(line) for line in lines)


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return wrap(text, max(width, 40), indent, indent or "  ")
