"""The main job, with the real cargo, the real hyperfine and the real workers."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SMALL = ("-k", "size=1MiB io!=slurp", "-S", "measure.rounds={min: 6, max: 6}", "-S", "measure.until=rounds")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_scenario_becomes_a_report_and_the_second_run_builds_nothing(
    benchctl: Run, checkout: Path, tmp_path: Path
) -> None:
    first = benchctl("--json", "run", checkout / "scenarios/quickstart.yaml", *SMALL)
    assert first.returncode == 0, first.stderr
    record = tmp_path / json.loads(first.stdout)["record"]

    runs = rows(record / "runs.csv")
    counted = [row for row in runs if row["warmup"] == "false"]
    assert len({row["cell_id"] for row in counted}) == 9  # 2 io × 2 runtimes × 2 allocators, and the control
    assert {row["status"] for row in counted} == {"ok"}
    assert all(float(row["wall_s"]) > 0 and int(row["peak_rss_bytes"]) > 0 for row in counted)
    assert len({row["output_sha256"] for row in counted}) == 1
    mapped = [row for row in counted if row["axis_io"] == "mmap"]
    assert {row["effective_io"] for row in mapped} == {"mmap"}
    builds = rows(record / "builds.csv")
    assert len({row["binary_sha256"] for row in builds}) == 2
    for page in ("report.html", "report.md"):
        assert "quickstart" in (record / page).read_text(encoding="utf-8")

    second = benchctl("--json", "run", checkout / "scenarios/quickstart.yaml", *SMALL, "--fresh")
    assert second.returncode == 0, second.stderr
    again = rows(tmp_path / json.loads(second.stdout)["record"] / "builds.csv")
    assert [row["binary_sha256"] for row in again] == [row["binary_sha256"] for row in builds]
    assert {row["build_s"] for row in again} == {""}


def test_a_report_rendered_again_is_the_same_bytes(benchctl: Run, checkout: Path, tmp_path: Path) -> None:
    done = benchctl("--json", "run", checkout / "scenarios/quickstart.yaml", *SMALL)
    record = tmp_path / json.loads(done.stdout)["record"]
    before = {page: (record / page).read_bytes() for page in ("report.html", "report.md")}
    assert benchctl("report", record).returncode == 0
    assert {page: (record / page).read_bytes() for page in before} == before


def test_a_changed_digit_is_found(benchctl: Run, checkout: Path, tmp_path: Path) -> None:
    done = benchctl("--json", "run", checkout / "scenarios/quickstart.yaml", *SMALL)
    record = tmp_path / json.loads(done.stdout)["record"]
    untouched = benchctl("verify", record)
    assert untouched.returncode == 0, untouched.stdout

    for name in ("runs.csv", "report.html", "claims.json"):
        file = record / name
        before = file.read_text(encoding="utf-8")
        at = before.index("0.0")
        file.write_text(before[:at] + "1.0" + before[at + 3 :], encoding="utf-8")
        found = benchctl("verify", record)
        assert found.returncode == 1, found.stderr
        assert f"{name}: changed" in found.stdout
        file.write_text(before, encoding="utf-8")
