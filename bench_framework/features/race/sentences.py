"""The sentences about a race."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.claims.value_phrases import where
from bench_framework.units import format_percent

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim

DONE: Final = (
    "no result within the remaining rounds could drop it, and no comparison still needed it"
)


def race(claim: Claim) -> str:
    """Return what the race cost.

    Example: ``"the race took 612 runs, 41 % of the 1500 runs of all configurations for 60 rounds:
    9 dropped"``.
    """
    runs, fixed = int(claim.values["runs"]), int(claim.values["fixed"])
    share = f"{format_percent(runs / fixed, decimals=0)} of" if fixed else "of"
    full = f"the {fixed} runs of all configurations for {claim.values['rounds']} rounds"
    counts = (
        (int(claim.values["dropped"]), "dropped"),
        (int(claim.values["idle"]), "finished early"),
    )
    outcome = (
        ", ".join(f"{number} {words}" for number, words in counts if number)
        or "no configuration stopped early"
    )
    return f"the race took {runs} runs, {share} {full}: {outcome}"


def after(claim: Claim) -> str:
    """Return when a configuration was dropped: ``"dropped after 18 rounds"``."""
    return f"dropped after {claim.values['after']} rounds"


def idle(claim: Claim) -> str:
    """Return when a configuration finished early without being dropped."""
    return f"{where(claim)}{claim.subject} finished after {claim.values['after']} rounds: {DONE}"
