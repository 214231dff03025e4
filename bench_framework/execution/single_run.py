"""A cell's command run once by itself, outside timing, and checked like any other run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from bench_framework.errors import AnswerError, Interrupted, MeasureError
from bench_framework.execution import worker
from bench_framework.execution.process import Command, scratch_folder
from bench_framework.model.metrics import KERNEL_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench_framework.execution.process import Finished, Launcher
    from bench_framework.execution.target import Target
    from bench_framework.model.policies import AnswerPolicy
    from bench_framework.model.run import Receipt

STDERR_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class SingleRun:
    """How it went.

    Attributes:
        status: ``ok`` if it did the work that was asked for.
        finished: how the process ended; `None` if it could not be started.
        message: why it is not ``ok``, in one line.
        receipt: of a worker with the contract.
    """

    status: Literal["ok", "failed", "timeout"]
    finished: Finished | None = None
    message: str | None = None
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class Alone:
    """What all single runs of a plan share.

    Attributes:
        launcher: starts them.
        policy: how their work is judged.
        aside_s: time limit of each command of `prepare` and `cleanup`.
    """

    launcher: Launcher
    policy: AnswerPolicy
    aside_s: float

    def run(
        self,
        target: Target,
        expected: str | None,
        timeout_s: float,
        *,
        under: Callable[[Path], Sequence[str]] = lambda _: (),
        read: Callable[[Path, Finished], None] = lambda _folder, _finished: None,
    ) -> SingleRun:
        """Prepare, run, check, clean up.

        Args:
            target: the cell.
            expected: digest of the answer that it must give; `None` if answers are not compared.
            timeout_s: of the run.
            under: words before the command, such as those of a tool that counts; it is given a scratch folder.
            read: reads what the tool left in that folder, whether the run was good or not.

        Raises:
            Interrupted: it was killed by the user.
            MachineError: the launcher died, or no temporary folder can be made.
        """
        with scratch_folder() as scratch:
            folder = Path(scratch)
            if failed := next(self._aside(target, target.prepare, "prepare"), None):
                return SingleRun("failed", message=failed)
            found = self._once(target, expected, timeout_s, folder, under(folder))
            if found.finished is not None:
                read(folder, found.finished)
            failed = next(self._aside(target, target.cleanup, "cleanup"), None)
            if failed and found.status == "ok":
                return SingleRun("failed", found.finished, failed)
            return found

    def _once(
        self,
        target: Target,
        expected: str | None,
        timeout_s: float,
        folder: Path,
        under: Sequence[str],
    ) -> SingleRun:
        out, said, answers = folder / "stdout", folder / "stderr", folder / "answers"
        keeps = self.policy.stdout == "file"
        command = Command(
            [*under, *target.argv],
            {**target.env, worker.ANSWERS: str(answers)},
            target.cwd,
            target.stdin,
            str(out) if keeps else None,
            str(said),
            timeout_s=timeout_s,
            cpus=target.cpus,
            observe=tuple(KERNEL_KEYS.values()),
        )
        try:
            finished = self.launcher.run(command)
        except MeasureError as error:
            if error.code == "BX232":
                raise
            return SingleRun(
                "failed", message="; ".join((error.message, *(text for _, text in error.details)))
            )
        if finished.killed:
            raise Interrupted("interrupted", effect="the run in flight is dropped")
        if finished.timed_out:
            return SingleRun("timeout", finished, f"timed out after {timeout_s:g} s")
        if finished.exit_code not in self.policy.exit_codes:
            return SingleRun("failed", finished, f"{finished.how}{_last_words(said)}")
        try:
            return self._answered(finished, expected, out, answers)
        except AnswerError as error:
            cause = "; ".join(f"{name} {text}" for name, text in error.details)
            return SingleRun("failed", finished, f"{error.message}{f' ({cause})' if cause else ''}")

    def _answered(
        self, finished: Finished, expected: str | None, out: Path, answers: Path
    ) -> SingleRun:
        receipt = None
        digest = expected
        if self.policy.contract:
            lines = (
                [line for line in answers.read_bytes().split(b"\n") if line]
                if answers.is_file()
                else []
            )
            reply = worker.read_replies(lines, 1)[0]
            receipt, digest = reply.receipt, reply.answer.digest
        elif expected is not None:
            path = Path(self.policy.file) if self.policy.file else out
            digest = worker.digest_file(path, self.policy).digest
        if expected is not None and digest != expected:
            words = f"its answer {(digest or '')[:12]} is not {expected[:12]}, as when it was timed"
            return SingleRun("failed", finished, words, receipt)
        return SingleRun("ok", finished, None, receipt)

    def _aside(self, target: Target, commands: Sequence[Sequence[str]], what: str) -> Iterator[str]:
        """Why `prepare` or `cleanup` failed; nothing if it did not."""
        for argv in commands:
            try:
                said = self.launcher.capture(
                    argv, target.env, cwd=target.cwd, timeout_s=self.aside_s
                )
            except MeasureError as error:
                yield f"{what}: {error.message}"
                return
            if said.finished.killed:
                raise Interrupted("interrupted", effect="the run in flight is dropped")
            if not said.ok:
                yield f"{what} ({argv[0]}): {said.finished.how}"
                return


def _last_words(said: Path) -> str:
    """What a failed program said last, for a message."""
    text = said.read_text(encoding="utf-8", errors="replace") if said.is_file() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {' / '.join(lines[-STDERR_LINES:])}" if lines else ""
