"""The parts of a scenario that declare: input, experiments, rules, contrasts, notes and claims."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from bench_framework.model.declarations import DerivedRow
from bench_framework.model.policies import HostPolicy
from bench_framework.model.published import OtherResult, TestKind
from bench_framework.scenario import scalars
from bench_framework.scenario.document import Scalar
from bench_framework.scenario.schema.types import (
    ONE_OF,
    SCALAR,
    SCALARS,
    Flag,
    Part,
    PlanPart,
    Several,
    Text,
    ValueName,
    keys,
    need,
    read_by,
    refuse,
    refuse_unused,
)

DATASETS: Final = (
    *("prose", "text", "cjk", "no-spaces", "crlf", "long-line"),
    *("sessions", "sessions-small", "sessions-large", "sessions-short-lines"),
    *("sessions-long-lines", "sessions-cache-tokens"),
)
INPUT_KINDS: Final = ("dataset", "file", "folder", "files", "command")
"""Keys of `input` of which exactly one is given."""
INPUT_NAMES: Final = ("dataset", "size", "seed", "file", "folder")
"""Keys of `input` that are also placeholders."""


class InputPart(Part):
    """Input of the program. Every key may contain `{axis}`, which makes that axis an input axis."""

    dataset: Text | None = None
    """Generated dataset. Texts: prose (or text), cjk, no-spaces, crlf, long-line. Folders of JSONL
    sessions: sessions, sessions-small, sessions-large, sessions-short-lines,
    sessions-long-lines, sessions-cache-tokens."""
    size: Text | None = None
    """Size of the generated dataset, with its unit: `10MiB`, `200MB`."""
    seed: Text = "42"
    """Seed of the generator: a whole number."""
    file: ValueName | None = None
    """Your own input file, relative to this file."""
    folder: ValueName | None = None
    """Your own folder of files, relative to this file. `{input}` is its path."""
    files: Annotated[list[ValueName], Field(min_length=1)] | None = None
    """Your own files: paths and patterns such as `src/**/*.rs`, relative to this file. The argument
    `{input}` becomes one argument per file."""
    command: Annotated[list[Text], Field(min_length=1)] | None = None
    """Command that generates the input: it prints it, or writes the file `{output}`. The result is
    kept until the command, its program, or a file among its arguments changes."""
    max_size: Text = Field(default="16GiB", alias="max-size")
    """Largest size of the result of `command`; a larger one is an error."""
    sha256: Text | None = None
    """Expected SHA-256 of the input, 64 hex digits. Another one is an error before measuring."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [key for key in INPUT_KINDS if getattr(self, key)]
        kinds = "`, `".join(INPUT_KINDS[:-1]) + f"` or `{INPUT_KINDS[-1]}"
        need(given, "BC107.input-without-kind", kinds=kinds)
        refuse(len(given) > 1, "BC108.several-inputs", *given[1:2], given="` and `".join(given[:2]))
        need(not self.dataset or self.size, "BC107.dataset-without-size")
        needs = {"size": "dataset", "seed": "dataset", "max_size": "command"}
        for key, kind in needs.items():
            unused = key in self.model_fields_set and given[0] != kind
            refuse_unused(unused, key.replace("_", "-"), f"has no effect with `{given[0]}`")
        pinned = self.sha256 is not None and self.dataset
        refuse_unused(pinned, "sha256", "has no effect with `dataset`: the seed fixes the data")
        return self

    def texts(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield every text that may contain placeholders, with its path within `input`."""
        for key, (name, _) in keys(type(self)).items():
            value = getattr(self, name)
            if isinstance(value, list):
                yield from (((key, index), text) for index, text in enumerate(value))
            elif value is not None:
                yield (key,), value


class ExperimentPart(Part):
    """The baseline with one change, measured in addition to the combinations of the axes."""

    name: ValueName
    """Name of the experiment, which is also the label of its variant."""
    change: Annotated[dict[Text, Text], Field(min_length=1, json_schema_extra={"maxProperties": 1})]
    """One key of `fixed`, or one axis, with its new value."""
    at: dict[Text, Text] = {}
    """Axis values before the change, if they differ from the baseline's; only with `hypothesis`.
    Both variants must be combinations of the axes."""
    hypothesis: Text = ""
    """Expected effect, such as "the lock of the queue costs time". The report states whether it is
    supported, not supported or not tested."""
    expect: Annotated[Literal["better", "worse"], ONE_OF] = "better"
    """Direction in which the metric changes if the hypothesis is right."""
    metric: Text | None = None
    """Metric that would show the hypothesis, one of `judge`. It may be omitted if `judge` has one."""
    why: Text = ""
    """Reason for trying the change."""
    decision: Annotated[Literal["adopted", "rejected", "open"], ONE_OF] = "open"
    """Decision about the change."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        count = len(self.change)
        refuse(count > 1, "BC108.several-changes", "change", name=self.name, count=count)
        for key in ("at", "expect", "metric"):
            unused = key in self.model_fields_set and not self.hypothesis
            refuse(unused, "BC108.key-without-hypothesis", key, key=key)
        decided = self.at and self.decision != "open"
        refuse(decided, "BC108.decision-without-change", "decision")
        return self


Derived: TypeAlias = Annotated[
    DerivedRow,
    PlanPart(also=SCALAR),
    BeforeValidator(lambda value: {"formula": value} if isinstance(value, Scalar) else value),
]


def _one_kind_of_hosts(policy: HostPolicy) -> None:
    given = [key for key, (name, _) in keys(HostPolicy).items() if getattr(policy, name)]
    need(given or policy.everyone, "BC107.hosts-without-key")
    both = "` and `".join(given[:2])
    refuse(len(given) > 1, "BC108.several-kinds-of-hosts", *given[1:2], keys=both)


Hosts: TypeAlias = Annotated[
    HostPolicy, PlanPart(_one_kind_of_hosts, also={"const": "all"}), read_by(scalars.hosts)
]


class DescribePart(Part):
    """A description of the variants that have these axis values."""

    variant: dict[Text, Text]
    """Axis values. The entry describes every variant that has all of them."""
    label: Text | None = None
    """Label of the variant in reports, instead of the names of its values."""
    text: Text = ""
    """Description of the variant."""


def _rows(value: Any) -> Any:
    """Return one command, or a list of commands, as a list of commands."""
    if isinstance(value, list) and not any(isinstance(item, list) for item in value) and value:
        return [value]
    return value


_RULE = {"type": "object", "additionalProperties": SCALARS, "minProperties": 1}
Rules: TypeAlias = Annotated[
    list[Annotated[dict[Text, Several], Field(min_length=1)]],
    read_by(scalars.mappings),
    WithJsonSchema({"anyOf": [_RULE, {"type": "array", "items": _RULE}]}),
]
_LISTS = WithJsonSchema({"type": "array", "items": SCALARS})
Commands: TypeAlias = Annotated[
    list[Annotated[list[Text], Field(min_length=1)]], BeforeValidator(_rows), _LISTS
]
NameLists: TypeAlias = Annotated[
    list[Annotated[list[Text], Field(min_length=2)]], BeforeValidator(_rows), _LISTS
]
_VALUES = {"type": "object", "additionalProperties": SCALAR}
Baselines: TypeAlias = Annotated[
    list[dict[Text, Text]],
    read_by(scalars.mappings),
    WithJsonSchema({"anyOf": [_VALUES, {"type": "array", "items": _VALUES, "minItems": 1}]}),
]


class ContrastPart(Part):
    """A comparison of two variants that the report states among its key findings."""

    name: ValueName
    """Name of the comparison."""
    candidate: Annotated[dict[Text, Text], Field(min_length=1)] = Field(alias="of")
    """Axis values of the candidate, or `{experiment: NAME}`. An omitted axis has the baseline's
    value."""
    reference: Annotated[dict[Text, Text], Field(min_length=1)] = Field(alias="against")
    """Axis values of the reference, or `{experiment: NAME}`."""
    input: dict[Text, Text] = {}
    """Values of input axes. The comparison is made on every input that has them."""
    metric: Text | None = None
    """Metric to compare, one of `judge`. Default: the first of them."""
    group: ValueName | None = None
    """Heading of contrasts that the report states together, such as one change in two programs."""

    @property
    def sides(self) -> dict[str, dict[str, str]]:
        """The two sides by their keys."""
        return {"of": self.candidate, "against": self.reference}


TESTS: Final[tuple[TestKind, ...]] = get_args(TestKind)
"""Keys of which each claim has one."""


class PublishedClaimPart(Part):
    """A claim of a published report, and what tests it."""

    claim: Text
    """The claim, quoted."""
    figure: Text | None = None
    """The figure as published: `2.1x faster`, `-17 %`, `60-70 % less`, `within 0.5 %`,
    `at most 5 % slower`, `12 MB`, `linear`, or only `faster`, `slower`, `less`, `more`, `equal`.
    Not needed with `not-testable`."""
    contrast: Text | None = None
    """Name of the contrast that tests the claim."""
    variant: Annotated[dict[Text, Text], Field(min_length=1)] | None = None
    """Axis values of the variant that tests the claim, or `{experiment: NAME}`. A change or a
    direction is tested against the baseline, a value by the variant alone. An omitted axis has the
    baseline's value."""
    derived: Text | None = None
    """Name of the derived value that tests the claim."""
    scaling: dict[Text, Text] | None = None
    """Axis values of the variant whose scaling exponents test the claim. An omitted axis has the
    baseline's value."""
    not_testable: Text | None = Field(default=None, alias="not-testable")
    """Reason why this scenario cannot test the claim."""
    input: dict[Text, Text] = {}
    """Values of input axes. Without them, the claim is tested on every input and must hold on each
    of them."""
    metric: Text | None = None
    """Metric of `variant` or `scaling`. Default: the first of `judge`."""
    title: Text = ""
    """Subject of the claim in a few words. Default: the name of the comparison that tests it."""
    disproved: Text = ""
    """Figures of the same report that disprove the claim. Only then is it called refuted."""
    other_results: list[Annotated[OtherResult, PlanPart()]] = Field(
        default=[], alias="other-results"
    )
    """Results of other scenarios that test the same claim."""

    @property
    def test(self) -> TestKind:
        """The key that says what tests the claim."""
        return next(key for key in TESTS if self._given(key))

    def _given(self, key: str) -> bool:
        return getattr(self, key.replace("-", "_")) is not None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        given = [key for key in TESTS if self._given(key)]
        keys = ", ".join(f"`{key}`" for key in TESTS)
        need(given, "BC107.claim-without-test", keys=keys)
        refuse(
            len(given) > 1,
            "BC108.several-tests",
            given[-1],
            first=given[0],
            last=given[-1],
        )
        figure = self.figure or self.not_testable is not None
        need(figure, "BC107.claim-without-figure")
        users = {"input": ("contrast", "variant", "derived"), "metric": ("variant", "scaling")}
        for key, takes in users.items():
            unused = key in self.model_fields_set and given[0] not in takes
            refuse_unused(unused, key, f"has no effect with `{given[0]}`")
        return self


class PublishedPart(Part):
    """A published report whose claims the scenario tests."""

    title: Text
    """Title of the report."""
    url: Text = ""
    """Address of the report."""
    date: Text = ""
    """Date of the report."""
    decisions: Flag = False
    """True if each `decision` of an experiment is that of the report. The table of experiments then
    says so next to the measured result."""
    claims: Annotated[list[PublishedClaimPart], Field(min_length=1)]
    """The claims, in the order of the report."""
