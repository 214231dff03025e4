"""Tests that the scenario language knows the values that the bundled workers describe."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench_framework.scenario import bundled

BUILD_AXES = {"allocator"}
"""Axes that a cargo feature selects: one binary describes only its own value."""
KNOBS = {"output"}
"""Options of the output, which are not part of the work."""


@pytest.fixture(scope="module", params=["tally", "dgen", "search"])
def worker(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def described(worker: str, bundled_workers: Path) -> dict[str, Any]:
    done = subprocess.run(
        [bundled_workers / worker, "describe"], capture_output=True, text=True, check=True
    )
    description: dict[str, Any] = json.loads(done.stdout)
    return description


def test_the_known_values_are_those_of_the_worker(worker: str, described: dict[str, Any]) -> None:
    known = bundled.workers()[worker]
    described_axes = {
        name: [value["name"] for value in axis["values"]]
        for name, axis in described["axes"].items()
        if name not in BUILD_AXES | KNOBS
    }
    assert known["axes"] == described_axes
