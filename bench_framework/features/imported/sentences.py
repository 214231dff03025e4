"""Sentences of claims about imported figures: each holds in one session, whose commands ran one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim

_MEMORY: Final = {
    "one-figure": "; its memory is one figure for all runs, a value without a verdict",
    "running-maximum": (
        "; its memory figures are left out: hyperfine 1.x exports the largest of this and all earlier commands of the"
        " call, so that they say nothing of each"
    ),
}


def in_session(claim: Claim, sentence: str) -> str:
    """Return a sentence with the session that it holds in, and the runs behind a comparison."""
    file = dict(claim.scope).get("input")
    compared = claim.kind in {"comparison", "memory"} and claim.lo is not None
    runs = f" ({runs_each(claim)})" if compared else ""
    return f"In one session{f' ({file})' if file else ''}, in blocks: {sentence}{runs}"


def runs_each(claim: Claim) -> str:
    """Return the runs of both sides, such as ``100 runs each``."""
    ours, theirs = claim.runs or 0, int(claim.values.get("runs_ref", claim.runs or 0))
    if not ours or not theirs:
        return "number of runs not given"
    if ours == theirs:
        return f"{ours} runs each"
    return (
        f"{theirs} to {ours} runs each" if "counts" in claim.values else f"{ours} and {theirs} runs"
    )


def limits(claim: Claim) -> str:
    """Return what a file holds and what it cannot show."""
    count = int(claim.values["commands"])
    kind = "single runs" if claim.values["raw"] else "published means"
    return (
        f"{count} command{'s' if count != 1 else ''} ran one after the other, {claim.values['runs']} each, "
        f"from {kind}; intervals cover these runs and no drift between the commands; outputs, binaries and machine "
        f"are not in the file{_MEMORY.get(str(claim.values['memory']), '')}"
    )


def sessions(_: Claim) -> str:
    """Return why several files are not compared."""
    return "Times of different sessions are not compared: no file shows what the machine did between them"
