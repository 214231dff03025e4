"""The scenarios of ``benchctl ab``, ``sweep`` and ``ablate``: commands, values or features of one program."""

import itertools
import math
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.plan import Plan
from bench_framework.scenario.feature_groups import closure
from bench_framework.scenario.scalars import Refused, axis_name
from bench_framework.text.reasons import phrase_of
from bench_framework.units import counted
from bench_framework.workflow.scenarios.program_request import BIN, ProgramRequest
from bench_framework.workflow.scenarios.request import (
    COMMA,
    PLACEHOLDER,
    Request,
    escaped,
    flow,
    program_path,
    short,
    unfit,
    words_without_shell,
)

MOST_COMMANDS: Final = 1000
"""Most commands of one comparison."""
_KINDS: Final = ("ENV", "PROFILE", "FEATURES")
_NONE: Final = "none"


@dataclass(frozen=True)
class Commands(Request):
    """The arguments of ``benchctl ab``.

    `lists` are values of placeholders, as ``NAME=A,B``, and `names` those of the commands in the
    results. `conclude` runs after each run; `setup` and `cleanup` run once, see `once`.
    """

    tool: ClassVar[str] = "ab"
    commands: Sequence[str]
    lists: Sequence[str] = ()
    names: Sequence[str] = ()
    runs: int | None = None
    warmup: int | None = None
    conclude: str | None = None
    setup: str | None = None
    cleanup: str | None = None
    shell: bool = False

    @property
    def measure(self) -> dict[str, Any]:
        """Return the keys of `measure`. An exact number of runs has no time limit by default."""
        keys = super().measure
        if self.runs is not None:
            keys |= {"rounds": self.runs, "until": "rounds"}
            if not any(word.partition("=")[0] == "--budget" for word in self.words):
                del keys["budget"]
        return keys if self.warmup is None else keys | {"warmup": self.warmup}


def plan_commands(request: Commands) -> tuple[Plan, str]:
    """Return the plan that compares the commands, and its scenario, whose paths start at the folder of `save`.

    Raises `UsageError`: BX122, the commands cannot be compared, or an option has an invalid value;
    BX103, the file cannot be saved.
    """
    commands = _expanded(request)
    names = _names(request, commands)
    words = {
        name: flow(_words(command, request, request.folder))
        for name, command in zip(names, commands, strict=True)
    }
    first, second, *more = words
    question = phrase_of(PhraseCode.IS_FASTER, second, first)
    if more:
        question = phrase_of(PhraseCode.WHICH_COMMAND, len(commands))
    before, after = (
        text and _words(text, request, Path.cwd()) for text in (request.prepare, request.conclude)
    )
    used = any("input" in PLACEHOLDER.findall(command) for command in commands)
    lines = [
        *request.head(question),
        f"worker: {{command: {words[first]}}}",
        "axes:",
        "  command:",
        f"    {flow(first)}: {{}}",
        *(f"    {flow(command)}: {{command: {words[command]}}}" for command in (second, *more)),
        f"baseline: {{command: {flow(first)}}}",
        *request.tail(before or None, used=used),
        *([f"cleanup: {flow(after)}"] if after else []),
    ]
    return request.plan(lines)


def once(request: Commands, option: Literal["setup", "cleanup"]) -> list[list[str]]:
    """Return the command of ``--setup`` or ``--cleanup`` as a list of none or one.

    Raises `UsageError` (BX122): it is no command, it has placeholders, or ``--save`` would lose it.
    """
    if (text := getattr(request, option)) is None:
        return []
    if request.save is not None:
        raise unfit("BX122.setup-not-saved")
    if names := PLACEHOLDER.findall(text):
        raise unfit("BX122.placeholder-in-option", name=names[0], option=f"--{option}")
    return [["sh", "-c", text] if request.shell else words_without_shell(text)]


def _names(request: Commands, commands: Sequence[str]) -> list[str]:
    """Return the names of the commands: the given ones, otherwise the commands themselves."""
    if not request.names:
        return [short(command, number) for number, command in enumerate(commands, 1)]
    if len(request.names) != len(commands):
        given, needed = counted(len(request.names), "name"), counted(len(commands), "command")
        raise unfit("BX122.names", names=given, commands=needed)
    if (twice := _first_twice(request.names)) is not None:
        raise unfit("BX122.name-twice", name=twice)
    return [*request.names]


def _expanded(request: Commands) -> list[str]:
    """Return the commands with the values of ``-L``."""
    given = [_values(text) for text in request.lists]
    if (twice := _first_twice(name for name, _ in given)) is not None:
        raise unfit("BX122.factor-twice", twice=twice)
    lists = dict(given)
    used_by = [
        (c, [name for name in dict.fromkeys(PLACEHOLDER.findall(c)) if name in lists])
        for c in request.commands
    ]
    count = sum(math.prod(len(lists[name]) for name in used) for _, used in used_by)
    if count > MOST_COMMANDS:
        raise unfit("BX122.too-many-commands", count=count, most=MOST_COMMANDS)
    expanded: list[str] = []
    for command, used in used_by:
        picks = itertools.product(*(lists[name] for name in used))
        expanded += [_filled(command, dict(zip(used, pick, strict=True))) for pick in picks]
    for name in lists:
        if not any(name in PLACEHOLDER.findall(command) for command in request.commands):
            raise unfit("BX122.name-not-used", name=name)
    for command in filter(None, (*expanded, request.prepare, request.conclude)):
        for name in PLACEHOLDER.findall(command):
            if name == "input" and request.input is None:
                raise unfit("BX122.no-input")
            if name != "input":
                raise unfit("BX122.placeholder-without-values", name=name, command=command)
    if not expanded:
        raise unfit("BX122.no-commands")
    if len(expanded) == 1:
        raise unfit("BX122.one-command")
    if (twice := _first_twice(expanded)) is not None:
        raise unfit("BX122.command-twice", twice=short(twice, 1))
    return expanded


def _first_twice(texts: Iterable[str]) -> str | None:
    """Return the first of the texts that occurs more than once."""
    return next((text for text, times in Counter(texts).items() if times > 1), None)


def _values(text: str) -> tuple[str, list[str]]:
    name, equals, values = text.partition("=")
    if not equals or not PLACEHOLDER.fullmatch(f"{{{name}}}") or name == "input":
        raise unfit("BX122.not-a-list", text=text)
    return name, [value.replace("\\,", ",") for value in COMMA.split(values)]


def _filled(command: str, values: dict[str, str]) -> str:
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), command)


def _words(command: str, request: Commands, folder: Path) -> list[str]:
    """Return the program, relative to `folder`, and its arguments as a scenario writes them."""
    if request.shell:  # the path remains as it was given, because `cwd` is the current folder
        return ["sh", "-c", escaped(_filled(command, {"input": shlex.quote(str(request.input))}))]
    words = words_without_shell(command)
    return [program_path(words[0], folder), *map(escaped, words[1:])]


@dataclass(frozen=True, kw_only=True)
class Sweep(ProgramRequest):
    """The arguments of ``benchctl sweep``. `lists` are ``NAME=A,B`` or ``KIND:NAME=A,B``."""

    tool: ClassVar[str] = "sweep"
    lists: Sequence[str]

    @property
    def input_list(self) -> str:
        """Return the name of the list whose values are the inputs (``--input '{NAME}'``); empty without one."""
        slot = PLACEHOLDER.fullmatch(str(self.input))
        return slot[1] if slot and slot[1] in self.by_name else ""

    @property
    def by_name(self) -> dict[str, str]:
        """Return the lists by what precedes ``=``."""
        return {text.partition("=")[0]: text for text in self.lists}

    def input_lines(self, *, used: bool) -> Iterator[str]:
        """Yield the lines of the input: files if all values of its list are files, else arguments."""
        name = self.input_list
        if not name:
            yield from ProgramRequest.input_lines(self, used=used)
            return
        values = _values(self.by_name[name])[1]
        kind = "file" if all(Path(value).is_file() for value in values) else "value"
        used = used or name in PLACEHOLDER.findall(" ".join(self.command))
        if kind == "value" and not used:
            raise unfit("BX122.placeholder-not-used", left=name)
        absolute = [Path(value).is_absolute() for value in values]
        moved = kind == "file" and self.folder != Path.cwd() and not all(absolute)
        if moved and any(absolute):
            raise unfit("BX122.mixed-paths", name=name)
        slot = f"{{{name}}}"
        yield f"input: {flow({kind: os.path.relpath(slot, self.folder) if moved else slot})}"
        if not used:
            yield 'stdin: "{input}"'

    @property
    def listed(self) -> list[str]:
        """Return the features that only some builds have."""
        sets = (t.partition("=")[2] for t in self.lists if t.startswith("FEATURES:"))
        return [n for text in sets for v in text.split(",") if v != _NONE for n in v.split("+")]


@dataclass(frozen=True, kw_only=True)
class Ablation(ProgramRequest):
    """The arguments of ``benchctl ablate``: features to build without, one at a time."""

    tool: ClassVar[str] = "ablate"
    features: str

    @property
    def listed(self) -> list[str]:
        """Return the features that only some builds have."""
        return [name.strip() for name in self.features.split(",") if name.strip()]

    def known(self) -> Mapping[str, Sequence[str]]:
        """Return the features of the package. Raises `UsageError`, BX122, if one enables another."""
        features = ProgramRequest.known(self)
        for one, other in itertools.permutations(self.listed, 2):
            if other in closure(features, [one]):
                raise unfit("BX122.enabled-feature", one=one, other=other)
        return features


def plan_sweep(request: Sweep) -> tuple[Plan, str]:
    """Return the plan that compares all combinations of the values, and its scenario.

    The baseline has the first value of each list. Raises `UsageError`: BX122, the arguments do not
    give a comparison; BX103, see `Request.plan`.
    """
    if not request.lists:
        raise unfit("BX122.no-values")
    if not request.command:
        raise unfit("BX122.no-command")
    if " " in (word := request.command[0]) and not Path(word).exists():
        raise unfit("BX122.command-in-one-word", word=word, quoted=shlex.quote(word))
    axes = [_axis(text, request) for text in request.lists]
    names = [name for name, _ in axes]
    if (twice := _first_twice(names)) is not None:
        raise unfit("BX122.factor-twice", twice=twice)
    given, built = request.by_name, word == BIN
    slots = [name for name in given if ":" not in name]
    baseline = {n: next(iter(values)) for n, values in axes if n != request.input_list}
    if not baseline:
        raise unfit("BX122.no-values")
    program = [*request.program(*slots, built=built)]
    kinds = {name.partition(":")[0] for name in given if ":" in name}
    if not built and (unbuilt := sorted(kinds - {"ENV"})):
        raise unfit("BX122.factor-of-build", unbuilt=unbuilt[0])
    lines = [
        *request.head(phrase_of(PhraseCode.WHICH_VALUES, *baseline)),
        *program,
        "axes:",
        *(f"  {flow(name)}: {flow(values)}" for name, values in axes),
        f"baseline: {flow(baseline)}",
        *request.options(*slots),
    ]
    return request.plan(lines)


def _axis(text: str, request: Sweep) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return the name of an axis, and the settings of each value."""
    left, equals, right = text.partition("=")
    kind, colon, name = left.partition(":")
    values = [value.replace("\\,", ",") for value in COMMA.split(right)]
    if not equals or not (name if colon else kind) or (colon and kind not in _KINDS):
        raise unfit("BX122.not-a-factor", text=text)
    if len({*values}) < max(len(values), 2):
        raise unfit(
            "BX122.too-few-values", left=left, value=counted(len({*values}), "value"), right=right
        )
    if not colon:
        used = any(left in PLACEHOLDER.findall(word) for word in request.command)
        if not used and left != request.input_list:
            raise unfit("BX122.placeholder-not-used", left=left)
        return left, {
            value: {} if short(value, n) == value else {"label": short(value, n)}
            for n, value in enumerate(values, 1)
        }
    if kind != "FEATURES":
        return name, {value: {kind.lower(): {name: value}} for value in values}
    chosen = {value: [] if value == _NONE else value.split("+") for value in values}
    if wrong := next((value for value, features in chosen.items() if "" in features), None):
        raise unfit("BX122.empty-feature", left=left, wrong=wrong)
    return name, {value: {"features": features} for value, features in chosen.items()}


def plan_ablation(request: Ablation) -> tuple[Plan, str]:
    """Return the plan that compares all features with all but one of them, and its scenario.

    Raises `UsageError`: BX122, the arguments do not give a comparison; BX103, see `Request.plan`.
    """
    features = request.listed
    if (twice := _first_twice(features)) is not None:
        raise unfit("BX122.feature-twice", twice=twice)
    if not features:
        names = ", ".join(sorted({*request.built.features} - {"default"}))
        raise unfit("BX122.no-features", names=names, command=shlex.join(request.command))
    for name in features:
        try:
            axis_name(name)
        except Refused as error:
            raise unfit("BX122.not-an-axis-name", name=name, fix=error.text.fix) from error
    baseline = dict.fromkeys(features, "on")
    lines = [
        *request.head(phrase_of(PhraseCode.LOSS_WITHOUT, *features)),
        *request.program(built=True),
        "axes:",
        *(f"  {flow(name)}: {flow({'on': {'features': [name]}, 'off': {}})}" for name in features),
        "design: one-at-a-time",
        f"baseline: {flow(baseline)}",
        "describe:",
        f"  - {flow({'variant': baseline, 'label': ' + '.join(features)})}",
        *(
            f"  - {flow({'variant': {**baseline, name: 'off'}, 'label': label})}"
            for name, label in ((name, phrase_of(PhraseCode.WITHOUT, name)) for name in features)
        ),
        *request.options(),
    ]
    return request.plan(lines)
