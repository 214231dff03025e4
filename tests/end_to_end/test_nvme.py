"""Seed document 002, small: its strategies in Rust and Python, their bounds and fio write the file that they should."""

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.conftest import FAST_BUILD

pytestmark = pytest.mark.slow
Run = Callable[..., "subprocess.CompletedProcess[str]"]
# Eight writers each have a block to write even if the probe takes its largest, 4 MiB.
SMALL = (
    *FAST_BUILD,
    "-S",
    "fixed.size=32MiB",
    "-S",
    "fixed.direct=try",
    "-S",
    "fixed.probe-seconds=1",
    "-S",
    "measure.rounds=2",
    "-S",
    "measure.until=rounds",
)
BOUNDS = {"generate-only", "write-only", "fio"}
CANDIDATES = {
    "streaming",
    "threads",
    "late-submit",
    "pregenerated-uring",
    "single-buffer",
    "python-threads",
    "python-loop",
}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_its_strategies_run_as_requested_with_their_bounds(
    benchctl: Run, checkout: Path, tmp_path: Path
) -> None:
    done = benchctl("--json", "run", checkout / "scenarios/nvme.yaml", *SMALL)
    assert done.returncode == 0, done.stderr
    record = tmp_path / json.loads(done.stdout)["record"]
    runs = [
        row
        for row in rows(record / "runs.csv")
        if row["kind"] == "timed" and row["warmup"] == "false"
    ]
    assert {row["status"] for row in runs} == {"ok"}

    # Strategies that cannot run here are holes with a reason; those in Python can always run.
    plan = json.loads((record / "plan.json").read_text(encoding="utf-8"))
    missing = [hole for hole in plan["holes"] if hole["reason"]["code"] == "unavailable"]
    unavailable = {dict(hole["values"])["strategy"] for hole in missing}
    measured = {row["axis_strategy"] for row in runs}
    assert measured | unavailable == BOUNDS | CANDIDATES
    assert measured & unavailable == set()
    assert {"python-threads", "python-loop", "threads", "single-buffer"} <= measured
    assert all(row["effective_strategy"] == row["axis_strategy"] for row in runs)

    # The loops have both kinds of pages. fio does not report its own.
    pages = {(row["axis_strategy"], row["effective_pages"]) for row in runs}
    assert all(row["effective_pages"] in ("", row["axis_pages"]) for row in runs)
    for loop in ("threads", "python-loop"):
        assert {(loop, "huge"), (loop, "small")} <= pages

    threads = {
        (row["axis_strategy"], row["axis_queue"]): int(row["threads"])
        for row in runs
        if row["threads"]
    }
    assert threads["threads", "eight-threads"] == 8
    assert threads["threads", "one-block"] == 1
    assert threads["single-buffer", "one-block"] == 1
    # One thread fills; the scheduler decides how many of the eight writers receive a block.
    assert threads["python-threads", "eight-threads"] > 2

    # All candidates write the same bytes. The bounds do different work and are not compared.
    answers = {row["axis_strategy"]: row["output_sha256"] for row in runs}
    same = {answers[name] for name in CANDIDATES & measured}
    assert len(same) == 1
    # A probe may choose a pool as large as this small file: then write-only has the same output.
    assert same.isdisjoint(answers[name] for name in BOUNDS & measured - {"write-only"})
    roles = {
        row["axis_strategy"]: row["role"]
        for row in rows(record / "cells.csv")
        if row["role"] != "control"
    }
    assert {name for name, role in roles.items() if role == "bound"} == BOUNDS & measured
    compared = {row["variant"] for row in rows(record / "comparisons.csv")}
    strategies = {row["axis_strategy"] for row in runs if row["variant"] in compared}
    assert (CANDIDATES & measured) - {"streaming"} <= strategies
    compared_rates = {row["axis_rate"] for row in runs if row["variant"] in compared}
    assert compared_rates == {"full", "slow"}
    assert not strategies & BOUNDS

    # Every file was read back outside timing, or the run would have failed; none is left.
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
    derived = {row["name"]: row["value"] for row in rows(record / "derived.csv")}
    for name in (
        "limit",
        "no_overlap",
        "streaming_rate_over_no_overlap",
        "streaming_share_of_limit",
        "single_buffer_share_of_limit",
        "python_threads_share_of_limit",
        "python_loop_share_of_limit",
        "native_loop_share_of_limit",
        "start_of_python",
        "python_between_its_calls",
        "native_code_between_its_calls",
        "streaming_rate_over_no_overlap_with_slow_generator",
        "streaming_share_of_limit_with_slow_generator",
        "generation_alone",
        "generation_while_writing",
    ):
        assert float(derived[name]) > 0, name

    tried = json.loads((record / "tuning.json").read_text(encoding="utf-8"))
    assert tried["rows"]
    page = (record / "appendix.md").read_text(encoding="utf-8")
    assert "What bounds the work" in page
    assert tried["basis"] in page.replace("\\", "")
