"""Stop requests: the first Ctrl-C ends after the current block, the second one kills it."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench_framework.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench_framework.execution.process import Launcher


class Stop:
    """The stop request of the user. `level` 0: none; 1: after the current block; 2: at once."""

    def __init__(self, launcher: Launcher, on_request: Callable[[int], None] | None = None) -> None:
        self.level = 0
        self._launcher = launcher
        self._on_request = on_request

    def request(self) -> None:
        """Request a stop; may be called from a signal handler or another thread."""
        self.level += 1
        if self.level > 1:
            self._launcher.kill_now()
        if self._on_request is not None:
            self._on_request(self.level)

    def check(self) -> None:
        """Raise `Interrupted` if a stop was requested."""
        if self.level:
            raise Interrupted(
                "interrupted",
                effect="all finished samples are kept; the current round will be measured again",
                help="run the same command again to continue",
            )

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Let SIGINT, SIGTERM and SIGHUP request a stop within the block; main thread only."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        if (
            signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
        ):  # nohup: continue without the terminal
            numbers.append(signal.SIGHUP)
        before = {number: signal.getsignal(number) for number in numbers}
        for number in numbers:
            signal.signal(number, lambda *_: self.request())
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
