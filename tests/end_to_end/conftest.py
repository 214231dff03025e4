"""benchctl as a user starts it: a process of its own, in a folder of its own, with the real tools."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def checkout() -> Path:
    """The root of the repository."""
    return Path(__file__).parents[2]


@pytest.fixture
def benchctl(tmp_path: Path) -> Run:
    """Runs benchctl in an empty folder; words in, CompletedProcess out."""

    def call(*words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bench_framework", *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "100", **env},
            text=True,
            capture_output=True,
            check=False,
            timeout=900,
        )

    return call
