"""Policies of a plan: answers, number of rounds, thresholds of verdicts, and the gate.

Immutable, no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from bench_framework.model.metrics import CPU, PEAK_RSS, WALL, sampled
from bench_framework.model.verdict import Thresholds

AnswerKind = Literal["exact", "sorted-lines", "json", "none"]
Metric = str
"""Name of a metric: ``wall``, ``cpu``, ``user``, ``sys``, ``peak_rss``,
``binary_size``, ``build_time``, ``instructions``, or a worker's own."""

DEFAULT_BUDGET_S: Final = 300.0
"""Budget of a scenario that limits neither the rounds nor the time."""
GATE_MARGINS: Final[tuple[tuple[Metric, float], ...]] = (
    (WALL, 0.02),
    (CPU, 0.02),
    (PEAK_RSS, 0.05),
)
"""Default of the growth that a gate tolerates, as a fraction per metric."""


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """How benchctl checks that two runs did the same work."""

    compare: AnswerKind = "exact"
    file: str | None = None
    """Absolute path of the file with the answer. `None`: the answer is in stdout."""
    contract: bool = False
    """True if the worker is expected to follow the worker protocol."""
    exit_codes: tuple[int, ...] = (0,)
    stdout: Literal["file", "pipe", "null"] = "file"
    differs: Literal["refuse", "warn"] = "refuse"
    """Effect of another answer than the baseline's: no comparison, or a warning."""


@dataclass(frozen=True, slots=True)
class MeasurePolicy:
    """Number of rounds, order and stopping rule (docs/method.md#schedule)."""

    rounds_min: int = 12
    rounds_max: int = 40
    """The last possible round, after which the last interim analysis takes place."""
    by_budget: bool = False
    """True if the budget alone limits the rounds. `rounds_max` is then an upper bound, which
    `model.looks.limited` replaces after the warm-up (docs/method.md#limit-of-rounds)."""
    until: Literal["conclusive", "rounds", "precision"] = "conclusive"
    precision: float | None = None
    """Half-width of the headline intervals at which `precision` stops, as a fraction."""
    budget_s: float | None = None
    warmup_rounds: int = 2
    timeout_s: float = 600.0
    seed: int = 0
    """Seed of the order of cells within rounds, stored in the record."""
    control: bool = True
    strategy: Literal["fixed", "race"] = "fixed"


@dataclass(frozen=True, slots=True)
class Budget:
    """An absolute upper limit of one metric for the selected cells.

    Attributes:
        most: the limit in the stored unit of the metric: seconds, bytes, or a number.
        text: the limit as written in the scenario, such as ``1.2s``.
    """

    cells: str
    metric: str
    most: float
    text: str
    cell_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Accepted:
    """One entry of the file of accepted changes.

    Attributes:
        cells: selection of the cells, in the syntax of ``-k``.
        level: largest accepted growth against the baseline, as a fraction.
        reason: reason for accepting the change, in the author's words.
        until: last day on which the entry is in force, such as ``2026-06-01``. It is empty for an
            entry without an end.
        place: ``FILE:LINE``, for messages.
        cell_ids: ids of the gated cells that the selection matches.
        unknown: reason why the selection matches no cell of this plan. It is empty for a valid
            selection.
    """

    cells: str
    metric: str
    level: float
    reason: str
    until: str = ""
    place: str = ""
    cell_ids: tuple[str, ...] = ()
    unknown: str = ""

    def counts_on(self, day: str) -> bool:
        """Return whether the entry is in force on a day such as ``2026-05-31``."""
        return not self.until or day <= self.until


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """Policy of the gate: margins by metric, and the effect of metrics that are not judged."""

    margins: tuple[tuple[Metric, float], ...] = ()
    detect: float = 0.03
    on_inconclusive: Literal["warn", "fail"] = "warn"
    require: tuple[Metric, ...] = ()
    against: str = ""
    """Revision that every cell is compared with, or ``merge-base``. It is empty for the
    scenario's baseline."""
    cells: str = ""
    """Selection of the gated cells, empty for all candidates."""
    chosen: tuple[str, ...] | None = None
    """Ids of the cells that the selection matches, `None` without a selection."""
    min_compared: int = 0
    """Smallest number of comparisons with which the gate gives a result."""
    budgets: tuple[Budget, ...] = ()
    accepted: str = ""
    """Absolute path of the file of accepted changes, empty without one."""

    @property
    def tolerated(self) -> dict[Metric, float]:
        """Tolerated growth of each gated metric, as a fraction. `GATE_MARGINS` is the default."""
        return dict(self.margins or GATE_MARGINS)


@dataclass(frozen=True, slots=True)
class JudgePolicy:
    """Thresholds of verdicts (docs/method.md#verdicts), as fractions, optionally per metric."""

    metrics: tuple[Metric, ...] = (WALL, CPU)
    margin: float = 0.02
    epsilon: float = 0.01
    margins: tuple[tuple[Metric, float], ...] = ((PEAK_RSS, 0.05),)
    epsilons: tuple[tuple[Metric, float], ...] = ((PEAK_RSS, 0.01),)
    level: float = 0.05
    """Family-wise α."""
    gate: GatePolicy = field(default_factory=GatePolicy)

    @property
    def sampled(self) -> tuple[Metric, ...]:
        """The metrics that are judged by rounds. An exact metric needs no level."""
        return sampled(self.metrics)

    @property
    def headline(self) -> Metric:
        """The main metric: the first one that is judged by rounds, or else the first one."""
        return next(iter((*self.sampled, *self.metrics)), WALL)

    def margin_of(self, metric: Metric) -> float:
        """Return the margin δ of a metric, as a fraction."""
        return dict(self.margins).get(metric, self.margin)

    def epsilon_of(self, metric: Metric) -> float:
        """Return the minimum effect size ε of a metric, as a fraction."""
        return dict(self.epsilons).get(metric, self.epsilon)

    def thresholds_of(self, metric: Metric) -> Thresholds:
        """Return the margin δ and the minimum effect size ε of a metric."""
        return Thresholds(self.margin_of(metric), self.epsilon_of(metric))
