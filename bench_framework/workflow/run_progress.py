"""Counts of finished and remaining work, from progress updates."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench_framework.execution import progress
from bench_framework.execution.machine.host import seconds
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.looks import limited
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import Reason
from bench_framework.model.record.run import Block

if TYPE_CHECKING:
    from bench_framework.model.result.judgement import Comparison


def count_update(work: Work | None, update: progress.Update) -> Work | None:
    """Return the counts after an update. They begin with a plan, and again with the next one."""
    if isinstance(update, progress.PlanReady):
        return Work(update.plan)
    if work is not None:
        work.take(update)
    return work


@dataclass
class Work:
    """Counts of blocks, times per cell, and the newest verdicts. Times in seconds."""

    plan: Plan
    rounds: dict[str, int] = field(default_factory=dict)
    """Number of finished rounds without warm-up, per input."""
    stopped: set[str] = field(default_factory=set)
    dropped: dict[str, Reason] = field(default_factory=dict)
    """Reason by the id of a dropped cell."""
    raced: set[str] = field(default_factory=set)
    """Cells that were dropped by racing, which is not a problem."""
    values: dict[str, list[float]] = field(default_factory=dict)
    """Time of each measured block by cell."""
    warmed: dict[str, float] = field(default_factory=dict)
    """Time of the newest warm-up block by cell, shown until there is a measured one."""
    verdicts: dict[str, Comparison] = field(default_factory=dict)
    blocks: int = 0
    """Number of blocks that this process finished."""
    measured_s: float = 0.0
    started: float | None = None
    """Time at which this process finished its first round, by `host.seconds`."""
    done_at_start: int = 0
    """Number of finished rounds at that time."""
    paused_s: float = 0.0
    """Time since then that was spent waiting, such as for the next session."""
    waiting_since: float | None = None
    input_id: str | None = None
    round: int = 0
    warmup: bool = True
    warmups_done: int = 0
    problems: int = 0

    def take(self, update: progress.Update) -> None:
        """Count one update."""
        self._take_pause(waits=isinstance(update, progress.Waiting))
        match update:
            case progress.Resumed():
                self.rounds.update(update.rounds)
                for block in update.blocks:
                    self._add(block)
            case progress.LimitKnown():
                self.plan = limited(self.plan, update.limit)
            case progress.RoundStarted():
                self.input_id, self.round = update.input_id, update.round
                self.warmup = update.warmup
            case progress.BlockFinished(block=block):
                self.blocks += 1
                self._add(block)
            case progress.RoundFinished():
                if update.warmup:
                    self.warmups_done += 1
                else:
                    self.rounds[update.input_id] = update.round
                self.measured_s = update.elapsed_s
                if self.started is None:
                    self.started, self.done_at_start = seconds(), self.rounds_done
            case progress.CellDropped():
                self.dropped[update.cell_id] = update.reason
                if update.raced:
                    self.raced.add(update.cell_id)
                else:
                    self.problems += 1
            case progress.InterimVerdicts():
                self.verdicts.update({c.cell_id: c for c in update.comparisons if c.metric == WALL})
            case progress.LookTaken() if update.look.stopped:
                self.stopped.add(update.look.input_id)

    def _take_pause(self, *, waits: bool) -> None:
        if waits:
            self.waiting_since = self.waiting_since or seconds()
        elif self.waiting_since is not None:
            self.paused_s += seconds() - self.waiting_since if self.started is not None else 0.0
            self.waiting_since = None

    def _add(self, block: Block) -> None:
        if block.status == "ok" and block.wall is not None and block.warmup:
            self.warmed[block.cell_id] = block.wall
        elif block.status == "ok" and block.wall is not None:
            self.values.setdefault(block.cell_id, []).append(block.wall)

    def median(self, cell_id: str) -> float | None:
        """Return the median block time of a cell so far, in seconds."""
        values = self.values.get(cell_id)
        return statistics.median(values) if values else self.warmed.get(cell_id)

    def interval(self, cell_id: str) -> tuple[float, float] | None:
        """Return the 95 % CI of the median block time of a cell, in seconds."""
        from bench_framework.compare.medians import LEVEL, median_interval

        return median_interval(sorted(self.values.get(cell_id, ())), LEVEL)

    @property
    def rounds_total(self) -> int:
        """Maximum number of rounds over all inputs, including warm-up."""
        per_input = self.plan.measure.rounds_max + self.plan.measure.warmups_total
        return per_input * len(self.plan.inputs)

    @property
    def rounds_done(self) -> int:
        """Number of finished rounds; rounds that early stopping saved count as finished."""
        rounds = self.rounds | dict.fromkeys(self.stopped, self.plan.measure.rounds_max)
        return sum(rounds.get(item.id, 0) for item in self.plan.inputs) + self.warmups_done

    @property
    def share(self) -> float:
        """Finished share of the rounds, or of the budget if that ends first."""
        limit = self.plan.measure.time_limit_s
        spent = self.measured_s / limit if limit else 0.0
        return min(1.0, max(spent, self.rounds_done / self.rounds_total))

    @property
    def elapsed_s(self) -> float:
        """Time since `started` in seconds, without pauses."""
        now = seconds() if self.waiting_since is None else self.waiting_since
        return 0.0 if self.started is None else now - self.started - self.paused_s

    @property
    def summary(self) -> dict[str, Any]:
        """The progress for the status of a host, see `fleet.hosts.HostStatus`."""
        return {
            "scenario": self.plan.name,
            "done": self.rounds_done if self.started is not None else None,
            "total": None if self.plan.measure.by_budget else self.rounds_total,
            "left_s": self.left_s(self.elapsed_s),
        }

    def left_s(self, elapsed_s: float) -> float | None:
        """Return the maximum remaining time in seconds, extrapolated from the rounds of this process.

        `elapsed_s` is the time of these rounds.
        """
        finished = self.rounds_done - self.done_at_start
        if finished <= 0 or elapsed_s <= 0:
            return None
        measure, round_s = self.plan.measure, elapsed_s / finished
        left = round_s * (self.rounds_total - self.rounds_done)
        left = min(left, max(0.0, measure.time_limit_s - self.measured_s))
        session_s = round_s * self.rounds_total / measure.sessions
        begun = max(1, measure.sessions_in(max(self.rounds.values(), default=0)))
        return left + (measure.sessions - begun) * max(0.0, measure.every_s - session_s)
