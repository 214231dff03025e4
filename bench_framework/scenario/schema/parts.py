"""The smaller parts of a scenario: its input, its rules, and the words of its author."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from bench_framework.scenario import scalars
from bench_framework.scenario.document import Scalar
from bench_framework.scenario.schema.types import (
    SCALAR,
    Part,
    Positive,
    Text,
    ValueName,
    read_by,
)

DATASETS: Final = (
    "prose",
    "text",
    "cjk",
    "no-spaces",
    "crlf",
    "long-line",
    "sessions",
    "sessions-small",
    "sessions-large",
    "sessions-short-lines",
    "sessions-long-lines",
)


def _or_text(schema: dict[str, Any]) -> None:
    whole = dict(schema)
    schema.clear()
    schema.update(anyOf=[dict(SCALAR), whole], description=whole.pop("description"))


class InputPart(Part):
    """What the program works on. Every key may hold `{axis}`, which makes that axis an input axis."""

    dataset: Text | None = None
    """A generated text: prose (or text), cjk, no-spaces, crlf or long-line; or a folder of JSONL sessions: sessions,
    sessions-small, sessions-large, sessions-short-lines or sessions-long-lines."""
    size: Text | None = None
    """Size of the generated text, with its unit: `10MiB`, `200MB`."""
    seed: Text = "42"
    """Seed of the generator: a whole number."""
    file: ValueName | None = None
    """A file of yours in place of a generated text, relative to this file."""

    @model_validator(mode="after")
    def _one_kind(self) -> InputPart:
        self.demand(
            self.dataset or self.file,
            "BC107",
            "`input` needs `dataset` or `file`",
            advice="dataset: prose",
        )
        self.demand(
            not (self.dataset and self.file),
            "BC108",
            "`input` takes `dataset` or `file`, not both",
            "file",
        )
        self.demand(
            not self.dataset or self.size,
            "BC107",
            "`input.dataset` needs `size`",
            advice="size: 10MiB",
        )
        for key in ("size", "seed"):
            unused = self.file is not None and key in self.model_fields_set
            self.demand(not unused, "BC108", f"`{key}` has no effect on a file of yours", key)
        return self


class AnswerPart(Part):
    """How two runs are seen to have done the same work."""

    compare: Annotated[
        Literal["exact", "sorted-lines", "json", "none"],
        read_by(scalars.choice("exact", "sorted-lines", "json", "none")),
    ] = "exact"
    """Bytes, lines in any order, JSON by value, or not at all."""
    file: ValueName | None = None
    """File that holds the answer, in place of stdout."""
    stdout: Annotated[
        Literal["file", "pipe", "null"], read_by(scalars.choice("file", "pipe", "null"))
    ] = "file"
    """Where the program's stdout goes while it is timed."""


class ExperimentPart(Part):
    """The baseline with one change, measured next to the combinations of the axes."""

    name: ValueName
    """Name of the experiment: the label of its variant."""
    change: Annotated[dict[Text, Text], Field(min_length=1, max_length=1)]
    """One key of `fixed`, or one axis, and its other value."""
    at: dict[Text, Text] = {}
    """Values of the axes before the change, where they are not the baseline's; only with `hypothesis`. Both variants
    must be combinations of the axes."""
    hypothesis: Text = ""
    """What the change is expected to show, such as "the lock of the queue costs time"; the report says whether it is
    supported, not supported or not tested."""
    expect: Annotated[Literal["better", "worse"], read_by(scalars.choice("better", "worse"))] = (
        "better"
    )
    """What the change does to the metric if the hypothesis is right."""
    metric: Text | None = None
    """The metric of the hypothesis, one of `judge`. Default: the first of them."""
    why: Text = ""
    """What was hoped for."""
    decision: Annotated[
        Literal["adopted", "rejected", "open"],
        read_by(scalars.choice("adopted", "rejected", "open")),
    ] = "open"
    """What became of it."""

    @model_validator(mode="after")
    def _consistent(self) -> ExperimentPart:
        for key in ("at", "expect", "metric"):
            unused = key in self.model_fields_set and not self.hypothesis
            self.demand(not unused, "BC108", f"`{key}` has no effect without `hypothesis`", key)
        decided = self.at and self.decision != "open"
        message = "`decision` is about a change to the baseline, and `at` starts elsewhere"
        self.demand(not decided, "BC108", message, "decision")
        return self


class DerivedPart(Part):
    """A formula over named cells, or a mapping with the formula and what it assumes."""

    model_config = ConfigDict(json_schema_extra=_or_text)

    formula: Text
    """`rate(cell)`, `time(cell)`, other rows above, `min`, `max`, `harmonic`, `+ - * /`."""
    assuming: Text = ""
    """What must be true for a figure that is projected and not measured; printed with the figure."""

    @model_validator(mode="before")
    @classmethod
    def _formula_alone(cls, value: Any) -> Any:
        return {"formula": value} if isinstance(value, Scalar) else value


class AnchorPart(Part):
    """What stays the same from record to record: other records are compared through it."""

    rev: Text | None = None
    """Revision of the crate, such as a tag: built with the baseline's settings and run as one more cell."""
    variant: dict[Text, Text] | None = None
    """Axis values of a variant whose code is not worked on; an axis that is left out has the baseline's value."""

    @model_validator(mode="after")
    def _one_of_two(self) -> AnchorPart:
        advice = "anchor: {rev: v1.0}, or anchor: {variant: {engine: reference}}"
        self.demand(
            self.rev is not None or self.variant is not None,
            "BC107",
            "`anchor` needs `rev` or `variant`",
            advice=advice,
        )
        self.demand(
            self.rev is None or self.variant is None,
            "BC108",
            "`anchor` takes `rev` or `variant`, not both",
            "rev",
            advice=advice,
        )
        return self


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

    max_cells: Positive = Field(default=500, alias="max-cells")
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
        WithJsonSchema({"anyOf": [SCALAR, {"type": "array", "items": SCALAR}]}),
    ],
]
"""Axis name to the value, or the values, that the rule is about."""
_RULE = {
    "type": "object",
    "additionalProperties": {"anyOf": [SCALAR, {"type": "array", "items": SCALAR}]},
    "minProperties": 1,
}
Rules: TypeAlias = Annotated[
    list[Annotated[Rule, Field(min_length=1)]],
    read_by(scalars.mappings),
    WithJsonSchema({"anyOf": [_RULE, {"type": "array", "items": _RULE}]}),
]
Commands: TypeAlias = Annotated[
    list[Annotated[list[Text], Field(min_length=1)]],
    BeforeValidator(_rows),
    WithJsonSchema(
        {"type": "array", "items": {"anyOf": [SCALAR, {"type": "array", "items": SCALAR}]}}
    ),
]
NameLists: TypeAlias = Annotated[
    list[Annotated[list[Text], Field(min_length=2)]],
    BeforeValidator(_rows),
    WithJsonSchema(
        {"type": "array", "items": {"anyOf": [SCALAR, {"type": "array", "items": SCALAR}]}}
    ),
]
Baselines: TypeAlias = Annotated[
    list[dict[Text, Text]],
    read_by(scalars.mappings),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": SCALAR},
                {
                    "type": "array",
                    "items": {"type": "object", "additionalProperties": SCALAR},
                    "minItems": 1,
                },
            ]
        }
    ),
]
