"""Claims about causes and projections, and their sentences. Plain Python.

As in `wording`, a sentence is a function of its claim's fields and of nothing else.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from bench_framework.analysis.scope_words import where
from bench_framework.analysis.structure_wording import change
from bench_framework.model import words
from bench_framework.model.judgement import Claim
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import plain
from bench_framework.units import MINUS, THIN_SPACE, size_unit, time_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench_framework.analysis.costs import Costs
    from bench_framework.analysis.facts import Names
    from bench_framework.model.judgement import Judgement
    from bench_framework.model.suspicion import Cause, Projection

Values = dict[str, float | int | str]
_SAID: Final = {
    "shown": "the test of “{}” finds what was suspected",
    "refuted": "the test of “{}” refutes it",
    "not shown": "the test of “{}” does not decide",
    "untested": "“{}” was not tested",
}


def suspicion_claims(names: Names, judgement: Judgement, costs: Costs) -> Iterator[Claim]:
    """One claim per cause and input, then one per projection and input."""
    for cause in judgement.causes:
        yield _cause_claim(names, cause, costs)
    for projection in judgement.projections:
        if projection.value is not None or projection.measured:
            yield _projection_claim(names, projection)


def _cause_claim(names: Names, cause: Cause, costs: Costs) -> Claim:
    metric = names.plan.judge.headline
    shown = cause.shown if cause.shown and cause.shown.lo > 0 and math.isfinite(cause.shown.hi) else None
    values: Values = {"status": cause.status}
    values |= {"change": cause.change} if cause.change else {}
    values |= {"reason": cause.reason} if cause.reason else {}
    values |= {"direction": "higher"} if cause.direction == "higher" else {}
    decided = cause.verdict is not None and cause.verdict.decided
    values |= {"statistic": "floor"} if cause.statistic == "floor" and decided else {}
    cost = costs.paid(cause.verdict, cause.cell_id or "", cause.ref_cell_id or "", metric)
    values |= {"cost": cost} if cost else {}
    cells = tuple(cell for cell in (cause.cell_id, cause.ref_cell_id) if cell)
    return Claim(
        "", "cause", cause.suspected, names.label(cause.ref_cell_id) if cause.ref_cell_id else None, metric,
        names.scope(cause.input_id) if cause.change else (), cause.verdict,
        estimate=shown.ratio if shown else None, lo=shown.lo if shown else None, hi=shown.hi if shown else None,
        level=shown.level if shown else None, rounds=cause.rounds or None,
        margin=names.plan.judge.margin_of(metric), cells=cells, values=values,
    )  # fmt: skip


def _cause(claim: Claim) -> str:
    """``"the test of “the queue” refutes it: with engine: a → b and no other axis changed, 5 % more time [4, 6]"``.

    What the change did is told, and never that the author's explanation of it is right.
    """
    status = str(claim.values["status"])
    head = f"{where(claim)}{_SAID[status].format(claim.subject)}"
    reason = f" ({claim.values['reason']})" if "reason" in claim.values else ""
    if status == "untested":
        told = f": {claim.values['change']}" if "change" in claim.values else ""
        return f"{head}{told}{reason}"
    test = f"{head}: with {claim.values['change']} and no other axis changed"
    if claim.estimate is None or claim.lo is None or claim.hi is None:
        return f"{test}, {words.word(claim.verdict or Verdict.UNDECIDED, claim.metric or WALL)}{reason}"
    told = change(
        claim.verdict, claim.estimate, claim.lo, claim.hi, claim.margin or 0.0, claim.metric or WALL,
        higher=claim.values.get("direction") == "higher",
    )  # fmt: skip
    fastest = " in the fastest third of the rounds" if claim.values.get("statistic") == "floor" else ""
    cost = f", {claim.values['cost']}" if "cost" in claim.values else ""
    return f"{test}, {told}{fastest}, against {claim.reference}{cost}{reason}"


def _projection_claim(names: Names, row: Projection) -> Claim:
    values: Values = {"formula": row.formula, "unit": row.unit, "family": names.plan.unit_family}
    values |= {"assuming": row.assuming} if row.assuming else {}
    values |= {"measured": row.measured.replace("_", " ")} if row.measured else {}
    return Claim(
        "", "projection", row.name.replace("_", " "), None, None, names.scope(row.input_id), None,
        estimate=row.value, lo=row.lo, hi=row.hi, level=0.95 if row.lo is not None else None, rounds=row.rounds,
        cells=row.cell_ids, values=values,
    )  # fmt: skip


def _projection(claim: Claim) -> str:
    """A figure that nobody measured, with all that it rests on; or that it was measured since."""
    head = f"{where(claim)}{claim.subject}"
    if "measured" in claim.values:
        return f"{head} is not projected: {claim.values['measured']} measures it"
    assert claim.estimate is not None
    given = f"assuming {claim.values['assuming']}; " if "assuming" in claim.values else ""
    return (
        f"{head} would be {projected(claim)}, projected and not measured: {given}{claim.values['formula']} "
        f"over {claim.rounds} rounds"
    )


def projected(claim: Claim) -> str:
    """``"980 MiB/s [970, 990]"`` of a projection's claim."""
    assert claim.estimate is not None
    unit, scale = "", 1.0
    if claim.values["unit"] == "s":
        unit, scale = time_unit(claim.estimate)
    elif claim.values["unit"] == "bytes/s":
        unit, scale = size_unit(claim.estimate, str(claim.values["family"]))
        unit += "/s"
    lo, hi = (claim.lo, claim.hi) if claim.lo is not None and claim.hi is not None else (claim.estimate,) * 2
    made = plain(claim.estimate * scale, lo * scale, hi * scale, most=3)
    figure = f"{made.estimate}{THIN_SPACE}{unit}" if unit else f"{made.estimate}"
    return (f"{figure} [{made.lo}, {made.hi}]" if claim.lo is not None else figure).replace("-", MINUS)


SUSPICION_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {"cause": _cause, "projection": _projection}
"""Kind of claim → its wording rule."""
