"""Effects, contributions, crossovers and Pareto fronts (docs/method.md#effects). Immutable.

Ratios are those of the headline's metric, and smaller is better. They are typical ratios: the
Hodges-Lehmann estimate over one contrast per round.
"""

from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Reason
from bench_framework.model.verdict import Direction, Interval, Verdict

AblationDesign = Literal["ladder", "alone", "shapley"]
MEASURED_COSTS: Final[tuple[Metric, ...]] = (WALL, PEAK_RSS)
"""Metrics of a Pareto front that have a confidence interval."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one axis, or of axes that change together, from one value to another."""

    axis: str
    before: str
    after: str

    @property
    def text(self) -> str:
        """Text such as ``"parser: simd-json → sonic-rs"``."""
        return f"{self.axis}: {self.before} → {self.after}"


@dataclass(frozen=True, slots=True)
class ContrastResult:
    """The verdict on one contrast over rounds: a ratio with its confidence interval."""

    verdict: Verdict
    shown: Interval | None
    rounds: int
    p: float
    """p-value of the exact signed-rank test, not adjusted for looks and family."""
    p_adjusted: float
    """p-value adjusted for looks and family (Holm)."""
    reason: Reason | None = None
    """Reason for an inconclusive verdict in addition to the interval."""


@dataclass(frozen=True, slots=True)
class EffectCell:
    """An effect in one combination of the other axes."""

    where: str
    """Values of the other axes, such as ``"rayon, jemalloc"``. It is empty if there is no other
    axis."""
    cell_ids: tuple[str, ...]
    """Cells with and without the change. For an interaction: with both changes, with the first,
    with neither, with the second."""
    contrast: ContrastResult


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a change over all combinations of the other axes on one input.

    A main effect has one change. A two-way interaction has two changes: it is the combined effect
    ÷ the product of the single effects.
    """

    input_id: str
    metric: Metric
    changes: tuple[Change, ...]
    pooled: bool
    """False if the verdicts of the cells have different signs, so that there is no mean."""
    mean: ContrastResult
    """Contrast of the geometric mean over the cells. Its interval is `None` if not pooled."""
    cells: tuple[EffectCell, ...]

    @property
    def better(self) -> int:
        """Number of cells in which the metric is significantly smaller."""
        return sum(c.contrast.verdict.better for c in self.cells)

    @property
    def worse(self) -> int:
        """Number of cells in which the metric is significantly larger."""
        return sum(c.contrast.verdict.worse for c in self.cells)

    @property
    def significant_in(self) -> int:
        """Number of cells whose verdict has the direction of the mean, 0 if it is inconclusive."""
        if not self.mean.verdict.decided:
            return 0
        return self.better if self.mean.verdict.better else self.worse


@dataclass(frozen=True, slots=True)
class Factorial:
    """The full factorial design on one input from which effects are computed."""

    input_id: str
    axes: tuple[tuple[str, tuple[str, ...]], ...]
    """Pairs of axis and levels, the baseline's level first. Empty without a factorial design."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Pairs of axis and level that are omitted because some of their cells are not measured."""
    reason: Reason | None = None
    """Reason why there is no factorial design."""
    rounds: int = 0
    """Number of rounds in which all of its cells were measured."""


@dataclass(frozen=True, slots=True)
class Step:
    """One row of a table of contributions."""

    changes: tuple[Change, ...]
    cell_id: str | None
    """Cell after the step, `None` if several orders of the changes are averaged."""
    ref_cell_id: str | None
    contrast: ContrastResult
    share: float | None
    """Log of the step ÷ log of the total, `None` if the total is inconclusive."""

    @property
    def text(self) -> str:
        """Text of its changes."""
        return ", ".join(change.text for change in self.changes)


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contributions of single changes to the difference between two cells.

    The product of the contributions is the total, except for the interaction.
    """

    input_id: str
    metric: Metric
    design: AblationDesign
    start_cell_id: str
    end_cell_id: str | None
    """Cell with all changes, `None` if it is not measured."""
    steps: tuple[Step, ...]
    total: ContrastResult | None
    remainder: ContrastResult | None
    """Interaction: total ÷ product of the steps. `None` if the product is the total by design."""
    unexplained: float | None
    """Share of the total that the steps do not explain."""
    largest: int | None = None
    """Index of the largest step if its simultaneous interval does not overlap the next one's."""
    beyond: tuple[Step, ...] = ()
    """Steps of a ladder after the last adopted one, which the total does not include."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A crossover of a candidate and the baseline over sizes of one family and seed."""

    cell_ids: tuple[str, ...]
    """Candidate and baseline on the smaller size, then on the larger size."""
    variant_id: str
    ref_variant_id: str
    metric: Metric
    below_input_id: str
    above_input_id: str
    size_bytes: float | None
    """Size in bytes, interpolated in log size. `None` if the typical ratios do not cross 1."""
    lo_bytes: float | None
    hi_bytes: float | None
    level: float
    rounds: int


@dataclass(frozen=True, slots=True)
class Standing:
    """The position of a variant relative to the Pareto front of one input."""

    cell_id: str
    on_front: bool
    least: tuple[Metric, ...]
    """Metrics in which no other variant is significantly smaller."""
    beaten_by: tuple[str, ...]
    """Cells that dominate it: smaller in each measured metric, not larger in an exact one."""


@dataclass(frozen=True, slots=True)
class Front:
    """The Pareto front of one input."""

    input_id: str
    metrics: tuple[Metric, ...]
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """One implementation before and after changes, in the same rounds (docs/method.md#before-and-after).

    Its figures are those of the comparison of its two configurations.
    """

    input_id: str
    metric: Metric
    implementation: str
    """Values of the unchanged axes, empty if no other axis varies."""
    before_cell_id: str
    after_cell_id: str
    changes: tuple[Change, ...]

    @property
    def cells(self) -> tuple[str, str]:
        """The configurations after and before the changes."""
        return self.after_cell_id, self.before_cell_id


@dataclass(frozen=True, slots=True)
class Structure:
    """The results of a record about its axes."""

    factorials: tuple[Factorial, ...] = ()
    effects: tuple[Effect, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    fronts: tuple[Front, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    direction: Direction = "lower"
    """Better direction of the metric. If it is ``higher``, every ratio here is inverted."""
    effect_family: int = 0
    """Number of effects and interactions that share the level."""
    contribution_family: int = 0
    """Number of contributions that share the level."""
