"""The kinds of lines in ``journal.jsonl``, which lists events in order of occurrence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from bench_framework.masking import masked
from bench_framework.model.plan.looks import RoundLimit
from bench_framework.model.record.functions import FunctionCounts
from bench_framework.model.record.run import (
    Block,
    Build,
    Event,
    Host,
    Look,
    Observation,
    PreparedInput,
)
from bench_framework.model.result.race import DropReason

DropState = Literal["failed", "other-output"] | DropReason
"""Reason for dropping a cell."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line, which identifies the record and its plan."""

    schema_version: int
    record_id: str
    scenario: str
    scenario_sha256: str
    plan_sha256: str
    started_at: str
    benchctl: str
    kind: Literal["header"] = "header"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Builds and inputs are ready, and the measurement starts or continues."""

    at: str
    host: Host
    builds: tuple[Build, ...]
    inputs: tuple[PreparedInput, ...]
    kind: Literal["prepared"] = "prepared"


@dataclass(frozen=True, slots=True)
class Repeats:
    """The number of runs per block for each cell of an input, fixed after the warm-up."""

    input_id: str
    runs: Mapping[str, int]
    """Number of runs per block, by cell id."""
    kind: Literal["repeats"] = "repeats"


@dataclass(frozen=True, slots=True)
class Limit(RoundLimit):
    """The limit of rounds of a plan without one, fixed after the warm-up from the budget."""

    kind: Literal["limit"] = "limit"


@dataclass(frozen=True, slots=True)
class Measured:
    """A block was measured."""

    block: Block
    kind: Literal["block"] = "block"


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """A round is complete: the blocks of this input since the previous such line are valid."""

    input_id: str
    round: int
    warmup: bool
    at: str
    elapsed_s: float
    """Measuring time of the record so far in seconds, without interruptions."""
    kind: Literal["round-end"] = "round-end"


@dataclass(frozen=True, slots=True)
class Changed:
    """An input or its programs changed, which ends its measurement. The blocks of its open round are not valid."""

    input_id: str
    round: int
    """The last complete round."""
    kind: Literal["changed"] = "changed"


@dataclass(frozen=True, slots=True)
class Looked:
    """An interim analysis was made."""

    look: Look
    kind: Literal["look"] = "look"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A cell was dropped and is not measured from here on."""

    cell_id: str
    input_id: str
    round: int
    warmup: bool
    state: DropState
    kind: Literal["dropped"] = "dropped"

    @property
    def left(self) -> bool:
        """True if the cell could be measured and left before its input stopped."""
        return self.state in get_args(DropReason)


@dataclass(frozen=True, slots=True)
class Noted:
    """A note, warning or error was reported."""

    event: Event
    kind: Literal["event"] = "event"


@dataclass(frozen=True, slots=True)
class Counted:
    """A run outside timing was counted."""

    observation: Observation
    kind: Literal["counted"] = "counted"


@dataclass(frozen=True, slots=True)
class FunctionsCounted:
    """The functions of a run outside timing were counted. The line precedes that of the run."""

    counts: FunctionCounts
    kind: Literal["functions"] = "functions"


@dataclass(frozen=True, slots=True)
class End:
    """The last line of a completed measurement."""

    at: str
    elapsed_s: float
    kind: Literal["end"] = "end"


def without_secrets(line: Line) -> Line:
    """Return a line whose texts of other programs do not contain secrets of the scenario."""
    match line:
        case Noted():
            event, pairs = line.event, line.event.details
            details = tuple((name, masked(text)) for name, text in pairs)
            return Noted(replace(event, message=masked(event.message), details=details))
        case Measured() if line.block.message:
            return Measured(replace(line.block, message=masked(line.block.message)))
        case Prepared():
            builds = (replace(b, message=b.message and masked(b.message)) for b in line.builds)
            return replace(line, builds=tuple(builds))
    return line


Line = (
    Header
    | Prepared
    | Repeats
    | Limit
    | Measured
    | RoundEnd
    | Changed
    | Looked
    | Dropped
    | Noted
    | Counted
    | FunctionsCounted
    | End
)
