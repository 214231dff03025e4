"""The server whose clients are the commands of a plan."""

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.plan.arguments import Word

Ready = Literal["tcp", "http", "line"]
Restart = Literal["sample", "session"]


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs while the command of a cell is timed. CPU time and memory are then its own.

    It is that of one cell, with replaced placeholders; `ServerPart` is that of the scenario.
    """

    command: tuple[Word, ...]
    """Program and arguments; the program of the variant is in the slot `BIN`."""
    ready: Ready
    """How it shows that it is ready: by accepting a connection, by an HTTP response, or by a line that it
    prints."""
    awaited: Word
    """The address ``HOST:PORT``, the URL, or the regular expression of the line."""
    ready_s: float
    """Time limit until it is ready, in seconds."""
    signal: str
    """Signal that ends it, such as ``TERM``."""
    stop: tuple[Word, ...]
    """Command that ends it, in place of the signal."""
    restart: Restart
    """``sample``: it is started for each sample; ``session``: once for each session."""
    cpus: str | None
    """CPUs on which it may run; those of the cell if `None`."""
