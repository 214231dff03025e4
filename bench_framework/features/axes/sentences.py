"""Sentences about the axes: effects, interactions, contributions, crossovers, Pareto fronts.

As in `features.sentences`, each function depends only on the fields of the claim.
"""

import math
from collections.abc import Callable
from typing import Final

from bench_framework.claims import metric_nouns
from bench_framework.claims.phrases import TIMES_FROM, change, signed_bounds
from bench_framework.claims.value_phrases import where
from bench_framework.model import words
from bench_framework.model.judgement import ONE_PROGRAM, Claim
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict
from bench_framework.units import counted


def _change(claim: Claim) -> str:
    assert claim.figures is not None
    return change(
        claim.verdict,
        *claim.figures,
        claim.margin or 0.0,
        claim.metric or WALL,
        higher=_higher(claim),
        times_from=math.inf if claim.values.get("scale") == "percent" else TIMES_FROM,
    )


def _higher(claim: Claim) -> bool:
    return claim.values.get("direction") == metric_nouns.HIGHER


def _effect(claim: Claim) -> str:
    """Return a main effect: its mean, or a note that its sign depends on the other axes."""
    cells, less, more = (int(claim.values[k]) for k in ("cells", "less", "more"))
    head = f"{where(claim, ', ')}{claim.subject} vs {claim.reference}"
    if claim.values.get("pooled") == 0:
        frame, what = metric_nouns.frame(claim.metric), words.noun(claim.metric or WALL)
        first, second = (frame.more, frame.less) if _higher(claim) else (frame.less, frame.more)
        return (
            f"{head} depends on the other axes: {first} {what} in {less} of "
            f"{counted(cells, 'combination')}, {second} in {more}; no mean is reported"
        )
    if claim.values.get("reason") == ONE_PROGRAM:
        return _one_program(claim, head)
    detail = f"geometric mean over {counted(cells, 'combination')}"
    if claim.verdict is not None and claim.verdict.decided:
        detail += f", significant in {claim.values['significant_in']}"
    text = f"{head}: {_change(claim)} ({detail})"
    if "cost" in claim.values:
        text += f"; alone, it costs {claim.values['cost']}"
    if "depends" in claim.values:
        text += f"; the size of the effect depends on {claim.values['depends']}"
    return text + _reason(claim)


def _interaction(claim: Claim) -> str:
    """Return the interaction: both changes together vs the product of their single effects."""
    head = f"{where(claim, ', ')}interaction of {claim.subject} and {claim.reference}"
    if claim.values.get("pooled") == 0:
        return f"{head}: its sign depends on the other axes"
    if claim.values.get("reason") == ONE_PROGRAM:
        return _one_program(claim, head)
    if claim.verdict is Verdict.EQUIVALENT:
        return f"{head}: {_change(claim)} to the product of the single effects"
    if claim.verdict is None or not claim.verdict.decided:
        return f"{head}: {_change(claim)}{_reason(claim)}"
    return f"{head}: {_change(claim)} than the product of the single effects"


def _one_program(claim: Claim, head: str) -> str:
    """Return the interval of one program under two names, without a statement of a difference."""
    assert claim.figures is not None
    bounds = signed_bounds(*claim.figures, claim.margin or 0.0, keep=False)
    aspect = "" if claim.metric == WALL else f" in {words.noun(claim.metric or WALL)}"
    return f"{head}: {ONE_PROGRAM}{aspect} {bounds}"


def _reason(claim: Claim) -> str:
    return f" ({claim.values['reason']})" if "reason" in claim.values else ""


_BY: Final = {
    "ladder": "contribution of each step",
    "alone": "each change alone",
    "shapley": "contribution of each change (Shapley value: mean over all orders of the changes)",
}


def _contributions(claim: Claim) -> str:
    """Return the total of all changes and the contribution of each change."""
    by, parts = _BY[str(claim.values["design"])], str(claim.values["parts"])
    if claim.estimate is None:
        head = f"{where(claim, ', ')}no total (no variant has every change)"
        return f"{head}; {by}: {parts}"
    head = f"{where(claim, ', ')}{claim.subject} vs {claim.reference}"
    text = f"{head}: {_change(claim)}{_reason(claim)}; {by}: {parts}"
    if "multiply" in claim.values:
        text += f"; product: {claim.values['multiply']}"
    if "remainder" in claim.values:
        text += f"; interaction (total ÷ product): {claim.values['remainder']}"
    if "largest" in claim.values:
        text += f"; largest contribution: {claim.values['largest']}"
    return text


def _before_after(claim: Claim) -> str:
    """Return the comparison of one implementation before and after its changes."""
    head = f"{where(claim, ', ')}{claim.reference} → {claim.subject} ({claim.values['changes']})"
    if claim.values.get("reason") == ONE_PROGRAM and claim.estimate is not None:
        return _one_program(claim, head)
    if claim.estimate is None or claim.verdict is None:
        return f"{head}: {words.word(claim.verdict or Verdict.INCONCLUSIVE, WALL)}{_reason(claim)}"
    cost = f", {claim.values['cost']}" if "cost" in claim.values else ""
    return f"{head}: {_change(claim)}{cost}{_reason(claim)}"


def _crossover(claim: Claim) -> str:
    """Return the input size at which two variants are equally fast."""
    sizes = f"between {claim.values['below']} and {claim.values['above']}"
    head = f"{claim.subject} and {claim.reference} cross over {sizes}"
    if "size" not in claim.values:
        return f"{head}; the crossover size cannot be estimated from the typical ratios"
    bounds = f"[{claim.values['lo']}, {claim.values['hi']}]"
    return f"{head}, at about {claim.values['size']} {bounds} (interpolated)"


def _front(claim: Claim) -> str:
    """Return the best variants by metric, and the dominated variants."""
    text = f"{where(claim)}{claim.values['least']}"
    if "behind" in claim.values:
        clear = claim.values.get("clear", claim.values["metrics"])
        worse = f"another variant is better in {clear} and worse in nothing"
        text += f"; dominated ({worse}): {claim.values['behind']}"
    return text


STRUCTURE_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "effect": _effect,
    "interaction": _interaction,
    "contributions": _contributions,
    "before-after": _before_after,
    "crossover": _crossover,
    "front": _front,
}
"""Kind of claim → the function that returns its sentence."""
