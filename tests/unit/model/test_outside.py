"""Tests of the metric `outside`: the time of a run outside the work that its worker timed."""

import pytest

from bench_framework.model.record.run import Block, Receipt
from tests.build import make_block


def block(**clocks: float) -> Block:
    receipts = (Receipt(metrics=clocks),) if clocks else ()
    return make_block(wall_s=(1.0,), receipts=receipts)


@pytest.mark.parametrize(
    ("clocks", "outside"),
    [
        ({"elapsed_s": 0.75}, 0.25),
        ({"elapsed_s": 0.5, "synced_s": 0.75}, 0.25),  # syncing is part of the work
        ({"elapsed_s": 1.001}, 0.0),  # two clocks may differ by their resolution
        ({}, None),
        ({"records": 3.0}, None),
    ],
)
def test_it_is_the_run_without_the_work(clocks: dict[str, float], outside: float | None) -> None:
    assert block(**clocks).metric("outside") == outside
