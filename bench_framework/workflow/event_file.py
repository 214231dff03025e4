"""Progress as JSON lines: an observer that writes a file for programs that follow a measurement."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from bench_framework.execution import progress
from bench_framework.execution.machine.host import utc_now
from bench_framework.masking import masked_json
from bench_framework.model.documents import events
from bench_framework.model.documents.comparison import comparison_document
from bench_framework.model.phrases import PhraseCode
from bench_framework.store import layout
from bench_framework.text.documents import document_text
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.run_progress import Work, count_update


class EventFile:
    """An observer that writes a line for each update that a program needs, and passes each update on.

    Nothing is written while a program is timed.
    """

    def __init__(self, file: TextIO, path: Path, observer: progress.Observer) -> None:
        self._file, self._path, self._observer = file, path, observer
        self._work: Work | None = None

    def notify(self, update: progress.Update) -> None:
        """Pass the update on, and write its line. Raises `MachineError` (BX235): writing failed."""
        self._observer.notify(update)
        self._work = count_update(self._work, update)
        for line in _lines(update, self._work):
            text = masked_json(document_text(line, indent=None))
            with layout.writing(self._path):
                self._file.write(text)
                self._file.flush()


@contextmanager
def event_file(path: Path, observer: progress.Observer) -> Iterator[progress.Observer]:
    """Yield an observer that appends events to a file and passes updates on. Raises `MachineError`."""
    with layout.writing(path):
        file = path.open("a", encoding="utf-8")
    with file:
        yield EventFile(file, path, observer)


def _lines(update: progress.Update, work: Work | None) -> Iterator[events.EventLine]:
    at = utc_now()
    match update:
        case progress.PlanReady(plan=plan):
            yield events.PlanEvent(at=at, scenario=plan.name, configurations=len(plan.cells))
        case progress.BuildFinished(build=build):
            yield events.BuildEvent(
                at=at,
                label=update.label,
                index=update.index,
                total=update.total,
                ok=build.ok,
                seconds=build.build_s,
            )
        case progress.DataFinished():
            yield events.InputEvent(at=at, input=update.label, reused=update.reused)
        case progress.LimitKnown():
            yield events.LimitEvent(at=at, rounds=update.limit.rounds)
        case progress.Remark(event=event):
            code, severity = event.code, event.severity
            yield events.WarningEvent(at=at, code=code, severity=severity, message=event.message)
        case progress.Message(text=text) | progress.RunEnded(text=text):
            yield events.MessageEvent(at=at, text=text)
        case progress.Waiting() if update.elapsed_s == 0:
            yield events.MessageEvent(at=at, text=phrase_of(PhraseCode.WAITING, update.reason))
        case _ if work is not None:
            yield from _measured(update, work, at)


def _measured(update: progress.Update, work: Work, at: str) -> Iterator[events.EventLine]:
    plan = work.plan
    match update:
        case progress.RoundFinished():
            yield events.RoundEvent(
                at=at,
                input=plan.input(update.input_id).label,
                round=update.round,
                warmup=update.warmup,
                done=work.rounds_done,
                total=work.rounds_total,
                left_s=work.left_s(work.elapsed_s),
            )
        case progress.InterimVerdicts(comparisons=comparisons):
            for item in plan.inputs:
                cells = {cell.id for cell in plan.cells_of(item.id)}
                of_input = tuple(
                    comparison_document(plan, c) for c in comparisons if c.cell_id in cells
                )
                if of_input:
                    yield events.VerdictsEvent(at=at, input=item.label, comparisons=of_input)
        case progress.LookTaken(look=look) if look.stopped:
            label = plan.input(look.input_id).label
            yield events.StopEvent(at=at, input=label, round=look.round, reason=look.reason)
        case progress.CellDropped():
            cell = plan.cell(update.cell_id)
            yield events.DropEvent(
                at=at,
                variant=plan.variant(cell.variant_id).label,
                input=plan.input(cell.input_id).label,
                round=update.round,
                reason=update.reason,
                raced=update.raced,
            )
