"""Progress of inputs, the order within rounds, runs per block, and cells that leave.

See docs/method.md#schedule.
"""

import math
import random
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench_framework.execution.target import Target
from bench_framework.model.plan.plan import Input, Plan
from bench_framework.model.reasons import ReasonCode
from bench_framework.model.record.run import Answer, Block, Event
from bench_framework.model.result import race
from bench_framework.model.result.interim import LookOutcome
from bench_framework.store import lines
from bench_framework.store.journal import Contents
from bench_framework.store.records import Record

SHORTEST_BLOCK_S: Final = 0.020
"""Blocks of shorter runs repeat them until they take this long."""
MOST_REPEATS: Final = 200
FAILURES_IN_A_ROW: Final = 3
TIMEOUTS_IN_A_ROW: Final = 2
"""Fewer than failures, because a program that hangs takes its whole timeout each time."""
REASONS: Final[Mapping[race.DropReason, ReasonCode]] = {
    "raced": ReasonCode.RACED,
    "idle": ReasonCode.IDLE,
}
"""Why a cell leaves after an interim analysis."""


@dataclass(slots=True)
class InputProgress:
    """Progress of one input."""

    input: Input
    targets: dict[str, Target]
    """Active cells by id; a dropped cell is removed."""
    reference_id: str
    """Cell that gives the reference answer: the baseline, or else the first."""
    finished: set[str] = field(default_factory=set)
    """Cells of `targets` that were finished, see `model.result.race.finishing_rounds`."""
    warmups: int = 0
    rounds: int = 0
    stopped: bool = False
    reference: Answer | None = None
    repeats: Mapping[str, int] = field(default_factory=dict)
    blocks: dict[str, list[Block]] = field(default_factory=dict)
    """Blocks of this input per cell, without skipped ones."""
    warmup_s: dict[str, float] = field(default_factory=dict)
    """Seconds that the newest warm-up block of a cell took with everything around it, by cell id; of
    blocks before a resumption, the time of the run alone."""
    noted: set[tuple[str, str]] = field(default_factory=set)
    """Cell id and code of the events so far."""

    def resume(
        self, contents: Contents, cell_ids: Collection[str], finished: Collection[str]
    ) -> None:
        """Restore the progress from the journal of a record."""
        here = self.input.id
        self.warmups = contents.warmups.get(here, 0)
        self.rounds = contents.rounds.get(here, 0)
        self.stopped = contents.stopped(here)
        self.repeats = contents.repeats.get(here, {})
        for block in contents.blocks:
            if block.cell_id in cell_ids and block.status != "skipped":
                self.blocks.setdefault(block.cell_id, []).append(block)
                if block.warmup and block.wall:
                    self.warmup_s[block.cell_id] = block.wall
        self.finished = set(finished).intersection(self.targets)
        self.reference = self.first_answer(self.reference_id)
        self.noted = {(event.cell_id or "", event.code) for event in contents.events}

    def count(self, number: int, *, warmup: bool) -> None:
        """Count a complete round."""
        if warmup:
            self.warmups = number
        else:
            self.rounds = number

    def first_answer(self, cell_id: str) -> Answer | None:
        """Return the answer of the first good block of a cell."""
        blocks = self.blocks.get(cell_id, ())
        return next((b.answer for b in blocks if b.status == "ok" and b.answer), None)

    def warmup_walls(self, cell_id: str) -> list[float]:
        """Return the times of the warm-up runs of a cell that succeeded, in seconds."""
        blocks = self.blocks.get(cell_id, ())
        return [b.wall for b in blocks if b.warmup and b.status == "ok" and b.wall]

    def new_event(self, event: Event) -> list[Event]:
        """Return the event, unless its cell already has one with this code."""
        key = (event.cell_id or "", event.code)
        if key in self.noted:
            return []
        self.noted.add(key)
        return [event]


def warmup_rounds(plan: Plan, *, one_round: bool) -> int:
    """Return the warm-up rounds of a session; before a single measured round no more than the reference answer needs.

    Round 1 has a random order and needs a reference answer. Without warm-up rounds the reference cell runs
    once before it.
    """
    least = 0 if plan.answer.compare == "none" else 1
    return least if one_round else max(least, plan.measure.warmup_rounds)


def order_of(
    seed: int, input_id: str, number: int, ids: Iterable[str], *, warmup: bool
) -> list[str]:
    """Return a uniformly random order of cells, the same for `ids` in any order."""
    order = sorted(ids)
    key = f"{seed}/{input_id}/{'warmup' if warmup else 'round'}/{number}"
    random.Random(key).shuffle(order)  # noqa: S311 -- the order must be reproducible
    return order


def order_of_round(plan: Plan, state: InputProgress, number: int, *, warmup: bool) -> list[str]:
    """Return the cells of a round in their order. Finished cells are in every fourth round only."""
    if warmup and plan.measure.warmup_rounds == 0:
        return [state.reference_id]
    seed, here, cells = plan.measure.seed, state.input.id, {*state.targets}
    if not (warmup or race.includes_finished(seed, here, number)):
        cells -= state.finished
    order = order_of(seed, here, number, cells, warmup=warmup)
    if warmup and number == 1 and state.reference_id in state.targets:
        # Warm-up rounds are in no statistic, so the reference cell may come first, and then its
        # control: a program whose answers vary is found before they are compared.
        control = plan.control_cell(here)
        first = [state.reference_id, control.id if control is not None else ""]
        order.sort(key=lambda id_: first.index(id_) if id_ in first else len(first))
    return order


def repeats_of(walls: Iterable[Sequence[float]]) -> int:
    """Return the runs per block, K = ⌈20 ms ÷ run⌉, for all cells of an input; 1 without any time.

    All cells get the same K: the permutation test requires that identical programs give values of
    one distribution, and a median of five runs has another distribution than a single run. The
    median cell determines K: the fastest would make slow cells run for seconds, and the slowest
    would leave fast cells too noisy.

    `walls` are the times of the warm-up runs in seconds, per cell. The fastest of each is used,
    because the first run reads the program from the disk.
    """
    fastest = [min(times) for times in walls if times] or [math.inf]
    middle = statistics.median(fastest)
    if middle <= 0:
        return MOST_REPEATS
    return min(MOST_REPEATS, max(1, math.ceil(SHORTEST_BLOCK_S / middle)))


def runs_of(plan: Plan, state: InputProgress, cell_id: str) -> int:
    """Return the runs per block of a cell: K, or 1 if each is to be cold or has `prepare` or `cleanup`.

    It is 1 for a benchmark, which repeats its work itself.

    K is that of the warm-up so far if it is not set yet.
    """
    cold = any(cell.cache == "cold" for cell in plan.cells_of(state.input.id))
    target = state.targets[cell_id]
    if state.input.bench is not None or cold or target.prepare or target.cleanup:
        return 1
    return state.repeats.get(cell_id) or repeats_of(map(state.warmup_walls, state.blocks))


def failed_too_often(blocks: Sequence[Block], *, warmup_over: bool) -> bool:
    """Check if a cell failed too often, or has no good block when the warm-up is over."""
    if not blocks:
        return False
    if warmup_over and all(block.void for block in blocks):
        return True
    last = blocks[-FAILURES_IN_A_ROW:]
    failed = len(last) == FAILURES_IN_A_ROW and all(block.void for block in last)
    latest = [block.status for block in last[-TIMEOUTS_IN_A_ROW:]]
    return failed or latest == ["timeout"] * TIMEOUTS_IN_A_ROW


Looker = Callable[[str, int, int], LookOutcome]
"""``looker(input_id, index, round)`` reads ``record.contents``; `index` counts from 0."""


def drop_pending(plan: Plan, record: Record) -> None:
    """Write the missing lines of dropped cells, if the process before died after the analysis."""
    contents = record.contents
    for look in contents.looks:
        for cell_id in [c for c in look.dropped if c not in contents.dropped]:
            here = plan.cell(cell_id).input_id
            raced = any(cell_id in other.trailing for other in contents.looks)
            kind: race.DropReason = "raced" if raced else "idle"
            number = contents.rounds.get(here, 0)
            record.append(lines.Dropped(cell_id, here, number, warmup=False, state=kind))
