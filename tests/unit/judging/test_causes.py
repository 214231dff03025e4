"""Causes: the place of a time difference, and what else differs between two configurations."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import pytest

from bench_framework.compare.causes import evidence_of, second_difference, two_differences
from bench_framework.compare.samples import Sample, collect
from bench_framework.features.judge import judge
from bench_framework.model.facts.causes import HANDLED, CauseEvidence
from bench_framework.model.metrics import KERNEL_KEYS
from bench_framework.model.plan.declarations import (
    CauseCounter,
    Hypothesis,
    Mechanism,
    NamedContrast,
)
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Receipt
from bench_framework.model.result.judgement import Judgement
from bench_framework.text.causes import counter_text, explained_text
from bench_framework.units import THIN_SPACE
from tests.build import make_block, require
from tests.unit.judging.conftest import Study

DRIFT = (0.0, 0.4, -0.1, 0.2, 0.1)
"""Seconds that a round takes longer on both sides."""


def sample(
    cell_id: str,
    wall: float,
    *,
    user: float | None = None,
    sys: float | None = None,
    phases: Mapping[str, float] | None = None,
    counts: Mapping[str, int] | None = None,
    size: int | None = None,
    metrics: Mapping[str, float] | None = None,
    drift_in: str = "",
) -> Sample:
    """Return a sample of five rounds that drift. `drift_in` is the phase that drifts."""
    blocks = []
    for number, more in enumerate(DRIFT, start=1):
        receipt = Receipt(
            phases_s={n: v + (more if n == drift_in else 0.0) for n, v in (phases or {}).items()},
            counts=counts or {},
            metrics={n: v + more for n, v in (metrics or {}).items()},
            bytes=size,
        )
        times: dict[str, Any] = {"wall_s": (wall + more,), "user_s": user, "sys_s": sys}
        blocks.append(make_block(number, number, 0, cell_id, receipts=(receipt,), **times))
    return collect(blocks)[cell_id]


def evidence(candidate: Sample, reference: Sample, *given: Any) -> CauseEvidence:
    """Return evidence that exists; `given` is the metric, and the values of untimed runs."""
    return require(evidence_of(candidate, reference, *given))


def differences(result: CauseEvidence) -> dict[str, float]:
    return {part.name: round(part.difference, 9) for part in result.parts}


def test_the_difference_is_placed_in_a_phase_and_drift_cancels() -> None:
    slow = sample("a", 3.0, phases={"parse": 1.9, "read": 1.0}, drift_in="read")
    fast = sample("b", 2.0, phases={"parse": 1.0, "read": 0.9}, drift_in="read")
    result = evidence(slow, fast)
    assert result.rounds == 5
    assert result.difference == pytest.approx(1.0)
    assert differences(result) == {"parse": 0.9, "read": 0.1, "outside": 0.0}
    assert [part.name for part in result.parts] == ["parse", "read", "outside"]
    assert result.share(result.parts[0]) == pytest.approx(0.9)


def test_time_outside_of_the_phases_and_a_phase_of_one_side_are_parts() -> None:
    slow = sample("a", 3.0, phases={"parse": 1.0, "start": 0.5})
    fast = sample("b", 1.2, phases={"parse": 1.0})
    assert differences(evidence(slow, fast)) == {"outside": 1.3, "start": 0.5, "parse": 0.0}


def test_phases_that_overlap_are_no_parts_of_the_time() -> None:
    slow = sample("a", 3.0, user=1.0, sys=0.5, phases={"parse": 5.0})
    fast = sample("b", 2.0, user=0.9, sys=0.2, phases={"parse": 1.0})
    result = evidence(slow, fast)
    assert differences(result) == {"waiting": 0.6, "sys": 0.3, "user": 0.1}


def test_a_program_on_several_cores_has_no_waiting_time() -> None:
    result = evidence(sample("a", 3.0, user=8.0, sys=0.5), sample("b", 2.0, user=7.0, sys=0.5))
    assert differences(result) == {"user": 1.0, "sys": 0.0}


@pytest.mark.parametrize(
    ("counts", "others", "metrics"),
    [
        ({"minor_faults": 2001}, {"minor_faults": 1000}, ["minor_faults"]),
        ({"minor_faults": 1000}, {"minor_faults": 2001}, ["minor_faults"]),
        ({"minor_faults": 2000}, {"minor_faults": 1000}, []),  # exactly a factor of two
        ({"ctx_invol": 1}, {"ctx_invol": 99}, []),  # 98 switches take microseconds
        ({"ctx_vol": 0}, {"ctx_vol": 100}, ["ctx_vol"]),
        ({"read_bytes": 1 << 20}, {"read_bytes": 4096}, []),
        ({"write_bytes": 3 << 20}, {"write_bytes": 1 << 20}, ["write_bytes"]),
        ({"minor_faults": 500}, {}, []),  # not counted on one side
        (
            {"minor_faults": 900, "ctx_vol": 5000},
            {"minor_faults": 300, "ctx_vol": 500},
            ["ctx_vol", "minor_faults"],
        ),
    ],
)
def test_counters_that_differ_by_more_than_a_factor_of_two(
    counts: dict[str, int], others: dict[str, int], metrics: list[str]
) -> None:
    result = evidence(sample("a", 2.0, counts=counts), sample("b", 1.0, counts=others))
    assert [counter.metric for counter in result.counters] == metrics


def test_another_amount_of_work_is_a_difference() -> None:
    result = evidence(sample("a", 2.0, size=100 << 20), sample("b", 1.0, size=10 << 20))
    assert [(c.metric, c.factor) for c in result.counters] == [("handled_bytes", 10.0)]


def test_nothing_is_known_without_a_common_round() -> None:
    other = collect([make_block(0, 9, 0, "b", wall_s=(1.0,))])
    assert evidence_of(sample("a", 1.0), other["b"]) is None


def test_the_counters_are_those_of_the_kernel_and_of_the_worker() -> None:
    assert get_args(CauseCounter) == (*KERNEL_KEYS, HANDLED)


def test_the_time_outside_the_work_has_the_start_of_the_program_as_a_part() -> None:
    inside = {"write": 1.0}
    slow = sample("a", 3.0, phases={**inside, "start": 1.5}, metrics={"elapsed_s": 1.0})
    fast = sample("b", 1.2, phases=inside, metrics={"elapsed_s": 1.0})
    result = evidence(slow, fast, "outside")
    assert result.difference == pytest.approx(1.8)
    assert differences(result) == {"start": 1.5, "outside": 0.3}


def test_the_clock_of_a_worker_has_only_its_phases_as_parts() -> None:
    slow = sample("a", 3.0, phases={"start": 1.5, "write": 1.4}, metrics={"elapsed_s": 1.4})
    fast = sample("b", 1.2, phases={"write": 1.0}, metrics={"elapsed_s": 1.0})
    result = evidence(slow, fast, "elapsed_s")
    assert differences(result) == {"write": 0.4}
    assert result.share(result.parts[0]) == pytest.approx(1.0)


def test_the_time_of_the_client_of_a_server_has_no_parts() -> None:
    slow, fast = (
        replace(given, blocks=tuple(replace(b, peak_rss_source="server") for b in given.blocks))
        for given in (sample("a", 3.0, user=1.0, sys=0.5), sample("b", 2.0, user=0.5, sys=0.5))
    )
    assert evidence(slow, fast).parts == ()
    assert differences(evidence(slow, fast, "cpu")) == {"user": 0.5, "sys": 0.0}


def test_processor_time_has_no_waiting_and_memory_has_no_parts() -> None:
    slow, fast = sample("a", 3.0, user=1.5, sys=0.5), sample("b", 2.0, user=0.9, sys=0.5)
    assert differences(evidence(slow, fast, "cpu")) == {"user": 0.6, "sys": 0.0}
    assert evidence_of(slow, fast, "peak_rss") is None


def plain(text: str) -> str:
    return text.replace(THIN_SPACE, " ")


def waiting(total: float, **parts: float) -> dict[str, float]:
    return {"wait_total": total} | {f"wait_{name}": value for name, value in parts.items()}


@pytest.mark.parametrize(
    ("mine", "other", "text"),
    [
        (
            waiting(0.9, disk=0.6, sleep=0.1, lock=0.1, core=0.1, io_uring=0.0),
            waiting(0.3, disk=0.1, sleep=0.1, lock=0.0, core=0.1, io_uring=0.0),
            "waiting 60 % (of it, untimed: disk 83 %, lock or another thread 17 %)",
        ),
        (
            waiting(0.9, disk=0.3),
            waiting(0.3, disk=0.0),
            (
                "waiting 60 % (of it, untimed: disk 50 %, other waiting 50 %; "
                "not known: io_uring or AIO, sleep, lock or another thread, a core)"
            ),
        ),
        # Shares of 105 % and −5 %, and of 150 % and −50 %.
        (
            waiting(0.9, disk=0.93, sleep=0.07, lock=0.0, core=0.0, io_uring=0.0),
            waiting(0.3, disk=0.30, sleep=0.10, lock=0.0, core=0.0, io_uring=0.0),
            "waiting 60 % (of it, untimed: disk 100 %)",
        ),
        (
            waiting(0.9, disk=0.9, sleep=0.0, lock=0.0, core=0.0, io_uring=0.0),
            waiting(0.3, disk=0.0, sleep=0.3, lock=0.0, core=0.0, io_uring=0.0),
            "waiting 60 % (for what: unknown)",
        ),
        # The untimed runs differ by less than half of the 0.6 s, by more than twice of it, or the other way.
        (waiting(0.5, disk=0.5), waiting(0.3, disk=0.3), "waiting 60 % (for what: unknown)"),
        (waiting(1.8, disk=1.8), waiting(0.3, disk=0.3), "waiting 60 % (for what: unknown)"),
        (waiting(0.1, disk=0.1), waiting(0.7, disk=0.7), "waiting 60 % (for what: unknown)"),
        ({}, waiting(0.3, disk=0.3), "waiting 60 % (for what: unknown)"),
    ],
)
def test_waiting_is_split_by_untimed_runs_that_agree(
    mine: dict[str, float], other: dict[str, float], text: str
) -> None:
    slow, fast = sample("a", 3.0, user=1.0, sys=0.5), sample("b", 2.0, user=0.9, sys=0.2)
    result = evidence(slow, fast, "wall", {"a": mine, "b": other})
    assert plain(explained_text(result.parts[0], result)) == text
    assert plain(explained_text(result.parts[2], result)) == "user time 10 %"


def test_a_small_difference_of_the_waiting_is_not_split() -> None:
    slow, fast = sample("a", 3.004, user=1.0, sys=0.5), sample("b", 3.0, user=1.0, sys=0.5)
    sides = {"a": waiting(1.504, disk=1.504), "b": waiting(1.5, disk=1.5)}
    assert evidence(slow, fast, "wall", sides).explained == ()


@pytest.mark.parametrize(
    ("faults", "text"),
    [
        (70_000, "minor page faults about 100 %"),
        (90_000, "minor page faults: unknown"),
        (-30_000, "minor page faults: unknown"),
    ],
)
def test_page_faults_that_cost_more_than_the_system_time_explain_an_unknown_share(
    faults: int, text: str
) -> None:
    slow, fast = sample("a", 3.0, user=1.0, sys=0.5), sample("b", 2.0, user=0.9, sys=0.4)
    untimed = {
        "a": {"fault_cost": 1.5e-6, "minor_faults": 100_000.0 + faults},
        "b": {"fault_cost": 1.5e-6, "minor_faults": 100_000.0},
    }
    result = evidence(slow, fast, "wall", untimed)
    system = next(part for part in result.parts if part.kind == "sys")
    assert plain(explained_text(system, result)) == f"system time 10 % (of it, {text})"


@pytest.mark.parametrize("counted_by", ["the worker", "an untimed run"])
def test_page_faults_explain_a_share_of_the_system_time_at_their_cost(counted_by: str) -> None:
    faults = {"a": {"minor_faults": 101_000}, "b": {"minor_faults": 1_000}}
    counts = faults if counted_by == "the worker" else {}
    slow = sample("a", 3.0, user=1.0, sys=0.5, counts=counts.get("a"))
    fast = sample("b", 2.0, user=0.9, sys=0.3, counts=counts.get("b"))
    untimed = {cell: {"fault_cost": 1.5e-6, **values} for cell, values in faults.items()}
    result = evidence(slow, fast, "wall", untimed)
    system = next(part for part in result.parts if part.kind == "sys")
    assert (
        plain(explained_text(system, result))
        == "system time 20 % (of it, minor page faults about 75 %)"
    )
    if counts:
        (counter,) = result.counters
        assert plain(counter_text(counter, result.fault_cost)) == (
            "minor page faults 101 000 instead of 1 000 (about 150 ms)"
        )
    free = evidence(slow, fast, "wall", {})
    assert plain(explained_text(system, free)) == "system time 20 %"


LOOP = {"write": 0.39, "loop": 0.01}
"""Phases of a loop whose writes take 0.1 s more, and the loop itself 9 ms more."""
FAULTS = {"minor_faults": 3791}


@pytest.mark.parametrize(
    ("mechanism", "parts", "counters"),
    [
        (Mechanism(), [], ["minor_faults"]),
        (Mechanism(counters=("minor_faults",)), [], []),
        (Mechanism(("loop",), ("minor_faults",)), ["write"], []),
        (Mechanism(("loop",)), ["write"], ["minor_faults"]),
        (Mechanism(("write",), ("minor_faults", "ctx_vol")), [], []),
        # Not measured, but another one was.
        (Mechanism(("parse",), ("minor_faults",)), ["write", "loop"], []),
        (Mechanism(("sys",), ("minor_faults",)), [], []),  # there are phases, no processor time
    ],
)
def test_what_a_change_does_not_name_is_a_second_difference(
    mechanism: Mechanism, parts: list[str], counters: list[str]
) -> None:
    python = sample("a", 0.41, phases=LOOP, counts=FAULTS)
    native = sample("b", 0.30, phases={"write": 0.29, "loop": 0.001}, counts={"minor_faults": 349})
    second = second_difference(evidence(python, native), mechanism, "the loop")
    if not parts and not counters:
        assert second is None
        return
    second = require(second)
    assert [p.name for p in second.parts] == parts
    assert [counter.metric for counter in second.counters] == counters
    assert second.name == "the loop"


def test_without_a_mechanism_a_comparison_is_no_cause() -> None:
    python, native = sample("a", 0.41, counts=FAULTS), sample("b", 0.30, counts={"minor_faults": 9})
    assert second_difference(evidence(python, native), None, "a comparison") is None


def test_half_of_the_difference_is_not_most_of_it() -> None:
    slow = sample("a", 3.0, phases={"read": 1.5, "parse": 1.5})
    fast = sample("b", 2.0, phases={"read": 1.0, "parse": 1.0})
    assert second_difference(evidence(slow, fast), Mechanism(("parse",)), "parsing") is None


def test_several_parts_have_most_of_a_difference_together() -> None:
    slow = sample("a", 3.0, phases={"write": 1.4, "loop": 1.0, "generate": 0.6})
    fast = sample("b", 2.0, phases={"write": 1.0, "loop": 0.6, "generate": 0.4})
    second = require(second_difference(evidence(slow, fast), Mechanism(("loop",)), "the loop"))
    assert [part.name for part in second.parts] == ["write", "generate"]
    assert second.share == pytest.approx(0.6)
    assert second_difference(evidence(slow, fast), Mechanism(("loop", "write")), "both") is None


def test_overlapping_phases_are_not_checked() -> None:
    slow = sample("a", 3.0, user=1.0, sys=1.9, phases={"parse": 5.0})
    fast = sample("b", 2.0, user=1.0, sys=0.9, phases={"parse": 1.0})
    assert second_difference(evidence(slow, fast), Mechanism(("parse",)), "parsing") is None
    second = require(second_difference(evidence(slow, fast), Mechanism(("user",)), "parsing"))
    assert [part.name for part in second.parts] == ["sys"]
    assert second.share == pytest.approx(1.0)


LOOPS = {"native": 0.30, "python": 0.41, "threads": 0.20}
"""Seconds of each arm; the loops of `LOOP`, and a native one in another form."""


@pytest.fixture
def loops() -> Study:
    return Study(arms=tuple(LOOPS))


def loop_plan(loops: Study, mechanism: Mechanism | None) -> Plan:
    """Return a plan that offers the Python loop as a cause, and compares the threads only."""
    ids = {dict(v.values)["arm"]: v.id for v in loops.plan.variants}
    inputs = tuple(item.id for item in loops.plan.inputs)
    change = "arm: native → python"
    cause = Hypothesis("the loop", change, ids["python"], ids["native"], "worse", "wall")
    if mechanism is not None:
        cause = replace(cause, mechanism=mechanism)
    contrasts = (
        NamedContrast("python", ids["python"], ids["native"], inputs, "wall"),
        NamedContrast("threads", ids["threads"], ids["native"], inputs, "wall"),
    )
    return replace(loops.plan, hypotheses=(cause,), contrasts=contrasts)


def judged(loops: Study, plan: Plan) -> Judgement:
    noise = random.Random(8)
    arms = {cell.id: loops.arm_of(cell) for cell in loops.plan.cells}
    blocks = loops.blocks(lambda arm, *_: LOOPS.get(arm, 0.30) * math.exp(noise.gauss(0, 0.004)))
    receipts = {
        "python": Receipt(phases_s=LOOP, counts=FAULTS),
        "threads": Receipt(phases_s={"write": 0.19}, counts={"minor_faults": 9000}),
    }
    native = Receipt(phases_s={"write": 0.29, "loop": 0.001}, counts={"minor_faults": 349})
    reported = [replace(b, receipts=(receipts.get(arms[b.cell_id], native),)) for b in blocks]
    return judge(plan, reported, {}, loops.inputs(), loops.looks())


@pytest.mark.parametrize(
    ("mechanism", "status"),
    [
        (None, "two differences at once"),
        (Mechanism(("loop",), ("minor_faults",)), "two differences at once"),
        (Mechanism(("write",), ("minor_faults",)), "supported"),
    ],
)
def test_a_hypothesis_with_two_differences_is_neither_supported_nor_rejected(
    loops: Study, mechanism: Mechanism | None, status: str
) -> None:
    judgement = judged(loops, loop_plan(loops, mechanism))
    (test,) = judgement.hypotheses
    assert test.status == status
    (claim,) = [c for c in judgement.claims if c.kind == "hypothesis"]
    assert ("is neither supported nor rejected" in claim.text) is (test.second is not None)


def test_a_contrast_of_the_pair_of_a_hypothesis_is_a_cause_and_others_are_not(loops: Study) -> None:
    judgement = judged(loops, loop_plan(loops, None))
    ids = {arm: loops.cell(arm).id for arm in LOOPS}
    second = require(two_differences(judgement, ids["python"], ids["native"], "wall"))
    assert [counter.metric for counter in second.counters] == ["minor_faults"]
    assert two_differences(judgement, ids["python"], ids["native"], "cpu") is None
    assert two_differences(judgement, ids["threads"], ids["native"], "wall") is None
    assert [cause.offered for cause in judgement.causes] == [True, False, True]
    # The contrast and the hypothesis compare the same pair, which is stated once.
    stated = [c.cells for c in judgement.claims if c.kind == "two-differences"]
    assert stated == [(ids["python"], ids["native"])]


def test_a_contrast_with_declared_counters_is_a_cause(loops: Study) -> None:
    plan = loop_plan(loops, None)
    contrasts = tuple(replace(c, mechanism=Mechanism()) for c in plan.contrasts)
    judgement = judged(loops, replace(plan, contrasts=contrasts))
    ids = {arm: loops.cell(arm).id for arm in LOOPS}
    second = require(two_differences(judgement, ids["threads"], ids["native"], "wall"))
    assert second.name == "threads"


def test_what_does_not_differ_has_no_cause(loops: Study) -> None:
    plan = loop_plan(loops, None)
    blocks = loops.blocks(lambda *_: 0.30)
    assert judge(plan, blocks, {}, loops.inputs(), loops.looks()).causes == ()
