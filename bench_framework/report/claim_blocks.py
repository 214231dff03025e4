"""Claims as sentences, and which of them lead. The words are the claim's; none is made here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.judgement import ONE_PROGRAM
from bench_framework.report.blocks import Sentence

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim
    from bench_framework.model.plan import Input
    from bench_framework.report.context import ReportData

MAIN_KINDS = ("main", "nothing")


def sentence(claim: Claim) -> Sentence:
    """A claim as it is printed everywhere: its text, with a capital unless a name begins it, and a full stop."""
    text = claim.text.strip()
    if text and not any(
        name and text.startswith(name) for name in (claim.subject, claim.reference)
    ):
        text = text[0].upper() + text[1:]
    return Sentence(closed(text), claim.id, claim.verdict)


def closed(text: str) -> str:
    """A text with a full stop, unless it ends in a sign of its own."""
    return text if not text or text[-1] in ".!?…" else text + "."


def key_claim(data: ReportData, item: Input) -> Claim | None:
    """The claim under an input's table: its best group, else the first comparison that was decided."""
    for claim in data.claims(*MAIN_KINDS, item=item):
        if claim.metric in {None, data.metric}:
            return claim
    compared = [c for c in data.claims("comparison", item=item) if c.metric == data.metric]
    compared = [c for c in compared if c.values.get("reason") != ONE_PROGRAM] or compared
    decided = [c for c in compared if c.verdict is not None and c.verdict.decided]
    return next(iter(decided or compared), None)
