"""The sentences of a race. Plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.units import format_percent

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim


def race(claim: Claim) -> str:
    """``"the race took 612 of the 1500 runs that every cell takes up to round 60 (41 %); 15 cells were dropped …"``."""
    runs, fixed, count = (int(claim.values[name]) for name in ("runs", "fixed", "dropped"))
    share = f" ({format_percent(runs / fixed, decimals=0)})" if fixed else ""
    who = (
        "nobody was dropped"
        if not count
        else f"{count} cell{'s were' if count != 1 else ' was'} dropped on the way"
    )
    every = f"the {fixed} runs that every cell takes up to round {claim.values['rounds']}"
    return f"the race took {runs} of {every}{share}; {who}"


def after(claim: Claim) -> str:
    """Where a cell stopped: ``"dropped after round 18"``."""
    return f"dropped after round {claim.values['after']}"
