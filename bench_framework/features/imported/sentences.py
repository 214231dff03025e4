"""Sentences about imported figures: each applies to one session of commands run in sequence."""

from typing import Final

from bench_framework.model.facts import Claim
from bench_framework.units import counted

_MEMORY: Final = {
    "one-figure": "; memory is a single figure for all runs, so it has no verdict",
    "running-maximum": (
        "; memory is omitted: hyperfine 1.x exports the maximum of a command and all "
        "commands before it"
    ),
}


def in_session(claim: Claim, sentence: str) -> str:
    """Return a sentence with the session it applies to, and the runs of a comparison."""
    file = dict(claim.scope).get("input")
    compared = claim.kind in {"main", "comparison", "memory"} and claim.lo is not None
    runs = f" ({runs_each(claim)})" if compared else ""
    session = f"Within one session{f' ({file})' if file else ''}, not interleaved"
    return f"{session}: {sentence}{runs}"


def runs_each(claim: Claim) -> str:
    """Return the runs of both sides, such as ``100 runs each``."""
    ours, theirs = claim.runs or 0, int(claim.values.get("runs_ref", claim.runs or 0))
    if not ours or not theirs:
        return "number of runs not given"
    if ours == theirs:
        return f"{ours} runs each"
    return f"{ours} and {theirs} runs"


def limits(claim: Claim) -> str:
    """Return the contents of a file and its limits."""
    kind = "time of every run" if claim.values["raw"] else "means only"
    return (
        f"{counted(int(claim.values['commands']), 'command')}, run one after the other, "
        f"{claim.values['runs']} each ({kind}); intervals reflect the spread of these runs, not "
        "drift between commands; the file does not describe outputs, binaries or the machine"
        f"{_MEMORY.get(str(claim.values['memory']), '')}"
    )


def sessions(_: Claim) -> str:
    """Return why several files are not compared."""
    return (
        "Times of different sessions are not compared: the state of the machine may have changed "
        "between them"
    )
