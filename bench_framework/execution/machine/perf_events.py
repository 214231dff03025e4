"""Limits of perf events (perf_event_open(2)), which the kernel has for users without privileges."""

from pathlib import Path
from typing import Final

from bench_framework.foreign import text_of

KERNEL: Final = Path("/proc/sys/kernel")


def paranoid() -> int | None:
    """Return the level of ``perf_event_paranoid``; above 2 an unprivileged user cannot sample."""
    return _number("perf_event_paranoid")


def highest_frequency() -> int | None:
    """Return the largest number of samples per second."""
    return _number("perf_event_max_sample_rate")


def _number(name: str) -> int | None:
    text = text_of(KERNEL / name).strip()
    return int(text) if text.removeprefix("-").isdecimal() else None
