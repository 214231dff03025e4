"""How a plan's answers are checked, how much is measured, how differences are judged and gated. Immutable, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from bench_framework.model.budget import Budget
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL, sampled
from bench_framework.model.verdict import Thresholds

AnswerKind = Literal["exact", "sorted-lines", "json", "none"]
Metric = str
"""A metric's name, the same everywhere: ``wall``, ``cpu``, ``user``, ``sys``, ``peak_rss``,
``binary_size``, ``build_time``, ``instructions``, or a worker's own."""

GATE_MARGINS: Final[tuple[tuple[Metric, float], ...]] = (
    (WALL, 0.02),
    (CPU, 0.02),
    (PEAK_RSS, 0.05),
)
"""What a gate tolerates where its scenario does not say."""


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """How two runs are seen to have done the same work."""

    compare: AnswerKind = "exact"
    file: str | None = None
    """Absolute path of the file that holds the answer, in place of stdout."""
    contract: bool = False
    """True if the worker is expected to speak the worker protocol."""
    exit_codes: tuple[int, ...] = (0,)
    stdout: Literal["file", "pipe", "null"] = "file"


@dataclass(frozen=True, slots=True)
class MeasurePolicy:
    """Number of rounds, order and stopping rule (docs/method.md#schedule)."""

    rounds_min: int = 12
    rounds_max: int = 40
    until: Literal["conclusive", "rounds", "precision"] = "conclusive"
    precision: float | None = None
    """Half-width of the headline intervals at which `precision` stops, as a fraction."""
    budget_s: float | None = None
    warmup_rounds: int = 2
    timeout_s: float = 600.0
    seed: int = 0
    """Of the order of cells within rounds; recorded."""
    control: bool = True
    strategy: Literal["fixed", "race"] = "fixed"


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """Policy of the gate: margins by metric, and the effect of metrics that are not judged."""

    margins: tuple[tuple[Metric, float], ...] = ()
    detect: float = 0.03
    on_inconclusive: Literal["warn", "fail"] = "warn"
    require: tuple[Metric, ...] = ()
    against: str = ""
    """Revision that every cell is compared with, or ``merge-base``; empty: the scenario's
    baseline."""
    cells: str = ""
    """The words that select the gated cells; empty: all candidates."""
    chosen: tuple[str, ...] | None = None
    """Ids of the cells that these words select; `None` without words."""
    min_compared: int = 0
    """Comparisons without which the gate has not judged."""
    budgets: tuple[Budget, ...] = ()
    accepted: str = ""
    """Absolute path of the file of accepted changes; empty where there is none."""

    @property
    def tolerated(self) -> dict[Metric, float]:
        """Gated metric to the growth that is tolerated, as a fraction; the defaults where the scenario names none."""
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
        """The metrics that rounds decide; a deterministic one needs no level."""
        return sampled(self.metrics)

    @property
    def headline(self) -> Metric:
        """The metric that the headline, the best group, the effects and the gaps are told in.

        The first that rounds decide; the first at all where none does.
        """
        return next(iter((*self.sampled, *self.metrics)), WALL)

    def margin_of(self, metric: Metric) -> float:
        """δ of a metric."""
        return dict(self.margins).get(metric, self.margin)

    def epsilon_of(self, metric: Metric) -> float:
        """ε of a metric."""
        return dict(self.epsilons).get(metric, self.epsilon)

    def thresholds_of(self, metric: Metric) -> Thresholds:
        """δ and ε of a metric."""
        return Thresholds(self.margin_of(metric), self.epsilon_of(metric))
