"""Effects, contributions, crossovers and Pareto fronts (docs/method.md#effects). Immutable.

Ratios are of the headline's metric, smaller is better, and of the typical statistic: Hodges-Lehmann
over one contrast per round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.policies import Metric
from bench_framework.model.verdict import Interval, Verdict

Design = Literal["ladder", "alone", "shapley"]
TYPICAL_HERE: Final = "the typical ratio; the results tell the fastest third"
"""Why two cells have other figures among the contributions than in the results."""
MEASURED_COSTS: Final[tuple[Metric, ...]] = (WALL, PEAK_RSS)
"""Costs on a front that are known with an interval."""


@dataclass(frozen=True, slots=True)
class Change:
    """One axis, or axes that advance together, from one value to another."""

    axis: str
    before: str
    after: str

    @property
    def text(self) -> str:
        """``"parser: simd-json → sonic-rs"``."""
        return f"{self.axis}: {self.before} → {self.after}"


@dataclass(frozen=True, slots=True)
class Contrast:
    """One contrast over rounds, judged: a ratio with its interval, and what may be said of it."""

    verdict: Verdict
    shown: Interval | None
    rounds: int
    p: float
    """Exact signed-rank, before looks and Holm."""
    p_adjusted: float
    reason: str = ""
    """Why it is inconclusive, where there is a reason beyond the interval."""


@dataclass(frozen=True, slots=True)
class EffectCell:
    """An effect in one combination of the other axes."""

    where: str
    """Values of the other axes, such as ``"rayon, jemalloc"``; empty where there is no other
    axis."""
    cell_ids: tuple[str, ...]
    """With the change, without it. Of an interaction: with both, with the first, with neither, with
    the second."""
    contrast: Contrast


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change does over all combinations of the other axes of one input.

    A main effect has one change, a two-way interaction two: the ratio of both together to the
    product of each alone.
    """

    input_id: str
    metric: Metric
    changes: tuple[Change, ...]
    pooled: bool
    """False where its verdict changes sign between cells: then there is no mean (R5)."""
    mean: Contrast
    """Of the geometric mean over the cells; its interval is `None` where it is not pooled."""
    cells: tuple[EffectCell, ...]

    @property
    def better(self) -> int:
        """Cells in which less is decided."""
        return sum(
            c.contrast.verdict in (Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN)
            for c in self.cells
        )

    @property
    def worse(self) -> int:
        """Cells in which more is decided."""
        return sum(
            c.contrast.verdict in (Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN) for c in self.cells
        )

    @property
    def holds_in(self) -> int:
        """Cells whose verdict has the direction of the mean; of an inconclusive mean: none."""
        if not self.mean.verdict.decided:
            return 0
        return (
            self.better
            if self.mean.verdict in (Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN)
            else self.worse
        )


@dataclass(frozen=True, slots=True)
class Factorial:
    """The full product of levels on one input that effects are taken from."""

    input_id: str
    axes: tuple[tuple[str, tuple[str, ...]], ...]
    """Axis → its levels, the baseline's first. Empty where there is no factorial."""
    left_out: tuple[str, ...] = ()
    """Levels that would leave a hole in the product, such as ``"allocator: mimalloc"``."""
    reason: str = ""
    """Why there is none."""
    rounds: int = 0
    """Rounds in which all of its cells were measured."""


@dataclass(frozen=True, slots=True)
class Step:
    """One row of a table of contributions."""

    changes: tuple[Change, ...]
    cell_id: str | None
    """The cell after the step; `None` where several orders are averaged."""
    ref_cell_id: str | None
    contrast: Contrast
    share: float | None
    """Log step ÷ log total; `None` where the total is not decided."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """How a difference between two cells comes together from single changes. Contributions multiply."""

    input_id: str
    metric: Metric
    design: Design
    start_cell_id: str
    end_cell_id: str | None
    """`None` where no cell has all changes."""
    steps: tuple[Step, ...]
    total: Contrast | None
    remainder: Contrast | None
    """Interaction: total ÷ product of the steps; `None` where the steps make up the total by
    design."""
    unexplained: float | None
    """Share of the total that the steps leave."""
    largest: int | None = None
    """Index of the step whose simultaneous interval lies apart from that of the next (R8)."""
    beyond: tuple[Step, ...] = ()
    """Steps of a ladder after the last adopted one: no part of the total."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where a candidate and the baseline change places over sizes of one family and seed."""

    cell_ids: tuple[str, ...]
    """Candidate and baseline on the size below, then on the size above."""
    variant_id: str
    ref_variant_id: str
    metric: Metric
    below_input_id: str
    above_input_id: str
    size_bytes: float | None
    """Interpolated in log size; `None` where the typical ratio does not turn with the verdicts."""
    lo_bytes: float | None
    hi_bytes: float | None
    level: float
    rounds: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A variant's place among others on one input, by several metrics at once."""

    cell_id: str
    on_front: bool
    least: tuple[Metric, ...]
    """Metrics in which no other variant is surely less."""
    beaten_by: tuple[str, ...]
    """Cells that are surely less in every measured metric, and no more in any exact one."""


@dataclass(frozen=True, slots=True)
class Front:
    """Who trades what on one input."""

    input_id: str
    metrics: tuple[Metric, ...]
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """One implementation before and after, in the same rounds: an existing comparison under this view."""

    input_id: str
    metric: Metric
    implementation: str
    """Values of the axes that stay as they are; empty where no other axis varies."""
    before_cell_id: str
    after_cell_id: str
    changes: tuple[Change, ...]
    verdict: Verdict
    shown: Interval | None
    statistic: str | None
    rounds: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Structure:
    """All that a record says about its axes."""

    factorials: tuple[Factorial, ...] = ()
    effects: tuple[Effect, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    fronts: tuple[Front, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    direction: Literal["lower", "higher"] = "lower"
    """Which values of the metric are better; where larger ones are, every ratio here is turned
    over."""
    effect_family: int = 0
    """Effects and interactions that share the level."""
    contribution_family: int = 0
