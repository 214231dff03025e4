"""The command that a scenario runs once before anything is measured, and what it printed."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from bench_framework.errors import CellError
from bench_framework.execution.process import Command
from bench_framework.execution.target import build_id_of, target_of
from bench_framework.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from bench_framework.execution.process import Launcher
    from bench_framework.execution.stop import Stop
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Build, PreparedInput
    from bench_framework.store.records import Record

LARGEST_BYTES = 1 << 20
"""What is printed is drawn as a table; more than this is no table for a reader."""
STDERR_LINES = 10


def tune(
    plan: Plan,
    record: Record,
    builds: Iterable[Build],
    inputs: Iterable[PreparedInput],
    launcher: Launcher,
    env: Mapping[str, str],
    stop: Stop,
) -> None:
    """Run `plan.tuning` with the baseline's program and keep what it prints in the record, once.

    A record that is continued keeps what it has: its rounds were measured by that.

    Raises:
        Interrupted: `stop` was asked for; nothing of it is kept.
        CellError: BX204, the baseline could not be built, or the command failed, took longer than a run may, or
            printed no JSON object.
        MachineError: BX235, the record cannot be written.
    """
    if not plan.tuning or is_done(record):
        return
    cell = next(cell for cell in plan.cells if cell.variant_id == plan.baseline_id)
    build = next((b for b in builds if b.id == build_id_of(plan, cell) and b.ok), None)
    if build is None:
        raise _failed(("{bin}",), "the baseline's program could not be built", None)
    prepared = next((item for item in inputs if item.input_id == cell.input_id), None)
    bare = replace(cell, command=plan.tuning, stdin=None, prepare=(), cleanup=(), shell=False)
    target = target_of(bare, build, prepared, env)
    said, complaints = record.raw.log("tuning.stdout"), record.raw.log("tuning.stderr")
    with layout.writing(said):
        said.parent.mkdir(parents=True, exist_ok=True)
        for path in (said, complaints):
            path.unlink(missing_ok=True)
    finished = launcher.run(
        Command(
            target.argv,
            target.env,
            target.cwd,
            stdout=str(said),
            stderr=str(complaints),
            timeout_s=plan.measure.timeout_s,
            cpus=target.cpus,
        )
    )
    stop.check()
    if finished.exit_code != 0:
        raise _failed(target.argv, finished.how, complaints)
    text = said.read_bytes()[: LARGEST_BYTES + 1]
    if len(text) > LARGEST_BYTES or not is_object(text):
        raise _failed(
            target.argv, f"printed no JSON object of at most {LARGEST_BYTES >> 20} MiB", complaints
        )
    layout.write_whole(record.path / layout.TUNING, text)


def is_done(record: Record) -> bool:
    """Whether the record holds what was printed."""
    return (record.path / layout.TUNING).is_file()


def is_object(text: bytes) -> bool:
    """Whether a text is one JSON object that any reader of JSON takes."""
    try:
        said = json.loads(text, parse_int=_whole)
        json.dumps(said, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict)


def _whole(digits: str) -> int:
    """A whole number that a float can hold: a report scales it."""
    if not math.isfinite(float(digits)):
        raise ValueError(digits)
    return int(digits)


def _failed(argv: tuple[str, ...], how: str, complaints: Path | None) -> CellError:
    lines: list[str] = []
    if complaints is not None:
        with contextlib.suppress(OSError):
            lines = complaints.read_text(encoding="utf-8", errors="replace").splitlines()
    said = (("stderr", "\n".join(lines[-STDERR_LINES:])),) if lines else ()
    return CellError(
        f"the command under `tuning` {how}"
        if how.startswith("printed")
        else f"the command under `tuning` failed: {how}",
        code="BX204",
        details=(("command", " ".join(argv)), *said),
        effect="nothing was measured",
        help="mend it and run again; `--fresh` starts over",
    )
