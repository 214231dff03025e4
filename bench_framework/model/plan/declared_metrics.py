"""Metrics that a scenario declares, the units of their numbers, and how instructions are counted."""

from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.metrics import MetricDirection
from bench_framework.model.plan.written import CountingTool
from bench_framework.units import DURATION_UNITS, SIZE_UNITS, Unit

_BYTES: Final = {unit: float(SIZE_UNITS[unit]) for unit in ("kB", "MB", "GB", "KiB", "MiB", "GiB")}
UNITS: Final[dict[str, tuple[Unit, float]]] = {
    **{unit: ("s", DURATION_UNITS[unit]) for unit in ("s", "ms", "us", "µs", "ns")},
    "bytes": ("bytes", 1.0),
    **{unit: ("bytes", scale) for unit, scale in _BYTES.items()},
    "count": ("count", 1.0),
    "ratio": ("ratio", 1.0),
    "%": ("ratio", 0.01),
    "1/s": ("1/s", 1.0),
    "bytes/s": ("bytes/s", 1.0),
    **{f"{unit}/s": ("bytes/s", scale) for unit, scale in _BYTES.items()},
}
"""Printed unit → stored unit and the factor from the printed to the stored value."""


@dataclass(frozen=True, slots=True)
class DeclaredMetric:
    """A declared metric: a number that a program prints or reports, named by a scenario.

    `MetricPart` is its form in a scenario, with the texts of unit and path. The part `instructions` is an
    `InstructionPolicy` instead.
    """

    name: str
    """Identifier of lowercase letters, digits and ``_``."""
    source: Literal["stdout", "answer", "worker", "harness"]
    """Stdout, the file with the answer, the answer line of a worker with the contract, or the harness of a
    benchmark."""
    unit: Unit = "count"
    """Unit of the stored values."""
    scale: float = 1.0
    """Factor from the printed number to `unit`."""
    direction: MetricDirection = "none"
    path: tuple[str | int, ...] = ()
    """Keys and indexes into JSON. It is empty if `regex` is used, or for the worker's metric of the same
    name."""
    regex: str = ""
    """Regular expression with one group, which matches the number."""
    about: str = ""
    """Description in the author's words."""


@dataclass(frozen=True, slots=True)
class InstructionPolicy:
    """How instructions are counted."""

    runs: int = 3
    timeout_s: float = 600.0
    """Time limit of one run, in seconds."""
    tool: CountingTool = "valgrind"
    optional: bool = False
    """True if only the gate uses the counts. The record is then measured even if no tool can count."""
    cache_sim: bool = False
    """Simulate the caches, too."""


COUNTS_OF_GATE: Final = InstructionPolicy(runs=2, optional=True)
"""How instructions are counted if only the gate uses them. Two runs show variation."""
