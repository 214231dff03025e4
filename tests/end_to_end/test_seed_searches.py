"""Tests of small versions of seed documents 001, 003 and 004."""

import csv
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import FAST_BUILD

pytestmark = pytest.mark.slow
Run = Callable[..., "subprocess.CompletedProcess[str]"]
Row = dict[str, str]
SMALL = (
    *FAST_BUILD,
    *("-S", "input.size=1MiB"),
    *("-S", "measure.rounds=6", "-S", "measure.until=rounds", "-S", "measure.warmup=1"),
)
ONLY = {
    # One allocator in addition to the system allocator: each needs a separate build.
    "runtimes": "parser!=serde-json allocator!=mimalloc target-cpu=default",
    "tokio": "fold=unicode|ascii",
    "smol": "blocking!=2 blocking!=4 blocking!=32 blocking!=128 target-cpu=default",
}
LABELS = {
    "runtimes": {
        "Rayon (original)",
        "Rayon optimised",
        "Tokio task per file",
        "Tokio optimised",
    },
    "tokio": {"Tokio (original)", "Tokio optimised native", "Rayon optimised native"},
    "smol": {"OptimizedSmol", "Smol"},
}
HOLES = {"excluded", "no-step", "several-axes", "unavailable", "unselected"}
OBSERVED = ("engine", "parser", "fold", "reading", "prefilter", "channel")


@pytest.mark.release
@pytest.mark.parametrize("name", ["runtimes", "tokio", "smol"])
def test_all_variants_run_in_the_requested_mode_with_equal_output(
    benchctl: Run, checkout: Path, tmp_path: Path, name: str
) -> None:
    done = benchctl("--json", "run", checkout / f"scenarios/{name}.yaml", *SMALL, "-k", ONLY[name])
    assert done.returncode == 0, done.stderr
    record = tmp_path / json.loads(done.stdout)["record"]
    with (record / "runs.csv").open(encoding="utf-8", newline="") as file:
        runs = [
            row
            for row in csv.DictReader(file)
            if row["kind"] == "timed" and row["warmup"] == "false"
        ]
    plan = json.loads((record / "plan.json").read_text(encoding="utf-8"))

    assert {row["status"] for row in runs} == {"ok"}
    assert {row["cell_id"] for row in runs} == {cell["id"] for cell in plan["cells"]}
    assert len({row["output_sha256"] for row in runs}) == 1
    assert all(float(row["w_files"]) > 1 and float(row["w_lines_parsed"]) > 0 for row in runs)
    for cell in plan["cells"]:
        for row in runs:
            if row["cell_id"] == cell["id"]:
                agrees(row, cell)

    page = (record / "report.md").read_text(encoding="utf-8")
    appendix = (record / "appendix.md").read_text(encoding="utf-8")
    assert {variant["label"] for variant in plan["variants"]} >= LABELS[name]
    assert all(label in page + appendix for label in LABELS[name])
    assert plan["experiments"]
    for experiment in plan["experiments"]:
        pattern = rf"^\| {re.escape(experiment['name'])}<br>.*[▼≡·▲]"
        assert re.search(pattern, page, re.MULTILINE), experiment
    # References are listed in one table with the baseline.
    assert ("\n## Comparison with each reference\n" in appendix) == bool(plan["further_baselines"])
    if plan["derived"]:
        with (record / "derived.csv").open(encoding="utf-8", newline="") as file:
            derived = {row["name"]: row["value"] for row in csv.DictReader(file)}
        assert all(float(derived[row["name"]]) > 0 for row in plan["derived"])
    # A step of the ladder changes one thing; mimalloc is an experiment and no step.
    assert not any(
        {"sonic-rs", "mimalloc"} <= {v for _, v in variant["values"]}
        for variant in plan["variants"]
        if name == "tokio"
    )
    assert plan["holes"]
    assert {hole["reason"]["code"] for hole in plan["holes"]} <= HOLES


def agrees(row: Row, cell: dict[str, Any]) -> None:
    """Check that the actual modes of a run are those of its command and its build."""
    words = [part[0] for part in cell["command"] if isinstance(part[0], str)]
    options = dict(zip(words[1::2], words[2::2], strict=False))
    for axis in OBSERVED:
        option, actual = options.get(f"--{axis}"), row[f"effective_{axis}"]
        # Only asynchronous engines have a channel.
        if option is not None and (axis != "channel" or actual):
            assert actual == option, (row["variant"], axis)
    built = set(row["features"].split()) & {"jemalloc", "mimalloc"}
    assert row["effective_allocator"] == (built.pop() if built else "system")

    figure = {
        key: int(float(value)) for key, value in row.items() if key.startswith("w_") and value
    }
    workers, blocking = options.get("--tokio-workers", "default"), dict(cell["env"])
    if workers != "default" and options["--engine"].startswith("tokio-"):
        assert figure["w_threads_executor"] == int(workers)
    if options.get("--whole-file") == "10MiB":
        assert figure["w_files_whole"] == figure["w_files"]
    if "BLOCKING_MAX_THREADS" in blocking:
        assert figure["w_threads_blocking"] <= int(blocking["BLOCKING_MAX_THREADS"])
        assert int(row["threads"]) <= int(blocking["BLOCKING_MAX_THREADS"])
    limit = {"half-cpu": 0.5, "cpu": 1, "two-cpu": 2}.get(options.get("--concurrency", ""))
    if limit is not None and options["--engine"].startswith(("tokio-", "smol-")):
        assert figure["w_in_flight_peak"] <= max(1, int(limit * len(os.sched_getaffinity(0))))
