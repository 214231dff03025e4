"""How much is measured, and what the gate tolerates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, create_model, model_validator

from bench_framework.model.metrics import GATED
from bench_framework.scenario import scalars
from bench_framework.scenario.document import Scalar
from bench_framework.scenario.schema.types import (
    CacheName,
    CpuList,
    Duration,
    Flag,
    Level,
    Natural,
    NotText,
    Part,
    Percent,
    Positive,
    Text,
    read_by,
    shape,
)


def _or_one_number(schema: dict[str, Any]) -> None:
    whole = dict(schema)
    schema.clear()
    schema.update(
        anyOf=[{"type": "integer", "minimum": 1}, whole], description=whole.pop("description")
    )


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


_STRATEGY: Final = read_by(scalars.choice("fixed", "race"))


class Measure(Part):
    """How much is measured, in which order, and when it stops (docs/method.md)."""

    rounds: Rounds = Field(default_factory=Rounds)
    """Passes over all cells: `{min: 12, max: 40}`, or one number for exactly so many."""
    until: Annotated[
        Annotated[
            Literal["conclusive", "rounds"],
            read_by(scalars.choice("conclusive", "rounds")),
            Tag("<scalar>"),
        ]
        | Annotated[Precision, Tag("<mapping>")]
        | Annotated[NotText, Tag("<list>")],
        Discriminator(shape),
    ] = "conclusive"
    """`conclusive`: until every comparison is; `rounds`: exactly `max`; `{precision: 1%}`: until every interval
    is so narrow."""
    budget: Duration | None = None
    """Wall-clock time after which no further round is begun."""
    warmup: Natural = 2
    """Rounds at the start that are recorded and not used."""
    cache: CacheName = "warm"
    """The input's pages before a run: `warm`, in memory; `cold`, dropped from it; `unknown`, left as they are."""
    cpus: CpuList | None = None
    """CPUs that every program may run on, such as `0-3`, unless a value of an axis names others."""
    timeout: Duration = 600.0
    """Of one run."""
    seed: Natural | None = None
    """Of the order of cells within rounds. Default: derived from the scenario's content."""
    control: Flag = True
    """Whether the baseline runs a second time under another name, as a test of the measurement itself."""
    strategy: Annotated[Literal["fixed", "race"], _STRATEGY] = "fixed"
    """`fixed`: every cell runs in every round; `race`: a variant that is decidedly worse than another one on every
    input is measured no further."""

    @model_validator(mode="after")
    def _can_race(self) -> Measure:
        for_nothing = self.strategy == "race" and self.until == "rounds"
        self.demand(
            not for_nothing,
            "BC108",
            "`strategy: race` drops variants at its looks, and `until: rounds` looks once, at the end",
            "strategy",
            advice="say `until: conclusive`, or `strategy: fixed` to measure every cell to the end",
        )
        return self


class BudgetPart(Part):
    """What a metric of some cells may be at most, whatever the baseline's is."""

    cell: Text
    """The cells, by the words of `-k`: `io=mmap size=1GiB`."""
    metric: Text
    """Which metric, such as `wall`, `peak_rss` or `binary_size`."""
    max: Text
    """The most, with its unit: `1.2s`, `200MiB`; a bare number for a count."""


if TYPE_CHECKING:
    _Margins = Part
else:
    _Margins = create_model(
        "_Margins",
        __base__=Part,
        **{
            kind.name: (
                Percent | None,
                Field(None, description=f"Tolerated growth of {kind.noun}: {kind.about}."),
            )
            for kind in GATED
        },
    )


class Gate(_Margins):
    """Growth against the baseline that is tolerated, by metric. Default: `{wall: 2%, cpu: 2%, peak_rss: 5%}`."""

    against: Text | None = None
    """Revision of the crate that every variant is compared with, each with itself: a branch, tag or commit, or
    `merge-base`, where the head left the main branch. Default: the scenario's own baseline."""
    cells: Text | None = None
    """Only the cells that match are gated, in the words of `-k`: `size>=100MiB`."""
    min_compared: Natural = Field(default=0, alias="min-compared")
    """With fewer judged comparisons the gate has not judged."""
    budgets: list[BudgetPart] = []
    """Absolute bounds: `[{cell: size=1GiB, metric: wall, max: 1.2s}]`. Over a budget is what lies above it with its
    whole interval."""
    accepted: Text | None = None
    """File of changes that are meant, relative to this file (docs/reference/gate.md)."""
    detect: Level = 0.03
    """A metric counts as judged if a change of this size would have been found."""
    on_inconclusive: Annotated[Literal["warn", "fail"], read_by(scalars.choice("warn", "fail"))] = (
        Field(default="warn", alias="on-inconclusive")
    )
    """What to do about a metric that could not be judged."""
    require: list[Text] = []
    """Metrics that must be judged, or the gate fails."""

    @model_validator(mode="after")
    def _known(self) -> Gate:
        gated = [name for name, _ in self.margins()]
        for metric in self.require:
            advice = scalars.did_you_mean(metric, gated, "gated here")
            self.demand(
                metric in gated,
                "BC108",
                f"`require` names `{metric}`, which this gate does not judge",
                "require",
                advice=advice,
            )
        return self

    def margins(self) -> tuple[tuple[str, float], ...]:
        """Return each gated metric and its tolerated growth as a fraction, in the order of the registry."""
        given = ((kind.name, getattr(self, kind.name)) for kind in GATED)
        return tuple((name, value) for name, value in given if value is not None)
