"""Tests of hypotheses: each reads one comparison of two variants that differ in one change.

No comparison is made for a hypothesis: the verdict is the one in the results. As in
`features.sentences`, a sentence depends only on the fields of its claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from bench_framework.claims.phrases import change
from bench_framework.claims.value_phrases import where
from bench_framework.compare.judged_pairs import judged_pairs
from bench_framework.model import words
from bench_framework.model.declarations import Hypothesis
from bench_framework.model.judgement import (
    ONE_PROGRAM,
    Claim,
    Comparison,
    HypothesisStatus,
    HypothesisTest,
)
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Plan, Role
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from bench_framework.claims.costs import Costs
    from bench_framework.claims.factory import Names


def hypothesis_tests(plan: Plan, comparisons: Sequence[Comparison]) -> tuple[HypothesisTest, ...]:
    """Test every hypothesis on every input."""
    return tuple(
        _test(plan, hypothesis, item.id, comparisons)
        for hypothesis in plan.hypotheses
        for item in plan.inputs
    )


def _test(
    plan: Plan, hypothesis: Hypothesis, input_id: str, comparisons: Sequence[Comparison]
) -> HypothesisTest:
    metric = hypothesis.metric or plan.judge.headline
    cells = {c.variant_id: c.id for c in plan.cells_of(input_id) if c.role is not Role.CONTROL}
    pair = (cells.get(hypothesis.variant_id, ""), cells.get(hypothesis.reference_id, ""))
    comparison = judged_pairs(comparisons, metric).get(pair)
    status = _status(comparison, hypothesis) if comparison is not None else "not tested"
    return HypothesisTest(hypothesis, input_id, metric, status, *pair, comparison)


def _status(comparison: Comparison, hypothesis: Hypothesis) -> HypothesisStatus:
    verdict = comparison.verdict
    if verdict.better if hypothesis.expect == "better" else verdict.worse:
        return "supported"
    tested = verdict.settled or (
        verdict is Verdict.INCONCLUSIVE and comparison.reason != ONE_PROGRAM
    )
    return "not supported" if tested else "not tested"


def hypothesis_claims(
    names: Names, tests: Sequence[HypothesisTest], costs: Costs
) -> Iterator[Claim]:
    """Yield one claim per test."""
    for test in tests:
        comparison = test.comparison
        verdict = comparison.verdict if comparison is not None else None
        values: dict[str, float | int | str] = {
            "status": test.status,
            "change": test.hypothesis.change,
        }
        if test.reason:
            values["reason"] = test.reason
        if comparison is not None and comparison.direction == "higher":
            values["direction"] = "higher"
        if cost := costs.phrase(verdict, test.cell_id, test.ref_cell_id, test.metric):
            values["cost"] = cost
        interval = comparison.shown if comparison and test.status != "not tested" else None
        yield Claim(
            "",
            "hypothesis",
            test.hypothesis.text,
            names.label(test.ref_cell_id) if test.ref_cell_id else None,
            test.metric,
            names.scope(test.input_id),
            verdict,
            rounds=(comparison.rounds or None) if comparison is not None else None,
            margin=names.plan.judge.margin_of(test.metric),
            cells=tuple(cell for cell in (test.cell_id, test.ref_cell_id) if cell),
            values=values,
        ).with_interval(interval)


def _sentence(claim: Claim) -> str:
    """Return ``"hypothesis “the queue” is not supported: with engine: a → b …"``."""
    head = f"{where(claim)}hypothesis “{claim.subject}”"
    reason = f" ({claim.values['reason']})" if "reason" in claim.values else ""
    if claim.values["status"] == "not tested":
        return f"{head} was not tested: {claim.values['change']}{reason}"
    change_text = f"with {claim.values['change']} and no other axis changed"
    test = f"{head} is {claim.values['status']}: {change_text}"
    metric, verdict = claim.metric or WALL, claim.verdict or Verdict.INCONCLUSIVE
    if claim.figures is None:
        return f"{test}, {words.word(verdict, metric)}{reason}"
    higher = claim.values.get("direction") == "higher"
    effect = change(verdict, *claim.figures, claim.margin or 0.0, metric, higher=higher)
    cost = f", {claim.values['cost']}" if "cost" in claim.values else ""
    return f"{test}, {effect} vs {claim.reference}{cost}{reason}"


HYPOTHESIS_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {"hypothesis": _sentence}
"""Kind of claim → the function that returns its sentence."""
