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
    """Name of the scenario."""
    configurations: int
    """Number of configurations."""


class BuildEvent(EventLine, event="build"):
    """A build ended."""

    label: str
    """Label of the variants that share the build."""
    index: int
    """Number of the build, from 1."""
    total: int
    """Number of builds."""
    ok: bool
    """False if it failed."""
    seconds: float | None
    """Null if it was not built again."""


class InputEvent(EventLine, event="input"):
    """An input is on disk."""

    input: str
    """Label of the input."""
    reused: bool
    """True if it was on disk before."""


class LimitEvent(EventLine, event="limit"):
    """The warm-up is over, and the limit of rounds per input is known."""

    rounds: int
    """Largest number of rounds per input."""


class RoundEvent(EventLine, event="round"):
    """A round of an input is on disk."""

    input: str
    """Label of the input."""
    round: int
    """From 1, separately for warm-up rounds."""
    warmup: bool
    """True for a warm-up round."""
    done: int
    """Finished rounds of all inputs with their warm-up."""
    total: int
    """Largest number of them."""
    left_s: float | None
    """Maximum remaining time in seconds."""


class VerdictsEvent(EventLine, event="verdicts"):
    """An interim analysis of an input."""

    input: str
    """Label of the input."""
    comparisons: tuple[ComparisonDocument, ...]
    """They can change with further rounds."""


class StopEvent(EventLine, event="stop"):
    """An input is measured to its end."""

    input: str
    """Label of the input."""
    round: int
    """The last round."""
    reason: Reason | None
    """Reason for the end."""


class DropEvent(EventLine, event="drop"):
    """A configuration is not measured any further."""

    variant: str
    """Label of the variant."""
    input: str
    """Label of the input."""
    round: int
    """Its last round."""
    reason: Reason
    """Reason for dropping it."""
    raced: bool
    """True if it lost a race; false if it failed."""


class WarningEvent(EventLine, event="warning"):
    """A warning or an error that is part of the record."""

    code: str
    """Code of the event (docs/reference/codes.md)."""
    severity: str
    """`note`, `warning` or `error`."""
    message: str
    """The event in words."""


class MessageEvent(EventLine, event="message"):
    """A sentence for the user, or what is waited for."""

    text: str
    """The sentence."""


AnyEvent: Final[Any] = Union[tuple(EventLine.__subclasses__())]  # noqa: UP007 -- as many as there are
