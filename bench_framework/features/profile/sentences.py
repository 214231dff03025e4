"""Sentences about profiles (R16): self or inclusive, how many samples, how many runs; never a time, never a cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.claims.scope_phrases import where
from bench_framework.rounding import plain
from bench_framework.units import THIN_SPACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.model.judgement import Claim

MOST_DECIMALS: Final = 2
LEAST_SAMPLES: Final = 100
"""Below this a share of one tenth has an interval of more than a tenth."""


def percentage(share: float, lo: float | None, hi: float | None) -> str:
    """``"12.3 % [10.1, 14.6]"`` of a share of one; without an interval: ``"12.34 %"``."""
    if lo is None or hi is None:
        return f"{share * 100:.{MOST_DECIMALS}f}{THIN_SPACE}%"
    made = plain(share * 100, lo * 100, hi * 100, most=MOST_DECIMALS)
    return f"{made.estimate}{THIN_SPACE}% [{made.lo}, {made.hi}]"


def extent(total: float, unit: str, runs: int) -> str:
    """``"4213 samples, 5 runs"``."""
    return f"{int(total)} {unit}, {runs} run{'' if runs == 1 else 's'}"


def _extent(claim: Claim) -> str:
    return extent(float(claim.values["total"]), str(claim.values["unit"]), claim.runs or 0)


def _unit(claim: Claim) -> str:
    return str(claim.values["unit"])


def _function(claim: Claim) -> str:
    assert claim.estimate is not None
    share = percentage(claim.estimate, claim.lo, claim.hi)
    return (
        f"{where(claim)}{share} of the {_unit(claim)} of {claim.subject} are in {claim.values['name']} itself "
        f"(self, {_extent(claim)})"
    )


def _bucket(claim: Claim) -> str:
    assert claim.estimate is not None
    share = percentage(claim.estimate, claim.lo, claim.hi)
    return (
        f"{where(claim)}{share} of the {_unit(claim)} of {claim.subject} are in functions of the bucket "
        f"{claim.values['name']} (self, {_extent(claim)})"
    )


def _before_after(claim: Claim) -> str:
    assert claim.estimate is not None
    before = [claim.values.get(name) for name in ("before", "before_lo", "before_hi")]
    share, lo, hi = (None if value is None else float(value) for value in before)
    assert share is not None
    there = extent(
        float(claim.values["before_total"]), _unit(claim), int(claim.values["before_runs"])
    )
    return (
        f"{where(claim)}bucket {claim.values['name']}: {percentage(share, lo, hi)} in {claim.reference} "
        f"(self, {there}), {percentage(claim.estimate, claim.lo, claim.hi)} in {claim.subject} "
        f"(self, {_extent(claim)})"
    )


def _few(claim: Claim) -> str:
    return (
        f"{where(claim)}too few {_unit(claim)} of {claim.subject} to rank functions: {_extent(claim)}, "
        f"and {LEAST_SAMPLES} are needed"
    )


PROFILE_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "profile-function": _function,
    "profile-bucket": _bucket,
    "profile-before-after": _before_after,
    "profile-few": _few,
}
"""Kind of claim → its wording rule."""
