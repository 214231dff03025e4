"""Sessions of a record: the next one, its start, and its copies of programs and generated inputs.

A copy has new inodes, and other pages in memory. Both differ between two measurements of one program, and
stay the same during one (docs/method.md#sessions). The paths are the same in every session, because
outputs may contain them.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bench_framework.errors import CellError, MachineError
from bench_framework.execution.build.binaries import EXECUTABLE
from bench_framework.execution.inputs import pagecache
from bench_framework.execution.inputs.datasets import ROOM_LEFT_BYTES, USER_KINDS, data_dir
from bench_framework.execution.machine.host import free_bytes, seconds
from bench_framework.execution.machine.lock import RETRY_S
from bench_framework.execution.progress import Message, Waiting
from bench_framework.execution.stop import Driver
from bench_framework.execution.target import Target, target_of
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.record.run import Build, Event, PreparedInput
from bench_framework.store import layout
from bench_framework.store.journal import Contents
from bench_framework.store.layout import writing
from bench_framework.store.records import Record
from bench_framework.text.errors import new_event
from bench_framework.text.numbers import format_size
from bench_framework.text.reasons import phrase_of

FOLDER: Final = ".benchctl-sessions"
"""Folder of the copies within that of generated inputs. Only one session of a machine measures at a time."""


def next_session(plan: Plan, contents: Contents) -> int:
    """Return the number of the session to measure next, from 1; it may have been interrupted.

    The input with the most rounds decides: another one may have stopped because its cells failed. A
    session that was interrupted in the last round of an input continues, and so does one whose interim
    analyses were interrupted, because they may end the measurement.
    """
    measure, most = plan.measure, max(contents.rounds.values(), default=0)
    if measure.sessions == 1 or measure.by_budget:
        return 1
    done, begun = divmod(most, measure.session_rounds)
    last = [input_id for input_id, rounds in contents.rounds.items() if rounds == most - 1]
    if done and not begun and not all(_has_ended(plan, contents, input_id) for input_id in last):
        return done
    if not begun and done >= measure.fewest_sessions and _unanalysed(plan, contents, most):
        return done
    return min(measure.sessions, done + 1)


def _unanalysed(plan: Plan, contents: Contents, number: int) -> bool:
    """Return whether an input that goes on has no interim analysis after its last round, which is due."""
    analysed = {look.input_id for look in contents.looks if look.round == number}
    return number in looks_of(plan).rounds and any(
        rounds == number and input_id not in analysed and not _has_ended(plan, contents, input_id)
        for input_id, rounds in contents.rounds.items()
    )


def _has_ended(plan: Plan, contents: Contents, input_id: str) -> bool:
    """Return whether a look ended an input, or failures of its cells left nothing to compare."""
    lost = {c for c, line in contents.dropped.items() if line.state in ("failed", "other-output")}
    # Others have never run, because their program was not built or a slot has no value.
    known = lost | {block.cell_id for block in contents.blocks if not block.warmup}
    cells = {cell.id for cell in plan.compared_cells(input_id) if cell.id in known}
    return contents.stopped(input_id) or bool(cells & lost and len(cells - lost) <= 1)


def wait_for_session(record: Record, driver: Driver) -> None:
    """Wait until the next session may start; other processes can measure meanwhile.

    Raises `Interrupted`: the user stopped it.
    """
    driver.stop.check()
    measure, contents = record.plan.measure, record.contents
    number = next_session(record.plan, contents)
    code = PhraseCode.SESSION if measure.sessions_min is None else PhraseCode.SESSION_AT_MOST
    text = phrase_of(code, number, measure.sessions)
    driver.observer.notify(Message(text))
    last = (number - 2) * measure.session_rounds
    started = [b.started_at for b in contents.blocks if not b.warmup and b.round > last]
    if not started:
        return
    due = datetime.fromisoformat(started[0]) + timedelta(seconds=measure.every_s)
    text, began = phrase_of(PhraseCode.SESSION_AT, text, f"{due.astimezone():%H:%M}"), seconds()
    while datetime.now(UTC) < due:
        driver.stop.check()
        driver.observer.notify(Waiting(text, seconds() - began))
        time.sleep(RETRY_S)


@dataclass(frozen=True, slots=True)
class Files:
    """The programs and inputs that a session measures."""

    builds: tuple[Build, ...]
    inputs: tuple[PreparedInput, ...]


def targets_of(
    record: Record, cells: Iterable[Cell], files: Files, env: Mapping[str, str]
) -> tuple[dict[str, Target], list[Event]]:
    """Return the targets of cells by id, and an event for each slot without a value.

    A cell whose program was not built has no target.
    """
    plan, targets, events = record.plan, dict[str, Target](), list[Event]()
    builds = {build.id: build for build in files.builds}
    inputs = {prepared.input_id: prepared for prepared in files.inputs}
    tuning = str(record.path / layout.TUNING) if plan.tuning else None
    for cell in cells:
        build = builds.get(plan.build_id(cell))
        if build is None or not build.ok:
            continue
        try:
            targets[cell.id] = target_of(cell, build, inputs.get(cell.input_id), env, tuning)
        except CellError as error:
            events.append(Event(error.code, error.message, "error", cell.id, help=error.fix))
    return targets, events


def needs_copies(plan: Plan) -> bool:
    """Return whether a plan is measured with copies: in sessions, or as the second pass of a gate."""
    return plan.measure.sessions > 1 or bool(plan.confirms)


@contextlib.contextmanager
def fresh_copies(record: Record, env: Mapping[str, str]) -> Iterator[Files]:
    """Copy the files of a record, and remove the copies afterwards.

    The user's own files are not copied, because programs may find other files next to them. Their pages
    are removed from memory, so that the warm-up reads them again. A program that may depend on its own
    path is not copied either; the record notes it (BX346).

    Raises `MachineError`: the disk has too little space (BC401) or cannot be written (BX235).
    """
    plan, contents = record.plan, record.contents
    if not needs_copies(plan):
        yield Files(contents.builds, contents.inputs)
        return
    data = data_dir(plan.data_dir, env)
    programs, inputs = (root / FOLDER for root in (data_dir(None, env), data))
    place = f"{plan.name}-{record.id}"
    _remove(programs, inputs)
    _require_space(plan, contents.inputs, data)
    try:
        with writing(data):
            builds = [_copied_build(plan, build, programs / place) for build in contents.builds]
            items = [_copied_input(plan, item, inputs / place) for item in contents.inputs]
            os.sync()  # the disk is idle when the measurement starts
        yield Files(tuple(builds), tuple(items))
    finally:
        _remove(programs, inputs)


def copy_events(plan: Plan, builds: Sequence[Build]) -> list[Event]:
    """Return the event BX346 for programs that sessions do not copy."""
    uncopied = [build for build in builds if build.path and not _may_be_copied(plan, build)]
    if not needs_copies(plan) or not uncopied:
        return []
    names = dict.fromkeys(Path(build.path or "").name for build in uncopied)
    return [new_event("BX346", "note", programs=", ".join(names))]


def _may_be_copied(plan: Plan, build: Build) -> bool:
    """Return whether a program works at another path: benchctl built it, or its control is a copy."""
    if plan.program is None and build.files_sha256 is None:
        return True
    return build.control_path not in {None, build.path}


def _copied_build(plan: Plan, build: Build, place: Path) -> Build:
    if build.path is None or not _may_be_copied(plan, build):
        return build

    def copy(source: str | None, name: str) -> str | None:
        if source is None:
            return None
        target = place / build.id / name / Path(source).name
        _copy(Path(source), target)
        target.chmod(EXECUTABLE)
        return str(target)

    control = copy(build.control_path, "control")
    return replace(build, path=copy(build.path, "measured"), control_path=control)


def _copied_input(plan: Plan, item: PreparedInput, place: Path) -> PreparedInput:
    dataset = plan.input(item.input_id).dataset
    if item.path is None or dataset is None:
        return item
    source = Path(item.path)
    if dataset.kind in USER_KINDS:
        if any(cell.cache != "unknown" for cell in plan.cells_of(item.input_id)):
            pagecache.InputPages(source, item.files).drop()
        return item
    target = place / source.name
    if not target.exists():  # several inputs may share one dataset
        _copy(source, target)
    return replace(item, path=str(target))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)


def _require_space(plan: Plan, inputs: Sequence[PreparedInput], folder: Path) -> None:
    sizes = {
        item.path: item.size_bytes or 0
        for item in inputs
        if (dataset := plan.input(item.input_id).dataset) and dataset.kind not in USER_KINDS
    }
    needed, free = sum(sizes.values()), free_bytes(folder)
    if needed and free < needed + ROOM_LEFT_BYTES:
        need = Phrase(PhraseCode.SESSION_NEEDS, (needed, str(folder)))
        raise MachineError("BC401", need=need, free=format_size(free))


def _remove(*places: Path) -> None:
    for place in places:
        shutil.rmtree(place, ignore_errors=True)
