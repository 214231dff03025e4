"""The scenario language as models: every key, its type and its meaning (docs/reference/scenario.md).

Run as a module with ``--write`` it renews ``docs/reference/scenario.schema.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from bench_framework.scenario import leaves
from bench_framework.scenario.document import Scalar
from bench_framework.scenario.leaves import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION: Final = 1
"""Of the language."""
PROFILE_KEYS: Final = (
    "opt-level", "lto", "codegen-units", "panic", "debug", "debug-assertions", "overflow-checks", "strip",
    "incremental", "split-debuginfo", "rpath",
)  # fmt: skip
DATASETS: Final = (
    "prose", "text", "cjk", "no-spaces", "crlf", "long-line",
    "sessions", "sessions-small", "sessions-large", "sessions-short-lines", "sessions-long-lines",
)  # fmt: skip
BUILTIN: Final = "builtin"


def _refusal(refused: Refused, at: tuple[str, ...] = ()) -> PydanticCustomError:
    context = {"message": refused.message, "label": refused.label, "help": refused.advice, "at": at}
    return PydanticCustomError(refused.code, "{message}", context)


def _read(reader: Callable[[Any], Any]) -> BeforeValidator:
    def run(value: Any) -> Any:
        try:
            return reader(value)
        except Refused as refused:
            raise _refusal(refused) from None

    return BeforeValidator(run)


def _shape(value: Any) -> str:
    if isinstance(value, list):
        return "<list>"
    return "<mapping>" if isinstance(value, dict) else "<scalar>"


_SCALAR: Final = {"type": ["string", "number", "boolean"]}
_NEVER: Final[dict[str, Any]] = {"not": {}}
_PERCENT: Final = {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*%\s*$", "examples": ["2%"]}

Text: TypeAlias = Annotated[str, _read(leaves.text), WithJsonSchema(_SCALAR)]
Name: TypeAlias = Annotated[
    str,
    _read(leaves.axis_name),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,63}$"}),
]
Symbol: TypeAlias = Annotated[
    str,
    _read(leaves.symbol),
    WithJsonSchema({"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"}),
]
Variable: TypeAlias = Annotated[str, _read(leaves.variable_name), WithJsonSchema({"type": "string"})]
ValueName: TypeAlias = Annotated[str, _read(leaves.value_name), WithJsonSchema(_SCALAR)]
Natural: TypeAlias = Annotated[int, _read(leaves.whole(0)), Field(ge=0)]
Positive: TypeAlias = Annotated[int, _read(leaves.whole(1)), Field(ge=1)]
Flag: TypeAlias = Annotated[bool, _read(leaves.flag)]
Percent: TypeAlias = Annotated[float, _read(leaves.percent), WithJsonSchema(_PERCENT)]
Level: TypeAlias = Annotated[float, _read(leaves.fraction_of_all), WithJsonSchema(_PERCENT)]
Duration: TypeAlias = Annotated[
    float,
    _read(leaves.duration),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(us|µs|ms|s|m|min|h)\s*$",
            "examples": ["15m", "120s"],
        }
    ),
]
Words: TypeAlias = Annotated[
    list[Text],
    _read(leaves.words),
    WithJsonSchema({"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]}),
]
"""A list of texts, or one text that is split at blanks."""
_NotText: TypeAlias = Annotated[Text, WithJsonSchema(_NEVER)]
"""The branch of a union that takes every other shape, only to refuse it in words."""
_NotPercent: TypeAlias = Annotated[Percent, WithJsonSchema(_NEVER)]
_NotList: TypeAlias = Annotated[list[Text], WithJsonSchema(_NEVER)]
Profile: TypeAlias = Annotated[
    Annotated[Text, Tag("<scalar>")]
    | Annotated[dict[Annotated[str, _read(leaves.choice(*PROFILE_KEYS))], Text], Tag("<mapping>")]
    | Annotated[_NotText, Tag("<list>")],
    Discriminator(_shape),
]
"""A profile's name, or keys that are set on top of it."""


class Part(BaseModel):
    """A mapping of the language. A key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, defer_build=True)

    later: ClassVar[dict[str, str]] = {}
    """Keys that are designed and cannot be used yet, and what to do meanwhile (BC111)."""

    def demand(self, holds: object, code: str, message: str, *at: str, advice: str = "") -> None:
        """Refuse this part at its key `at` unless `holds`."""
        if not holds:
            raise _refusal(Refused(code, message, advice=advice), at)


class Worker(Part):
    """The program under test: a crate that is built, one in a git repository, or a program that exists."""

    crate: Text | None = None
    """`builtin` for the bundled workers, or the folder of a crate, relative to this file."""
    git: Text | None = None
    """Repository of the crate."""
    rev: Text | None = None
    """Tag, branch or commit of `git`."""
    command: Annotated[list[Text], Field(min_length=1)] | None = None
    """A program that is not built: `{bin}` is its first word, and the whole list is the default `command`."""
    bin: Text | None = None
    """Binary target of the crate. Default: its only one."""
    package: Text | None = None
    """Package within a workspace."""
    features: list[Text] = []
    """Cargo features of every variant."""
    default_features: Flag = Field(default=True, alias="default-features")
    """`false` builds without the default features."""
    profile: Profile = "release"
    """Cargo profile, or a mapping of profile keys set on top of `release`."""
    toolchain: Text | None = None
    """Rust toolchain, such as `1.88.0` or `nightly`."""
    rustflags: Words = []
    """Compiler flags: a list, or one text split at blanks."""
    contract: Flag | None = None
    """Whether the worker speaks the worker protocol. Default: only the bundled ones."""

    @model_validator(mode="after")
    def _one_kind(self) -> Worker:
        given = [key for key in ("crate", "git", "command") if getattr(self, key) is not None]
        advice = "crate: a folder or builtin; git: a URL, with rev; command: a program that exists"
        self.demand(given, "BC107", "`worker` needs one of `crate`, `git` and `command`", advice=advice)
        message = f"`worker` takes one of `crate`, `git` and `command`, got {' and '.join(given)}"
        self.demand(len(given) == 1, "BC108", message, *given[1:2])
        self.demand(
            self.git or self.rev is None,
            "BC108",
            "`rev` needs `git`",
            "rev",
            advice="a revision of a local crate is `revision:` of an axis value",
        )
        self.demand(
            self.crate != BUILTIN or self.bin, "BC107", "`crate: builtin` needs `bin`", advice="bin: tally"
        )
        if self.command is not None:
            for key in sorted(self.model_fields_set - {"command", "contract"}):
                name = key.replace("_", "-")
                self.demand(False, "BC108", f"`{name}` has no effect on a program that is not built", name)  # noqa: FBT003
        return self


def _or_nothing(schema: dict[str, Any]) -> None:
    whole = dict(schema)
    schema.clear()
    schema.update(anyOf=[{"const": None}, whole], description=whole.pop("description"))


class Setting(Part):
    """What one value of an axis changes, beside standing in the command as `{axis}`."""

    model_config = ConfigDict(json_schema_extra=_or_nothing)

    features: list[Text] = []
    """Cargo features added to the worker's."""
    no_default_features: Flag | None = Field(default=None, alias="no-default-features")
    """`true` builds without the default features."""
    profile: Profile | None = None
    """Cargo profile in place of the worker's, or profile keys set on top of it."""
    rustflags: Words = []
    """Compiler flags added to the worker's."""
    toolchain: Text | None = None
    """Rust toolchain in place of the worker's."""
    revision: Text | None = None
    """Revision of the crate: tag, branch or commit."""
    args: list[Text] = []
    """Arguments added at the end of the command, or where it says `{args}`."""
    env: dict[Variable, Text] = {}
    """Environment variables added to the scenario's."""
    cpus: Annotated[str, _read(leaves.cpu_list), WithJsonSchema(_SCALAR)] | None = None
    """CPUs the program may run on, such as `0-3`."""
    cache: (
        Annotated[
            Literal["warm", "unknown"],
            _read(leaves.choice("warm", "unknown", later={"cold": "measure with `cache: warm` meanwhile"})),
        ]
        | None
    ) = None
    """State of the page cache before a run."""
    label: Text | None = None
    """What readers are shown in place of the value's name."""
    about: Text = ""
    """One line about this value, shown as a note."""


def _nothing_is_empty(value: Any) -> Any:
    """``jemalloc:`` with nothing behind it is a value that changes nothing."""
    return {} if isinstance(value, Scalar) and value.is_null else value


Settings: TypeAlias = dict[
    ValueName,
    Annotated[Setting, BeforeValidator(_nothing_is_empty)],
]


class AxisTable(Part):
    """An axis with a label or a note of its own."""

    values: Annotated[
        Annotated[list[ValueName], Tag("<list>"), Field(min_length=1)]
        | Annotated[Settings, Tag("<mapping>"), Field(min_length=1)]
        | Annotated[_NotList, Tag("<scalar>")],
        Discriminator(_shape),
    ]
    """The values: a list of names, or a mapping from name to what it changes."""
    label: Text = ""
    """What readers are shown in place of the axis' name."""
    note: Text = ""
    """One line about the axis, shown under its tables."""


def _axis_form(value: Any) -> str:
    if isinstance(value, dict):
        return "<AxisTable>" if "values" in value else "<mapping>"
    return "<list>"


AxisForm: TypeAlias = Annotated[
    Annotated[list[ValueName], Tag("<list>"), Field(min_length=1)]
    | Annotated[Settings, Tag("<mapping>"), Field(min_length=1)]
    | Annotated[AxisTable, Tag("<AxisTable>")],
    Discriminator(_axis_form),
]


class InputPart(Part):
    """What the program works on. Every key may hold `{axis}`, which makes that axis an input axis."""

    dataset: Text | None = None
    """A generated text: prose (or text), cjk, no-spaces, crlf or long-line; or a folder of JSONL sessions: sessions,
    sessions-small, sessions-large, sessions-short-lines or sessions-long-lines."""
    size: Text | None = None
    """Size of the generated text, with its unit: `10MiB`, `200MB`."""
    seed: Text = "42"
    """Seed of the generator: a whole number."""
    file: Text | None = None
    """A file of yours in place of a generated text, relative to this file."""

    @model_validator(mode="after")
    def _one_kind(self) -> InputPart:
        self.demand(
            self.dataset or self.file, "BC107", "`input` needs `dataset` or `file`", advice="dataset: prose"
        )
        self.demand(
            not (self.dataset and self.file), "BC108", "`input` takes `dataset` or `file`, not both", "file"
        )
        self.demand(
            not self.dataset or self.size, "BC107", "`input.dataset` needs `size`", advice="size: 10MiB"
        )
        for key in ("size", "seed"):
            unused = self.file is not None and key in self.model_fields_set
            self.demand(not unused, "BC108", f"`{key}` has no effect on a file of yours", key)
        return self


def _or_one_number(schema: dict[str, Any]) -> None:
    whole = dict(schema)
    schema.clear()
    schema.update(anyOf=[{"type": "integer", "minimum": 1}, whole], description=whole.pop("description"))


class Rounds(Part):
    """How many rounds: the least and the most, or one number for exactly so many."""

    model_config = ConfigDict(json_schema_extra=_or_one_number)

    min: Positive | None = None
    """Rounds before the first look at the data. Default 12."""
    max: Positive | None = None
    """Rounds after which measuring stops whatever is decided. Default 40."""

    @model_validator(mode="before")
    @classmethod
    def _one_number(cls, value: Any) -> Any:
        return {"min": value, "max": value} if isinstance(value, Scalar) else value

    @model_validator(mode="after")
    def _ordered(self) -> Rounds:
        crossed = self.min is not None and self.max is not None and self.min > self.max
        self.demand(
            not crossed,
            "BC108",
            f"`rounds.min` is {self.min}, above `rounds.max`, which is {self.max}",
            "min",
        )
        return self


class Precision(Part):
    """Stop once the intervals are narrow enough."""

    precision: Level
    """Half-width of every headline interval, such as `1%`."""


_WARM: Final = _read(leaves.choice("warm", "unknown", later={"cold": "measure with `cache: warm` meanwhile"}))
_STRATEGY: Final = _read(
    leaves.choice("fixed", later={"race": "`strategy: fixed` measures every cell to the end"})
)


class Measure(Part):
    """How much is measured, in which order, and when it stops (docs/method.md)."""

    rounds: Rounds = Field(default_factory=Rounds)
    """Passes over all cells: `{min: 12, max: 40}`, or one number for exactly so many."""
    until: Annotated[
        Annotated[Literal["decided", "rounds"], _read(leaves.choice("decided", "rounds")), Tag("<scalar>")]
        | Annotated[Precision, Tag("<mapping>")]
        | Annotated[_NotText, Tag("<list>")],
        Discriminator(_shape),
    ] = "decided"
    """`decided`: until every comparison is; `rounds`: exactly `max`; `{precision: 1%}`: until every interval
    is so narrow."""
    budget: Duration | None = None
    """Wall-clock time after which no further round is begun."""
    warmup: Natural = 2
    """Rounds at the start that are recorded and not used."""
    cache: Annotated[Literal["warm", "unknown"], _WARM] = "warm"
    """State of the page cache before a run."""
    timeout: Duration = 600.0
    """Of one run."""
    seed: Natural | None = None
    """Of the order of cells within rounds. Default: derived from the scenario's content."""
    control: Flag = True
    """Whether the baseline runs a second time under another name, as a test of the measurement itself."""
    strategy: Annotated[Literal["fixed"], _STRATEGY] = "fixed"
    """`fixed`: every cell runs in every round."""


PerMetric: TypeAlias = Annotated[
    Annotated[Percent, Tag("<scalar>")]
    | Annotated[dict[Text, Percent], Tag("<mapping>")]
    | Annotated[_NotPercent, Tag("<list>")],
    Discriminator(_shape),
]
"""One percentage, or one per metric."""


class Gate(Part):
    """Metrics with the change that is tolerated: checked and kept; `benchctl gate` is not there yet."""

    later: ClassVar[dict[str, str]] = {
        "against": "name the revisions on the command line of `benchctl compare`",
        "cells": "select with -k on the command line",
        "budgets": "only changes against the baseline are judged",
        "accepted": "widen the margin of the metric meanwhile",
        "min_compared": "use `require` for metrics that must be judged",
        "instructions": "gate `cpu` meanwhile",
    }

    wall: Percent | None = None
    """Tolerated growth of elapsed time."""
    cpu: Percent | None = None
    """Tolerated growth of processor time (user and system)."""
    user: Percent | None = None
    """Tolerated growth of processor time in the program."""
    sys: Percent | None = None
    """Tolerated growth of processor time in the kernel."""
    peak_rss: Percent | None = None
    """Tolerated growth of peak memory."""
    binary_size: Percent | None = None
    """Tolerated growth of the binary."""
    build_time: Percent | None = None
    """Tolerated growth of the time to build."""
    detect: Level = 0.03
    """A metric counts as judged if a change of this size would have been found."""
    on_undecided: Annotated[Literal["warn", "fail"], _read(leaves.choice("warn", "fail"))] = "warn"
    """What to do about a metric that could not be judged."""
    require: list[Text] = []
    """Metrics that must be judged, or the gate fails."""

    @model_validator(mode="after")
    def _known(self) -> Gate:
        gated = [name for name, _ in self.margins()]
        for metric in self.require:
            advice = leaves.did_you_mean(metric, gated, "gated here")
            self.demand(
                metric in gated,
                "BC108",
                f"`require` names `{metric}`, which this gate does not judge",
                "require",
                advice=advice,
            )
        return self

    def margins(self) -> tuple[tuple[str, float], ...]:
        """Metric and its tolerated growth as a fraction, in the order of this class."""
        names = ("wall", "cpu", "user", "sys", "peak_rss", "binary_size", "build_time")
        return tuple((name, value) for name in names if (value := getattr(self, name)) is not None)


class AnswerPart(Part):
    """How two runs are seen to have done the same work."""

    compare: Annotated[
        Literal["exact", "sorted-lines", "json", "none"],
        _read(leaves.choice("exact", "sorted-lines", "json", "none")),
    ] = "exact"
    """Bytes, lines in any order, JSON by value, or not at all."""
    file: Text | None = None
    """File that holds the answer, in place of stdout."""
    stdout: Annotated[Literal["file", "pipe", "null"], _read(leaves.choice("file", "pipe", "null"))] = "file"
    """Where the program's stdout goes while it is timed."""


class IdeaPart(Part):
    """The baseline with one change, tried beside the axes."""

    name: ValueName
    """Name of the idea: the label of its variant."""
    change: Annotated[dict[Text, Text], Field(min_length=1, max_length=1)]
    """One key of `fixed`, or one axis, and its other value."""
    why: Text = ""
    """What was hoped for."""
    decision: Annotated[
        Literal["adopted", "rejected", "open"], _read(leaves.choice("adopted", "rejected", "open"))
    ] = "open"
    """What became of it."""


class NotePart(Part):
    """Text of the author, printed apart from what was measured."""

    title: Text
    """Heading."""
    text: Text
    """The text."""


class DescribePart(Part):
    """Words about the variants that have these axis values."""

    variant: dict[Text, Text]
    """Axis values; a variant with all of them is described."""
    label: Text | None = None
    """What readers are shown in place of the names of its values."""
    text: Text = ""
    """The words."""


class Limits(Part):
    """Guards against a scenario that is larger than meant."""

    max_cells: Positive = 500
    """Most cells a plan may hold."""


def _rows(value: Any) -> Any:
    """One command, or a list of commands, as a list of commands."""
    return (
        [value]
        if isinstance(value, list) and not any(isinstance(item, list) for item in value) and value
        else value
    )


Rule: TypeAlias = dict[
    Text,
    Annotated[
        list[Text],
        BeforeValidator(lambda value: value if isinstance(value, list) else [value]),
        WithJsonSchema({"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]}),
    ],
]
"""Axis name to the value, or the values, that the rule is about."""
_RULE = {
    "type": "object",
    "additionalProperties": {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]},
    "minProperties": 1,
}
Rules: TypeAlias = Annotated[
    list[Annotated[Rule, Field(min_length=1)]],
    _read(leaves.mappings),
    WithJsonSchema({"anyOf": [_RULE, {"type": "array", "items": _RULE}]}),
]
Commands: TypeAlias = Annotated[
    list[list[Text]],
    BeforeValidator(_rows),
    WithJsonSchema({"type": "array", "items": {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]}}),
]
NameLists: TypeAlias = Annotated[
    list[Annotated[list[Text], Field(min_length=2)]],
    BeforeValidator(_rows),
    WithJsonSchema({"type": "array", "items": {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]}}),
]
Baselines: TypeAlias = Annotated[
    list[dict[Text, Text]],
    _read(leaves.mappings),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": _SCALAR},
                {
                    "type": "array",
                    "items": {"type": "object", "additionalProperties": _SCALAR},
                    "minItems": 1,
                },
            ]
        }
    ),
]


class ScenarioFile(Part):
    """A benchctl scenario: the question, the workload, the axes, how to measure and how to judge."""

    later: ClassVar[dict[str, str]] = {
        "anchor": "put the reference into the axes as one more variant",
        "include": "repeat the part in this file; YAML anchors work within one file",
        "extends": "repeat the part in this file; YAML anchors work within one file",
        "metrics": "a worker with the protocol reports its own metrics; `judge` chooses what is compared",
        "profile": "profile one variant by hand; a profile of the build is `worker.profile`",
    }

    version: Annotated[int, _read(leaves.whole(1)), WithJsonSchema({"const": VERSION})]
    """Of the scenario language: 1."""
    name: Annotated[
        str,
        _read(leaves.scenario_name),
        WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}),
    ]
    """Short name; its records are kept in a folder of this name."""
    question: Text
    """The sentence that the report must answer."""
    about: Text = ""
    """More about the scenario, printed among the author's notes."""
    worker: Worker
    """The program under test."""
    axes: dict[Name, AxisForm] = {}
    """What is varied: axis name to its values (a list), to what each value changes (a mapping), or to both
    with a label and a note (`{values: …, label: …, note: …}`)."""
    input: InputPart | None = None
    """What the program works on; leave it out for a program that needs none."""
    command: (
        Annotated[
            Annotated[list[Text], Tag("<list>"), Field(min_length=1)]
            | Annotated[Text, Tag("<scalar>")]
            | Annotated[_NotList, Tag("<mapping>")],
            Discriminator(_shape),
        ]
        | None
    ) = None
    """Argument list of one run. `{bin}` and `{input}` are filled in, as are `{axis}` and keys of `fixed`;
    `{{` and `}}` stand for braces. Default: the worker's."""
    shell: Flag = False
    """`true`: `command` is one text that a shell reads."""
    stdin: Text | None = None
    """File that the program reads from stdin, such as `{input}`."""
    env: dict[Variable, Text] = {}
    """Environment variables of every run."""
    cwd: Text | None = None
    """Folder in which the program runs, relative to this file."""
    data_dir: Text | None = Field(default=None, alias="data-dir")
    """Folder for generated inputs, relative to this file."""
    tuning: Annotated[list[Text], Field(min_length=1)] | None = None
    """Argument list, run once before anything is measured, with the baseline's program as `{bin}`; it prints one JSON
    object, which the record keeps, and `{tuning}` in a command is the file that holds it."""
    prepare: Commands = []
    """One command, or a list of commands, run before a cell is timed."""
    cleanup: Commands = []
    """One command, or a list of commands, run after a cell was timed."""
    exit_codes: Annotated[list[Natural], Field(min_length=1)] = Field(default=[0], alias="exit-codes")
    """Exit codes of a run that did its work."""
    exclude: Rules = []
    """Combinations that are not measured: each rule names axis values, or lists of them."""
    pairs: NameLists = []
    """Axes that advance together, value by value, in place of every combination."""
    zip: NameLists = []
    """The same as `pairs`."""
    exclusive: NameLists = []
    """Axes of which at most one departs from the baseline at a time."""
    design: Annotated[
        Literal["full", "one-at-a-time", "ladder"], _read(leaves.choice("full", "one-at-a-time", "ladder"))
    ] = "full"
    """`full`: every combination; `one-at-a-time`: the baseline with one axis changed; `ladder`: changes piled
    up in the order of the axes."""
    baseline: Baselines = []
    """The variant that others are compared with: one value for each axis with several. A list holds more."""
    measure: Measure = Field(default_factory=Measure)
    """How much is measured, in which order, and when it stops."""
    judge: Annotated[list[Text], Field(min_length=1)] = ["wall", "cpu"]
    """Metrics whose differences are judged."""
    margin: PerMetric | None = None
    """Change that is too small to care about: `2%`, or one per metric."""
    epsilon: PerMetric | None = None
    """Smallest change worth a word: `1%`, or one per metric."""
    level: Level = 0.05
    """Chance of any false finding in the whole report."""
    gate: Gate = Field(default_factory=Gate)
    """Policy of `benchctl gate`, which is not there yet: it is checked and kept, and judges nothing."""
    answer: AnswerPart = Field(default_factory=AnswerPart)
    """What shows that two runs did the same work."""
    fixed: dict[Name, Text] = {}
    """Knobs that are not varied, used as `{name}`; an idea may change one."""
    ideas: list[IdeaPart] = []
    """Single changes to the baseline that are tried beside the axes."""
    bounds: list[Annotated[dict[Text, Text], Field(min_length=1)]] = []
    """Variants that are limits, not candidates: each item names axis values. They do other work, so they are timed
    and shown, and compared with nothing."""
    cells: dict[Symbol, Annotated[dict[Text, Text], Field(min_length=1)]] = {}
    """Names for variants, used by `derived`: name to axis values; an axis that is left out has the baseline's."""
    derived: dict[Symbol, Text] = {}
    """Figures that follow from named cells, round by round: `rate(cell)`, `time(cell)`, other rows above,
    `min`, `max`, `harmonic`, `+ - * /`."""
    describe: list[DescribePart] = []
    """Words about variants, shown beside their results."""
    notes: list[NotePart] = []
    """Texts of the author, printed apart from what was measured."""
    limits: Limits = Field(default_factory=Limits)
    """Where a scenario is larger than meant: `{max_cells: 500}`."""

    @model_validator(mode="after")
    def _consistent(self) -> ScenarioFile:
        text = isinstance(self.command, str)
        self.demand(
            not text or self.shell,
            "BC102",
            "`command` must be a list of arguments, got a text",
            "command",
            advice='write ["{bin}", "…"], or say `shell: true` for a shell\'s command line',
        )
        self.demand(
            not self.shell or text, "BC108", "`shell: true` needs a `command` that is one text", "shell"
        )
        for key in self.fixed:
            self.demand(
                key not in self.axes, "BC108", f"`{key}` is an axis and cannot be fixed too", "fixed", key
            )
        return self


def settings_of(axis: Any) -> tuple[dict[str, Setting], str, str]:
    """Value name to what it changes, the axis' label and its note, whichever form the axis has."""
    label, note = (axis.label, axis.note) if isinstance(axis, AxisTable) else ("", "")
    values = axis.values if isinstance(axis, AxisTable) else axis
    plain = Setting()
    return (values if isinstance(values, dict) else dict.fromkeys(values, plain)), label, note


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of scenarios, with the docstrings as hover text."""
    made = _tidy(ScenarioFile.model_json_schema(by_alias=True))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "benchctl scenario", **made}


def _tidy(node: Any) -> Any:
    """Without branches that nothing meets or `load` refuses (null), and without what only repeats a key."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: value for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    if node.get("default", ...) is None:
        del node["default"]
    branches = node.pop("oneOf", None) or node.pop("anyOf", None)
    if branches is not None:
        branches = [branch for branch in branches if branch not in (_NEVER, {"type": "null"})]
        if len(branches) == 1:
            return _tidy({**branches[0], **node})
        node = {"anyOf": branches, **node}
    if "patternProperties" in node:
        node["additionalProperties"] = False
    return {key: _tidy(value) for key, value in node.items()}


def schema_text() -> str:
    """The schema as it is kept in ``docs/reference/scenario.schema.json``."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m bench_framework.scenario.schema --write")
    target = Path(__file__).resolve().parents[2] / "docs" / "reference" / "scenario.schema.json"
    target.write_text(schema_text(), encoding="utf-8")
