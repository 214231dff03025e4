"""Sentences that state facts of a record: noise floor, growth, memory, derived figures, coverage. Plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.claims.scope_phrases import where
from bench_framework.model import words
from bench_framework.model.metrics import WALL
from bench_framework.rounding import plain, rounded, up_to_two_digits
from bench_framework.units import (
    MINUS,
    THIN_SPACE,
    format_percent,
    format_size,
    size_unit,
    time_unit,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from bench_framework.model.judgement import Claim


def size(count: float, family: str) -> str:
    """A number of bytes in the units that the scenario speaks: ``"219.7 MB"`` or ``"210 MiB"`` (R14)."""
    if family != "si":
        return format_size(count)
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{up_to_digits(count / scale, 3)}{THIN_SPACE}{unit}"
    return f"{int(count)}{THIN_SPACE}B"


def up_to_digits(value: float, digits: int) -> str:
    """With so many significant digits; whole numbers in full."""
    return f"{value:.{max(0, digits - len(str(int(abs(value)))))}f}"


def upward(fraction: float) -> str:
    """A fraction as a percentage of two digits, rounded up."""
    return f"{_plain(up_to_two_digits(fraction * 100))}{THIN_SPACE}%"


def _plain(value: Decimal) -> str:
    return f"{value:f}"


def _noise_floor(claim: Claim) -> str:
    if claim.estimate is None:
        return f"{where(claim)}no noise floor: there is no control arm"
    tripped = "; control tripped" if claim.values.get("tripped") else ""
    return f"{where(claim)}noise floor of {words.noun(claim.metric or WALL)}: {upward(claim.estimate)}{tripped}"


def _scaling(claim: Claim) -> str:
    assert claim.estimate is not None
    assert claim.lo is not None
    assert claim.hi is not None
    made = rounded(claim.estimate, claim.lo, claim.hi, margin=0.05, least=2)
    aspect = "" if claim.metric == WALL else f" in {words.noun(claim.metric or WALL)}"
    figures = f"{made.estimate} [{made.lo}, {made.hi}]".replace("-", MINUS)
    start, end = claim.values["from"], claim.values["to"]
    return f"{claim.subject} grows from {start} to {end}{aspect} with exponent {figures}: {claim.values['word']}"


def _derived(claim: Claim) -> str:
    assert claim.estimate is not None
    kind, family = str(claim.values["unit"]), str(claim.values["family"])
    unit, scale = "", 1.0
    if kind == "s":
        unit, scale = time_unit(claim.estimate)
    elif kind == "bytes/s":
        unit, scale = size_unit(float(claim.values.get("smallest", claim.estimate)), family)
        unit += "/s"
    lo, hi = (
        (claim.lo, claim.hi)
        if claim.lo is not None and claim.hi is not None
        else (claim.estimate,) * 2
    )
    made = plain(claim.estimate * scale, lo * scale, hi * scale, most=3)
    if claim.margin is not None and not lo <= 1 <= hi:
        # A judged pair's interval must not be printed as reaching 1 where the results print that it does not.
        made = rounded(claim.estimate, lo, hi, margin=claim.margin)
    interval = f" [{made.lo}, {made.hi}]" if claim.lo is not None else ""
    figure = f"{made.estimate}{interval}{THIN_SPACE}{unit}".rstrip(THIN_SPACE).replace("-", MINUS)
    if "assuming" in claim.values:
        return (
            f"{where(claim)}{claim.subject} would be {figure}, projected and not measured: assuming "
            f"{claim.values['assuming']}; {claim.values['formula']} over {claim.rounds} rounds"
        )
    return f"{where(claim)}{claim.subject} is {figure} ({claim.values['formula']}, {claim.rounds} rounds)"


def _memory(claim: Claim) -> str:
    share = claim.values.get("share")
    told = f", {format_percent(float(share), decimals=0)} of the input" if share is not None else ""
    return f"{where(claim)}{claim.subject} peaks at {claim.values['size']}{told}"


def coverage(claim: Claim) -> str:
    """``"12 cells planned: 9 measured, 1 failed"``."""
    planned = int(claim.values["planned"])
    parts = [
        f"{claim.values[k]} {k}"
        for k in _COVERAGE
        if int(claim.values.get(k, 0)) or k == "measured"
    ]
    return f"{planned} cell{'s' if planned != 1 else ''} planned: {', '.join(parts)}"


_COVERAGE: Final = (
    "measured",
    "failed",
    "other output",
    "not comparable",
    "not started",
    "excluded",
)


def _trust(claim: Claim) -> str:
    return "; ".join(str(claim.values[part]) for part in ("rounds", "cells", "floors", "warnings"))


def _not_measured(claim: Claim) -> str:
    return f"Not measured: {claim.subject} ({claim.values['reason']})"


def _identical(claim: Claim) -> str:
    both = f"{claim.subject} and {claim.reference}"
    effect = claim.values.get("effect", "the change has no effect on it")
    return f"{both} are the same program (equal code and command): {effect}; their difference is an A/A test"


FACT_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "noise-floor": _noise_floor,
    "scaling": _scaling,
    "memory-share": _memory,
    "derived": _derived,
    "coverage": coverage,
    "trust": _trust,
    "not-measured": _not_measured,
    "one-program": _identical,
}
"""Kind of claim → its wording rule."""
