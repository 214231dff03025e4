"""The claims of the summary, the key findings and the recommendation, and their sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from bench_framework.features.summary import bullets, main
from bench_framework.features.summary.answers import ANSWERS
from bench_framework.features.summary.contrasts import contrast_claims, contrast_text
from bench_framework.features.summary.evidence import Evidence
from bench_framework.features.summary.recommendation import (
    recommendation,
    recommendations,
    used,
)
from bench_framework.model.judgement import Claim


def summary_claims(at: Evidence) -> Iterator[Claim]:
    """Yield the result of each input, then the lines of the summary, then the recommendations."""
    item = at.leading_input()
    for group in at.judgement.best:
        claim = main.main_claim(at, group)
        leading = item is not None and group.input_id == item.id
        yield replace(claim, values={**claim.values, "leading": 1}) if leading else claim
    special: list[Claim] = []
    if item is not None:
        special = next((claims for answer in ANSWERS if (claims := answer(at, item))), [])
        yield from special
        yield from used(at, item)
        yield from bullets.lines(at, item)
    yield from contrast_claims(at, answered=not special)
    yield from bullets.not_adopted(at, item)
    yield bullets.confidence(at)
    yield from recommendations(at)


def _text(claim: Claim) -> str:
    return str(claim.values["text"])


SUMMARY_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "main": main.main_sentence,
    "nothing": main.nothing_sentence,
    "answer": _text,
    "use": _text,
    "summary": _text,
    "experiments": _text,
    "trust": _text,
    "contrast": contrast_text,
    "grouped": _text,
    "finding": _text,
    "recommendation": recommendation,
}
"""Kind of claim → the function that returns its sentence."""
