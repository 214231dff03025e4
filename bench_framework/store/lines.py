# ruff: noqa: TC001, TC003 -- wire resolves these annotations when a journal is read
"""The kinds of lines in ``journal.jsonl``: what happened, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bench_framework.model.observation import Observation
from bench_framework.model.run import Block, Build, Event, Host, Look, PreparedInput

DropState = Literal["failed", "other-output", "raced", "idle"]
"""Why a cell is measured no further; ``raced`` and ``idle`` as `model.race.Why`."""


@dataclass(frozen=True, slots=True)
class Header:
    """First line: whose journal this is."""

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
    """Builds and inputs are there; measuring begins, or goes on after an interruption."""

    at: str
    host: Host
    builds: tuple[Build, ...]
    inputs: tuple[PreparedInput, ...]
    kind: Literal["prepared"] = "prepared"


@dataclass(frozen=True, slots=True)
class Repeats:
    """How many runs each cell of an input has in a block; fixed after its warm-up."""

    input_id: str
    runs: Mapping[str, int]
    """Cell id to K."""
    kind: Literal["repeats"] = "repeats"


@dataclass(frozen=True, slots=True)
class Measured:
    """One block."""

    block: Block
    kind: Literal["block"] = "block"


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """A round is whole: every block of this input since the last such line counts."""

    input_id: str
    round: int
    warmup: bool
    at: str
    elapsed_s: float
    """Measuring time of the record so far, interruptions not counted."""
    kind: Literal["round-end"] = "round-end"


@dataclass(frozen=True, slots=True)
class Looked:
    """The data were looked at."""

    look: Look
    kind: Literal["look"] = "look"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A cell is not measured from here on."""

    cell_id: str
    input_id: str
    round: int
    warmup: bool
    state: DropState
    reason: str
    kind: Literal["dropped"] = "dropped"


@dataclass(frozen=True, slots=True)
class Noted:
    """A warning, an error or a remark."""

    event: Event
    kind: Literal["event"] = "event"


@dataclass(frozen=True, slots=True)
class Counted:
    """Something was counted in a run outside timing."""

    observation: Observation
    kind: Literal["counted"] = "counted"


@dataclass(frozen=True, slots=True)
class End:
    """Last line of a record that was measured to its end."""

    at: str
    elapsed_s: float
    kind: Literal["end"] = "end"


Line = Header | Prepared | Repeats | Measured | RoundEnd | Looked | Dropped | Noted | Counted | End
