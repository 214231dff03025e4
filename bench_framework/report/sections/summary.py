"""Section "Summary": at most six lines with the main result, its cost and its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Block, Fallback, Paragraph
from bench_framework.report.claim_blocks import claim_bullets, key_claim, sentence
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim
    from bench_framework.model.plan import Input
    from bench_framework.report.context import ReportData

MOST_LINES: Final = 6
MOST_CHANGES: Final = 3
MOST_EFFECTS: Final = 2


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the main result, then further lines. Data quality is always included."""
    item = leading_input(data)
    main = key_claim(data, item) if item is not None else None
    if item is None or main is None:
        return (Fallback(_no_result(data)),)
    lines = [*_cost(data, main), *_steps(data), *_exceptions(data, main)]
    experiments = _first(data, "experiments")
    last = [*_first(data, "trust"), *_first(data, "race"), *_recommendation(data, item)]
    room = MOST_LINES - 1 - len(last)
    lines += _axes(data, item)[: max(0, room - len(lines) - len(experiments))]
    further = [*[*lines, *experiments][:room], *last]
    return (Paragraph((sentence(main),), lead=True), *claim_bullets(further))


def leading_input(data: ReportData) -> Input | None:
    """Return the input of the main result: the largest one that was compared.

    Fixed costs matter least there. Without sizes it is the last input of the scenario.
    """
    compared = [item for item in data.plan.inputs if key_claim(data, item) is not None]
    if data.plan.revisions is not None and (worse := _worst(data, compared)) is not None:
        return worse
    conclusive = [
        i for i in compared if (c := key_claim(data, i)) is not None and c.kind != "nothing"
    ]
    candidates = conclusive or compared
    return max(reversed(candidates), key=lambda i: data.input_bytes(i.id) or 0, default=None)


def _worst(data: ReportData, inputs: list[Input]) -> Input | None:
    """Return the input with the largest regression between two revisions, if there is one."""
    changes = [(c, i) for i in inputs for c in _changes(data, i) if c.verdict and c.verdict.worse]
    grown = [(c.estimate, i) for c, i in changes if c.estimate]
    return max(grown, key=lambda pair: pair[0])[1] if grown else None


def _changes(data: ReportData, item: Input | None = None) -> list[Claim]:
    """Return the significant changes of the headline metric between two revisions."""
    claims = (c for c in data.claims("comparison", item=item) if c.metric == data.metric)
    return [c for c in claims if c.verdict is not None and c.verdict.decided]


def _cost(data: ReportData, main: Claim) -> list[Claim]:
    """Return the costs of the leading variant, unless the main result contains them."""
    if "cost" in main.values:
        return []
    return [c for c in data.claims("cost") if c.cells[:1] == main.cells[:1] != ()][:1]


def _steps(data: ReportData) -> list[Claim]:
    """Return the contribution of each step of a ladder."""
    return [c for c in data.claims("contributions") if c.values["design"] == "ladder"][:1]


def _axes(data: ReportData, item: Input) -> list[Claim]:
    """Return the effects of the axes of a full product on an input.

    Each axis has its first level, in plan order, that differs by more than the margin or whose
    direction depends on another axis.
    """
    clear = (Verdict.BETTER, Verdict.WORSE)
    effects = [
        c
        for c in data.claims("effect", item=item)
        if c.values.get("pooled") == 0 or c.verdict in clear
    ]
    first = {c.subject.split(" ", 1)[0]: c for c in reversed(effects)}
    return [c for c in effects if c in first.values()][:MOST_EFFECTS]


def _exceptions(data: ReportData, main: Claim) -> list[Claim]:
    """Return where the main result does not apply: verdicts that change sign, best by input."""
    if data.plan.revisions is not None:
        others = [c for c in _changes(data) if set(c.cells) != set(main.cells)]
        return sorted(others, key=lambda c: -(c.estimate or 0))[:MOST_CHANGES]
    turns = sorted(data.claims("sign-change"), key=lambda c: c.subject != main.subject)
    return [*turns[:1], *_first(data, "best-by-input")]


def _recommendation(data: ReportData, item: Input) -> list[Claim]:
    claims = data.claims("recommendation", item=item)
    return [c for c in claims if c.metric in {None, data.metric}][:1]


def _first(data: ReportData, kind: str) -> list[Claim]:
    return list(data.claims(kind))[:1]


def _no_result(data: ReportData) -> str:
    reasons = [s.reason for s in data.judgement.states if s.reason]
    reason = reasons[0] if reasons else "no two variants were measured on the same input"
    return f"No result: {reason.rstrip('.')}."


SUMMARY = SectionKind(
    "S02",
    "answer",
    "Summary",
    "the answer in a few sentences",
    build,
    place="report",
    terminal="all",
)
