"""Warnings about the figures of the answer: ratios that changed, and means that differ from a typical round."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bench_framework.features.summary.view import SummaryView
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.summary import ValueRange
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Verdict
from bench_framework.stats.portable_math import log, log1p


def warnings(view: SummaryView, answer: Iterable[Claim]) -> Iterator[Claim]:
    """Yield the warnings of a record. `answer` has the claim that answers the question, if there is one."""
    yield from _unstable(view)
    yield from _unstable_controls(view, answer)
    yield from _means(view)


def _unstable(view: SummaryView) -> Iterator[Claim]:
    """Yield how many ratios changed during the record, with the largest change."""
    headline = [
        c
        for c in view.judgement.comparisons
        if c.family in ("headline", "reference") and c.metric == view.metric and c.shown
    ]

    def change(c: Comparison) -> float:
        return abs(log(c.phases.first.ratio / c.phases.rest.ratio)) if c.phases else 0.0

    changed = sorted((c for c in headline if c.phases is not None), key=change)
    if changed:
        fact = facts.UnstableRatios(
            total=len(headline), changed=len(changed), first=view.evidence(changed[-1])
        )
        yield Claim(view.label(changed[-1].cell_id), fact=fact)


def _unstable_controls(view: SummaryView, answer: Iterable[Claim]) -> Iterator[Claim]:
    """Yield the A/A controls whose ratio changed, and how many verdicts are within the noise floor."""
    answers = [{*claim.cells} for claim in answer]
    for c in view.unstable_controls():
        ratios = enumerate(c.sessions.ratios if c.sessions else (), 1)
        ordered = sorted(ratios, key=lambda numbered: numbered[1].ratio)
        item, control = view.cells[c.cell_id].input_id, view.evidence(c)
        judged = [
            ({other.cell_id, other.ref_cell_id}, abs(log(other.shown.ratio)))
            for other in view.main_comparisons()
            if view.cells[other.cell_id].input_id == item and other.metric == view.metric
            if other.verdict.settled and other.shown is not None
        ]
        below = [pair for pair, size in judged if size <= log1p(control.noise_floor or 0.0)]
        fact = facts.UnstableControl(
            control=control,
            sessions=tuple(sorted((*ordered[:1], *ordered[-1:]))),
            total=len(judged),
            below=len(below),
            answer=any(pair in answers for pair in below),
        )
        yield Claim(view.label(c.cell_id), fact=fact)


def _means(view: SummaryView) -> Iterator[Claim]:
    """Yield a comparison whose means differ from its typical ratio: of a contrast, else the largest difference."""
    differing = [
        c
        for c in view.judgement.comparisons
        if c.means_differ and (c.family == "contrast" or c.metric == view.metric)
        if c.family in ("headline", "contrast")
    ]

    def difference(c: Comparison) -> tuple[bool, float]:
        assert c.means is not None
        assert c.shown is not None
        return c.family == "contrast", abs(log(c.means.ratio / c.shown.ratio))

    if not differing:
        return
    first = max(differing, key=difference)
    typical = view.evidence(first)
    ids = first.cell_id, first.ref_cell_id
    sides = [side for id_ in ids if (side := _range(view, id_, first.metric)) is not None]
    means = first.means
    open_ = Verdict.INCONCLUSIVE if means is not None and means.lo <= 1 <= means.hi else None
    fact = facts.MeansDiffer(
        typical=typical,
        means=replace(typical, verdict=open_, phases=None).with_interval(means),
        widest=max(sides, key=lambda side: side.most.value / side.least.value, default=None),
        more=len(differing) - 1,
    )
    scope = view.scope(view.cells[first.cell_id].input_id)
    yield Claim(typical.subject, cells=typical.cells, scope=scope, fact=fact)


def _range(view: SummaryView, cell_id: str, metric: str) -> ValueRange | None:
    """Return the range of the values of a cell, or `None` if they are not in bytes or seconds."""
    median, place = view.amount(cell_id, metric), (cell_id, metric)
    summary = next((s for s in view.judgement.summaries if (s.cell_id, s.metric) == place), None)
    if median is None or summary is None or not summary.min > 0:
        return None
    ends = (replace(median, value=value) for value in (summary.min, summary.max))
    return ValueRange(view.label(cell_id), *ends)
