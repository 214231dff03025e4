"""Every error that benchctl can tell a user, in one tree.

::

    BenchError                  code, what failed, on what, effect, help   exit
    ├── UsageError              the call's words or files are wrong          2
    │   └── ScenarioError       a scenario is wrong: all its problems        2
    ├── MeasureError            something could not be measured              3
    │   ├── BuildError          cargo, or a missing crate or feature         3
    │   ├── CellError           a run failed, hung, or was killed            3
    │   ├── AnswerError         two variants did different work              3
    │   └── MachineError        a tool, a disk, a lock, a platform           3
    ├── RecordError             a record cannot be read or continued         2
    ├── GateError               the gate has nothing to judge                4
    └── Interrupted             Ctrl-C or SIGTERM; resumable               130

An exception that is not in this tree is our bug: exit 70, the traceback saved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

EXIT_DONE = 0
EXIT_WORSE = 1
EXIT_USAGE = 2
EXIT_NOT_MEASURED = 3
EXIT_NOT_JUDGED = 4
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class BenchError(Exception):
    """One failure, in the form of REPORTS 3.5: what, where, effect, help.

    Args:
        message: what failed, on what; one sentence without a full stop.
        code: stable code such as ``BX201``; listed in ``docs/reference/codes.md``.
        details: labelled lines, such as ``("command", "…")``, printed in order.
        effect: what this means for the results.
        help: what to do now.
    """

    exit_code: ClassVar[int] = EXIT_NOT_MEASURED
    default_code: ClassVar[str] = "BX000"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        details: tuple[tuple[str, str], ...] = (),
        effect: str | None = None,
        help: str | None = None,  # noqa: A002 -- the word that the message prints
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.details = details
        self.effect = effect
        self.help = help


class UsageError(BenchError):
    """The command line, or a file that it names, is wrong."""

    exit_code = EXIT_USAGE
    default_code = "BX100"


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text file: line and column from 1, and how many columns it spans."""

    line: int
    column: int
    length: int = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a scenario, as REPORTS 4 prints it."""

    code: str
    message: str
    file: str | None = None
    at: Position | None = None
    label: str = ""
    """Words behind the carets."""
    also: tuple[tuple[Position, str], ...] = ()
    """Further places, such as the first of two equal keys."""
    help: str | None = None
    note: str | None = None


class ScenarioError(UsageError):
    """A scenario holds mistakes: all of them, in file order."""

    default_code = "BC000"

    def __init__(self, problems: tuple[Problem, ...], sources: dict[str, str]) -> None:
        count = len(problems)
        super().__init__(f"{count} error{'s' if count != 1 else ''} in the scenario")
        self.problems = problems
        self.sources = sources
        """File name to its text, for the snippets."""


class MeasureError(BenchError):
    """Something could not be measured; what worked is still reported."""

    default_code = "BX200"


class BuildError(MeasureError):
    """A variant could not be built."""

    default_code = "BX220"


class CellError(MeasureError):
    """A run of a cell failed, hung, or was killed."""

    default_code = "BX201"


class AnswerError(MeasureError):
    """Two variants did different work on the same input."""

    default_code = "BX210"


class MachineError(MeasureError):
    """The machine lacks a tool, a right, room or a platform."""

    default_code = "BX230"


class RecordError(UsageError):
    """A record cannot be read, or an interrupted one cannot be continued."""

    default_code = "BX410"


class GateError(BenchError):
    """The gate could not judge, and that was clear before anything was measured."""

    exit_code = EXIT_NOT_JUDGED
    default_code = "BX111"


class Interrupted(BenchError):  # noqa: N818 -- a request, not a fault
    """The user stopped the run; what was measured is kept."""

    exit_code = EXIT_INTERRUPTED
    default_code = "BX130"
