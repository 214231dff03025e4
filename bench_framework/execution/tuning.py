"""The `tuning` command of a scenario, which runs once before measuring, and its output."""

import json
import math
from dataclasses import replace
from pathlib import Path

from bench_framework.errors import CellError
from bench_framework.execution.process import Command
from bench_framework.execution.stop import Driver
from bench_framework.execution.target import target_of
from bench_framework.foreign import first_lines, is_short, last_lines, parse_json, text_of
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.reasons import Part
from bench_framework.store import layout
from bench_framework.store.records import Record

LARGEST_BYTES = 1 << 20
"""Largest output; reports show it as a table."""
STDERR_LINES = 10


def tune(record: Record, driver: Driver) -> None:
    """Run `Plan.tuning` with the baseline's program once and store its output in the record.

    A resumed record keeps its output, which its earlier rounds used.

    Raises:
        Interrupted: a stop was requested; nothing is stored.
        CellError: BX204, the baseline could not be built, or the command failed, took longer than
            a run may, or printed no JSON object.
        MachineError: BX235, the record cannot be written.
    """
    plan, contents = record.plan, record.contents
    if not plan.tuning or is_done(record):
        return
    cell = next(cell for cell in plan.cells if cell.variant_id == plan.baseline_id)
    build_id = plan.variant(cell.variant_id).build_id
    build = next((b for b in contents.builds if b.id == build_id and b.ok), None)
    if build is None:
        raise _failed(("{bin}",), PhraseCode.BASELINE_NOT_BUILT)
    prepared = next((item for item in contents.inputs if item.input_id == cell.input_id), None)
    bare = replace(cell, stdin=None, prepare=(), cleanup=(), shell=False, server=None)
    target = target_of(replace(bare, command=plan.tuning), build, prepared, driver.env)
    output, errors = record.raw.log("tuning.stdout"), record.raw.log("tuning.stderr")
    with layout.writing(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        for path in (output, errors):
            path.unlink(missing_ok=True)
    command = Command(
        target.argv,
        target.env,
        target.cwd,
        stdout=str(output),
        stderr=str(errors),
        timeout_s=plan.measure.timeout_s,
        cpus=target.cpus,
        most_stdout=LARGEST_BYTES,
    )
    finished = driver.launcher.run(command)
    driver.stop.check()
    if finished.exit_code != 0:
        raise _failed(
            target.argv, PhraseCode.FAILED_HOW, finished.how, errors=errors, output=output
        )
    text = output.read_bytes()[: LARGEST_BYTES + 1]
    if len(text) > LARGEST_BYTES or not is_object(text):
        what = PhraseCode.PRINTED_NO_OBJECT
        raise _failed(target.argv, what, LARGEST_BYTES >> 20, errors=errors)
    layout.write_whole(record.path / layout.TUNING, text)


def is_done(record: Record) -> bool:
    """Check if the record contains the output."""
    return (record.path / layout.TUNING).is_file()


def is_object(text: bytes) -> bool:
    """Check if a text is one JSON object that every JSON reader accepts."""
    try:
        # Whole numbers must fit into a float, because a report scales them.
        document = parse_json(text, whole=_whole)
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict)


def _whole(digits: str) -> int:
    if not math.isfinite(float(digits)):
        raise ValueError(digits)
    return int(digits)


def _failed(
    argv: tuple[str, ...],
    code: PhraseCode,
    *parts: Part,
    errors: Path | None = None,
    output: Path | None = None,
) -> CellError:
    lines = text_of(errors).splitlines() if errors is not None else []
    details = (("stderr", "\n".join(last_lines(lines, STDERR_LINES))),) if lines else ()
    if output is not None and is_short(lines) and (first := first_lines(text_of(output))):
        details = (*details, ("stdout", "\n".join(first)))
    details = (("command", " ".join(argv)), *details)
    return CellError("BX204", details=details, what=Phrase(code, parts))
