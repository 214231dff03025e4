"""What the scenario language knows of the bundled workers is what they say of themselves."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench_framework.scenario import bundled

BUILD_AXES = {"allocator"}
"""Chosen by a cargo feature: what one binary says of it is no list of what a scenario may ask for."""
KNOBS = {"output"}
"""Of the program's own printing, not of its work."""


@pytest.fixture(scope="module", params=["tally", "dgen", "search"])
def worker(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def described(worker: str, bundled_workers: Path) -> dict[str, Any]:
    done = subprocess.run(
        [bundled_workers / worker, "describe"], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_closed_sets_are_the_workers_own(worker: str, described: dict[str, Any]) -> None:
    kept = bundled.workers()[worker]
    said = {
        name: [value["name"] for value in axis["values"]]
        for name, axis in described["axes"].items()
        if name not in BUILD_AXES | KNOBS
    }
    assert kept["axes"] == said


def test_a_value_that_is_announced_is_not_there_yet(worker: str, described: dict[str, Any]) -> None:
    kept = bundled.workers()[worker]
    for axis, values in kept.get("unavailable", {}).items():
        there = {value["name"] for value in described["axes"][axis]["values"]}
        assert not there & set(values)
