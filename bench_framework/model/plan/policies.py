"""Policies of a plan: answers, rounds, thresholds of verdicts, and the gate. No I/O."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from bench_framework.model.metrics import CPU, GATED, ITERATION, PEAK_RSS, WALL, MetricKind, sampled
from bench_framework.model.plan.written import (
    NOT_WRITTEN,
    Fraction,
    HostLabels,
    Natural,
    OnDifference,
    Positive,
    Share,
    StdoutTarget,
    Strategy,
    written_as,
)
from bench_framework.model.verdict import Thresholds

AnswerKind = Literal["exact", "sorted-lines", "json", "none"]
_EDITED: Final = frozenset({"sorted-lines", "json"})
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
BENCH_MARGINS: Final[tuple[tuple[Metric, float], ...]] = ((ITERATION, 0.02),)
"""The same for a scenario with benchmarks."""
GATE_LEVEL: Final = 0.01
"""The family-wise error rate of a gate: of its comparisons in the first pass, and of its budgets."""


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """How benchctl checks that two runs did the same work."""

    compare: AnswerKind = "exact"
    file: str | None = None
    """Absolute path of the file with the answer. `None`: the answer is in stdout."""
    contract: bool = False
    """True if the worker is expected to follow the worker protocol."""
    exit_codes: tuple[int, ...] = (0,)
    stdout: StdoutTarget = "file"
    differs: OnDifference = "refuse"
    """Effect of another answer than the baseline's: no comparison, or a warning."""
    filter: tuple[str, ...] = ()
    """Command whose output for the answer on stdin is compared in its place."""
    extract: str = ""
    """Regular expression of the parts that are compared. It is empty for the whole text."""
    ignore: tuple[str, ...] = ()
    """Regular expressions of parts that are removed before comparing."""
    json_ignore: tuple[str, ...] = ()
    """Keys that are removed from all JSON objects before comparing."""
    tolerance: float = 0.0
    """Relative difference up to which numbers count as equal."""
    tolerated_share: float = 0.0
    """Share of differing lines below which an answer counts as equal."""
    check: tuple[str, ...] = ()
    """Command that gets the answer on stdin and decides by its exit code, without a comparison."""

    @property
    def refuses(self) -> bool:
        """True if a program with another answer is not compared."""
        return self.differs == "refuse" and (self.compare != "none" or bool(self.check))

    @property
    def edited(self) -> bool:
        """True if another text than the output itself is compared."""
        edits = self.filter or self.extract or self.ignore or self.compare in _EDITED
        return bool(edits) and not self.check


@dataclass(frozen=True, slots=True)
class MeasurePolicy:
    """Number of rounds, order and stopping rule (docs/method.md#schedule)."""

    rounds_min: int = 12
    rounds_max: int = 40
    """The last possible round, after which the last interim analysis takes place."""
    by_budget: bool = False
    """True if the budget alone limits the rounds. `rounds_max` is then an upper bound, which
    `model.plan.looks.limited` replaces after the warm-up (docs/method.md#limit-of-rounds)."""
    by_t: bool = False
    """True if the budget allows fewer rounds than the label test needs, so that comparisons are judged
    by a paired t test. `model.plan.looks.limited` sets it after the first warm-up round."""
    control_left_out: bool = False
    """True if the budget is too small for the A/A control."""
    until: Literal["conclusive", "rounds", "precision"] = "conclusive"
    precision: float | None = None
    """Half-width of the intervals of all comparisons at which `precision` stops, as a fraction."""
    budget_s: float | None = None
    sessions: int = 1
    """Number of sessions, or the largest one. All have the same number of rounds, `session_rounds`."""
    sessions_min: int | None = None
    """Number of sessions before the first interim analysis, fewer than `sessions`. `None`: exactly so many."""
    every_s: float = 0.0
    """Least time between the starts of two sessions in seconds."""
    warmup_rounds: int = 2
    """Warm-up rounds of each session."""
    timeout_s: float = 600.0
    seed: int = 0
    """Seed of the order of cells within rounds, stored in the record."""
    control: bool = True
    strategy: Strategy = "fixed"

    @property
    def in_one_session(self) -> "MeasurePolicy":
        """The same rounds in one session."""
        return replace(self, sessions=1, sessions_min=None, every_s=0.0)

    @property
    def time_limit_s(self) -> float:
        """Time after which no further round starts, in seconds.

        It is infinite with sessions: there, the budget gives the number of rounds, and of a range of
        sessions how many are measured.
        """
        return math.inf if self.budget_s is None or self.sessions > 1 else self.budget_s

    @property
    def answer_limit_s(self) -> float:
        """Time limit of each command of `answer`, and of all its regular expressions, in seconds.

        One that takes longer than the whole budget would leave no time for a second round.
        """
        return self.timeout_s if self.budget_s is None else min(self.timeout_s, self.budget_s)

    @property
    def session_rounds(self) -> int:
        """Number of rounds of a session, if the limit of rounds is known."""
        return self.rounds_max // self.sessions

    @property
    def fewest_sessions(self) -> int:
        """Smallest number of sessions that are measured."""
        return self.sessions if self.sessions_min is None else self.sessions_min

    def sessions_in(self, rounds: int) -> int:
        """Return the number of sessions in which so many rounds are measured."""
        return min(self.sessions, -(-rounds // self.session_rounds))

    @property
    def warmups_total(self) -> int:
        """Number of warm-up rounds of all sessions."""
        return self.sessions * self.warmup_rounds


def is_label(text: str) -> bool:
    """Return whether a text can be a label of a host."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", text) is not None


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """Hosts of a fleet, by one of these keys."""

    names: tuple[str, ...] = field(default=(), metadata=NOT_WRITTEN)
    """Names of hosts, from the command line."""
    everyone: bool = field(default=False, metadata=NOT_WRITTEN)
    """True for `all`."""
    any: Positive | None = None
    """Number of hosts of any kind: those with the shortest queues."""
    labels: HostLabels = field(default=(), metadata=written_as("label"))
    """Labels of `benchctl fleet worker --label`, or architectures (`x86_64`, `aarch64`). One host
    measures for each of them."""
    per_kind: Positive | None = None
    """Number of hosts of each kind: with equal CPU, cores, memory, kernel and governor."""
    split_inputs: Positive | None = None
    """Largest number of hosts of one kind, each of which measures other inputs."""

    @property
    def several(self) -> bool:
        """True if more than one host can be chosen."""
        numbers = (len(self.names), len(self.labels), self.any or 0, self.split_inputs or 0)
        return self.everyone or self.per_kind is not None or max(numbers) > 1


@dataclass(frozen=True, slots=True)
class Budget:
    """Absolute upper limit of a metric in some configurations, independent of the baseline."""

    cells: str = field(metadata=written_as("cell"))
    """Configurations, as a selection in the syntax of `-k`: `io=mmap size=1GiB`."""
    metric: str
    """Metric, such as `wall`, `peak_rss` or `binary_size`."""
    most: float = field(metadata=NOT_WRITTEN)
    """The limit in the stored unit of the metric: seconds, bytes, or a number."""
    text: str = field(metadata=written_as("max"))
    """Limit with its unit: `1.2s`, `200MiB`. Counts have no unit."""
    cell_ids: tuple[str, ...] = field(default=(), metadata=NOT_WRITTEN)
    """Ids of the cells that the selection matches."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """One entry of the file of accepted changes."""

    cells: str
    """Selection of the cells, in the syntax of ``-k``."""
    metric: str
    level: float
    """Largest accepted growth against the baseline, as a fraction."""
    reason: str
    """Reason for accepting the change, in the author's words."""
    until: str = ""
    """Last day on which the entry is in force, such as ``2026-06-01``. It is empty for an entry without an
    end."""
    place: str = ""
    """``FILE:LINE``, for messages."""
    cell_ids: tuple[str, ...] = ()
    """Ids of the gated cells that the selection matches."""
    unknown: str = ""
    """Reason why the selection matches no cell of this plan. It is empty for a valid selection."""

    def counts_on(self, day: str) -> bool:
        """Return whether the entry is in force on a day such as ``2026-05-31``."""
        return not self.until or day <= self.until


def _margin(kind: MetricKind) -> tuple[str, Any, Any]:
    """Return the name, the type and the field of the tolerated growth of a metric."""
    about = f"Tolerated growth of {kind.noun}: {kind.about}."
    metadata = {**written_as(kind.name), "about": about}
    return kind.name, Fraction | None, field(default=None, metadata=metadata)


if TYPE_CHECKING:

    @dataclass(frozen=True, slots=True)
    class _Margins:
        pass
else:
    _Margins = make_dataclass("_Margins", map(_margin, GATED), frozen=True, slots=True)


@dataclass(frozen=True, slots=True)
class GatePolicy(_Margins):
    """Tolerated growth against the baseline, by metric.

    Default: `{wall: 2%, cpu: 2%, peak_rss: 5%}`.
    """

    against: str = ""
    """Revision at which every variant is built again and compared with itself: a branch, tag or
    commit, or `merge-base`, the commit where the branch left the main branch. Default: variants are
    compared with the scenario's baseline."""
    cells: str | None = None
    """Selection of the gated configurations, in the syntax of `-k`: `size>=100MiB`."""
    chosen: tuple[str, ...] | None = field(default=None, metadata=NOT_WRITTEN)
    """Ids of the cells that the selection matches, `None` without a selection."""
    min_compared: Natural = 0
    """Smallest number of judged comparisons. With fewer, the gate has no result."""
    budgets: tuple[Budget, ...] = ()
    """Absolute limits: `[{cell: size=1GiB, metric: wall, max: 1.2s}]`. A budget is exceeded if the
    whole confidence interval is above it."""
    accepted: str = ""
    """File of accepted changes, relative to this file (docs/reference/gate.md)."""
    detect: Share = 0.03
    """Largest minimum detectable effect with which a metric counts as judged."""
    on_inconclusive: Literal["warn", "fail"] = "warn"
    """Effect of a metric that could not be judged."""
    require: tuple[Metric, ...] = ()
    """Metrics that must be judged. Otherwise the gate fails."""
    on_same_instructions: Literal["warn", "fail"] = "fail"
    """Effect of a benchmark that takes longer although one iteration executes the same instructions."""
    explain: bool = True
    """Counts both sides of a confirmed regression by function, with valgrind, in at most twice the time that
    was measured."""
    level: float = field(default=GATE_LEVEL, metadata=NOT_WRITTEN)
    """Family-wise α of the first pass, and of all budgets. A suite gives each scenario a share of it."""
    usual: tuple[tuple[Metric, float], ...] = field(default=GATE_MARGINS, metadata=NOT_WRITTEN)
    """Metrics and tolerated growth of a scenario that gives none."""

    @property
    def margins(self) -> tuple[tuple[Metric, float], ...]:
        """Each given metric and its tolerated growth as a fraction, in registry order."""
        given = ((kind.name, getattr(self, kind.name)) for kind in GATED)
        return tuple((name, margin) for name, margin in given if margin is not None)

    @property
    def tolerated(self) -> dict[Metric, float]:
        """Tolerated growth of each gated metric, as a fraction."""
        return dict(self.margins or self.usual)

    @property
    def given(self) -> bool:
        """True if the scenario has a gate."""
        return replace(self, usual=GATE_MARGINS) != GatePolicy()

    def with_cells(self, new: Mapping[str, Sequence[str]]) -> "GatePolicy":
        """Return the policy of a plan with other cells. `new` has those that replace each cell, by id."""

        def replaced(ids: Sequence[str]) -> tuple[str, ...]:
            return tuple(id_ for old in ids for id_ in new.get(old, ()))

        return replace(
            self,
            chosen=None if self.chosen is None else replaced(self.chosen),
            budgets=tuple(replace(b, cell_ids=replaced(b.cell_ids)) for b in self.budgets),
        )


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
