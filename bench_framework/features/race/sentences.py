"""The sentences of a race. Plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.claims.scope_phrases import where
from bench_framework.units import format_percent

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim

DONE: Final = "nothing in reach in the rounds that were left could put it out, and no other variant waited for it"


def race(claim: Claim) -> str:
    """``"the race took 612 of the 1500 runs that every cell takes up to round 60 (41 %): 9 dropped as losers"``."""
    runs, fixed = int(claim.values["runs"]), int(claim.values["fixed"])
    share = f" ({format_percent(runs / fixed, decimals=0)})" if fixed else ""
    every = f"the {fixed} runs that every cell takes up to round {claim.values['rounds']}"
    counts = (
        (int(claim.values["dropped"]), "dropped as losers"),
        (int(claim.values["idle"]), "done before the end"),
    )
    who = (
        ", ".join(f"{number} {words}" for number, words in counts if number)
        or "no cell stopped before the others"
    )
    return f"the race took {runs} of {every}{share}: {who}"


def after(claim: Claim) -> str:
    """Where a loser stopped: ``"dropped after round 18"``."""
    return f"dropped after round {claim.values['after']}"


def idle(claim: Claim) -> str:
    """Where an unbeaten cell stopped."""
    return f"{where(claim)}{claim.subject} was measured up to round {claim.values['after']}: {DONE}"
