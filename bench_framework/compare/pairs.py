"""Verdicts of pairs of cells, from their samples and the rule of their family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bench_framework.compare import same_programs, samples as sampling
from bench_framework.compare.stage import Runs
from bench_framework.compare.verdict import Case, examine_looks, judge_family
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.result.judgement import Comparison, Family
from bench_framework.model.verdict import Thresholds


@dataclass(frozen=True, slots=True)
class CellPair:
    """Two cells of an input to compare on one metric.

    Attributes:
        reached: the rounds after which interim analyses tested the pair: those of the input, until one
            of the cells was finished.
        until: the last round whose values count, that of the last interim analysis of the input.
        last_look: index of the last one, from 0.
        control_id: the A/A control of the reference, measured in the same rounds; empty without one.
    """

    cell_id: str
    ref_cell_id: str
    metric: Metric
    reached: tuple[int, ...]
    until: int
    last_look: int
    control_id: str = ""


@dataclass(frozen=True, slots=True)
class JudgeRule:
    """The rule by which a family of pairs is judged.

    Attributes:
        thresholds: margin and minimum effect size of each metric.
        looks: the schedule of interim analyses, with their number J and the level α.
        size: M, the planned number of comparisons that share the level. The family of `looks` is that of the
            record, from which the rounds follow that every comparison needs.
    """

    family: Family
    thresholds: Mapping[Metric, Thresholds]
    looks: Looks
    size: int


def judge_pairs(runs: Runs, pairs: Sequence[CellPair], rule: JudgeRule) -> tuple[Comparison, ...]:
    """Judge the pairs of one family, in their order.

    Holm's procedure runs over all pairs, except for ``control``: each A/A control is judged by
    itself at level α/(J·M), as strictly as the first step of Holm judges a candidate.
    """
    cases = {i: case for i, pair in enumerate(pairs) if (case := _case(runs, pair, rule))}
    results: dict[int, Comparison] = {}
    if cases:
        # The looks taken may differ between inputs. J does not: it was fixed before the start.
        looks = replace(rule.looks, family=rule.size)
        groups = [[i] for i in cases] if rule.family == "control" else [list(cases)]
        for group in groups:
            results |= dict(zip(group, judge_family([cases[i] for i in group], looks), strict=True))
    rows = [results.get(i) or unjudged(runs, pair, rule) for i, pair in enumerate(pairs)]
    for i, pair in enumerate(pairs):
        if pair.metric in runs.higher:
            # Its values were inverted: their mean is not the mean of the metric.
            rows[i] = replace(rows[i], direction="higher", means=None)
        if rule.family != "control":
            rows[i] = same_programs.without_verdict(rows[i], runs.same)
    return tuple(rows)


def _case(runs: Runs, pair: CellPair, rule: JudgeRule) -> Case | None:
    """Return a pair with its data; `None` if there is nothing to judge."""
    cells = [pair.cell_id, pair.ref_cell_id]
    if not runs.usable.issuperset(cells) or runs.lack(pair.metric, *cells) or not pair.reached:
        return None
    if pair.control_id in runs.usable:
        cells.append(pair.control_id)
    whole = sampling.pair(
        *(runs.samples[cell_id].values(pair.metric) for cell_id in cells),
        higher=pair.metric in runs.higher,
    ).until(pair.until)
    if not len(whole):
        return None
    evidence = examine_looks(whole, pair.reached, rule.looks.needed_with(whole.runs))
    return Case(unjudged(runs, pair, rule, whole.rounds), whole, evidence)


def unjudged(runs: Runs, pair: CellPair, rule: JudgeRule, rounds: Sequence[int] = ()) -> Comparison:
    """Return a comparison before it is judged; `rounds` have values of both sides."""
    ids, metric = (pair.cell_id, pair.ref_cell_id), pair.metric
    draft = Comparison.unjudged(*ids, metric, rule.family, rule.thresholds[metric])
    if not rounds:
        missing = Reason(ReasonCode.NO_COMMON_ROUND, metric)
        return replace(draft, reason=missing if pair.reached else Reason(ReasonCode.BEFORE_FIRST))
    counts = (sampling.runs_within(runs.samples[cell_id], rounds) for cell_id in ids)
    candidate, reference = counts
    return replace(draft, look=pair.last_look, runs=candidate, runs_ref=reference)
