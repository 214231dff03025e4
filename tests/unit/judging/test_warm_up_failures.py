"""A configuration dropped in the warm-up is reported with its reason, not as one that never began."""

import pytest

from bench_framework.compare import cell_state, samples
from bench_framework.model.plan.plan import Cell, Input, Role, Variant
from bench_framework.model.record.run import Block, Status
from bench_framework.text.reasons import phrase
from tests.build import make_plan

VARIANT = Variant("a", (("arm", "a"),), None)
INPUT = Input("", (), None)
CELL = Cell("c", VARIANT.id, INPUT.id, "a", Role.CANDIDATE, (("true",),))
PLAN = make_plan((VARIANT,), (INPUT,), (CELL,), program=("true",))


def block(seq: int, status: Status, message: str | None = None) -> Block:
    return Block(seq, seq + 1, 0, "c", warmup=True, status=status, started_at="", message=message)


@pytest.mark.parametrize(
    ("status", "message", "state", "reason"),
    [
        ("failed", "exit status 1", "failed", "exit status 1 during warm-up"),
        ("timeout", None, "failed", "failed during warm-up"),
        ("other-output", None, "other-output", "output differs from the baseline's"),
        ("ok", None, "not-started", "no round was measured"),
    ],
)
def test_the_reason_comes_from_the_warm_up(
    status: Status, message: str | None, state: str, reason: str
) -> None:
    blocks = [block(0, status, message), block(1, status, message)]
    (result,) = cell_state.cell_states(PLAN, samples.collect(blocks), {}, samples.warm_ups(blocks))
    assert (result.state, phrase(result.reason)) == (state, reason)


def test_blocks_of_a_cut_round_give_no_reason() -> None:
    assert samples.warm_ups([block(0, "skipped")]) == {}
