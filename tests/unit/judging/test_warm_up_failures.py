"""A configuration dropped in the warm-up is reported with its reason, not as one that never began."""

import pytest

from bench_framework.compare import cell_state, samples
from bench_framework.model.plan.plan import Cell, Input, Role, Variant
from bench_framework.model.reasons import Reason, ReasonCode, message
from bench_framework.model.record.run import Block, Status
from tests.build import make_plan

VARIANT = Variant("a", (("arm", "a"),), None)
INPUT = Input("", (), None)
CELL = Cell("c", VARIANT.id, INPUT.id, "a", Role.CANDIDATE, (("true",),))
PLAN = make_plan((VARIANT,), (INPUT,), (CELL,), program=("true",))


def block(seq: int, status: Status, message: str | None = None) -> Block:
    return Block(seq, seq + 1, 0, "c", warmup=True, status=status, started_at="", message=message)


def during_warm_up(cause: Reason) -> Reason:
    return Reason(ReasonCode.FAILED_IN_WARM_UP, cause)


@pytest.mark.parametrize(
    ("status", "message", "state", "reason"),
    [
        ("failed", "exit status 1", "failed", during_warm_up(message("exit status 1"))),
        ("timeout", None, "failed", during_warm_up(Reason(ReasonCode.TIMED_OUT))),
        ("other-output", None, "other-output", Reason(ReasonCode.OTHER_OUTPUT)),
        ("ok", None, "not-started", Reason(ReasonCode.NO_ROUND)),
    ],
)
def test_the_reason_comes_from_the_warm_up(
    status: Status, message: str | None, state: str, reason: Reason
) -> None:
    blocks = [block(0, status, message), block(1, status, message)]
    (result,) = cell_state.cell_states(PLAN, samples.collect(blocks), {}, samples.warm_ups(blocks))
    assert (result.state, result.reason) == (state, reason)


def test_blocks_of_a_cut_round_give_no_reason() -> None:
    assert samples.warm_ups([block(0, "skipped")]) == {}
