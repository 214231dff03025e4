"""Fixtures of the integration tests."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from bench_framework.execution.machine.host import cache_root

NATIVE = Path(__file__).parents[2] / "native"


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Restore SIGINT, which shells ignore in background processes and all their children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def bundled_workers() -> Path:
    """Return the folder of the bundled workers, built with the features of `nox -s native`."""
    target = os.environ.get("CARGO_TARGET_DIR") or str(cache_root(os.environ) / "dev-target")
    subprocess.run(
        ["cargo", "test", "--quiet", "--no-run", "--locked", "--workspace"],
        cwd=NATIVE,
        env={**os.environ, "CARGO_TARGET_DIR": target, "CARGO_INCREMENTAL": "0"},
        check=True,
    )
    return Path(target) / "debug"
