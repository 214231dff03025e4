"""Tests of the cost of a page fault."""

import time

import pytest

from bench_framework.execution.machine import page_faults
from bench_framework.execution.machine.page_faults import PAGES


@pytest.mark.parametrize(
    ("faults", "is_cost"),
    [
        (PAGES - 1, False),  # pages that the kernel maps together
        (PAGES, True),
        (2 * PAGES - 1, True),
        (2 * PAGES, False),  # other code caused most of them
    ],
)
def test_the_cost_is_the_time_of_new_pages_and_their_release_divided_by_the_faults(
    monkeypatch: pytest.MonkeyPatch, faults: int, *, is_cost: bool
) -> None:
    touched, counted, released = iter([3.0, 0.5]), iter([100, 100 + faults]), iter([10.0, 10.25])
    monkeypatch.setattr(page_faults, "_touch", lambda _: next(touched))
    monkeypatch.setattr(page_faults, "_faults", lambda: next(counted))
    monkeypatch.setattr(time, "thread_time", lambda: next(released))
    expected = pytest.approx(2.75 / faults) if is_cost else None
    assert page_faults._one_mapping() == expected


def test_without_a_new_page_that_costs_more_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_faults, "_touch", lambda _: 0.0)
    monkeypatch.setattr(time, "thread_time", lambda: 0.0)
    assert page_faults._one_mapping() is None
    assert page_faults.seconds_of_fault.__wrapped__() is None
