"""The lines that ``--events FILE`` writes, one JSON object each. `benchctl schema events` prints their schema.

A new kind of event, or a new field, does not change `schema_version`.
"""

from typing import Any, Final, Union, dataclass_transform

from bench_framework.model.documents.comparison import ComparisonDocument
from bench_framework.model.fixed_texts import make_frozen
from bench_framework.model.reasons import Reason


@dataclass_transform(frozen_default=True, kw_only_default=True)
class _Line:
    def __init_subclass__(cls, event: str = "") -> None:
        make_frozen(cls, event=event)


class EventLine(_Line):
    """An event, with its time. Each kind is a subclass."""

    at: str
    """Time, UTC, ISO 8601."""


class PlanEvent(EventLine, event="plan"):
    """A measurement begins. Nothing is built yet. A gate has a second one for possible regressions."""

    scenario: str
    configurations: int


class BuildEvent(EventLine, event="build"):
    """A build ended."""

    label: str
    index: int
    total: int
    ok: bool
    seconds: float | None
    """Null if it was not built again."""


class InputEvent(EventLine, event="input"):
    """An input is on disk."""

    input: str
    reused: bool


class LimitEvent(EventLine, event="limit"):
    """The warm-up is over, and the limit of rounds per input is known."""

    rounds: int


class RoundEvent(EventLine, event="round"):
    """A round of an input is on disk."""

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


class VerdictsEvent(EventLine, event="verdicts"):
    """An interim analysis of an input."""

    input: str
    comparisons: tuple[ComparisonDocument, ...]
    """They can change with further rounds."""


class StopEvent(EventLine, event="stop"):
    """An input is measured to its end."""

    input: str
    round: int
    reason: Reason | None


class DropEvent(EventLine, event="drop"):
    """A configuration is not measured any further."""

    variant: str
    input: str
    round: int
    reason: Reason
    raced: bool
    """True if it lost a race; false if it failed."""


class WarningEvent(EventLine, event="warning"):
    """A warning or an error that is part of the record."""

    code: str
    severity: str
    message: str


class MessageEvent(EventLine, event="message"):
    """A sentence for the user, or what is waited for."""

    text: str


AnyEvent: Final[Any] = Union[tuple(EventLine.__subclasses__())]  # noqa: UP007 -- as many as there are
