"""Progress of one input, and the checks of its blocks: failures, answers, page cache, metrics."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bench_framework.execution import declared_metrics, failure_diagnosis, schedule

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bench_framework.execution.process import Launcher
    from bench_framework.execution.target import Target
    from bench_framework.model.plan import Input, Plan
    from bench_framework.model.run import Answer, Block, Event
    from bench_framework.store.journal import Contents
    from bench_framework.store.records import Record


@dataclass(slots=True)
class InputProgress:
    """Progress of one input."""

    input: Input
    targets: dict[str, Target]
    """Active cells by id; a dropped cell is removed."""
    reference_id: str
    """Cell that gives the reference answer: the baseline, or else the first."""
    warmups: int = 0
    rounds: int = 0
    stopped: bool = False
    reference: Answer | None = None
    repeats: Mapping[str, int] = field(default_factory=dict)
    blocks: dict[str, list[Block]] = field(default_factory=dict)
    """Blocks of this input per cell, without skipped ones."""
    noted: set[tuple[str, str]] = field(default_factory=set)
    """Cell id and code of the events so far."""

    def resume(self, contents: Contents, cell_ids: Collection[str]) -> None:
        """Restore the progress from the journal of a record."""
        here = self.input.id
        self.warmups = contents.warmups.get(here, 0)
        self.rounds = contents.rounds.get(here, 0)
        self.stopped = contents.stopped(here)
        self.repeats = contents.repeats.get(here, {})
        for block in contents.blocks:
            if block.cell_id in cell_ids and block.status != "skipped":
                self.blocks.setdefault(block.cell_id, []).append(block)
        self.reference = self.first_answer(self.reference_id)
        self.noted = {(event.cell_id or "", event.code) for event in contents.events}

    def first_answer(self, cell_id: str) -> Answer | None:
        """Return the answer of the first good block of a cell."""
        blocks = self.blocks.get(cell_id, ())
        return next((b.answer for b in blocks if b.status == "ok" and b.answer), None)

    def new_event(self, event: Event) -> list[Event]:
        """Return the event, unless its cell already has one with this code."""
        key = (event.cell_id or "", event.code)
        if key in self.noted:
            return []
        self.noted.add(key)
        return [event]


@dataclass(frozen=True, slots=True)
class BlockChecks:
    """The checks of a measured block, before it is added to the record."""

    plan: Plan
    record: Record
    launcher: Launcher
    stdout_is_answer: bool

    def check(
        self, state: InputProgress, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        """Return the block with its final status, and its events that are new."""
        events: list[Event] = []
        if block.status in schedule.VOID:
            block, events = self._handle_failure(state, target, block)
        elif block.answer is not None and target.cell.role.separate:
            block, events = self._verify_bound(state, target, block, block.answer)
        elif block.answer is not None:
            block, events = self._verify_answer(state, target, block, block.answer)
        if event := failure_diagnosis.cache_event(target, block):
            events += state.new_event(event)
        for event in declared_metrics.missing_events(target, block) if block.missing else ():
            events += state.new_event(event)
        return block, events

    def _handle_failure(
        self, state: InputProgress, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        if (block.cell_id, "BX201") in state.noted:
            return block, []
        again = None
        if not block.timed_out:  # a program that hangs would hang again
            log = self.record.raw.log(f"{block.cell_id}.stderr")
            again = failure_diagnosis.rerun(
                self.launcher, target, self.plan.answer, log, self.plan.measure.timeout_s
            )
            block = replace(block, stderr_log=str(log.relative_to(self.record.path)))
        event = failure_diagnosis.failure_event(self.plan, target, block, again)
        return block, state.new_event(event)

    def _verify_answer(
        self, state: InputProgress, target: Target, block: Block, answer: Answer
    ) -> tuple[Block, list[Event]]:
        if state.reference is None and block.cell_id == state.reference_id:
            state.reference = answer
            if self.stdout_is_answer:
                failure_diagnosis.keep_reference(self.record.raw, state.input.id)
        if state.reference is None or state.reference.digest == answer.digest:
            return block, []
        block = replace(block, status="other-output")
        if block.cell_id == state.reference_id:
            event = failure_diagnosis.varying_answer_event(target, block, state.reference)
            return block, state.new_event(event)
        if (block.cell_id, "BX210") in state.noted:
            return block, []
        label = self.plan.cell(state.reference_id).label
        raw = self.record.raw if self.stdout_is_answer else None
        event = failure_diagnosis.other_output_event(target, block, state.reference, label, raw)
        return block, state.new_event(event)

    def _verify_bound(
        self, state: InputProgress, target: Target, block: Block, answer: Answer
    ) -> tuple[Block, list[Event]]:
        """Compare the answer of a bound, which does other work, with its own first answer."""
        first = state.first_answer(block.cell_id)
        if first is None or first.digest == answer.digest:
            return block, []
        block = replace(block, status="other-output", message="its answers differ between runs")
        event = failure_diagnosis.varying_answer_event(target, block, first)
        return block, state.new_event(event)
