"""Fixtures of the integration tests."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench_framework.execution.machine.host import cache_root
from tests.integration.fleet_machines import Machine, end, machine

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


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Machine]]:
    machines: list[Machine] = []

    def start(name: str, *given: Any) -> Machine:
        machines.append(machine(tmp_path / name, *given))
        return machines[-1]

    yield start
    end(machines)
