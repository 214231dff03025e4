"""The words of a scenario in place of those of an earlier version of it: labels, titles, texts."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from bench_framework.errors import UsageError
from bench_framework.model.plan.declarations import AxisValue
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.published import PublishedClaim
from bench_framework.model.reasons import ReasonCode

_PARTS: Final[tuple[tuple[str, Callable[[Any], Any]], ...]] = (
    ("axes", lambda axis: (axis.name, axis.kind, tuple(map(_setting, axis.values)))),
    ("variants", lambda variant: (variant.id, variant.build)),
    ("inputs", lambda item: item.id),
    ("cells", lambda cell: replace(cell, label="")),
    ("experiments", lambda change: replace(change, why="", hypothesis="")),
    ("hypotheses", lambda item: replace(item, text="", change="")),
    ("contrasts", lambda contrast: replace(contrast, name="", group="")),
    ("derived", lambda row: replace(row, assuming="")),
)
"""Lists of a plan with words, and what of an item decides what is measured and judged."""
_DECIDING: Final = (
    "name",
    "judge",
    "answer",
    "design",
    "baseline_id",
    "further_baselines",
    "choose_from",
    "named",
    "metrics",
)
"""Fields of a plan without words, which must be equal."""
_RECORDED: Final = (
    *("scenario_path", "scenario_sha256", "builds", "holes", "program", "measure", "unit_family"),
    *("data_dir", "tuning", "profile", "instructions", "revisions", "confirms", "invocation"),
    *("training", "hosts", "benches"),
)
"""Fields that may differ: the record has how and where it was measured."""
_OF_RULE: Final = frozenset({ReasonCode.EXCLUDED, ReasonCode.MEANINGLESS})
"""Reasons of holes that an `exclude` rule gives."""
_WORDS: Final = ("question", "published", "headline", "takeaways", "next_steps", "notes")


def with_wording(plan: Plan, given: Plan, path: str) -> Plan:
    """Return `plan` with the words of `given`, both as stored. `given` is the plan of the scenario `path`.

    Words are the question, labels, descriptions, names and groups of contrasts, titles, takeaways, notes,
    next steps and the reasons of `exclude` rules. Everything that decides what is measured and judged is
    that of `plan`.

    Raises `UsageError` (BX104): the scenarios differ in more than words.
    """
    if what := next(_differences(plan, given), None):
        raise UsageError("BX104.other-measurement", path=path, what=what)
    names = (*_WORDS, *(name for name, _ in _PARTS))
    changes: dict[str, Any] = {name: getattr(given, name) for name in names}
    rules = {hole.values: hole for hole in given.holes if hole.reason.code in _OF_RULE}
    holes = (rules.get(h.values, h) if h.reason.code in _OF_RULE else h for h in plan.holes)
    return replace(plan, **changes, holes=tuple(holes))


def _differences(plan: Plan, given: Plan) -> Iterator[str]:
    for name in _DECIDING:
        if getattr(plan, name) != getattr(given, name):
            yield name
    for name, decides in _PARTS:
        if list(map(decides, getattr(plan, name))) != list(map(decides, getattr(given, name))):
            yield name
    if _answering(plan) != _answering(given):
        yield "headline"
    if list(_claims(plan)) != list(_claims(given)):
        yield "published"


def _setting(value: AxisValue) -> AxisValue:
    return replace(value, label="", about="")


def _answering(plan: Plan) -> tuple[int, str] | None:
    if plan.headline is None:
        return None
    names = [contrast.name for contrast in plan.contrasts]
    return names.index(plan.headline.contrast), plan.headline.yes


def _claims(plan: Plan) -> Iterator[PublishedClaim]:
    """Yield the claims without words. A test by a contrast is named by the place of the contrast."""
    places = {contrast.name: str(place) for place, contrast in enumerate(plan.contrasts)}
    for claim in plan.published.claims if plan.published else ():
        name = {"contrast": places.get(claim.name, ""), "not-testable": ""}.get(
            claim.test, claim.name
        )
        yield replace(
            claim, name=name, title="", other_results=(), contrast=None, not_testable=None
        )
