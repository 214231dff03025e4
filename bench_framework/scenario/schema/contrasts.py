"""The comparisons that a scenario names."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bench_framework.scenario.schema.types import Part, Text, ValueName


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
