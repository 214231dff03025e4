"""The documents that `plan` and `validate` print with ``--json``. `benchctl schema NAME` prints their schemas.

A new field does not change `schema_version`. A field that is removed, or has another meaning, does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

DESCRIBED: Final = {"use_attribute_docstrings": True}
"""Setting of pydantic: a field of the schema has the docstring below it as its description."""
SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class ValidatedScenario:
    """A scenario that `validate` checked."""

    __pydantic_config__: ClassVar = DESCRIBED

    file: str
    ok: bool
    cells: int | None = None
    """Number of configurations; null with errors."""
    notes: tuple[str, ...] = ()
    scenario_sha256: str | None = None
    """Digest for `--expect-scenario`; null with errors."""
    problems: tuple[Mapping[str, Any], ...] = ()
    """Errors with code, message, file, place and fix."""


@dataclass(frozen=True, slots=True)
class ValidateDocument:
    """The result of `validate`."""

    __pydantic_config__: ClassVar = DESCRIBED

    schema_version: Literal[1]
    scenarios: tuple[ValidatedScenario, ...]


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A configuration."""

    id: str
    label: str
    role: str


@dataclass(frozen=True, slots=True)
class PlannedHole:
    """A combination that is not measured."""

    values: Mapping[str, str]
    reason: str
    rule: str | None


@dataclass(frozen=True, slots=True)
class PlannedBuild:
    """A build, and the number of variants that share it."""

    id: str
    variants: int
    cached: bool


@dataclass(frozen=True, slots=True)
class SessionCount:
    """The smallest and the largest number of sessions."""

    min: int
    max: int


@dataclass(frozen=True, kw_only=True)
class ScenarioPlan:
    """The plan of one scenario. Times are in seconds."""

    __pydantic_config__: ClassVar = DESCRIBED

    scenario: str
    scenario_sha256: str
    """Digest for `--expect-scenario`."""
    variants: tuple[str, ...]
    inputs: tuple[str, ...]
    cells: tuple[PlannedCell, ...]
    holes: tuple[PlannedHole, ...]
    builds: tuple[PlannedBuild, ...]
    rounds: int | None
    """Largest number of rounds per input; null if it is not known before the warm-up."""
    sessions: SessionCount
    looks: tuple[int, ...] | None
    """Rounds after which an interim analysis is done."""
    rounds_needed: int
    comparisons: int
    blocks: int | None
    """Number of hyperfine calls."""
    run_s: float
    """Maximum duration of all rounds."""
    basis: Mapping[str, int]
    resolution: Mapping[str, float]
    """Smallest detectable difference by metric, as a fraction."""
    resolution_record: str | None
    disk_needed_bytes: int
    disk_free_bytes: int


@dataclass(frozen=True, kw_only=True)
class PlanDocument(ScenarioPlan):
    """The result of `plan` for one scenario."""

    __pydantic_config__: ClassVar = DESCRIBED

    schema_version: Literal[1] = 1


@dataclass(frozen=True, kw_only=True)
class PlannedMember(ScenarioPlan):
    """A scenario of a suite."""

    __pydantic_config__: ClassVar = DESCRIBED

    file: str
    budget_s: float
    least_s: float | None
    """Duration of the fewest rounds with a verdict; null if it is not known."""
    level: float | None
    """Its share of the error rate; null if it is skipped."""
    skipped: str | None
    """Why it is skipped."""


@dataclass(frozen=True, kw_only=True)
class SuitePlanDocument:
    """The result of `plan` for several scenarios."""

    __pydantic_config__: ClassVar = DESCRIBED

    schema_version: Literal[1] = 1
    budget_s: float | None
    run_s: float
    level: float
    comparisons: int
    scenarios: tuple[PlannedMember, ...]
