"""The single changes of a record, and whether the best of them were measured together.

A single change is a comparison of two variants that differ in one axis, a step of a ladder, or an experiment. A
variant should not be recommended if one of its parts is shown to be worse than another value of that axis.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from bench_framework.features.summary.view import SummaryView
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.facts.parts import BestParts, BetterValue
from bench_framework.model.plan.plan import Cell, Plan, Values
from bench_framework.model.reasons import ReasonCode
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.scenario.selection import condition

_FIXED: Final = frozenset({ReasonCode.EXCLUDED, ReasonCode.MEANINGLESS, ReasonCode.PAIRED_AXES})
"""Reasons why a combination cannot be measured without another scenario."""
_OF_DESIGN: Final = frozenset({ReasonCode.NO_STEP, ReasonCode.SEVERAL_AXES})


class SingleChange(NamedTuple):
    """A comparison of two cells that differ in one axis or in one changed parameter."""

    axis: str
    value: str
    reference: str
    others: Mapping[str, str]
    """Values of the other axes."""
    evidence: Evidence
    """The cell with `value` against the one with `reference`."""

    def better_than(self, value: str) -> str:
        """Return the value that is better than a given one by more than the margin, or nothing.

        A parameter that only experiments change decides nothing, so a significant difference is enough.
        """
        verdict = self.evidence.verdict
        if verdict is None or (verdict.size_uncertain and "" not in (self.value, self.reference)):
            return ""
        if verdict.better and value == self.reference:
            return self.value
        return self.reference if verdict.worse and value == self.value else ""

    @property
    def of_better(self) -> Evidence:
        """Evidence of the better value against the other one."""
        e = self.evidence
        if e.verdict is None or not e.verdict.worse or not e.estimate or not e.lo or not e.hi:
            return e
        sides = replace(e, subject=e.reference or "", reference=e.subject)
        figures = replace(sides, estimate=1 / e.estimate, lo=1 / e.hi, hi=1 / e.lo)
        return replace(figures, verdict=e.verdict.opposite)


def best_parts(
    view: SummaryView, cell_id: str, without: tuple[str, str] = ("", "")
) -> BestParts | None:
    """Return the parts of a variant that are shown to be worse, or `None` without such a part.

    Evidence in a variant that is more like the given one counts more: a value that is better in one engine may be
    worse in another. An inconclusive comparison there outweighs a difference elsewhere.

    Args:
        view: the results of the record.
        cell_id: the recommended cell.
        without: an axis and a value of it that the variant is chosen without.
    """
    cell = view.cells[cell_id]
    settings = _settings(view.plan, cell)
    changes = (
        c
        for c in single_changes(view, cell.input_id)
        if without not in ((c.axis, c.value), (c.axis, c.reference))
    )
    better = _better_values(settings, [*changes])
    axes = dict(view.plan.variant(cell.variant_id).values)
    combined = (v for v in better if v.axis in axes)
    worse = tuple(v for v in combined if _has_meaning(view.plan, axes | {v.axis: v.better}))
    experiments = tuple(value for value in better if value.axis not in axes)
    if not worse and not experiments:
        return None
    combination = tuple((axes | {value.axis: value.better for value in worse}).items())
    measured = _measured(view, cell.input_id, combination) if worse else ""
    command = "" if measured or not worse else _command(view.plan, combination)
    return BestParts(worse=worse, experiments=experiments, measured=measured, command=command)


def part_claims(view: SummaryView, summary: Iterable[Claim]) -> Iterator[Claim]:
    """Yield a claim for each variant to use of which a part is shown to be worse.

    A parameter that only experiments change is stated for the variants that are most like the compared ones.
    """
    chosen = (c for c in summary if isinstance(c.fact, facts.Recommendation | facts.Alternative))
    known = [(c, fact) for c in chosen if (fact := _parts_of(view, c)) is not None]
    differing = ((len(v.differing_axes), v.axis) for _, f in known for v in f.experiments)
    fewest = {axis: count for count, axis in sorted(differing, reverse=True)}
    for claim, fact in known:
        alike = (v for v in fact.experiments if len(v.differing_axes) == fewest[v.axis])
        stated = replace(fact, experiments=tuple(alike))
        if stated.worse or stated.experiments:
            yield Claim(
                claim.subject,
                metric=view.metric,
                scope=claim.scope,
                cells=claim.cells[:1],
                fact=stated,
            )


def _parts_of(view: SummaryView, claim: Claim) -> BestParts | None:
    """Return the parts of a recommended variant, or of the best one without a value of it."""
    cell, *others = claim.cells
    if not isinstance(claim.fact, facts.Alternative):
        return best_parts(view, cell)
    axis = claim.fact.axis
    return best_parts(view, cell, (axis, dict(view.values(others[0]))[axis]))


def single_changes(view: SummaryView, input_id: str) -> Iterator[SingleChange]:
    """Yield the single changes on an input, each pair of cells once."""
    plan = view.plan
    cells = (c for c in plan.compared_cells(input_id) if plan.is_choice(c))
    settings = {cell.id: _settings(plan, cell) for cell in cells}
    compared = set[frozenset[str]]()
    for cell_id, ref_id, verdict, interval in _pairs(view):
        pair = frozenset((cell_id, ref_id))
        if pair in compared or not pair <= settings.keys() or verdict.refused:
            continue
        compared.add(pair)
        mine, other = settings[cell_id], settings[ref_id]
        differing = [a for a in {**mine, **other} if mine.get(a, "") != other.get(a, "")]
        if len(differing) != 1:
            continue
        (axis,) = differing
        evidence = Evidence(
            view.label(cell_id),
            view.label(ref_id),
            view.metric,
            verdict=verdict,
            margin=view.plan.judge.margin_of(view.metric),
            direction="higher" if view.higher else "lower",
        ).with_interval(interval)
        others = {a: value for a, value in mine.items() if a != axis}
        yield SingleChange(axis, mine.get(axis, ""), other.get(axis, ""), others, evidence)


def _pairs(view: SummaryView) -> Iterator[tuple[str, str, Verdict, Interval | None]]:
    for c in view.judgement.every:
        if c.metric == view.metric and c.family != "control":
            yield c.cell_id, c.ref_cell_id, c.verdict, c.shown
    for table in view.judgement.structure.contributions:
        steps = (*table.steps, *table.beyond) if table.design == "ladder" else ()
        for step in steps:
            if step.cell_id and step.ref_cell_id:
                contrast = step.contrast
                yield step.cell_id, step.ref_cell_id, contrast.verdict, contrast.shown


def _settings(plan: Plan, cell: Cell) -> dict[str, str]:
    """Return the values of a cell, and the parameter that its experiment changes."""
    variant = plan.variant(cell.variant_id)
    changes = (e.change for e in plan.experiments if e.name == variant.experiment)
    return dict(variant.values) | {key: value for change in changes for key, value in change}


def _better_values(settings: Mapping[str, str], changes: list[SingleChange]) -> list[BetterValue]:
    """Return for each axis the value that is better by most than that of the settings."""
    by_pair: dict[tuple[str, str], list[SingleChange]] = {}
    for change in changes:
        value = settings.get(change.axis, "")
        if value in (change.value, change.reference):
            other = change.value if value == change.reference else change.reference
            by_pair.setdefault((change.axis, other), []).append(change)
    best: dict[str, BetterValue] = {}
    for (axis, other), group in by_pair.items():
        value = settings.get(axis, "")
        alike = [sum(settings.get(a) == v for a, v in c.others.items()) for c in group]
        closest = [c for c, count in zip(group, alike, strict=True) if count == max(alike)]
        if not other or any(c.better_than(value) != other for c in closest):
            continue
        change = min(closest, key=lambda c: _ratio(c.of_better))
        differing = tuple(a for a, v in change.others.items() if settings.get(a) != v)
        candidate = BetterValue(
            axis=axis,
            value=value,
            better=other,
            evidence=change.of_better,
            differing_axes=differing,
        )
        best[axis] = min(best.get(axis, candidate), candidate, key=lambda b: _ratio(b.evidence))
    return list(best.values())


def _ratio(evidence: Evidence) -> float:
    return 1.0 if evidence.estimate is None else evidence.estimate


def _measured(view: SummaryView, input_id: str, combination: Values) -> str:
    """Return the label of the variant with these values, if it was measured on an input."""
    for cell in view.plan.compared_cells(input_id):
        variant = view.plan.variant(cell.variant_id)
        alike = variant.experiment is None and dict(variant.values) == dict(combination)
        if alike and (cell.id, view.metric) in view.medians:
            return variant.label
    return ""


def _has_meaning(plan: Plan, settings: Mapping[str, str]) -> bool:
    """Return whether no rule says why a combination has no meaning."""
    meaningless = (h for h in plan.holes if h.reason.code is ReasonCode.MEANINGLESS)
    return not any(settings.items() <= dict(h.values).items() for h in meaningless)


def _command(plan: Plan, combination: Values) -> str:
    """Return the command that measures a combination; empty if the scenario excludes it, or if no scenario was run."""
    reasons = {h.reason.code for h in plan.holes if {*combination} <= {*h.values}}
    words = shlex.split(plan.command)
    if reasons & _FIXED or words[1:2] != ["run"] or "-k" in words:
        return ""
    several = {axis.name for axis in plan.axes if len(axis.values) > 1}
    conditions = " ".join(condition(a, v) for a, v in combination if a in several)
    design = ["-S", "design=full"] if reasons & _OF_DESIGN else []
    return shlex.join([*words, *design, "-k", conditions])
