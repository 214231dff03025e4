"""Test of a small version of seed document 000: all modes of its scenario."""

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.conftest import FAST_BUILD

pytestmark = pytest.mark.slow
Run = Callable[..., "subprocess.CompletedProcess[str]"]
SMALL = (
    *FAST_BUILD,
    *("-S", "axes.size=[200kB, 400kB]"),
    *("-S", "measure.rounds=6", "-S", "measure.until=rounds"),
)


def test_its_modes_run_as_requested_and_count_the_same_words(
    benchctl: Run, checkout: Path, tmp_path: Path
) -> None:
    done = benchctl("--json", "run", checkout / "scenarios/word-tally.yaml", *SMALL)
    assert done.returncode == 0, done.stderr
    record = tmp_path / json.loads(done.stdout)["record"]
    with (record / "runs.csv").open(encoding="utf-8", newline="") as file:
        runs = [
            row
            for row in csv.DictReader(file)
            if row["kind"] == "timed" and row["warmup"] == "false"
        ]
    assert {row["status"] for row in runs} == {"ok"}
    for size in ("200kB", "400kB"):
        assert len({row["output_sha256"] for row in runs if row["input"].endswith(size)}) == 1
    assert all(row["effective_io"] == row["axis_io"] for row in runs)
    # Which modes there are is up to the machine: what it cannot do is a hole with its reason.
    plan = json.loads((record / "plan.json").read_text(encoding="utf-8"))
    measured = {row["axis_io"] for row in runs}
    assert {"read", "slurp", "mmap"} <= measured
    holes = {dict(hole["values"])["io"]: hole["reason"]["code"] for hole in plan["holes"]}
    for mode in ("uring", "monoio-slurp"):
        assert mode in measured or holes[mode] == "unavailable", done.stderr
    page = (record / "report.md").read_text(encoding="utf-8")
    for label in ("Stream", "Parallel Stream", "Parallel In-Memory", "Parallel MMAP"):
        assert label in page
