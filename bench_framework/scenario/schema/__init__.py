"""The scenario format as pydantic models: every key, its type and its meaning.

``docs/reference/scenario.md`` describes the keys.
"""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Final, Self

from pydantic import Field, WithJsonSchema, model_validator

from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.plan.declarations import Experiment, Headline, NamedContrast, Note
from bench_framework.model.plan.policies import GatePolicy
from bench_framework.model.plan.published import Published
from bench_framework.model.plan.written import Design
from bench_framework.scenario import scalars
from bench_framework.scenario.schema import parts
from bench_framework.scenario.schema.docstrings import docstrings
from bench_framework.scenario.schema.measure import AnswerPart, Gate, Measure, MetricPart, Profiling
from bench_framework.scenario.schema.server import ServerPart
from bench_framework.scenario.schema.types import (
    NEVER,
    ONE_OF,
    Arguments,
    ByShape,
    ExitCode,
    Flag,
    Name,
    NotList,
    Part,
    PerMetric,
    PlanPart,
    Symbol,
    Text,
    ValueName,
    Values,
    Variable,
    alone,
    keys,
    parts_in,
    read_by,
    refuse,
)
from bench_framework.scenario.schema.worker import AxisForm, Worker

VERSION: Final = 1
"""Version of the scenario format."""


class ScenarioFile(Part):
    """A benchctl scenario: question, workload, axes, measurement and judgement."""

    version: Annotated[int, read_by(scalars.whole(1)), WithJsonSchema({"const": VERSION})]
    """Version of the scenario format: 1."""
    name: Annotated[
        str,
        read_by(scalars.scenario_name),
        WithJsonSchema({"type": "string", "pattern": f"^{scalars.SCENARIO_NAME}$"}),
    ]
    """Short name. Records are stored in a folder of this name."""
    question: Text
    """Question that the report answers."""
    about: Text = ""
    """Further description of the scenario, shown among the author's notes."""
    worker: Worker
    """The program under test."""
    axes: dict[Name, AxisForm] = {}
    """Axes, by name. An axis is a list of values, a mapping from each value to its settings, or
    `{values: …, label: …, note: …}`."""
    input: parts.InputPart | None = None
    """Input of the program. Omit it for a program without an input."""
    command: Annotated[Arguments | Text, ByShape(NotList)] | None = None
    """Arguments of one run. The placeholders `{bin}`, `{input}`, `{axis}` and keys of `fixed` are
    replaced; write `{{` and `}}` for literal braces. Default: the worker's command."""
    shell: Flag = False
    """`true`: `command` is one string, run by a shell."""
    server: ServerPart | None = None
    """Server that runs while `command`, its client, is timed. `cpu` and `peak_rss` are then those of
    the server."""
    stdin: ValueName | None = None
    """File that becomes the program's stdin, such as `{input}`."""
    env: dict[Variable, Text] = {}
    """Environment variables of every run."""
    cwd: ValueName | None = None
    """Working directory of the program, relative to this file."""
    data_dir: ValueName | None = Field(default=None, alias="data-dir")
    """Folder for generated inputs, relative to this file."""
    tuning: Arguments | None = None
    """Command that runs once before measuring, with the baseline's program as `{bin}`. It prints
    one JSON object, which is stored in the record. `{tuning}` in a command is the path of that
    file."""
    prepare: parts.Commands = []
    """One command, or a list of commands, that runs before each sample."""
    cleanup: parts.Commands = []
    """One command, or a list of commands, that runs after each sample."""
    exit_codes: Annotated[list[ExitCode], Field(min_length=1)] = Field(
        default=[0], alias="exit-codes"
    )
    """Exit codes that mean success."""
    exclude: parts.Rules = []
    """Combinations that are not measured. Each rule maps axes to a value or a list of values. `because`
    is the reason why such a combination has no meaning."""
    pairs: parts.NameLists = []
    """Axes that advance together: first value with first value, and so on."""
    design: Annotated[Design, ONE_OF] = "full"
    """`full`: every combination. `one-at-a-time`: the baseline with one axis changed. `ladder`: the
    changes are added one after the other, in the order of the axes."""
    include: parts.Baselines = []
    """Variants that are measured in addition to the combinations of `design`, each with its values. An
    omitted axis has the baseline's value. The design `full` has them anyway."""
    baseline: parts.Baselines = []
    """Variant that the others are compared with: one value for each axis that has several. A list
    gives several baselines: the headline uses the first, and a separate section compares every
    variant with each of them."""
    choose_from: parts.Baselines = Field(default=[], alias="choose-from")
    """Variants that the answer and the recommendation choose from: those with all values of an
    item. All variants are compared. Default: every variant; if `baseline` names a page cache, those
    with this state."""
    measure: Measure = Field(default_factory=Measure)
    """Number of rounds, order, and when measuring stops."""
    hosts: parts.Hosts | None = None
    """Hosts on which `benchctl run --scheduler` measures, each with a record of its own: `all`,
    `{any: 2}`, `{label: [arm64, x86]}` or `{per-kind: 3}`. Without `--scheduler`, it has no
    effect. Default: one host."""
    metrics: dict[Symbol, MetricPart] = {}
    """Metrics that the program prints or reports, by name: source, unit and direction. The key
    `instructions` sets how instructions are counted."""
    judge: Annotated[list[Text], Field(min_length=1)] = [WALL, CPU]
    """Metrics that get a verdict (docs/reference/metrics.md)."""
    margin: PerMetric | None = None
    """Change that is too small to matter: `2%`, or one per metric."""
    gate: Gate = Field(default_factory=GatePolicy)
    """Changes that `benchctl gate` and `benchctl run --gate` tolerate."""
    answer: Annotated[AnswerPart, alone("compare")] = Field(default_factory=AnswerPart)
    """Comparison of outputs, to check that all runs did the same work."""
    fixed: dict[Name, Text] = {}
    """Parameters that are not varied, used as `{name}`. An experiment may change one."""
    experiments: list[Annotated[Experiment, PlanPart()]] = []
    """Single changes to the baseline, measured in addition to the combinations of the axes."""
    contrasts: list[Annotated[NamedContrast, PlanPart()]] = []
    """Comparisons of two variants, of which neither needs to be a baseline. They are judged with
    the comparisons with the baseline, and the report states them among its key findings."""
    bounds: list[Values] = []
    """Variants that are limits and not candidates; each item maps axes to values. They do different
    work, so they are timed and shown, but not compared."""
    cells: dict[Symbol, Values] = {}
    """Names of variants for use in `derived`, each with axis values. An omitted axis has the
    baseline's value."""
    derived: dict[Symbol, parts.Derived] = {}
    """Figures that are computed from named cells in each round, with `rate(cell)`, `time(cell)`,
    the names of earlier figures, `min`, `max`, `harmonic` and `+ - * /`."""
    profile: Profiling | None = None
    """Sampling of the functions in which variants spend their time, after measuring. The Cargo
    profile is `worker.profile`."""
    describe: list[parts.DescribePart] = []
    """Descriptions of variants, shown with their results."""
    notes: list[Annotated[Note, PlanPart()]] = []
    """Notes of the author, shown in a separate section of the report."""
    published: Annotated[Published, PlanPart()] | None = None
    """A published report, and what tests each of its claims. The report says which are
    confirmed."""
    headline: Annotated[Headline, PlanPart()] | None = None
    """The result that answers the question. Default: by the design."""
    takeaways: list[parts.TakeawayPart] = []
    """Lines of the author below the answer."""
    next_steps: list[Text] = Field(default=[], alias="next-steps")
    """Plans of the author. They may contain the references of `takeaways`."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        text = isinstance(self.command, str)
        refuse(text and not self.shell, "BC102.command-not-a-list", "command")
        refuse(self.shell and not text, "BC108.shell-without-command-line", "shell")
        for key in self.fixed:
            refuse(key in self.axes, "BC108.axis-and-fixed-key", "fixed", key, key=key)
        return self


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of scenarios, with docstrings as descriptions."""
    whole = ScenarioFile.model_json_schema(by_alias=True)
    for part in _below(ScenarioFile):
        mapping = whole["$defs"].get(part.__name__, whole)
        mapping = mapping.get("anyOf", [mapping])[-1]
        written = mapping["properties"]
        mapping["properties"] = {key: written[key] for key in keys(part)}
        for key, text in docstrings(part).items():
            described = {**written[key], "description": text}
            mapping["properties"][key] = dict(sorted(described.items()))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "benchctl scenario",
        **_tidy(whole),
    }


def _below(part: type[Any]) -> Iterator[type[Any]]:
    """Yield a part and the parts that it contains."""
    yield part
    for key in keys(part).values():
        for inner in parts_in(key.type):
            yield from _below(inner)


def _tidy(node: Any) -> Any:
    """Return the schema without unreachable and null branches, empty defaults and generated titles."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {
        key: value for key, value in node.items() if not (key == "title" and isinstance(value, str))
    }
    if node.get("default", ...) in (None, ""):
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
    """Return the contents of ``docs/reference/scenario.schema.json``."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
