"""Causes: the place of a time difference, and what else differs between two configurations."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.compare.samples import Sample, collect
from bench_framework.features.causes.compute import evidence_of
from bench_framework.model.facts.causes import CauseEvidence
from bench_framework.model.run import Block, Receipt
from bench_framework.store import embedded

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
    drift_in: str = "",
) -> Sample:
    """Return a sample of five rounds that drift. `drift_in` is the phase that drifts."""
    blocks = []
    for number, more in enumerate(DRIFT, start=1):
        receipt = Receipt(
            phases_s={n: v + (more if n == drift_in else 0.0) for n, v in (phases or {}).items()},
            counts=counts or {},
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
