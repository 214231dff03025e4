"""Sentences about profiles.

Each states the kind of share (self or inclusive), the samples and the runs. No sentence states a
time or a cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.claims.value_phrases import where
from bench_framework.rounding import plain
from bench_framework.units import THIN_SPACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.model.judgement import Claim

MOST_DECIMALS: Final = 2
LEAST_SAMPLES: Final = 100
"""The smallest number of samples for which shares are stated.

With fewer samples, the interval of a 10 % share is wider than 10 percentage points.
"""


def percentage(share: float, lo: float | None, hi: float | None) -> str:
    """Return a fraction as ``"12.3 % [10.1, 14.6]"``, or as ``"12.34 %"`` without an interval."""
    if lo is None or hi is None:
        return f"{share * 100:.{MOST_DECIMALS}f}{THIN_SPACE}%"
    figure = plain(share * 100, lo * 100, hi * 100, most=MOST_DECIMALS)
    return f"{figure.estimate}{THIN_SPACE}% [{figure.lo}, {figure.hi}]"


def extent(total: float, unit: str, runs: int) -> str:
    """Return the amount of data, such as ``"4213 samples, 5 runs"``."""
    return f"{int(total)} {unit}, {runs} run{'' if runs == 1 else 's'}"


def _extent(claim: Claim) -> str:
    return extent(float(claim.values["total"]), str(claim.values["unit"]), claim.runs or 0)


def _unit(claim: Claim) -> str:
    return str(claim.values["unit"])


def _function(claim: Claim) -> str:
    assert claim.estimate is not None
    share = percentage(claim.estimate, claim.lo, claim.hi)
    return (
        f"{where(claim)}{share} of the {_unit(claim)} of {claim.subject} are in "
        f"{claim.values['name']} (self, {_extent(claim)})"
    )


def _bucket(claim: Claim) -> str:
    assert claim.estimate is not None
    share = percentage(claim.estimate, claim.lo, claim.hi)
    return (
        f"{where(claim)}{share} of the {_unit(claim)} of {claim.subject} are in functions of the "
        f"bucket {claim.values['name']} (self, {_extent(claim)})"
    )


def _before_after(claim: Claim) -> str:
    assert claim.estimate is not None
    before = [claim.values.get(name) for name in ("before", "before_lo", "before_hi")]
    share, lo, hi = (None if value is None else float(value) for value in before)
    assert share is not None
    earlier = extent(
        float(claim.values["before_total"]), _unit(claim), int(claim.values["before_runs"])
    )
    return (
        f"{where(claim)}bucket {claim.values['name']}: {percentage(share, lo, hi)} in "
        f"{claim.reference} (self, {earlier}), "
        f"{percentage(claim.estimate, claim.lo, claim.hi)} in {claim.subject} "
        f"(self, {_extent(claim)})"
    )


def _few(claim: Claim) -> str:
    return (
        f"{where(claim)}too few {_unit(claim)} of {claim.subject} to rank functions: "
        f"{_extent(claim)}; {LEAST_SAMPLES} are needed"
    )


PROFILE_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "profile-function": _function,
    "profile-bucket": _bucket,
    "profile-before-after": _before_after,
    "profile-few": _few,
}
"""Kind of claim → the function that returns its sentence."""
