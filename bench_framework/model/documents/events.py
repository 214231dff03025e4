"""The lines that ``--events FILE`` writes, one JSON object each. `benchctl schema events` prints their schema.

A new kind of event, or a new field, does not change `schema_version`.
"""

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.documents.comparison import ComparisonDocument
from bench_framework.model.reasons import Reason


@dataclass(frozen=True, kw_only=True)
class EventLine:
    """An event, with its time."""

    at: str
    """Time, UTC, ISO 8601."""


@dataclass(frozen=True, kw_only=True)
class PlanEvent(EventLine):
    """A measurement begins. Nothing is built yet. A gate has a second one for possible regressions."""

    event: Literal["plan"] = "plan"
    scenario: str
    configurations: int


@dataclass(frozen=True, kw_only=True)
class BuildEvent(EventLine):
    """A build ended."""

    event: Literal["build"] = "build"
    label: str
    index: int
    total: int
    ok: bool
    seconds: float | None
    """Null if it was not built again."""


@dataclass(frozen=True, kw_only=True)
class InputEvent(EventLine):
    """An input is on disk."""

    event: Literal["input"] = "input"
    input: str
    reused: bool


@dataclass(frozen=True, kw_only=True)
class LimitEvent(EventLine):
    """The warm-up is over, and the limit of rounds per input is known."""

    event: Literal["limit"] = "limit"
    rounds: int


@dataclass(frozen=True, kw_only=True)
class RoundEvent(EventLine):
    """A round of an input is on disk."""

    event: Literal["round"] = "round"
    input: str
    round: int
    """From 1, separately for warm-up rounds."""
    warmup: bool
    done: int
    """Finished rounds of all inputs with their warm-up."""
    total: int
    """Largest number of them."""
    left_s: float | None
    """Maximum remaining time in seconds."""


@dataclass(frozen=True, kw_only=True)
class VerdictsEvent(EventLine):
    """An interim analysis of an input."""

    event: Literal["verdicts"] = "verdicts"
    input: str
    comparisons: tuple[ComparisonDocument, ...]
    """They can change with further rounds."""


@dataclass(frozen=True, kw_only=True)
class StopEvent(EventLine):
    """An input is measured to its end."""

    event: Literal["stop"] = "stop"
    input: str
    round: int
    reason: Reason | None


@dataclass(frozen=True, kw_only=True)
class DropEvent(EventLine):
    """A configuration is not measured any further."""

    event: Literal["drop"] = "drop"
    variant: str
    input: str
    round: int
    reason: Reason
    raced: bool
    """True if it lost a race; false if it failed."""


@dataclass(frozen=True, kw_only=True)
class WarningEvent(EventLine):
    """A warning or an error that is part of the record."""

    event: Literal["warning"] = "warning"
    code: str
    severity: str
    message: str


@dataclass(frozen=True, kw_only=True)
class MessageEvent(EventLine):
    """A sentence for the user, or what is waited for."""

    event: Literal["message"] = "message"
    text: str


AnyEvent = (
    PlanEvent
    | BuildEvent
    | InputEvent
    | LimitEvent
    | RoundEvent
    | VerdictsEvent
    | StopEvent
    | DropEvent
    | WarningEvent
    | MessageEvent
)
