"""Sentences about facts of a record: noise floor, scaling, memory, derived figures, coverage.

`where` gives the input and the state of the page cache that a sentence applies to.
"""

from collections.abc import Callable
from typing import Final

from bench_framework.model import words
from bench_framework.model.judgement import Claim
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import UNSELECTED
from bench_framework.rounding import rounded
from bench_framework.text.numbers import derived_figure, format_percent, per_doubling, percent_up
from bench_framework.units import MINUS, counted


def _noise_floor(claim: Claim) -> str:
    if claim.estimate is None:
        reason = "the A/A control has too few rounds" if claim.cells else "there is no A/A control"
        return f"{where(claim)}no noise floor: {reason}"
    failed = "; the A/A check failed" if claim.values.get("tripped") else ""
    what = words.noun(claim.metric or WALL)
    return f"{where(claim)}{words.NOISE_FLOOR} for {what}: {percent_up(claim.estimate)}{failed}"


def _scaling(claim: Claim) -> str:
    assert claim.figures is not None
    exponent = rounded(*claim.figures, margin=0.05, least=2)
    figures = f"{exponent.estimate} [{exponent.lo}, {exponent.hi}]".replace("-", MINUS)
    start, end = claim.values["from"], claim.values["to"]
    growth = per_doubling(*claim.figures, f"× the {words.noun(claim.metric or WALL)}")
    head = f"{claim.subject}, from {start} to {end}: twice the input takes {growth}"
    return f"{head} (scaling exponent {figures}, {claim.values['word']})"


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
