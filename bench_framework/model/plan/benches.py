"""The benchmarks of a plan. Immutable, no I/O."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark of a bench target: its harness, and its id there."""

    target: str
    harness: str
    id: str


@dataclass(frozen=True, slots=True)
class BenchPolicy:
    """The benchmarks of a plan, whose ids are known after the builds.

    Attributes:
        targets: names of the bench targets.
        only: patterns of the ids to measure, such as ``parse/*``; empty for all ids.
        expanded: true if the inputs of the plan are benchmarks.
        calculated: true if the budget of the plan is calculated from the number of ids.
    """

    targets: tuple[str, ...]
    only: tuple[str, ...] = ()
    expanded: bool = False
    calculated: bool = False
