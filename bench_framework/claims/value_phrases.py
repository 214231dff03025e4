"""Sentences about facts of a record: noise floor, scaling, memory, derived figures, coverage.

`where` gives the input and the state of the page cache that a sentence applies to.
"""

import math
from collections.abc import Callable
from typing import Final

from bench_framework.model import words
from bench_framework.model.judgement import Claim
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import UNSELECTED
from bench_framework.rounding import plain, rounded, up_to_two_digits
from bench_framework.units import (
    MINUS,
    THIN_SPACE,
    counted,
    format_percent,
    format_size,
    size_unit,
    time_unit,
)


def size(count: float, family: str) -> str:
    """Return a number of bytes in the unit family of the scenario: ``"220 MB"``, ``"210 MiB"``."""
    if family != "si":
        return format_size(count)
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{up_to_digits(count / scale, 3)}{THIN_SPACE}{unit}"
    return f"{int(count)}{THIN_SPACE}B"


def rate(count: float, family: str) -> str:
    """Return a number of bytes per second in the unit family of the scenario: ``"2.1 GiB/s"``."""
    unit, scale = size_unit(count, family)
    return f"{up_to_digits(count * scale, 3)}{THIN_SPACE}{unit}/s"


def up_to_digits(value: float, digits: int) -> str:
    """Return a value with the given significant digits. A whole number keeps all of its digits."""
    return f"{value:.{max(0, digits - len(str(int(abs(value)))))}f}"


def upward(fraction: float) -> str:
    """Return a fraction as a percentage of two digits, rounded up."""
    return f"{up_to_two_digits(fraction * 100):f}{THIN_SPACE}%"


def _noise_floor(claim: Claim) -> str:
    if claim.estimate is None:
        reason = "the A/A control has too few rounds" if claim.cells else "there is no A/A control"
        return f"{where(claim)}no noise floor: {reason}"
    failed = "; the A/A check failed" if claim.values.get("tripped") else ""
    what = words.noun(claim.metric or WALL)
    return f"{where(claim)}{words.NOISE_FLOOR} for {what}: {upward(claim.estimate)}{failed}"


def _scaling(claim: Claim) -> str:
    assert claim.figures is not None
    exponent = rounded(*claim.figures, margin=0.05, least=2)
    figures = f"{exponent.estimate} [{exponent.lo}, {exponent.hi}]".replace("-", MINUS)
    start, end = claim.values["from"], claim.values["to"]
    growth = per_doubling(*claim.figures, f"× the {words.noun(claim.metric or WALL)}")
    head = f"{claim.subject}, from {start} to {end}: twice the input takes {growth}"
    return f"{head} (scaling exponent {figures}, {claim.values['word']})"


def per_doubling(exponent: float, lo: float, hi: float, unit: str = "") -> str:
    """Return the factor for twice the input, such as ``"1.84× the time [1.82, 1.87]"``, with a unit."""
    factor = plain(*(math.pow(2.0, power) for power in (exponent, lo, hi)), most=2)
    return f"{factor.estimate}{unit} [{factor.lo}, {factor.hi}]"


def derived_figure(
    estimate: float,
    lo: float | None,
    hi: float | None,
    kind: str,
    family: str,
    *,
    smallest: float | None = None,
    margin: float | None = None,
) -> str:
    """Return a derived value with its interval and unit: ``"1.21 [1.18, 1.24] GiB/s"``.

    `kind` is ``s``, ``bytes/s`` or ``ratio``. `smallest` is the smallest rate of a list, which sets
    the unit. `margin` is that of a pair with a verdict.
    """
    unit, scale = "", 1.0
    if kind == "s":
        unit, scale = time_unit(estimate)
    elif kind == "bytes/s":
        unit, scale = size_unit(estimate if smallest is None else smallest, family)
        unit += "/s"
    low, high = (estimate, estimate) if lo is None or hi is None else (lo, hi)
    value = plain(estimate * scale, low * scale, high * scale, most=3)
    if margin is not None and not low <= 1 <= high:
        # Rounding must not let the interval of a judged pair reach 1 if the results exclude 1.
        value = rounded(estimate, low, high, margin=margin)
    interval = f" [{value.lo}, {value.hi}]" if lo is not None else ""
    return f"{value.estimate}{interval}{THIN_SPACE}{unit}".rstrip(THIN_SPACE).replace("-", MINUS)


def _derived(claim: Claim) -> str:
    assert claim.estimate is not None
    figure = derived_figure(
        claim.estimate,
        claim.lo,
        claim.hi,
        str(claim.values["unit"]),
        str(claim.values["family"]),
        smallest=float(claim.values["smallest"]) if "smallest" in claim.values else None,
        margin=claim.margin,
    )
    head, source = f"{where(claim)}{claim.subject}", claim.values["formula"]
    if "assuming" in claim.values:
        return (
            f"{head} would be {figure} (projected, not measured: {source} over "
            f"{claim.rounds} rounds), assuming {claim.values['assuming']}"
        )
    return f"{head} is {figure} ({source}, {claim.rounds} rounds)"


def _memory(claim: Claim) -> str:
    share = claim.values.get("share")
    part = f", {format_percent(float(share), decimals=0)} of the input" if share is not None else ""
    return f"{where(claim)}{claim.subject} uses {claim.values['size']} of memory at its peak{part}"


def coverage(claim: Claim) -> str:
    """Return the counts, such as ``"12 configurations planned: 9 measured, 1 failed"``."""
    parts = [
        f"{claim.values[state]} {text}"
        for state, text in _COVERAGE.items()
        if claim.values.get(state) or state == "measured"
    ]
    return f"{counted(int(claim.values['planned']), 'configuration')} planned: {', '.join(parts)}"


_COVERAGE: Final = {
    "measured": "measured",
    "failed": "failed",
    "other output": "with other output",
    "not comparable": "not comparable",
    "not started": "not started",
    UNSELECTED: UNSELECTED,
    "excluded": "more excluded from the plan",
}
"""State → words, in the order of the sentence. Excluded combinations are not among the planned."""


def _not_measured(claim: Claim) -> str:
    return f"Not measured: {claim.subject} ({claim.values['reason']})"


def _identical(claim: Claim) -> str:
    both = f"{claim.subject} and {claim.reference}"
    effect = claim.values.get("effect", "the change has no effect on it")
    return f"{both} are the same program (equal code and command): {effect}; their comparison is an A/A test"


FACT_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "noise-floor": _noise_floor,
    "scaling": _scaling,
    "memory-share": _memory,
    "derived": _derived,
    "coverage": coverage,
    "not-measured": _not_measured,
    "one-program": _identical,
}
"""Kind of claim → the function that returns its sentence."""


def where(claim: Claim) -> str:
    """Return the scope of a claim as the start of a sentence.

    Examples are ``"On 10 MiB, "`` for one input of several and ``"With a cold cache, "`` if every
    run was observed to start with a cold cache.
    """
    labels = [value for name, value in claim.scope if name == "input" and value]
    parts = [f"on {', '.join(labels)}"] if labels else []
    parts += ["with a cold cache"] if ("cache", "cold") in claim.scope else []
    scope = " ".join(parts)
    return f"{scope[:1].upper()}{scope[1:]}, " if scope else ""
