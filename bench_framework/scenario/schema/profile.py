"""The `profile` part of a scenario: which variants are profiled, and how."""

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
"""Highest frequency. Above it the sampler disturbs the program."""


class ProfilePart(Part):
    """Sampling of the functions in which variants spend their time, after measuring."""

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
    """`baseline`, `all`, or a list of axis values. Every variant that has all values of an item is
    profiled, on every input."""
    when: Annotated[
        Literal["after-run", "asked"], read_by(scalars.choice("after-run", "asked"))
    ] = "after-run"
    """`after-run`: `benchctl run` profiles after measuring. `asked`: only `benchctl run --profile`
    and `benchctl profile RECORD` profile."""
    runs: Positive = 5
    """Profiled runs of each configuration. Confidence intervals are computed over them."""
    frequency: Positive = 997
    """Samples per second of CPU time."""
    sampler: Annotated[
        Literal["auto", "perf", "callgrind"], read_by(scalars.choice("auto", "perf", "callgrind"))
    ] = "auto"
    """`perf` samples CPU time. `callgrind` counts the program's instructions: exact and slow,
    without kernel and waiting. `auto`: perf, or callgrind where perf has no permission."""
    stacks: Annotated[
        Literal["auto", "frame-pointers", "dwarf"],
        read_by(scalars.choice("auto", "frame-pointers", "dwarf")),
    ] = "auto"
    """How perf unwinds stacks. `auto`: frame pointers for programs built by benchctl, dwarf for
    others."""
    timeout: Duration = 600.0
    """Timeout of one profiled run."""
    buckets: dict[Text, Text] = {}
    """Groups of functions: name to a regular expression that is searched in function names. The
    first match counts; `other` contains the rest."""

    @model_validator(mode="after")
    def _sane(self) -> ProfilePart:
        self.demand(
            self.frequency <= MOST_HZ,
            "BC108",
            f"`frequency` is {self.frequency}; above {MOST_HZ} the sampler disturbs the program",
            "frequency",
            advice="write 997, and raise `runs` for more samples",
        )
        self.demand(
            OTHER not in self.buckets,
            "BC108",
            f"`{OTHER}` is reserved for functions that match no bucket",
            "buckets",
            OTHER,
            advice="choose another name",
        )
        return self
