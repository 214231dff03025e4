"""Tests of a worker that reports what it cannot run on this machine."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration import processes
from tests.integration.processes import Done

FAKE = processes.FAKES / "worker"
REASON = "io_uring_setup: Operation not permitted (errno 1)"
LIMITED = "built for sse2, and this processor has avx2"
WORKER = """\
#!/bin/sh
if [ "$1" = describe ]; then
    echo '%s'
    exit 0
fi
[ "$2" = uring ] && { echo "worker: %s" >&2; exit 1; }
exec %s run "$2"
"""
SCENARIO = """\
version: 1
name: able
question: Which way reads fastest?
worker: {command: [./worker], contract: true}
axes: {io: [read, mmap, uring]}
command: ["{bin}", run, "{io}"]
baseline: {io: BASELINE}
measure: {rounds: 1, until: rounds, warmup: 1}
"""
NOT_MEASURED = 3


@pytest.fixture
def benchctl(tmp_path: Path) -> Callable[..., Done]:
    values = [
        {"name": name, "about": "", "unavailable": REASON if name == "uring" else None}
        for name in ("read", "mmap", "uring")
    ]
    values[1]["limited"] = LIMITED
    described: dict[str, Any] = {
        "protocol": 1,
        "name": "able",
        "version": "1",
        "features": [],
        "metrics": [],
        "allocator": {"name": "system", "version": None},
        "axes": {"io": {"about": "", "values": values}},
    }
    worker = tmp_path / "worker"
    processes.executable(worker, WORKER % (json.dumps(described), REASON, FAKE))

    def call(*words: str, code: int, baseline: str = "read") -> Done:
        (tmp_path / "able.yaml").write_text(
            SCENARIO.replace("BASELINE", baseline), encoding="utf-8"
        )
        return processes.benchctl(tmp_path, *words, env=processes.real(), code=code)

    return call


@pytest.mark.real
@pytest.mark.slow
def test_it_is_left_out_with_its_reason_and_the_rest_is_measured(
    benchctl: Callable[..., Done], tmp_path: Path
) -> None:
    done = benchctl("run", "able.yaml", code=0)
    assert f"left out: uring (io=uring is not available here: {REASON})" in done.stderr
    (record,) = (tmp_path / "results" / "able").glob("2*")
    page = (record / "appendix.md").read_text(encoding="utf-8")
    assert f"io=uring is not available here: {REASON}" in page.replace("\\", "")
    # The warning is in the terminal, in the events and in the checks of the page.
    warning = f"io=mmap does not use all that this processor offers: {LIMITED}"
    assert warning in " ".join(done.stderr.split()), done.stderr
    assert f'BX312,warning,"{warning}"' in (record / "events.csv").read_text(encoding="utf-8")
    assert f"mmap could be faster (io=mmap: {LIMITED})" in page.replace("\\", "")
    with (record / "cells.csv").open(encoding="utf-8", newline="") as file:
        assert [row["variant"] for row in csv.DictReader(file)] == ["read", "mmap", "control"]


@pytest.mark.real
def test_a_baseline_that_cannot_run_is_one_clear_error(
    benchctl: Callable[..., Done], tmp_path: Path
) -> None:
    done = benchctl("run", "able.yaml", baseline="uring", code=NOT_MEASURED)
    assert (
        f"error[BX223]: the baseline cannot run on this machine: io=uring is not available here: {REASON}"
        in done.stderr
    )
    assert not (tmp_path / "results" / "able").exists()
