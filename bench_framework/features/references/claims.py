"""Claims about gaps to further references, and their sentences."""

from collections.abc import Iterator, Sequence

from bench_framework.claims.costs import Costs
from bench_framework.claims.factory import Names
from bench_framework.claims.value_phrases import where
from bench_framework.model import words
from bench_framework.model.judgement import Claim, Gap
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import plain
from bench_framework.units import MINUS, THIN_SPACE, time_unit


def gap_claims(names: Names, gaps: Sequence[Gap], costs: Costs) -> Iterator[Claim]:
    """Yield one claim per gap with significant ends. A smaller gap is stated with its cost."""
    for gap in gaps:
        smaller = Verdict.BETTER if gap.closed_lo is not None and gap.closed_lo > 0 else None
        cost = costs.phrase(smaller, gap.cell_id, gap.baseline_cell_id, gap.metric)
        yield Claim(
            "",
            "gap",
            names.label(gap.cell_id),
            names.label(gap.ref_cell_id),
            gap.metric,
            names.scope(gap.input_id),
            estimate=gap.closed,
            lo=gap.closed_lo,
            hi=gap.closed_hi,
            level=0.95 if gap.closed_lo is not None else None,
            rounds=gap.rounds,
            cells=(gap.cell_id, gap.ref_cell_id, gap.baseline_cell_id),
            values={
                "before": gap.before,
                "after": gap.after,
                "baseline": names.label(gap.baseline_cell_id),
                **({"cost": cost} if cost else {}),
            },
        )


def gap(claim: Claim) -> str:
    """Return ``"gap to Rayon: 90 ms with Tokio, 42 ms with X; 54 % closed [48, 60]"``."""
    before, after = float(claim.values["before"]), float(claim.values["after"])
    unit, scale = time_unit(before)
    aspect = "" if claim.metric == WALL else f" in {words.noun(claim.metric or WALL)}"
    ends = (
        f"{_figure(before * scale)}{THIN_SPACE}{unit} with {claim.values['baseline']}, "
        f"{_figure(after * scale)}{THIN_SPACE}{unit} with {claim.subject}"
    )
    head = f"{where(claim)}gap to {claim.reference}{aspect}: {ends}"
    cost = f", {claim.values['cost']}" if "cost" in claim.values else ""
    return f"{head}; {_share(claim)}{cost}"


def _share(claim: Claim) -> str:
    if claim.figures is None:
        return "the closed share is inconclusive"
    _, lo, hi = claim.figures
    grew = hi < 0
    ends = [-v * 100 if grew else v * 100 for v in claim.figures]
    share = plain(ends[0], min(ends[1:]), max(ends[1:]), most=1)
    figure = f"{share.estimate}{THIN_SPACE}% "
    bounds = f"[{share.lo}, {share.hi}]".replace("-", MINUS)
    if lo <= 0 <= hi:
        return f"inconclusive: {figure.replace('-', MINUS)}closed {bounds}"
    return f"{figure}{'wider' if grew else 'closed'} {bounds}"


def _figure(value: float) -> str:
    """Return a value with three significant digits, but tens and hundreds in full."""
    text = f"{abs(value):.{max(0, 3 - len(str(int(abs(value)))))}f}"
    return f"{MINUS}{text}" if value < 0 and float(text) else text
