"""The version of all documents of ``--json``, and those of `plan` and `validate`.

A document is a dataclass, printed by `Console.emit_json`. `benchctl schema NAME` prints its schema. A new
field does not change `schema_version`. A field that is removed, or has another meaning, does.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from bench_framework.model.reasons import Reason

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
    """File of the scenario."""
    ok: bool
    """True without errors."""
    cells: int | None = None
    """Number of configurations; null with errors."""
    notes: tuple[str, ...] = ()
    """Remarks on the scenario."""
    scenario_sha256: str | None = None
    """Digest for `--expect-scenario`; null with errors."""
    problems: tuple[Mapping[str, Any], ...] = ()
    """Errors with code, message, file, place and fix."""


@dataclass(frozen=True, slots=True)
class ValidateDocument:
    """The result of `validate`."""

    scenarios: tuple[ValidatedScenario, ...]
    """The scenarios in the order of the arguments."""


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A configuration."""

    id: str
    """Id of the configuration, as in `cells.csv`."""
    label: str
    """Label of the configuration."""
    role: str
    """Its role, such as `baseline`, `candidate` or `control`."""


@dataclass(frozen=True, slots=True)
class PlannedHole:
    """A combination that is not measured."""

    values: Mapping[str, str]
    """Axis values of the combination."""
    reason: Reason
    """Reason for it."""
    rule: str | None
    """Place of the rule in the scenario; null without one."""


@dataclass(frozen=True, slots=True)
class PlannedBuild:
    """A build, and the number of variants that share it."""

    id: str
    """Id of the build."""
    variants: int
    """Number of variants that share it."""
    cached: bool
    """True if it need not be built again."""


@dataclass(frozen=True, slots=True)
class SessionCount:
    """The smallest and the largest number of sessions."""

    min: int
    """Smallest number."""
    max: int
    """Largest number."""


@dataclass(frozen=True, kw_only=True)
class ScenarioPlan:
    """The plan of one scenario. Times are in seconds."""

    scenario: str
    """Name of the scenario."""
    scenario_sha256: str
    """Digest for `--expect-scenario`."""
    variants: tuple[str, ...]
    """Labels of the variants."""
    inputs: tuple[str, ...]
    """Labels of the inputs."""
    cells: tuple[PlannedCell, ...]
    """The configurations."""
    holes: tuple[PlannedHole, ...]
    """Combinations that are not measured."""
    builds: tuple[PlannedBuild, ...]
    """The builds."""
    rounds: int | None
    """Largest number of rounds per input; null if it is not known before the warm-up."""
    sessions: SessionCount
    """Number of sessions."""
    looks: tuple[int, ...] | None
    """Rounds after which an interim analysis is done."""
    rounds_needed: int
    """Fewest rounds with which a verdict is possible."""
    comparisons: int
    """Number of comparisons that share the level."""
    blocks: int | None
    """Number of hyperfine calls."""
    run_s: float
    """Maximum duration of all rounds."""
    basis: Mapping[str, int]
    """Number of configurations by the source of their estimated time, in words."""
    resolution: Mapping[str, float]
    """Smallest detectable difference by metric, as a fraction."""
    resolution_record: str | None
    """Id of the record whose noise `resolution` uses; null without one."""
    disk_needed_bytes: int
    """Size of the inputs to write."""
    disk_free_bytes: int
    """Free space on the disk of the records."""


@dataclass(frozen=True, kw_only=True)
class PlanDocument(ScenarioPlan):
    """The result of `plan` for one scenario."""


@dataclass(frozen=True, kw_only=True)
class PlannedMember(ScenarioPlan):
    """A scenario of a suite."""

    file: str
    """File of the scenario."""
    budget_s: float
    """Its share of the budget in seconds; without a budget, its maximum duration."""
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
    """Budget of all scenarios in seconds; null without one."""
    run_s: float
    """Maximum duration of all rounds in seconds."""
    level: float
    """Error rate of all scenarios together."""
    comparisons: int
    """Number of comparisons that share the error rate."""
    scenarios: tuple[PlannedMember, ...]
    """Plan of each scenario."""


AnyPlan = PlanDocument | SuitePlanDocument
