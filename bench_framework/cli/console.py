"""Output of the program: results to stdout, diagnostics to stderr.

Quoted text (file names, output of a program, a page of another machine) can contain codes that clear
the screen, rename the window or change the direction of a line. Only benchctl's own colours pass.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from bench_framework.errors import BenchError, MachineError, ScenarioError
from bench_framework.foreign import ACTIVE, escaped
from bench_framework.masking import masked, masked_json
from bench_framework.text.lines import NARROWEST, wrap
from bench_framework.text.words import in_ascii

if TYPE_CHECKING:
    from bench_framework.model.record.run import Event
    from bench_framework.report.blocks import Document
    from bench_framework.workflow.pages import Pages

IN_FULL = 2
"""Number of warnings per code that are printed with details; further ones take one line each."""
MOST_ANNOTATIONS = 10
"""GitHub shows ten annotations of a kind per step and drops the others silently."""
_COMMAND = re.compile(r"^\s*::|##(?=\[)", re.MULTILINE)
"""The start of a command of a GitHub workflow, such as one that a program prints to stderr. The runner
accepts ``::`` after blanks, and ``##[`` anywhere."""
_HEAD = re.compile(r"(?:error|warning|note)\[\w+\]: ")
_SENTENCE = re.compile(r"   (?:effect|fix|note|cause|second run|repetitions) +| *= (?:fix|note): ")
_QUOTED = re.compile(r"`[^`]*`")
_FIXED_SPACE = "\ue000"
"""Placeholder for a space at which lines are not broken: a character for private use, one column wide."""
DEFAULT_WIDTH = 100
_LENGTH: Final = re.compile("[0-9]{1,5}")
"""A number of columns or lines."""
_ACTIVE: Final = re.compile(f"(?!\x1b\\[(?:0|1|2|33|34|35)m)[{ACTIVE}\r]")
"""Active characters and carriage returns, but not the escape sequences of colours."""

_ACTIVE_JSON: Final = re.compile(rf"{_ACTIVE.pattern}|(?<=#)#(?=\[)")
_LINE_ENDS: Final = str.maketrans(
    {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


@dataclass
class Console:
    """The options that every command shares, and the two output streams."""

    verbosity: int = 0
    color: str = "auto"
    progress: bool = True
    json: bool = False
    results: Path = field(default_factory=lambda: Path("results"))
    events: Path | None = None
    """File for the progress as JSON lines (``--events``)."""
    warned: Counter[str] = field(default_factory=Counter)
    """Number of printed warnings by code."""

    def emit(self, text: str) -> None:
        """Print a result. A closed pipe (``| head``) is not an error."""
        _write(sys.stdout, text)

    def emit_sentence(self, text: str) -> None:
        """Print a result that is one sentence, wrapped to the width of the terminal."""
        text = one_line(text)
        self.emit("\n".join(wrap(text, self.width, rest="  ")) if sys.stdout.isatty() else text)

    def emit_json(self, document: object, *, indent: int | None = 2) -> None:
        """Print a dataclass as one JSON document, the only thing on stdout with ``--json``."""
        from bench_framework.text.documents import document_text

        _write(sys.stdout, document_text(document, indent), json=True)

    def emit_result(self, document: object, page: str | Document, *, full: bool = False) -> None:
        """Print a text or a report; with ``--json`` its document: a dataclass, or that of a file."""
        if self.json and isinstance(document, Path):
            _write(sys.stdout, document.read_text(encoding="utf-8"), json=True)
        elif self.json:
            self.emit_json(document)
        elif isinstance(page, str):
            self.emit(page)
        else:
            self.emit_document(page, full=full)

    def emit_document(self, document: Document, *, full: bool = False) -> None:
        """Print a report; with `full`, all sections with their tables."""
        from bench_framework.report.render import terminal

        color, unicode = self.colored, self.unicode
        text = terminal.render(document, width=self.width, color=color, unicode=unicode, full=full)
        self.emit(text)

    def emit_pages(self, pages: Pages) -> None:
        """Print the report in `pages`, or with ``--json`` the names of its files."""
        if self.json:
            from bench_framework.workflow.documents import ReportDocument

            self.emit_json(ReportDocument(pages.record, pages.files))
        elif pages.document is not None:
            self.emit_document(pages.document)

    def say(self, text: str, *, level: int = 0) -> None:
        """Print a diagnostic on one line, as `say_lines` does."""
        self.say_lines(one_line(text), level=level)

    def say_lines(self, text: str, *, level: int = 0) -> None:
        """Print a diagnostic to stderr if the verbosity reaches `level`; ``--quiet`` is -1."""
        if self.verbosity >= level:
            _write(sys.stderr, text)

    def warn_of_changes(self, *names: str | None) -> None:
        """Print a warning for each record whose files were changed after it was written."""
        from bench_framework.workflow.records.integrity import change_warning

        for name in names:
            if name is not None and (text := change_warning(self.results, name)):
                self.say(text, level=-1)

    def annotate(self, errors: Sequence[tuple[Mapping[str, str], str]]) -> None:
        """Print errors, each with its properties, as annotations if this is a GitHub workflow."""
        if errors:
            self.workflow_command("\n".join(annotation_lines(errors)), level=-1)

    def workflow_command(self, text: str, *, level: int = 0) -> None:
        """Print commands of a GitHub workflow, such as ``::endgroup::``; elsewhere nothing."""
        if on_github() and self.verbosity >= level:
            _write(sys.stderr, text, commands=True)

    def report_to_github(self, failures: Sequence[str], summary: Path) -> None:
        """Annotate what fails a gate if this is a GitHub workflow, and append a page to its step summary.

        If the page cannot be appended, this is only a warning.
        """
        self.annotate([({"title": "benchctl gate"}, text) for text in failures])
        target = os.environ.get("GITHUB_STEP_SUMMARY")
        if not on_github() or not target:
            return
        try:
            with Path(target).open("a", encoding="utf-8") as file:
                file.write(summary.read_text(encoding="utf-8"))
        except OSError as error:  # it does not change the exit code
            text = f"cannot write the step summary {target}: {error.strerror}"
            self.say(f"{text}; it is in {summary}", level=-1)

    def error(self, error: BenchError) -> None:
        """Print an error with its details, effect and fix."""
        _write(sys.stderr, fold_diagnostic(describe(error), self.stderr_width))

    def warn_of(self, error: BenchError) -> None:
        """Print an error that ends nothing as a warning."""
        self.say_lines(fold_diagnostic(describe(error, "warning"), self.stderr_width), level=-1)

    def warn(self, event: Event) -> None:
        """Print a warning: the first ones of a code with details, further ones in one line each."""
        if self.verbosity < 0 and event.severity != "error":
            return
        self.warned[event.code] += 1
        lines = [f"{event.severity}[{event.code}]: {one_line(event.message)}"]
        if self.warned[event.code] <= IN_FULL or self.verbosity > 0:
            lines += _labelled((*event.details, ("effect", event.effect), ("fix", event.help)))
        elif self.warned[event.code] == IN_FULL + 1:
            note = f"further {event.severity}s of this kind are shortened"
            note += "; events.csv contains all details"
            lines += _labelled((("note", note),))
        _write(sys.stderr, fold_diagnostic("\n".join(lines), self.stderr_width))

    @property
    def width(self) -> int:
        """Columns of the terminal on stdout; 100 if stdout is not a terminal."""
        columns = os.environ.get("COLUMNS", "")
        if _LENGTH.fullmatch(columns) and int(columns) > 0:
            return max(NARROWEST, int(columns))
        return _columns(sys.stdout) or DEFAULT_WIDTH

    @property
    def stderr_width(self) -> int | None:
        """Columns of the terminal on stderr; `None` if stderr is not a terminal."""
        return _columns(sys.stderr)

    @property
    def unicode(self) -> bool:
        """True if the encoding of stdout contains the glyphs of the verdicts."""
        return (sys.stdout.encoding or "ascii").lower().replace("-", "") == "utf8"

    @property
    def colored(self) -> bool:
        """True if the results are coloured.

        ``--color`` takes precedence over ``NO_COLOR`` (no-color.org), which takes precedence over
        ``FORCE_COLOR`` (force-color.org) and ``CLICOLOR_FORCE`` (bixense.com/clicolors). These take
        precedence over a terminal without colours and a stdout that is no terminal.
        """
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE", "0") not in {"", "0"}:
            return True
        return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def live(self) -> bool:
        """True if stderr is a terminal on which a region can be redrawn."""
        plain = os.environ.get("CI") or os.environ.get("TERM", "dumb") == "dumb"
        return self.progress and self.verbosity >= 0 and sys.stderr.isatty() and not plain


def ignore_odd_sizes() -> None:
    """Remove sizes of the terminal that are no numbers: rich, which prints help texts, would fail."""
    for name in ("COLUMNS", "LINES"):
        if not _LENGTH.fullmatch(os.environ.get(name, "")):
            os.environ.pop(name, None)


def on_github() -> bool:
    """Return True if this process runs in a GitHub workflow."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotation_lines(errors: Sequence[tuple[Mapping[str, str], str]]) -> list[str]:
    """Return an ``::error`` command per error, at most ten; the tenth gives the number of others."""

    def escape(text: str, more: str = "") -> str:
        for character in "%\r\n" + more:
            text = text.replace(character, f"%{ord(character):02X}")
        return text

    lines = []
    for properties, text in errors[:MOST_ANNOTATIONS]:
        pairs = (f"{key}={escape(value, ':,')}" for key, value in properties.items() if value)
        lines.append(f"::error {','.join(pairs)}::{escape(text)}")
    if (rest := len(errors) - MOST_ANNOTATIONS) > 0:
        lines[-1] += f" (and {rest} more, see the log)"
    return lines


def _columns(stream: TextIO) -> int | None:
    try:
        return max(NARROWEST, os.get_terminal_size(stream.fileno()).columns)
    except (OSError, ValueError):
        return None


def table_lines(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Return the lines of a table. With `right`, all but the first column are aligned to the right."""
    first, *widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        pairs = zip(cells, widths, strict=True)
        padded = (cell.rjust(width) if right else cell.ljust(width) for cell, width in pairs)
        lines.append("  ".join((name.ljust(first), *padded)).rstrip())
    return lines


def fold_diagnostic(text: str, width: int | None) -> str:
    """Wrap the sentences of a diagnostic; `None` as width leaves the text unchanged.

    Lines that users copy (commands, paths, source lines, output of programs) and text in backquotes
    are not broken.
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
        words = line[sentence.end() :]
        text = _QUOTED.sub(lambda quoted: quoted[0].replace(" ", _FIXED_SPACE), words)
        parts = wrap(text, width, sentence[0], " " * (3 if head else sentence.end()))
        lines += [part.replace(_FIXED_SPACE, " ") for part in parts]
    return "\n".join(lines)


def describe(error: BenchError, severity: str = "error") -> str:
    """Return the text of an error: message, details, effect and fix."""
    if isinstance(error, ScenarioError):
        from bench_framework.scenario.load import render

        return render(error)
    lines = [f"{severity}[{error.code}]: {one_line(error.message)}"]
    lines += _labelled((*error.details, ("effect", error.effect), ("fix", error.fix)))
    return "\n".join(lines)


def _labelled(pairs: tuple[tuple[str, str | None], ...]) -> list[str]:
    given = [(label, text.strip("\n")) for label, text in pairs if text and text.strip("\n")]
    column = max((8, *(len(label) for label, _ in given)))
    lines: list[str] = []
    for label, text in given:
        first, *rest = text.splitlines()
        lines.append(f"   {label:<{column}} {first}")
        lines += [f"   {'':<{column}} {line}".rstrip() for line in rest]
    return lines


def _write(stream: TextIO, text: str, *, commands: bool = False, json: bool = False) -> None:
    """Write a text, or with `json` a JSON document, with its newline.

    Only with `commands`, GitHub obeys a command in it.

    Raises:
        MachineError: BX236, results cannot be written to stdout. Errors on stderr are ignored.
    """
    line = text if text.endswith("\n") else text + "\n"
    line = escape_active_json(masked_json(line)) if json else escape_active(masked(line))
    if not commands and on_github():
        line = _COMMAND.sub(lambda match: f"{match[0][:-1]}\u200b{match[0][-1]}", line)
    encoding = stream.encoding or "utf-8"
    try:
        line.encode(encoding, stream.errors or "strict")
    except UnicodeEncodeError:
        line = in_ascii(line).encode(encoding, "backslashreplace").decode(encoding)
    try:
        stream.write(line)
        stream.flush()
    except OSError as error:
        discard(stream)
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise unwritable_stdout(error) from error


def discard(stream: TextIO) -> None:
    """Discard what is left in a stream; otherwise Python reports its error again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def unwritable_stdout(error: OSError) -> MachineError:
    """Return the error BX236: stdout does not accept the output of a command."""
    return MachineError("BX236", strerror=error.strerror)


def one_line(text: str) -> str:
    r"""Replace each line end and tab of a text, such as one in a file name, by its escape, such as ``\n``."""
    return text.translate(_LINE_ENDS)


def escape_active(text: str) -> str:
    r"""Replace each active character by its escape, such as ``\x1b``; line ends and tabs stay."""
    return _ACTIVE.sub(escaped, text)


def escape_active_json(text: str) -> str:
    r"""Replace what is active in a JSON document by its JSON escape, such as ``\u009b``.

    That is each active character, and the second one of ``##[``, which GitHub takes for a command.
    """
    return _ACTIVE_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
