"""The system calls that a scenario requires of a configuration (`calls`), counted by strace in an untimed run."""

import contextlib
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench_framework.execution.counting.single_run import SingleRunner
from bench_framework.execution.machine.host import seconds
from bench_framework.execution.machine.processes import has_descendants
from bench_framework.execution.process import Finished
from bench_framework.execution.target import Target
from bench_framework.foreign import in_one_line, text_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.record.run import Event
from bench_framework.text.errors import new_event
from bench_framework.text.reasons import phrase_of

STRACE: Final = ("strace", "-f", "--seccomp-bpf", "-qq", "-c", "-I", "2", "-e", "signal=none", "-e")
"""Command that counts system calls and their errors, and stops the program only at those that it counts. With
``-I 2``, SIGTERM ends strace, which then prints its table."""
START: Final = "execve"
"""System call that is counted too. Each traced program has made it, so that a table without it is no table."""
UNKNOWN_CALL: Final = re.compile(r"strace: invalid system call '([^']*)'")
LOOK_S: Final = 0.1
"""Interval in which the processes of strace are looked for."""
ALONE_S: Final = 1.0
"""Time without a process of its own after which strace is ended. It also has none before the program starts."""


@dataclass(frozen=True, slots=True)
class CallsFault:
    """Why the required system calls of a configuration were not all made, or not checked.

    `failure` is the reason for which it failed; empty if the calls could not be checked.
    """

    event: Event
    failure: str = ""


def check_calls(
    runner: SingleRunner, target: Target, number: int | None = None
) -> CallsFault | None:
    """Run a target once under strace. Return `None` if each of its `calls` succeeded.

    `number` is that of the round that it follows; `None` in a trial run.
    """
    calls, end = target.cell.calls, _End()
    place, label = (target.cell.id, number), target.cell.label

    def under(folder: Path) -> Sequence[str]:
        traced = ",".join((START, *calls))
        return [*STRACE, f"trace={traced}", "-o", f"{folder}/calls", "--"]

    def read(folder: Path, _: Finished) -> tuple[str, str]:
        return text_of(folder / "calls"), in_one_line(text_of(folder / "stderr"))

    limit_s = runner.setup_timeout_s
    outcome = runner.run(target, None, limit_s, under=under, read=read, poll=end.poll)
    table, printed = outcome.output or ("", "")
    if unknown := UNKNOWN_CALL.search(printed):
        reason = phrase_of(PhraseCode.UNKNOWN_CALL, unknown[1])
        event = new_event("BX219.unknown", "error", *place, label=label, call=unknown[1])
        return CallsFault(event, reason)
    if not (outcome.status == "ok" or end.requested) or not successes(table, START):
        # strace ends with 1 after an error of its own, which `exit-codes` may allow.
        reason = outcome.message or printed
        return CallsFault(new_event("BX353", "warning", *place, label=label, reason=reason))
    absent = ", ".join(call for call in calls if not successes(table, call))
    if not absent:
        return None
    event = new_event("BX219.absent", "error", *place, label=label, calls=absent)
    return CallsFault(event, phrase_of(PhraseCode.NO_CALL, absent))


@dataclass(slots=True)
class _End:
    """The end of strace, which would also wait for background processes that the program leaves.

    The launcher adopts them when the program ends, so that strace has no process below it any more.
    """

    requested: bool = False
    looked: float = 0.0
    busy: float = field(default_factory=seconds)

    def poll(self, strace: int) -> None:
        """End strace if it has been without its program for some time."""
        now = seconds()
        if self.requested or now - self.looked < LOOK_S:
            return
        self.looked = now
        if has_descendants(strace):
            self.busy = now
        elif now - self.busy > ALONE_S:
            self.requested = True
            with contextlib.suppress(ProcessLookupError):
                os.kill(strace, signal.SIGTERM)


def successes(table: str, call: str) -> int:
    """Return how often a system call succeeded, from the table of ``strace -c``."""
    for line in table.splitlines():
        words = line.split()  # % time, seconds, usecs/call, calls, errors if there are any, name
        if words[-1:] == [call]:
            return int(words[3]) - sum(map(int, words[4:-1]))
    return 0
