"""S02: at most six lines: the answer, its cost, where it does not hold, what failed, trust, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Block, Bullets, Paragraph
from bench_framework.report.claim_blocks import key_claim, sentence
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim
    from bench_framework.model.plan import Input
    from bench_framework.report.context import ReportData

MOST_LINES: Final = 6
MOST_CHANGES: Final = 3
MOST_EFFECTS: Final = 2
WORSE: Final = (Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN)


def build(data: ReportData) -> tuple[Block, ...]:
    """The answer as a lead, then the further lines; trust is never left out."""
    item = leading_input(data)
    main = key_claim(data, item) if item is not None else None
    if item is None or main is None:
        return ()
    lines = [*_cost(data, main), *_steps(data), *_elsewhere(data, main)]
    experiments = _first(data, "experiments")
    last = [*_first(data, "trust"), *_first(data, "race"), *_recommendation(data, item)]
    room = MOST_LINES - 1 - len(last)
    lines += _axes(data, item)[: max(0, room - len(lines) - len(experiments))]
    kept = [*[*lines, *experiments][:room], *last]
    blocks: list[Block] = [Paragraph((sentence(main),), lead=True)]
    if kept:
        blocks.append(Bullets(tuple(sentence(c) for c in kept)))
    return tuple(blocks)


def leading_input(data: ReportData) -> Input | None:
    """The input that the answer is told for: of those that were compared the largest.

    Its times hold the least fixed cost. Without sizes the last one of the scenario is taken.
    """
    told = [item for item in data.plan.inputs if key_claim(data, item) is not None]
    if data.plan.revisions is not None and (worse := _worst(data, told)) is not None:
        return worse
    decided = [i for i in told if (c := key_claim(data, i)) is not None and c.kind != "nothing"]
    found = decided or told
    return max(reversed(found), key=lambda i: data.input_bytes(i.id) or 0, default=None)


def _worst(data: ReportData, told: list[Input]) -> Input | None:
    """At two revisions the input on which the head became slower by the most; `None` if it did on none."""
    grown = [
        (c.estimate, i)
        for i in told
        for c in _changes(data, i)
        if c.verdict in WORSE and c.estimate
    ]
    return max(grown, key=lambda pair: pair[0])[1] if grown else None


def _changes(data: ReportData, item: Input | None = None) -> list[Claim]:
    """What was found to differ between two revisions, on the headline's metric."""
    found = data.claims("comparison", item=item) if item is not None else data.claims("comparison")
    return [
        c for c in found if c.metric == data.metric and c.verdict is not None and c.verdict.decided
    ]


def _cost(data: ReportData, main: Claim) -> list[Claim]:
    """What the answer's variant costs where it gains, on the same input, unless the answer says so itself."""
    if "cost" in main.values:
        return []
    costs = data.claims("cost")
    own = [c for c in costs if c.cells and main.cells and c.cells[0] == main.cells[0]]
    return own[:1]


def _steps(data: ReportData) -> list[Claim]:
    """What each step of a ladder brings: the design asks for it."""
    return [c for c in data.claims("contributions") if c.values["design"] == "ladder"][:1]


def _axes(data: ReportData, item: Input) -> list[Claim]:
    """What the axes of a full product do on the input of the answer: that is what such a scenario asks.

    Of each axis the first level, in plan order, that is decided beyond the margin; a mean that turns has no figure,
    and is told.
    """
    clear = (Verdict.BETTER, Verdict.WORSE)
    told = [
        c
        for c in data.claims("effect", item=item)
        if c.values.get("pooled") == 0 or c.verdict in clear
    ]
    first = {c.subject.split(" ", 1)[0]: c for c in reversed(told)}
    return [c for c in told if c in first.values()][:MOST_EFFECTS]


def _elsewhere(data: ReportData, main: Claim) -> list[Claim]:
    """Where the answer does not hold: a verdict that turns, of its own variant first, and the best by input."""
    if data.plan.revisions is not None:
        others = [c for c in _changes(data) if set(c.cells) != set(main.cells)]
        return sorted(others, key=lambda c: -(c.estimate or 0))[:MOST_CHANGES]
    turns = sorted(data.claims("sign-change"), key=lambda c: c.subject != main.subject)
    return [*turns[:1], *_first(data, "best-by-input")]


def _recommendation(data: ReportData, item: Input) -> list[Claim]:
    claims = (
        c for c in data.claims("recommendation", item=item) if c.metric in {None, data.metric}
    )
    return list(claims)[:1]


def _first(data: ReportData, kind: str) -> list[Claim]:
    return list(data.claims(kind))[:1]


def _fallback(data: ReportData) -> str:
    reasons = [s.reason for s in data.judgement.states if s.reason]
    reason = reasons[0] if reasons else "no two variants were measured on the same input"
    return f"Nothing is decided: {reason.rstrip('.')}."


SUMMARY = SectionKind("S02", "answer", "Summary", "the answer in a few sentences", build, _fallback)
