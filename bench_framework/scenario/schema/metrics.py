"""Metrics that a scenario declares: where a number stands, and which way is better."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from bench_framework.model.metrics import UNITS
from bench_framework.scenario import scalars
from bench_framework.scenario.schema.types import Duration, Part, Text, read_by

COUNTER_KEYS: Final = ("runs", "timeout", "tool")
"""Of `instructions` alone."""
SOURCE_KEYS: Final = ("json", "regex", "unit", "direction", "about")
"""Of every other metric."""


class MetricPart(Part):
    """A number that the program prints or reports; or, under the name `instructions`, how these are counted."""

    source: Annotated[
        Literal["stdout", "answer", "worker"] | None,
        read_by(scalars.choice("stdout", "answer", "worker")),
    ] = Field(default=None, alias="from")
    """`stdout`; `answer`: the file named by `answer.file`; `worker`: the line of a worker with the protocol."""
    json_path: Text | None = Field(default=None, alias="json")
    """Where the number stands in JSON: `latency.p99`, `rows[0].value`. The whole text is JSON, or its last line is."""
    regex: Text | None = None
    """A regular expression with one group, which holds the number. It may match once, or always the same."""
    unit: Annotated[
        str, read_by(scalars.choice(*UNITS)), Field(json_schema_extra={"enum": list(UNITS)})
    ] = "count"
    """What the printed number is in; tables hold seconds, bytes, or the number itself."""
    direction: Annotated[
        Literal["lower", "higher", "none"], read_by(scalars.choice("lower", "higher", "none"))
    ] = "none"
    """Which way is better; `none`: shown, and never judged."""
    about: Text = ""
    """What it is, for readers."""
    runs: Annotated[int, read_by(scalars.whole(2)), Field(ge=2)] = 3
    """Of `instructions`: how often each cell is counted; a single count would not show whether it varies."""
    timeout: Duration = 600.0
    """Of `instructions`: of one such run, which is ten to fifty times as slow."""
    tool: Annotated[Literal["valgrind", "perf"], read_by(scalars.choice("valgrind", "perf"))] = (
        "valgrind"
    )
    """Of `instructions`: `valgrind` counts on every machine, `perf` where the processor's counters can be read."""

    @model_validator(mode="after")
    def _one_kind(self) -> MetricPart:
        given = [key for key in COUNTER_KEYS if key in self.model_fields_set]
        if self.source is None:
            return self
        for key in given:
            self.demand(not self.source, "BC108", f"`{key}` belongs to `instructions` alone", key)
        both = self.json_path is not None and self.regex is not None
        self.demand(not both, "BC108", "a metric takes `json` or `regex`, not both", "regex")
        found = self.json_path is not None or self.regex is not None or self.source == "worker"
        self.demand(
            found,
            "BC107",
            "a metric needs `json` or `regex`: where is the number?",
            advice="json: a.b",
        )
        self.demand(
            not (self.source == "worker" and self.regex is not None),
            "BC108",
            "a worker answers in JSON: use `json`",
            "regex",
        )
        return self
