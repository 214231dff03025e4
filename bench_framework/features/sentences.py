"""Claim → sentence, verdict → word and glyph (REPORTS 1.3 and 1.5). Plain Python.

`say` is a function of the claim's fields and of nothing else, so that anyone who has the claim can
make the sentence again. A kind of claim is one function and one line in `SENTENCES`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.claims.phrases import FASTEST, IN_SESSION, comparison, noun
from bench_framework.claims.scope_phrases import where
from bench_framework.claims.value_phrases import FACT_SENTENCES
from bench_framework.features.axes.sentences import STRUCTURE_SENTENCES
from bench_framework.features.experiments.hypotheses import HYPOTHESIS_SENTENCES
from bench_framework.features.imported import sentences as imported_sentences
from bench_framework.features.profile.sentences import PROFILE_SENTENCES
from bench_framework.features.race import sentences as race_sentences
from bench_framework.features.references import sentences as references_sentences
from bench_framework.model.metrics import WALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.model.judgement import Claim


def say(claim: Claim) -> str:
    """The sentence of a claim, without a full stop.

    Raises:
        KeyError: no wording rule of this kind.
    """
    if IN_SESSION not in claim.values:
        return SENTENCES[claim.kind](claim)
    return imported_sentences.in_session(claim, SENTENCES[claim.kind](replace(claim, scope=())))


def _memory_comparison(claim: Claim) -> str:
    return f"{where(claim)}{comparison(claim)}"


def _main(claim: Claim) -> str:
    members, count = claim.values["members"], int(claim.values["count"])
    head = f"{where(claim)}best{'' if count == 1 else f' group of {count}'}: {members}"
    if "counts" in claim.values:
        against = f"of {claim.values['compared']} compared with {claim.subject}"
        return f"{head}; {against}: {claim.values['counts']} ({_extent(claim)})"
    if claim.verdict is None:
        return f"{head}; nothing else was compared with {claim.subject}"
    return f"{head}. {_sentence(comparison(claim))} ({_extent(claim)})"


def _extent(claim: Claim) -> str:
    """R4: ``"40 rounds × 1 run"``; runs differ between rounds only where a plan was continued."""
    if IN_SESSION in claim.values:
        return imported_sentences.runs_each(claim)
    rounds, runs = claim.rounds or 0, claim.runs or 0
    if not rounds or runs % rounds:
        return f"{rounds} rounds, {runs} runs"
    each = runs // rounds
    return f"{rounds} rounds × {each} run{'s' if each != 1 else ''}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith(("against ", FASTEST)) else text


def _by_input(claim: Claim) -> str:
    return str(claim.values["told"])


def _nothing(claim: Claim) -> str:
    if "elsewhere" not in claim.values:
        return f"{where(claim)}Nothing is decided: {claim.values['reason']}"
    what = noun(claim.metric or WALL)
    return f"{where(claim)}Nothing is decided in {what}: {claim.values['reason']}; {claim.values['elsewhere']}"


def _cost(claim: Claim) -> str:
    return f"{where(claim)}{comparison(claim)}, where it needs less time"


def _sign_change(claim: Claim) -> str:
    return (
        f"{claim.subject} against {claim.reference} depends on the input: {claim.values['cases']}"
        f"{claim.values.get('turn', '')}"
    )


def _dropped(claim: Claim) -> str:
    why = (
        f": {comparison(claim)}"
        if claim.reference
        else f": {claim.subject} was decidedly worse then"
    )
    return f"{where(claim)}{race_sentences.after(claim)}{why}"


def _recommendation(claim: Claim) -> str:
    tail = f"; {claim.values['tail']}" if "tail" in claim.values else ""
    if int(claim.values["count"]) == 1:
        return f"{where(claim)}use {claim.subject}{tail}"
    return f"{where(claim)}any of {claim.values['members']}{tail}; choose by cost or simplicity"


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
    "gap": references_sentences.gap,
    "cost": _cost,
    "sign-change": _sign_change,
    "race": race_sentences.race,
    "dropped": _dropped,
    "idle": race_sentences.idle,
    "recommendation": _recommendation,
    "experiments": _experiments,
    "limits": imported_sentences.limits,
    "sessions": imported_sentences.sessions,
    **FACT_SENTENCES,
    **STRUCTURE_SENTENCES,
    **PROFILE_SENTENCES,
    **HYPOTHESIS_SENTENCES,
}
"""Kind of claim → its wording rule."""
