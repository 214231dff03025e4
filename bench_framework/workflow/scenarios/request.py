"""The scenario of a command line: options and texts that `ab`, `sweep` and `ablate` share."""

import errno
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from bench_framework.errors import MachineError, Problem, ScenarioError, UsageError
from bench_framework.foreign import fault_of, read_regular
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.invocation import Invocation, RequestOptions
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.written import OnDifference
from bench_framework.model.record.run import SIGNAL_BASE
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.store import layout
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.run_options import words_that_resume

# `${HOME}` belongs to a shell and `{ print }` to awk.
PLACEHOLDER: Final = re.compile(r"(?<!\$)\{([A-Za-z][A-Za-z0-9_-]*)\}")
LONGEST_KEY: Final = 1000
LONGEST_NAME: Final = 200
"""Most characters of a command or value that is named in full."""
SHORTENED: Final = 60
COMMA: Final = re.compile(r"(?<!\\),")
_WORD: Final = re.compile(
    r"(?!(?:true|false|yes|no|on|off|null|y|n)$)-{0,2}[a-z./_][\w./+=-]*", re.IGNORECASE
)
_DECIDES: Final = re.compile(r"[{,]\s*(check|differs)\s*:")
"""Keys of `answer` that decide what happens to other outputs."""
_RELATIVE: Final = re.compile(r"[{,]\s*(check|file|filter)\s*:")
"""Keys of `answer` whose relative paths start at the folder of the scenario."""
_REFUSED: Final = frozenset((errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR))
"""Errors of a file that the user may not write, in contrast to those of a full or broken disk."""
_QUOTED: Final = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""")
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_OPERATOR: Final = re.compile(r"(?<!\S)(\|\|?|&&|<|[12&]?>{1,2}(?:&[12])?)(?!\S)")
_OPTIONS: Final = ("exit-codes", "margin", "name", "prepare", "answer")
"""Options whose value is in the line of the scenario that begins with their name."""


@dataclass(frozen=True, kw_only=True)
class Request(RequestOptions):
    """A command without a scenario file; `words` is the command line, for messages.

    `tool` is the name of the command, which is also the name of its records.
    """

    tool: ClassVar[str]
    words: Sequence[str] = ()
    differs: OnDifference = "warn"
    """The default of `answer.differs`, for a program that prints another output."""

    @property
    def folder(self) -> Path:
        """Return the folder at which relative paths of the scenario start."""
        return (self.save or Path("here")).absolute().parent

    def head(self, question: str) -> list[str]:
        """Return the first lines of the scenario."""
        name = self.name or (self.save.stem if self.save else self.tool)
        return ["version: 1", f"name: {flow(name)}", f"question: {flow(question)}"]

    @property
    def measure(self) -> dict[str, Any]:
        """Return the keys of `measure`."""
        given = {"budget": self.budget, "sessions": self.sessions, "every": self.every}
        return {key: number_or_range(text) for key, text in given.items() if text is not None}

    def tail(self, prepare: Sequence[str] | None, *, used: bool) -> Iterator[str]:
        """Yield the lines of the options.

        Args:
            prepare: words of the command before each run.
            used: true if a command contains ``{input}``; otherwise the input is the stdin.

        Raises `UsageError` (BX122): the input cannot be read.
        """
        yield f"cwd: {flow(os.path.relpath(Path.cwd(), self.folder) + '/')}"
        yield f"measure: {flow(self.measure)}"
        yield f"answer: {self._answer()}"
        if (codes := self._exit_codes()) is not None:
            yield f"exit-codes: [{codes}]"
        if self.margin is not None:
            yield f"margin: {flow(self.margin)}"
        if prepare is not None:
            yield f"prepare: {flow(prepare)}"
        yield from self.input_lines(used=used)

    def input_lines(self, *, used: bool) -> Iterator[str]:
        """Yield the lines of the input, see `tail`."""
        if self.input is None:
            return
        fault = fault_of(self.input)
        kind = "folder" if fault == "is a folder" else "file"
        if fault and kind == "file":
            raise unfit("BX122.input-file", input=self.input, fault=fault)
        if kind == "folder" and not used:
            raise unfit("BX122.folder-as-stdin", input=self.input)
        yield f"input: {{{kind}: {flow(os.path.relpath(self.input, self.folder))}}}"
        if not used:
            yield 'stdin: "{input}"'

    def _exit_codes(self) -> str | None:
        """Return the list of accepted exit codes, or `None` for the default."""
        if self.exit_codes is not None and self.ignore_failure:
            raise unfit("BX122.exit-codes-and-ignore-failure")
        return ", ".join(map(str, range(SIGNAL_BASE))) if self.ignore_failure else self.exit_codes

    def _answer(self) -> str:
        """Return the form of `answer`. Outputs that differ are a warning by default."""
        form = "none" if self.ignore_output else (self.answer or "").strip()
        if self.ignore_output and self.answer:
            raise unfit("BX122.answer-and-ignore-output")
        if form == "none":
            return form
        if not form:
            return f"{{differs: {self.differs}}}"
        if not form.startswith("{"):
            form = f"{{compare: {flow(form)}}}"
        if not form.endswith("}"):
            raise unfit("BX122.no-closing-brace")
        if self.folder != Path.cwd() and (key := _RELATIVE.search(form)):
            raise unfit("BX122.relative-path", key=key[1], folder=self.folder)
        return form if _DECIDES.search(form) else f"{{differs: {self.differs}, {form[1:]}"

    def plan(self, lines: Sequence[str]) -> tuple[Plan, str]:
        """Return the plan of a scenario and its text, which is saved if requested.

        Raises `UsageError`: BX122, an option is wrong; BX103, the file cannot be written.
        `MachineError` (BX235): the disk is full.
        """
        text, save = "\n".join(lines) + "\n", self.save
        if save is None:
            # `--fresh` would not resume an interrupted run.
            invocation = Invocation(words=words_that_resume(self.words))
            plan = expand(self._load(Path(phrase_of(PhraseCode.OF_TOOL, self.tool)), text))
            return replace(plan, scenario_path="", invocation=invocation), text
        try:
            save.parent.mkdir(parents=True, exist_ok=True)  # relative paths start at this folder
            plan = expand(self._load(save, text))
            if save.exists() and read_regular(save) != text.encode():
                raise unfit("BX103.scenario-exists", save=save)
        except OSError as error:
            raise unfit(
                "BX103.scenario-not-writable", save=save, strerror=error.strerror
            ) from error
        write_files({save: text})
        return plan, text

    def _load(self, path: Path, text: str) -> Scenario:
        """Load the scenario. An error in the value of an option names the option, not a line."""
        try:
            return load(path, text=text)
        except ScenarioError as error:
            lines = text.splitlines()
            keys = [lines[p.at.line - 1].partition(":")[0] if p.at else "" for p in error.problems]
            for problem, key in zip(error.problems, keys, strict=True):
                if (name := _key_of_option(key, problem.message)) is not None:
                    message, option = in_option(problem, name)
                    raise unfit(
                        "BX122.value-of-option",
                        problem=message,
                        advice=problem.fix,
                        option=option,
                        tool=self.tool,
                    ) from None
            # The user did not write the text of the scenario.
            first, name = error.problems[0], keys[0].strip(' "')
            word = next(
                (w for w in self.words if name and name in w),
                phrase_of(PhraseCode.OF_TOOL, self.tool),
            )
            raise unfit(
                "BX122.value-of-word",
                word=word,
                problem=first.message,
                advice=first.fix,
                tool=self.tool,
            ) from None


def _key_of_option(key: str, message: str) -> str | None:
    """Return the key whose value is that of an option, for a problem in the line of a key."""
    names = ("every", "sessions", "budget", "rounds", "warmup")
    if key == "measure":
        whole = (name for name in names if f"measure.{name}" in message)
        name = next(whole, None) or next((name for name in names if name in message), None)
        return name and f"measure.{name}"
    return key if key in _OPTIONS else None


def in_option(problem: Problem, key: str) -> tuple[str, str]:
    """Return the message of a problem of a key whose value is that of an option, and the option."""
    option = f"--{key.removeprefix('measure.')}"
    message = re.sub(rf"`{re.escape(key)}[\w.-]*`", option, problem.message)
    return message if option in message else f"{option}: {message}", option


def escaped(word: str, slots: str = "input") -> str:
    """Double all braces except those of ``{input}`` or other slots, which the scenario replaces."""
    return "".join(
        part if number % 2 else part.replace("{", "{{").replace("}", "}}")
        for number, part in enumerate(re.split(rf"((?<!\$)\{{(?:{slots})\}})", word))
    )


def flow(value: Any) -> str:
    """Return a value in YAML's flow style, with quotes where a plain word would be ambiguous."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    plain = isinstance(value, str) and _WORD.fullmatch(value)
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


def _key(key: Any) -> str:
    """Return a key in flow style. A long one has its own mark: YAML limits others to 1 024 characters."""
    text = flow(key)
    return f"? {text} " if len(text) > LONGEST_KEY else text


def short(text: str, number: int) -> str:
    """Return a text as it is named in tables: the beginning of a long one, with its number."""
    return text if len(text) <= LONGEST_NAME else f"{text[:SHORTENED]}… ({number})"


def whole_number(text: str) -> int | str:
    """Return a text as a number if it is a whole number in decimal digits."""
    return int(text) if text.isascii() and text.isdecimal() else text


def number_or_range(text: str) -> int | str | dict[str, int | str]:
    """Return a text as a whole number, or ``MIN..MAX`` as a range of them, if it is one of these."""
    low, dots, high = text.partition("..")
    if not dots:
        return whole_number(text)
    return {"min": whole_number(low), "max": whole_number(high)}


def program_path(program: str, folder: Path) -> str:
    """Return a program of the command line relative to a folder; a name on the `PATH` as it is."""
    if "/" in program and not program.startswith(("/", "~")):
        return f"./{os.path.relpath(program, folder)}"
    return program


def unfit(key: str, /, **values: Any) -> UsageError:
    """Return the error for arguments that do not give a comparison or a file."""
    error = UsageError(key, **values)
    error.message = error.message.replace("\n", "\\n")  # words of the user in one line
    return error


def write_files(files: Mapping[Path, str]) -> None:
    """Write all files, or none.

    Raises `UsageError`, BX103: the user may not write a file. Raises `MachineError`, BX235: the disk is full.
    """
    try:
        texts = {str(layout.output_path(path)): content for path, content in files.items()}
        layout.write_all(Path(), texts)
    except MachineError as error:
        origin = error.__cause__
        if isinstance(origin, OSError) and origin.errno in _REFUSED:
            path, reason = origin.filename2 or origin.filename, origin.strerror
            raise UsageError("BX103.file-not-writable", path=path, strerror=reason) from error
        raise


def split_command(text: str, key: str = "BX122.quote-not-closed") -> list[str]:
    """Return the words of a command. Raises `UsageError` with `key`: a quote is not closed."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise unfit(key, text=text, reason=str(error).lower()) from None


def words_without_shell(command: str, option: str = "--shell") -> list[str]:
    """Return the words of a command. Raises `UsageError` (BX122): it is empty, or needs a shell.

    `option` is the one that runs commands by a shell; empty if the tool lacks it.
    """
    words = split_command(command)
    if not words:
        raise unfit("BX122.empty-command")
    if _VARIABLE.match(words[0]):
        raise unfit(
            "BX122.variable-without-shell", command=command, variable=words[0], option=option
        )
    if operator := _OPERATOR.search(_QUOTED.sub("q", command)):
        raise unfit(
            "BX122.operator-without-shell", command=command, operator=operator[1], option=option
        )
    return words
