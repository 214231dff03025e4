"""Tests of the parts of a command's memory at its peak."""

import itertools
import time

import pytest

from bench_framework.execution.counting import observations
from bench_framework.execution.counting.observations import CHILD_SCAN_S, SCAN_S, PeakMemory
from bench_framework.execution.machine.processes import PARTS
from bench_framework.model.metrics import MEMORY_PARTS

MIB = 1 << 20


def sampled(rss: int, anonymous: int, shared: int = 0, highest: int = 0) -> dict[str, int]:
    parts = {"RssAnon": anonymous, "RssShmem": shared, "RssFile": rss - anonymous - shared}
    return {"VmRSS": rss, "VmHWM": max(rss, highest), **parts}


def test_the_parts_are_those_of_the_largest_sample() -> None:
    memory = PeakMemory()
    for sample in (
        sampled(40 * MIB, 10 * MIB),
        sampled(240 * MIB, 200 * MIB, shared=10 * MIB),
        {},  # the process has ended
        sampled(50 * MIB, 45 * MIB, highest=240 * MIB),
    ):
        memory.add(sample)
    assert memory.parts() == {"anon_bytes": 210.0 * MIB, "file_bytes": 30.0 * MIB}
    assert memory.share(0) == 1.0


def test_a_peak_between_samples_lowers_the_share() -> None:
    memory = PeakMemory()
    memory.add(sampled(50 * MIB, 45 * MIB, highest=100 * MIB))
    assert memory.share(0) == 0.5
    # A later peak is known only from getrusage.
    assert memory.share(200 * MIB) == 0.25
    assert PeakMemory().share(200 * MIB) == 0.0


def test_the_peak_that_a_small_program_inherits_is_not_its_own() -> None:
    memory = PeakMemory(inherited=12 * MIB)
    memory.add(sampled(2 * MIB, MIB))
    assert memory.share(12 * MIB) == 1.0


def test_the_registry_has_these_parts() -> None:
    assert tuple(PARTS) == MEMORY_PARTS


@pytest.mark.parametrize("interval", [SCAN_S, CHILD_SCAN_S])
def test_processes_are_listed_again_after_the_interval_and_not_in_each_sample(
    monkeypatch: pytest.MonkeyPatch, interval: float
) -> None:
    listed: list[int] = []
    times = itertools.count(step=0.001)

    def session_of(leader: int) -> list[int]:
        listed.append(leader)
        return []

    monkeypatch.setattr(observations, "session_of", session_of)
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    memory = PeakMemory()
    memory.scan_s = interval
    for _ in range(100):
        memory.sample(7)
    assert len(listed) == pytest.approx(0.1 / interval, abs=1)
