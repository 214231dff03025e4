"""Stop requests, and the driver that obeys them: the first Ctrl-C ends after a block, the second one kills it."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench_framework.errors import Interrupted
from bench_framework.execution.progress import Message, Observer, SilentObserver, Update
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.text.reasons import phrase_of

if TYPE_CHECKING:
    from bench_framework.execution.process import Launcher


class Stop:
    """The stop request of the user. `level` 0: none; 1: after the current block; 2: at once.

    `killed` is the end of the message after the run was killed.
    """

    def __init__(
        self,
        launcher: Launcher,
        observer: Observer | None = None,
        killed: PhraseCode = PhraseCode.RESULT_DISCARDED,
    ) -> None:
        self.level = 0
        self._launcher = launcher
        self._observer = observer or SilentObserver()
        self._killed = killed
        launcher.check_stop = self.check

    def request(self) -> None:
        """Request a stop; may be called from a signal handler or another thread."""
        self.level += 1
        if self.level > 1:
            self._launcher.kill_now()
            self._observer.notify(Message(phrase_of(PhraseCode.KILLED, Phrase(self._killed))))
        else:
            self._observer.notify(Message(phrase_of(PhraseCode.STOPPING)))

    def check(self) -> None:
        """Raise `Interrupted` if a stop was requested."""
        if self.level:
            raise Interrupted("BX130.measurement")

    def check_kill(self) -> None:
        """Raise `Interrupted` if a stop at once was requested."""
        if self.level > 1:
            self.check()

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Let SIGINT, SIGTERM and SIGHUP request a stop within the block; main thread only."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        # nohup: continue without the terminal
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        before = {number: signal.getsignal(number) for number in numbers}
        for number in numbers:
            signal.signal(number, lambda *_: self.request())
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class InterruptibleObserver:
    """An observer that raises `Interrupted` once the user asked to stop; not for measuring."""

    def __init__(self, observer: Observer, stop: Stop) -> None:
        self._observer = observer
        self._stop = stop

    def notify(self, update: Update) -> None:
        """Pass the update on. Raises `Interrupted` if a stop was requested."""
        self._observer.notify(update)
        self._stop.check()


@dataclass(frozen=True, slots=True)
class Driver:
    """The driver of the programs that a command runs: what starts, observes and stops them."""

    launcher: Launcher
    env: Mapping[str, str]
    observer: Observer
    stop: Stop
    marks: ExitStack = field(default_factory=ExitStack)
    """Marks of the folders that the command uses, until it ends."""

    @property
    def interruptible(self) -> InterruptibleObserver:
        """The observer for steps outside of measuring, which a stop request ends at once."""
        return InterruptibleObserver(self.observer, self.stop)
