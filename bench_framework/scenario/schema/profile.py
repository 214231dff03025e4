"""Which variants are profiled after measuring, and how."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from bench_framework.model.profile import OTHER
from bench_framework.scenario import scalars
from bench_framework.scenario.schema.types import (
    Duration,
    NotText,
    Part,
    Positive,
    Text,
    read_by,
    shape,
)

MOST_HZ = 10_000
"""More than this and the sampler measures itself."""


class ProfilePart(Part):
    """Functions in which the variants spend their time, sampled in runs of their own after measuring."""

    variants: Annotated[
        Annotated[
            Literal["baseline", "all"], read_by(scalars.choice("baseline", "all")), Tag("<scalar>")
        ]
        | Annotated[
            list[Annotated[dict[Text, Text], Field(min_length=1)]],
            Field(min_length=1),
            Tag("<list>"),
        ]
        | Annotated[NotText, Tag("<mapping>")],
        Discriminator(shape),
    ] = "baseline"
    """`baseline`, `all`, or a list of axis values: every variant that has all values of an item is profiled, on every
    input."""
    when: Annotated[
        Literal["after-run", "asked"], read_by(scalars.choice("after-run", "asked"))
    ] = "after-run"
    """`after-run`: `benchctl run` profiles once everything is measured; `asked`: only `benchctl run --profile` and
    `benchctl profile RECORD` do."""
    runs: Positive = 5
    """Profiled runs of each cell; intervals are over them."""
    frequency: Positive = 997
    """Samples per second of processor time."""
    sampler: Annotated[
        Literal["auto", "perf", "callgrind"], read_by(scalars.choice("auto", "perf", "callgrind"))
    ] = "auto"
    """`perf` samples time; `callgrind` counts instructions of the program, exactly and slowly, and sees no kernel and
    no waiting; `auto`: perf, and callgrind where perf may not sample."""
    stacks: Annotated[
        Literal["auto", "frame-pointers", "dwarf"],
        read_by(scalars.choice("auto", "frame-pointers", "dwarf")),
    ] = "auto"
    """How perf finds callers. `auto`: frame pointers in what is built here, dwarf in other programs."""
    timeout: Duration = 600.0
    """Of one profiled run."""
    buckets: dict[Text, Text] = {}
    """Name to a regular expression that is searched in the names of functions; the first that fits takes a function,
    and `other` takes the rest."""

    @model_validator(mode="after")
    def _sane(self) -> ProfilePart:
        self.demand(
            self.frequency <= MOST_HZ,
            "BC108",
            f"`frequency` is {self.frequency}: above {MOST_HZ} a sampler disturbs what it samples",
            "frequency",
            advice="997 is usual; more runs give more samples",
        )
        self.demand(
            OTHER not in self.buckets,
            "BC108",
            f"`{OTHER}` is what no bucket takes",
            "buckets",
            OTHER,
        )
        return self
