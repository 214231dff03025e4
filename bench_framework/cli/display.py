"""Progress display: a live region on a terminal, lines elsewhere.

Neither draws between `BlockStarted` and `BlockFinished`, because a terminal that redraws would take
CPU time from the process that is timed.
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
    """Open the display that suits stderr, and close it on exit from the block."""
    display: LiveDisplay | LineDisplay = (
        LiveDisplay(console) if console.live else LineDisplay(console)
    )
    try:
        yield display
    finally:
        display.close()
