"""What all of these tests stand on."""

from __future__ import annotations

import signal

import pytest


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """A shell starts what it puts into the background with SIGINT ignored, and every child would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
