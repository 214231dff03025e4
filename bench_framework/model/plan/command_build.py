"""A build by commands of the user, in place of cargo. Immutable, no I/O."""

import shlex
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommandBuild:
    """The commands that build a program in a copy of its sources."""

    commands: tuple[tuple[str, ...], ...]
    """Program and arguments of each command, in order. They run in the copied folder."""
    env: tuple[tuple[str, str], ...] = ()
    """Environment variables that the scenario sets for the commands, sorted."""
    runtime: tuple[str, ...] = ()
    """Files and folders of the copy that the program uses when it runs, such as ``.venv``."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The commands, each quoted for a shell, with its variables."""
        before = "".join(f"{name}={shlex.quote(value)} " for name, value in self.env)
        return tuple(f"{before}{shlex.join(words)}" for words in self.commands)
