"""A comparison in the documents of ``--json``."""

from dataclasses import dataclass
from typing import Any

from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import Reason
from bench_framework.model.result.judgement import Comparison, Family
from bench_framework.model.verdict import Phases, SessionRatios, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonDocument:
    """A comparison of two variants on one input and metric."""

    variant: str
    """Label of the candidate. With two revisions, that of the head, such as `working tree`; it begins with the
    variant if there are several: `fnv @ working tree`."""
    reference: str
    """Label of the reference."""
    input: str
    """Label of the input; empty if the program has none. With two revisions it begins with the variant if there are
    several: `fnv, words.txt`. Without an input it is the variant alone; empty if the scenario has no axes."""
    metric: str
    """Name of the metric, such as `wall`."""
    kind: Family
    """`headline`: with the baseline; `reference`: with a further baseline; `contrast`: named by the
    scenario; `control`: the A/A control; `best`: of the best variants; `memory` and `exact`: further metrics."""
    verdict: Verdict
    """Result of the comparison."""
    reasons: tuple[Reason, ...]
    """Reasons for a refused or lowered verdict, and in a gate for the state."""
    ratio: float | None
    """The candidate's value ÷ the reference's; null without an estimate."""
    lo: float | None
    """Lower end of the confidence interval of the ratio, at `level`; null if the rounds permit no interval."""
    hi: float | None
    """Upper end."""
    level: float | None
    """Confidence level of the interval, after the correction for multiple comparisons; 1 for an exact metric."""
    p_adjusted: float | None
    """p-value adjusted for the interim analyses and for multiple comparisons."""
    margin: float
    """Differences within ± this fraction count as none; in a gate, the tolerated growth."""
    mde: float | None
    """Smallest difference that could be detected, as a fraction."""
    rounds: int
    """Number of compared rounds."""
    phases: Phases | None
    """Ratios before and after a change during the record; null for a stable ratio."""
    sessions: SessionRatios | None
    """Ratios by session; null in a record of one session."""


def comparison_fields(plan: Plan, c: Comparison) -> dict[str, Any]:
    """Return the fields of a comparison's document, with the labels of its sides."""
    cell, reference = plan.cell(c.cell_id), plan.cell(c.ref_cell_id)
    ratio, bounded = c.ratio, c.of_values
    return {
        "variant": plan.variant(cell.variant_id).label,
        "reference": plan.variant(reference.variant_id).label,
        "input": plan.input(cell.input_id).name,
        "metric": c.metric,
        "kind": c.family,
        "verdict": c.verdict,
        "reasons": (c.reason,) if c.reason is not None else (),
        "ratio": ratio and ratio.ratio,
        "lo": bounded and bounded.lo,
        "hi": bounded and bounded.hi,
        "level": bounded and bounded.level,
        "p_adjusted": c.p_adjusted,
        "margin": c.thresholds.margin,
        "mde": c.mde,
        "rounds": c.rounds,
        "phases": c.phases,
        "sessions": c.sessions,
    }


def comparison_document(plan: Plan, c: Comparison) -> ComparisonDocument:
    """Return the document of a comparison."""
    return ComparisonDocument(**comparison_fields(plan, c))
