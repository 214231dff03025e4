"""The server of a scenario: how it is started, when it is ready, and how it ends."""

import re
from typing import Annotated, Final, Self, get_args

from pydantic import Field, model_validator

from bench_framework.model.plan.server import Ready, Restart
from bench_framework.scenario.scalars import compiled_regex
from bench_framework.scenario.schema.types import (
    ONE_OF,
    Arguments,
    ByShape,
    CpuList,
    Duration,
    Part,
    Text,
    refuse,
)

SIGNALS: Final = ("TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "KILL")
"""Signals that may end a server."""
USUAL_ADDRESS: Final = "127.0.0.1:{port}"
KINDS: Final[tuple[Ready, ...]] = get_args(Ready)
"""Keys of `ready` of which at most one is given."""
_ADDRESS: Final = re.compile(r".+:([0-9]+|\{[^{}]+\})")
_PLAIN_HTTP: Final = "http://"


class ReadyPart(Part):
    """How the server shows that it is ready. Default: it accepts connections at `127.0.0.1:{port}`."""

    tcp: Text | None = None
    """Address at which it accepts connections: `HOST:PORT`."""
    http: Text | None = None
    """URL for which it sends a response with a status below 400: `http://127.0.0.1:{port}/health`."""
    line: Text | None = None
    """Regular expression of a line that it prints to stdout or stderr."""
    within: Duration = 10.0
    """Time limit until it is ready."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        refuse(len(given) > 1, "BC108.ready-twice", *given[1:2], given="` and `".join(given[:2]))
        address = self.tcp is not None and not _ADDRESS.fullmatch(self.tcp)
        refuse(address, "BC102.not-an-address", "tcp", address=self.tcp)
        url = self.http is not None and not self.http.startswith(_PLAIN_HTTP)
        refuse(url, "BC102.not-a-plain-url", "http", url=self.http)
        fault = compiled_regex(self.line) if self.line is not None else None
        refuse(isinstance(fault, str), "BC102.line-not-a-regex", "line", fault=fault)
        return self

    @property
    def kind(self) -> Ready:
        """The kind that is given, or the default."""
        return next((kind for kind in KINDS if getattr(self, kind) is not None), "tcp")

    @property
    def awaited(self) -> str:
        """The address, URL or regular expression."""
        return getattr(self, self.kind) or USUAL_ADDRESS


class ServerPart(Part):
    """A server that runs while `command`, its client, is timed. It is the program that varies."""

    command: Arguments | None = None
    """Program and arguments of the server. `{port}` is a free port. Default: the worker's command."""
    ready: ReadyPart = Field(default_factory=ReadyPart)
    """How it shows that it is ready. The command is not run before."""
    stop: Annotated[Arguments | Text, ByShape()] = "TERM"
    """Signal that ends it, such as `INT`, or a command."""
    restart: Annotated[Restart, ONE_OF] = "sample"
    """`sample`: a new process for each sample. `session`: one process for all samples of a
    configuration in a session."""
    cpus: CpuList | None = None
    """CPUs on which it may run, such as `0-1`. Default: those of the command."""

    @model_validator(mode="after")
    def _known_signal(self) -> Self:
        unknown = isinstance(self.stop, str) and self.stop not in SIGNALS
        refuse(unknown, "BC103.no-signal", "stop", signal=self.stop, known=", ".join(SIGNALS))
        return self
