"""The version of all documents of ``--json``, and those of `plan` and `validate`.

A document is a dataclass, printed by `Console.emit_json`. `benchctl schema NAME` prints its schema. A new
field does not change `schema_version`. A field that is removed, or has another meaning, does.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

DocumentVersion = Literal[1]
SCHEMA_VERSION: Final[DocumentVersion] = 1
_INFINITE: Final = (math.inf, -math.inf)


def fields_of(item: Any, kind: Any = None) -> dict[str, Any]:
    """Return the fields of a dataclass, or of its base `kind`, without copies: a history can have 100 000 points."""
    return {field.name: getattr(item, field.name) for field in fields(kind or item)}


def plain(value: Any) -> Any:
    """Return a dataclass, a mapping or a path as a value that `json.dumps` can write."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    # JSON has no infinity. Records store the same texts (`Interval`).
    return {
        name: str(part).replace("inf", "Infinity") if part in _INFINITE else part
        for name, part in fields_of(value).items()
    }


@dataclass(frozen=True, slots=True)
class ValidatedScenario:
    """A scenario that `validate` checked."""

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


@dataclass(frozen=True, kw_only=True)
class PlannedMember(ScenarioPlan):
    """A scenario of a suite."""

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

    budget_s: float | None
    run_s: float
    level: float
    comparisons: int
    scenarios: tuple[PlannedMember, ...]


AnyPlan = PlanDocument | SuitePlanDocument
