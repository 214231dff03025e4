"""Causes: the place of a time difference, and what else differs between two configurations."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from bench_framework.compare.causes import evidence_of, second_difference, two_differences
from bench_framework.compare.samples import Sample, collect
from bench_framework.model.declarations import CauseCounter, Mechanism
from bench_framework.model.facts.causes import HANDLED, CauseEvidence
from bench_framework.model.judgement import Judgement
from bench_framework.model.metrics import KERNEL_KEYS
from bench_framework.model.plan import Plan
from bench_framework.model.run import Block, Receipt
from bench_framework.store import embedded
from bench_framework.workflow.pages import judge_contents

EXAMPLE = Path(__file__).parents[3] / "results" / "examples" / "nvme" / "report.html"
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
        block = Block(number, number, 0, cell_id, warmup=False, status="ok", started_at="")
        block = replace(block, wall_s=(wall + more,), user_s=user, sys_s=sys)
        blocks.append(replace(block, receipts=(receipt,)))
    return collect(blocks)[cell_id]


def evidence(candidate: Sample, reference: Sample) -> CauseEvidence:
    result = evidence_of(candidate, reference)
    assert result is not None
    return result


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
    other = collect([Block(0, 9, 0, "b", warmup=False, status="ok", started_at="", wall_s=(1.0,))])
    assert evidence_of(sample("a", 1.0), other["b"]) is None


def test_the_counters_are_those_of_the_kernel_and_of_the_worker() -> None:
    assert get_args(CauseCounter) == (*KERNEL_KEYS, HANDLED)


def test_the_time_outside_the_work_has_the_start_of_the_program_as_a_part() -> None:
    inside = {"write": 1.0}
    slow = sample("a", 3.0, phases={**inside, "start": 1.5}, metrics={"elapsed_s": 1.0})
    fast = sample("b", 1.2, phases=inside, metrics={"elapsed_s": 1.0})
    result = evidence_of(slow, fast, "outside")
    assert result is not None
    assert result.difference == pytest.approx(1.8)
    assert differences(result) == {"start": 1.5, "outside": 0.3}


def test_the_clock_of_a_worker_has_only_its_phases_as_parts() -> None:
    slow = sample("a", 3.0, phases={"start": 1.5, "write": 1.4}, metrics={"elapsed_s": 1.4})
    fast = sample("b", 1.2, phases={"write": 1.0}, metrics={"elapsed_s": 1.0})
    result = evidence_of(slow, fast, "elapsed_s")
    assert result is not None
    assert differences(result) == {"write": 0.4}
    assert result.share(result.parts[0]) == pytest.approx(1.0)


def test_processor_time_has_no_waiting_and_memory_has_no_parts() -> None:
    slow, fast = sample("a", 3.0, user=1.5, sys=0.5), sample("b", 2.0, user=0.9, sys=0.5)
    result = evidence_of(slow, fast, "cpu")
    assert result is not None
    assert differences(result) == {"user": 0.6, "sys": 0.0}
    assert evidence_of(slow, fast, "peak_rss") is None


LOOP = {"write": 0.39, "loop": 0.01}
"""Phases of a loop whose writes take 0.1 s more, and the loop itself 9 ms more."""
FAULTS = {"minor_faults": 3791}


@pytest.mark.parametrize(
    ("mechanism", "part", "counters"),
    [
        (Mechanism(), None, ["minor_faults"]),
        (Mechanism(counters=("minor_faults",)), None, []),
        (Mechanism(("loop",), ("minor_faults",)), "write", []),
        (Mechanism(("loop",)), "write", ["minor_faults"]),
        (Mechanism(("write",), ("minor_faults", "ctx_vol")), None, []),
        (
            Mechanism(("parse",), ("minor_faults",)),
            "write",
            [],
        ),  # not measured, but another one was
        (Mechanism(("sys",), ("minor_faults",)), None, []),  # there are phases, no processor time
    ],
)
def test_what_a_change_does_not_name_is_a_second_difference(
    mechanism: Mechanism, part: str | None, counters: list[str]
) -> None:
    python = sample("a", 0.41, phases=LOOP, counts=FAULTS)
    native = sample("b", 0.30, phases={"write": 0.29, "loop": 0.001}, counts={"minor_faults": 349})
    second = second_difference(evidence(python, native), mechanism, "the loop")
    if part is None and not counters:
        assert second is None
        return
    assert second is not None
    assert (
        second.part is None
        if part is None
        else second.part is not None and second.part.name == part
    )
    assert [counter.metric for counter in second.counters] == counters
    assert second.name == "the loop"


def test_without_a_mechanism_a_comparison_is_no_cause() -> None:
    python, native = sample("a", 0.41, counts=FAULTS), sample("b", 0.30, counts={"minor_faults": 9})
    assert second_difference(evidence(python, native), None, "a comparison") is None


def test_half_of_the_difference_is_not_most_of_it() -> None:
    slow = sample("a", 3.0, phases={"read": 1.5, "parse": 1.5})
    fast = sample("b", 2.0, phases={"read": 1.0, "parse": 1.0})
    assert second_difference(evidence(slow, fast), Mechanism(("parse",)), "parsing") is None


def test_overlapping_phases_are_not_checked() -> None:
    slow = sample("a", 3.0, user=1.0, sys=1.9, phases={"parse": 5.0})
    fast = sample("b", 2.0, user=1.0, sys=0.9, phases={"parse": 1.0})
    assert second_difference(evidence(slow, fast), Mechanism(("parse",)), "parsing") is None
    second = second_difference(evidence(slow, fast), Mechanism(("user",)), "parsing")
    assert second is not None
    assert second.part is not None
    assert second.part.name == "sys"
    assert second.share == pytest.approx(1.0)


def test_the_python_loop_of_the_example_writes_longer_and_has_more_page_faults() -> None:
    example = embedded.read(EXAMPLE.read_text(encoding="utf-8"))
    samples = collect(example.contents.blocks)
    cells = {cell.label: cell.id for cell in example.frame.plan.cells}
    python, native = (samples[cells[name]] for name in ("python-loop", "native-loop"))
    result = evidence(python, native)
    assert [part.name for part in result.parts[:3]] == ["write", "outside", "generate"]
    write, outside, generate = (result.share(part) for part in result.parts[:3])
    assert 0.6 < write < 0.8
    assert 0.2 < outside < 0.4
    assert generate < 0.05
    (faults,) = result.counters
    assert (faults.metric, faults.value, faults.reference) == ("minor_faults", 3791.0, 349.0)


@pytest.fixture(scope="module")
def judged() -> tuple[Plan, Judgement]:
    """The example nvme with a wrong cause: its Python loop has other pages than the native one."""
    example = embedded.read(EXAMPLE.read_text(encoding="utf-8"))
    plan = example.frame.plan
    return plan, judge_contents(plan, example.contents, example.frame.profiles)


def test_a_hypothesis_with_two_differences_is_neither_supported_nor_rejected(
    judged: tuple[Plan, Judgement],
) -> None:
    _, judgement = judged
    statuses = {test.hypothesis.text: test.status for test in judgement.hypotheses}
    loop = "generating and writing takes longer in a Python loop than in a native one"
    assert statuses[loop] == "two differences at once"
    assert statuses["generating a block while another one is written saves time"] == "supported"
    (claim,) = [c for c in judgement.claims if c.kind == "hypothesis" and c.subject == loop]
    assert "is neither supported nor rejected" in claim.text
    assert "minor page faults 349 and 3\u202f791" in claim.text


def test_a_contrast_of_the_pair_of_a_hypothesis_is_a_cause_and_others_are_not(
    judged: tuple[Plan, Judgement],
) -> None:
    plan, judgement = judged
    cells = {cell.label: cell.id for cell in plan.cells}
    pair = cells["python-loop"], cells["native-loop"]
    second = two_differences(judgement, *pair, "elapsed_s")
    assert second is not None
    assert second.name == "Python loop against native loop while they write"
    assert [counter.metric for counter in second.counters] == ["minor_faults"]
    assert two_differences(judgement, *pair, "wall") is None
    assert two_differences(judgement, cells["streaming"], cells["single-buffer"], "wall") is None
    stated = [c.cells for c in judgement.claims if c.kind == "two-differences"]
    assert pair in stated
    assert len({frozenset(cells) for cells in stated}) < len(stated)  # one for each metric


def test_a_contrast_with_declared_counters_is_a_cause(judged: tuple[Plan, Judgement]) -> None:
    plan, _ = judged
    example = embedded.read(EXAMPLE.read_text(encoding="utf-8"))
    name = "streaming against single buffer"
    contrasts = tuple(
        replace(c, mechanism=Mechanism(counters=("ctx_vol",))) if c.name == name else c
        for c in plan.contrasts
    )
    again = judge_contents(replace(plan, contrasts=contrasts), example.contents, ())
    (cause,) = [cause for cause in again.causes if cause.name == name]
    assert cause.offered
    assert cause.second is not None
    assert [counter.metric for counter in cause.second.counters] == ["ctx_invol"]
