"""Fixtures that install benchctl from a wheel in a fresh environment, outside the checkout."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bench_framework.execution.machine.host import cache_root

ROOT = Path(__file__).parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
FAST_BUILD = ("-S", 'worker.profile={opt-level: 1, lto: "off", codegen-units: 16}')
"""Options for builds of the bundled workers that share their dependencies; which code runs does not depend on it."""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT],
        check=True,
    )
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel: Path) -> Path:
    """Install the wheel in a fresh environment and return its ``benchctl``.

    The environment has the same path in every session, so that workers built from the installed sources find the
    compiled dependencies of the session before.
    """
    digest = hashlib.sha256(str(ROOT).encode()).hexdigest()[:16]
    folder = cache_root(os.environ) / "wheel-environments" / digest
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    subprocess.run(
        [folder / "bin" / "pip", "install", "--quiet", "--no-compile", wheel], check=True
    )
    return folder / "bin" / "benchctl"


@pytest.fixture(scope="session")
def checkout() -> Path:
    """Return the root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def benchctl_in(installed: Path) -> Run:
    """Return a function that runs benchctl with a working directory and arguments."""
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "VIRTUAL_ENV"))
    }

    def call(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [installed, *map(str, words)],
            cwd=folder,
            env={**clean, "COLUMNS": "100"},
            text=True,
            capture_output=True,
            check=False,
            timeout=900,
        )

    return call


@pytest.fixture
def benchctl(benchctl_in: Run, tmp_path: Path) -> Run:
    """Return a function that runs benchctl with arguments in an empty folder."""
    return partial(benchctl_in, tmp_path)
