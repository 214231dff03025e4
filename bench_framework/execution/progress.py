"""Progress updates of a run, and the protocol of an observer that receives them.

An observer draws nothing between `BlockStarted` and `BlockFinished`: a program is being timed then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, dataclass_transform

if TYPE_CHECKING:
    from bench_framework.model.plan.looks import RoundLimit
    from bench_framework.model.plan.plan import Plan
    from bench_framework.model.reasons import Reason
    from bench_framework.model.record.run import Block, Build, Event, Look
    from bench_framework.model.result.judgement import Comparison


@dataclass_transform(frozen_default=True)
class Update:
    """A progress update. Each kind is a subclass, and a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        """Make the subclass a dataclass."""
        dataclass(frozen=True)(cls)


class ToolInstall(Update):
    """A tool is missing and is being installed into the cache: downloaded, or built by cargo."""

    tool: str
    version: str
    elapsed_s: float
    built: bool = True


class Waiting(Update):
    """A build or a measurement waits for another benchctl or an idle machine, as `reason` says.

    `limit_s` is the time after which it gives up, in seconds.
    """

    reason: str
    elapsed_s: float
    limit_s: float | None = None


class BuildStep(Update):
    """Progress of cargo: number of crates that are ready, and seconds since the start.

    `place` is the number of the build, such as ``1/3``. `total` is the number of crates, 0 if it is
    not known. `left_s` estimates the remaining time in seconds. `wrapper` is the program that cargo
    calls in place of rustc, such as ``sccache 0.10.0``. `step` is a command of a build without cargo.
    """

    crates: int
    elapsed_s: float
    place: str = ""
    total: int = 0
    left_s: float | None = None
    wrapper: str = ""
    step: str = ""


class BuildFinished(Update):
    """A build succeeded, was unchanged, or failed."""

    build: Build
    label: str
    index: int
    total: int


class DataStarted(Update):
    """Start of the generation of an input; size in bytes, `None` if a command writes it."""

    label: str
    size_bytes: int | None


class DataStep(Update):
    """Bytes of the input written so far."""

    label: str
    done_bytes: int
    size_bytes: int | None


class DataFinished(Update):
    """An input is on disk; `reused` if it existed before."""

    label: str
    reused: bool


class RoundStarted(Update):
    """Start of a round of one input. `round` counts from 1, separately for warm-up rounds."""

    input_id: str
    round: int
    warmup: bool


class LimitKnown(Update):
    """The warm-up is over, and the limit of rounds per input is known."""

    limit: RoundLimit
    round_s: float | None = None
    """Duration of a round of all inputs in seconds, if the budget is too small for the usual limit."""


class BlockStarted(Update):
    """Start of timing. Until `BlockFinished` nothing may be drawn."""


class BlockFinished(Update):
    """Timing has ended and the block is in the journal."""

    block: Block


class RoundFinished(Update):
    """A round is complete and on disk; `elapsed_s` is the measuring time of the record so far."""

    input_id: str
    round: int
    warmup: bool
    elapsed_s: float


class CellDropped(Update):
    """A cell is dropped and not measured any further."""

    cell_id: str
    round: int
    reason: Reason
    raced: bool = False
    """True if it lost a race; False if it failed."""


class LookTaken(Update):
    """An interim analysis of an input was done."""

    look: Look


class Remark(Update):
    """A warning or an error that is now part of the record."""

    event: Event


class Counting(Update):
    """Start of an untimed run: cell `index` (from 1) of `total`, repetition `run` of `runs`.

    `verb` and `what` describe it, such as ``count`` ``kernel counters``.
    """

    what: str
    index: int
    total: int
    run: int = 1
    runs: int = 1
    verb: str = "count"


class PlanReady(Update):
    """The plan is known; nothing has been built or run yet."""

    plan: Plan


class Resumed(Update):
    """A record is continued, with its complete rounds per input and its blocks; both may be empty."""

    rounds: Mapping[str, int]
    blocks: tuple[Block, ...] = ()


class InterimVerdicts(Update):
    """Verdicts of an interim analysis; they can still change."""

    comparisons: tuple[Comparison, ...]


class RunEnded(Update):
    """A run on a host of a fleet has ended: the text names its record, or the reason why it is missing."""

    text: str


class Message(Update):
    """One sentence for the user."""

    text: str


class Observer(Protocol):
    """A display, a log or a test that follows a run."""

    def notify(self, update: Update) -> None:
        """Handle an update. It is called in the only thread of benchctl and must return at once."""


class SilentObserver:
    """An observer that ignores every update: for notebooks and scripts."""

    def notify(self, update: Update) -> None:
        """Ignore the update."""
