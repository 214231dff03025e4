"""S02: at most six lines: the answer, its cost, where it does not hold, what failed, trust, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.model.judgement import Claim, Verdict
from bench_framework.report.blocks import Block, Bullets, Paragraph
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sentences import key_claim, sentence

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData

MOST_LINES: Final = 6
LINES: Final = (
    ("cost",),
    ("sign-change",),
    ("ideas", "coverage"),
    ("trust", "noise-floor"),
    ("recommendation",),
)
"""Claim kinds of lines 2 to 6; of each line the first kind that has something to say, once."""
_TRUST: Final = 3


def build(data: ReportData) -> tuple[Block, ...]:
    """The answer as a lead, then the further lines."""
    main = main_claim(data)
    if main is None:
        return ()
    items = [c for c in _further(data) if c.id != main.id]
    blocks: list[Block] = [Paragraph((sentence(main),), lead=True)]
    if items:
        blocks.append(Bullets(tuple(sentence(c) for c in items[: MOST_LINES - 1])))
    return tuple(blocks)


def main_claim(data: ReportData) -> Claim | None:
    """The claim that answers the question: the analysis's own choice, else that of the last input.

    Inputs grow in scenario order, so the last is the one with the least fixed cost in its times.
    """
    chosen = data.claims("main", "headline")
    if chosen:
        return chosen[0]
    for item in reversed(data.plan.inputs):
        claim = key_claim(data, item)
        if claim is not None and claim.verdict is not Verdict.FAILED:
            return claim
    return None


def _further(data: ReportData) -> list[Claim]:
    found: list[Claim] = []
    for kinds in LINES:
        line = next((c for kind in kinds for c in data.claims(kind)), None)
        if line is not None:
            found.append(line)
    return found


def _fallback(data: ReportData) -> str:
    reasons = [s.reason for s in data.judgement.states if s.reason]
    reason = reasons[0] if reasons else "no pair of variants was measured on the same input"
    return f"Nothing is decided: {reason}."


SUMMARY = SectionKind("S02", "answer", "Summary", "a comparison", build, _fallback)
