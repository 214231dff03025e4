"""Who watches a run: what execution tells, and what only the workflow knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.execution.progress import Happening
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
