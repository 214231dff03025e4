"""The benchmarks of a plan. Immutable, no I/O."""

from dataclasses import dataclass
from typing import Final

AXES: Final = ("benchmark", "target")
"""Names of the axes of benchmarks: their ids, and their bench targets."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark of a bench target: its harness, and its id there."""

    target: str
    harness: str
    id: str


@dataclass(frozen=True, slots=True)
class BenchPolicy:
    """The benchmarks of a plan, whose ids are known after the builds."""

    targets: tuple[str, ...]
    """Names of the bench targets."""
    only: tuple[str, ...] = ()
    """Patterns of the ids to measure, such as ``parse/*``, or ``!parse/*`` for all others; empty for all ids."""
    selection: str = ""
    """Selection of ``-k``, whose conditions about benchmarks apply as soon as their ids are known."""
    expanded: bool = False
    """True if the inputs of the plan are benchmarks."""
    calculated: bool = False
    """True if the budget of the plan is calculated from the number of ids."""
