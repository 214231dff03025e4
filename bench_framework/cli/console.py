"""Where words leave the program: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from bench_framework.cli.escapes import harmless, harmless_json
from bench_framework.errors import BenchError, MachineError, ScenarioError
from bench_framework.model.words import in_ascii

if TYPE_CHECKING:
    from bench_framework.model.run import Event

IN_FULL = 2
"""Warnings of one code that are shown with all they carry; of a matrix that fails, the others say the same."""
NARROWEST = 40
_HEAD = re.compile(r"(?:error|warning|note)\[\w+\]: ")
_SENTENCE = re.compile(r"   (?:effect|help|note|cause) +| *= (?:help|note): ")
_QUOTED = re.compile(r"`[^`]*`")
_KEPT = "\u0000"
"""Stands for a space that no line is broken at."""
DEFAULT_WIDTH = 100


@dataclass
class Console:
    """The options that every command shares, and the two streams."""

    verbosity: int = 0
    color: str = "auto"
    progress: bool = True
    json: bool = False
    results: Path = field(default_factory=lambda: Path("results"))
    warned: Counter[str] = field(default_factory=Counter)
    """Warnings shown, by code."""

    def emit(self, text: str) -> None:
        """Print a result. A reader that went away (``| head``) is no error and stops no run."""
        _write(sys.stdout, text)

    def tell(self, text: str) -> None:
        """Print a result that is one sentence, folded to the terminal where there is one."""
        self.emit(wrapped(text, self.width) if sys.stdout.isatty() else text)

    def emit_json(self, document: Any) -> None:
        """Print one JSON document, the only thing on stdout with ``--json``."""
        self.emit(harmless_json(json.dumps(document, ensure_ascii=False, indent=2)))

    def say(self, text: str, *, level: int = 0) -> None:
        """Print a diagnostic to stderr if the verbosity reaches `level`; ``--quiet`` is -1."""
        if self.verbosity >= level:
            _write(sys.stderr, text)

    def error(self, error: BenchError) -> None:
        """Print an error in the form of REPORTS 3.5."""
        _write(sys.stderr, folded(describe(error), self.stderr_width))

    def warn(self, event: Event) -> None:
        """Print a warning that the record keeps as well: the first of a code in full, then one line each."""
        if self.verbosity < 0 and event.severity != "error":
            return
        self.warned[event.code] += 1
        lines = [f"{event.severity}[{event.code}]: {event.message}"]
        if self.warned[event.code] <= IN_FULL or self.verbosity > 0:
            lines += _labelled((*event.details, ("effect", event.effect), ("help", event.help)))
        elif self.warned[event.code] == IN_FULL + 1:
            lines += _labelled(
                (("note", f"more of {event.code} get a line each; events.csv has all of them"),)
            )
        _write(sys.stderr, folded("\n".join(lines), self.stderr_width))

    @property
    def width(self) -> int:
        """Columns of the terminal that results go to; 100 where there is none."""
        if (columns := os.environ.get("COLUMNS", "")).isdigit() and int(columns) > 0:
            return max(NARROWEST, int(columns))
        try:
            return max(NARROWEST, os.get_terminal_size(sys.stdout.fileno()).columns)
        except (OSError, ValueError):
            return DEFAULT_WIDTH

    @property
    def stderr_width(self) -> int | None:
        """Columns of the terminal that diagnostics go to; `None` where nobody's terminal would break them."""
        try:
            return max(NARROWEST, os.get_terminal_size(sys.stderr.fileno()).columns)
        except (OSError, ValueError):
            return None

    @property
    def unicode(self) -> bool:
        """Whether stdout can carry the glyphs of the verdicts."""
        return (sys.stdout.encoding or "ascii").lower().replace("-", "") == "utf8"

    def colored(self, stream: TextIO) -> bool:
        """Whether to colour what goes to `stream`; ``NO_COLOR`` wins over everything but ``--color``."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return stream.isatty()

    @property
    def colored_stdout(self) -> bool:
        """Whether results are coloured."""
        return self.colored(sys.stdout)

    @property
    def live(self) -> bool:
        """Whether a region of stderr may be drawn again: a person is watching a terminal."""
        plain = os.environ.get("CI") or os.environ.get("TERM", "dumb") == "dumb"
        return self.progress and self.verbosity >= 0 and sys.stderr.isatty() and not plain


def wrapped(text: str, width: int) -> str:
    """A sentence in lines that fit; the further ones stand a little to the right. A path stays whole."""
    return "\n".join(
        textwrap.wrap(
            text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    )


def folded(text: str, width: int | None) -> str:
    """Sentences of a diagnostic in lines that fit, under their own beginning.

    What is to be copied or stands in columns (commands, paths, source, digests, what a program said) stays on its line,
    and so does what stands between backquotes. Without a width all of it does.
    """
    if width is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        head = _HEAD.match(line)
        sentence = head or _SENTENCE.match(line)
        if sentence is None or len(line) <= width:
            lines.append(line)
            continue
        kept = _QUOTED.sub(lambda quoted: quoted[0].replace(" ", _KEPT), line[sentence.end() :])
        made = textwrap.wrap(
            kept,
            width,
            initial_indent=sentence[0],
            subsequent_indent=" " * (3 if head else sentence.end()),
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += [part.replace(_KEPT, " ") for part in made]
    return "\n".join(lines)


def counted(number: int, noun: str) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def describe(error: BenchError) -> str:
    """The message of an error: what happened, where, what it means, what to do."""
    if isinstance(error, ScenarioError):
        from bench_framework.scenario.load import render

        return render(error)
    lines = [f"error[{error.code}]: {error.message}"]
    lines += _labelled((*error.details, ("effect", error.effect), ("help", error.help)))
    return "\n".join(lines)


def _labelled(pairs: tuple[tuple[str, str | None], ...]) -> list[str]:
    shown = [(label, text.strip("\n")) for label, text in pairs if text and text.strip("\n")]
    column = max((8, *(len(label) for label, _ in shown)))
    lines: list[str] = []
    for label, text in shown:
        first, *rest = text.splitlines()
        lines.append(f"   {label:<{column}} {first}")
        lines += [f"   {'':<{column}} {line}".rstrip() for line in rest]
    return lines


def _write(stream: TextIO, text: str) -> None:
    """Write a text with its newline.

    Raises:
        MachineError: BX236, results cannot be written. A diagnostic that cannot be written stops nothing.
    """
    line = harmless(text if text.endswith("\n") else text + "\n")
    try:
        stream.write(line)
        stream.flush()
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(in_ascii(line).encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError as error:
        # Python would complain once more when it closes the stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise MachineError(
                f"results cannot be written to stdout: {error.strerror}",
                code="BX236",
                effect="what was measured is in its record",
                help="`benchctl report @last` prints it again",
            ) from error
