"""Sections "Summary", with answer, cost, exceptions and confidence, and "Key findings"."""

from typing import Final

from bench_framework.model import facts
from bench_framework.model.facts import Claim, Fact
from bench_framework.model.plan import Input
from bench_framework.report.blocks import Block, Fallback, Paragraph, Sentence
from bench_framework.report.claim_blocks import MAIN_KINDS, claim_bullets, sentence
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.text.reasons import phrase

MOST_LINES: Final = 7
OUTPUTS_DIFFER: Final = Sentence("Outputs differ, so the variants may do different work.")


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the answer, then what to use, further parts of the answer and at most seven lines."""
    answer = _answer(data)
    if not answer:
        return (Fallback(_no_result(data)),)
    first, *more = answer
    remarks = (OUTPUTS_DIFFER,) if data.outputs_differ else ()
    use = () if data.outputs_differ else data.claims("use")
    bullets = claim_bullets([*use, *more, *lines(data)])
    return (Paragraph((sentence(first), *remarks), lead=True), *bullets)


def _answer(data: ReportData) -> tuple[Claim, ...]:
    main = _leading(data)
    return data.claims("answer") or ((main,) if main is not None else ())


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
    """Return the claims below the answer. Contrasts fill the room that the others leave."""
    leading = data.claims("contrast", item=leading_input(data))
    contrasts = [
        c
        for c in _contrasts(data, "grouped")
        if isinstance(c.fact, facts.Grouped) or (c in leading and _is_line(c.fact))
    ]
    last = [
        *data.claims("profile-summary"),
        *data.claims("experiments"),
        *data.claims("race")[:1],
        *data.claims("trust"),
    ]
    summary = data.claims("summary")
    general = [c for c in summary if isinstance(c.fact, facts.MeanEffects)]
    first = [*(c for c in summary if c not in general), *contrasts, *general]
    return [*first[: MOST_LINES - len(last)], *last]


def _is_line(fact: Fact) -> bool:
    """Return whether a contrast is stated alone, and named by the scenario."""
    return isinstance(fact, facts.Contrast) and fact.origin == "scenario" and not fact.group


def leading_input(data: ReportData) -> Input | None:
    """Return the input of the answer, or `None` if nothing was compared."""
    main = _leading(data)
    label = dict(main.scope).get("input") if main is not None else None
    inputs = data.plan.inputs
    return next((i for i in inputs if main is not None and label in (None, i.label)), None)


def _leading(data: ReportData) -> Claim | None:
    """Return the result of the input that the summary is about."""
    results = data.claims(*MAIN_KINDS)
    return next(
        (c for c in results if isinstance(c.fact, (facts.Best, facts.Nothing)) and c.fact.leading),
        None,
    )


def _no_result(data: ReportData) -> str:
    reasons = [phrase(s.reason) for s in data.judgement.states if s.reason]
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


def findings(data: ReportData) -> tuple[Block, ...]:
    """Return contrasts that the summary lacks: the scenario's, or else the best variant's."""
    stated = {claim.id for claim in lines(data)}
    claims = (
        c
        for c in _contrasts(data, "grouped", "finding")
        if isinstance(c.fact, (facts.Contrast, facts.Grouped, facts.Finding)) and not c.fact.joined
    )
    return tuple(claim_bullets(c for c in claims if c.id not in stated))


FINDINGS = SectionKind(
    "S17",
    "findings",
    "Key findings",
    "further comparisons that the scenario names in `contrasts`, or those of the best variant",
    findings,
    place="report",
    terminal="sentences",
)
