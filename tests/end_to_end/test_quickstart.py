"""The quickstart from an empty folder, with the real cargo, the real hyperfine and the real workers."""

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documents import valid
from tests.end_to_end.conftest import FAST_BUILD

pytestmark = pytest.mark.slow
Run = Callable[..., "subprocess.CompletedProcess[str]"]
PAGES = ("report.html", "appendix.html", "report.md", "appendix.md")
CHANGED = ("runs.csv", "report.html", "claims.json")
SMALL = (
    *FAST_BUILD,
    "-k",
    "size=1MiB",
    "-S",
    "measure.rounds={min: 6, max: 6}",
    "-S",
    "measure.until=rounds",
)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def record(benchctl_in: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    done = benchctl_in(folder, "--json", "run", "quickstart", *SMALL)
    assert done.returncode == 0, done.stderr
    return folder / valid("run", done.stdout)["record"]


def test_every_configuration_is_measured_as_requested_and_reported(record: Path) -> None:
    counted = [
        row
        for row in rows(record / "runs.csv")
        if row["kind"] == "timed" and row["warmup"] == "false"
    ]
    assert (
        len({row["cell_id"] for row in counted}) == 9
    )  # 2 io × 2 runtimes × 2 allocators, and the control
    assert {row["status"] for row in counted} == {"ok"}
    assert all(float(row["wall_s"]) > 0 and int(row["peak_rss_bytes"]) > 0 for row in counted)
    assert len({row["output_sha256"] for row in counted}) == 1
    mapped = [row for row in counted if row["axis_io"] == "mmap"]
    assert {row["effective_io"] for row in mapped} == {"mmap"}
    assert len({row["binary_sha256"] for row in rows(record / "builds.csv")}) == 2
    for page in PAGES:
        assert "quickstart" in (record / page).read_text(encoding="utf-8")


def test_a_second_run_builds_nothing(record: Path, benchctl: Run, tmp_path: Path) -> None:
    done = benchctl("--json", "run", "quickstart", *SMALL, "-S", "measure.rounds={min: 1, max: 1}")
    assert done.returncode == 0, done.stderr
    again = rows(tmp_path / json.loads(done.stdout)["record"] / "builds.csv")
    assert [row["binary_sha256"] for row in again] == [
        row["binary_sha256"] for row in rows(record / "builds.csv")
    ]
    assert {row["build_s"] for row in again} == {""}


def test_a_report_rendered_again_is_the_same_bytes(benchctl: Run, record: Path) -> None:
    before = {page: (record / page).read_bytes() for page in PAGES}
    assert benchctl("report", record).returncode == 0
    assert {page: (record / page).read_bytes() for page in before} == before


def test_a_changed_digit_is_found(benchctl: Run, record: Path) -> None:
    untouched = benchctl("verify", record)
    assert untouched.returncode == 0, untouched.stdout

    before = {name: (record / name).read_text(encoding="utf-8") for name in CHANGED}
    for name, text in before.items():
        (record / name).write_text(text.replace("0.0", "1.0", 1), encoding="utf-8")
    verified = benchctl("verify", record)
    for name, text in before.items():
        (record / name).write_text(text, encoding="utf-8")
    assert verified.returncode == 1, verified.stderr
    for name in CHANGED:
        assert f"{name}: changed" in verified.stdout
