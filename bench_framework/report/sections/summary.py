"""The first section of a page: answer, decision, warnings, figure and a few lines."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from bench_framework.compare.cell_state import output_reasons
from bench_framework.model import facts
from bench_framework.model.facts import Claim, Fact
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.report.blocks import Block, Box, Fallback, Paragraph, Sentence
from bench_framework.report.claim_blocks import (
    all_equal,
    brief_sentence,
    claim_bullets,
    leading_claim,
    leading_input,
    nothing_better,
    recommended,
    sentence,
)
from bench_framework.report.context import ReportData
from bench_framework.report.sections.figure import answer_figure
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sections.masthead import noise_warning
from bench_framework.text.names import capital, closed
from bench_framework.text.numbers import format_percent
from bench_framework.text.reasons import phrase
from bench_framework.text.words import noun
from bench_framework.text.write import brief, render

MOST_BULLETS: Final = 5
ENOUGH_BULLETS: Final = 3
"""The number of lines up to which those of the author are supplemented."""
MOST_CONTRASTS: Final = 2
MOST_RECOMMENDED: Final = 2
MOST_SECOND: Final = 2
"""Most pairs with two differences at once that a warning names."""
OUTPUTS_UNKNOWN: Final = Sentence("Outputs were not compared. The variants may do different work.")
WARNINGS: Final = (facts.UnstableRatios, facts.UnstableControl, facts.OtherSession)
"""Facts that warn of ratios which changed during the record, or may in another one."""


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the answer, the decision, warnings, a figure, and at most five lines."""
    answer = _answer(data)
    if not answer:
        return (Fallback(_no_result(data)),)
    blocks: list[Block | None] = [Paragraph((sentence(answer[0]),), lead=True)]
    blocks += [_decision(data), *_warnings(data), answer_figure(data)]
    return (
        *(block for block in blocks if block is not None),
        *claim_bullets(lines(data), partial(_line, data)),
    )


def _line(data: ReportData, claim: Claim) -> Sentence:
    """Return a line, with the second difference if it names one pair with two differences at once."""
    line = brief_sentence(claim)
    for other in data.claims("two-differences"):
        if {*other.cells} == {*claim.cells} and not _is_of_answer(data, other):
            return replace(line, text=render("with_second_difference", line.text, other.fact))
    return line


def _is_of_answer(data: ReportData, claim: Claim) -> bool:
    """Return whether the answer or the decision is about the pair of a claim."""
    stated = (*_answer(data), *recommended(data)[:MOST_RECOMMENDED])
    return any({*claim.cells} <= {*c.cells} for c in stated)


def _means_of_answer(data: ReportData, claim: Claim) -> bool:
    return isinstance(claim.fact, facts.MeansDiffer) and _is_of_answer(data, claim)


def _answer(data: ReportData) -> tuple[Claim, ...]:
    main = leading_claim(data)
    return data.claims("answer") or ((main,) if main is not None else ())


def _decision(data: ReportData) -> Box | None:
    """Return which variant to use, or that no variant is shown to be better."""
    first = recommended(data)[:MOST_RECOMMENDED]
    if first:
        further = data.claims("alternative")
        cells = {c.cells[:1] for c in (*first, *further)}
        parts = (c for c in data.claims("best-parts") if c.cells[:1] in cells)
        claims = (*data.claims("equal-sides"), *first, *further, *parts)
        return Box("decision", tuple(Sentence(brief(c, alone=True), c.id) for c in claims))
    if nothing_better(data) and data.plan.revisions is None:
        what, margin = noun(data.metric), format_percent(data.margin)
        several = len({c.variant_id for c in data.plan.cells if c.role is Role.CANDIDATE}) > 1
        to = f" to {data.plan.variant(data.plan.baseline_id).label}" if several else ""
        equal = Sentence(f"Choose by other criteria: {what} is equal{to} within ±{margin}.")
        nothing = Sentence(
            f"Nothing to choose by {what}: no variant is shown to be better than another."
        )
        return Box("decision", (equal if all_equal(data) else nothing,))
    return None


def _warnings(data: ReportData) -> Iterator[Box]:
    """Yield what changes how a reader may use the answer, with its content."""
    yield from output_warnings(data, data.plan)
    for claim in data.claims("summary"):
        if isinstance(claim.fact, WARNINGS) or _means_of_answer(data, claim):
            yield Box("warning", (brief_sentence(claim),))
    second = {
        (c.subject, c.reference, c.scope): c
        for c in data.claims("two-differences")
        if _is_of_answer(data, c)
    }
    if second:
        first, *rest = (Sentence(brief(c), c.id) for c in [*second.values()][:MOST_SECOND])
        if len(second) > MOST_SECOND:
            rest.append(Sentence(f"{len(second) - MOST_SECOND} more are in the appendix."))
        yield Box("warning", (replace(first, lead="Two differences at once"), *rest))
    if noise := noise_warning(data):
        yield Box("warning", (Sentence(noise),))


def output_warnings(
    data: ReportData, plan: Plan, compared: Iterable[str] | None = None
) -> Iterator[Box]:
    """Yield a warning with each reason to doubt that variants do the same work.

    `plan` is that of the record, `compared` are ids of its cells: all without it.
    """
    if data.outputs_differ:
        reasons = output_reasons(plan, data.contents.events, compared)
        # A name of a variant before the phrase keeps its case.
        texts = [(reason.place, phrase(reason)) for reason in reasons]
        if texts:
            sentences = (
                Sentence(closed(text if place else capital(text))) for place, text in texts
            )
            yield Box("warning", tuple(sentences))
    elif plan.answer.compare == "none" and plan.benches is None:
        yield Box("warning", (OUTPUTS_UNKNOWN,))


def _contrasts(data: ReportData, *kinds: str) -> list[Claim]:
    """Return the contrasts that the answer does not contain."""
    stated = {_pair(c) for c in _answer(data) if c.verdict and c.verdict.decided}
    return [
        c
        for c in data.claims("contrast", *kinds)
        if not isinstance(c.fact, facts.Contrast) or c.fact.detail.medians or _pair(c) not in stated
    ]


def _pair(claim: Claim) -> tuple[str, str | None, str | None]:
    return claim.subject, claim.reference, claim.metric


def lines(data: ReportData) -> list[Claim]:
    """Return the claims below the figure: first the author's, then those that follow from the data."""
    takeaways = data.claims("takeaway")
    stated = (*takeaways, *data.claims("alternative"))
    leading = data.claims("contrast", item=leading_input(data))
    contrasts = [
        c
        for c in _contrasts(data, "grouped")
        if isinstance(c.fact, facts.Grouped) or (c in leading and _is_line(c.fact))
        if not any(c.cells and {*c.cells} <= {*other.cells} for other in stated)
    ]
    # The decision says which variant is best on every input.
    left_out = (*WARNINGS, *((facts.BestEverywhere,) if recommended(data) else ()))
    summary = [
        c
        for c in data.claims("summary")
        if not isinstance(c.fact, left_out) and not _means_of_answer(data, c)
    ]
    # Several declared metrics leave room for memory and effects.
    judged = [c for c in summary if isinstance(c.fact, facts.JudgedMetric)]
    others = [c for c in summary if isinstance(c.fact, facts.Resources | facts.MeanEffects)]
    first = [*judged[:1], *others]
    chosen = [
        *takeaways,
        *contrasts[:MOST_CONTRASTS],
        *first,
        *data.claims("experiments", "profile-summary"),
        *(data.claims("functions")[:1] if data.plan.revisions is not None else ()),
        *data.claims("race")[:1],
        *(c for c in summary if c not in first),
    ]
    most = max(len(takeaways), ENOUGH_BULLETS) if takeaways else MOST_BULLETS
    return chosen[: min(most, MOST_BULLETS)]


def _is_line(fact: Fact) -> bool:
    """Return whether a contrast is stated alone, and named by the scenario."""
    return isinstance(fact, facts.Contrast) and fact.origin == "scenario" and not fact.group


def _no_result(data: ReportData) -> str:
    reasons = [phrase(s.reason) for s in data.judgement.states if s.reason]
    reason = reasons[0] if reasons else "no two variants were measured on the same input"
    return f"No result: {reason.rstrip('.')}."


SUMMARY = SectionKind(
    "S02",
    "answer",
    "Answer",
    "the answer, what to do, warnings, a figure, and at most five lines",
    build,
    place="report",
    terminal="last",
)


def findings(data: ReportData) -> tuple[Block, ...]:
    """Return the contrasts with their intervals: the scenario's, or else the best variant's."""
    claims = (
        c
        for c in _contrasts(data, "grouped", "finding")
        if isinstance(c.fact, (facts.Contrast, facts.Grouped, facts.Finding)) and not c.fact.joined
    )
    return tuple(claim_bullets(claims))


FINDINGS = SectionKind(
    "S17",
    "findings",
    "Further comparisons",
    "further comparisons that the scenario names in `contrasts`, or those of the best variant",
    findings,
)
