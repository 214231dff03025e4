"""Sittings against each other (R12): only through arms that stand for an unchanged program, the anchors.

Times of two sittings differ by whatever happened to the machine in between. An anchor is shown to have stayed where
it was, or nothing is compared. What is compared then is each arm's ratio to the anchors of its own sitting, so that
what the anchors did move is taken out, and its error is counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.analysis import welch
from bench_framework.analysis.block_pairs import (
    ZERO_SPREAD,
    Case,
    draft_of,
    failed,
    judge_family,
    pair_contrast,
    refusal,
)
from bench_framework.model.judgement import Verdict

if TYPE_CHECKING:
    from bench_framework.model.imported import Arm, Imported, Sitting
    from bench_framework.model.judgement import Comparison
    from bench_framework.model.plan import Metric

WALL: Final[Metric] = "wall"
NO_ANCHOR: Final = "no anchor stands in both sittings: nothing says what the machine did between them"
MOVED: Final = "its anchors are not shown to have stayed within the margin between the sittings"


def bridges(imported: Imported) -> tuple[Comparison, ...]:
    """Every later sitting against the first: the anchors, then each other label that both have.

    The reference is the same label in the first sitting. The ratio of an arm that is no anchor is that of its ratios to
    the anchors; it is judged where every anchor is equivalent, and refused where one is not.
    """
    found: list[Comparison] = []
    first = imported.sittings[0]
    for later in imported.sittings[1:]:
        anchors = _anchors(imported, first, later)
        held = bool(anchors) and all(c.verdict is Verdict.EQUIVALENT for c in anchors)
        found += anchors
        found += _changed(imported, first, later, anchors, held=held)
    return tuple(found)


def _shared(first: Sitting, later: Sitting) -> list[tuple[Arm, Arm]]:
    """Arms of one label in both: the later one, and the one of the first sitting."""
    return [(arm, other) for arm in later.arms if (other := first.arm(arm.label)) is not None]


def _anchors(imported: Imported, first: Sitting, later: Sitting) -> list[Comparison]:
    """What each anchor did between the sittings, a family of its own."""
    cases, refused = [], []
    for arm, before in _shared(first, later):
        if arm.label not in imported.anchors:
            continue
        draft = draft_of(arm, before, WALL, "bridge", imported.judge)
        contrast = pair_contrast(arm, before, WALL)
        if (why := refusal(later, arm, before, WALL)) is not None:
            refused.append(replace(draft, verdict=why[0], reason=why[1]))
        elif contrast is None:
            refused.append(replace(draft, reason=ZERO_SPREAD))
        else:
            cases.append(Case(draft, contrast))
    return [*judge_family(cases, len(cases) + len(refused), imported.judge), *refused]


def _changed(
    imported: Imported, first: Sitting, later: Sitting, anchors: list[Comparison], *, held: bool
) -> list[Comparison]:  # fmt: skip
    cases, refused = [], []
    others = [pair for pair in _shared(first, later) if pair[0].label not in imported.anchors]
    for arm, before in others:
        draft = draft_of(arm, before, WALL, "bridge", imported.judge)
        if not held:
            reason = MOVED if anchors else NO_ANCHOR
            refused.append(replace(draft, verdict=Verdict.NOT_COMPARABLE, reason=reason))
        elif (why := refusal(later, arm, before, WALL)) is not None:
            refused.append(replace(draft, verdict=why[0], reason=why[1]))
        else:
            cases.append(Case(draft, _anchored(imported, arm, before, anchors)))
    return [*judge_family(cases, len(others), imported.judge), *refused]


def _anchored(imported: Imported, arm: Arm, before: Arm, anchors: list[Comparison]) -> welch.Contrast:
    """(arm later ÷ anchors later) ÷ (arm before ÷ anchors before); the anchors by their geometric mean."""
    share = 1 / len(anchors)
    terms = [(1.0, _centre(arm)), (-1.0, _centre(before))]
    for anchor in anchors:
        terms.append((-share, _centre(imported.place(anchor.cell_id)[1])))
        terms.append((share, _centre(imported.place(anchor.ref_cell_id)[1])))
    made = welch.contrast(terms)
    assert made is not None  # an anchor that was judged has a spread
    return made


def _centre(arm: Arm) -> welch.LogMean:
    series = arm.of(WALL)
    centre = welch.log_mean(series) if series is not None and not failed(arm) else None
    assert centre is not None
    return centre
