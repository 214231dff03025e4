"""What a person sees while benchctl works: a live region on a terminal, lines elsewhere.

Neither draws between `BlockStarted` and `BlockFinished`: a process is being timed then, and a terminal that
redraws takes a core from it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench_framework.cli.line_display import LineDisplay
from bench_framework.cli.live_display import LiveDisplay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_framework.cli.console import Console
    from bench_framework.execution.progress import Observer


@contextmanager
def display_for(console: Console) -> Iterator[Observer]:
    """The display that suits where stderr goes; closed at the end, whatever happens."""
    display: LiveDisplay | LineDisplay = (
        LiveDisplay(console) if console.live else LineDisplay(console)
    )
    try:
        yield display
    finally:
        display.close()
