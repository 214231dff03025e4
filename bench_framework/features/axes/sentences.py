"""Sentences about what the axes do: effects, contributions, crossings, fronts (REPORTS R5, R8). Plain Python.

As in `wording`, a sentence is a function of its claim's fields and of nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.claims import metric_nouns
from bench_framework.claims.phrases import change, signed_bounds
from bench_framework.claims.scope_phrases import where
from bench_framework.model import words
from bench_framework.model.judgement import ONE_PROGRAM
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.model.judgement import Claim


def _change(claim: Claim) -> str:
    assert claim.estimate is not None
    assert claim.lo is not None
    assert claim.hi is not None
    return change(
        claim.verdict,
        claim.estimate,
        claim.lo,
        claim.hi,
        claim.margin or 0.0,
        claim.metric or WALL,
        higher=_higher(claim),
        percent=claim.values.get("scale") == "percent",
    )


def _higher(claim: Claim) -> bool:
    return claim.values.get("direction") == metric_nouns.HIGHER


def _cells(count: int) -> str:
    return f"{count} cell{'s' if count != 1 else ''}"


def _effect(claim: Claim) -> str:
    """A main effect: the mean with its cells, or that there is none because it turns."""
    cells, less, more = (int(claim.values[k]) for k in ("cells", "less", "more"))
    head = f"{where(claim, ', ')}{claim.subject} against {claim.reference}"
    if claim.values.get("pooled") == 0:
        frame, what = metric_nouns.frame(claim.metric), words.noun(claim.metric or WALL)
        first, second = (frame.more, frame.less) if _higher(claim) else (frame.less, frame.more)
        return (
            f"{head} depends on the other axes: {first} {what} in {less} of {_cells(cells)}, {second} in {more}; "
            "no mean is told"
        )
    if claim.values.get("reason") == ONE_PROGRAM:
        return _one_program(claim, head)
    told = f"{head}: {_change(claim)}, as the geometric mean over {_cells(cells)}"
    if claim.verdict is not None and claim.verdict.decided:
        told += f"; it holds in {claim.values['holds']} of {cells}"
    if "cost" in claim.values:
        told += f"; as the only change it takes {claim.values['cost']}"
    if "depends" in claim.values:
        told += f", and how much depends on {claim.values['depends']}"
    return told + _reason(claim)


def _interaction(claim: Claim) -> str:
    """Whether two changes together are what each alone would make them."""
    head = f"{where(claim, ', ')}{claim.subject} together with {claim.reference}"
    if claim.values.get("pooled") == 0:
        return f"{head}: whether they need more or less than their effects multiplied depends on the other axes"
    if claim.values.get("reason") == ONE_PROGRAM:
        return _one_program(claim, head)
    if claim.verdict is Verdict.EQUIVALENT:
        return f"{head}: their effects multiply, {_change(claim)}"
    if claim.verdict is None or not claim.verdict.decided:
        return f"{head}: whether their effects multiply is {_change(claim)}{_reason(claim)}"
    return f"{head}: {_change(claim)}, compared with their effects multiplied"


def _one_program(claim: Claim, head: str) -> str:
    """Two names of one program, or products of such: the figures, and no word about a difference."""
    assert claim.estimate is not None
    assert claim.lo is not None
    assert claim.hi is not None
    ends = (claim.estimate, claim.lo, claim.hi)
    bounds = signed_bounds(*ends, claim.margin or 0.0, keep=False)
    aspect = "" if claim.metric == WALL else f" in {words.noun(claim.metric or WALL)}"
    return f"{head}: {ONE_PROGRAM}{aspect} {bounds}"


def _reason(claim: Claim) -> str:
    return f" ({claim.values['reason']})" if "reason" in claim.values else ""


_BY: Final = {
    "ladder": "step by step",
    "alone": "each change alone",
    "shapley": "averaged over every order of the changes",
}


def _contributions(claim: Claim) -> str:
    """The whole of a table: what all changes make together, and what each brings."""
    by, parts = _BY[str(claim.values["design"])], str(claim.values["parts"])
    if claim.estimate is None:
        return f"{where(claim, ', ')}no variant has every change, so that they have no total; {by}: {parts}"
    head = f"{where(claim, ', ')}{claim.subject} against {claim.reference}"
    told = f"{head}: {_change(claim)}{_reason(claim)}; {by}: {parts}"
    if "multiply" in claim.values:
        product = "their product is" if "remainder" in claim.values else "contributions multiply:"
        told += f"; {product} {claim.values['multiply']}"
    if "remainder" in claim.values:
        told += f", and all together against that: {claim.values['remainder']}"
    if "largest" in claim.values:
        told += f"; the largest is {claim.values['largest']}"
    return told


def _before_after(claim: Claim) -> str:
    """One implementation before and after."""
    head = f"{where(claim, ', ')}{claim.reference} → {claim.subject} ({claim.values['changes']})"
    if claim.values.get("reason") == ONE_PROGRAM and claim.estimate is not None:
        return _one_program(claim, head)
    if claim.estimate is None or claim.verdict is None:
        return f"{head}: {words.word(claim.verdict or Verdict.INCONCLUSIVE, WALL)}{_reason(claim)}"
    fastest = (
        " in the fastest third of the rounds" if claim.values.get("statistic") == "floor" else ""
    )
    cost = f", {claim.values['cost']}" if "cost" in claim.values else ""
    return f"{head}: {_change(claim)}{fastest}{cost}{_reason(claim)}"


def _crossover(claim: Claim) -> str:
    """Where two variants change places."""
    head = (
        f"{claim.subject} and {claim.reference} change places between {claim.values['below']} and"
    )
    head = f"{head} {claim.values['above']}"
    if "size" not in claim.values:
        return f"{head}; the typical ratio does not settle where"
    return f"{head}, at about {claim.values['size']} [{claim.values['lo']}, {claim.values['hi']}] (interpolated)"


def _front(claim: Claim) -> str:
    """Who is ahead in what, and who is behind another one in everything."""
    told = f"{where(claim, ', ')}trade-offs: {claim.values['least']}"
    if "behind" in claim.values:
        clear = claim.values.get("clear", claim.values["metrics"])
        told += f"; behind another variant in {clear}, and ahead of it in nothing: {claim.values['behind']}"
    return told


STRUCTURE_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "effect": _effect,
    "interaction": _interaction,
    "contributions": _contributions,
    "before-after": _before_after,
    "crossover": _crossover,
    "front": _front,
}
"""Kind of claim → its wording rule."""
