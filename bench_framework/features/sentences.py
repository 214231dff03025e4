"""The sentence of each claim.

`say` depends only on the fields of the claim, so anyone who has the claim can rebuild the sentence.
A kind of claim is one function and one line in `SENTENCES`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from bench_framework.claims.phrases import IN_SESSION, comparison
from bench_framework.claims.value_phrases import FACT_SENTENCES, where
from bench_framework.features.axes.claims import STRUCTURE_SENTENCES
from bench_framework.features.experiments.compute import HYPOTHESIS_SENTENCES
from bench_framework.features.imported import sentences as imported_sentences
from bench_framework.features.profile.compute import PROFILE_SENTENCES
from bench_framework.features.published.compute import PUBLISHED_SENTENCES
from bench_framework.features.race import compute as race
from bench_framework.features.references.compute import gap
from bench_framework.features.summary.claims import SUMMARY_SENTENCES
from bench_framework.model.judgement import Claim


def say(claim: Claim) -> str:
    """Return the sentence of a claim, without a full stop. Raises `KeyError`: unknown kind."""
    if IN_SESSION not in claim.values:
        return SENTENCES[claim.kind](claim)
    return imported_sentences.in_session(claim, SENTENCES[claim.kind](replace(claim, scope=())))


def _sign_change(claim: Claim) -> str:
    return (
        f"{claim.subject} vs {claim.reference} depends on the input: {claim.values['cases']}"
        f"{claim.values.get('turn', '')}"
    )


SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "comparison": comparison,
    "control": comparison,
    "memory": lambda claim: f"{where(claim)}{comparison(claim)}",
    "reference": lambda claim: f"{where(claim)}{comparison(claim)}",
    "gap": gap,
    "sign-change": _sign_change,
    "race": race.race,
    "dropped": race.dropped,
    "idle": race.idle,
    "limits": imported_sentences.limits,
    "sessions": imported_sentences.sessions,
    **FACT_SENTENCES,
    **STRUCTURE_SENTENCES,
    **PROFILE_SENTENCES,
    **HYPOTHESIS_SENTENCES,
    **PUBLISHED_SENTENCES,
    **SUMMARY_SENTENCES,
}
"""Kind of claim → the function that returns its sentence."""
