"""Checks of blocks, outside timing: failures, answers, page cache, metrics."""

from __future__ import annotations

import contextlib
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench_framework.errors import MeasureError
from bench_framework.execution import declared_metrics, schedule
from bench_framework.execution.answer_checks import AnswerChecks
from bench_framework.execution.answers import AnswerReader
from bench_framework.execution.input_progress import InputProgress
from bench_framework.execution.target import Target
from bench_framework.model.plan import Cell, Plan, Role
from bench_framework.model.run import Block, Event
from bench_framework.store.records import Record

STDERR_LINES: Final = 20
SUCCEEDED_AGAIN: Final = "a second run succeeded"


@dataclass(frozen=True, slots=True)
class BlockChecks:
    """The checks of a measured block, before it is added to the record."""

    record: Record
    reader: AnswerReader

    def check(
        self, state: InputProgress, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        """Return the block with its final status, and its events that are new."""
        if block.status in schedule.VOID:
            block, events = self._handle_failure(state, target, block)
        else:
            block, events = AnswerChecks(self.record, self.reader).check(state, target, block)
        if event := cache_event(target, block):
            events += state.new_event(event)
        if block.missing:
            events += state.new_event(declared_metrics.missing_event(target, block))
        return block, events

    def _handle_failure(
        self, state: InputProgress, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        if (block.cell_id, "BX201") in state.noted:
            return block, []
        again = None
        if not block.timed_out:  # a program that hangs would hang again
            log = self.record.raw.log(f"{block.cell_id}.stderr")
            again = rerun(self.reader, target, log)
            block = replace(block, stderr_log=str(log.relative_to(self.record.path)))
        return block, state.new_event(failure_event(self.record.plan, target, block, again))


def rerun(reader: AnswerReader, target: Target, log: Path) -> tuple[str, str]:
    """Run a failed command again: return the outcome and last lines of stderr; `log` has all."""
    answers = log.with_suffix(".answers")  # without the file a worker would fail for another reason
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        finished = reader.launcher.run(target.command(answers, reader.timeout_s, stderr=str(log)))
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except MeasureError as error:
        return "; ".join((error.message, *(text for _, text in error.details))), ""
    except OSError as error:
        return f"its stderr could not be stored: {error.strerror}", ""
    finally:
        with contextlib.suppress(OSError):
            answers.unlink(missing_ok=True)
    how = SUCCEEDED_AGAIN if finished.exit_code in reader.policy.exit_codes else finished.how
    return how, "\n".join(lines[-STDERR_LINES:])


def failure_event(plan: Plan, target: Target, block: Block, again: tuple[str, str] | None) -> Event:
    """Return the event BX201: a cell's first failure, with the outcome of a second run."""
    details = [("command", shlex.join(target.argv))]
    if again is not None:
        how, stderr = again
        if stderr:
            if stderr.count("\n") + 1 == STDERR_LINES:
                stderr += f"   (last {STDERR_LINES} lines; all in {block.stderr_log})"
            details.append(("stderr", stderr))
        bad_end = any(code not in plan.answer.exit_codes for code in block.exit_codes)
        if how == SUCCEEDED_AGAIN and bad_end:
            how += "; the cause may be a data race or files of the previous run"
        # If it succeeded before too, the failure is in its answer and this detail says nothing.
        if how != SUCCEEDED_AGAIN or not block.exit_codes or bad_end:
            details.append(("second run", how))
    round_name = f"warm-up round {block.round}" if block.warmup else f"round {block.round}"
    return Event(
        "BX201",
        f"{target.cell.label} failed in {round_name} ({block.message})",
        "error",
        block.cell_id,
        block.round,
        effect="its failed rounds are left out of comparisons; "
        + (
            "no variant can be compared with the baseline"
            if target.cell.role is Role.BASELINE
            else "all other configurations are measured"
        ),
        help=f"reproduce: {reproduction(plan, target.cell)}"
        if plan.scenario_path
        else "run the command by itself; it must exit with 0",
        details=tuple(details),
    )


def reproduction(plan: Plan, cell: Cell) -> str:
    """Return the shell command that measures a cell and its baseline again."""
    variant, given = plan.variant(cell.variant_id), plan.input(cell.input_id)
    terms = [_term(name, value) for name, value in (*variant.values, *given.values)]
    if variant.experiment:
        terms.insert(0, _term("experiment", variant.experiment))
    only = f" -k {shlex.quote(' '.join(terms))}" if terms else ""
    words = iter(plan.asked)
    settings = [
        word
        for option, value in zip(words, words, strict=False)
        if option == "-S"
        for word in (option, value)
    ]
    return f"benchctl run {shlex.join((plan.scenario_path, *settings))}{only} --quick"


def _term(name: str, value: str) -> str:
    """Return a condition of ``-k``; a value with both kinds of quotes becomes a pattern."""
    if re.fullmatch(r"[\w.+-]+", value):
        return f"{name}={value}"
    for quote in "'\"":
        if quote not in value:
            return f"{name}={quote}{value}{quote}"
    pattern = re.escape(value).replace("'", ".")
    return f"{name}~'^{pattern}$'"


def cache_event(target: Target, block: Block) -> Event | None:
    """Return the event BX341 or BX342 if the requested page cache was not confirmed, or `None`."""
    requested, actual = target.cell.cache, block.page_cache
    if (
        block.status in {"failed", "timeout"}
        or actual is None
        or requested in {"unknown", actual.state}
    ):
        return None
    cold = requested == "cold"
    place = f"{'warm-up ' if block.warmup else ''}round {block.round}"
    return Event(
        "BX341" if cold else "BX342",
        f"page cache not verified to be {requested}: {target.cell.label} in {place}: {actual.why}",
        cell_id=block.cell_id,
        round=block.round,
        effect=("" if cold else "in a comparison with cold runs, ")
        + "the round does not count for this configuration; "
        "it is not compared if more than 5 % of its rounds are lost",
        help="store the input on a local disk, in files that you own and no other program uses, "
        "and run as root"
        if cold
        else "choose an input that fits into memory, or set `cache: unknown`",
        details=(("input", str(target.input_path)),),
    )
