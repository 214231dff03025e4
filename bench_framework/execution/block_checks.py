"""Checks of blocks, outside timing: failures, answers, page cache, metrics."""

import contextlib
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench_framework.execution.answer_differences import LineDifference, first_difference
from bench_framework.execution.answers import LARGEST_EDITED, AnswerReader
from bench_framework.execution.counting.required_calls import check_calls
from bench_framework.execution.counting.single_run import SingleRunner
from bench_framework.execution.failures import block_event, failure_event, place_of, repeat
from bench_framework.execution.schedule import InputProgress
from bench_framework.execution.target import Target
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.plan import Cell, Role
from bench_framework.model.record.run import Answer, Block, Event
from bench_framework.store.layout import writing
from bench_framework.store.records import Record
from bench_framework.text.errors import amended
from bench_framework.text.numbers import format_percent
from bench_framework.text.reasons import phrase_of

LARGEST_REFERENCE_BYTES: Final = LARGEST_EDITED
"""A larger output is compared by its digest only; a copy would fill the disk."""


@dataclass(frozen=True, slots=True)
class BlockChecks:
    """The checks of a measured block, before it is added to the record."""

    record: Record
    reader: AnswerReader

    def check(
        self, state: InputProgress, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        """Return the block with its final status, and its events that are new."""
        if block.void:
            block, events = self._handle_failure(state, target, block)
        else:
            block, events = self._check_answer(state, target, block)
            if block.status == "ok" and target.cell.calls:
                block, event = self._check_calls(state, target, block)
                events += state.new_event(event) if event else []
        if event := cache_event(target, block):
            events += state.new_event(event)
        if block.left and target.cell.role is not Role.CONTROL:
            left = f"{block.left} {'process' if block.left == 1 else 'processes'}"
            events += state.new_event(block_event("BX333", "warning", target, block, left=left))
        if block.missing:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in block.missing.items())
            bench = state.input.bench
            key, name = ("BX217.of-bench", bench.id) if bench else ("BX217", "")
            event = block_event(key, "error", target, block, reasons=reasons, id=name)
            events += state.new_event(event)
        return block, events

    def _check_calls(
        self, state: InputProgress, target: Target, block: Block
    ) -> tuple[Block, Event | None]:
        """Return the block, failed if a declared system call never succeeds, and the event of this or of no check.

        The first good block of a cell is followed by one run under strace. That of a control has the same program.
        """
        earlier = state.blocks.get(block.cell_id, [])
        if target.cell.role is Role.CONTROL or any(b.status == "ok" for b in earlier):
            return block, None
        limit_s = self.record.plan.measure.timeout_s
        runner = SingleRunner(self.reader.launcher, self.reader.policy, limit_s)
        if (fault := check_calls(runner, target, block.round)) is None:
            return block, None
        if fault.failure:
            block = replace(block, status="failed", message=fault.failure)
        return block, fault.event

    def _handle_failure(
        self, state: InputProgress, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        if (block.cell_id, "BX201") in state.noted or self._failed_as_baseline(state, block):
            return block, []
        again = None
        if not block.timed_out:  # a program that hangs would hang again
            again = repeat(self.reader, target, block, self.record.raw)
            if again.stderr is not None:
                path = str(again.stderr.relative_to(self.record.path))
                block = replace(block, stderr_log=path)
        return block, state.new_event(failure_event(self.record.plan, target, block, again))

    def _failed_as_baseline(self, state: InputProgress, block: Block) -> bool:
        """Return whether this is the control, and the baseline's last run failed in the same way."""
        control = self.record.plan.control_cell(state.input.id)
        baseline = self.record.plan.baseline_cell(state.input.id)
        if control is None or control.id != block.cell_id or baseline is None:
            return False
        failed = [b for b in state.blocks.get(baseline.id, []) if b.void]
        return bool(failed) and failed[-1].message == block.message

    def _check_answer(
        self, state: InputProgress, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        if block.status == "other-output":
            event = block_event("BX210.refused", "error", target, block, reason=block.message)
            return block, state.new_event(event)
        if block.answer is None:
            return block, []
        verify = self._verify_bound if target.cell.role is Role.BOUND else self._verify_answer
        return verify(state, target, block, block.answer)

    def _verify_answer(
        self, state: InputProgress, target: Target, block: Block, answer: Answer
    ) -> tuple[Block, list[Event]]:
        if state.reference is None and block.cell_id == state.reference_id:
            state.reference = answer
            self._keep_reference(target)
        if state.reference is None or state.reference.digest == answer.digest:
            return block, self._tolerated(state, target, block, answer)
        if self.reader.policy.differs == "refuse":
            block = replace(block, status="other-output")
        return block, self._answer_events(state, target, block, state.reference)

    def _answer_events(
        self, state: InputProgress, target: Target, block: Block, reference: Answer
    ) -> list[Event]:
        """Return the event of another answer. That of a baseline that varies replaces all others."""
        plan, answers = self.record.plan, self.reader.policy
        warn, baseline = answers.differs == "warn", plan.cell(state.reference_id)
        code, varying = ("BX334", "BX334") if warn else ("BX210", "BX214")
        if {(block.cell_id, code), (baseline.id, varying)} & state.noted:
            return []
        difference = self._difference(target)
        event = other_output_event(target, block, reference, baseline.label, difference)
        if len(plan.inputs) > 1:
            event = replace(event, details=(("input", state.input.label), *event.details))
        is_control = target.cell.role is Role.CONTROL and baseline.role is Role.BASELINE
        if block.cell_id == baseline.id or is_control:
            event = varying_answer_event(baseline, event, difference)
        option = not plan.scenario_path
        if warn or (option and event.code == code):
            key = "BX334.in-command-line" if option else "BX334.in-scenario"
            key = key if warn else "BX210.in-command-line"
            advice = difference and difference.advice(varying=warn, option=option)
            event = amended(event, key, advice=advice)
            event = replace(event, severity="warning") if warn else event
        return state.new_event(event)

    def _tolerated(
        self, state: InputProgress, target: Target, block: Block, answer: Answer
    ) -> list[Event]:
        """Return the event of an answer that differs in a tolerated share of its lines."""
        if not answer.differing or (block.cell_id, "BX335") in state.noted:
            return []
        parts = (answer.differing, self.reader.policy.tolerated_share)
        share, limit = (format_percent(part, digits=2) for part in parts)
        base = self.record.plan.cell(state.reference_id).label
        details = _lines(target, base, self._difference(target))
        event = block_event(
            "BX335", "warning", target, block, details=details, share=share, limit=limit, other=base
        )
        return state.new_event(event)

    def _compared(self) -> Path:
        return self.reader.compared(self.record.raw.stdout, self.record.raw.edited)

    def _keep_reference(self, target: Target) -> None:
        """Store the compared text of a cell, to show differences from it and to tolerate some.

        It is skipped on a full disk: the digest decides, and no difference is shown.
        """
        if self.reader.policy.contract or self.reader.policy.check:
            return
        text, copy = self._compared(), self.record.raw.reference(target.cell)
        try:
            if text.stat().st_size <= LARGEST_REFERENCE_BYTES:
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(text, copy)
        except OSError:
            with contextlib.suppress(OSError):
                copy.unlink(missing_ok=True)

    def _difference(self, target: Target) -> LineDifference | None:
        """Return the first difference of the compared text from its reference, and save it."""
        raw, policy = self.record.raw, self.reader.policy
        if policy.contract:
            return None
        difference = first_difference(policy, raw.reference(target.cell), self._compared())
        if difference is not None:
            path = raw.diff(target.cell.id)
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(difference.text(), encoding="utf-8")
        return difference

    def _verify_bound(
        self, state: InputProgress, target: Target, block: Block, answer: Answer
    ) -> tuple[Block, list[Event]]:
        """Compare the answer of a bound, which does other work, with its own first answer."""
        first = state.first_answer(block.cell_id)
        if first is None:
            self._keep_reference(target)
        if first is None or first.digest == answer.digest:
            return block, []
        block = replace(block, status="other-output", message=phrase_of(PhraseCode.ANSWERS_VARY))
        difference = self._difference(target)
        event = other_output_event(target, block, first, target.cell.label, difference)
        return block, state.new_event(varying_answer_event(target.cell, event, difference))


def forget_answers(record: Record, state: InputProgress) -> None:
    """Remove the stored answers of blocks that an interruption made invalid: others are not compared with them."""
    for cell_id, target in state.targets.items():
        first = target.cell.role is Role.BOUND or cell_id == state.reference_id
        if first and state.first_answer(cell_id) is None:
            record.raw.reference(target.cell).unlink(missing_ok=True)


def cache_event(target: Target, block: Block) -> Event | None:
    """Return the event BX341 or BX342 if the requested page cache was not confirmed, or `None`."""
    requested, actual = target.cell.cache, block.page_cache
    if block.void or actual is None or requested in {"unknown", actual.state}:
        return None
    return block_event(
        "BX341" if requested == "cold" else "BX342",
        "warning",
        target,
        block,
        details=(("input", str(target.input_path)),),
        requested=requested,
        place=place_of(block),
        reason=actual.why,
    )


def varying_answer_event(cell: Cell, event: Event, difference: LineDifference | None) -> Event:
    """Return the event BX214, the answers of a cell differ between its runs, from one of BX210."""
    advice = difference and difference.advice(varying=True)
    event = amended(event, "BX214.in-several-runs", label=cell.label, advice=advice)
    return replace(event, cell_id=cell.id)


def other_output_event(
    target: Target,
    block: Block,
    reference: Answer,
    reference_label: str,
    difference: LineDifference | None,
) -> Event:
    """Return the event BX210: a cell did other work than the reference."""
    assert block.answer is not None
    details = [("digest", f"{reference.digest[:12]}… ≠ {block.answer.digest[:12]}…")]
    counts = reference.count, block.answer.count
    if None not in counts and counts[0] != counts[1]:
        details.append(("count", f"{counts[0]} ≠ {counts[1]}"))
    details += _lines(target, reference_label, difference)
    advice = difference and difference.advice()
    return block_event(
        "BX210.other-output",
        "error",
        target,
        block,
        details=tuple(details),
        other=reference_label,
        advice=advice,
    )


def _lines(
    target: Target, reference_label: str, difference: LineDifference | None
) -> tuple[tuple[str, str], ...]:
    if difference is None:
        return ()
    ours = target.cell.label
    if ours == reference_label:
        reference_label, ours = map(phrase_of, (PhraseCode.FIRST_RUN, PhraseCode.THIS_RUN))
    return difference.details(reference_label, ours, f"raw/diff/{target.cell.id}.txt")
