"""The claims of a comparison of two records."""

from collections.abc import Iterator

from bench_framework.features.record_comparison.anchors import Bridge, BridgedCell
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.verdict import Verdict
from bench_framework.text import write


def record_claims(bridge: Bridge) -> tuple[Claim, ...]:
    """Return the claims about two records, anchors first, with the ids ``b1``, ``b2`` and so on."""
    return write.numbered(_claims(bridge), letter="b")


def _claims(bridge: Bridge) -> Iterator[Claim]:
    if bridge.conditions:
        fact = facts.Conditions(differences=bridge.conditions, forced=bridge.forced)
        yield Claim("", verdict=Verdict.NOT_COMPARABLE, fact=fact)
    yield from (_claim(bridge, row) for row in bridge.cells)


def _claim(bridge: Bridge, row: BridgedCell) -> Claim:
    c = row.comparison
    fact: facts.ExactChange | facts.AnchorChange | facts.RecordChange
    fact = facts.RecordChange(before=bridge.before_id, after=bridge.after_id)
    if c.statistic == "exact":
        fact = facts.ExactChange()
    elif row.role == "anchor":
        fact = facts.AnchorChange()
    across = isinstance(fact, facts.RecordChange)
    return Claim(
        row.label,
        metric=c.metric,
        scope=(("input", row.input),) if row.input else (),
        verdict=c.verdict,
        adjust=facts.Adjustment("holm", bridge.family) if across else None,
        rounds=c.rounds,
        runs=c.runs,
        margin=c.thresholds.margin,
        mde=c.mde,
        cells=(c.cell_id, c.ref_cell_id),
        reason=c.reason,
        fact=fact,
    ).with_interval(c.shown)
