"""Before-and-after pairs and tests of hypotheses: each reads one comparison that was judged.

No comparison is made for them: the verdict is the one in the results. See
docs/method.md#before-and-after.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from bench_framework.claims.factory import Costs, Names
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.causes import Cause
from bench_framework.model.facts.comparisons import HypothesisStatus
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.declarations import Hypothesis
from bench_framework.model.plan.plan import Plan, Variant
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.result.judgement import Comparison, HypothesisTest, judged_pairs
from bench_framework.model.result.structure import Change, Replacement
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from bench_framework.compare.contrasts import ContrastData


def hypothesis_tests(
    plan: Plan, comparisons: Sequence[Comparison], causes: Sequence[Cause] = ()
) -> tuple[HypothesisTest, ...]:
    """Test every hypothesis on every input."""
    seconds = {(c.input_id, c.name, *c.evidence.cells, c.evidence.metric): c.second for c in causes}
    tests, judged = [], judged_pairs(comparisons)
    for hypothesis in plan.hypotheses:
        metric = hypothesis.metric or plan.judge.headline
        for item in plan.inputs:
            cell_id = plan.cell_id(hypothesis.variant_id, item.id)
            pair = (cell_id, plan.cell_id(hypothesis.reference_id, item.id))
            comparison = judged[metric].get(pair)
            second = seconds.get((item.id, hypothesis.text, *pair, metric))
            status = _status(comparison, hypothesis)
            if second is not None:
                status = "two differences at once"
            test = HypothesisTest(hypothesis, item.id, metric, status, *pair, comparison, second)
            tests.append(test)
    return tuple(tests)


def _status(comparison: Comparison | None, hypothesis: Hypothesis) -> HypothesisStatus:
    if comparison is None:
        return "not tested"
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
        interval = comparison.shown if comparison and test.status != "not tested" else None
        yield Claim(
            test.hypothesis.text,
            names.label(test.ref_cell_id) if test.ref_cell_id else None,
            test.metric,
            names.scope(test.input_id),
            verdict,
            rounds=(comparison.rounds or None) if comparison is not None else None,
            margin=names.plan.judge.margin_of(test.metric),
            cells=tuple(cell for cell in (test.cell_id, test.ref_cell_id) if cell),
            direction=comparison.direction if comparison is not None else "lower",
            reason=test.reason,
            fact=facts.HypothesisResult(
                status=test.status,
                change=test.hypothesis.change,
                second=test.second,
                costs=costs.of_gain(verdict, test.cell_id, test.ref_cell_id, test.metric),
            ),
        ).with_interval(interval)


SOURCE_FIELDS: Final = frozenset({"features", "default_features", "revision"})
"""The fields of a build that determine its source.

Two builds that differ only in these fields are a before-and-after pair.
"""
PAIR: Final = 2


def replacements(at: "ContrastData", comparisons: Sequence[Comparison]) -> tuple[Replacement, ...]:
    """Return every before-and-after pair, input by input.

    A pair is the two values of an axis that only chooses features, or the revisions of an axis of
    revisions. If two or more experiments are adopted, each baseline without and with all of them is
    also a pair, and so is each contrast of a variant with all and a variant with none of them.
    """
    by_pair = judged_pairs(comparisons)[at.metric]
    results = []
    for item in at.plan.inputs:
        for before, after in pairs(at.plan):
            cells = (at.plan.cell_id(after.id, item.id), at.plan.cell_id(before.id, item.id))
            comparison = by_pair.get(cells)
            if comparison is not None:
                results.append(_replacement(at.plan, item.id, before, after, comparison))
    return tuple(results)


def pairs(plan: Plan) -> tuple[tuple[Variant, Variant], ...]:
    """Return the pairs (before, after) in plan order, without duplicates."""
    return tuple(dict.fromkeys((*_of_axes(plan), *_of_experiments(plan))))


def _of_axes(plan: Plan) -> Iterator[tuple[Variant, Variant]]:
    baseline = dict(plan.baseline.values)
    variants = [v for v in plan.variants if v.experiment is None and v.build is not None]
    by_values = {v.values: v for v in variants}
    for axis in plan.axes:
        if axis.name not in baseline:
            continue
        start = baseline[axis.name]
        ends = [v.name for v in axis.values if v.name != start]
        fields: set[str] = set()
        variant_pairs = []
        for variant in variants:
            if dict(variant.values)[axis.name] != start:
                continue
            for end in ends:
                after = by_values.get(_with(variant, {axis.name: end}))
                if after is not None and variant.build is not None and after.build is not None:
                    fields |= differing(variant.build, after.build)
                    variant_pairs.append((variant, after))
        if fields and fields <= SOURCE_FIELDS and (fields == {"revision"} or len(ends) == 1):
            yield from variant_pairs


def _of_experiments(plan: Plan) -> Iterator[tuple[Variant, Variant]]:
    axes = {a.name for a in plan.axes if a.kind != "input"}
    adopted = [
        i.change[0]
        for i in plan.experiments
        if i.decision == "adopted" and len(i.change) == 1 and i.change[0][0] in axes
    ]
    if len(adopted) < PAIR or len(dict(adopted)) != len(adopted):
        return
    by_values = {v.values: v for v in plan.variants if v.experiment is None}
    for start in (plan.baseline_id, *plan.further_baselines):
        before = plan.variant(start)
        after = by_values.get(_with(before, dict(adopted)))
        if after is not None and after != before:
            yield before, after
    by_id = {v.id: v for v in plan.variants}
    for contrast in plan.contrasts:
        if not {contrast.reference_id, contrast.variant_id} <= by_id.keys():  # not selected by -k
            continue
        before, after = by_id[contrast.reference_id], by_id[contrast.variant_id]
        if {*adopted} <= {*after.values} and not {*adopted} & {*before.values}:
            yield before, after


def differing(one: BuildSpec, other: BuildSpec) -> set[str]:
    """Return the names of the fields in which two builds differ."""
    return {name for name in one.__dataclass_fields__ if getattr(one, name) != getattr(other, name)}


def _with(variant: Variant, changes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((axis, changes.get(axis, value)) for axis, value in variant.values)


def _replacement(
    plan: Plan, input_id: str, before: Variant, after: Variant, comparison: Comparison
) -> Replacement:
    new = dict(after.values)
    changes = tuple(Change(a, old, new[a]) for a, old in before.values if new[a] != old)
    varying = {a.name for a in plan.axes if len(a.values) > 1}
    unchanged = [v for a, v in before.values if new[a] == v and a in varying]
    return Replacement(
        input_id,
        comparison.metric,
        # Both labels name a pair that differs in several axes.
        ", ".join(unchanged) if len(changes) == 1 else "",
        comparison.ref_cell_id,
        comparison.cell_id,
        changes,
    )
