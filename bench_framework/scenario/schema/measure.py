"""The `measure` and `gate` parts of a scenario."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, create_model, model_validator

from bench_framework.model.metrics import GATED
from bench_framework.scenario import scalars
from bench_framework.scenario.document import Scalar
from bench_framework.scenario.schema.types import (
    MAX_ROUNDS,
    ONE_OF,
    CacheName,
    CpuList,
    Duration,
    Flag,
    Level,
    Natural,
    NotText,
    Part,
    Percent,
    RoundCount,
    Text,
    WarmupCount,
    also_as,
    shape,
)


class Rounds(Part):
    """Smallest and largest number of rounds, or one number for exactly so many."""

    model_config = also_as(type="integer", minimum=1, maximum=MAX_ROUNDS)

    min: RoundCount | None = None
    """Rounds before the first interim analysis. Default 12."""
    max: RoundCount | None = None
    """Rounds after which measuring stops in any case. Default: as many as the budget allows."""

    @model_validator(mode="before")
    @classmethod
    def _one_number(cls, value: Any) -> Any:
        return {"min": value, "max": value} if isinstance(value, Scalar) else value

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        crossed = self.min is not None and self.max is not None and self.min > self.max
        message = f"`rounds.min` is {self.min} and `rounds.max` is {self.max}"
        self.refuse(crossed, message, "min", advice="lower `min`, or raise `max`")
        return self


class Precision(Part):
    """Stopping rule: stop when all confidence intervals are narrow enough."""

    precision: Level
    """Half-width of every confidence interval of the headline, such as `1%`."""


class Measure(Part):
    """Number of rounds, order, and when measuring stops (docs/method.md)."""

    rounds: Rounds = Field(default_factory=Rounds)
    """Passes over all configurations: `{min: 12, max: 40}`, or one number for exactly so many.
    Without `max`, the budget is the limit."""
    until: Annotated[
        Annotated[Literal["conclusive", "rounds"], ONE_OF, Tag("<scalar>")]
        | Annotated[Precision, Tag("<mapping>")]
        | Annotated[NotText, Tag("<list>")],
        Discriminator(shape),
    ] = "conclusive"
    """`conclusive`: until every comparison is conclusive. `rounds`: exactly `max` rounds.
    `{precision: 1%}`: until the half-width of every confidence interval is at most 1 %."""
    budget: Duration | None = None
    """Wall-clock time after which no further round starts. Default: `5m` without `rounds.max`,
    otherwise none."""
    warmup: WarmupCount = 2
    """Rounds at the start that are recorded but not analysed."""
    cache: CacheName = "warm"
    """State of the page cache before a run. `warm`: the input is in memory. `cold`: it is dropped
    from memory. `unknown`: the cache is left as it is."""
    cpus: CpuList | None = None
    """CPUs that every program may run on, such as `0-3`, unless an axis value sets others."""
    timeout: Duration = 600.0
    """Timeout of one run."""
    seed: Natural | None = None
    """Seed of the random order within rounds. Default: derived from the scenario's content."""
    control: Flag = True
    """`true`: the baseline is measured a second time as an A/A control."""
    strategy: Annotated[Literal["fixed", "race"], ONE_OF] = "fixed"
    """`fixed`: a configuration runs until its comparisons are conclusive. `race`: a variant that is
    significantly worse than another one on every input is dropped."""

    @model_validator(mode="after")
    def _looks(self) -> Self:
        fixed = self.until == "rounds"
        message = (
            "`strategy: race` has no effect with `until: rounds`, which has no interim analyses"
        )
        advice = "write `until: conclusive`, or `strategy: fixed`"
        self.refuse(fixed and self.strategy == "race", message, "strategy", advice=advice)
        message = "`until: rounds` needs the number of rounds"
        advice = "add `rounds: 30`, or write `until: conclusive`"
        self.refuse(fixed and self.rounds.max is None, message, "until", advice=advice)
        return self


class BudgetPart(Part):
    """Absolute upper limit of a metric in some configurations, independent of the baseline."""

    cell: Text
    """Configurations, as a selection in the syntax of `-k`: `io=mmap size=1GiB`."""
    metric: Text
    """Metric, such as `wall`, `peak_rss` or `binary_size`."""
    max: Text
    """Limit with its unit: `1.2s`, `200MiB`. Counts have no unit."""


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
    """Tolerated growth against the baseline, by metric.

    Default: `{wall: 2%, cpu: 2%, peak_rss: 5%}`.
    """

    against: Text | None = None
    """Revision at which every variant is built again and compared with itself: a branch, tag or
    commit, or `merge-base`, the commit where the branch left the main branch. Default: variants are
    compared with the scenario's baseline."""
    cells: Text | None = None
    """Selection of the gated configurations, in the syntax of `-k`: `size>=100MiB`."""
    min_compared: Natural = Field(default=0, alias="min-compared")
    """Smallest number of judged comparisons. With fewer, the gate has no result."""
    budgets: list[BudgetPart] = []
    """Absolute limits: `[{cell: size=1GiB, metric: wall, max: 1.2s}]`. A budget is exceeded if the
    whole confidence interval is above it."""
    accepted: Text | None = None
    """File of accepted changes, relative to this file (docs/reference/gate.md)."""
    detect: Level = 0.03
    """Largest minimum detectable effect with which a metric counts as judged."""
    on_inconclusive: Annotated[Literal["warn", "fail"], ONE_OF] = Field(
        default="warn", alias="on-inconclusive"
    )
    """Effect of a metric that could not be judged."""
    require: list[Text] = []
    """Metrics that must be judged. Otherwise the gate fails."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        gated = [name for name, _ in self.margins()]
        for metric in self.require:
            advice = scalars.did_you_mean(metric, gated, "gated here")
            message = f"`require` lists `{metric}`, which this gate does not judge"
            self.refuse(metric not in gated, message, "require", advice=advice)
        return self

    def margins(self) -> tuple[tuple[str, float], ...]:
        """Return each gated metric and its tolerated growth as a fraction, in registry order."""
        given = ((kind.name, getattr(self, kind.name)) for kind in GATED)
        return tuple((name, value) for name, value in given if value is not None)
