"""States of configurations that failed or print another output, with their reasons."""

from dataclasses import replace

import pytest

from bench_framework.compare import cell_state, samples
from bench_framework.model.plan.plan import Cell, Input, Role, Variant
from bench_framework.model.reasons import Reason, ReasonCode, message
from bench_framework.model.record.run import OTHER_OUTPUT_COMPARED, Block, Event, Status
from bench_framework.model.result.judgement import CellState
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
    ("status", "message", "state", "failed", "reason"),
    [
        (
            "failed",
            "exit status 1",
            "failed",
            2,
            during_warm_up(Reason(ReasonCode.RUN_FAILED, "exit status 1")),
        ),
        ("timeout", None, "failed", 2, during_warm_up(Reason(ReasonCode.TIMED_OUT))),
        ("other-output", None, "other-output", 0, Reason(ReasonCode.OTHER_OUTPUT)),
        ("ok", None, "not-started", 0, Reason(ReasonCode.NO_ROUND)),
    ],
)
def test_the_reason_comes_from_the_warm_up(
    status: Status, message: str | None, state: str, failed: int, reason: Reason
) -> None:
    blocks = [block(0, status, message), block(1, status, message)]
    (result,) = cell_state.cell_states(PLAN, samples.collect(blocks), {}, samples.warm_ups(blocks))
    assert (result.state, result.void, result.reason) == (state, failed, reason)
    assert result.rounds == 0


@pytest.mark.parametrize(
    ("failed", "state"), [(0, "measured"), (2, "measured"), (3, "failed"), (40, "failed")]
)
def test_more_than_five_percent_failed_rounds_fail_a_cell(failed: int, state: str) -> None:
    runs = [block(n, "failed" if n < failed else "ok") for n in range(40)]
    blocks = [replace(b, warmup=False) for b in runs]
    (result,) = cell_state.cell_states(PLAN, samples.collect(blocks), {}, {})
    assert (result.state, result.void) == (state, failed)


@pytest.mark.parametrize("role", [Role.CANDIDATE, Role.CONTROL])
def test_other_configurations_that_failed_are_named_with_the_baseline(role: Role) -> None:
    base = replace(CELL, id="b", role=Role.BASELINE)
    plan = make_plan((VARIANT,), (INPUT,), (base, replace(CELL, role=role)), program=("true",))
    states = [CellState(cell.id, "failed", 0, 1, message(f"m{cell.id}")) for cell in plan.cells]
    failure = Reason(ReasonCode.BASELINE_FAILED, message("mb"))
    candidate = Reason(ReasonCode.NAMED_FAILURE, ("a", message("mc")))
    both = Reason(ReasonCode.ALSO_FAILED, (failure, Reason(ReasonCode.LIST, (candidate,))))
    expected = both if role is Role.CANDIDATE else failure
    assert cell_state.baseline_failure(plan, states, INPUT.id) == expected
    assert cell_state.baseline_failure(plan, states[1:], INPUT.id) is None


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ((), ()),
        (("c",), (ReasonCode.OUTPUTS_DIFFER,)),
        # Differences from a baseline that varies say nothing about the candidate.
        (("b", "c"), (ReasonCode.OUTPUT_VARIES,)),
    ],
)
def test_what_differs_in_the_outputs(cells: tuple[str, ...], codes: tuple[ReasonCode, ...]) -> None:
    base = replace(CELL, id="b", role=Role.BASELINE)
    plan = make_plan((VARIANT,), (INPUT,), (base, CELL), program=("true",))
    events = [Event(OTHER_OUTPUT_COMPARED, "", cell_id=cell) for cell in cells]
    assert tuple(r.code for r in cell_state.output_reasons(plan, events)) == codes


@pytest.mark.parametrize(
    ("compared", "differing", "codes"),
    [
        (("b", "c"), "d", ()),
        (("b", "d"), "d", (ReasonCode.OUTPUTS_DIFFER, ReasonCode.FIRST_DIFFERENCE)),
        (
            ("b", "c", "d"),
            "d",
            (ReasonCode.OUTPUTS_DIFFER, ReasonCode.OTHERS_EQUAL, ReasonCode.FIRST_DIFFERENCE),
        ),
        # The outputs were compared with those of a baseline that varies, also if it is not compared now.
        (("c", "d"), "b", (ReasonCode.OUTPUT_VARIES,)),
    ],
)
def test_only_outputs_of_the_compared_cells_count(
    compared: tuple[str, ...], differing: str, codes: tuple[ReasonCode, ...]
) -> None:
    base, other = replace(CELL, id="b", role=Role.BASELINE), replace(CELL, id="d")
    plan = make_plan((VARIANT,), (INPUT,), (base, CELL, other), program=("true",))
    details = (("digest", "1 ≠ 2"), ("first difference", "line 2\na: 1\nd: 2"))
    events = [Event(OTHER_OUTPUT_COMPARED, "", cell_id=differing, details=details)]
    assert tuple(r.code for r in cell_state.output_reasons(plan, events, compared)) == codes


def test_blocks_of_a_cut_round_give_no_reason() -> None:
    assert samples.warm_ups([block(0, "skipped")]) == {}
