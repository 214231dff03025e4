"""Facts about the axes: effects, interactions, contributions, crossovers and Pareto fronts."""

from dataclasses import dataclass

from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.facts.fact import Fact
from bench_framework.model.plan.policies import Metric
from bench_framework.model.result.structure import AblationDesign
from bench_framework.model.verdict import Interval


class AxisEffect(Fact, kind="effect", form="axis_effect"):
    """The mean effect of an axis value over the other axes, or that its sign depends on them."""

    combinations: int
    better: int
    worse: int
    significant_in: int
    pooled: bool
    """False if the sign depends on the other axes. There is no mean then."""
    depends_on: tuple[str, ...] = ()
    """Axes with a significant interaction."""
    costs: tuple[Evidence, ...] = ()
    in_percent: bool = False
    """True if the list of effects must be in percent to have one scale."""


class Interaction(Fact, kind="interaction"):
    """Both changes together against the product of their single effects."""

    pooled: bool
    in_percent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionPart:
    """The contribution of a step or a change, which is the subject of its evidence."""

    evidence: Evidence
    share: float | None = None
    """Share of the total."""
    costs: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The product of the steps, as ratios of the values regardless of which direction is better."""

    factors: tuple[Interval, ...]
    total: float | None
    """The total if it differs from the product of the steps, `None` if it is that product."""


class Contributions(Fact, kind="contributions"):
    """The contributions of steps or changes. The claim is about all of them together."""

    design: AblationDesign
    parts: tuple[ContributionPart, ...]
    """The conclusive ones."""
    inconclusive: int
    in_percent: bool
    product: Product | None = None
    """`None` without a conclusive step, or without the ratio of one."""
    remainder: ContributionPart | None = None
    largest: ContributionPart | None = None


class Crossover(Fact, kind="crossover"):
    """Two variants of which the faster one depends on the size, which is the estimate in bytes."""

    below: str
    above: str
    family: str


class ParetoFront(Fact, kind="front"):
    """The variants that need least of each metric, and those that another one dominates."""

    least: tuple[tuple[Metric, tuple[str, ...]], ...]
    """Metric and the variants that need least of it."""
    dominated: tuple[str, ...] = ()
    better_in: tuple[Metric, ...] = ()
    """The metrics in which another variant is better than a dominated one."""
