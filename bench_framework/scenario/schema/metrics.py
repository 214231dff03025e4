"""Metrics that a scenario declares: source, unit and direction."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from bench_framework.model.metrics import UNITS
from bench_framework.scenario import scalars
from bench_framework.scenario.schema.types import Duration, Part, Text, read_by

COUNTER_KEYS: Final = ("runs", "timeout", "tool")
"""Keys that only `instructions` takes."""
SOURCE_KEYS: Final = ("json", "regex", "unit", "direction", "about")
"""Keys that every other metric takes."""


class MetricPart(Part):
    """A number that the program prints or reports.

    The name `instructions` sets how instructions are counted.
    """

    source: Annotated[
        Literal["stdout", "answer", "worker"] | None,
        read_by(scalars.choice("stdout", "answer", "worker")),
    ] = Field(default=None, alias="from")
    """Source of the number. `stdout`: the program's stdout. `answer`: the file named by
    `answer.file`. `worker`: what a worker reports by the worker protocol."""
    json_path: Text | None = Field(default=None, alias="json")
    """Path of the number in JSON: `latency.p99`, `rows[0].value`. The whole output or its last line
    must be JSON."""
    regex: Text | None = None
    """Regular expression with one group that matches the number. If it matches several times, all
    matches must be equal."""
    unit: Annotated[
        str, read_by(scalars.choice(*UNITS)), Field(json_schema_extra={"enum": list(UNITS)})
    ] = "count"
    """Unit of the printed number. Tables convert it to seconds or bytes."""
    direction: Annotated[
        Literal["lower", "higher", "none"], read_by(scalars.choice("lower", "higher", "none"))
    ] = "none"
    """Better direction. `none`: the metric is shown and gets no verdict."""
    about: Text = ""
    """Description of the metric in reports."""
    runs: Annotated[int, read_by(scalars.whole(2)), Field(ge=2)] = 3
    """Only for `instructions`: counted runs of each configuration. Two or more show whether the
    count varies."""
    timeout: Duration = 600.0
    """Only for `instructions`: timeout of one counted run, which is 10 to 50 times slower."""
    tool: Annotated[Literal["valgrind", "perf"], read_by(scalars.choice("valgrind", "perf"))] = (
        "valgrind"
    )
    """Only for `instructions`. `valgrind` counts on every machine; `perf` needs access to the
    processor's counters."""

    @model_validator(mode="after")
    def _one_kind(self) -> MetricPart:
        given = [key for key in COUNTER_KEYS if key in self.model_fields_set]
        if self.source is None:
            return self
        for key in given:
            message = f"`{key}` has an effect only for `instructions`"
            self.demand(not self.source, "BC108", message, key, advice=f"remove `{key}`")
        both = self.json_path is not None and self.regex is not None
        message = "a metric has both `json` and `regex`"
        self.demand(not both, "BC108", message, "regex", advice="remove one of the two")
        located = self.json_path is not None or self.regex is not None or self.source == "worker"
        self.demand(
            located,
            "BC107",
            "a metric needs `json` or `regex` to locate the number",
            advice="such as json: latency.p99, or regex: 'took ([0-9.]+) s'",
        )
        self.demand(
            not (self.source == "worker" and self.regex is not None),
            "BC108",
            "`regex` cannot read a metric from the worker protocol, which is JSON",
            "regex",
            advice="use `json`",
        )
        return self
