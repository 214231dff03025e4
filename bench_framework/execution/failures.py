"""Failed runs: the repetition that shows their output, and the event that reports them.

hyperfine sends stderr of a timed command to /dev/null, and a file in its place would change the times
of programs that write to it. So a command that failed is repeated outside timing.
"""

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from bench_framework.errors import MeasureError
from bench_framework.execution.answers import AnswerReader
from bench_framework.execution.machine.host import seconds
from bench_framework.execution.server import SERVER_LOG, Servers
from bench_framework.execution.target import Target, run_setup
from bench_framework.foreign import first_lines, is_short, last_lines, text_of
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.record.run import SIGNAL_BASE, Block, Event
from bench_framework.scenario.selection import condition
from bench_framework.store.layout import Raw
from bench_framework.text.errors import new_event
from bench_framework.text.reasons import phrase, phrase_of

STDERR_LINES: Final = 20
SUCCEEDED_AGAIN: Final = Phrase(PhraseCode.SUCCEEDED_AGAIN)
MOST_REPETITIONS: Final = 20
"""Most repetitions of a run that failed, until one fails again."""
REPETITIONS_S: Final = 2.0
"""Time in seconds after which no further repetition starts."""
MOST_STDOUT: Final = 1 << 17
"""Bytes that are stored of the stdout of a failed run: first and last ones."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """The repetitions of a command that failed in a timed run.

    Attributes:
        how: outcome of the last one, such as ``exit status 3``; `None` if it succeeded.
        succeeded: number of repetitions that succeeded.
        stderr: file with that of the last one; `None` if it is not the stderr of a failure.
        stdout: file with that of the last one, if it failed and printed something.
    """

    how: str | None
    succeeded: int = 0
    stderr: Path | None = None
    stdout: Path | None = None


def repeat(reader: AnswerReader, target: Target, block: Block, raw: Raw) -> Repetition:
    """Repeat the command of a failed block, and store the output of the first run that fails again.

    A program that ended with an unexpected exit code may fail only sometimes. It is repeated until
    it fails, at most `MOST_REPETITIONS` times, and not after `REPETITIONS_S`. Another failure, such
    as an invalid answer, is repeated once.
    """
    bad_end = bool(_bad_exit_codes(block, reader.policy.exit_codes))
    most = MOST_REPETITIONS if bad_end else 1
    began, succeeded = seconds(), 0
    errors, output = (raw.log(f"{block.cell_id}.{name}") for name in ("stderr", "stdout"))
    for _ in range(most):
        try:
            how, failed = _run(reader, target, errors, output if bad_end else None)
        except MeasureError as error:
            return Repetition(error.line, succeeded)
        except OSError as error:
            return Repetition(
                phrase_of(PhraseCode.STDERR_NOT_STORED, str(error.strerror)), succeeded
            )
        if failed:
            printed = bad_end and bool(first_lines(text_of(output)))
            if bad_end and not printed:
                output.unlink(missing_ok=True)
            return Repetition(how, succeeded, errors, output if printed else None)
        succeeded += 1
        if seconds() - began > REPETITIONS_S:
            break
    if bad_end:
        for path in (errors, output):
            path.unlink(missing_ok=True)  # the output of a run that succeeded explains no failure
        return Repetition(None, succeeded)
    return Repetition(None, succeeded, errors)


def _run(
    reader: AnswerReader, target: Target, errors: Path, output: Path | None
) -> tuple[str, bool]:
    """Prepare, run and clean up once. Return the outcome, and whether it is a failure."""
    answers = errors.with_suffix(".answers")  # without it a worker would fail for another reason
    errors.parent.mkdir(parents=True, exist_ok=True)
    for path in filter(None, (errors, output)):
        path.unlink(missing_ok=True)
    servers = Servers(reader.launcher, lambda _: errors.with_suffix(SERVER_LOG))
    with servers.around(target) as (at_port, _):
        if failed := run_setup(reader.launcher, at_port, "prepare", reader.timeout_s):
            return failed, True
        try:
            finished = reader.launcher.run(
                at_port.command(
                    answers,
                    reader.timeout_s,
                    stderr=str(errors),
                    stdout=str(output) if output is not None else None,
                    most_stdout=MOST_STDOUT,
                )
            )
        finally:
            with contextlib.suppress(OSError):
                answers.unlink(missing_ok=True)
            run_setup(reader.launcher, at_port, "cleanup", reader.timeout_s)
        return finished.how, finished.exit_code not in reader.policy.exit_codes


def failure_event(plan: Plan, target: Target, block: Block, again: Repetition | None) -> Event:
    """Return the event BX201: a cell's first failure, with the outcome of its repetition."""
    allowed = plan.answer.exit_codes
    codes = _bad_exit_codes(block, allowed)
    details = [("command", shlex.join(target.argv))]
    if target.server is not None:
        details.insert(0, ("server", shlex.join(target.server.argv)))
    if again is not None:
        details += _output_details(again)
        details += _outcome_details(again, bad_end=bool(codes), ended=bool(block.exit_codes))
    first = codes[0] if codes else None
    return block_event(
        "BX201",
        "error",
        target,
        block,
        details=tuple(details),
        place=place_of(block),
        reason=str(block.message),
        baseline=target.cell.role is Role.BASELINE,
        command=reproduction(plan, target.cell) if plan.scenario_path else "",
        exit_status=first if first is not None and first < SIGNAL_BASE else None,
    )


def block_event(
    key: str, severity: Literal["warning", "error"], target: Target, block: Block, /, **values: Any
) -> Event:
    """Return the event of an entry about a block. Its texts may contain the label of the cell."""
    place = (block.cell_id, block.round)
    return new_event(key, severity, *place, label=target.cell.label, **values)


def _output_details(again: Repetition) -> Iterator[tuple[str, str]]:
    """Yield the last lines of stderr. If it is short, yield also the first ones of stdout."""
    errors, output = again.stderr, again.stdout
    lines = last_lines(text_of(errors).splitlines(), STDERR_LINES) if errors is not None else ()
    if lines:
        text = "\n".join(lines)
        if errors is not None and len(lines) == STDERR_LINES:
            place = _place_in_record(errors)
            text = phrase_of(PhraseCode.ALL_LINES_IN, text, STDERR_LINES, place)
        yield "stderr", text
    if output is not None and is_short(lines):
        text = text_of(output)
        first, total = first_lines(text), sum(bool(line.strip()) for line in text.splitlines())
        count, place, text = len(first), _place_in_record(output), "\n".join(first)
        more = phrase_of(PhraseCode.MORE_LINES_IN, text, count, total, place)
        yield "stdout", more if total > count else text


def _place_in_record(path: Path) -> str:
    return "/".join(path.parts[-3:])  # raw/logs/NAME


def _outcome_details(again: Repetition, *, bad_end: bool, ended: bool) -> Iterator[tuple[str, str]]:
    cause, second = Phrase(PhraseCode.MAY_BE_RACE), phrase_of(PhraseCode.SECOND_RUN)
    if again.how is not None:
        runs = phrase_of(PhraseCode.THEN_FAILED, again.succeeded, again.how, cause)
        yield ("repetitions", runs) if again.succeeded else (second, again.how)
    elif bad_end:
        runs = phrase_of(PhraseCode.ALL_SUCCEEDED, again.succeeded, cause)
        once = phrase_of(PhraseCode.AND_CAUSE, SUCCEEDED_AGAIN, cause)
        yield ("repetitions", runs) if again.succeeded > 1 else (second, once)
    elif not ended:
        # If it succeeded before too, the failure is in its answer and this detail says nothing.
        yield second, phrase(SUCCEEDED_AGAIN)


def _bad_exit_codes(block: Block, allowed: Sequence[int]) -> list[int | None]:
    return [code for code in block.exit_codes if code not in allowed]


def place_of(block: Block) -> Phrase:
    """Return the round of a block: ``round 3`` or ``warm-up round 1``."""
    code = PhraseCode.OF_WARM_UP_ROUND if block.warmup else PhraseCode.OF_ROUND
    return Phrase(code, block.round)


def reproduction(plan: Plan, cell: Cell) -> str:
    """Return the shell command that measures a cell and its baseline again."""
    variant, revisions = plan.variant(cell.variant_id), plan.revisions
    # The input of two revisions has all values that the scenario knows.
    values = plan.input(cell.input_id).values if revisions else plan.values_of(cell)
    terms = [condition(name, value) for name, value in values]
    if variant.experiment:
        terms.insert(0, condition("experiment", variant.experiment))
    only = f" -k {shlex.quote(' '.join(terms))}" if terms else ""
    settings = [word for override in plan.invocation.overrides for word in ("-S", override)]
    end = shlex.join(("--quick", *(revisions.words if revisions else ())))
    return f"benchctl run {shlex.join((plan.scenario_path, *settings))}{only} {end}"
