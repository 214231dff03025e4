"""Untimed single runs of a cell's command, checked like any other run."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench_framework.errors import AnswerError, Interrupted, MeasureError
from bench_framework.execution import worker
from bench_framework.execution.answers import AnswerReader, largest_answer
from bench_framework.execution.inputs import pagecache
from bench_framework.execution.machine.host import seconds
from bench_framework.execution.process import Finished, Launcher, scratch_folder
from bench_framework.execution.server import Servers
from bench_framework.execution.target import Target, run_setup
from bench_framework.foreign import in_one_line, text_of
from bench_framework.model.metrics import KERNEL_KEYS
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.policies import AnswerPolicy
from bench_framework.model.record.run import CountStatus, Receipt
from bench_framework.store.layout import Raw
from bench_framework.text.reasons import phrase_of

if TYPE_CHECKING:  # `plan` describes binaries with this module, and loads no records
    from bench_framework.store.records import Record

SAMPLE_S: Final = 0.001
"""Interval of the callback `poll` of a run."""


@dataclass(frozen=True, slots=True)
class SingleRun:
    """The outcome of a single run.

    `finished` is `None` if the process could not be started. `message` is the reason if the status
    is not ``ok``, in one line.
    """

    status: CountStatus
    finished: Finished | None = None
    message: str | None = None
    receipt: Receipt | None = None
    output: Any = None
    """Result of the callback `read`."""
    server_s: float = 0.0
    """Time in seconds that the server took to start and to end."""


@dataclass(frozen=True, slots=True)
class SingleRunner:
    """Runner of the single runs of a plan.

    `setup_timeout_s` is the time limit of each command of `prepare` and `cleanup`.
    """

    launcher: Launcher
    policy: AnswerPolicy
    setup_timeout_s: float
    raw: Raw | None = None
    """Folder of the record whose answers are expected."""

    def run(
        self,
        target: Target,
        expected: str | None,
        timeout_s: float,
        *,
        under: Callable[[Path], Sequence[str]] = lambda _: (),
        read: Callable[[Path, Finished], Any] = lambda _folder, _finished: None,
        poll: Callable[[int], None] | None = None,
    ) -> SingleRun:
        """Prepare, run, check, clean up.

        `under` returns the command prefix of a counting tool, given a scratch folder, in which
        `read` reads its files, also after a failed run. `poll` is called with the process id about
        every millisecond. Answers are not compared if `expected` is `None`.

        Raises:
            Interrupted: the user killed the run.
            MachineError: the launcher died, or no temporary folder can be created.
        """
        with scratch_folder() as scratch:
            folder = Path(scratch)
            servers, began = Servers(self.launcher, lambda _: folder / "server"), seconds()
            try:
                with servers.around(target) as (at_port, _):
                    ready = seconds()
                    if failed := run_setup(self.launcher, at_port, "prepare", self.setup_timeout_s):
                        return SingleRun("failed", message=failed)
                    _drop_input(target)
                    outcome = self._run_command(
                        at_port, expected, timeout_s, folder, under(folder), poll
                    )
                    if outcome.finished is not None:
                        outcome = replace(outcome, output=read(folder, outcome.finished))
                    failed = run_setup(self.launcher, at_port, "cleanup", self.setup_timeout_s)
                    if failed and outcome.status == "ok":
                        outcome = replace(outcome, status="failed", message=failed)
                    ended = seconds()
                took_s = seconds() - ended + ready - began
                return outcome if target.server is None else replace(outcome, server_s=took_s)
            except MeasureError as error:
                if target.cell.server is None or error.code not in {"BX207", "BX231"}:
                    raise
                return SingleRun("failed", message=error.line)

    def _run_command(
        self,
        target: Target,
        expected: str | None,
        timeout_s: float,
        folder: Path,
        under: Sequence[str],
        poll: Callable[[int], None] | None,
    ) -> SingleRun:
        out, errors, answers = folder / "stdout", folder / "stderr", folder / "answers"
        stored = self.policy.stdout == "file"
        command = target.command(
            answers,
            timeout_s,
            argv=[*under, *target.argv],
            stdout=str(out) if stored else None,
            stderr=str(errors),
            limited=(str(out), largest_answer(self.policy)) if stored else None,
            observe=(*KERNEL_KEYS.values(), "ru_maxrss"),
        )
        reader = AnswerReader(self.launcher, self.policy, self.setup_timeout_s)
        before = reader.mark()
        try:
            on_poll = None if poll is None else lambda: poll(self.launcher.running or 0)
            finished = self.launcher.run(command, on_poll, SAMPLE_S)
        except MeasureError as error:
            if error.code == "BX232":
                raise
            return SingleRun("failed", message=error.line)
        if finished.killed:
            raise Interrupted("BX130.sample")
        if finished.timed_out:
            return SingleRun("timeout", finished, phrase_of(PhraseCode.TIMED_OUT_AFTER, timeout_s))
        if finished.exit_code not in self.policy.exit_codes:
            printed = in_one_line(text_of(errors))
            message = finished.how
            if printed:
                message = phrase_of(PhraseCode.BECAUSE, message, printed)
            return SingleRun("failed", finished, message)
        receipt, digest = None, expected
        try:
            reader.require_written(before)
            if self.policy.contract:
                lines = worker.answer_lines(answers)
                reply = worker.read_replies(lines, 1, timed=False)[0]
                receipt, digest = reply.receipt, reply.answer.digest
            elif expected is not None:
                reference = self.raw.reference(target.cell) if self.raw is not None else None
                digest = reader.read_run(target, folder, reference).digest
        except AnswerError as error:
            return SingleRun("failed", finished, error.line)
        if expected is not None and digest != expected:
            other = (digest or "")[:12]
            words = phrase_of(PhraseCode.OTHER_THAN_TIMED, other, expected[:12])
            return SingleRun("failed", finished, words, receipt)
        return SingleRun("ok", finished, receipt=receipt)


def expected_answer(record: "Record", cell_id: str) -> str | None:
    """Return the digest of the answer of a cell's timed runs; `None` if they gave none or several."""
    blocks = (b for b in record.contents.blocks if b.cell_id == cell_id and b.status == "ok")
    answers = (b.answer for b in blocks if b.answer is not None)
    digests = {answer.digest for answer in answers if answer.source != "none"}
    return digests.pop() if len(digests) == 1 and record.plan.answer.compare != "none" else None


def _drop_input(target: Target) -> None:
    """Drop the pages of the input of a cold cell, whose timed runs read it from storage too."""
    if target.cell.cache == "cold" and target.input_path is not None:
        with contextlib.suppress(OSError):
            pagecache.InputPages(Path(target.input_path), target.input_files).drop()
