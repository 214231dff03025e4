"""The server whose clients are the commands of a plan."""

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.plan.arguments import Word

Ready = Literal["tcp", "http", "line"]
Restart = Literal["sample", "session"]


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs while the command of a cell is timed. CPU time and memory are then its own.

    Attributes:
        command: program and arguments; the program of the variant is in the slot `BIN`.
        ready: how it shows that it is ready: by accepting a connection, by an HTTP response, or by a
            line that it prints.
        awaited: the address ``HOST:PORT``, the URL, or the regular expression of the line.
        ready_s: time limit until it is ready, in seconds.
        signal: signal that ends it, such as ``TERM``.
        stop: command that ends it, in place of the signal.
        restart: ``sample``: it is started for each sample; ``session``: once for each session.
        cpus: CPUs on which it may run; those of the cell if `None`.
    """

    command: tuple[Word, ...]
    ready: Ready
    awaited: Word
    ready_s: float
    signal: str
    stop: tuple[Word, ...]
    restart: Restart
    cpus: str | None
