"""A wheel needs no checkout: it contains templates, scenarios and the sources of the workers."""

import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_the_wheel_contains_what_a_run_needs(wheel: Path) -> None:
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
        name
        for name in names
        if "/target/" in name or name.startswith("tests/") or "__pycache__" in name
    ]
