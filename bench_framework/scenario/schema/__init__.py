"""The scenario language as models: every key, its type and its meaning (docs/reference/scenario.md).

Run as a module with ``--write`` it renews ``docs/reference/scenario.schema.json``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Discriminator, Field, Tag, WithJsonSchema, model_validator

from bench_framework.model.metrics import CPU, WALL
from bench_framework.scenario import scalars
from bench_framework.scenario.schema.measure import (
    Gate,
    Measure,
)
from bench_framework.scenario.schema.metrics import MetricPart
from bench_framework.scenario.schema.parts import (
    AnchorPart,
    AnswerPart,
    Baselines,
    Commands,
    DerivedPart,
    DescribePart,
    ExperimentPart,
    InputPart,
    Limits,
    NameLists,
    NotePart,
    Rules,
)
from bench_framework.scenario.schema.profile import ProfilePart
from bench_framework.scenario.schema.types import (
    NEVER,
    ExitCode,
    Flag,
    Level,
    Name,
    NotList,
    Part,
    PerMetric,
    Symbol,
    Text,
    ValueName,
    Variable,
    docstrings,
    parts_in,
    read_by,
    shape,
)
from bench_framework.scenario.schema.worker import (
    AxisForm,
    Worker,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION: Final = 1
"""Of the language."""


class ScenarioFile(Part):
    """A benchctl scenario: the question, the workload, the axes, how to measure and how to judge."""

    version: Annotated[int, read_by(scalars.whole(1)), WithJsonSchema({"const": VERSION})]
    """Of the scenario language: 1."""
    name: Annotated[
        str,
        read_by(scalars.scenario_name),
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
            | Annotated[NotList, Tag("<mapping>")],
            Discriminator(shape),
        ]
        | None
    ) = None
    """Argument list of one run. `{bin}` and `{input}` are filled in, as are `{axis}` and keys of `fixed`;
    `{{` and `}}` stand for braces. Default: the worker's."""
    shell: Flag = False
    """`true`: `command` is one text that a shell reads."""
    stdin: ValueName | None = None
    """File that the program reads from stdin, such as `{input}`."""
    env: dict[Variable, Text] = {}
    """Environment variables of every run."""
    cwd: ValueName | None = None
    """Folder in which the program runs, relative to this file."""
    data_dir: ValueName | None = Field(default=None, alias="data-dir")
    """Folder for generated inputs, relative to this file."""
    tuning: Annotated[list[Text], Field(min_length=1)] | None = None
    """Argument list, run once before anything is measured, with the baseline's program as `{bin}`; it prints one JSON
    object, which the record keeps, and `{tuning}` in a command is the file that holds it."""
    prepare: Commands = []
    """One command, or a list of commands, run before a cell is timed."""
    cleanup: Commands = []
    """One command, or a list of commands, run after a cell was timed."""
    exit_codes: Annotated[list[ExitCode], Field(min_length=1)] = Field(
        default=[0], alias="exit-codes"
    )
    """Exit codes of a run that did its work."""
    exclude: Rules = []
    """Combinations that are not measured: each rule names axis values, or lists of them."""
    pairs: NameLists = []
    """Axes that advance together, value by value, in place of every combination."""
    exclusive: NameLists = []
    """Axes of which at most one departs from the baseline at a time."""
    design: Annotated[
        Literal["full", "one-at-a-time", "ladder"],
        read_by(scalars.choice("full", "one-at-a-time", "ladder")),
    ] = "full"
    """`full`: every combination; `one-at-a-time`: the baseline with one axis changed; `ladder`: changes piled
    up in the order of the axes."""
    baseline: Baselines = []
    """The variant that others are compared with: one value for each axis with several. A list holds more: the first is
    the baseline of the headline, and a section of its own compares every variant with each of them."""
    anchor: AnchorPart | None = None
    """What stays the same from record to record, so that records can be compared: `{rev: v1.0}` or `{variant: …}`."""
    measure: Measure = Field(default_factory=Measure)
    """How much is measured, in which order, and when it stops."""
    metrics: dict[Symbol, MetricPart] = {}
    """Numbers that the program prints or reports: name to where each stands, its unit and which way is better.
    `instructions` says how these are counted."""
    judge: Annotated[list[Text], Field(min_length=1)] = [WALL, CPU]
    """Metrics whose differences are judged (docs/reference/metrics.md)."""
    margin: PerMetric | None = None
    """Change that is too small to care about: `2%`, or one per metric."""
    epsilon: PerMetric | None = None
    """Smallest change worth a word: `1%`, or one per metric."""
    level: Level = 0.05
    """Chance of any false finding in the whole report."""
    gate: Gate = Field(default_factory=Gate)
    """What `benchctl gate` and `benchctl run --gate` tolerate."""
    answer: AnswerPart = Field(default_factory=AnswerPart)
    """What shows that two runs did the same work."""
    fixed: dict[Name, Text] = {}
    """Knobs that are not varied, used as `{name}`; an experiment may change one."""
    experiments: list[ExperimentPart] = []
    """Single changes, measured next to the combinations of the axes; one with `hypothesis` is a test of it."""
    bounds: list[Annotated[dict[Text, Text], Field(min_length=1)]] = []
    """Variants that are limits, not candidates: each item names axis values. They do other work, so they are timed
    and shown, and compared with nothing."""
    cells: dict[Symbol, Annotated[dict[Text, Text], Field(min_length=1)]] = {}
    """Names for variants, used by `derived`: name to axis values; an axis that is left out has the baseline's."""
    derived: dict[Symbol, DerivedPart] = {}
    """Figures that follow from named cells, round by round: `rate(cell)`, `time(cell)`, other rows above,
    `min`, `max`, `harmonic`, `+ - * /`."""
    profile: ProfilePart | None = None
    """Functions in which the variants spend their time: sampled after measuring, never timed. A profile of the build is
    `worker.profile`."""
    describe: list[DescribePart] = []
    """Words about variants, shown beside their results."""
    notes: list[NotePart] = []
    """Texts of the author, printed apart from what was measured."""
    limits: Limits = Field(default_factory=Limits)
    """Where a scenario is larger than meant: `{max-cells: 500}`."""

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
            not self.shell or text,
            "BC108",
            "`shell: true` needs a `command` that is one text",
            "shell",
        )
        for key in self.fixed:
            self.demand(
                key not in self.axes,
                "BC108",
                f"`{key}` is an axis and cannot be fixed too",
                "fixed",
                key,
            )
        return self


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of scenarios, with the docstrings as hover text."""
    for part in dict.fromkeys(_below(ScenarioFile)):
        for name, text in docstrings(part).items():
            part.model_fields[name].description = text
        part.model_rebuild(force=True)
    made = _tidy(ScenarioFile.model_json_schema(by_alias=True))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "benchctl scenario",
        **made,
    }


def _below(part: type[Part]) -> Iterator[type[Part]]:
    """A part and all that it is made of, each after what it speaks of itself."""
    for field in part.model_fields.values():
        for inner in parts_in(field.annotation):
            yield from _below(inner)
    yield part


def _tidy(node: Any) -> Any:
    """Without branches that nothing meets or `load` refuses (null), and without what only repeats a key."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {
        key: value for key, value in node.items() if not (key == "title" and isinstance(value, str))
    }
    if node.get("default", ...) is None:
        del node["default"]
    branches = node.pop("oneOf", None) or node.pop("anyOf", None)
    if branches is not None:
        branches = [branch for branch in branches if branch not in (NEVER, {"type": "null"})]
        if len(branches) == 1:
            return _tidy({**branches[0], **node})
        node = {"anyOf": branches, **node}
    if "patternProperties" in node:
        node["additionalProperties"] = False
    return {key: _tidy(value) for key, value in node.items()}


def schema_text() -> str:
    """The schema as it is kept in ``docs/reference/scenario.schema.json``."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
