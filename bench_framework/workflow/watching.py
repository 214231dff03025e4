"""Who watches a run: what execution tells, and what only the workflow knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.execution.progress import Happening, Progress
    from bench_framework.execution.stop import Stop
    from bench_framework.model.judgement import Comparison
    from bench_framework.model.plan import Plan


class Watcher(Protocol):
    """A display, a log, or nobody. Every method is called in benchctl's only thread and returns at once."""

    def notify(self, happening: Happening) -> None:
        """Something happened in execution."""

    def plan_ready(self, plan: Plan) -> None:
        """The plan is known; nothing was built or run yet."""

    def resumed(self, rounds: Mapping[str, int]) -> None:
        """Whole rounds per input that an interrupted process left."""

    def judged(self, input_id: str, comparisons: tuple[Comparison, ...]) -> None:
        """Interim verdicts of a look."""

    def say(self, text: str) -> None:
        """One sentence for the user."""


class Nobody:
    """Watches nothing: for notebooks and scripts."""

    def notify(self, happening: Happening) -> None:
        """Ignore it."""

    def plan_ready(self, plan: Plan) -> None:
        """Ignore it."""

    def resumed(self, rounds: Mapping[str, int]) -> None:
        """Ignore it."""

    def judged(self, input_id: str, comparisons: tuple[Comparison, ...]) -> None:
        """Ignore it."""

    def say(self, text: str) -> None:
        """Ignore it."""


class Interruptible:
    """Passes on what happens while nothing is measured yet, and ends the work if the user asked for that.

    Not for measuring: there a stop waits for the run in flight.
    """

    def __init__(self, watcher: Progress, stopping: Stop) -> None:
        self._watcher = watcher
        self._stopping = stopping

    def notify(self, happening: Happening) -> None:
        """Pass it on. Raises `Interrupted` if a stop was asked for."""
        self._watcher.notify(happening)
        self._stopping.check()
