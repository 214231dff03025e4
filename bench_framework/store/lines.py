"""The kinds of lines in ``journal.jsonl``, which lists events in order of occurrence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, dataclass_transform, get_args

from bench_framework.masking import masked
from bench_framework.model.fixed_texts import make_frozen
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


@dataclass_transform(frozen_default=True)
class Line:
    """A line of a journal. Each kind is a subclass, and a frozen dataclass."""

    kind: str

    def __init_subclass__(cls, kind: str) -> None:
        """Make the subclass a dataclass."""
        make_frozen(cls, last=True, kind=kind)


class Header(Line, kind="header"):
    """The first line, which identifies the record and its plan."""

    schema_version: int
    record_id: str
    scenario: str
    scenario_sha256: str
    plan_sha256: str
    started_at: str
    benchctl: str


class Prepared(Line, kind="prepared"):
    """Builds and inputs are ready, and the measurement starts or continues."""

    at: str
    host: Host
    builds: tuple[Build, ...]
    inputs: tuple[PreparedInput, ...]


class Repeats(Line, kind="repeats"):
    """The number of runs per block for each cell of an input, fixed after the warm-up."""

    input_id: str
    runs: Mapping[str, int]
    """Number of runs per block, by cell id."""


class Limit(RoundLimit, Line, kind="limit"):
    """The limit of rounds of a plan without one, fixed after the warm-up from the budget."""


class Measured(Line, kind="block"):
    """A block was measured."""

    block: Block


class RoundEnd(Line, kind="round-end"):
    """A round is complete: the blocks of this input since the previous such line are valid."""

    input_id: str
    round: int
    warmup: bool
    at: str
    elapsed_s: float
    """Measuring time of the record so far in seconds, without interruptions."""


class Changed(Line, kind="changed"):
    """An input or its programs changed, which ends its measurement. The blocks of its open round are not valid."""

    input_id: str
    round: int
    """The last complete round."""


class Looked(Line, kind="look"):
    """An interim analysis was made."""

    look: Look


class Dropped(Line, kind="dropped"):
    """A cell was dropped and is not measured from here on."""

    cell_id: str
    input_id: str
    round: int
    warmup: bool
    state: DropState

    @property
    def left(self) -> bool:
        """True if the cell could be measured and left before its input stopped."""
        return self.state in get_args(DropReason)


class Noted(Line, kind="event"):
    """A note, warning or error was reported."""

    event: Event


class Counted(Line, kind="counted"):
    """A run outside timing was counted."""

    observation: Observation


class FunctionsCounted(Line, kind="functions"):
    """The functions of a run outside timing were counted. The line precedes that of the run."""

    counts: FunctionCounts


class End(Line, kind="end"):
    """The last line of a completed measurement."""

    at: str
    elapsed_s: float


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
