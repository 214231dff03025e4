"""Measuring: rounds of blocks, inputs in turn, until the looks or the budget end it.

Nothing is drawn, flushed or computed between two blocks beyond what the next one needs: about 2 ms of ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bench_framework.errors import CellError
from bench_framework.execution import (
    declared_metrics,
    failure_diagnosis,
    inputs_check,
    progress,
    schedule,
)
from bench_framework.execution.block import BlockRunner, Place
from bench_framework.execution.host import seconds, utc_now
from bench_framework.execution.racing import REASONS, drop_pending, leaving_cells
from bench_framework.execution.target import build_id_of, target_of
from bench_framework.model.looks import looks_of
from bench_framework.model.run import Event, Look
from bench_framework.store import layout, lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bench_framework.execution.hyperfine import Hyperfine
    from bench_framework.execution.process import Launcher
    from bench_framework.execution.racing import Looker
    from bench_framework.execution.stop import Stop
    from bench_framework.execution.target import Target
    from bench_framework.model import race
    from bench_framework.model.looks import Looks
    from bench_framework.model.plan import Input, Plan
    from bench_framework.model.run import Answer, Block, Build, PreparedInput
    from bench_framework.store.records import Record


@dataclass(slots=True)
class Progression:
    """How far an input is."""

    input: Input
    targets: dict[str, Target]
    """Active cells by id; a dropped cell leaves."""
    reference_id: str
    """Cell whose answer the others must give: the baseline, or else the first."""
    warmups: int = 0
    rounds: int = 0
    stopped: bool = False
    reference: Answer | None = None
    repeats: Mapping[str, int] = field(default_factory=dict)
    blocks: dict[str, list[Block]] = field(default_factory=dict)
    """Of this input, per cell, without skipped ones."""
    noted: set[tuple[str, str]] = field(default_factory=set)
    """Event codes that a cell already has."""


def measure(
    plan: Plan,
    record: Record,
    *,
    builds: Iterable[Build],
    inputs: Iterable[PreparedInput],
    launcher: Launcher,
    hyperfine: Hyperfine,
    observer: progress.Observer,
    looker: Looker,
    stop: Stop,
    env: Mapping[str, str],
) -> None:
    """Measure a plan into a record, from where the record stands, to its end.

    `Record.prepare` was called before. Failures of cells become blocks and events of the record; the others
    go on.

    Raises:
        Interrupted: `stop` was asked for; the record can be continued.
        MachineError: the launcher was killed.
    """
    with BlockRunner(
        launcher, hyperfine, record.raw, plan.answer, plan.measure.timeout_s, plan.metrics
    ) as runner:
        began = seconds() - record.contents.elapsed_s
        measuring = Measuring(
            plan, record, launcher, runner, observer, looker, stop, looks_of(plan), began
        )
        try:
            measuring.run(
                {build.id: build for build in builds}, {item.input_id: item for item in inputs}, env
            )
        finally:
            record.sync()


@dataclass(frozen=True, slots=True)
class Measuring:
    """One session of measuring a record."""

    plan: Plan
    record: Record
    launcher: Launcher
    runner: BlockRunner
    observer: progress.Observer
    looker: Looker
    stop: Stop
    looks: Looks
    began: float
    """Monotonic time at which this record's measuring would have begun without interruptions."""

    @property
    def elapsed_s(self) -> float:
        """Measuring time of the record, interruptions not counted."""
        return seconds() - self.began

    def run(
        self,
        builds: Mapping[str, Build],
        inputs: Mapping[str, PreparedInput],
        env: Mapping[str, str],
    ) -> None:
        """All rounds of all inputs that are not stopped yet."""
        if self.record.contents.complete:
            return
        guard = inputs_check.Guard(inputs, builds.values())
        drop_pending(self.plan, self.record)
        states = [
            state
            for item in self.plan.inputs
            if (state := self._begin(item, builds, inputs, env)) is not None
        ]
        self._warm_up(states, guard)
        self._measure(states, guard)
        for event in guard.digests():
            self._note(event)
        replaced = guard.replaced()
        if replaced is not None and replaced not in self.record.contents.events:
            self._note(replaced)
        self.record.append(lines.End(utc_now(), self.elapsed_s))

    def _warm_up(self, states: list[Progression], guard: inputs_check.Guard) -> None:
        for number in range(1, self._warmup_rounds + 1):
            for state in states:
                if state.warmups < number and not state.rounds and not state.stopped:
                    self._round(state, number, guard, warmup=True)
        for state in states:
            self._fix_repeats(state)

    def _measure(self, states: list[Progression], guard: inputs_check.Guard) -> None:
        """Round r of every input before round r + 1 of any: a slow hour meets all of them."""
        for number in range(1, self.plan.measure.rounds_max + 1):
            for state in states:
                if not state.stopped and state.rounds < number:
                    self._round(state, number, guard, warmup=False)
                self._look(state, states)
            if all(state.stopped for state in states):
                break

    @property
    def _warmup_rounds(self) -> int:
        # Without a warm-up the answers would have nothing to be compared with in round 1, whose order is
        # random: the reference alone is run once before it.
        wanted = self.plan.measure.warmup_rounds
        return max(1, wanted) if self.plan.answer.compare != "none" else wanted

    def _begin(
        self,
        item: Input,
        builds: Mapping[str, Build],
        inputs: Mapping[str, PreparedInput],
        env: Mapping[str, str],
    ) -> Progression | None:
        contents = self.record.contents
        targets = {}
        tuning = str(self.record.path / layout.TUNING) if self.plan.tuning else None
        for cell in self.plan.cells_of(item.id):
            build = builds.get(build_id_of(self.plan, cell))
            if cell.id in contents.dropped or build is None or not build.ok:
                continue
            try:
                targets[cell.id] = target_of(cell, build, inputs.get(item.id), env, tuning)
            except CellError as error:
                event = Event(error.code, error.message, "error", cell.id, help=error.help)
                if event not in contents.events:
                    self._note(event)
        if not targets:
            return None
        baseline = self.plan.baseline_cell(item.id)
        reference = baseline.id if baseline and baseline.id in targets else next(iter(targets))
        state = Progression(item, targets, reference)
        self._resume(state)
        if state.rounds or state.warmups:
            # The process before may have died between the end of the round and what follows from it.
            self._let_go(state, state.rounds or state.warmups, warmup=not state.rounds)
        return state

    def _resume(self, state: Progression) -> None:
        contents, here = self.record.contents, state.input.id
        state.warmups = contents.warmups.get(here, 0)
        state.rounds = contents.rounds.get(here, 0)
        state.stopped = contents.stopped(here)
        state.repeats = contents.repeats.get(here, {})
        cells = {cell.id for cell in self.plan.cells_of(here)}
        for block in contents.blocks:
            if block.cell_id in cells and block.status != "skipped":
                state.blocks.setdefault(block.cell_id, []).append(block)
        answers = [
            b.answer
            for b in state.blocks.get(state.reference_id, ())
            if b.status == "ok" and b.answer
        ]
        state.reference = answers[0] if answers else None
        state.noted = {(event.cell_id or "", event.code) for event in contents.events}

    def _round(
        self, state: Progression, number: int, guard: inputs_check.Guard, *, warmup: bool
    ) -> None:
        order = self._order(state, number, warmup=warmup)
        if event := guard.changed(state.input.id) or guard.replaced():
            if event not in self.record.contents.events:
                self._note(event)
            state.stopped = True
            return
        self.observer.notify(progress.RoundStarted(state.input.id, number, warmup, len(order)))
        for position, cell_id in enumerate(order):
            self.stop.check()
            self._block(state, cell_id, number, position, warmup=warmup)
        if warmup:
            state.warmups = number
        else:
            state.rounds = number
        elapsed = self.elapsed_s
        self.record.append(lines.RoundEnd(state.input.id, number, warmup, utc_now(), elapsed))
        self._let_go(state, number, warmup=warmup)
        self.record.sync()
        self.observer.notify(progress.RoundFinished(state.input.id, number, warmup, elapsed))

    def _order(self, state: Progression, number: int, *, warmup: bool) -> list[str]:
        if warmup and self.plan.measure.warmup_rounds == 0:
            return [state.reference_id]
        order = schedule.order_of(
            self.plan.measure.seed, state.input.id, number, state.targets, warmup=warmup
        )
        if warmup and number == 1 and state.reference_id in state.targets:
            # In no statistic, so its order is free: the answer that all others must give comes first.
            order.remove(state.reference_id)
            order.insert(0, state.reference_id)
        return order

    def _block(
        self, state: Progression, cell_id: str, number: int, position: int, *, warmup: bool
    ) -> None:
        target = state.targets[cell_id]
        runs = (
            1
            if warmup or target.prepare or self._has_cold(state)
            else state.repeats.get(cell_id, 1)
        )
        place = Place(len(self.record.contents.blocks), number, position, warmup)
        self.observer.notify(
            progress.BlockStarted(cell_id, state.input.id, number, warmup, position, runs)
        )
        block = self.runner.run(target, place, runs)
        events: list[Event] = []
        if block.status in schedule.VOID:
            block, events = self._failed(state, target, block)
        elif block.answer is not None:
            block, events = self._compared(state, target, block)
        if event := failure_diagnosis.cache_event(target, block):
            events += self._once(state, event)
        for event in declared_metrics.missing_events(target, block) if block.missing else ():
            events += self._once(state, event)
        self.record.append(lines.Measured(block))
        state.blocks.setdefault(cell_id, []).append(block)
        for event in events:
            self._note(event)
        self.observer.notify(progress.BlockFinished(block))

    def _has_cold(self, state: Progression) -> bool:
        """Whether any cell of the input empties the cache: only a first run is cold, and all cells get one K."""
        return any(cell.cache == "cold" for cell in self.plan.cells_of(state.input.id))

    def _failed(
        self, state: Progression, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        first = (block.cell_id, "BX201") not in state.noted
        if not first:
            return block, []
        state.noted.add((block.cell_id, "BX201"))
        again = None
        if not block.timed_out:  # what hangs would only hang again
            log = self.record.raw.log(f"{block.cell_id}.stderr")
            again = failure_diagnosis.rerun(
                self.launcher, target, self.plan.answer, log, self.plan.measure.timeout_s
            )
            block = replace(block, stderr_log=str(log.relative_to(self.record.path)))
        return block, [failure_diagnosis.failure_event(self.plan, target, block, again)]

    def _compared(
        self, state: Progression, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        assert block.answer is not None
        by_stdout = self.runner.stdout_is_answer
        if target.cell.role.apart:
            return self._own_answer(state, target, block)
        if state.reference is None and block.cell_id == state.reference_id:
            state.reference = block.answer
            if by_stdout:
                failure_diagnosis.keep_reference(self.record.raw, state.input.id)
        if state.reference is None or state.reference.digest == block.answer.digest:
            return block, []
        block = replace(block, status="other-output")
        if block.cell_id == state.reference_id:
            return block, self._once(
                state, failure_diagnosis.unsteady_event(target, block, state.reference)
            )
        if (block.cell_id, "BX210") in state.noted:
            return block, []
        state.noted.add((block.cell_id, "BX210"))
        reference = self.plan.cell(state.reference_id)
        raw = self.record.raw if by_stdout else None
        return block, [
            failure_diagnosis.other_output_event(
                target, block, state.reference, reference.label, raw
            )
        ]

    def _own_answer(
        self, state: Progression, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        """A bound does other work than the candidates: it is held against itself."""
        assert block.answer is not None
        answers = [
            b.answer for b in state.blocks.get(block.cell_id, ()) if b.status == "ok" and b.answer
        ]
        if not answers or answers[0].digest == block.answer.digest:
            return block, []
        block = replace(
            block, status="other-output", message="it does not give the same answer each time"
        )
        return block, self._once(state, failure_diagnosis.unsteady_event(target, block, answers[0]))

    def _once(self, state: Progression, event: Event) -> list[Event]:
        """The event, unless its cell has one of this code already."""
        key = (event.cell_id or "", event.code)
        if key in state.noted:
            return []
        state.noted.add(key)
        return [event]

    def _let_go(self, state: Progression, number: int, *, warmup: bool) -> None:
        """Drop the cells that failed too often or do other work."""
        over = warmup and number >= self.plan.measure.warmup_rounds > 0
        for cell_id in list(state.targets):
            blocks = state.blocks.get(cell_id, [])
            if schedule.hopeless(blocks, warmup_over=over):
                last = blocks[-1].message or "failed"
                self._drop(state, cell_id, number, "failed", last, warmup=warmup)
            elif blocks and blocks[-1].status == "other-output" and (over or not warmup):
                words = "prints another result than the baseline"
                if cell_id != state.reference_id:
                    self._drop(state, cell_id, number, "other-output", words, warmup=warmup)

    def _drop(
        self,
        state: Progression,
        cell_id: str,
        number: int,
        why: lines.DropState,
        reason: str,
        *,
        warmup: bool,
    ) -> None:
        del state.targets[cell_id]
        self.record.append(lines.Dropped(cell_id, state.input.id, number, warmup, why, reason))
        self.observer.notify(
            progress.CellDropped(cell_id, state.input.id, number, reason, raced=why in REASONS)
        )
        if not state.targets:
            state.stopped = True

    def _fix_repeats(self, state: Progression) -> None:
        """Set runs per block from the warm-up, once: a resumed record keeps what it began with."""
        if state.repeats:
            return
        walls = [
            [
                wall
                for block in blocks
                if block.warmup and block.status == "ok" and (wall := block.wall)
            ]
            for blocks in state.blocks.values()
        ]
        state.repeats = dict.fromkeys(state.targets, schedule.repeats_of(walls))
        self.record.append(lines.Repeats(state.input.id, dict(state.repeats)))

    def _look(self, state: Progression, states: Sequence[Progression]) -> None:
        """Take the look that is due after the round that the input has reached."""
        here, number = state.input.id, state.rounds
        if state.stopped or not number:
            return
        rounds = self.looks.rounds
        budget = self.plan.measure.budget_s
        spent = budget is not None and self.elapsed_s >= budget
        if not spent and number not in rounds:
            return
        # The last look is the last one even if the budget ended first (METHOD 3).
        last = spent or number == rounds[-1]
        index = len(rounds) - 1 if last else rounds.index(number)
        if any(
            look.input_id == here and look.index == index for look in self.record.contents.looks
        ):
            return
        decision = self.looker(here, index, number)
        reason = decision.reason
        if last and not decision.stop:
            reason = "the budget is spent" if spent else "the last round is reached"
        look = Look(
            here, index, number, decision.stop or last, reason, decision.trailing, decision.idle
        )
        leaving = self._leaving(look, states)
        look = replace(look, dropped=tuple(leaving))
        self.record.append(lines.Looked(look))
        state.stopped = look.stopped
        for other in states:
            for cell_id in [c for c in look.dropped if c in other.targets]:
                why = leaving[cell_id]
                self._drop(other, cell_id, other.rounds, why, REASONS[why], warmup=False)
        self.record.sync()
        self.observer.notify(progress.LookTaken(look))

    def _leaving(self, look: Look, states: Sequence[Progression]) -> dict[str, race.Why]:
        """Cells that the race lets go after this look, of inputs that are measured further."""
        measured = {
            cell_id
            for state in states
            if not (state.stopped or (look.stopped and state.input.id == look.input_id))
            for cell_id in state.targets
        }
        return leaving_cells(self.plan, self.record.contents, look, measured)

    def _note(self, event: Event) -> None:
        self.record.append(lines.Noted(event))
        self.observer.notify(progress.Remark(event))
