"""An installed wheel needs no checkout: it carries templates, scenarios and the sources of the workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT], check=True
    )
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_carries_what_a_run_needs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in (
        "bench_framework/_assets/scenarios/quickstart.yaml",
        "bench_framework/_assets/templates/report.html.j2",
        "bench_framework/_assets/native/Cargo.lock",
        "bench_framework/_assets/native/crates/tally/Cargo.toml",
        "bench_framework/_assets/docs/reference/scenario.schema.json",
        "bench_framework/execution/launcher.py",
    ):
        assert needed in names
    assert not [
        name for name in names if "/target/" in name or name.startswith("tests/") or "__pycache__" in name
    ]


def test_installed_and_used_from_an_empty_directory(wheel: Path, tmp_path: Path) -> None:
    environment, empty = tmp_path / "environment", tmp_path / "empty"
    empty.mkdir()
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    subprocess.run([environment / "bin/pip", "install", "--quiet", wheel], check=True)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}

    done = subprocess.run(
        [environment / "bin/benchctl", "--json", "run", "quickstart", "-k", "size=1MiB", "--quick"],
        cwd=empty,
        env=clean,
        text=True,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    record = empty / json.loads(done.stdout)["record"]
    assert (record / "report.html").stat().st_size > 10_000
    assert len((record / "runs.csv").read_text().splitlines()) > 3 * 12
