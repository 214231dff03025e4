"""All errors that benchctl reports to a user, in one class tree, with their exit codes.

Any other exception is an internal error: exit 70, with a saved traceback.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from bench_framework.text.errors import error_text
from bench_framework.units import counted

if TYPE_CHECKING:
    from bench_framework.model.record.run import Event

EXIT_DONE = 0
EXIT_WORSE = 1
EXIT_USAGE = 2
EXIT_NOT_MEASURED = 3
EXIT_NOT_JUDGED = 4
EXIT_BUG = 70
EXIT_STOPS_GIT = 128
EXIT_INTERRUPTED = 130


class BenchError(Exception):
    """A failure with its message, details, effect and fix.

    Args:
        key: its entry in ``text/errors.toml``: a stable code, and a name if the code has several
            messages, such as ``BX107.no-metric``.
        details: labelled lines, such as ``("command", "…")``, printed in order.
        exit_code: exit code in place of the one of the class.
        values: the values for the placeholders of the texts.
    """

    exit_code: int = EXIT_NOT_MEASURED

    def __init__(
        self,
        key: str,
        /,
        *,
        details: tuple[tuple[str, str], ...] = (),
        exit_code: int | None = None,
        **values: object,
    ) -> None:
        text = error_text(key, values)
        super().__init__(text.message)
        self.code, self.message = text.code, text.message
        self.effect, self.fix = text.effect, text.fix
        self.details = details
        self.exit_code = self.exit_code if exit_code is None else exit_code

    @classmethod
    def from_texts(
        cls,
        code: str,
        message: str,
        *,
        details: tuple[tuple[str, str], ...] = (),
        effect: str | None = None,
        fix: str | None = None,
    ) -> Self:
        """Return an error whose texts exist already."""
        error = cls.__new__(cls, message)
        error.code, error.message, error.details = code, message, details
        error.effect, error.fix = effect, fix
        return error

    @classmethod
    def from_event(cls, event: Event) -> Self:
        """Return the error of an event of a record."""
        return cls.from_texts(
            event.code,
            event.message,
            details=event.details,
            effect=event.effect,
            fix=event.help,
        )

    def amend(self, key: str, /, **values: object) -> None:
        """Replace the effect or the fix by those of an entry in ``text/errors.toml``."""
        text = error_text(key, values, alone=True)
        self.effect, self.fix = text.effect or self.effect, text.fix or self.fix

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how a copy is made in another process: with its texts."""
        return _copy, (type(self), self.message, vars(self))


def _copy(kind: type[BenchError], message: str, state: dict[str, Any]) -> BenchError:
    error = kind.__new__(kind, message)
    vars(error).update(state)
    return error


class UsageError(BenchError):
    """An error in the command line or in a file that it names."""

    exit_code = EXIT_USAGE


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a text file: line and column from 1, and a length in columns."""

    line: int
    column: int
    length: int = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in a scenario."""

    code: str
    message: str
    file: str | None = None
    at: Position | None = None
    label: str = ""
    """Text after the carets."""
    also: tuple[tuple[Position, str], ...] = ()
    """Further positions, such as the first of two equal keys, with their labels."""
    fix: str | None = None
    note: str | None = None

    @classmethod
    def create(
        cls,
        key: str,
        file: str | None = None,
        at: Position | None = None,
        /,
        *,
        also: tuple[tuple[Position, str], ...] = (),
        **values: object,
    ) -> Self:
        """Return the problem of an entry in ``text/errors.toml``, with the values of its texts."""
        text = error_text(key, values)
        return cls(text.code, text.message, file, at, text.label, also, text.fix, text.note)


class ScenarioError(UsageError):
    """All errors in a scenario, in file order."""

    def __init__(self, problems: tuple[Problem, ...], sources: dict[str, str]) -> None:
        super().__init__("BC000", errors=counted(len(problems), "error"))
        self.problems = problems
        self.sources = sources
        """Text by file name, for the snippets."""


class MeasureError(BenchError):
    """A failed measurement; everything else is still reported."""

    @property
    def line(self) -> str:
        """Return message and details in one line."""
        cause = "; ".join(f"{name} {text}" for name, text in self.details)
        return f"{self.message}{f' ({cause})' if cause else ''}"


class BuildError(MeasureError):
    """A failed build of a variant."""


class CellError(MeasureError):
    """A run of a cell that failed, hung, or was killed."""


class AnswerError(MeasureError):
    """Two variants that did different work on the same input."""


class MachineError(MeasureError):
    """A missing tool, permission, disk space or platform."""


class RecordError(UsageError):
    """A record that cannot be read or resumed."""


class GateError(BenchError):
    """A gate that cannot decide, detected before anything was measured."""

    exit_code = EXIT_NOT_JUDGED


class Interrupted(BenchError):  # noqa: N818 -- a request, not a fault
    """A run that the user stopped; completed measurements are kept."""

    exit_code = EXIT_INTERRUPTED
