"""Claims as sentences of a report, and the main claim of an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.judgement import ONE_PROGRAM
from bench_framework.report.blocks import Bullets, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench_framework.model.judgement import Claim
    from bench_framework.model.plan import Input
    from bench_framework.report.context import ReportData

MAIN_KINDS = ("main", "nothing")


def sentence(claim: Claim) -> Sentence:
    """Return a claim as a sentence: with a capital, unless a name is first, and a full stop."""
    text = claim.text.strip()
    if text and not any(
        name and text.startswith(name) for name in (claim.subject, claim.reference)
    ):
        text = text[0].upper() + text[1:]
    return Sentence(closed(text), claim.id, claim.verdict)


def claim_bullets(claims: Iterable[Claim]) -> list[Bullets]:
    """Return the sentences of claims as a list, or nothing without claims."""
    items = tuple(sentence(claim) for claim in claims)
    return [Bullets(items)] if items else []


def closed(text: str) -> str:
    """Return a text with a full stop, unless it ends with punctuation."""
    return text if not text or text[-1] in ".!?…" else text + "."


def listed(items: Sequence[str], most: int = 6, separator: str = "; ") -> str:
    """Return the first items, and the number of the others."""
    rest = f" and {len(items) - most} more" if len(items) > most else ""
    return separator.join(items[:most]) + rest


def key_claim(data: ReportData, item: Input) -> Claim | None:
    """Return the claim about the best group of an input, else the first conclusive comparison."""
    for claim in data.claims(*MAIN_KINDS, item=item):
        if claim.metric in {None, data.metric}:
            return claim
    compared = [c for c in data.claims("comparison", item=item) if c.metric == data.metric]
    compared = [c for c in compared if c.values.get("reason") != ONE_PROGRAM] or compared
    conclusive = [c for c in compared if c.verdict is not None and c.verdict.decided]
    return next(iter(conclusive or compared), None)
