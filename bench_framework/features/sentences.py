"""The sentence of each claim.

`say` depends only on the fields of the claim, so anyone who has the claim can rebuild the sentence.
A kind of claim is one function and one line in `SENTENCES`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.claims.phrases import IN_SESSION, comparison, noun
from bench_framework.claims.value_phrases import FACT_SENTENCES, where
from bench_framework.features.axes.sentences import STRUCTURE_SENTENCES
from bench_framework.features.experiments.hypotheses import HYPOTHESIS_SENTENCES
from bench_framework.features.imported import sentences as imported_sentences
from bench_framework.features.profile.compute import PROFILE_SENTENCES
from bench_framework.features.published.claims import PUBLISHED_SENTENCES
from bench_framework.features.race import claims as race_claims
from bench_framework.features.references.claims import gap
from bench_framework.model.metrics import WALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.model.judgement import Claim


def say(claim: Claim) -> str:
    """Return the sentence of a claim, without a full stop.

    Raises:
        KeyError: no function for this kind of claim.
    """
    if IN_SESSION not in claim.values:
        return SENTENCES[claim.kind](claim)
    return imported_sentences.in_session(claim, SENTENCES[claim.kind](replace(claim, scope=())))


def _memory_comparison(claim: Claim) -> str:
    return f"{where(claim)}{comparison(claim)}"


def _main(claim: Claim) -> str:
    members, count = claim.values["members"], int(claim.values["count"])
    scope = where(claim, "")
    scope = f" {scope[0].lower()}{scope[1:]}" if scope else ""
    best = f"best{scope}" if count == 1 else f"best group{scope} ({count} variants)"
    head = f"{best}: {members}"
    if "counts" in claim.values:
        compared = f"{claim.values['compared']} compared with {claim.subject}"
        return f"{head}; {compared}: {claim.values['counts']} ({_extent(claim)})"
    if claim.verdict is None:
        return f"{head}; no other variant was compared with {claim.subject}"
    return f"{head}. {comparison(claim)} ({_extent(claim)})"


def _extent(claim: Claim) -> str:
    """Return ``"40 rounds × 1 run"``.

    The runs per round differ only in a plan that was continued.
    """
    if IN_SESSION in claim.values:
        return imported_sentences.runs_each(claim)
    rounds, runs = claim.rounds or 0, claim.runs or 0
    if not rounds or runs % rounds:
        return f"{rounds} rounds, {runs} runs"
    each = runs // rounds
    return f"{rounds} rounds × {each} run{'s' if each != 1 else ''}"


def _by_input(claim: Claim) -> str:
    return str(claim.values["text"])


def _nothing(claim: Claim) -> str:
    if "elsewhere" not in claim.values:
        return f"{where(claim)}Nothing is conclusive: {claim.values['reason']}"
    head = f"{where(claim)}Nothing is conclusive in {noun(claim.metric or WALL)}"
    return f"{head}: {claim.values['reason']}; {claim.values['elsewhere']}"


def _cost(claim: Claim) -> str:
    return f"{where(claim)}{comparison(claim)}, but takes less time"


def _sign_change(claim: Claim) -> str:
    return (
        f"{claim.subject} vs {claim.reference} depends on the input: {claim.values['cases']}"
        f"{claim.values.get('turn', '')}"
    )


def _dropped(claim: Claim) -> str:
    evidence = (
        comparison(claim) if claim.reference else f"{claim.subject} was significantly worse by then"
    )
    return f"{where(claim)}{race_claims.after(claim)}: {evidence}"


def _recommendation(claim: Claim) -> str:
    tail = f"; {claim.values['tail']}" if "tail" in claim.values else ""
    if int(claim.values["count"]) == 1:
        return f"{where(claim)}use {claim.subject}{tail}"
    head = f"{where(claim)}use one of {claim.values['members']}"
    if "same" in claim.values:
        head += f"; they do not differ significantly in {noun(claim.metric or WALL)}"
    return f"{head}{tail}; choose by cost or simplicity"


def _experiments(claim: Claim) -> str:
    return f"{claim.values['count']} not adopted: {claim.values['outcomes']}"


SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "main": _main,
    "nothing": _nothing,
    "best-by-input": _by_input,
    "comparison": comparison,
    "control": comparison,
    "memory": _memory_comparison,
    "reference": _memory_comparison,
    "contrast": _memory_comparison,
    "gap": gap,
    "cost": _cost,
    "sign-change": _sign_change,
    "race": race_claims.race,
    "dropped": _dropped,
    "idle": race_claims.idle,
    "recommendation": _recommendation,
    "experiments": _experiments,
    "limits": imported_sentences.limits,
    "sessions": imported_sentences.sessions,
    **FACT_SENTENCES,
    **STRUCTURE_SENTENCES,
    **PROFILE_SENTENCES,
    **HYPOTHESIS_SENTENCES,
    **PUBLISHED_SENTENCES,
}
"""Kind of claim → the function that returns its sentence."""
