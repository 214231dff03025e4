"""The part of a time difference that the gate names in addition to what was counted."""

from dataclasses import replace

import pytest

from bench_framework.features.gate.explanation import _is_split, _known
from bench_framework.model.facts.causes import CauseEvidence, Explained, PartKind, TimePart
from bench_framework.model.metrics import WAITS


def evidence(kind: PartKind, **shares: float) -> CauseEvidence:
    part = TimePart(name=kind, kind=kind, value=2.0, reference=1.0, difference=1.0)
    explained = tuple(
        Explained(part="waiting", metric=f"wait_{name}", share=share)
        for name, share in shares.items()
    )
    assert {item.metric for item in explained} <= {*WAITS}
    empty = CauseEvidence(
        cell_id="a",
        ref_cell_id="b",
        metric="wall",
        rounds=12,
        difference=1.0,
        parts=(part,),
        counters=(),
    )
    return replace(empty, explained=explained)


@pytest.mark.parametrize(
    ("place", "added"),
    [
        (evidence("waiting", disk=0.9, core=0.1), True),
        (evidence("waiting", disk=0.9), True),
        (evidence("waiting", disk=0.2, core=0.8), True),
        (evidence("sys", disk=0.9), False),
        (evidence("waiting"), False),
        (evidence("sys"), False),
        (None, False),
    ],
)
def test_waiting_is_added_to_what_was_counted_if_it_is_known_for_what(
    place: CauseEvidence | None, *, added: bool
) -> None:
    assert _is_split(place) is added


SPLIT = evidence("waiting", disk=0.9)


@pytest.mark.parametrize(
    ("first", "used"),
    [
        (evidence("waiting"), SPLIT),
        (evidence("waiting", sleep=0.9), evidence("waiting", sleep=0.9)),
        (evidence("sys"), evidence("sys")),
        (None, None),  # most of it is user time
    ],
)
def test_another_pass_says_only_for_what_the_first_one_waited(
    first: CauseEvidence | None, used: CauseEvidence | None
) -> None:
    assert _known([first, SPLIT]) == used
    assert _known([first]) == first
